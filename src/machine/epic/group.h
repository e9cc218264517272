/* Groups: begun, filled, ended. */
#ifndef MACHINE_EPIC_GROUP_H
#define MACHINE_EPIC_GROUP_H

#include "machine/epic/core.h"

/**
 * Opens a group with the instruction, at its bundle; what delays it until its dispersal is charged.
 * fetched: the bundle is a new one, not the rest of one that was split
 */
void epic_group_begin(struct epic_core *core, const struct epic_op *op, bool fetched);

static inline bool epic_take(uint8_t *port, unsigned room)
{
	if (*port >= room)
		return false;
	(*port)++;
	return true;
}

/* M ports: four, of which some instructions take only certain ones. */
static inline bool epic_take_m(struct group *g, uint8_t *kind, unsigned room, uint8_t *half)
{
	if (g->m >= 4 || (kind && *kind >= room) || (half && *half >= 2))
		return false;
	g->m++;
	if (kind)
		(*kind)++;
	if (half)
		(*half)++;
	return true;
}

/** Whether the ports that the instruction can go to have room; it takes one then. */
static inline bool epic_group_ports(struct group *g, const struct epic_op *op)
{
	switch (op->port) {
	case EPIC_PORT_M:
		return epic_take_m(g, NULL, 0, NULL);
	case EPIC_PORT_M0:
		return epic_take_m(g, &g->m0, 1, &g->m01);
	case EPIC_PORT_M01:
		return epic_take_m(g, NULL, 0, &g->m01);
	case EPIC_PORT_M2:
		return epic_take_m(g, &g->m2, 1, &g->m23);
	case EPIC_PORT_M23:
		return epic_take_m(g, NULL, 0, &g->m23);
	case EPIC_PORT_A:
		return epic_take(&g->i, 2) || epic_take_m(g, NULL, 0, NULL);
	case EPIC_PORT_I:
		return epic_take(&g->i, 2);
	case EPIC_PORT_I0:
		return epic_take(&g->i, 1);
	case EPIC_PORT_F:
		return epic_take(&g->f, 2);
	case EPIC_PORT_LONG:
		return g->f < 2 && epic_take(&g->i, 2) && epic_take(&g->f, 2);
	case EPIC_PORT_LONG_B:
		return epic_take(&g->f, 2);
	default: /* a bundle's B slots have their ports, and end the group */
		return true;
	}
}

/** Ends the group after `op`, the last one in it, and charges its stalls and its cycle. */
void epic_group_end(struct epic_core *core, const struct epic_op *op, enum end why);

#endif
