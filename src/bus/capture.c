#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "bus/bus.h"
#include "bus/hardware.h"

#define MSR_SPACING	 8	     /* bytes: in a plain file, register n is at byte 8 n */
#define COPIED_BYTES_MAX (64u << 20) /* of /proc/cpuinfo */
#define CONFIG_BYTES	 4096 /* of a function's configuration space, the extended one included */

static int cannot(struct pmu_ctx *ctx, const char *path)
{
	return error_set(ctx, PMU_E_IO, "cannot write %s: %s", path, strerror(errno));
}

/* Makes the folders on the way to a file, and opens it. */
static int create(struct pmu_ctx *ctx, char *path, int *fd)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0777) && errno != EEXIST)
			return cannot(ctx, path);
		*slash = '/';
	}
	*fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	return *fd < 0 ? cannot(ctx, path) : 0;
}

static int copy_file(struct pmu_ctx *ctx, const char *from, char *to)
{
	char *text;
	size_t length;
	int fd, error = file_read(ctx, from, COPIED_BYTES_MAX, &text, &length);

	if (error)
		return error;
	error = create(ctx, to, &fd);
	if (!error) {
		if (write(fd, text, length) != (ssize_t)length)
			error = cannot(ctx, to);
		close(fd);
	}
	free(text);
	return error;
}

static int put(struct pmu_ctx *ctx, char *path, off_t offset, const struct pmu_access_op *op,
	       size_t bytes, off_t size)
{
	struct stat status;
	int fd, error = create(ctx, path, &fd);

	if (error)
		return error;
	if (fstat(fd, &status) || (status.st_size < size && ftruncate(fd, size)) ||
	    pwrite(fd, &op->value, bytes, offset) != (ssize_t)bytes)
		error = cannot(ctx, path);
	close(fd);
	return error;
}

static int put_register(const struct pmu_bus *bus, struct pmu_ctx *ctx, const char *folder,
			const struct pmu_access_op *op)
{
	const struct pmu_host *host = bus_hardware_host(bus);
	char path[HOST_PATH_MAX], source[HOST_PATH_MAX];
	size_t cpu = host_first_cpu(host, op->socket) + op->core;

	if (op->space == PMU_SPACE_MSR) {
		snprintf(path, sizeof(path), "%s/dev/cpu/%u/msr", folder, host->cpus[cpu].number);
		return put(ctx, path, (off_t)op->address * MSR_SPACING, op, 8, 0);
	}
	if (!config_space_path(bus_hardware_config_space(bus), op->socket, op->address, source))
		return 0;
	snprintf(path, sizeof(path), "%s%s", folder, source + strlen(host->root));
	return put(ctx, path, op->address & 0xfff, op, op->width / 8, CONFIG_BYTES);
}

/* One register of one instance; what does not answer is not there in the tree either. */
static int capture_register(struct pmu_bus *bus, struct pmu_ctx *ctx, const char *folder,
			    unsigned socket, const struct bus_register_ref *ref)
{
	struct pmu_access_op op = {
	    .socket = socket,
	    .core = ref->box->scope == PMU_SCOPE_CORE ? ref->instance : 0,
	    .space = ref->reg->space,
	    .width = ref->reg->width,
	    .address = pmu_register_address(ref->box, ref->reg, ref->instance),
	    .reg = ref->reg->name,
	};
	int error = pmu_bus_read(bus, ctx, &op);

	if (error == PMU_E_UNKNOWN || error == PMU_E_UNSUPPORTED)
		return 0;
	return error ? error : put_register(bus, ctx, folder, &op);
}

static int capture_box(struct pmu_bus *bus, struct pmu_ctx *ctx, const char *folder,
		       unsigned socket, const struct pmu_box *box)
{
	int error = 0;

	for (unsigned i = 0; i < box->instance_count && !error; i++)
		for (size_t r = 0; r < box->register_count && !error; r++)
			error = capture_register(
			    bus, ctx, folder, socket,
			    &(struct bus_register_ref){
				.box = box, .reg = &box->registers[r], .instance = i});
	return error;
}

int pmu_bus_capture(struct pmu_bus *bus, struct pmu_ctx *ctx, const char *folder)
{
	const struct pmu_host *host = bus_hardware_host(bus);
	char from[HOST_PATH_MAX], to[HOST_PATH_MAX];
	int error;

	if (!host)
		return error_set(ctx, PMU_E_UNSUPPORTED, "only a computer can be captured");
	if (mkdir(folder, 0777))
		return cannot(ctx, folder);
	snprintf(to, sizeof(to), "%s/proc/cpuinfo", folder);
	error = copy_file(ctx, host_path(host, from, "/proc/cpuinfo"), to);
	for (unsigned socket = 0; socket < bus->sockets && !error; socket++)
		for (size_t b = 0; b < bus->pmu->box_count && !error; b++)
			error = capture_box(bus, ctx, folder, socket, &bus->pmu->boxes[b]);
	return error;
}
