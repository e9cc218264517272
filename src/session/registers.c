#include "session/registers.h"

#include <stdio.h>
#include <string.h>

struct pmu_access_op register_op(const struct register_at *at, uint64_t value)
{
	return (struct pmu_access_op){
	    .socket = at->socket,
	    .core = at->box->scope == PMU_SCOPE_CORE ? at->instance : 0,
	    .space = at->box->space,
	    .width = at->reg->width,
	    .address = pmu_register_address(at->box, at->reg, at->instance),
	    .value = value,
	    .reg = at->reg->name,
	};
}

int register_read(struct pmu_bus *bus, struct pmu_ctx *ctx, const struct register_at *at,
		  uint64_t *value)
{
	struct pmu_access_op op = register_op(at, 0);
	int error = pmu_bus_read(bus, ctx, &op);

	*value = op.value;
	return error;
}

int register_write(struct pmu_bus *bus, struct pmu_ctx *ctx, const struct register_at *at,
		   uint64_t value)
{
	struct pmu_access_op op = register_op(at, value);

	return pmu_bus_write(bus, ctx, &op);
}

uint64_t register_must(const struct pmu_register *reg)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < reg->field_count; i++)
		if (reg->fields[i].must == PMU_MUST_WRITE_1)
			bits |= pmu_mask(reg->fields[i].hi, reg->fields[i].lo);
	return bits;
}

uint64_t register_kept(const struct pmu_register *reg)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < reg->field_count; i++) {
		const struct pmu_field *field = &reg->fields[i];

		if (field->access == PMU_ACCESS_RW || field->access == PMU_ACCESS_RWV ||
		    field->access == PMU_ACCESS_RWS)
			bits |= pmu_mask(field->hi, field->lo);
	}
	return bits;
}

uint64_t register_clearing(const struct pmu_register *reg)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < reg->field_count; i++)
		if (reg->fields[i].access == PMU_ACCESS_RW1C)
			bits |= pmu_mask(reg->fields[i].hi, reg->fields[i].lo);
	return bits;
}

uint64_t register_bits(const struct pmu_register *reg, const char *field)
{
	const struct pmu_field *found = pmu_find_field(reg, field);

	return found ? pmu_mask(found->hi, found->lo) : 0;
}

uint64_t register_numbered_bits(const struct pmu_register *reg, const char *name, unsigned i)
{
	char numbered[32];

	snprintf(numbered, sizeof(numbered), "%s%u", name, i);
	return register_bits(reg, numbered);
}

uint64_t register_bits_numbered(const struct pmu_register *reg, unsigned i)
{
	uint64_t bits = 0;
	char number[12];

	snprintf(number, sizeof(number), "%u", i);
	for (size_t f = 0; f < reg->field_count; f++) {
		const struct pmu_field *field = &reg->fields[f];
		const char *digits = field->name + strcspn(field->name, "0123456789");

		if (!strcmp(digits, number))
			bits |= pmu_mask(field->hi, field->lo);
	}
	return bits;
}

/*
 * The status field of a box has a bit a counter; where it is wider by the fixed counters, these
 * come first (334291-001 table 2-114: bit 0 is the fixed counter's).
 */
static unsigned fixed_status_bits(const struct pmu_field *ov, const struct pmu_box *box)
{
	unsigned width = ov->hi - ov->lo + 1u;

	return width > box->counter_count ? width - box->counter_count : 0;
}

/* 253669 has pmc and fixed for a core, pc and fc for the uncore of Nehalem. */
static uint64_t overflow_bit(const struct pmu_register *status, bool fixed, unsigned counter)
{
	static const char *const names[][2] = {{"ovf_pmc", "ovf_fixed"}, {"ovf_pc", "ovf_fc"}};
	uint64_t bit = 0;

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]) && !bit; i++)
		bit = register_numbered_bits(status, names[i][fixed], counter);
	return bit;
}

const struct pmu_register *status_of(const struct pmu_box *box)
{
	const struct pmu_register *status = pmu_box_register(box, PMU_ROLE_BOX_STATUS, 0);
	const struct pmu_register *global = pmu_box_register(box, PMU_ROLE_GLOBAL_STATUS, 0);

	if (status || !global)
		return status;
	/* That of the whole socket has no bits for single counters. */
	return overflow_bit(global, false, 0) ? global : NULL;
}

const struct pmu_register *status_clear_of(const struct pmu_box *box)
{
	const struct pmu_register *clear = pmu_box_register(box, PMU_ROLE_GLOBAL_CLEAR, 0);

	return clear ? clear : status_of(box);
}

uint64_t status_bit(const struct pmu_register *status, const struct pmu_box *box, unsigned counter)
{
	const struct pmu_field *ov = status ? pmu_find_field(status, "ov") : NULL;

	if (status && !ov)
		return overflow_bit(status, false, counter);
	return ov ? UINT64_C(1) << (ov->lo + fixed_status_bits(ov, box) + counter) : 0;
}

uint64_t status_bit_fixed(const struct pmu_register *status, const struct pmu_box *box,
			  unsigned counter)
{
	const struct pmu_field *ov = status ? pmu_find_field(status, "ov") : NULL;

	if (status && !ov)
		return overflow_bit(status, true, counter);
	return ov && fixed_status_bits(ov, box) ? UINT64_C(1) << ov->lo : 0;
}
