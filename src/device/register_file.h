/* Files of a machine with IA-64 cores: registers, and two that run programs on it (run_file.h). */
#ifndef DEVICE_REGISTER_FILE_H
#define DEVICE_REGISTER_FILE_H

#include <stddef.h>
#include <sys/types.h>

#include "device/access.h"
#include "sysfs/tree.h"

/** Adds the files of all CPUs. */
void register_files_add(struct device_tree *tree, const struct pmu_machine *machine);

/**
 * Reads or writes a register.
 * @param number  of the node
 * @return bytes; -EINVAL for a part of a register, -EIO where none answers, -EBUSY while a program
 *         runs
 */
ssize_t register_file_read(const struct device_access *device, uint32_t number, void *buffer,
			   size_t size, off_t offset);
ssize_t register_file_write(const struct device_access *device, uint32_t number, const void *buffer,
			    size_t size, off_t offset);

#endif
