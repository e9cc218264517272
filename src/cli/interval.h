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

/**
 * A line for each count; with jsonl one for all.
 * @param time    when it ended, in seconds from the beginning
 * @param length  seconds
 */
void interval_print(const struct cli *cli, double time, double length,
		    const struct interval_count *counts, size_t count);

#endif
