/*
 * Names of events in the notations of other tools, read and printed. Where two tools mean different
 * things by one name, the code and the unit mask decide.
 *
 *     perf     uncore_imc_0/event=0x4,umask=0x3/   uncore_imc/cas_count_read/   cpu/event=0xc0/
 *              UNC_M_CAS_COUNT.RD   instructions   r412e
 *     likwid   CAS_COUNT_RD:MBOX0C0   LLC_LOOKUP_ANY:CBOX0C0:STATE=0x1
 *     libpfm4  bdx_unc_imc0::UNC_M_CAS_COUNT:RD
 *     pcm      imc/config=0x304,name=CAS_COUNT.RD/
 *
 * Filters that are not named let everything pass, as in event.h, or are asked for; perf and PCM
 * set them to 0.
 */
#ifndef PMULAB_NOTATION_H
#define PMULAB_NOTATION_H

#include "pmulab/event.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** The word for a tool in lists and options: "libpfm4". */
const char *pmu_tool_name(enum pmu_tool tool);

/**
 * Reads one event in any notation, pmulab's own included, and checks it.
 * @param pmu  where names are looked up; NULL: in all PMUs
 * @return as pmu_event_parse()
 */
int pmu_notation_parse(struct pmu_ctx *ctx, const struct pmu_pmu *pmu, const char *text,
		       struct pmu_selection *selection);

/**
 * Reads a pattern: * and ? in names of boxes, events and unit masks, [box[N].]EVENT[.UMASK], and
 * what pmu_event_parse() reads behind them. What is no pattern is one event in any notation.
 * @param pmu    as above; a pattern is looked up in PMUs whose names need no qualification
 * @param found  gets each event, in the catalog's order; what it returns unless 0 ends the search
 * @return 0; what @found returned; PMU_E_UNKNOWN where nothing matches; errors as above
 */
int pmu_notation_expand(struct pmu_ctx *ctx, const struct pmu_pmu *pmu, const char *text,
			int (*found)(void *arg, const struct pmu_selection *selection), void *arg);

/**
 * Writes an event as a tool's users write it, as snprintf(). An event of all instances is that of
 * instance 0 for LIKWID and libpfm4, which have no name for all.
 * @return its length; PMU_E_UNSUPPORTED where the tool has no name for what is selected
 */
int pmu_notation_print(const struct pmu_selection *selection, enum pmu_tool tool, char *text,
		       size_t size);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
