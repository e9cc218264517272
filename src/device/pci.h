/*
 * PCI functions of the uncore, found in the catalog, and their configuration space: a header, the
 * registers of the PMUs, and zeros.
 */
#ifndef DEVICE_PCI_H
#define DEVICE_PCI_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "device/access.h"
#include "sysfs/tree.h"

#define PCI_CONFIG_BYTES 4096

struct pci_function {
	uint8_t socket, bus, device, function;
	uint16_t device_id;
	uint32_t class;			      /* base class, subclass, interface: 24 bits */
	const struct pmu_function *described; /* outside of the PMU; else NULL */
};

struct pci_functions {
	struct pci_function *all; /* by rising bus, device and function */
	size_t count;
};

/** @return 0 or PMU_E_NOMEM, PMU_E_UNKNOWN for a machine without PMU */
int device_pci_init(struct pci_functions *functions, struct pmu_ctx *ctx,
		    const struct device_access *device);
void device_pci_fini(struct pci_functions *functions);

/**
 * Reads or writes configuration space. As in the kernel, registers are reached a dword at a time,
 * or a byte or word where the range is not aligned. Writes outside the PMUs' registers do nothing.
 * @return bytes: fewer, or 0, at the end of the space; -EBUSY where a stopped program holds the
 *         machine
 */
ssize_t device_pci_read(const struct device_access *device, const struct pci_function *function,
			void *buffer, size_t size, off_t offset);
ssize_t device_pci_write(const struct device_access *device, const struct pci_function *function,
			 const void *buffer, size_t size, off_t offset);

/** Adds /proc/bus/pci and /sys/bus/pci. */
void device_pci_add_files(struct device_tree *tree, const struct pci_functions *functions,
			  const struct pmu_machine *machine);

#endif
