/* Instructions by themselves: which group they go to, what they wait for, what they are counted as.
 */
#include "machine/epic/group.h"

#include <assert.h>
#include <string.h>

/* Where a register is. */
static inline unsigned where(const struct epic_rename *r, const struct epic_place *p, unsigned name)
{
	if (__builtin_expect(r->rotated, 0))
		return epic_physical(r, name);
	return epic_place(r, p);
}

static inline enum need need_of(unsigned reg, unsigned via)
{
	if (reg < PHYSICAL_FLOATING || reg >= PHYSICAL_STACKED)
		return via == EPIC_VIA_LOAD ? NEED_LOADED
		       : via == EPIC_VIA_APPLICATION || via == EPIC_VIA_STATUS ||
			       via == EPIC_VIA_LOOP
			   ? NEED_APPLICATION
			   : NEED_GENERAL;
	if (reg < PHYSICAL_PREDICATE)
		return NEED_FLOATING;
	return reg < PHYSICAL_BRANCH_REG ? NEED_PREDICATE : NEED_APPLICATION;
}

void epic_group_need(struct epic_core *core, unsigned reg, uint64_t ready)
{
	struct group *g = &core->group;
	uint64_t *need = &g->needs[need_of(reg, core->done[reg] & 0xFF)];

	if (!g->latest)
		memset(g->needs, 0, sizeof(g->needs));
	*need = ready > *need ? ready : *need;
	g->latest = ready > g->latest ? ready : g->latest;
}

static inline void wait_for(struct epic_core *core, unsigned reg, unsigned use)
{
	int64_t ready = epic_ready(core, reg, use);

	if (ready > (int64_t)core->group.start)
		epic_group_need(core, reg, (uint64_t)ready);
}

/* Instructions whose predicate is false wait for it alone. */
static inline void operands(struct epic_core *core, const struct epic_op *op,
			    const struct epic_rename *rename, bool on)
{
	if (op->qp)
		wait_for(core, where(rename, &op->prepared.predicate, EPIC_PREDICATE + op->qp),
			 epic_predicate_use(op));
	if (!on)
		return;
	for (unsigned i = 0; i < op->source_count; i++)
		wait_for(core, where(rename, &op->prepared.from[i], op->sources[i]), op->uses[i]);
}

static void access_memory(struct epic_core *core, const struct epic_op *op,
			  const struct epic_instance *instance)
{
	struct group *g = &core->group;

	g->accesses[g->access_count++] =
	    epic_access_of(core, op, instance->address, g->bundle, instance->hit);
}

static void results(struct epic_core *core, const struct epic_op *op,
		    const struct epic_rename *rename, int access)
{
	struct group *g = &core->group;

	for (unsigned i = 0; i < op->result_count; i++) {
		bool loaded = op->vias[i] == EPIC_VIA_LOAD || op->vias[i] == EPIC_VIA_FLOAD;

		g->results[g->result_count++] = (struct result){
		    .reg = (uint16_t)where(rename, &op->prepared.to[i], op->results[i]),
		    .via = op->vias[i],
		    .access = (int8_t)(loaded ? access : -1),
		};
	}
	if (op->flags & EPIC_PREDICATES) {
		for (unsigned i = 1; i < 64; i++) {
			core->done[PHYSICAL_PREDICATE + i] =
			    epic_done(core, g->start, EPIC_VIA_PREDICATES);
		}
	}
}

static void count_marks(struct epic_core *core)
{
	for (unsigned i = 0; i < 4; i++)
		if (core->marks & SIGNAL_MARK_CHANNEL << i)
			epic_add(core, (enum epic_cell)(CELL_MARK0 + i), 1);
}

static void count_retired(struct epic_core *core, const struct epic_op *op,
			  const struct epic_instance *in)
{
	core->group.tally += op->prepared.tally & ~(0xFFu << TALLY_NOPS);
	if (__builtin_expect(core->marking, 0)) {
		epic_add_to_marks(core, core->marks, CELL_RETIRED, 1);
		epic_add_to_marks(core, core->marks, CELL_DISPERSED, 1);
	}
	if (in->on && (op->prepared.rare || in->replaced))
		epic_count_kind(core, op, in);
	else if (!in->on && op->unit != 'B')
		epic_add_marked(core, core->marks, CELL_SQUASHED, 1);
}

/* A group that an interruption cut off: nobody said how. */
static void cut(struct epic_core *core)
{
	unsigned slot = core->at & 15;
	struct epic_op last = {
	    .slot = (uint8_t)(slot ? slot - 1 : 2), .slots = 3, .flags = slot ? 0 : EPIC_LAST};

	epic_group_end(core, &last, END_FLUSH);
}

