/*
 * What L1 and L2 do as long as a core needs nobody else: inline, as it is on the way of each access
 * that the L0 filter does not know. The core's own lock is held.
 */
#ifndef MACHINE_PRIVATE_NEAR_H
#define MACHINE_PRIVATE_NEAR_H

#include "machine/cache.h"
#include "machine/l2_port.h"
#include "machine/state.h"

/* A line that L1 is to have. */
struct private_want {
	struct machine *machine;
	struct core *core;
	struct machine_l1 *l1;
	uint32_t line;
	/* To the LLC if it comes to that: REQUEST_READ_*, or REQUEST_OWN of a whole line. */
	enum signal_request request;
};

/* What was found of it: of a size that goes in a register. */
struct private_look {
	int32_t slot; /* of L1, < 0 where it does not have the line */
	bool blocked; /* L2 has it, and room in L1 takes more than the core */
};

enum private_level { PRIVATE_L1, PRIVATE_L2, PRIVATE_BELOW };

static_assert(REQUEST_READ_DATA < REQUEST_READ_OWN && REQUEST_READ_CODE < REQUEST_READ_OWN &&
		  REQUEST_OWN > REQUEST_READ_OWN,
	      "one comparison tells who writes");

static inline bool private_own(const struct private_want *want)
{
	return want->request >= REQUEST_READ_OWN;
}

static inline uint64_t private_l2_ticks(const struct machine *machine)
{
	return machine->desc->l2.latency * machine->core_ticks;
}

static inline void l2_touch(struct core *core, unsigned slot)
{
	lru8_use(core->l2 + slot / L2_WAYS * L2_WAYS, slot % L2_WAYS);
}

static inline void l1_touch(const struct private_want *want, unsigned slot)
{
	plru_touch(&want->l1->plru[want->line % L1_SETS], slot % L1_WAYS);
}

static inline void l1_put(const struct private_want *want, unsigned slot, enum line_state state)
{
	l1_write(&want->l1->words[slot], l1_tag(want->line) | state);
	l1_touch(want, slot);
	core_note_change(want->core);
}

/* The slot that a fill takes. */
static inline unsigned l1_room(const struct private_want *want)
{
	const unsigned set = want->line % L1_SETS, first = set * L1_WAYS;
	unsigned free = cache_free8(&want->l1->words[first]);

	return first + (free ? (unsigned)__builtin_ctz(free) : plru_victim(want->l1->plru[set]));
}

/* @return whether L1 has the line as it is wanted: a line in E becomes M by a store */
static inline bool l1_use(const struct private_want *want, int slot)
{
	uint32_t *word;

	if (slot < 0)
		return false;
	word = &want->l1->words[slot];
	if (private_own(want)) {
		if (cache_state(*word) < LINE_E)
			return false;
		l1_write(word, l1_tag(want->line) | LINE_M);
	}
	l1_touch(want, (unsigned)slot);
	return true;
}

/* A modified victim that L2 holds too. @return false where it does not */
static inline bool l1_give_to_l2(struct machine *machine, struct core *core, uint32_t victim)
{
	int slot = l2_find(machine, core, victim);

	if (slot < 0)
		return false;
	core->l2[slot] |= LINE_M;
	core->l1_writebacks[1]++;
	l2_move_back(machine, core);
	l2_touch(core, (unsigned)slot);
	return true;
}

/* Into @room. @return false where that displaces a modified line that L2 does not hold */
static inline bool l1_fill(const struct private_want *want, unsigned room, enum line_state state)
{
	uint32_t victim = want->l1->words[room];

	if (cache_state(victim) == LINE_M &&
	    !l1_give_to_l2(want->machine, want->core, l1_line(victim, want->line % L1_SETS)))
		return false;
	l1_put(want, room, state);
	return true;
}

/* @return the state in which L1 gets a line that L2 has in @state; LINE_I: L2 cannot give it */
static inline enum line_state l2_grants(const struct private_want *want, enum line_state state)
{
	if (private_own(want))
		return state >= LINE_E ? LINE_M : LINE_I;
	if (want->request == REQUEST_READ_CODE)
		return state == LINE_I ? LINE_I : LINE_S;
	return state == LINE_M ? LINE_E : state;
}

/* The line's state in L2, as L1 gets it. */
static inline enum line_state l2_use(const struct private_want *want)
{
	const unsigned first = l2_first(want->machine, want->line);
	uint32_t *words = want->core->l2 + first;
	unsigned match = cache_match8(words, l2_tag(want->machine, want->line)), way;
	enum line_state state;

	if (!match)
		return LINE_I;
	way = (unsigned)__builtin_ctz(match);
	state = cache_state(words[way]);
	lru8_use(words, way);
	return l2_grants(want, state);
}

/* Of a line that L1 has not, or has in S and it is to be the core's own: L2 has no better. */
static inline enum private_level private_beyond_l1(const struct private_want *want,
						   struct private_look *look)
{
	enum line_state state;
	unsigned room;

	want->l1->misses++;
	state = look->slot < 0 ? l2_use(want) : LINE_I;
	if (state == LINE_I)
		return PRIVATE_BELOW;
	room = l1_room(want);
	look->blocked = !l1_fill(want, room, state);
	if (look->blocked)
		return PRIVATE_BELOW;
	want->core->l2_hits[want->request]++;
	look->slot = (int)room;
	return PRIVATE_L2;
}

#endif
