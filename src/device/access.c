#include "device/access.h"

int device_read(const struct device_access *device, const struct pmon_access *access,
		uint64_t *value)
{
	int error;

	device_clock_look(device->clock);
	error = emul_read(device->emul, access, value);
	if (device->accessed && error != PMU_E_BUSY)
		device->accessed(device->arg, access, false, error ? 0 : *value, error);
	return error;
}

int device_write(const struct device_access *device, const struct pmon_access *access,
		 uint64_t value)
{
	int error;

	device_clock_look(device->clock);
	error = emul_write(device->emul, access, value);
	if (error == PMU_E_BUSY)
		return error; /* it was never made */
	if (device->accessed)
		device->accessed(device->arg, access, true, value, error);
	if (error && device->refused)
		device->refused(device->arg, access, value, error);
	return error;
}
