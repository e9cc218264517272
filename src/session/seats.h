/*
 * Seats: counters that several instances of a box share. A port of the Itanium's router has none of
 * its own; each half of the router has eight, which any of its ports can have (323602-001 §5.6.2).
 */
#ifndef SESSION_SEATS_H
#define SESSION_SEATS_H

#include "session/session.h"

/** The first instance that has the same counters as @instance. */
unsigned seats_of(const struct pmu_box *box, unsigned instance);
/** Whether any instances of the box share counters. */
bool seats_shared(const struct pmu_box *box);

/** Gives each event of a box with shared counters one in every instance. @return 0, PMU_E_CONFLICT
 */
int seats_assign(struct pmu_session *session, struct pmu_ctx *ctx, const struct pmu_box *box);

#endif
