#include "bus/perf_event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

/* Above 0, counting a whole CPU needs rights; above 1, counting the kernel (perf_event_open(2)). */
static int refuse(struct pmu_ctx *ctx, const char *event, int cpu)
{
	FILE *file = fopen(PARANOID, "re");
	int level, known = file && fscanf(file, "%d", &level) == 1;

	if (file)
		fclose(file);
	if (!known)
		return error_set(ctx, PMU_E_UNSUPPORTED, "this kernel has no perf_event (no %s)",
				 PARANOID);
	return error_set(ctx, PMU_E_RIGHTS,
			 "counting %s needs CAP_PERFMON (sudo), or sysctl -w "
			 "kernel.perf_event_paranoid=%d, which is %d now",
			 event, cpu < 0 ? 1 : 0, level);
}

int perf_open(struct pmu_ctx *ctx, struct perf_event_attr *attr, pid_t pid, int cpu,
	      const char *event)
{
	long fd;

	attr->size = sizeof(*attr);
	fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0)
		return (int)fd;
	switch (errno) {
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
	case EINVAL:
	case ENOSYS:
		return error_set(ctx, PMU_E_UNSUPPORTED, "nothing on this computer counts %s: %s",
				 event, strerror(errno));
	case EACCES:
	case EPERM:
		return refuse(ctx, event, cpu);
	default:
		return error_set(ctx, PMU_E_IO, "cannot count %s: %s", event, strerror(errno));
	}
}

int perf_read(struct pmu_ctx *ctx, int fd, const char *event, struct perf_reading *reading)
{
	uint64_t values[3];
	ssize_t size = read(fd, values, sizeof(values));

	/* End of file is how the kernel says that a pinned counter is in error. */
	if (size == 0)
		return error_set(ctx, PMU_E_CONFLICT,
				 "%s found no free counter: somebody else uses them", event);
	if (size != sizeof(values))
		return error_set(ctx, PMU_E_IO, "cannot read the count of %s: %s", event,
				 strerror(errno));
	*reading = (struct perf_reading){values[0], values[1], values[2]};
	return 0;
}
