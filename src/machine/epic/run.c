/*
 * Runs of instructions, group by group: what their plans know needs no look at each instruction.
 * What no plan knows, and all that somebody marks, is issued one by one.
 */
#include "machine/epic/group.h"

#define INLINE	     static inline __attribute__((always_inline))
#define MAX_ACCESSES 8 /* of a group of two bundles: more than it has */
#define RARE	     static __attribute__((noinline))

/* An instruction of a run, by itself. */
RARE void issue_one(struct epic_core *core, const struct epic_visit *v, unsigned n,
		    const struct epic_rename *rename)
{
	const struct epic_op *op = &v->ops[n];
	struct epic_instance in = {.on = true};

	if (v->last && n + 1 == v->run->count) {
		epic_issue(core, op, rename, v->last);
		return;
	}
	if (op->qp)
		in.on = v->on[n];
	if (epic_is_access(op->kind))
		in.address = v->addresses[n];
	epic_issue(core, op, rename, &in);
}

INLINE void begin(struct epic_core *core, const struct epic_plan *plan, const struct epic_op *op)
{
	struct group *g = &core->group;
	bool fetched = !plan->slot || plan->ip + plan->slot != core->at;

	if (fetched)
		epic_group_abandon(core);
	if (__builtin_expect(core->flush_branch | core->flush_exception, 0) ||
	    (fetched && epic_available(core, plan->ip) > g->start + 1)) {
		epic_group_begin(core, op, fetched);
	} else {
		g->ip = plan->ip;
		g->flushed = g->marked = false;
		g->latest = 0;
		g->start = core->cycle + 1;
	}
	if (fetched)
		epic_add(core, CELL_NOT_LONG, plan->slot);
}

/* Which instructions are executed; those that are not are counted. */
INLINE unsigned executed(struct epic_core *core, const struct epic_visit *v, unsigned first,
			 const struct epic_part *part)
{
	unsigned on = ~0u;

	for (unsigned left = part->guarded; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctz(left), n = first + i;
		bool last = v->last && n + 1u == v->run->count;

		if (last ? v->last->on : v->on[n])
			continue;
		on &= ~(1u << i);
		epic_add(core, CELL_SQUASHED, v->ops[n].unit != 'B');
		epic_add(core, CELL_FP_OP, -(uint64_t)v->ops[n].fp_ops);
	}
	return on;
}

INLINE const struct epic_source *sources_of(const struct epic_plan *plan)
{
	return (const struct epic_source *)(plan + 1);
}

INLINE const struct epic_result *results_of(const struct epic_plan *plan)
{
	return (const struct epic_result *)(sources_of(plan) + plan->all.sources);
}

INLINE const struct epic_result *loaded_of(const struct epic_plan *plan)
{
	return results_of(plan) + plan->all.results;
}

INLINE const struct epic_plan_access *accesses_of(const struct epic_plan *plan)
{
	return (const struct epic_plan_access *)(loaded_of(plan) + plan->all.loaded);
}

INLINE const uint8_t *loaders_of(const struct epic_plan *plan)
{
	return (const uint8_t *)(accesses_of(plan) + plan->all.accesses);
}

INLINE const uint8_t *uses_of(const struct epic_plan *plan)
{
	return loaders_of(plan) + plan->all.loaded;
}

INLINE const uint8_t *source_ops_of(const struct epic_plan *plan)
{
	return uses_of(plan) + plan->all.sources;
}

/* What the group waits for. */
RARE void need(struct epic_core *core, const struct epic_plan *plan, unsigned count,
	       unsigned bottom, unsigned on)
{
	const uint8_t *uses = uses_of(plan), *ops = source_ops_of(plan);

	for (unsigned i = 0; i < count; i++) {
		const struct epic_source *s = &sources_of(plan)[i];
		unsigned reg = s->at + (bottom & s->mask);
		int64_t cycle = epic_ready(core, reg, uses[i]);

		if (on >> ops[i] & 1 && cycle > (int64_t)core->group.start)
			epic_group_need(core, reg, (uint64_t)cycle);
	}
}

INLINE void sources(struct epic_core *core, const struct epic_plan *plan, unsigned count,
		    unsigned bottom, unsigned on, bool predicated)
{
	uint64_t latest = 0;

	for (unsigned i = 0; i < count; i++) {
		const struct epic_source *s = &sources_of(plan)[i];
		uint64_t done = core->done[s->at + (bottom & s->mask)];

		if (predicated)
			done &= -(uint64_t)(on >> source_ops_of(plan)[i] & 1);
		latest = done > latest ? done : latest;
	}
	if (latest >> 8 > core->group.start || plan->late)
		need(core, plan, count, bottom, on);
}

