/* Groups: begun, filled, ended. */
#ifndef MACHINE_EPIC_GROUP_H
#define MACHINE_EPIC_GROUP_H

#include "machine/epic/core.h"

/**
 * Opens a group with the instruction, at its bundle; what delays it until its dispersal is charged.
 * fetched: the bundle is a new one, not the rest of one that was split
 */
void epic_group_begin(struct epic_core *core, const struct epic_op *op, bool fetched);

/** Whether the ports that the instruction can go to have room; it takes one then. */
bool epic_group_ports(struct group *g, const struct epic_op *op);

/** Ends the group after `op`, the last one in it, and charges its stalls and its cycle. */
void epic_group_end(struct epic_core *core, const struct epic_op *op, enum end why);

#endif
