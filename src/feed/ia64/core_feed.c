#include "feed/ia64/core_feed.h"

#include "feed/ia64/alat.h"
#include "feed/ia64/core_op.h"
#include "feed/ia64/core_system.h"
#include "feed/ia64/core_turns.h"
#include "feed/ia64/rse.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 32 /* of cores */

/* Offsets in the interruption vector table (Intel 245318, chapter 8). */
#define VECTOR_BREAK   0x2C00
#define VECTOR_GENERAL 0x5400

/* The previous frame in ar.pfs. */
#define FRAME 0x3FFFFFFFFFull

/* What is kept of instructions that are told of together. */
struct record {
	uint8_t code; /* of the last one: enum ia64_opcode */
	uint8_t r1, r2;
	bool now;	  /* the last one is told of ahead of it, and has all this: */
	bool branch;	  /* it only goes elsewhere */
	bool after;	  /* it moves what the feed keeps: looked at again before the next one */
	bool inserts;	  /* into the ALAT */
	bool special;	  /* something besides predicate and address is to be known */
	bool jumps;	  /* where its predicate is true, to `target`: that is all */
	bool stack;	  /* it moves the register stack */
	bool speculative; /* an integer load that may bring no value */
	uint8_t issued;	  /* so many of the run are, ahead of its call */
	uint64_t target;
	struct epic_run run;
	struct epic_op ops[]; /* of the run; its plans follow */
};

static_assert(IA64_NOTES <= EPIC_RUN_MAX, "a record's instructions are a run");

/* With this for each instruction there is room for all. */
#define RECORD_SIZE ((sizeof(struct record) + sizeof(struct epic_op) + EPIC_PLAN_ROOM + 7) & ~7ull)

/* A thread's side: what it saw last. */
struct thread {
	struct ia64_core_feed *feed;
	struct core_turn turn;
	unsigned number; /* of the core */
	struct epic_rename rename;
	uint64_t bspstore;
	uint32_t um;
	bool after, stack; /* the last instruction moves it; by the register stack engine */
	uint8_t loaded;	   /* by a speculative load, the last instruction; 0: it is none */
	bool loaded_from;  /* its address register had no value */
};

struct ia64_core_feed {
	struct ia64_observer observer;
	struct ia64_core_feed_target target;
	struct core_turns turns;
	struct thread threads[THREADS], other;
	unsigned begun;
	bool outside; /* the process drives no core */
};

static bool moves(const struct ia64_insn *n)
{
	switch (n->op) {
	case IA64_BR_CALL:
	case IA64_BR_CALL_IND:
	case IA64_BRL_CALL:
	case IA64_BR_RET:
	case IA64_BR_CTOP:
	case IA64_BR_CEXIT:
	case IA64_BR_WTOP:
	case IA64_BR_WEXIT:
	case IA64_ALLOC:
	case IA64_COVER:
	case IA64_CLRRRB:
	case IA64_CLRRRB_PR:
	case IA64_FLUSHRS:
	case IA64_LOADRS:
	case IA64_BREAK:
	case IA64_SUM:
	case IA64_RUM:
	case IA64_MOV_TO_UM:
		return true;
	case IA64_MOV_TO_AR:
	case IA64_MOV_TO_ARI:
		return n->r3 != IA64_AR_PFS && n->r3 != IA64_AR_LC && n->r3 != IA64_AR_UNAT;
	default:
		return false;
	}
}

static bool speculative(const struct epic_op *op)
{
	unsigned type = op->encoding >> 30 & 0x3C;

	return op->kind == EPIC_LOAD && (type == 0x04 || type == 0x0C);
}

static bool inserts(const struct epic_op *op)
{
	unsigned type = op->encoding >> 30 & 0x3C;

	if (op->kind == EPIC_LOAD || op->kind == EPIC_FP_LOAD)
		return type == 0x08 || type == 0x0C;
	return (op->kind == EPIC_LOAD_CHECK || op->kind == EPIC_FP_LOAD_CHECK) && type == 0x24;
}

/* Nothing is to be known of it but its predicate and address, and all that comes of it are results.
 */
static bool waits(const struct epic_op *op, const struct ia64_insn *n)
{
	if (!epic_joins(op) || moves(n) || speculative(op) || inserts(op))
		return false;
	return op->kind != EPIC_OTHER ||
	       (n->encoding && (op->either || op->unit != 'M' || n->op == IA64_SETF));
}

