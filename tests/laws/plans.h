/* Plans of assembled blocks. */
#ifndef LAWS_PLANS_H
#define LAWS_PLANS_H

#include "machine/plan.h"

/** The plan of the instructions from @begin to @end, as if they stood at @address; to be freed. */
struct machine_plan *plan_of_code(const struct machine *machine, const uint8_t *begin,
				  const uint8_t *end, uint64_t address);

#endif
