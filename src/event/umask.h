/* Unit masks: which named ones a value stands for. */
#ifndef EVENT_UMASK_H
#define EVENT_UMASK_H

#include "catalog/entries.h"
#include "catalog/threshold.h"
#include "event/expression.h"

/**
 * The named unit masks that make up a selection's: one of exactly this value, if what goes with it
 * is set too, or else several that may be added.
 * @return their number, 0 where there are none
 */
size_t umask_rows(const struct pmu_selection *selection, const struct pmu_umask *rows[UMASK_ROWS]);

/** Whether a unit mask among @rows gives @modifier, and which value. */
bool umask_gives(const struct pmu_umask *const *rows, size_t count,
		 const struct pmu_modifier *modifier, uint64_t *value);

/**
 * Whether the event has these unit masks; where it takes one at a time, @umask loses the bits that
 * this one does not care about.
 */
bool umask_find(const struct pmu_event *event, uint8_t *umask);

/** What the selection asks of each cycle. */
struct threshold umask_threshold(const struct pmu_selection *selection);
/**
 * The signal that tells it.
 * @return false where nothing is asked, none is known, or unit masks have no signals of their own
 */
bool umask_cycles(const struct pmu_selection *selection, struct threshold_count *count);

/** The model of the event and its unit mask, whatever filters are set to. */
enum pmu_model umask_model(const struct pmu_selection *selection);
/** Whether no machine does what the unit mask selects: it counts 0. */
bool umask_never_happens(const struct pmu_selection *selection);

#endif
