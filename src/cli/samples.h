/* Samples of a recording, grouped by what they have in common. */
#ifndef CLI_SAMPLES_H
#define CLI_SAMPLES_H

#include "cli/cli.h"
#include "cli/symbols.h"
#include "pmulab/sample.h"

enum samples_by {
	SAMPLES_BY_FUNCTION,
	SAMPLES_BY_LINE,
	SAMPLES_BY_IP,
	SAMPLES_BY_DATA,
	SAMPLES_BY_LATENCY,
	SAMPLES_BY_BRANCH,
	SAMPLES_BY_RETIRED,
	SAMPLES_BY_THREAD,
	SAMPLES_BYS,
};

/* What samples of one event have in common, and how many they are. */
struct samples_group {
	unsigned event;
	uint64_t key,
	    to; /* an address, the low end of a range, a thread; of branches from and to */
	uint64_t samples; /* or entries of the samples' traces */
	uint64_t period;  /* sum, of the event; of what retired: cycles */
	uint64_t latency; /* sum, cycles */
	uint64_t latencies, mispredicted;
	uint64_t least; /* entries of which the hardware tells no more than a lower bound */
	/* By name, once samples_name() has found it. */
	const char *module;
	struct symbol symbol, to_symbol;
};

struct samples {
	const struct cli *cli;
	enum samples_by by;
	struct pmu_samples *file;
	struct symbols *symbols;
	struct pmu_mapping *mappings;
	size_t mapping_count;
	struct samples_group *groups;
	size_t count, capacity; /* a power of two; before samples_name() a hash table */
	uint64_t *periods;	/* by event: sum of all samples */
	uint64_t *samples;
};

/** Reads all samples of a file, and groups them. @return 0 or the exit code, said */
int samples_read(struct samples *samples, const char *path);
/**
 * Finds names, joins groups of one name, and sorts by event and size.
 * @return 0 or the exit code, said
 */
int samples_name(struct samples *samples, const char *path);
void samples_fini(struct samples *samples);

#endif
