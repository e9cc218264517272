/*
 * Runs that are issued by plans and the same instructions one by one: two cores on random code have
 * the same totals after each run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "machine/epic/epic.h"
#include "machine/epic/params.h"

#define BLOCKS 64
#define LENGTH 12 /* instructions, at most */
#define VISITS 60000
#define CODE   0x4000000000000000ull
#define DATA   0x6000000000000000ull

struct block {
	struct epic_run run;
	struct epic_op ops[LENGTH];
	_Alignas(8) char plans[LENGTH * EPIC_PLAN_ROOM];
};

struct pair {
	uint64_t random;
	struct block blocks[BLOCKS];
	struct epic_core *planned, *single;
	uint64_t told[2]; /* groups of each core, by all that is told of them */
};

static unsigned any(struct pair *p, unsigned below)
{
	p->random = p->random * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(p->random >> 33) % below;
}

static void source(struct epic_op *op, unsigned name, unsigned use)
{
	op->sources[op->source_count] = (uint16_t)name;
	op->uses[op->source_count++] = (uint8_t)use;
}

static void result(struct epic_op *op, unsigned name, unsigned via)
{
	op->results[op->result_count] = (uint16_t)name;
	op->vias[op->result_count++] = (uint8_t)via;
}

/* Static or stacked, few enough that they meet. */
static unsigned general(struct pair *p)
{
	return any(p, 2) ? 14 + any(p, 6) : 32 + any(p, 6);
}

static void make_integer(struct pair *p, struct epic_op *op)
{
	bool multimedia = any(p, 6) == 0;

	op->kind = EPIC_OTHER;
	op->port = op->unit == 'M' ? EPIC_PORT_M : any(p, 2) ? EPIC_PORT_A : EPIC_PORT_I;
	op->either = true;
	source(op, general(p), multimedia ? EPIC_USE_MULTIMEDIA : EPIC_USE_ALU);
	if (any(p, 3))
		result(op, general(p), multimedia ? EPIC_VIA_MULTIMEDIA : EPIC_VIA_ADDER);
	else
		result(op, EPIC_PREDICATE + 6 + any(p, 4), EPIC_VIA_COMPARE);
}

static void make_memory(struct pair *p, struct epic_op *op)
{
	static const uint8_t kinds[] = {EPIC_LOAD,  EPIC_LOAD,	   EPIC_FP_LOAD,
					EPIC_STORE, EPIC_FP_STORE, EPIC_PREFETCH};

	op->kind = kinds[any(p, 6)];
	op->bytes = (uint8_t)(op->kind == EPIC_PREFETCH ? 0 : 1u << any(p, 4));
	op->port = op->kind == EPIC_STORE || op->kind == EPIC_FP_STORE ? EPIC_PORT_M23
		   : op->kind == EPIC_FP_LOAD			       ? EPIC_PORT_M
								       : EPIC_PORT_M01;
	source(op, general(p), EPIC_USE_ADDRESS);
	if (op->kind == EPIC_LOAD)
		result(op, general(p), EPIC_VIA_LOAD);
	if (op->kind == EPIC_FP_LOAD)
		result(op, EPIC_FLOATING + 8 + any(p, 4), EPIC_VIA_FLOAD);
	if (op->kind == EPIC_STORE)
		source(op, general(p), EPIC_USE_STORE);
	if (any(p, 3) == 0)
		result(op, general(p), EPIC_VIA_ADDER);
}

static void make_floating(struct pair *p, struct epic_op *op)
{
	op->kind = EPIC_OTHER;
	op->port = EPIC_PORT_F;
	op->fp_ops = (uint8_t)any(p, 3);
	source(op, EPIC_FLOATING + 8 + any(p, 4), EPIC_USE_FMAC);
	result(op, EPIC_FLOATING + 8 + any(p, 4), EPIC_VIA_FMAC);
}

static void make_nop(struct epic_op *op)
{
	op->kind = EPIC_NOP;
	op->qp = 0;
	op->port = op->unit == 'M'   ? EPIC_PORT_M
		   : op->unit == 'I' ? EPIC_PORT_I
		   : op->unit == 'F' ? EPIC_PORT_F
				     : EPIC_PORT_B;
}

static void make_branch(struct pair *p, struct epic_op *op)
{
	op->kind = EPIC_BRANCH;
	op->port = EPIC_PORT_B;
	op->qp = (uint8_t)(6 + any(p, 4));
	op->hint = (uint8_t)any(p, 4);
	op->streams = any(p, 4) == 0;
	op->target = CODE + any(p, BLOCKS) * 64;
}

