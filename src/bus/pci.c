#include "bus/pci.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pci/pci.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "bus/pci_functions.h"
#include "bus/rights.h"

#define ALL_ONES    UINT32_C(0xffffffff) /* what a bus reads where nothing answers */
#define SPLIT_READS 4 /* of a counter that goes on; its high half seldom changes */

struct config_space {
	const struct pmu_host *host; /* the caller's */
	struct pci_access *access;
	bool proc;			 /* through /proc/bus/pci */
	struct pci_functions packages[]; /* [socket] */
};

/* libpci's error function is given nothing of ours, and must not return. */
static _Thread_local jmp_buf *escape;

static void fail(char *format, ...) __attribute__((noreturn));

static void fail(char *format, ...)
{
	(void)format;
	longjmp(*escape, 1);
}

/* Every failure is reported once, by who needed the register. */
static void ignore(char *format, ...)
{
	(void)format;
}

/* libpci and what it allocates; false where it gave up. */
static bool scan(struct config_space *space, struct pci_access *access, char *sysfs, char *proc)
{
	jmp_buf here;
	jmp_buf *before = escape;

	escape = &here;
	if (setjmp(here)) {
		escape = before;
		return false;
	}
	access->error = fail;
	access->warning = access->debug = ignore;
	access->method = space->proc ? PCI_ACCESS_PROC_BUS_PCI : PCI_ACCESS_SYS_BUS_PCI;
	access->buscentric = 1;
	pci_set_param(access, (char *)"sysfs.path", sysfs);
	pci_set_param(access, (char *)"proc.path", proc);
	pci_init(access);
	pci_scan_bus(access);
	escape = before;
	return true;
}

/*
 * libpci gives up at a name that it does not know, leaking what it has, and takes a folder that
 * cannot be read for one that ends. So the folder is read before.
 * @param count  receives how many functions there are
 */
static int count_functions(struct pmu_ctx *ctx, const char *path, size_t *count)
{
	DIR *folder = opendir(path);
	const struct dirent *entry;
	int error = 0;

	*count = 0;
	if (!folder)
		return error_set(ctx, PMU_E_IO, "the PCI devices in %s cannot be listed: %s", path,
				 strerror(errno));
	while (errno = 0, !error && (entry = readdir(folder))) {
		unsigned domain, bus, device, function;

		if (entry->d_name[0] == '.')
			continue;
		++*count;
		if (sscanf(entry->d_name, "%x:%x:%x.%u", &domain, &bus, &device, &function) != 4)
			error = error_set(ctx, PMU_E_IO, "%s/%s is no name of a PCI function", path,
					  entry->d_name);
	}
	if (!error && errno)
		error = error_set(ctx, PMU_E_IO, "the PCI devices in %s cannot be listed: %s", path,
				  strerror(errno));
	closedir(folder);
	return error;
}

/* Whether a folder or file of the computer is there. @return 1, 0 or an error */
static int is_there(struct pmu_ctx *ctx, const char *path)
{
	if (!access(path, R_OK))
		return 1;
	if (errno == ENOENT || errno == ENOTDIR || errno == EACCES)
		return 0;
	return error_set(ctx, PMU_E_IO, "%s cannot be examined: %s", path, strerror(errno));
}

static int list_functions(struct config_space *space, struct pmu_ctx *ctx, char *sysfs, char *proc)
{
	char path[HOST_PATH_MAX];
	size_t count = 0, found = 0;
	int error = 0;

	if (!space->proc)
		error = count_functions(ctx, host_path(space->host, path, "/sys/bus/pci/devices"),
					&count);
	if (error)
		return error;
	space->access = pci_alloc();
	if (!scan(space, space->access, sysfs, proc))
		return error_set(ctx, PMU_E_IO, "the PCI devices in %s cannot be listed",
				 space->proc ? proc : sysfs);
	for (const struct pci_dev *device = space->access->devices; device; device = device->next)
		found++;
	if (!space->proc && found < count)
		return error_set(ctx, PMU_E_IO,
				 "the PCI devices in %s cannot be listed: %zu of %zu were read",
				 sysfs, found, count);
	return 0;
}

