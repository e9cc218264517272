/*
 * From where in our own code a process that is stopped makes its system call: the return addresses
 * on its stack that lie in our program and libraries, as module and offset, so that a call site has
 * the same name in every run.
 */
#ifndef FAULTS_CALLSITE_H
#define FAULTS_CALLSITE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CALLSITE_FRAMES 48

struct callsite {
	uint64_t id; /* of the call's number and the frames; 0: none of our code on the stack */
	unsigned count;
	struct {
		const char *module; /* file name, without folders */
		uint64_t offset;
	} frames[CALLSITE_FRAMES]; /* ours, innermost first */
};

struct callsite_process;

struct callsite_process *callsite_process_new(pid_t pid);
void callsite_process_free(struct callsite_process *process);

/** Names a file whose code is ours, by its path without links. */
void callsite_own(const char *path);

/** Of @thread of @process, which is stopped; false: the call is not made by our code */
bool callsite_find(struct callsite_process *process, pid_t thread, int call, struct callsite *site);

#endif
