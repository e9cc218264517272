/*
 * An emulated machine instead of the real one. The calling process enters a mount namespace of its
 * own, in which the machine's device files are mounted over the computer's; its children find them.
 * Another process serves the files, and never touches them. So if either of the two is killed at
 * any time, nobody waits for an answer that cannot come. Each ends with the other.
 */
#ifndef DEVICE_SERVER_H
#define DEVICE_SERVER_H

#include "device/serving.h"

struct device_server;

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

struct emul *device_server_emul(struct device_server *server);

#endif
