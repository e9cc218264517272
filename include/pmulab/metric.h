/* Metrics: the manual's equations over counts, with units. */
#ifndef PMULAB_METRIC_H
#define PMULAB_METRIC_H

#include "pmulab/session.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* A parsed equation. */
struct pmu_formula;

#define PMU_CLOCKS_MAX 8 /* enum pmu_clock has fewer */

/*
 * Terms of 334291-001 §1.7.1 and the like that are no events; what is not known is NAN. A metric
 * takes the clock of its own box: SAMPLE_INTERVAL is the cycles that all counted instances had.
 */
struct pmu_terms {
	size_t size;	  /* of this struct, set by the caller */
	double seconds;	  /* SECONDS: TOTAL_INTERVAL / (TSC_SPEED * 1000000) */
	double tsc_mhz;	  /* TSC_SPEED */
	double instances; /* of the box that the counts are summed over; for SAMPLE_INTERVAL */
	double clock_mhz[PMU_CLOCKS_MAX]; /* by enum pmu_clock; UNCORE_FREQUENCY is that of UCLK */
	double core_cycles;		  /* TOTAL_PROC_CYC */
	double instructions;		  /* INST_RETIRED.ALL */
};

/**
 * Parses metric @name ("[box.]NAME", or NAME with a lower-case variable replaced: RANK3 for RANKx)
 * and resolves every name in it, other metrics included. Filters by my_node and other_nodes become
 * PMU_NODES_MINE and PMU_NODES_OTHERS, which the session resolves for each socket.
 * @return 0, PMU_E_SYNTAX, PMU_E_UNKNOWN, or PMU_E_CONFLICT for a name that several boxes have
 */
int pmu_formula_new(struct pmu_formula **formula, struct pmu_ctx *ctx, const struct pmu_pmu *pmu,
		    const char *name);
/**
 * The same for a part with so many sockets: where the manual's equation is wrong for it, by the
 * catalog's own (docs/errata.md). pmu_formula_new() is that for one socket: the manual's.
 */
int pmu_formula_new_for(struct pmu_formula **formula, struct pmu_ctx *ctx,
			const struct pmu_pmu *pmu, const char *name, unsigned sockets);

/**
 * Calls @found with the name of each metric that @text names: one, or all that match, "[box.]NAME"
 * with * and ?. A metric with a variable is offered once for each number that its equation knows.
 * @param found  a result other than 0 ends it
 * @return 0, what @found returned, or PMU_E_UNKNOWN where nothing matches
 */
int pmu_metric_expand(struct pmu_ctx *ctx, const struct pmu_pmu *pmu, const char *text,
		      int (*found)(void *arg, const char *name), void *arg);

/**
 * Parses an equation of the user's own, in the notation of the manual's: numbers, + - * /,
 * parentheses, metrics ("[box.]NAME"), terms ("SECONDS", "INST_RETIRED.ALL" and the others of
 * 334291-001 §1.7.1) and event expressions ("cbo.LLC_LOOKUP.ANY:state=0x1"). Of values that are
 * sums (state=M+E) it takes the number only.
 * @return as pmu_formula_new()
 */
int pmu_formula_parse(struct pmu_formula **formula, struct pmu_ctx *ctx, const struct pmu_pmu *pmu,
		      const char *equation);
/** NULL is allowed. */
void pmu_formula_free(struct pmu_formula *formula);

/**
 * Names in the equation that the manual uses and does not define, comma separated; "" for none. The
 * value is NAN where there is one. Lives as long as the formula.
 */
const char *pmu_formula_missing(const struct pmu_formula *formula);

/** The metric that it was made of, with its unit and source; NULL for pmu_formula_parse(). */
const struct pmu_metric *pmu_formula_metric(const struct pmu_formula *formula);

/** Selections it needs. @param selections belongs to the formula. */
size_t pmu_formula_selections(const struct pmu_formula *formula,
			      const struct pmu_selection **selections);

/**
 * Evaluates.
 * @param counts  one for each selection, in that order; NAN for "not modelled"
 * @return the value, NAN where a count or term is missing or a divisor is 0
 */
double pmu_formula_evaluate(const struct pmu_formula *formula, const double *counts,
			    const struct pmu_terms *terms);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
