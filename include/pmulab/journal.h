/*
 * What measurements of a computer that were killed have left: a journal of what each had found in
 * the registers, which can still be written back. A session with a guardian keeps one
 * (pmu_session_guard()); it is left only where the measurement and its guardian were both killed,
 * or could not write.
 *
 * Journals are in /run/pmulab, a user's in $XDG_RUNTIME_DIR/pmulab; PMULAB_RUNTIME_DIR names
 * another folder.
 */
#ifndef PMULAB_JOURNAL_H
#define PMULAB_JOURNAL_H

#include <sys/types.h>

#include "pmulab/bus.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct pmu_journal;

/**
 * Calls @each for every journal whose measurement is over, the youngest first, until it returns
 * other than 0. Others
 * cannot restore from it meanwhile. Journals from before the computer was last started are removed:
 * its registers have been reset.
 * @param each  @journal lives until it returns
 * @return what @each returned; 0; PMU_E_NOMEM; PMU_E_IO; PMU_E_RIGHTS where others may write to the
 * folder
 */
int pmu_journals(struct pmu_ctx *ctx, int (*each)(void *arg, struct pmu_journal *journal),
		 void *arg);

/** The file's name. */
const char *pmu_journal_path(const struct pmu_journal *journal);
/**
 * Why the file is no journal: PMU_E_SYNTAX, PMU_E_UNKNOWN, PMU_E_RIGHTS where others may have
 * written it, PMU_E_IO, PMU_E_NOMEM. 0: it is one. Of one that is none, nothing below is known, and
 * the context's message says why at first.
 */
int pmu_journal_error(const struct pmu_journal *journal);
/** The process that measured. */
pid_t pmu_journal_process(const struct pmu_journal *journal);
/** Whether it tried to restore and could not; else it was killed. */
bool pmu_journal_failed(const struct pmu_journal *journal);
/** The PMU whose registers they are. */
const struct pmu_pmu *pmu_journal_pmu(const struct pmu_journal *journal);
/** The writes that restore. */
size_t pmu_journal_writes(const struct pmu_journal *journal);
/** Write @index, in the order in which they are made; NULL beyond the end. */
const struct pmu_access_op *pmu_journal_write(const struct pmu_journal *journal, size_t index);
/** Whether it is of the registers behind @bus, which may be traced. */
bool pmu_journal_is_of(const struct pmu_journal *journal, struct pmu_bus *bus);

/**
 * Writes back what was found, and removes the journal where all of it could be written.
 * @return 0; PMU_E_STATE where its registers are not there any more; the first error of the writes,
 *         or why the computer's registers cannot be reached (pmu_bus_host()); PMU_E_IO where only
 *         the journal cannot be removed
 */
int pmu_journal_restore(struct pmu_journal *journal, struct pmu_ctx *ctx);

/** Removes the journal without restoring. @return 0 or PMU_E_IO */
int pmu_journal_remove(struct pmu_journal *journal, struct pmu_ctx *ctx);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
