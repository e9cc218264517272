#include "feed/block.h"

#include <assert.h>

#define REGISTERS 16

/* A block of no bytes at the start of a line: nothing is fetched. */
#define NOT_FETCHED 64

/* For each general register, those whose last load its value comes from. */
struct origins {
	uint16_t of[REGISTERS];
};

static void origins_init(struct origins *origins)
{
	for (unsigned r = 0; r < REGISTERS; r++)
		origins->of[r] = (uint16_t)(1u << r);
}

static uint16_t origins_of(const struct origins *origins, uint16_t registers)
{
	uint16_t all = 0;

	for (unsigned r = 0; r < REGISTERS; r++)
		if (registers & 1u << r)
			all |= origins->of[r];
	return all;
}

/* Follows values through one instruction. */
static void origins_step(struct origins *origins, const struct feed_insn *insn)
{
	uint16_t loaded = insn->registers.loads_registers;
	uint16_t computed = insn->results & (uint16_t)~loaded;
	uint16_t from = origins_of(origins, insn->sources);

	for (unsigned r = 0; r < REGISTERS; r++) {
		if (computed & 1u << r)
			origins->of[r] = from;
		/* What came from an earlier load into a register that is loaded anew is lost. */
		origins->of[r] &= (uint16_t)~loaded;
		if (loaded & 1u << r)
			origins->of[r] = (uint16_t)(1u << r);
	}
}

size_t feed_block_size(const struct feed_insn *insns, size_t count)
{
	size_t accesses = 0;

	for (size_t i = 0; i < count; i++)
		accesses += insns[i].class != FEED_NONE;
	return sizeof(struct feed_block) + accesses * sizeof(struct feed_access);
}

static void list_ops(const struct machine_op **ops, const struct feed_insn *insns, size_t count)
{
	for (size_t i = 0; i < count; i++)
		ops[i] = &insns[i].op;
}

/* Of longer blocks nothing is known. */
static void find_deciders(const struct feed_insn *insns, size_t count, bool *decides)
{
	const struct machine_op *ops[PLAN_OPS_MAX];

	for (size_t i = 0; i < PLAN_OPS_MAX; i++)
		decides[i] = false;
	if (count > PLAN_OPS_MAX)
		return;
	list_ops(ops, insns, count);
	machine_plan_deciders(ops, count, decides);
}

void feed_block_init(struct feed_block *block, const struct machine *machine, uint64_t address,
		     const struct feed_insn *insns, size_t count)
{
	struct feed_access *access = block->accesses;
	uint32_t bytes = 0, loads = 0, stores = 0, branches = 0;
	bool decides[PLAN_OPS_MAX];
	struct origins origins;

	assert(count > 0);
	find_deciders(insns, count, decides);
	origins_init(&origins);
	for (size_t i = 0; i < count; i++) {
		const struct feed_insn *insn = &insns[i];

		bytes += insn->length;
		loads += insn->loads;
		stores += insn->stores;
		branches += insn->branches;
		if (insn->class != FEED_NONE) {
			access->registers = insn->registers;
			access->registers.address_registers =
			    origins_of(&origins, insn->registers.address_registers);
			access->registers.place = (uint8_t)(address + bytes - insn->length);
			access->registers.decides = i < PLAN_OPS_MAX && decides[i];
			access->size = insn->size;
			access++;
		}
		origins_step(&origins, insn);
	}
	machine_block_init(machine, &block->whole, address, bytes, (uint32_t)count, loads, stores);
	block->whole.branches = branches;
}

size_t feed_block_plan(struct machine_plan *plan, const struct machine *machine,
		       const struct feed_block *block, const struct feed_insn *insns, size_t count)
{
	const struct machine_op *ops[PLAN_OPS_MAX];

	if (!machine_plans(machine) || count > PLAN_OPS_MAX)
		return 0;
	list_ops(ops, insns, count);
	return machine_plan_make(plan, machine, &block->whole, ops, count);
}

bool feed_block_repeats(const struct feed_insn *insns, size_t count)
{
	return insns[count - 1].repeats;
}

void feed_repeat_init(struct feed_repeat *repeat, const struct machine *machine,
		      const struct feed_block *block, const struct machine_plan *plan,
		      const struct feed_insn *insns, size_t count)
{
	const struct feed_insn *last = &insns[count - 1];

	repeat->first = block->whole;
	repeat->plan = plan;
	repeat->address = block->whole.address + block->whole.bytes - last->length;
	repeat->access = (struct feed_access){.registers = last->registers, .size = last->size};
	repeat->access.registers.place = (uint8_t)repeat->address;
	repeat->fast = last->class == FEED_FAST_STRING;
	machine_block_init(machine, &repeat->iteration, NOT_FETCHED, 0, 0, last->loads,
			   last->stores);
}
