/*
 * A program that runs as it is, while counters count. It is started in two steps, so that what
 * counts can be told of the process before it begins.
 */
#ifndef CLI_CHILD_H
#define CLI_CHILD_H

#include <signal.h>
#include <sys/types.h>

#include "cli/cli.h"

#define CHILD_SIGNALS 6

struct child_signals {
	struct sigaction before[CHILD_SIGNALS], before_sigchld;
	sigset_t mask;
};

/**
 * From here on signals end the program and not this process, which has counters to give back. One
 * that comes before the program begins keeps it from beginning.
 */
void child_guard(struct child_signals *signals);
void child_unguard(const struct child_signals *signals);

struct child {
	pid_t pid;
	int go;	   /* closing it lets the program begin */
	int fate;  /* tells why it could not be executed */
	int watch; /* a descriptor whose hanging up ends the program; -1: none */
	bool gone; /* it has */
	const char *name;
};

/** Starts a process that waits before it becomes the program. @return 0 or the exit code, said */
int child_start(const struct cli *cli, struct child *child, char **argv,
		const struct child_signals *signals);
/**
 * Runs it to its end.
 * @param exit  receives its exit code, or 128 + signal as a shell says it
 * @return 0, or the exit code where it could not be run, said: RUN_NOT_FOUND, RUN_NOT_EXECUTABLE
 */
int child_finish(const struct cli *cli, struct child *child, int *exit);
/** Ends it without having run. */
void child_abandon(struct child *child);

#endif
