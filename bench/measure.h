/* Shared by the small benchmarks: medians of repeated runs, as one line of text each. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MEASURE_RUNS 15

static inline double measure_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static inline int measure_order(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* Runs @work(@arg), which does @count things, and prints the median time of one. */
static inline double measure(const char *what, void (*work)(void *arg), void *arg, double count)
{
	double seconds[MEASURE_RUNS];

	work(arg);
	for (int run = 0; run < MEASURE_RUNS; run++) {
		double start = measure_now();

		work(arg);
		seconds[run] = measure_now() - start;
	}
	qsort(seconds, MEASURE_RUNS, sizeof(seconds[0]), measure_order);
	printf("%-44s %9.1f ns\n", what, seconds[MEASURE_RUNS / 2] / count * 1e9);
	return seconds[MEASURE_RUNS / 2];
}

#endif
