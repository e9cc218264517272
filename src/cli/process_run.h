/* What the kernel is asked to count, and of whom. */
#ifndef CLI_PROCESS_RUN_H
#define CLI_PROCESS_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "cli/rounds.h"

#define PROCESS_EVENTS_MAX ROUNDS_EVENTS_MAX

struct process_run {
	const char *events[PROCESS_EVENTS_MAX]; /* as the user wrote them */
	size_t event_count;			/* 0: those that any computer may have */
	const char *output;			/* NULL: standard error */
	pid_t pid;				/* that runs already, and is counted; 0: none */
	const unsigned *cpus;			/* that are counted, whoever runs there; */
	size_t cpu_count;			/* 0: none are */
	const char *cpu_list;			/* as the user wrote them; NULL: all */
	double timeout_ms;			/* 0: none */
	double interval_ms, delay_ms;		/* 0: none */
	unsigned repeat;			/* runs, for means; 0: not asked for */
	bool repeat_groups; /* the program runs again for what was not counted all the time */
};

#endif
