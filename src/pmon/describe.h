/* Makes pmon/box.h from the catalog. */
#ifndef PMON_DESCRIBE_H
#define PMON_DESCRIBE_H

#include "pmon/access.h"
#include "pmon/box.h"

/** The register's field of the role; mask 0 where it has none. */
struct pmon_field pmon_find_field(const struct pmu_register *reg, enum pmu_field_role role);

/** A register by its role and counter, by index in the box; PMON_NO_REGISTER where it has none. */
uint8_t pmon_find_register(const struct pmu_box *box, enum pmu_role role, unsigned index);

/**
 * Fills in @boxes, @global and, where the PMU has counters in each core, @core for @config.
 * @param units, counters  receive their numbers in a socket
 * @return 0, or PMU_E_UNSUPPORTED for a PMU beyond the limits above
 */
int pmon_describe(struct pmu_ctx *ctx, const struct pmon_config *config, struct pmon_box *boxes,
		  struct pmon_global *global, struct pmon_core *core, unsigned *units,
		  unsigned *counters);

#endif
