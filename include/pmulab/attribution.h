/*
 * Attribution: which instruction of a program on an emulated machine made each counter count. It is
 * exact: the machine says at each signal which instruction causes it, and what a counter adds for
 * it goes to that instruction.
 *
 * A request of a core, and all that it makes others do, is caused by the instruction that made it;
 * so are the evictions and writebacks that make room for its line. A write to memory is caused by
 * what put it into the controller's queue, however late it leaves it. What the core itself does
 * (instructions, cycles) is caused by the block of straight-line code that does it, and counted at
 * the block's first instruction. Nobody causes refreshes.
 */
#ifndef PMULAB_ATTRIBUTION_H
#define PMULAB_ATTRIBUTION_H

#include "pmulab/emul.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct pmu_attribution;

/* A counter that counts an event. */
struct pmu_attributed {
	size_t size; /* of this struct, set by the caller */
	const struct pmu_box *box;
	unsigned event; /* a number of the caller's, below that of pmu_attribution_new() */
	unsigned pmu;	/* of those that listen to the machine: pmu_session_pmu_of() */
	unsigned socket, instance;
	unsigned counter; /* of a fixed one its own number */
	bool fixed;
};

/**
 * Prepares attribution of @events events. After all PMUs were added (pmu_session_start()), before a
 * program runs; once a machine.
 * @return 0; PMU_E_UNSUPPORTED for IA-64 cores; PMU_E_STATE once another process has joined the
 *         machine; PMU_E_RANGE for no events, or more than 4096; PMU_E_NOMEM. *attribution is the
 *         caller's, and belongs to @emul, which must outlive it
 */
int pmu_attribution_new(struct pmu_attribution **attribution, struct pmu_ctx *ctx,
			struct pmu_emul *emul, unsigned events);
/** NULL is allowed. The machine goes on to attribute. */
void pmu_attribution_free(struct pmu_attribution *attribution);

/**
 * From now on what a counter counts is attributed, and added up with what others count of the same
 * event.
 * @return 0; PMU_E_RANGE for a counter, event or PMU that is not there; PMU_E_BUSY
 */
int pmu_attribution_add(struct pmu_attribution *attribution, struct pmu_ctx *ctx,
			const struct pmu_attributed *counter);

/* An instruction that made counters count. */
enum pmu_cause {
	PMU_CAUSE_INSTRUCTION,
	PMU_CAUSE_NOBODY, /* no instruction: refreshes */
	PMU_CAUSE_REST,	  /* instructions beyond those that there was room for: a million */
};

struct pmu_attributed_row {
	size_t size; /* of this struct, set by the library */
	enum pmu_cause cause;
	uint32_t process, thread; /* of the computer; 0: not known */
	const char *region;	  /* that the program was in: region.h; NULL: in none */
	/* The file that the instruction is of, as it was mapped; NULL: it is of none. */
	const char *module;
	uint64_t device, inode; /* of that file */
	uint64_t address;	/* offset in the file; without one, virtual */
	const uint64_t *counts; /* by event */
};

/**
 * What has been attributed so far, in no order. When no program runs.
 * @param rows  receives up to @size rows; what they point to lives as long as @attribution
 * @return how many there are
 */
size_t pmu_attribution_rows(const struct pmu_attribution *attribution,
			    struct pmu_attributed_row *rows, size_t size);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