/* Puts the instruction, the first of a bundle, in the open group or in a new one. */
static void next_bundle(struct epic_core *core, const struct epic_op *op)
{
	struct group *g = &core->group;
	static const struct epic_op last = {.flags = EPIC_LAST};

	if (g->open && (op->prepared.at != core->at || op->slot))
		cut(core);
	epic_group_abandon(core);
	if (g->open && core->b_before && op->flags & EPIC_B_FIRST) {
		core->crowded_ip = op->ip;
		epic_group_end(core, &last, END_SPLIT);
	}
	if (g->open) {
		if (epic_available(core, op->ip) > g->start) {
			epic_group_end(core, &last, END_FETCH);
		} else {
			g->bundle = 1;
			g->before = (uint8_t)g->tally;
			return;
		}
	}
	epic_group_begin(core, op, true);
	if (op->slot)
		epic_add(core, CELL_NOT_LONG, op->slot);
}

/* The ports are taken: the instruction begins another group. */
static __attribute__((noinline)) void split(struct epic_core *core, const struct epic_op *op)
{
	static const struct epic_op before[] = {{.flags = EPIC_LAST}, {.flags = 0}};

	if (!op->slot) /* nothing of this bundle goes with the first one */
		core->group.bundle = 0;
	epic_group_end(core, &before[op->slot != 0], END_SPLIT);
	epic_group_begin(core, op, false);
	epic_group_ports(&core->group, op);
}

static inline void join_group(struct epic_core *core, const struct epic_op *op)
{
	if (!op->slot || op->prepared.at != core->at)
		next_bundle(core, op);
	else if (!core->group.open)
		epic_group_begin(core, op, false);
	if (__builtin_expect(!epic_group_ports(&core->group, op), 0))
		split(core, op);
}

/* Port B0 is for slot 0; each B slot behind it has the port of its place. */
static void count_encoded(struct epic_core *core, const struct epic_op *op,
			  enum epic_outcome outcome)
{
	if (!op->slot) {
		core->encoded_ip = op->ip;
		core->encoded_crowded = core->crowded_ip == op->ip;
		core->crowded_ip = 0;
	}
	if (core->encoded_ip == op->ip)
		epic_add_marked(core, core->marks,
				(enum epic_cell)(CELL_ENCODED_ALONE_CORRECT +
						 core->encoded_crowded * 3 + outcome),
				1);
}

/* One by its distance is there: nothing but its direction is predicted. */
static inline bool is_plain(const struct epic_core *core, const struct epic_op *op)
{
	return op->kind == EPIC_BRANCH && core->forced_ip != op->ip &&
	       !(op->flags & (EPIC_CALL | EPIC_B_FIRST)) && !core->marking;
}

enum epic_outcome epic_branch(struct epic_core *core, const struct epic_op *op,
			      const struct epic_instance *in)
{
	unsigned kind = op->kind - EPIC_BRANCH;
	bool forced = core->forced_ip == op->ip;
	enum epic_outcome outcome;

	if (is_plain(core, op)) {
		outcome =
		    epic_predict_direction(&core->shared->predictor, op, in->taken) != in->taken;
		epic_add(core,
			 (enum epic_cell)(CELL_BRANCH_IP_RELATIVE_NOT_TAKEN_CORRECT +
					  in->taken * 3 + outcome),
			 1);
		if (in->taken)
			core->forced_ip = 0;
		else if (outcome)
			core->forced_ip = op->ip;
		return outcome;
	}
	outcome = epic_predict(&core->shared->predictor, &core->returns, op, in, forced,
			       &core->frame_wrong);
	if (__builtin_expect(core->frame_wrong, 0))
		epic_add_marked(core, core->marks, CELL_FRAME_WRONG, 1);
	epic_add_marked(core, core->marks,
			(enum epic_cell)(CELL_BRANCH_IP_RELATIVE_NOT_TAKEN_CORRECT + kind * 6 +
					 in->taken * 3 + outcome),
			1);
	if (forced)
		epic_add_marked(
		    core, core->marks,
		    (enum epic_cell)(CELL_FORCED_IP_RELATIVE_NOT_TAKEN + kind * 2 + in->taken), 1);
	if (op->flags & EPIC_B_FIRST)
		count_encoded(core, op, outcome);
	if (in->taken)
		core->forced_ip = 0;
	else if (outcome == OUTCOME_WRONG_PATH)
		core->forced_ip = op->ip;
	return outcome;
}