static int find_devices(struct config_space *space, struct pmu_ctx *ctx, const struct pmu_pmu *pmu)
{
	char sysfs[HOST_PATH_MAX], proc[HOST_PATH_MAX], path[HOST_PATH_MAX];
	int there, error, errnum;

	host_path(space->host, sysfs, "/sys/bus/pci");
	host_path(space->host, proc, "/proc/bus/pci");
	there = is_there(ctx, host_path(space->host, path, "/sys/bus/pci/devices"));
	space->proc = !there;
	if (!there)
		there = is_there(ctx, host_path(space->host, path, "/proc/bus/pci/devices"));
	/* A computer without PCI has no such boxes: whoever asks for one is reported. */
	if (there <= 0)
		return there;
	error = list_functions(space, ctx, sysfs, proc);
	if (error)
		return error;
	errnum = pci_functions_find(space->packages, space->host, pmu, space->access);
	return errnum ? error_set(ctx, PMU_E_IO, "a PCI function in %s cannot be read: %s",
				  space->proc ? proc : sysfs, strerror(errnum))
		      : 0;
}

int config_space_new(struct config_space **out, struct pmu_ctx *ctx, const struct pmu_host *host,
		     const struct pmu_pmu *pmu)
{
	struct config_space *space =
	    calloc(1, sizeof(*space) + host->sockets * sizeof(space->packages[0]));
	int error;

	if (!space)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for PCI devices");
	space->host = host;
	error = find_devices(space, ctx, pmu);
	if (error) {
		config_space_free(space);
		return error;
	}
	*out = space;
	return 0;
}

void config_space_free(struct config_space *space)
{
	if (!space)
		return;
	if (space->access)
		pci_cleanup(space->access);
	free(space);
}

struct config_bus config_space_bus(const struct config_space *space, unsigned socket)
{
	return space->packages[socket].bus;
}

static struct pci_dev *device_at(const struct config_space *space, unsigned socket,
				 uint32_t address)
{
	return space->packages[socket].at[pci_function_of(address)];
}

static void path_of(const struct config_space *space, const struct pci_dev *device,
		    char path[HOST_PATH_MAX])
{
	if (!space->proc)
		host_path(space->host, path, "/sys/bus/pci/devices/%04x:%02x:%02x.%d/config",
			  (unsigned)device->domain, device->bus, device->dev, device->func);
	else if (device->domain)
		host_path(space->host, path, "/proc/bus/pci/%04x:%02x/%02x.%d",
			  (unsigned)device->domain, device->bus, device->dev, device->func);
	else
		host_path(space->host, path, "/proc/bus/pci/%02x/%02x.%d", device->bus, device->dev,
			  device->func);
}

bool config_space_path(const struct config_space *space, unsigned socket, uint32_t address,
		       char path[HOST_PATH_MAX])
{
	const struct pci_dev *device = device_at(space, socket, address);

	if (device)
		path_of(space, device, path);
	return device;
}

static int no_function(const struct config_space *space, struct pmu_ctx *ctx, unsigned socket,
		       uint32_t address)
{
	const struct config_bus *bus = &space->packages[socket].bus;

	if (!bus->found)
		return error_set(ctx, PMU_E_UNKNOWN,
				 "socket %u: no PCI bus says that it is this package's uncore; the "
				 "firmware hides it%s",
				 socket,
				 space->host->virtual_machine ? ", or this virtual machine has none"
							      : "");
	return error_set(
	    ctx, PMU_E_UNKNOWN,
	    "socket %u: there is no PCI function %04x:%02x:%02x.%u; the firmware hides "
	    "it, or the part has none",
	    socket, bus->domain, bus->number, address >> 15, address >> 12 & 7);
}

