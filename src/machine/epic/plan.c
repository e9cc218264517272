/*
 * Groups of a run that are dispersed the same way each time: they begin with no group open, nothing
 * in them but the last instruction can branch, and all of them are in the run. Only the fetch of
 * the second bundle can cut one off.
 */
#include "machine/epic/group.h"

#include <string.h>

#define SOURCES	 12u
#define RESULTS	 8u
#define LOADED	 4u
#define ACCESSES 4u

/* A plan while it is made. */
struct draft {
	struct epic_plan plan;
	struct epic_source sources[SOURCES];
	struct epic_result results[RESULTS], loaded[LOADED];
	struct epic_plan_access accesses[ACCESSES];
	uint8_t loaders[LOADED], uses[SOURCES], source_ops[SOURCES];
};

bool epic_joins(const struct epic_op *op)
{
	switch (op->kind) {
	case EPIC_NOP:
		return !op->qp;
	case EPIC_OTHER:
	case EPIC_LOAD:
	case EPIC_FP_LOAD:
	case EPIC_STORE:
	case EPIC_FP_STORE:
	case EPIC_PREFETCH:
		return !op->waits && !(op->flags & (EPIC_CALL | EPIC_STACK | EPIC_PREDICATES));
	default:
		return false;
	}
}

static bool can_end(const struct epic_op *op)
{
	return op->kind >= EPIC_BRANCH && op->kind <= EPIC_INDIRECT &&
	       op->flags & (EPIC_STOP | EPIC_LAST);
}

static void add_source(const struct epic_core *core, struct draft *p, struct epic_place place,
		       unsigned use, unsigned n)
{
	unsigned i = p->plan.all.sources++;

	p->sources[i] = (struct epic_source){(uint16_t)(place.fixed + place.offset), place.mask};
	p->uses[i] = (uint8_t)use;
	p->source_ops[i] = (uint8_t)n;
	p->plan.late |= epic_is_late(core, use);
}

/* @return false: there is no room */
static bool add_sources(const struct epic_core *core, struct draft *p, const struct epic_op *op,
			unsigned n)
{
	if (p->plan.all.sources + op->source_count + 1u > SOURCES)
		return false;
	if (op->qp)
		add_source(core, p, op->prepared.predicate, epic_predicate_use(op),
			   EPIC_PLAN_ALWAYS);
	for (unsigned i = 0; i < op->source_count; i++)
		add_source(core, p, op->prepared.from[i], op->uses[i], n);
	return true;
}

/* Loaded registers are written after the others. @return false: that could make a difference */
static bool in_order(const struct draft *p, const struct epic_result *r)
{
	for (unsigned i = 0; i < p->plan.all.loaded; i++)
		if (p->loaded[i].at == r->at && p->loaded[i].mask == r->mask)
			return false;
	return true;
}

static bool add_result(const struct epic_core *core, struct draft *p, struct epic_place place,
		       unsigned via, unsigned n)
{
	struct epic_part *part = &p->plan.all;
	bool loaded = via == EPIC_VIA_LOAD || via == EPIC_VIA_FLOAD;
	const struct epic_result result = {.at = (uint16_t)(place.fixed + place.offset),
					   .mask = place.mask,
					   .done = (uint16_t)epic_done(core, 0, via),
					   .twin = place.mask ? STACKED_RING : 0,
					   .op = (uint8_t)n};

	if (part->results == RESULTS || part->loaded == LOADED || !in_order(p, &result))
		return false;
	if (loaded) {
		p->loaders[part->loaded] = part->accesses;
		p->loaded[part->loaded++] = result;
	} else {
		p->results[part->results++] = result;
	}
	return true;
}

static bool add_results(const struct epic_core *core, struct draft *p, const struct epic_op *op,
			unsigned n)
{
	struct epic_part *part = &p->plan.all;

	if (part->accesses == ACCESSES)
		return false;
	for (unsigned i = 0; i < op->result_count; i++)
		if (!add_result(core, p, op->prepared.to[i], op->vias[i], n))
			return false;
	if (epic_is_access(op->kind)) {
		p->accesses[part->accesses++] =
		    (struct epic_plan_access){(uint8_t)n, op->kind == EPIC_LOAD ? op->bytes : 0};
	}
	return true;
}

