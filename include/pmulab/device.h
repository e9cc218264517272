/*
 * An emulated machine in the place of the real one: its device files (/dev/cpu/N/msr and cpuid, PCI
 * configuration space, /proc/cpuinfo, /sys/devices/system/cpu and node) lie over the computer's, in
 * a mount namespace of the process's own. Tools that it runs find them; outside nothing changes.
 * Of a machine with IA-64 cores there are register files instead (registers.h). Needs root and
 * /dev/fuse.
 *
 * Another process serves the files. Each of the two ends with the other.
 */
#ifndef PMULAB_DEVICE_H
#define PMULAB_DEVICE_H

#include "pmulab/program.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct pmu_device;

/* A documented rule that software broke in driving the registers. */
struct pmu_violation {
	const char *reg;	   /* name, as the catalog has it */
	const struct pmu_box *box; /* NULL: of no box */
	unsigned socket, instance;
	uint64_t value;	    /* written, or what the register holds; 0 for a read */
	const char *rule;   /* one sentence; constant */
	const char *source; /* document and section; constant */
};

struct pmu_device_options {
	size_t size; /* of this struct, set by the caller */
	const struct pmu_machine *machine;
	const char *name; /* for pmu_emul_attach(); NULL: it has none */
	bool wall_clock;  /* the machine's time goes on while nothing runs on it */
	/*
	 * Called in the serving process, by several threads, on what *arg was when it began: the
	 * caller's own stays as it is. NULL: nobody is told.
	 */
	/* Of each access; @access has no register's name, and 0 for a value that was not read. */
	void (*accessed)(void *arg, const struct pmu_access_op *access, bool write, int error);
	void (*violated)(void *arg, const struct pmu_violation *violation);
	/* There too, in the end, by one thread, for what the others noted.
	 * @return what pmu_device_finish() gives the caller */
	int (*finished)(void *arg, int value);
	void *arg;
};

/**
 * Builds the machine and takes the calling thread, which must be the process's only one, into the
 * namespace: there is no way back.
 * @return 0; PMU_E_RIGHTS with what grants it; PMU_E_CONFLICT for a name that is taken; PMU_E_RANGE
 *         for one that cannot be; PMU_E_UNSUPPORTED, PMU_E_NOMEM, PMU_E_IO
 */
int pmu_device_new(struct pmu_device **device, struct pmu_ctx *ctx,
		   const struct pmu_device_options *options);

/**
 * Runs a tool, a program made with tool = true, to its end.
 * @return as pmu_program_run()
 */
int pmu_device_run(struct pmu_device *device, struct pmu_ctx *ctx, struct pmu_program *tool,
		   struct pmu_program_result *result);

/**
 * Ends the serving, kills what is left in the namespace, and calls finished() with @value.
 * @param answer  receives what that returned; 0 where there is none
 * @return 0, or PMU_E_IO where the serving process had ended before
 */
int pmu_device_finish(struct pmu_device *device, struct pmu_ctx *ctx, int value, int *answer);

/** Ends the serving in the same way, where it was not finished, without a call. NULL is allowed. */
void pmu_device_free(struct pmu_device *device);

/**
 * Takes the calling thread into the namespace of a machine that was joined by name, if it has one
 * of its own: tools find its files then.
 * @return 0, PMU_E_RIGHTS with what grants it, PMU_E_STATE for a machine that was not joined
 */
int pmu_device_enter(struct pmu_emul *emul, struct pmu_ctx *ctx);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