/* An access that takes longer. @return its latency */
RARE unsigned access_slowly(struct epic_core *core, const struct epic_op *op, uint64_t address,
			    bool second, struct access_time *longest)
{
	struct access access = epic_access_of(core, op, address, second, false);
	struct access_time time;

	epic_access(core, &access, core->cycle + 1, &time);
	epic_access_longest(longest, &time);
	return time.latency;
}

INLINE void accesses(struct epic_core *core, const struct epic_visit *v, unsigned first,
		     const struct epic_plan *plan, const struct epic_part *part, unsigned on,
		     unsigned *latencies, bool predicated)
{
	struct access_time longest;
	bool slow = false;

	for (unsigned i = 0; i < part->accesses; i++) {
		const struct epic_plan_access *a = &accesses_of(plan)[i];
		unsigned n = a->op;
		uint64_t address = v->addresses[first + n];

		if (predicated && !(on >> n & 1))
			continue;
		if (a->reads && epic_access_hit(core, address, a->reads, core->cycle + 1)) {
			latencies[i] = core->params->l1d.latency;
			continue;
		}
		if (!slow)
			longest = (struct access_time){0};
		slow = true;
		latencies[i] = access_slowly(core, &v->ops[first + n], address,
					     plan->second && n >= plan->first.ops, &longest);
	}
	if (slow)
		epic_group_stall(core, &longest);
}

INLINE void write(struct epic_core *core, const struct epic_result *r, unsigned bottom,
		  uint64_t done)
{
	unsigned reg = r->at + (bottom & r->mask);

	core->done[reg] = core->done[reg ^ r->twin] = done + r->done;
}

INLINE void results(struct epic_core *core, const struct epic_plan *plan,
		    const struct epic_part *part, unsigned bottom, unsigned on,
		    const unsigned *latencies, bool predicated)
{
	uint64_t cycle = core->cycle;

	for (unsigned i = 0; i < part->results; i++) {
		const struct epic_result *r = &results_of(plan)[i];

		if (!predicated || on >> r->op & 1)
			write(core, r, bottom, cycle << 8);
	}
	for (unsigned i = 0; i < part->loaded; i++) {
		const struct epic_result *r = &loaded_of(plan)[i];

		if (!predicated || on >> r->op & 1)
			write(core, r, bottom, (cycle + latencies[loaders_of(plan)[i]]) << 8);
	}
}

/* Counts the branch that the group ends in, and what its cycle loses. */
INLINE enum epic_outcome count_branch(struct epic_core *core, const struct epic_op *op,
				      const struct epic_instance *in, const struct epic_part *part)
{
	bool alone = !part->bundle;
	enum epic_outcome outcome;

	if (op->prepared.rare) {
		if (op->flags & EPIC_STACK && !core->stack_told)
			epic_count_stack(core, in);
		core->stack_told = false;
		if (in->on)
			epic_count_kind(core, op, in);
	}
	core->group.bundle = part->bundle;
	outcome = epic_branch(core, op, in);
	if (in->taken) {
		core->at = in->target;
		epic_add(core, CELL_LATE_UNREACHED, !(op->ip & 16));
	}
	if (part->whole && (in->taken || outcome == OUTCOME_CORRECT)) {
		epic_add(core, (enum epic_cell)part->lost, part->syllables);
		epic_add(core, CELL_LOST_UNREACHED, alone & in->taken);
		epic_add(core, CELL_ABSENT_UNREACHED, alone & in->taken);
		return outcome;
	}
	core->group.tally = part->tally;
	core->group.before = part->before;
	epic_group_lose(core, op,
			in->taken		     ? END_TAKEN
			: outcome != OUTCOME_CORRECT ? END_FLUSH
			: op->flags & EPIC_STOP	     ? END_STOP
			: alone			     ? END_SPLIT
						     : END_FULL);
	return outcome;
}

/* Counts what the cycle of a group loses that ends by itself, or as the next instruction comes. */
INLINE void count_end(struct epic_core *core, const struct epic_visit *v, unsigned next,
		      const struct epic_part *part)
{
	if (part->arrival && v->last && next + 1 == v->run->count &&
	    v->ops[next].flags & EPIC_STACK) {
		epic_count_stack(core, v->last);
		core->stack_told = true;
	}
	core->owed += part->owed;
	if (part->owed)
		core->owed_cell = part->over;
	epic_add(core, (enum epic_cell)part->lost, part->syllables);
	if (part->end == END_FETCH)
		epic_group_lose_late(core);
}

