#include "bus/pci_functions.h"

#include <errno.h>

#include "bus/identity.h"

/* The function that tells which package its bus belongs to (334291-001 §1.6.1). */
struct locator {
	unsigned function; /* index of the function on its bus */
	uint32_t id;	   /* device and vendor */
	unsigned node_at;  /* offsets in configuration space */
	unsigned packages_at;
	const struct pmu_field *node;
	const struct pmu_register *packages; /* a field a package: its node id */
};

static bool locator_init(struct locator *locator, const struct pmu_pmu *pmu)
{
	struct identity_field node = identity_node(pmu);
	struct identity_field first = identity_package(pmu, 0);
	uint32_t node_address, base;

	if (!node.field || !first.field || node.box->space != PMU_SPACE_PCI)
		return false;
	node_address = pmu_register_address(node.box, node.reg, 0);
	base = node_address & ~UINT32_C(0xfff);
	*locator = (struct locator){
	    .function = pci_function_of(base),
	    .node_at = node_address & 0xfff,
	    .packages_at = pmu_register_address(first.box, first.reg, 0) & 0xfff,
	    .node = node.field,
	    .packages = first.reg,
	};
	for (size_t i = 0; i < node.box->register_count; i++)
		if (pmu_register_address(node.box, &node.box->registers[i], 0) == base)
			locator->id = (uint32_t)node.box->registers[i].reset;
	return locator->id != 0;
}

/* A folder of the kernel's can be made to name more than a bus has. */
static bool is_function(const struct pci_dev *device)
{
	return device->dev < 32 && device->func < 8;
}

static unsigned function_of(const struct pci_dev *device)
{
	return (unsigned)device->dev << 3 | device->func;
}

/* What may not be read, or is not so long, is nobody's fault: it is as if it were not there. */
static bool is_absence(int errnum)
{
	return !errnum || errnum == EACCES || errnum == EPERM || errnum == ENOENT ||
	       errnum == ENODEV;
}

/* @param failed  receives the kernel's error number where it is more than absence */
static bool read_dword(struct pci_dev *device, unsigned offset, uint32_t *value, int *failed)
{
	u8 bytes[4];

	errno = 0;
	if (!pci_read_block(device, (int)offset, bytes, 4)) {
		if (!is_absence(errno))
			*failed = errno;
		return false;
	}
	*value = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
		 (uint32_t)bytes[3] << 24;
	return true;
}

/* The package whose entry in the mapping is this bus's own node. */
static bool find_package(const struct locator *locator, struct pci_dev *device, unsigned *package,
			 int *failed)
{
	uint32_t node, mapping;

	if (!read_dword(device, locator->node_at, &node, failed) ||
	    !read_dword(device, locator->packages_at, &mapping, failed))
		return false;
	for (*package = 0;; ++*package) {
		const struct pmu_field *entry =
		    pmu_field_by_role(locator->packages, PMU_FIELD_PACKAGE_NODE, *package);

		if (!entry)
			return false;
		if (identity_value(entry, mapping) == identity_value(locator->node, node))
			return true;
	}
}

static void find_buses(struct pci_functions *packages, const struct pmu_host *host,
		       const struct locator *locator, struct pci_access *access, int *failed)
{
	for (struct pci_dev *device = access->devices; device; device = device->next) {
		unsigned package, socket;
		uint32_t id;

		if (function_of(device) != locator->function ||
		    !read_dword(device, 0, &id, failed) || id != locator->id ||
		    !find_package(locator, device, &package, failed) ||
		    !host_find_socket(host, package, &socket))
			continue;
		packages[socket].bus = (struct config_bus){
		    .found = true,
		    .domain = (unsigned)device->domain,
		    .number = device->bus,
		};
	}
}

static bool is_on_bus(const struct pci_dev *device, const struct config_bus *bus)
{
	return bus->found && (unsigned)device->domain == bus->domain && device->bus == bus->number;
}

/* Whether the catalog has a box at this function, by the device id it should have there. */
static bool is_a_box(const struct pmu_pmu *pmu, struct pci_dev *device, int *failed)
{
	uint32_t id;

	if (!read_dword(device, 0, &id, failed))
		return false;
	for (size_t b = 0; b < pmu->box_count; b++) {
		const struct pmu_box *box = &pmu->boxes[b];

		for (size_t i = 0; i < box->instance_count && box->space == PMU_SPACE_PCI; i++)
			if (box->instances[i].device_id == id >> 16 &&
			    pci_function_of(box->instances[i].base) == function_of(device))
				return true;
	}
	return false;
}

/*
 * The package of a bus that has no locator is that of the next higher one that has (linux
 * arch/x86/events/intel/uncore_snbep.c, snbep_pci2phy_map_init()): the IRP stands beside the PCIe
 * ports, not on the uncore's bus.
 */
static struct pci_functions *next_higher(struct pci_functions *packages, unsigned sockets,
					 const struct pci_dev *device)
{
	struct pci_functions *next = NULL;

	for (unsigned i = 0; i < sockets; i++) {
		const struct config_bus *bus = &packages[i].bus;

		if (is_on_bus(device, bus))
			return NULL;
		if (bus->found && bus->domain == (unsigned)device->domain &&
		    bus->number > device->bus && (!next || bus->number < next->bus.number))
			next = &packages[i];
	}
	return next;
}

static void take_own(struct pci_functions *packages, unsigned sockets, struct pci_access *access)
{
	for (struct pci_dev *device = access->devices; device; device = device->next)
		for (unsigned i = 0; i < sockets; i++)
			if (is_function(device) && is_on_bus(device, &packages[i].bus))
				packages[i].at[function_of(device)] = device;
}

static void take_others(struct pci_functions *packages, unsigned sockets, const struct pmu_pmu *pmu,
			struct pci_access *access, int *failed)
{
	for (struct pci_dev *device = access->devices; device; device = device->next) {
		struct pci_functions *package = next_higher(packages, sockets, device);

		if (package && is_function(device) && !package->at[function_of(device)] &&
		    is_a_box(pmu, device, failed))
			package->at[function_of(device)] = device;
	}
}

int pci_functions_find(struct pci_functions *packages, const struct pmu_host *host,
		       const struct pmu_pmu *pmu, struct pci_access *access)
{
	struct locator locator;
	int failed = 0;

	if (!locator_init(&locator, pmu))
		return 0;
	find_buses(packages, host, &locator, access, &failed);
	take_own(packages, host->sockets, access);
	take_others(packages, host->sockets, pmu, access, &failed);
	return failed;
}
