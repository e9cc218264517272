/*
 * A program that runs natively while counters count. It starts in two steps, so that counters can
 * be set up for the process before it begins.
 */
#ifndef CLI_CHILD_H
#define CLI_CHILD_H

#include <signal.h>
#include <sys/types.h>

#include "cli/cli.h"

struct child_signals {
	struct sigaction before[_NSIG];
	sigset_t mask;
};

/**
 * From here on no signal ends this process, which has counters to give back, but SIGKILL and those
 * of its own faults: they are passed on to the program. One that comes before the program begins
 * keeps it from beginning.
 */
void child_guard(struct child_signals *signals);
void child_unguard(const struct child_signals *signals);

struct child {
	pid_t pid;
	int go;	      /* closing it lets the program begin */
	int fate;     /* tells why it could not be executed */
	int watch;    /* a descriptor whose hanging up ends the program; -1: none */
	bool gone;    /* it has */
	bool ran;     /* it became the program */
	int refusal;  /* error number of executing it, if that is why it did not */
	int ended_by; /* signal that kept it from beginning; 0: none */
	const char *name;
};

/** Starts a process that waits before it becomes the program. @return 0 or the exit code, said */
int child_start(const struct cli *cli, struct child *child, char **argv,
		const struct child_signals *signals);
/**
 * Runs it to its end, and says nothing: child->ran tells whether it began.
 * @return its exit code, or 128 + signal as a shell says it
 */
int child_run(struct child *child);
/** Says why it did not run. @return 0: it ran; RUN_NOT_FOUND, RUN_NOT_EXECUTABLE, 128 + signal */
int child_explain(const struct cli *cli, const struct child *child);
/** Both. @param exit  receives the exit code. @return 0 or what child_explain() returns */
int child_finish(const struct cli *cli, struct child *child, int *exit);
/** Ends it without having run. */
void child_abandon(struct child *child);

#endif
