/* Energy as registers outside of the PMU tell it: the machine's activity by its power model. */
#ifndef EMUL_METER_H
#define EMUL_METER_H

#include "emul/block.h"

/**
 * Reads a meter at the present time of the machine.
 * @param msr  of the machine's; its meter is not PMU_METER_NONE
 * @return 0; PMU_E_BUSY as emul_read()
 */
int emul_meter_read(struct emul *emul, unsigned socket, const struct pmu_msr *msr, uint64_t *value);

#endif
