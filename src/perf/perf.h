/*
 * perf_event(2) of an emulated machine: events that count. Each kind of event is counted once, by a
 * session on a PMU of the machine that is nobody else's, in all units at once and all the time; an
 * event is what of it falls into the times in which it was enabled, on the CPUs that it is for.
 * Tasks are not told apart: an event of a task counts what all programs do on the machine.
 */
#ifndef PERF_PERF_H
#define PERF_PERF_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "emul/block.h"
#include "sysfs/tree.h"

struct perf;
struct perf_event;

/**
 * Adds PMUs to the machine, which no other process has joined yet.
 * @return 0, PMU_E_NOMEM, PMU_E_STATE
 */
int perf_new(struct perf **perf, struct pmu_ctx *ctx, struct emul *emul);
/** Closes the descriptors that are still open, too; NULL is allowed. */
void perf_free(struct perf *perf);

/** Adds /sys/bus/event_source/devices. */
void perf_add_files(struct device_tree *tree, const struct pmu_machine *machine);

/* What follows may be called by several threads at once, and returns a negative errno. */

/** A descriptor: no event yet. @return NULL where there is no memory */
struct perf_event *perf_descriptor_new(struct perf *perf);
void perf_descriptor_free(struct perf *perf, struct perf_event *event);
/** @param request  struct perf_request. @return @size */
ssize_t perf_descriptor_request(struct perf *perf, struct perf_event *event, const void *request,
				size_t size);
/** @return bytes, as read(2) of an event */
ssize_t perf_descriptor_read(struct perf *perf, struct perf_event *event, void *buffer, size_t size,
			     off_t position);

#endif
