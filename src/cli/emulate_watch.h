/*
 * Watches a tool's accesses to the registers of an emulated machine: writes a register trace
 * (bus/register_trace.h), and notes the events that the tool counts and the machine does not model.
 */
#ifndef CLI_EMULATE_WATCH_H
#define CLI_EMULATE_WATCH_H

#include <pthread.h>
#include <stdio.h>

#include "cli/cli.h"
#include "pmulab/bus.h"
#include "pmulab/event.h"

#define WATCH_NAMES	 64
#define WATCH_NAME_BYTES PMU_EVENT_TEXT_MAX

struct emulate_watch {
	const struct cli *cli;
	const char *path;	   /* of the file */
	const struct pmu_pmu *pmu; /* for the registers' names */
	FILE *file;		   /* NULL: nothing is written down */
	pthread_mutex_t lock;	   /* of what follows */
	char absent[WATCH_NAMES][WATCH_NAME_BYTES];
	unsigned absent_count;
	bool more; /* than are named */
};

/** @param path  NULL: writes nothing down. @return 0 or the exit code */
int emulate_watch_begin(const struct cli *cli, struct emulate_watch *watch, const char *path,
			const struct pmu_machine *machine);
/** Says which events were not modelled, and ends the file. @return 0 or the exit code */
int emulate_watch_report(struct emulate_watch *watch);

void emulate_watch_release(struct emulate_watch *watch);

/** To be called by any thread. @arg is the struct emulate_watch. */
void emulate_watch_access(void *arg, const struct pmu_access_op *access, bool write, int error);

#endif
