/* Counts of an interval, as -I prints them. */
#ifndef CLI_INTERVAL_H
#define CLI_INTERVAL_H

#include <stdint.h>

#include "cli/cli.h"

struct interval_count {
	const char *event;
	const char *missing; /* why there is no count; NULL: there is one */
	uint64_t count;
};

/** Before the first interval: the heading of CSV. */
void interval_begin(const struct cli *cli);
/** After the last one: the empty line that ends this CSV, as the report follows. */
void interval_end(const struct cli *cli);

/**
 * A line for each count; with jsonl one for all.
 * @param time    when it ended, in seconds from the beginning
 * @param length  seconds
 */
void interval_print(const struct cli *cli, double time, double length,
		    const struct interval_count *counts, size_t count);

#endif
