#include "session/registers.h"

struct pmu_access_op register_op(const struct register_at *at, uint64_t value)
{
	return (struct pmu_access_op){
	    .socket = at->socket,
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

/*
 * The status field of a box has a bit a counter; where it is wider by the fixed counters, these
 * come first (334291-001 table 2-114: bit 0 is the fixed counter's).
 */
static unsigned fixed_status_bits(const struct pmu_field *ov, const struct pmu_box *box)
{
	unsigned width = ov->hi - ov->lo + 1u;

	return width > box->counter_count ? width - box->counter_count : 0;
}

uint64_t status_bit(const struct pmu_register *status, const struct pmu_box *box, unsigned counter)
{
	const struct pmu_field *ov = status ? pmu_find_field(status, "ov") : NULL;

	return ov ? UINT64_C(1) << (ov->lo + fixed_status_bits(ov, box) + counter) : 0;
}

uint64_t status_bit_fixed(const struct pmu_register *status, const struct pmu_box *box)
{
	const struct pmu_field *ov = status ? pmu_find_field(status, "ov") : NULL;

	return ov && fixed_status_bits(ov, box) ? UINT64_C(1) << ov->lo : 0;
}
