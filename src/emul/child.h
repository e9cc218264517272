/* The process that becomes the emulator: what running a program on the machine needs of it. */
#ifndef EMUL_CHILD_H
#define EMUL_CHILD_H

#include "pmulab/program.h"

/* What a shell says where a program cannot be run. */
enum {
	CHILD_FAILED = 1,
	CHILD_NOT_EXECUTABLE = 126,
	CHILD_NOT_FOUND = 127,
};

/** As pmu_child_new(); the process calls @prepare before it becomes the program. NULL: nothing. */
int child_new(struct pmu_child **child, struct pmu_ctx *ctx, char *const *argv,
	      const struct pmu_child_options *options, void (*prepare)(void));
/**
 * As pmu_child_new(), of a process that does not become a program: it calls @body, which does not
 * return where all goes well. What exec() would close is closed.
 * @param argv  its first word names the process in messages
 */
int child_new_calling(struct pmu_child **child, struct pmu_ctx *ctx, char *const *argv,
		      const struct pmu_child_options *options, void (*body)(void *arg), void *arg);

/** Has the child killed when @descriptor hangs up; -1: there is none. */
void child_watch(struct pmu_child *child, int descriptor);
/** Has @serve called whenever @descriptor can be read, as long as the child runs; -1: there is
 * none.
 */
void child_serve(struct pmu_child *child, int descriptor, void (*serve)(void *arg), void *arg);

#endif
