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

/** What an instruction's predicate is used for. */
static inline enum epic_use epic_predicate_use(const struct epic_op *op)
{
	return op->port >= EPIC_PORT_B && op->port != EPIC_PORT_LONG ? EPIC_USE_BRANCH
								     : EPIC_USE_PREDICATE;
}

static inline bool epic_is_access(unsigned kind)
{
	return kind >= EPIC_LOAD && kind <= EPIC_FENCE;
}

static inline bool epic_is_branch(unsigned kind)
{
	return kind >= EPIC_BRANCH && kind <= EPIC_INDIRECT;
}

/** Where a register is while nothing rotates. */
static inline unsigned epic_place(const struct epic_rename *r, const struct epic_place *p)
{
	return p->fixed + ((r->bottom + p->offset) & p->mask);
}

/** The open group waits for a register that is ready in a cycle. */
void epic_group_need(struct epic_core *core, unsigned reg, uint64_t ready);

static inline struct access epic_access_of(const struct epic_core *core, const struct epic_op *op,
					   uint64_t address, unsigned bundle, bool hit)
{
	return (struct access){
	    .ip = op->ip,
	    .address = address,
	    .marks = core->marks,
	    .kind = op->kind,
	    .bytes = op->bytes,
	    .slot = op->slot,
	    .bundle = (uint8_t)bundle,
	    .order = op->order,
	    .hit = hit,
	    .hinted = op->flags & EPIC_OWNS,
	};
}

/** A bundle that was split never went on. */
static inline void epic_group_abandon(struct epic_core *core)
{
	if (core->owed)
		epic_add(core, (enum epic_cell)core->owed_cell, core->owed);
	core->owed = 0;
}

/** Stacked registers, as an instruction that moves them comes. */
void epic_count_stack(struct epic_core *core, const struct epic_instance *in);

/** Counts a branch, and learns from it. */
enum epic_outcome epic_branch(struct epic_core *core, const struct epic_op *op,
			      const struct epic_instance *in);
/** The group that the branch is in is over, if it ends one. */
void epic_branched(struct epic_core *core, const struct epic_op *op, const struct epic_instance *in,
		   enum epic_outcome outcome);
/** Tells of the branches that the group which just ended held. */
void epic_tell_held(struct epic_core *core);

/**
 * Plans the group that begins with the first of so many instructions.
 * @param apart  the last one has an instance of its own
 * @param room  bytes that the plan has
 * @return EPIC_PLAN_UNITs that it takes; 0: there is no room, or the group is not always the same
 */
unsigned epic_make_plan(const struct epic_core *core, void *plan, size_t room,
			const struct epic_op *ops, unsigned count, bool apart);

/** What the cycle of the group loses that ends after `op`. */
void epic_group_lose(struct epic_core *core, const struct epic_op *op, enum end why);
/** The second bundle of the group is not there. */
void epic_group_lose_late(struct epic_core *core);
/** Stalls of the group for the register stack and for operands. */
void epic_group_wait(struct epic_core *core);
/** Stalls of the group in the data caches; all of them at once. */
void epic_group_stall(struct epic_core *core, const struct access_time *longest);
/** The group is over: tells who watches. */
void epic_group_over(struct epic_core *core);

/** Ends the group after `op`, the last one in it, and charges its stalls and its cycle. */
void epic_group_end(struct epic_core *core, const struct epic_op *op, enum end why);

#endif
