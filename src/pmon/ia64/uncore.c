#include "pmon/ia64/uncore.h"

#include <string.h>

#include "base/error.h"
#include "catalog/address.h"
#include "catalog/signal.h"
#include "pmon/ia64/uncore_state.h"

static uint8_t first_at(const struct pmu_box *box, const struct pmu_register *reg,
			unsigned instance)
{
	uint8_t first = 0;

	while (reg &&
	       pmu_register_address(box, reg, first) != pmu_register_address(box, reg, instance))
		first++;
	return reg ? first : (uint8_t)instance;
}

static unsigned find_accumulators(const struct pmu_box *box, struct accumulator *found)
{
	unsigned count = 0;

	for (size_t r = 0; r < box->register_count; r++)
		for (size_t f = 0; f < box->registers[r].field_count; f++) {
			const struct pmu_field *field = &box->registers[r].fields[f];

			if (field->role == PMU_FIELD_ACCUMULATOR && count < UNCORE_ACCUMULATORS)
				found[count++] =
				    (struct accumulator){.code = field->counter,
							 .reg = &box->registers[r],
							 .lo = field->lo,
							 .mask = pmu_mask(field->hi, field->lo)};
		}
	return count;
}

static const struct pmu_register *find_watermark(const struct pmu_box *box)
{
	for (size_t r = 0; r < box->register_count; r++)
		if (pmu_field_by_role(&box->registers[r], PMU_FIELD_WATERMARK, 0))
			return &box->registers[r];
	return NULL;
}

static void describe(struct uncore_box *b, const struct pmu_box *box)
{
	const struct pmu_register *counter = pmu_box_register(box, PMU_ROLE_COUNTER, 0);

	b->box = box;
	b->control = pmu_box_register(box, PMU_ROLE_BOX_CTL, 0);
	b->status = pmu_box_register(box, PMU_ROLE_BOX_STATUS, 0);
	b->watermark = find_watermark(box);
	for (unsigned i = 0; i < box->instance_count; i++) {
		b->seat[i] = first_at(box, counter, i);
		b->whole[i] = first_at(box, b->control ? b->control : b->status, i);
	}
	b->accumulator_count = find_accumulators(box, b->accumulators);
}

static bool is_uncore(const struct pmu_box *box)
{
	return box->space == PMU_SPACE_MMIO;
}

static size_t slots_of(const struct pmu_box *box)
{
	return is_uncore(box) ? box->instance_count * box->register_count : 0;
}

static size_t counters_of(const struct pmu_box *box)
{
	struct accumulator accumulators[UNCORE_ACCUMULATORS];

	return is_uncore(box) ? box->instance_count *
				    (box->counter_count + find_accumulators(box, accumulators))
			      : 0;
}

size_t pmon_uncore_size(const struct pmu_pmu *pmu, unsigned sockets)
{
	size_t slots = 0, counters = 0;

	for (size_t b = 0; b < pmu->box_count; b++) {
		slots += slots_of(&pmu->boxes[b]);
		counters += counters_of(&pmu->boxes[b]);
	}
	return sizeof(struct pmon_uncore) +
	       sockets * (slots * sizeof(uint64_t) + counters * sizeof(struct uncore_counter)) +
	       slots * sizeof(uint16_t);
}

static void map_registers(struct pmon_uncore *u, const struct uncore_box *b)
{
	for (unsigned i = 0; i < b->box->instance_count; i++)
		for (unsigned r = 0; r < b->box->register_count; r++) {
			size_t first = first_at(b->box, &b->box->registers[r], i);

			u->map[b->first_slot + i * b->box->register_count + r] =
			    (uint16_t)(b->first_slot + first * b->box->register_count + r);
		}
}

static void reset_registers(struct pmon_uncore *u, unsigned box)
{
	struct uncore_unit at = {.box = box};
	const struct pmu_box *desc = u->boxes[box].box;

	map_registers(u, &u->boxes[box]);
	for (at.socket = 0; at.socket < u->sockets; at.socket++)
		for (at.instance = 0; at.instance < desc->instance_count; at.instance++)
			for (size_t r = 0; r < desc->register_count; r++)
				*uncore_slot(u, &at, &desc->registers[r]) =
				    desc->registers[r].reset;
}

static int add_box(struct pmon_uncore *u, struct pmu_ctx *ctx, unsigned number)
{
	const struct pmu_box *box = &u->pmu->boxes[number];
	struct uncore_box *b = &u->boxes[number];

	if (!is_uncore(box))
		return 0;
	if (box->instance_count > UNCORE_INSTANCES)
		return error_set(ctx, PMU_E_UNSUPPORTED, "the emulated PMU does not fit box %s",
				 box->name);
	b->first_slot = (uint16_t)u->slots;
	b->first_counter = (uint16_t)u->counters;
	u->slots += (unsigned)slots_of(box);
	u->counters += (unsigned)counters_of(box);
	describe(b, box);
	if (pmu_box_register(box, PMU_ROLE_CAPTURE_CTL, 0))
		u->requests = number;
	if (pmu_box_register(box, PMU_ROLE_GLOBAL_CTL, 0)) {
		u->global = b;
		u->global_control = pmu_box_register(box, PMU_ROLE_GLOBAL_CTL, 0);
	}
	return 0;
}

int pmon_uncore_init(void *memory, struct pmu_ctx *ctx, const struct pmu_pmu *pmu, unsigned sockets)
{
	struct pmon_uncore *u = memory;
	int error = 0;

	u->pmu = pmu;
	u->sockets = sockets;
	u->deadline = UINT64_MAX;
	if (pmu->box_count > UNCORE_BOXES || sockets > UNCORE_SOCKETS)
		return error_set(ctx, PMU_E_UNSUPPORTED, "the emulated PMU does not fit %s",
				 pmu->name);
	for (unsigned b = 0; b < pmu->box_count && !error; b++)
		error = add_box(u, ctx, b);
	u->all = (struct uncore_counter *)(u + 1);
	u->regs = (uint64_t *)(u->all + (size_t)sockets * u->counters);
	u->map = (uint16_t *)(u->regs + (size_t)sockets * u->slots);
	for (unsigned b = 0; b < pmu->box_count && !error; b++)
		if (u->boxes[b].box)
			reset_registers(u, b);
	return error;
}

const uint8_t *pmon_uncore_enabled(const struct pmon_uncore *u)
{
	return u->enabled;
}

uint64_t pmon_uncore_interrupts(const struct pmon_uncore *u, unsigned socket)
{
	return u->interrupts[socket];
}