/* The next instruction of a record. */
static enum ia64_observing add(struct record *r, const struct ia64_insn *n,
			       const struct ia64_bundle *bundle)
{
	struct epic_op *op = &r->ops[r->run.count++];

	ia64_core_op(op, n, bundle);
	if (waits(op, n))
		return op->qp || op->kind > EPIC_NOP ? IA64_OBSERVE_NOTED : IA64_OBSERVE_LATER;
	r->now = true;
	r->code = n->op;
	r->r1 = n->r1;
	r->r2 = n->r2;
	r->speculative = speculative(op);
	r->after = moves(n) || r->speculative;
	r->inserts = inserts(op);
	r->stack = op->flags & EPIC_STACK;
	r->target = op->target;
	r->jumps = n->op == IA64_BR_COND || n->op == IA64_BRL_COND;
	r->special = (op->kind >= EPIC_BRANCH && !r->jumps) || r->inserts ||
		     op->kind == EPIC_LOAD_CHECK || op->kind == EPIC_FP_LOAD_CHECK;
	r->branch = op->kind >= EPIC_BRANCH && op->kind <= EPIC_INDIRECT;
	return r->branch ? IA64_OBSERVE_JUMP : IA64_OBSERVE_NOW;
}

static enum ia64_observing join(void *state, void *record, const struct ia64_insn *n,
				const struct ia64_bundle *bundle)
{
	(void)state;
	return add(record, n, bundle);
}

static enum ia64_observing decode(void *state, void *record, const struct ia64_insn *n,
				  const struct ia64_bundle *bundle)
{
	struct record *r = record;

	(void)state;
	memset(r, 0, sizeof(*r));
	return add(r, n, bundle);
}

static void rename_from(struct epic_rename *r, const struct ia64_cpu *c)
{
	*r = (struct epic_rename){
	    .bottom = c->bof,
	    .rotating = (uint8_t)(c->sor * 8),
	    .general = c->rrb_gr,
	    .floating = c->rrb_fr,
	    .predicate = c->rrb_pr,
	    .rotated = c->rrb_gr || c->rrb_fr || c->rrb_pr,
	};
}

/* What the instruction before this one did to the register stack and the user mask. */
static __attribute__((noinline)) void look_after(struct thread *t, const struct ia64_cpu *c)
{
	int registers = ia64_rse_count(t->bspstore, c->bspstore);

	rename_from(&t->rename, c);
	if (!t->stack)
		registers = 0;
	if (registers > 0 && registers <= IA64_STACKED)
		epic_stack_traffic(t->turn.core, true, t->bspstore, (unsigned)registers);
	else if (registers < 0 && registers >= -IA64_STACKED)
		epic_stack_traffic(t->turn.core, false, c->bspstore, (unsigned)-registers);
	t->bspstore = c->bspstore;
	if ((t->um ^ c->um) & IA64_UM_UP)
		t->feed->target.monitors(t->feed->target.arg, t->number, c->um & IA64_UM_UP);
	t->um = c->um;
	if (t->loaded && c->nat[t->loaded])
		epic_deferred(t->turn.core, t->loaded_from);
	t->loaded = 0;
	t->after = false;
}

static const struct epic_op *last_op(const struct record *r)
{
	return &r->ops[r->run.count - 1];
}

/* Whether a counted or while loop's branch goes back (or out, of the exit forms). */
static bool loop_taken(const struct ia64_cpu *c, unsigned code, bool on)
{
	switch (code) {
	case IA64_BR_CLOOP:
		return c->lc != 0;
	case IA64_BR_CTOP:
		return c->lc || c->ec > 1;
	case IA64_BR_CEXIT:
		return !(c->lc || c->ec > 1);
	case IA64_BR_WTOP:
		return on || c->ec > 1;
	default:
		return !(on || c->ec > 1);
	}
}

static void branch(struct epic_instance *in, const struct ia64_cpu *c, const struct record *r)
{
	in->target = last_op(r)->target;
	in->taken = in->on;
	switch (r->code) {
	case IA64_BR_CLOOP:
	case IA64_BR_CTOP:
	case IA64_BR_CEXIT:
	case IA64_BR_WTOP:
	case IA64_BR_WEXIT:
		in->taken = loop_taken(c, r->code, in->on);
		in->on = true;
		break;
	case IA64_BR_IND:
	case IA64_BR_RET:
	case IA64_BR_CALL_IND:
		in->target = c->br[r->r2] & ~15ull;
		break;
	default:
		break;
	}
	if (last_op(r)->kind == EPIC_RETURN)
		in->address = c->pfs & FRAME;
	else if (last_op(r)->flags & EPIC_CALL)
		in->address = ia64_cfm(c);
}

