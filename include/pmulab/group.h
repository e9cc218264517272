/*
 * Groups: events and metrics of one topic, as text that users copy and change.
 *
 *     # Memory: bytes read and written
 *     events imc.CAS_COUNT.RD, imc.CAS_COUNT.WR
 *     metrics MEM_BW_READS, SHARE[ratio]=imc.CAS_COUNT.RD / imc.CAS_COUNT.ALL
 *
 * A line is empty, a comment, or "events" or "metrics" and a list. The first comment is the title.
 */
#ifndef PMULAB_GROUP_H
#define PMULAB_GROUP_H

#include "pmulab/catalog.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct pmu_group;

/** Those of a PMU, in the order of their names; NULL beyond the end. */
const struct pmu_group *pmu_pmu_group(const struct pmu_pmu *pmu, size_t index);
/** By name, without regard to case. @return NULL where there is none */
const struct pmu_group *pmu_find_group(const struct pmu_pmu *pmu, const char *name);

const char *pmu_group_name(const struct pmu_group *group);
/** What it is about. */
const char *pmu_group_title(const struct pmu_group *group);
/** All of it, title included. */
const char *pmu_group_text(const struct pmu_group *group);

/* What a list holds. */
enum pmu_group_list {
	PMU_GROUP_EVENTS,
	PMU_GROUP_METRICS,
};

/**
 * Takes the next list of a group's text.
 * @param text    moved behind its line
 * @param list    receives where the list begins, in the text
 * @param length  receives its length, in bytes
 * @return 1; 0 at the end; PMU_E_SYNTAX for a line that is none of the above, whose number the
 *         message has
 */
int pmu_group_next(struct pmu_ctx *ctx, const char **text, unsigned *line,
		   enum pmu_group_list *kind, const char **list, size_t *length);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
