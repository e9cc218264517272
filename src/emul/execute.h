/*
 * What executes a program in the calling process, for the cores of an emulated machine. It stands
 * above the emulation and is loaded like the plugins of other emulators (plugin/ia64.c).
 */
#ifndef EMUL_EXECUTE_H
#define EMUL_EXECUTE_H

#include "pmulab/pmulab.h"

struct emul_epic;

struct emul_execution {
	struct emul_epic *epic; /* what it runs on */
	const char *path;
	char *const *argv, *const *envp;
	void (*begins)(void *arg); /* called when nothing can be wrong any more */
	void *arg;
};

/**
 * The calling process becomes the program.
 * @return only where it does not begin: an error with its message
 */
typedef int emul_execute(struct pmu_ctx *ctx, const struct emul_execution *execution);

/* What the plugin exports. */
#define EMUL_EXECUTE "pmulab_execute"

#endif
