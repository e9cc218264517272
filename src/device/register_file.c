#include "device/register_file.h"

#include <errno.h>
#include <string.h>

#include "device/run_file.h"
#include "device/runs.h"

static const struct file {
	const char *name;
	enum pmu_space space;
} files[] = {
    {"pmc", PMU_SPACE_PMC}, {"pmd", PMU_SPACE_PMD},  {"ibr", PMU_SPACE_IBR},
    {"dbr", PMU_SPACE_DBR}, {"csr", PMU_SPACE_MMIO},
};
#define FILES (sizeof(files) / sizeof(files[0]))

void register_files_add(struct device_tree *tree, const struct pmu_machine *machine)
{
	const uint32_t cpus = machine->sockets * machine_cpus(machine);

	for (uint32_t cpu = 0; cpu < cpus; cpu++)
		for (uint32_t f = 0; f < FILES; f++)
			tree_device(tree, DEVICE_REGISTERS, 0600, cpu * FILES + f, "dev/cpu/%u/%s",
				    cpu, files[f].name);
	tree_device(tree, DEVICE_RUN, 0600, 0, REGISTER_FILE_RUN);
	tree_device(tree, DEVICE_WATCH, 0600, 0, REGISTER_FILE_WATCH);
}

/* @return whether so many bytes there can be a register */
static bool find_access(const struct device_access *device, uint32_t number, size_t size,
			off_t offset, struct pmon_access *access)
{
	const unsigned cpus = machine_cpus(emul_epic_desc(device->epic)), cpu = number / FILES;
	const enum pmu_space space = files[number % FILES].space;

	*access = (struct pmon_access){
	    .socket = cpu / cpus,
	    .core = space == PMU_SPACE_MMIO ? 0 : cpu % cpus,
	    .space = space,
	    .address = (uint32_t)offset,
	    .width = 64,
	};
	return size == sizeof(uint64_t) && offset >= 0 && offset <= UINT32_MAX;
}

static void tell(const struct device_access *device, const struct pmon_access *access, bool write,
		 uint64_t value, int error)
{
	if (device->accessed)
		device->accessed(device->arg, access, write, value, error);
}

static int reach(const struct device_access *device, const struct pmon_access *access, bool write,
		 uint64_t *value)
{
	struct emul_epic *epic = device->epic;

	if (access->space == PMU_SPACE_MMIO)
		return write
			   ? emul_epic_write_uncore(epic, 0, access->socket, access->address,
						    *value)
			   : emul_epic_read_uncore(epic, 0, access->socket, access->address, value);
	return write ? emul_epic_write(epic, 0, access->socket, access->core, access->space,
				       access->address, *value)
		     : emul_epic_read(epic, 0, access->socket, access->core, access->space,
				      access->address, value);
}

static ssize_t serve(const struct device_access *device, uint32_t number, bool write,
		     uint64_t *value, size_t size, off_t offset)
{
	struct pmon_access access;
	int error;

	if (!find_access(device, number, size, offset, &access))
		return -EINVAL;
	if (!device_runs_hold(device->runs))
		return -EBUSY;
	error = reach(device, &access, write, value);
	tell(device, &access, write, *value, error);
	device_runs_let(device->runs);
	return error ? -EIO : (ssize_t)size;
}

ssize_t register_file_read(const struct device_access *device, uint32_t number, void *buffer,
			   size_t size, off_t offset)
{
	uint64_t value = 0;
	ssize_t bytes = serve(device, number, false, &value, size, offset);

	if (bytes > 0)
		memcpy(buffer, &value, sizeof(value));
	return bytes;
}

ssize_t register_file_write(const struct device_access *device, uint32_t number, const void *buffer,
			    size_t size, off_t offset)
{
	uint64_t value = 0;

	memcpy(&value, buffer, size < sizeof(value) ? size : sizeof(value));
	return serve(device, number, true, &value, size, offset);
}
