#include "device/msr.h"

#include <errno.h>
#include <string.h>

#include "catalog/address.h"
#include "catalog/signal.h"
#include "emul/meter.h"

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

static const struct pmu_msr *find_described(const struct pmu_machine *machine, uint32_t address)
{
	for (size_t i = 0; i < machine->msr_count; i++)
		if (machine->msrs[i].address == address)
			return &machine->msrs[i];
	return NULL;
}

/*
 * Who reads a CPU's registers works on that CPU for a moment, which tools rely on: where APERF and
 * MPERF stand still, they take it for a fault. So a read of APERF counts as a cycle, in these two
 * registers only. Other accesses do not: one that another thread makes between a tool's reads of
 * APERF and MPERF would let one run ahead of the other.
 */
static uint32_t own_cycles(const struct device_access *device, const struct pmon_access *access)
{
	const struct pmu_machine *machine = emul_desc(device->emul);
	const struct pmu_pmu *pmu = pmu_find_pmu(machine->pmu);
	const struct pmu_address *at = catalog_address_find(pmu, PMU_SPACE_MSR, access->address);
	const struct pmu_box *box = at ? &pmu->boxes[at->box] : NULL;
	const struct pmu_register *reg = box ? &box->registers[at->reg] : NULL;
	uint32_t *reads;

	if (!device->aperf_reads || !reg || box->scope != PMU_SCOPE_CORE ||
	    reg->role != PMU_ROLE_FREE_COUNTER || !reg->signal)
		return 0;
	reads = &device->aperf_reads[access->socket * machine->cores + access->core];
	if (reg->signal == SIGNAL_CORE_CYCLES)
		return __atomic_add_fetch(reads, 1, __ATOMIC_RELAXED);
	return __atomic_load_n(reads, __ATOMIC_RELAXED);
}

/* Outside of the PMU a register reads as the machine's description says; nobody can write it. */
static int read_any(const struct device_access *device, const struct pmon_access *access,
		    uint64_t *value)
{
	const struct pmu_msr *msr = find_described(emul_desc(device->emul), access->address);

	if (!msr) {
		int error = device_read(device, access, value);

		*value += error ? 0 : own_cycles(device, access);
		return error;
	}
	*value = msr->value;
	if (msr->meter == PMU_METER_NONE)
		return 0;
	device_clock_look(device->clock);
	return emul_meter_read(device->emul, access->socket, msr, value);
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
		int error = read_any(device, &access, &value);

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