static unsigned tag_of(const struct ia64_cpu *c, const struct record *r)
{
	unsigned kind = last_op(r)->kind;
	bool floating =
	    kind == EPIC_FP_LOAD || kind == EPIC_FP_LOAD_CHECK || kind == EPIC_FP_ALAT_CHECK;

	return floating ? ia64_alat_fr(c, r->r1) : ia64_alat_gr(c, r->r1);
}

/* An advanced load that finds no free entry and none of its own takes another's. */
static bool replaces(const struct ia64_cpu *c, unsigned tag)
{
	for (unsigned i = 0; i < IA64_ALAT_ENTRIES; i++)
		if (!c->alat[i].tag || c->alat[i].tag == tag)
			return false;
	return true;
}

static void special(struct epic_instance *in, const struct ia64_cpu *c, const struct record *r)
{
	const struct epic_op *op = last_op(r);

	switch (op->kind) {
	case EPIC_BRANCH:
	case EPIC_RETURN:
	case EPIC_INDIRECT:
		branch(in, c, r);
		return;
	case EPIC_LOAD_CHECK:
	case EPIC_FP_LOAD_CHECK:
		in->hit = ia64_alat_matches(c, tag_of(c, r), in->address, op->bytes);
		break;
	case EPIC_ALAT_CHECK:
	case EPIC_FP_ALAT_CHECK:
		in->taken = in->on && !ia64_alat_has(c, tag_of(c, r));
		break;
	case EPIC_CHECK:
		in->taken = in->on && c->nat[r->r2];
		break;
	case EPIC_FP_CHECK:
		in->taken = in->on && ia64_fr_is_natval(&c->fr[ia64_fr_index(c, r->r2)]);
		break;
	case EPIC_FLAGS_CHECK:
		in->taken = in->on && ia64_fchkf(c->fpsr, op->encoding >> 34 & 3);
		break;
	case EPIC_LEAVE:
		in->address = r->code == IA64_BREAK ? VECTOR_BREAK : VECTOR_GENERAL;
		break;
	default:
		break;
	}
	if (in->taken)
		in->target = op->target;
	if (r->inserts && in->on && !in->hit)
		in->replaced = replaces(c, tag_of(c, r));
}

static void take_turn(struct thread *t)
{
	if (__builtin_expect(*t->turn.clock >= t->turn.until, 0))
		core_turns_take(&t->feed->turns, &t->turn);
}

/* What is done ahead of its call is done in the thread's turn. */
static void resume(void *own)
{
	struct thread *t = own;

	if (t->turn.core)
		take_turn(t);
}

static void issue(struct thread *t, struct record *r, const struct epic_visit *visit)
{
	if (__builtin_expect(!r->issued, 1)) {
		epic_issue_run(t->turn.core, visit, &t->rename);
		return;
	}
	epic_issue_some(t->turn.core, visit, r->issued, r->run.count, &t->rename);
	r->issued = 0;
}

/* Before what comes next. @return false: there is no core to tell */
static bool look(struct thread *t, const struct ia64_cpu *c)
{
	if (__builtin_expect(!t->turn.core, 0))
		return false;
	take_turn(t);
	if (__builtin_expect(t->after || t->rename.bottom != c->bof, 0))
		look_after(t, c);
	return true;
}

static struct epic_visit visit_of(const struct ia64_cpu *c, struct record *r)
{
	return (struct epic_visit){.run = &r->run,
				   .ops = r->ops,
				   .plans = r->ops + r->run.count,
				   .addresses = c->notes.address,
				   .on = c->notes.on};
}

/* What the thread waits for, if it pauses. */
static void tell_advanced(struct thread *t, const struct ia64_cpu *c)
{
	epic_pauses(t->turn.core);
	for (unsigned i = 0; i < IA64_ALAT_ENTRIES; i++)
		if (c->alat[i].tag)
			epic_advanced(t->turn.core, c->alat[i].address, c->alat[i].size);
}