static bool add(const struct epic_core *core, struct draft *p, const struct epic_op *op, unsigned n)
{
	struct epic_part *part = &p->plan.all;

	if (n >= EPIC_PLAN_ALWAYS || !add_sources(core, p, op, n) || !add_results(core, p, op, n))
		return false;
	if (op->qp &&
	    !(can_end(op) && !op->source_count && !op->result_count && !op->prepared.rare))
		part->guarded |= (uint8_t)(1u << n);
	part->ops++;
	part->tally += op->prepared.tally;
	part->next = op->prepared.next;
	part->fp_ops += op->fp_ops;
	if (op->flags & EPIC_LAST) {
		part->passes = true;
		part->b_last = op->unit == 'B';
	}
	return true;
}

/* Syllables that a group's cycle loses. whole: it ends with a bundle */
static void lose(struct epic_part *part, bool whole)
{
	part->lost = part->end == END_STOP    ? CELL_NOT_EXPLICIT
		     : part->end == END_FETCH ? CELL_NOT_FETCH
					      : CELL_NOT_IMPLICIT;
	part->over = part->end == END_STOP ? CELL_OVER_EXPLICIT : CELL_OVER_IMPLICIT;
	part->whole = whole;
	part->syllables = whole == !part->bundle ? 3 : whole ? 0 : 6;
	part->owed = whole ? 0 : (uint8_t)((part->tally & 0xFF) - part->before);
}

/* The second bundle comes. @return false: not always at once */
static bool begin_second(struct draft *p, const struct epic_op *op)
{
	if (p->plan.second || (p->plan.all.b_last && op->flags & EPIC_B_FIRST))
		return false;
	p->plan.first = p->plan.all;
	p->plan.first.end = END_FETCH;
	p->plan.first.arrival = true;
	lose(&p->plan.first, true);
	p->plan.second = true;
	p->plan.all.bundle = 1;
	p->plan.all.before = (uint8_t)p->plan.all.tally;
	return true;
}

/* The ports that the next instruction needs are taken. */
static void split(struct epic_part *part, const struct epic_op *next)
{
	part->end = END_SPLIT;
	part->arrival = true;
	if (!next->slot)
		part->bundle = 0;
	lose(part, !next->slot);
}

/* @return whether the group ends after the instruction */
static bool ends(struct epic_part *part, const struct epic_op *op)
{
	bool branch = op->kind >= EPIC_BRANCH;

	if (op->flags & EPIC_STOP)
		part->end = END_STOP;
	else if (op->flags & EPIC_LAST && part->bundle)
		part->end = END_FULL;
	else if (op->flags & EPIC_LAST && (branch || op->flags & EPIC_SPLITS))
		part->end = END_SPLIT;
	else
		return false;
	lose(part, op->flags & EPIC_LAST);
	if (branch)
		part->end = END_TAKEN;
	return true;
}

static bool make(const struct epic_core *core, struct draft *p, const struct epic_op *ops,
		 unsigned count, bool apart)
{
	struct group g = {.ports = PORTS_FREE};

	for (unsigned n = 0; n < count; n++) {
		const struct epic_op *op = &ops[n];

		if (apart && n + 1 == count && !can_end(op))
			return false;
		if (n && !op->slot && !begin_second(p, op))
			return false;
		if (!epic_group_ports(&g, op)) {
			split(&p->plan.all, op);
			return true;
		}
		if (!add(core, p, op, n))
			return false;
		if (ends(&p->plan.all, op))
			return true;
	}
	return false; /* the group goes on */
}

static char *put(char *at, const void *from, size_t size)
{
	memcpy(at, from, size);
	return at + size;
}

unsigned epic_make_plan(const struct epic_core *core, void *plan, size_t room,
			const struct epic_op *ops, unsigned count, bool apart)
{
	struct draft d = {.plan = {.ip = ops->ip, .slot = ops->slot}};
	const struct epic_part *all = &d.plan.all;
	size_t size;
	char *at;

	if (!make(core, &d, ops, count, apart))
		return 0;
	size = sizeof(d.plan) + all->sources * (sizeof(*d.sources) + 2) +
	       all->results * sizeof(*d.results) + all->loaded * (sizeof(*d.loaded) + 1) +
	       all->accesses * sizeof(*d.accesses);
	if (size > room)
		return 0;
	at = put(plan, &d.plan, sizeof(d.plan));
	at = put(at, d.sources, all->sources * sizeof(*d.sources));
	at = put(at, d.results, all->results * sizeof(*d.results));
	at = put(at, d.loaded, all->loaded * sizeof(*d.loaded));
	at = put(at, d.accesses, all->accesses * sizeof(*d.accesses));
	at = put(at, d.loaders, all->loaded);
	at = put(at, d.uses, all->sources);
	put(at, d.source_ops, all->sources);
	return (unsigned)(size + EPIC_PLAN_UNIT - 1) / EPIC_PLAN_UNIT;
}