static void tell_branch(struct epic_core *core, const struct epic_op *op,
			const struct epic_instance *in, enum epic_outcome outcome)
{
	const struct detail_branch told = {
	    .kind = epic_is_branch(op->kind) ? DETAIL_BRANCH_IP_RELATIVE + op->kind - EPIC_BRANCH
					     : DETAIL_BRANCH_CHECK,
	    .ip = op->ip,
	    .target = in->target,
	    .slot = op->slot,
	    .bundle = core->group.bundle,
	    .taken = in->taken,
	    .path_right = outcome != OUTCOME_WRONG_PATH,
	    .target_right = outcome == OUTCOME_CORRECT,
	    .flushed = outcome != OUTCOME_CORRECT,
	    .by_mark = core->marks & SIGNAL_MARK_CHANNEL,
	};

	if (!core->group.open) {
		core->watch.branch(core->watch.arg, &told);
		return;
	}
	assert(core->held_count < HELD_BRANCHES);
	core->held[core->held_count++] = told;
}

/* All branches of a group retire in its last cycle. */
void epic_tell_held(struct epic_core *core)
{
	for (unsigned i = 0; core->watch.branch && i < core->held_count; i++)
		core->watch.branch(core->watch.arg, &core->held[i]);
	core->held_count = 0;
}

/* After a group that ended in a branch or in the system. */
static void redirect(struct epic_core *core, unsigned flush, uint64_t *charge)
{
	if (flush)
		*charge = flush;
	epic_fetch_redirect(core, flush ? core->cycle + 1 + flush : 0);
	core->at = 0;
	if (__builtin_expect(core->shared->stream.stalled != 0, 0))
		epic_stream_unstall(core);
	core->shared->stream.next = 0;
}

/* A branch that was predicted right: what it costs the front end that it had to know. */
static void turn(struct epic_core *core, const struct epic_op *op, bool taken)
{
	if (op->loop && taken == (op->loop == EPIC_LOOP_OUT))
		epic_fetch_turn(core, FETCH_LOOP, core->params->loop_exit);
	else if (taken && op->kind == EPIC_RETURN)
		epic_fetch_turn(core, FETCH_RESTEER, core->params->turn_return);
	else if (taken && op->kind == EPIC_INDIRECT)
		epic_fetch_turn(core, FETCH_RESTEER, core->params->turn_indirect);
}

void epic_branched(struct epic_core *core, const struct epic_op *op, const struct epic_instance *in,
		   enum epic_outcome outcome)
{
	bool flushed = outcome != OUTCOME_CORRECT;

	if (__builtin_expect(core->frame_wrong, 0)) {
		core->frame_wrong = false;
		flushed = true;
	}
	if (in->taken || flushed)
		redirect(core, flushed ? core->params->flush_branch : 0, &core->flush_branch);
	if (!flushed)
		turn(core, op, in->taken);
	if (op->streams)
		epic_stream_begin(core, in);
	if (core->watch.branch)
		tell_branch(core, op, in, outcome);
}

static void end_by_branch(struct epic_core *core, const struct epic_op *op,
			  const struct epic_instance *in)
{
	enum epic_outcome outcome =
	    epic_is_branch(op->kind) ? epic_branch(core, op, in) : OUTCOME_WRONG_PATH;

	if (in->taken)
		core->at = in->target;
	if (in->taken && !(op->ip & 16)) /* the other bundle of those that came together */
		epic_add(core, CELL_LATE_UNREACHED, 1);
	if (in->taken)
		epic_group_end(core, op, END_TAKEN);
	else if (outcome != OUTCOME_CORRECT)
		epic_group_end(core, op, END_FLUSH);
	else if (op->flags & EPIC_STOP)
		epic_group_end(core, op, END_STOP);
	else if (op->flags & EPIC_LAST)
		epic_group_end(core, op, core->group.bundle ? END_FULL : END_SPLIT);
	epic_branched(core, op, in, outcome);
}

/* To the system, and back. */
static void leave(struct epic_core *core, const struct epic_op *op, const struct epic_instance *in)
{
	epic_group_end(core, op, END_FLUSH);
	epic_add(core, CELL_TO_SYSTEM, 1);
	epic_add(core, CELL_TO_USER, 1);
	redirect(core, core->params->flush_exception, &core->flush_exception);
	if (core->watch.interruption)
		core->watch.interruption(core->watch.arg, (unsigned)in->address);
}

static bool ends_in_branch(const struct epic_op *op, const struct epic_instance *in)
{
	return epic_is_branch(op->kind) ||
	       (op->kind >= EPIC_CHECK && op->kind <= EPIC_FLAGS_CHECK && in->taken);
}

static inline void end_by_others(struct epic_core *core, const struct epic_op *op)
{
	if (!(op->flags & (EPIC_STOP | EPIC_LAST)))
		return;
	if (op->flags & EPIC_STOP)
		epic_group_end(core, op, END_STOP);
	else if (op->flags & EPIC_LAST && core->group.bundle)
		epic_group_end(core, op, END_FULL);
	else if (op->flags & EPIC_LAST && op->flags & EPIC_SPLITS)
		epic_group_end(core, op, END_SPLIT);
}