INLINE void issue(struct epic_core *core, const struct epic_visit *v, unsigned first,
		  const struct epic_plan *plan, const struct epic_part *part, unsigned bottom,
		  bool predicated)
{
	const bool branches = part->end == END_TAKEN;
	enum epic_outcome outcome = OUTCOME_CORRECT;
	unsigned latencies[MAX_ACCESSES];
	unsigned on = predicated ? executed(core, v, first, part) : ~0u;
	unsigned next = first + part->ops;

	sources(core, plan, part->sources, bottom, on, predicated);
	core->at = part->next;
	if (part->passes) {
		core->owed = 0;
		core->b_before = part->b_last;
	}
	if (branches)
		outcome = count_branch(core, &v->ops[next - 1], v->last, part);
	else
		count_end(core, v, next, part);
	if (core->stack_waits || core->group.latest > core->cycle + 1)
		epic_group_wait(core);
	accesses(core, v, first, plan, part, on, latencies, predicated);
	epic_add(core, CELL_RETIRED, part->tally & 0xFF);
	epic_add(core, CELL_DISPERSED, part->tally & 0xFF);
	epic_add(core, CELL_NOP, part->tally >> TALLY_NOPS & 0xFF);
	epic_add(core, CELL_NOT_LONG, part->tally >> TALLY_LONG);
	if (part->fp_ops)
		epic_add(core, CELL_FP_OP, part->fp_ops);
	epic_add(core, CELL_CYCLES, 1);
	core->cycle++;
	results(core, plan, part, bottom, on, latencies, predicated);
	core->group.open = false;
	if (core->watched || core->cycle >= core->deadline)
		epic_group_over(core);
	if (branches)
		epic_branched(core, &v->ops[next - 1], v->last, outcome);
}

/* Lines that a plan of the usual size is in. */
INLINE void prefetch(const void *plan)
{
	__builtin_prefetch(plan);
	__builtin_prefetch((const char *)plan + 64);
	__builtin_prefetch((const char *)plan + 128);
}

/* @return as epic_run.plan_of */
RARE unsigned plan_for(const struct epic_core *core, const struct epic_visit *v, unsigned first)
{
	struct epic_run *run = v->run;
	unsigned at = run->planned, units;
	size_t room = run->count * EPIC_PLAN_ROOM;

	room = room < EPIC_NO_PLAN * EPIC_PLAN_UNIT ? room : (EPIC_NO_PLAN - 1) * EPIC_PLAN_UNIT;
	units =
	    epic_make_plan(core, (char *)v->plans + at * EPIC_PLAN_UNIT, room - at * EPIC_PLAN_UNIT,
			   v->ops + first, run->count - first, v->last);
	run->planned = (uint8_t)(at + units);
	run->plan_of[first] = (uint8_t)(units ? at + 1 : EPIC_NO_PLAN);
	return run->plan_of[first];
}

/* @return how many instructions from `first` on, a whole group; 0: no plan knows it */
INLINE unsigned issue_planned(struct epic_core *core, const struct epic_visit *v, unsigned first,
			      unsigned bottom)
{
	unsigned at = v->run->plan_of[first];
	const struct epic_plan *plan;
	const struct epic_part *part;

	if (__builtin_expect(!at, 0))
		at = plan_for(core, v, first);
	if (at == EPIC_NO_PLAN)
		return 0;
	plan = (const struct epic_plan *)((char *)v->plans + (at - 1) * EPIC_PLAN_UNIT);
	part = &plan->all;
	prefetch((const char *)plan + 128); /* most often the next one is there */
	begin(core, plan, &v->ops[first]);
	if (plan->second && epic_available(core, plan->ip + 16) > core->group.start)
		part = &plan->first;
	if (!part->guarded)
		issue(core, v, first, plan, part, bottom, false);
	else
		issue(core, v, first, plan, part, bottom, true);
	return part->ops;
}

void epic_issue_run(struct epic_core *core, const struct epic_visit *v,
		    const struct epic_rename *rename)
{
	const unsigned count = v->run->count, bottom = rename->bottom % STACKED_RING;
	const bool rotated = rename->rotated;

	__builtin_prefetch(&v->ops[count - 1]);
	prefetch(v->plans);

	for (unsigned n = 0; n < count;) {
		unsigned planned = 0;

		if (!core->group.open && !core->marking && !core->rival && !rotated)
			planned = issue_planned(core, v, n, bottom);
		if (!planned)
			issue_one(core, v, n, rename);
		n += planned ? planned : 1;
	}
}

void epic_issue_some(struct epic_core *core, const struct epic_visit *visit, unsigned first,
		     unsigned end, const struct epic_rename *rename)
{
	for (unsigned n = first; n < end; n++)
		issue_one(core, visit, n, rename);
}
