/* Finds what the words of an expression name; refuses what is not there, naming what is. */
#ifndef EVENT_NAMES_H
#define EVENT_NAMES_H

#include "event/expression.h"

/** Looks up the PMU of "PMU/". @return 0 or PMU_E_UNKNOWN */
int names_pmu(struct expression *expression, const struct word *word);

/**
 * Looks up a box, with or without an instance number.
 * @return 1; 0 where there is none; PMU_E_CONFLICT where several PMUs have one
 */
int names_box(struct expression *expression, const struct word *word);

/** Looks up an event or fixed counter of the box named before. @return 0, PMU_E_RANGE for an
 *  instance that is not there, PMU_E_UNKNOWN */
int names_event(struct expression *expression, const struct word *word);

/** Looks it up in all boxes. @return 0, PMU_E_UNKNOWN, PMU_E_CONFLICT where several have it */
int names_event_anywhere(struct expression *expression, const struct word *word);

/** Whether the event has a unit mask of that name. */
bool names_is_umask(const struct expression *expression, const struct word *word);
/** Whether values of filters may stand behind the event as unit masks do. */
bool names_has_values(const struct expression *expression);

/**
 * Adds the unit mask to the selection's; a named value of one of the event's filters sets that, and
 * the second half of a fixed counter's name makes it the event.
 * @return 0, PMU_E_UNKNOWN, PMU_E_CONFLICT
 */
int names_umask(struct expression *expression, const struct word *word);

/**
 * Looks up a field that may be set; edge and inv are understood for edge_det and invert.
 * @param reg  the register that has to hold it; NULL: any
 */
int names_modifier(struct expression *expression, const struct word *reg, const struct word *word,
		   const struct pmu_modifier **modifier);

#endif