static void insn(void *own, const struct ia64_cpu *c, void *record, bool on, uint64_t address)
{
	struct thread *t = own;
	struct record *r = record;
	struct epic_instance in = {.on = on, .address = address};
	struct epic_visit visit = visit_of(c, r);

	if (!look(t, c))
		return;
	t->stack = false;
	if (!r->now) {
		issue(t, r, &visit);
		take_turn(t);
		return;
	}
	if (r->jumps) {
		in.taken = on;
		in.target = r->target;
	} else if (r->special) {
		special(&in, c, r);
		if (last_op(r)->kind == EPIC_PAUSE && on)
			tell_advanced(t, c);
	}
	if (r->stack) {
		t->stack = true;
		in.dirty = (uint8_t)c->dirty;
		in.current = c->sof;
	}
	visit.last = &in;
	issue(t, r, &visit);
	t->after = r->after;
	if (r->speculative && on) {
		t->loaded = r->r1;
		t->loaded_from = c->nat[last_op(r)->encoding >> 20 & 127];
	}
	if (r->branch)
		take_turn(t);
}

/* Of instructions that nobody was told of yet. */
static void until(void *own, const struct ia64_cpu *c, void *record, uint64_t ip, bool leaves)
{
	struct thread *t = own;
	struct record *r = record;
	struct epic_visit visit = visit_of(c, r);

	for (unsigned i = r->issued; i < r->run.count; i++) {
		if (r->ops[i].prepared.at != ip || !look(t, c))
			continue;
		t->stack = false;
		epic_issue_some(t->turn.core, &visit, r->issued, i + 1, &t->rename);
		r->issued = (uint8_t)(i + 1);
	}
	if (leaves)
		r->issued = 0;
}

static void tiny(void *own, bool flushed)
{
	struct thread *t = own;

	if (t->turn.core)
		epic_tiny(t->turn.core, flushed);
}

static uint64_t monitor(void *own, uint32_t number)
{
	struct thread *t = own;

	return t->turn.core ? t->feed->target.monitor(t->feed->target.arg, t->number, number) : 0;
}

static void unsafe(void *own, bool traps)
{
	struct thread *t = own;

	if (t->turn.core)
		epic_unsafe(t->turn.core, traps);
}

static bool system_call(void *own, struct ia64_cpu *c, uint64_t number, const uint64_t *a,
			int64_t *result)
{
	struct thread *t = own;

	return core_system_call(&t->feed->turns, &t->turn, c, number, a, result);
}

static void ended(void *own)
{
	struct thread *t = own;

	if (t->turn.core)
		core_turns_finish(&t->feed->turns, &t->turn);
}

static void *begin(void *state, struct ia64_cpu *c)
{
	struct ia64_core_feed *f = state;
	unsigned n = __atomic_fetch_add(&f->begun, 1, __ATOMIC_ACQ_REL);
	struct thread *t = n < THREADS ? &f->threads[n] : NULL;
	struct epic_core *core =
	    t && !f->outside ? f->target.core(f->target.arg, &t->number) : NULL;

	if (!core) {
		f->turns.others = true;
		f->target.other_thread(f->target.arg);
		return &f->other;
	}
	if (!n)
		c->um |= IA64_UM_UP; /* as a tool that counts starts the program */
	t->feed = f;
	t->bspstore = c->bspstore;
	t->after = true;
	core_turns_begin(&f->turns, &t->turn, core);
	return t;
}

/* The cores are still the parent's. */
static void forked(void *state)
{
	struct ia64_core_feed *f = state;

	f->outside = true;
	core_turns_end(&f->turns);
	f->target.other_thread(f->target.arg);
}

int ia64_core_feed_new(struct ia64_core_feed **feed, const struct ia64_core_feed_target *target)
{
	struct ia64_core_feed *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->observer = (struct ia64_observer){.state = f,
					     .record_size = RECORD_SIZE,
					     .decode = decode,
					     .join = join,
					     .begin = begin,
					     .insn = insn,
					     .resume = resume,
					     .until = until,
					     .tiny = tiny,
					     .monitor = monitor,
					     .unsafe = unsafe,
					     .syscall = system_call,
					     .ended = ended,
					     .forked = forked};
	f->target = *target;
	f->other.feed = f;
	core_turns_init(&f->turns);
	*feed = f;
	return 0;
}

void ia64_core_feed_free(struct ia64_core_feed *feed)
{
	free(feed);
}

const struct ia64_observer *ia64_core_feed_observer(const struct ia64_core_feed *feed)
{
	return &feed->observer;
}
