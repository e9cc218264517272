/* `stat` of one program through the kernel's perf_event, on computers that the catalog has not. */
#ifndef CLI_PROCESS_H
#define CLI_PROCESS_H

#include <sys/types.h>

#include "cli/cli.h"

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
	bool repeat_groups; /* the program runs again for what was not counted all the time */
};

/** Runs @argv counted and reports. No event: those of any computer. @return the program's exit
 * code, or why there is none */
int process_stat(struct cli *cli, struct process_run *run, char **argv);

#endif