static inline void go_on(struct epic_core *core, const struct epic_op *op)
{
	core->at = op->prepared.next;
	if (op->flags & EPIC_LAST) {
		core->owed = 0;
		core->b_before = op->unit == 'B';
	}
}

/* A number by its octal digits. */
static void add_digits(struct epic_core *core, enum epic_cell first, unsigned number)
{
	epic_add(core, first, number & 7);
	epic_add(core, (enum epic_cell)(first + 1), number >> 3 & 7);
	epic_add(core, (enum epic_cell)(first + 2), number >> 6 & 1);
}

/* Stacked registers, as an instruction that moves them comes. */
void epic_count_stack(struct epic_core *core, const struct epic_instance *in)
{
	add_digits(core, CELL_DIRTY_LOW, in->dirty);
	add_digits(core, CELL_CURRENT_LOW, in->current);
}

void epic_issue(struct epic_core *core, const struct epic_op *op, const struct epic_rename *rename,
		const struct epic_instance *in)
{
	int access = -1;

	if (op->flags & EPIC_STACK && !core->stack_told)
		epic_count_stack(core, in);
	core->stack_told = false;
	join_group(core, op);
	if (__builtin_expect(core->marking, 0)) {
		struct detail_code code = {op->ip, op->encoding, op->unit, op->either};

		core->marks = core->watch.mark(core->watch.arg, &code);
		count_marks(core);
		core->group.marked |= (core->marks & SIGNAL_MARK_CHANNEL) != 0;
	}
	operands(core, op, rename, in->on);
	if (in->on && epic_is_access(op->kind)) {
		access = core->group.access_count;
		access_memory(core, op, in);
	}
	if (in->on)
		results(core, op, rename, access);
	count_retired(core, op, in);
	go_on(core, op);
	if (ends_in_branch(op, in)) {
		end_by_branch(core, op, in);
	} else if (op->kind == EPIC_LEAVE && in->on) {
		leave(core, op, in);
	} else {
		end_by_others(core, op);
	}
}

void epic_stack_traffic(struct epic_core *core, bool store, uint64_t address, unsigned registers)
{
	const unsigned rate = core->params->stack_rate;
	const uint64_t begin = core->cycle + 1;
	uint64_t held = 0, ready = begin, end;

	for (unsigned i = 0; i < registers; i++) {
		struct access access = {.address = address + i * 8ull,
					.marks = core->marks,
					.kind = store ? EPIC_STORE : EPIC_LOAD,
					.bytes = 8,
					.stack = true};
		struct access_time time;

		epic_access(core, &access, begin + i / rate + held, &time);
		held += time.first + time.pressure + time.transfer + time.walk;
		epic_add_access(core, &access, store ? CELL_STACK_STORE : CELL_STACK_LOAD);
		if (!store && begin + i / rate + held + time.latency > ready)
			ready = begin + i / rate + held + time.latency;
	}
	end = begin + (registers + rate - 1) / rate + held;
	if (ready > end)
		end = ready;
	memset(core->stalls, 0, sizeof(core->stalls)); /* in `held` */
	core->stalled = false;
	if (store)
		core->spill += end - begin;
	else
		core->fill += end - begin;
	core->stack_waits = true;
}

void epic_deferred(struct epic_core *core, bool address)
{
	if (!address) { /* the others have it from their address register */
		core->nat += core->params->nat;
		core->stack_waits = true;
	}
	epic_add_marked(core, core->marks, address ? CELL_DEFERRED_ADDRESS : CELL_DEFERRED_PAGE, 1);
}

void epic_tiny(struct epic_core *core, bool flushed)
{
	epic_add_marked(core, core->marks, flushed ? CELL_TINY_FLUSHED : CELL_TINY_KEPT, 1);
}

void epic_unsafe(struct epic_core *core, bool traps)
{
	epic_add_marked(core, core->marks, traps ? CELL_UNSAFE_TRAP : CELL_UNSAFE_NO_TRAP, 1);
	core->unsafe += core->params->unsafe;
	core->stack_waits = true;
}

void epic_interruption(struct epic_core *core)
{
	epic_group_settle(core);
	redirect(core, core->params->flush_exception, &core->flush_exception);
}

void epic_group_settle(struct epic_core *core)
{
	if (core->group.open)
		cut(core);
	epic_group_abandon(core);
	epic_reads_count(core, &core->shared->reads, core->cycle);
	epic_reads_count(core, &core->shared->queue, core->cycle);
	epic_reads_count(core, &core->shared->snoops, core->cycle);
	epic_bus_settle(core);
	epic_addresses_count(core, core->cycle);
}
