#include "device/pci.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "catalog/address.h"

#define VENDOR_INTEL	  0x8086
#define CLASS_SYSTEM	  0x088000 /* system peripheral, other */
#define CLASS_PERFORMANCE 0x110100 /* signal processing, performance counters */
#define REVISION	  1
#define BUSES		  256

/* Header of type 0; offsets of its dwords. */
enum header {
	HEADER_ID = 0x00,
	HEADER_CLASS = 0x08,
	HEADER_TYPE = 0x0C,
};
#define MULTI_FUNCTION 0x00800000 /* in the dword of the header type */

/* enum pmu_space: device << 15 | function << 12 | offset. */
static unsigned slot_of(uint32_t address)
{
	return address >> 12;
}

/* Firmware shares the bus numbers out evenly: I/O begins a socket's, the uncore ends them. */
static uint8_t io_bus(const struct pmu_machine *machine, unsigned socket)
{
	return (uint8_t)(BUSES / machine->sockets * socket);
}

static uint8_t uncore_bus(const struct pmu_machine *machine, unsigned socket)
{
	return (uint8_t)(BUSES / machine->sockets * (socket + 1) - 1);
}

/* What a function's register of buses reads: 15:8 the uncore's bus, 7:0 the I/O bus. */
#define BUSES_VALID 0x80000000

#define SLOTS 256 /* 32 devices of 8 functions */

struct slot {
	bool there, counts;
	uint16_t device_id;
	const struct pmu_function *described; /* outside of the PMU */
};

static bool counts(uint8_t role)
{
	return role == PMU_ROLE_COUNTER || role == PMU_ROLE_FIXED_COUNTER;
}

static void note_box(struct slot *slots, const struct pmu_box *box, unsigned instance)
{
	const uint16_t device_id = box->instances[instance].device_id;

	for (size_t r = 0; r < box->register_count; r++) {
		const struct pmu_register *reg = &box->registers[r];
		unsigned slot = slot_of(pmu_register_address(box, reg, instance));

		if (reg->space != PMU_SPACE_PCI || slot >= SLOTS)
			continue;
		slots[slot].there = true;
		slots[slot].counts |= counts(reg->role);
		if (device_id && slot == slot_of(box->instances[instance].base))
			slots[slot].device_id = device_id;
	}
}

static void find_slots(struct slot *slots, const struct pmu_machine *machine,
		       const struct pmu_pmu *pmu)
{
	for (size_t b = 0; b < pmu->box_count; b++)
		for (unsigned i = 0; i < pmu->boxes[b].instance_count; i++)
			if (pmu_machine_instances(machine, &pmu->boxes[b]) >> i & 1)
				note_box(slots, &pmu->boxes[b], i);
}

/* What the function says of itself, where the catalog has the register. */
static uint16_t read_device_id(const struct device_access *device,
			       const struct pci_function *function)
{
	const struct pmon_access access = {
	    .socket = function->socket,
	    .space = PMU_SPACE_PCI,
	    .address = (uint32_t)(function->device << 15 | function->function << 12 | HEADER_ID),
	    .width = 32,
	};
	uint64_t value;

	return emul_read(device->emul, &access, &value) ? 0 : (uint16_t)(value >> 16);
}

static uint32_t class_of(const struct slot *slot)
{
	if (slot->described)
		return slot->described->class_code;
	return slot->counts ? CLASS_PERFORMANCE : CLASS_SYSTEM;
}

int device_pci_init(struct pci_functions *functions, struct pmu_ctx *ctx,
		    const struct device_access *device)
{
	const struct pmu_machine *machine = emul_desc(device->emul);
	const struct pmu_pmu *pmu = pmu_find_pmu(machine->pmu);
	struct slot slots[SLOTS] = {0};

	*functions = (struct pci_functions){0};
	if (!pmu)
		return error_set(ctx, PMU_E_UNKNOWN, "no PMU %s", machine->pmu);
	find_slots(slots, machine, pmu);
	for (size_t i = 0; i < machine->function_count; i++) {
		const struct pmu_function *described = &machine->functions[i];

		slots[described->device << 3 | described->function] = (struct slot){
		    .there = true, .device_id = described->id, .described = described};
	}
	functions->all = calloc((size_t)machine->sockets * SLOTS, sizeof(*functions->all));
	if (!functions->all)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for PCI functions");
	for (unsigned socket = 0; socket < machine->sockets; socket++) {
		for (unsigned slot = 0; slot < SLOTS; slot++) {
			struct pci_function function = {
			    .socket = (uint8_t)socket,
			    .bus = slot >> 3 < machine->first_uncore_device
				       ? io_bus(machine, socket)
				       : uncore_bus(machine, socket),
			    .device = (uint8_t)(slot >> 3),
			    .function = (uint8_t)(slot & 7),
			    .device_id = slots[slot].device_id,
			    .class = class_of(&slots[slot]),
			    .described = slots[slot].described,
			};

			if (!slots[slot].there)
				continue;
			if (!function.device_id)
				function.device_id = read_device_id(device, &function);
			functions->all[functions->count++] = function;
		}
	}
	return 0;
}

