/*
 * An emulated machine instead of the real one. The calling process enters a mount namespace of its
 * own, in which the machine's device files are mounted over the computer's; its children find them.
 * Another process serves the files, and never touches them. So if either of the two is killed at
 * any time, nobody waits for an answer that cannot come. Each ends with the other.
 */
#ifndef DEVICE_SERVER_H
#define DEVICE_SERVER_H

#include "device/access.h"

struct device_server;

struct device_options {
	const struct pmu_machine *machine;
	const char *name; /* for others to join; NULL: none */
	bool wall_clock;  /* time goes on while nothing runs */
	/*
	 * See struct device_access; arg is of all of them. They are called in the serving process,
	 * on the state that *arg has when the server begins: the caller's own stays as it is.
	 */
	void (*refused)(void *arg, const struct pmon_access *access, uint64_t value, int error);
	void (*accessed)(void *arg, const struct pmon_access *access, bool write, uint64_t value,
			 int error);
	void (*violated)(void *arg, const struct pmon_violation *violation);
	/* There too, in the end, for what the others noted. @return what the caller gets */
	int (*finished)(void *arg, int result);
	void *arg;
};

/**
 * Takes the calling thread, which must be the only one, into the namespace: there is no way back.
 * @return 0; PMU_E_RIGHTS with what grants it; PMU_E_CONFLICT for a name that is taken; PMU_E_RANGE
 *         for one that cannot be; PMU_E_NOMEM, PMU_E_IO
 */
int device_server_new(struct device_server **server, struct pmu_ctx *ctx,
		      const struct device_options *options);

/** A descriptor that becomes readable when the serving process has ended. */
int device_server_watch(const struct device_server *server);

/**
 * Ends the serving, kills what is left in the namespace, and calls finished() with @result.
 * @param answer  receives what that returned
 * @return 0, or PMU_E_IO where the serving process had ended before
 */
int device_server_finish(struct device_server *server, struct pmu_ctx *ctx, int result,
			 int *answer);

/** Ends the serving in the same way, where it was not finished, without a call. NULL is allowed. */
void device_server_free(struct device_server *server);

struct emul *device_server_system(struct device_server *server);

#endif
