/* Metrics with the counts that they are given, and their values worked out by hand. */
#ifndef TESTS_METRIC_TRIAL_H
#define TESTS_METRIC_TRIAL_H

#include "pmulab/metric.h"

#define COUNTS_MAX 8

struct trial {
	const char *pmu, *metric;
	struct {
		const char *event; /* as it is printed; NULL behind the last */
		double count;
	} counts[COUNTS_MAX];
	double value; /* NAN: undefined */
};

/** The metric selects just these events, and has this value. */
void trial_run(const struct trial *trial, const struct pmu_terms *terms);

#endif
