/* /dev/cpu/N/msr: the file position is the number of the register, as in the kernel's driver. */
#ifndef DEVICE_MSR_H
#define DEVICE_MSR_H

#include <stddef.h>
#include <sys/types.h>

#include "device/access.h"

/**
 * Reads or writes whole registers of 8 bytes; several in one call all mean the one at @offset, as
 * with the kernel's driver.
 * @param cpu  numbered over all sockets
 * @return bytes, or -EINVAL for a part of a register, -EIO where no register answers, -EBUSY where
 * a stopped program holds the machine
 */
ssize_t device_msr_read(const struct device_access *device, unsigned cpu, void *buffer, size_t size,
			off_t offset);
ssize_t device_msr_write(const struct device_access *device, unsigned cpu, const void *buffer,
			 size_t size, off_t offset);

#endif
