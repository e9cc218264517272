/* The rules that a selection has to keep, whatever it was read from. */
#ifndef EVENT_CHECK_H
#define EVENT_CHECK_H

#include "event/expression.h"

/**
 * Checks the selection of an expression and brings its settings into their canonical form.
 * @return 0; PMU_E_SYNTAX for what is missing; PMU_E_CONFLICT for what excludes each other or has
 *         no effect
 */
int check_selection(struct expression *expression);

#endif