void device_pci_fini(struct pci_functions *functions)
{
	free(functions->all);
	*functions = (struct pci_functions){0};
}

/* What the PMUs' registers leave. */
static uint32_t rest_of(const struct pmu_machine *machine, const struct pci_function *function,
			unsigned offset)
{
	if (function->described && function->described->buses &&
	    offset == function->described->buses)
		return BUSES_VALID | (uint32_t)uncore_bus(machine, function->socket) << 8 |
		       io_bus(machine, function->socket);
	switch (offset) {
	case HEADER_ID:
		return (uint32_t)function->device_id << 16 | VENDOR_INTEL;
	case HEADER_CLASS:
		return function->class << 8 | REVISION;
	case HEADER_TYPE:
		return MULTI_FUNCTION;
	default:
		return 0;
	}
}

static struct pmon_access dword_of(const struct pci_function *function, unsigned offset)
{
	return (struct pmon_access){
	    .socket = function->socket,
	    .space = PMU_SPACE_PCI,
	    .address = (uint32_t)(function->device << 15 | function->function << 12 | offset),
	    .width = 32,
	};
}

/* What no register answers is no mistake here: the header, and what software looks for. */
static int read_dword(const struct device_access *device, const struct pci_function *function,
		      unsigned offset, uint32_t *dword)
{
	const struct pmon_access access = dword_of(function, offset);
	uint64_t value;
	int error = device_read(device, &access, &value);

	if (error == PMU_E_BUSY)
		return error;
	*dword = error ? rest_of(emul_desc(device->emul), function, offset) : (uint32_t)value;
	return 0;
}

/* How much of a range one access of at most four bytes, aligned to its size, covers. */
static unsigned piece(size_t left, unsigned offset)
{
	if (offset % 4 == 0 && left >= 4)
		return 4;
	return offset % 2 == 0 && left >= 2 ? 2 : 1;
}

static size_t inside(size_t size, off_t offset)
{
	if (offset < 0 || offset >= PCI_CONFIG_BYTES)
		return 0;
	return size < (size_t)(PCI_CONFIG_BYTES - offset) ? size
							  : (size_t)(PCI_CONFIG_BYTES - offset);
}

ssize_t device_pci_read(const struct device_access *device, const struct pci_function *function,
			void *buffer, size_t size, off_t offset)
{
	size = inside(size, offset);
	for (size_t done = 0, bytes; done < size; done += bytes) {
		unsigned at = (unsigned)offset + (unsigned)done;
		uint32_t value;

		if (read_dword(device, function, at & ~3u, &value))
			return done ? (ssize_t)done : -EBUSY;
		value >>= at % 4 * 8;
		bytes = piece(size - done, at);
		memcpy((char *)buffer + done, &value, bytes);
	}
	return (ssize_t)size;
}

/* Bits of a dword that a write of 1 clears. */
static uint32_t clearing(const struct device_access *device, const struct pmon_access *access)
{
	const struct pmu_pmu *pmu = pmu_find_pmu(emul_desc(device->emul)->pmu);
	const struct pmu_address *found = catalog_address_find(pmu, access->space, access->address);
	const struct pmu_register *reg;
	uint64_t bits = 0;

	if (!found)
		return 0;
	reg = &pmu->boxes[found->box].registers[found->reg];
	for (size_t i = 0; i < reg->field_count; i++)
		if (reg->fields[i].access == PMU_ACCESS_RW1C)
			bits |= pmu_mask(reg->fields[i].hi, reg->fields[i].lo);
	return (uint32_t)(bits >> found->shift);
}

/* Who hears of the access is told the whole dword, with what its other bytes hold. */
static int merge(const struct device_access *device, const struct pmon_access *access,
		 uint32_t written, uint32_t *value)
{
	uint64_t held = 0;

	if (~written && emul_read(device->emul, access, &held) == PMU_E_BUSY)
		return PMU_E_BUSY;
	*value |= (uint32_t)held & ~written & ~clearing(device, access);
	return 0;
}

ssize_t device_pci_write(const struct device_access *device, const struct pci_function *function,
			 const void *buffer, size_t size, off_t offset)
{
	size = inside(size, offset);
	for (size_t done = 0, bytes; done < size; done += bytes) {
		unsigned at = (unsigned)offset + (unsigned)done, shift = at % 4 * 8;
		struct pmon_access access = dword_of(function, at & ~3u);
		uint32_t value = 0, written;

		bytes = piece(size - done, at);
		memcpy(&value, (const char *)buffer + done, bytes);
		value <<= shift;
		written = (uint32_t)pmu_mask((unsigned)bytes * 8 - 1, 0) << shift;
		access.bytes = (uint8_t)(pmu_mask((unsigned)bytes - 1, 0) << at % 4);
		/* What no register takes is no mistake here either. */
		if (merge(device, &access, written, &value) ||
		    device_write(device, &access, value) == PMU_E_BUSY)
			return done ? (ssize_t)done : -EBUSY;
	}
	return (ssize_t)size;
}
