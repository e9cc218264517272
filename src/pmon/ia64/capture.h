/*
 * Event address registers and the trace of branches: what they capture while they are enabled. The
 * trace's target of a taken branch waits for a cycle: a branch in the target's bundles that is
 * traced in the next cycle stands for it.
 */
#ifndef PMON_IA64_CAPTURE_H
#define PMON_IA64_CAPTURE_H

#include "pmon/ia64/state.h"

void pmon_ia64_describe_captures(struct captures *c, const struct pmu_box *box);
/** What is enabled now; ends what waits where the trace no longer is. */
void pmon_ia64_configure_captures(struct pmon_ia64 *pmu);

/** Where it stands whether what captures into a register is a privileged monitor. */
const struct place *pmon_ia64_capture_privileged(const struct pmon_ia64 *pmu, uint16_t reg);

void pmon_ia64_describe_ip(struct ip_buffer *buffer, const struct pmu_box *box);
/** The same of retired addresses. */
void pmon_ia64_configure_ip(struct pmon_ia64 *pmu, uint64_t now);

#endif
