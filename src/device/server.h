/*
 * An emulated machine in the place of the real one: in a mount namespace of its own this process
 * serves its device files, and what is started from there finds them. Everything ends with the
 * process, however that ends.
 */
#ifndef DEVICE_SERVER_H
#define DEVICE_SERVER_H

#include "device/access.h"

struct device_server;

struct device_options {
	const struct pmu_machine *machine;
	const char *name; /* for others to join; NULL: none */
	bool wall_clock;  /* time goes on while nothing runs */
	/* See struct device_access; arg is of all three. */
	void (*refused)(void *arg, const struct pmon_access *access, uint64_t value, int error);
	void (*accessed)(void *arg, const struct pmon_access *access, bool write, uint64_t value,
			 int error);
	void (*violated)(void *arg, const struct pmon_violation *violation);
	void *arg;
};

/**
 * Takes the calling thread into the namespace: there is no way back. Its threads take no signals.
 * @return 0; PMU_E_RIGHTS with what grants it; PMU_E_CONFLICT for a name that is taken; PMU_E_RANGE
 *         for one that cannot be; PMU_E_NOMEM, PMU_E_IO
 */
int device_server_new(struct device_server **server, struct pmu_ctx *ctx,
		      const struct device_options *options);
/** Who still has files open gets errors; NULL is allowed. */
void device_server_free(struct device_server *server);

struct system *device_server_system(struct device_server *server);

#endif
