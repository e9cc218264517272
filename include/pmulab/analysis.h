/*
 * Methods of analysis: trees of equations over counts that say where cycles go, as manuals describe
 * them, and measures beside them. A method is text that users copy and change:
 *
 *     # Where cycles go
 *     Cycles | exact | CPU_OP_CYCLES.ALL | of cores that execute
 *     	Retiring | | CPU_OP_CYCLES.ALL - BACK_END_BUBBLE.ALL | something retires
 *     	Stalled | overlap | BACK_END_BUBBLE.ALL | nothing does
 *     measures IA64_IPC, MISSES[ratio]=L3_MISSES / L3_REFERENCES
 *
 * A tab before a line makes it a part of the line above that has one less. The second column says
 * what the parts of a line are: "exact" where they add up to it, "overlap" where several may hold
 * at the same time, "estimate" where each is an estimate (a count times what one of it costs);
 * empty without parts. The third is an equation as metrics have it, the fourth says what it is.
 */
#ifndef PMULAB_ANALYSIS_H
#define PMULAB_ANALYSIS_H

#include "pmulab/metric.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct pmu_method;

/** Those of a PMU, in the order of their names; NULL beyond the end. */
const struct pmu_method *pmu_pmu_method(const struct pmu_pmu *pmu, size_t index);
/** By name, without regard to case. @return NULL where there is none */
const struct pmu_method *pmu_find_method(const struct pmu_pmu *pmu, const char *name);
const char *pmu_method_name(const struct pmu_method *method);
/** What it tells. */
const char *pmu_method_title(const struct pmu_method *method);
/** All of it, title included. */
const char *pmu_method_text(const struct pmu_method *method);

enum pmu_parts {
	PMU_PARTS_NONE,
	PMU_PARTS_EXACT,
	PMU_PARTS_OVERLAP,
	PMU_PARTS_ESTIMATE,
};

#define PMU_ANALYSIS_ROOT SIZE_MAX

struct pmu_analysis_node {
	const char *name, *desc; /* of a measure its name, and its unit */
	bool measure;		 /* a root without parts that is no share of anything */
	enum pmu_parts parts;
	unsigned depth;
	size_t parent; /* index of what it is a part of; PMU_ANALYSIS_ROOT: of nothing */
	const struct pmu_formula *formula;
};

struct pmu_analysis;

/**
 * Parses a method's text.
 * @return 0; PMU_E_SYNTAX with the line's number; as pmu_formula_parse(); PMU_E_NOMEM. *analysis is
 *         the caller's
 */
int pmu_analysis_new(struct pmu_analysis **analysis, struct pmu_ctx *ctx, const struct pmu_pmu *pmu,
		     const char *text);
/** NULL is allowed. */
void pmu_analysis_free(struct pmu_analysis *analysis);

/** Lines, in their order: parts follow what they are parts of. */
size_t pmu_analysis_nodes(const struct pmu_analysis *analysis);
/** NULL beyond the end. */
const struct pmu_analysis_node *pmu_analysis_node(const struct pmu_analysis *analysis,
						  size_t index);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