/*
 * libpci does not say why; @reason is what the kernel said to it, 0 where that was nothing. Then
 * the file itself tells.
 */
static int access_error(const struct config_space *space, struct pmu_ctx *ctx,
			const struct pci_dev *device, unsigned end, bool write, int reason)
{
	enum rights_action action = write ? RIGHTS_WRITE : RIGHTS_READ;
	char path[HOST_PATH_MAX];
	struct stat status;
	uint32_t dword;
	int fd, errnum;
	ssize_t done;

	path_of(space, device, path);
	if (reason)
		return rights_pci(ctx, space->host, path, action, reason);
	fd = open(path, (write ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	if (fd < 0)
		return rights_pci(ctx, space->host, path, RIGHTS_OPEN, errno);
	errno = 0;
	done = pread(fd, &dword, sizeof(dword), (off_t)end - 4);
	errnum = errno;
	if (fstat(fd, &status))
		status.st_size = 0;
	close(fd);
	if (done < 0)
		return rights_pci(ctx, space->host, path, action, errnum);
	if (done == 0 && status.st_size && (off_t)end > status.st_size)
		return error_set(ctx, PMU_E_UNSUPPORTED,
				 "%s ends at %lld bytes, before 0x%X: the kernel has no extended "
				 "configuration space (pci=nommconf?)",
				 path, (long long)status.st_size, end - 4);
	if (done < (ssize_t)sizeof(dword))
		return rights_pci(ctx, space->host, path, action, EPERM);
	/* It can be read now: only the write was refused. */
	return rights_pci(ctx, space->host, path, action, write ? EPERM : EIO);
}

static uint64_t from_bytes(const u8 *bytes, unsigned count)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < count; i++)
		value |= (uint64_t)bytes[i] << 8 * i;
	return value;
}

static bool read_bytes(struct pci_dev *device, unsigned offset, unsigned count, uint64_t *value)
{
	u8 bytes[8];

	bool done;

	do {
		errno = 0;
		done = pci_read_block(device, (int)offset, bytes, (int)count);
	} while (!done && errno == EINTR);
	if (done)
		*value = from_bytes(bytes, count);
	return done;
}

static bool read_whole(struct pci_dev *device, unsigned offset, unsigned width, uint64_t *value)
{
	uint64_t high;

	if (width == 32)
		return read_bytes(device, offset, 4, value);
	for (int i = 0; i < SPLIT_READS; i++) {
		if (!read_bytes(device, offset, 8, value) ||
		    !read_bytes(device, offset + 4, 4, &high))
			return false;
		if (high == *value >> 32)
			break;
	}
	return true;
}

int config_space_read(struct config_space *space, struct pmu_ctx *ctx, unsigned socket,
		      uint32_t address, unsigned width, uint64_t *value)
{
	struct pci_dev *device = device_at(space, socket, address);
	unsigned offset = address & 0xfff;
	uint64_t id;

	if (!device)
		return no_function(space, ctx, socket, address);
	if (!read_whole(device, offset, width, value))
		return access_error(space, ctx, device, offset + width / 8, false, errno);
	if ((uint32_t)*value != ALL_ONES)
		return 0;
	if (!read_bytes(device, 0, 4, &id))
		return access_error(space, ctx, device, 4, false, errno);
	return id == ALL_ONES ? no_function(space, ctx, socket, address) : 0;
}

int config_space_write(struct config_space *space, struct pmu_ctx *ctx, unsigned socket,
		       uint32_t address, unsigned width, uint64_t value)
{
	struct pci_dev *device = device_at(space, socket, address);
	unsigned offset = address & 0xfff;
	u8 bytes[8];
	bool done;

	if (!device)
		return no_function(space, ctx, socket, address);
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (u8)(value >> 8 * i);
	do {
		errno = 0;
		done = pci_write_block(device, (int)offset, bytes, (int)width / 8);
	} while (!done && errno == EINTR);
	return done ? 0 : access_error(space, ctx, device, offset + width / 8, true, errno);
}
