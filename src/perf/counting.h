/*
 * What events count, each kind once: selections, counted in all units from the first enable on, by
 * sessions on PMUs of their own. Not locked.
 */
#ifndef PERF_COUNTING_H
#define PERF_COUNTING_H

#include "perf/devices.h"
#include "pmulab/session.h"

struct emul;

#define COUNTING_PMUS 4

struct counting {
	struct counting *next;
	struct pmu_selection selection; /* as it was asked for, */
	struct pmu_selection counted;	/* and as a PMU counts it */
	unsigned users;
	int bank;	/* -1: waits for one */
	unsigned event; /* of the bank's session */
};

struct counting_bank {
	struct pmu_bus *bus;
	struct pmu_session *session; /* NULL: nothing is counted */
	unsigned users;		     /* of its countings */
};

struct countings {
	struct pmu_ctx *ctx;
	const struct pmu_machine *machine;
	struct pmu_bus *bus; /* to the machine's own PMU */
	struct counting_bank banks[COUNTING_PMUS];
	struct counting *all;
	/* Counts of a bank begin at 0 again: called before that, and after it. */
	void (*stops)(void *arg, int bank);
	void (*started)(void *arg, int bank);
	void *arg;
};

/** @return 0, PMU_E_NOMEM, PMU_E_STATE where other processes have joined the machine */
int countings_init(struct countings *countings, struct pmu_ctx *ctx, struct emul *emul);
void countings_fini(struct countings *countings);

/**
 * @param text  in perf's notation
 * @return 0; -ENOENT for what is no event; -EOPNOTSUPP for what the machine does not model; -ENOMEM
 */
int counting_get(struct countings *countings, const char *text, struct counting **counting);
void counting_put(struct countings *countings, struct counting *counting);

/**
 * Begins to count what waits, as far as there are counters; of stops() and started() it is said
 * where that ends what was counted.
 */
void countings_start(struct countings *countings);

/**
 * @param unit  of the socket; -1: all
 * @param socket  -1: all
 * @return the count since it began; 0 where it has not
 */
uint64_t counting_read(struct countings *countings, const struct counting *counting, int socket,
		       int unit);

#endif
