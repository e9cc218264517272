/* Programs that guests execute (execve, execveat): whether the machine can run them. */
#ifndef FEED_EXEC_H
#define FEED_EXEC_H

#include <limits.h>

#include "base/executable.h"
#include "feed/process.h"

enum feed_exec_fate {
	FEED_EXEC_FAILS,    /* as far as can be seen: the system says why */
	FEED_EXEC_EMULATED, /* it can run on the machine */
	FEED_EXEC_NATIVE,   /* it can run on the computer only */
};

/* A program that is executed, and the scripts that lead to it. */
struct feed_exec {
	enum feed_exec_fate fate;
	char path[PATH_MAX]; /* of the file that is executed */
	/* The scripts, then the program: files[scripts]. */
	unsigned scripts;
	struct executable files[EXECUTABLE_SCRIPTS + 1];
	const char *program; /* path of the program, the last script's interpreter */
	const char *why;     /* it runs on the computer only */
	uint64_t argv, envp; /* the guest's, which may be anything */
};

/** Whether a system call executes a program. */
bool feed_is_exec(int64_t number);

/**
 * Looks at what a guest is about to execute. Memory that the guest has not is no fault.
 * @param number      of a system call for which feed_is_exec() holds
 * @param arguments   its six
 * @param guest_base  host address of guest address 0
 * @param itself      path of the program that the guest is: what /proc/self/exe stands for there;
 *                    NULL: not known
 */
void feed_exec_read(struct feed_exec *exec, int64_t number, const uint64_t *arguments,
		    uint64_t guest_base, const char *itself);

/**
 * The thread's process is about to become a program that runs on the machine, in its place; the
 * process's other threads, which have stopped or are in system calls, leave their cores. Should it
 * fail, all enter again with their next block.
 */
void feed_exec_hand_on(struct feed_process *process, struct feed_thread *thread);

#endif
