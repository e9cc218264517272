#include "device/msr.h"

#include <errno.h>
#include <string.h>

#define REGISTER_BYTES 8

static struct pmon_access access_of(const struct device_access *device, unsigned cpu, off_t offset)
{
	const unsigned cores = emul_desc(device->emul)->cores;

	return (struct pmon_access){
	    .socket = cpu / cores,
	    .core = cpu % cores,
	    .space = PMU_SPACE_MSR,
	    .address = (uint32_t)offset,
	    .width = 64,
	};
}

static bool is_whole(size_t size, off_t offset)
{
	return size % REGISTER_BYTES == 0 && offset >= 0 && offset <= (off_t)UINT32_MAX;
}

/* Outside of the PMU a register reads as the machine's description says; nobody can write it. */
static bool read_described(const struct pmu_machine *machine, uint32_t address, uint64_t *value)
{
	for (size_t i = 0; i < machine->msr_count; i++) {
		if (machine->msrs[i].address != address)
			continue;
		*value = machine->msrs[i].value;
		return true;
	}
	return false;
}

/* As a driver says it. */
static ssize_t failed(size_t done, int error)
{
	if (done)
		return (ssize_t)done;
	return error == PMU_E_BUSY ? -EBUSY : -EIO;
}

ssize_t device_msr_read(const struct device_access *device, unsigned cpu, void *buffer, size_t size,
			off_t offset)
{
	const struct pmon_access access = access_of(device, cpu, offset);

	if (!is_whole(size, offset))
		return -EINVAL;
	for (size_t done = 0; done < size; done += REGISTER_BYTES) {
		uint64_t value;
		int error = 0;

		if (!read_described(emul_desc(device->emul), access.address, &value))
			error = device_read(device, &access, &value);
		if (error)
			return failed(done, error);
		memcpy((char *)buffer + done, &value, sizeof(value));
	}
	return (ssize_t)size;
}

ssize_t device_msr_write(const struct device_access *device, unsigned cpu, const void *buffer,
			 size_t size, off_t offset)
{
	const struct pmon_access access = access_of(device, cpu, offset);

	if (!is_whole(size, offset))
		return -EINVAL;
	for (size_t done = 0; done < size; done += REGISTER_BYTES) {
		uint64_t value;
		int error;

		memcpy(&value, (const char *)buffer + done, sizeof(value));
		error = device_write(device, &access, value);
		if (error)
			return failed(done, error);
	}
	return (ssize_t)size;
}
