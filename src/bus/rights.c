#include "bus/rights.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"

static const char *doing(enum rights_action action)
{
	static const char *const words[] = {
	    [RIGHTS_OPEN] = "opened", [RIGHTS_READ] = "read", [RIGHTS_WRITE] = "written"};

	return words[action];
}

static int locked_down(struct pmu_ctx *ctx, const char *path, const char *mode)
{
	return error_set(ctx, PMU_E_RIGHTS,
			 "%s cannot be written: the kernel is locked down (%s); boot without "
			 "Secure Boot and without lockdown=%s on the kernel's command line",
			 path, mode, mode);
}

int rights_msr(struct pmu_ctx *ctx, const struct pmu_host *host, const char *path,
	       enum rights_action action, int errnum)
{
	const char *mode = host->lockdown;

	if (errnum == ENOENT && action == RIGHTS_OPEN)
		return error_set(ctx, PMU_E_RIGHTS,
				 "there is no %s: the kernel's msr module is missing; as root: "
				 "modprobe msr",
				 path);
	if (errnum == EACCES)
		return error_set(ctx, PMU_E_RIGHTS,
				 "%s may not be %s by this user; run pmulab as root (sudo)", path,
				 doing(action));
	if (errnum == EPERM && action == RIGHTS_WRITE && strcmp(mode, "none"))
		return locked_down(ctx, path, mode);
	if (errnum == EPERM && action == RIGHTS_WRITE)
		return error_set(ctx, PMU_E_RIGHTS,
				 "the kernel's msr module refuses writes to %s; as root: echo on > "
				 "/sys/module/msr/parameters/allow_writes",
				 path);
	if (errnum == EPERM)
		return error_set(ctx, PMU_E_RIGHTS,
				 "%s cannot be %s without CAP_SYS_RAWIO; run pmulab as root (sudo)",
				 path, doing(action));
	if (errnum == EROFS || errnum == EBADF)
		return error_set(ctx, PMU_E_RIGHTS, "%s is read-only", path);
	if (errnum == ENXIO || errnum == ENODEV)
		return error_set(ctx, PMU_E_IO, "%s cannot be %s: that CPU is offline", path,
				 doing(action));
	return error_set(ctx, PMU_E_IO, "%s cannot be %s: %s", path, doing(action),
			 strerror(errnum));
}

int rights_pci(struct pmu_ctx *ctx, const struct pmu_host *host, const char *path,
	       enum rights_action action, int errnum)
{
	const char *mode = host->lockdown;

	if (errnum == EPERM && action == RIGHTS_WRITE && strcmp(mode, "none"))
		return locked_down(ctx, path, mode);
	if (errnum == EACCES || errnum == EPERM)
		return error_set(ctx, PMU_E_RIGHTS,
				 "%s may not be %s by this user; run pmulab as root (sudo)", path,
				 doing(action));
	if (errnum == EROFS)
		return error_set(ctx, PMU_E_RIGHTS, "%s is read-only", path);
	if (errnum == ENOENT || errnum == ENODEV)
		return error_set(ctx, PMU_E_IO, "%s is gone: the device has been removed", path);
	return error_set(ctx, PMU_E_IO, "%s cannot be %s: %s", path, doing(action),
			 strerror(errnum));
}
