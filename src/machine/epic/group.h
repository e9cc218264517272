/* Groups: begun, filled, ended. */
#ifndef MACHINE_EPIC_GROUP_H
#define MACHINE_EPIC_GROUP_H

#include "machine/epic/core.h"

/**
 * Opens a group with the instruction, at its bundle; what delays it until its dispersal is charged.
 * fetched: the bundle is a new one, not the rest of one that was split
 */
void epic_group_begin(struct epic_core *core, const struct epic_op *op, bool fetched);

/* Kinds of ports, by their place in group.ports: there it says how many more there are than room.
 */
enum {
	PORT_M = 0,    /* four */
	PORT_M0 = 4,   /* one */
	PORT_M01 = 8,  /* two */
	PORT_M2 = 12,  /* one */
	PORT_M23 = 16, /* two */
	PORT_I = 20,   /* two */
	PORT_F = 24,   /* two */
};

#define PORTS_FREE                                                                                 \
	((7u - 4) << PORT_M | (7u - 1) << PORT_M0 | (7u - 2) << PORT_M01 | (7u - 1) << PORT_M2 |   \
	 (7u - 2) << PORT_M23 | (7u - 2) << PORT_I | (7u - 2) << PORT_F)
#define PORTS_FULL 0x08888888u

/** Whether the ports that the instruction can go to have room; it takes one then. */
static inline bool epic_group_ports(struct group *g, const struct epic_op *op)
{
	const struct epic_prepared *p = &op->prepared;

	if (!((g->ports + p->needs) & PORTS_FULL))
		g->ports += p->takes;
	else if (!((g->ports + p->else_takes) & PORTS_FULL))
		g->ports += p->else_takes;
	else
		return false;
	return true;
}

/* In group.tally. */
enum {
	TALLY_ISSUED = 0,
	TALLY_NOPS = 8,
	TALLY_LONG = 16,
};

/** Ends the group that is open, and counts what goes on by itself until now. */
void epic_group_settle(struct epic_core *core);

/** Bubbles of one cause: every cycle the same. */
void epic_bubbles(struct epic_core *core, enum epic_cell cell, uint64_t count);

/** Counts an executed instruction that is `rare`, or replaced an entry of the ALAT. */
void epic_count_kind(struct epic_core *core, const struct epic_op *op,
		     const struct epic_instance *in);

/** Ends the group after `op`, the last one in it, and charges its stalls and its cycle. */
void epic_group_end(struct epic_core *core, const struct epic_op *op, enum end why);

#endif