static void make(struct pair *p, struct epic_op *op, unsigned at, bool last)
{
	static const char templates[][4] = {"MII", "MMI", "MFI", "MMF", "MIB", "MFB", "MMB", "MBB"};
	static unsigned chosen;

	if (at % 3 == 0)
		chosen = last ? 4 + any(p, 4) : any(p, 8);
	op->slot = at % 3;
	op->slots = 3;
	op->unit = (uint8_t)templates[chosen][op->slot];
	op->qp = any(p, 4) ? 0 : (uint8_t)(6 + any(p, 4));
	op->flags = (any(p, 4) ? 0 : EPIC_STOP) | (op->slot == 2 ? EPIC_LAST : 0) |
		    (chosen == 7 ? EPIC_SPLITS : 0);
	if (op->unit == 'B' || any(p, 4) == 0)
		make_nop(op);
	else if (op->unit == 'F')
		make_floating(p, op);
	else if (op->unit == 'M' && any(p, 3))
		make_memory(p, op);
	else
		make_integer(p, op);
}

/* Each block has four bundles' place; it ends in a branch, most often in a B slot of its last. */
static void make_block(struct pair *p, unsigned number)
{
	struct block *b = &p->blocks[number];
	unsigned bundles = 1 + any(p, 4);

	b->run.count = (uint8_t)(3 * bundles);
	for (unsigned i = 0; i < b->run.count; i++) {
		struct epic_op *op = &b->ops[i];

		op->ip = CODE + number * 64 + (4 - bundles + i / 3) * 16;
		make(p, op, i, i / 3 + 1 == bundles);
		if (i + 1 == b->run.count)
			make_branch(p, op);
		epic_prepare(op);
	}
}

static void tell(void *arg, const struct detail_group *group)
{
	uint64_t *told = arg;

	*told = (*told ^ group->ip ^ group->cycle << 20 ^ group->flushed) * 0x100000001B3ull;
}

static struct epic_core *core_new(uint64_t *told)
{
	const struct epic_params *params = epic_params_find(NULL);
	struct epic_core *core = epic_init(calloc(1, epic_size(params)), params);
	const struct epic_watch watch = {.arg = told, .group = tell};

	epic_watch(core, &watch);
	return core;
}

static void assert_same(const struct pair *p)
{
	const uint64_t *one = epic_totals(p->planned, SIGNAL_ALL);
	const uint64_t *other = epic_totals(p->single, SIGNAL_ALL);

	for (size_t i = 0; i < epic_cell_count; i++)
		assert_int_equal(one[i], other[i]);
	assert_int_equal(epic_cycle(p->planned), epic_cycle(p->single));
	assert_int_equal(epic_next_ip(p->planned), epic_next_ip(p->single));
	assert_int_equal(p->told[0], p->told[1]);
}

/* @return the block that comes next */
static unsigned visit(struct pair *p, unsigned number, const struct epic_rename *rename)
{
	struct block *b = &p->blocks[number];
	uint64_t addresses[LENGTH];
	uint8_t on[LENGTH];
	struct epic_instance last = {.on = any(p, 2)};
	const struct epic_visit visit = {&b->run, b->ops, b->plans, addresses, on, &last};

	for (unsigned i = 0; i < b->run.count; i++) {
		addresses[i] = DATA + any(p, any(p, 40) ? 4096 : 1u << 24);
		addresses[i] -= any(p, 8) ? addresses[i] % 8 : 0;
		on[i] = any(p, 2) != 0;
	}
	last.taken = last.on;
	last.target = b->ops[b->run.count - 1].target;
	epic_issue_run(p->planned, &visit, rename);
	epic_issue_some(p->single, &visit, 0, b->run.count, rename);
	return last.taken ? (unsigned)(last.target - CODE) / 64 : (number + 1) % BLOCKS;
}

static void test_same(void **state)
{
	static struct pair p;
	struct epic_rename rename = {.rotating = 16};
	unsigned at = 0, planned = 0;

	(void)state;
	p.random = 9300;
	p.planned = core_new(&p.told[0]);
	p.single = core_new(&p.told[1]);
	for (unsigned i = 0; i < BLOCKS; i++)
		make_block(&p, i);
	for (unsigned i = 0; i < VISITS; i++) {
		if (any(&p, 10) == 0)
			rename.bottom = (120 + any(&p, 16)) % 128; /* the ring's ends */
		if (any(&p, 50) == 0)
			rename.general = (uint8_t)(rename.rotated ? 0 : any(&p, 16));
		rename.rotated = rename.general;
		at = visit(&p, at, &rename);
		assert_same(&p);
	}
	for (unsigned i = 0; i < BLOCKS; i++)
		planned += p.blocks[i].run.planned != 0;
	assert_true(planned > BLOCKS / 2);
	free(p.planned);
	free(p.single);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_same)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
