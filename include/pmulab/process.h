/*
 * Counting what one program does, through the kernel's perf_event: on any Linux computer, also
 * where the catalog does not know the processor. libpfm4 knows the events of its cores by name.
 */
#ifndef PMULAB_PROCESS_H
#define PMULAB_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "pmulab/pmulab.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct pmu_process;

/** @return 0, PMU_E_NOMEM, or PMU_E_UNSUPPORTED where libpfm4 does not start */
int pmu_process_new(struct pmu_process **process, struct pmu_ctx *ctx);
/** Ends counting; NULL is allowed. */
void pmu_process_free(struct pmu_process *process);

/**
 * Asks for an event by a name of libpfm4: INST_RETIRED, CYCLES, PAGE-FAULTS, perf::CACHE-MISSES:u.
 * @return its index, PMU_E_UNKNOWN with the nearest name, PMU_E_SYNTAX, PMU_E_NOMEM
 */
int pmu_process_add(struct pmu_process *process, struct pmu_ctx *ctx, const char *event);

/**
 * Counts what @pid does from its next execve() on, all its threads and children included. Events
 * that nothing on this computer counts are not an error here; their counts say so.
 * @return 0, PMU_E_RIGHTS with what grants it, PMU_E_IO
 */
int pmu_process_start(struct pmu_process *process, struct pmu_ctx *ctx, pid_t pid);

/**
 * Counts what a process that runs does from now on, all its threads and those to come included, and
 * children that it forks from now on.
 * @return as pmu_process_start(); PMU_E_UNKNOWN where there is no such process
 */
int pmu_process_attach(struct pmu_process *process, struct pmu_ctx *ctx, pid_t pid);

/**
 * Counts all that some CPUs do from now on, by the kernel's numbers.
 * @return as pmu_process_start(); PMU_E_RANGE for a CPU that is not online
 */
int pmu_process_start_on(struct pmu_process *process, struct pmu_ctx *ctx, const unsigned *cpus,
			 size_t count);

/** What is started, or attached to, later on counts only from pmu_process_begin() on. */
void pmu_process_hold(struct pmu_process *process);
/**
 * Counts from now on what was held, children that have been forked meanwhile included.
 * @return 0, PMU_E_IO
 */
int pmu_process_begin(struct pmu_process *process, struct pmu_ctx *ctx);

enum pmu_process_state {
	PMU_PROCESS_COUNTED,
	PMU_PROCESS_UNSUPPORTED, /* this computer has nothing that counts it */
	PMU_PROCESS_NEVER_RAN,	 /* its turn on the counters never came */
	PMU_PROCESS_REFUSED,	 /* the kernel does it, and lets this user not count there */
};

struct pmu_process_count {
	const char *event; /* libpfm4's full name, the process's */
	const char *unit;  /* "ns", or "" for a number of events */
	enum pmu_process_state state;
	int user_only;			 /* the kernel allowed to count user mode only */
	uint64_t counted;		 /* events while the counter ran */
	uint64_t enabled_ns, running_ns; /* running < enabled: counters were shared in turns */
	uint64_t reserved[2];
};

/** An estimate for the whole time: counted, scaled by enabled over running. */
double pmu_process_estimate(const struct pmu_process_count *count);

/** Reads all counts, in the order of their indices. @param counts  as many as were added */
int pmu_process_read(struct pmu_process *process, struct pmu_ctx *ctx,
		     struct pmu_process_count *counts);
/** Events that were added. */
size_t pmu_process_events(const struct pmu_process *process);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
