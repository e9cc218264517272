#include "session/registers.h"

struct pmu_access_op register_op(const struct register_at *at, uint64_t value)
{
	return (struct pmu_access_op){
	    .socket = at->socket,
	    .core = at->box->scope == PMU_SCOPE_CORE ? at->instance : 0,
	    .space = at->reg->space,
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

uint64_t register_steady(const struct pmu_register *reg)
{
	uint64_t bits = register_kept(reg);

	for (size_t i = 0; i < reg->field_count; i++) {
		const struct pmu_field *field = &reg->fields[i];

		if (field->role == PMU_FIELD_COUNT_LOW || field->role == PMU_FIELD_COUNT_HIGH ||
		    field->role == PMU_FIELD_OVERFLOW)
			bits &= ~pmu_mask(field->hi, field->lo);
	}
	return bits;
}

uint64_t register_fixed_bits(const struct pmu_register *ctl, unsigned counter)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < ctl->field_count; i++)
		if (ctl->fields[i].role != PMU_FIELD_NONE && ctl->fields[i].counter == counter)
			bits |= pmu_mask(ctl->fields[i].hi, ctl->fields[i].lo);
	return bits;
}

bool register_enables(const struct pmu_register *ctl, uint64_t value)
{
	uint64_t enable = pmu_field_bits(ctl, PMU_FIELD_ENABLE, 0);

	/* Without an enable bit, a counter that counts at no level is off (323602-001 table 3-4).
	 */
	if (!enable)
		enable = pmu_field_bits(ctl, PMU_FIELD_PRIVILEGE_LEVELS, 0);
	return value & enable;
}

/* Whether the bits say of each counter that it overflowed, and can be cleared while others count.
 */
static bool tells_overflows(const struct pmu_box *box, const struct pmu_register *status)
{
	uint64_t bit =
	    pmu_overflow_bit(box, status, false, 0) | pmu_overflow_bit(box, status, true, 0);

	return bit & register_clearing(status) ||
	       (bit && pmu_box_register(box, PMU_ROLE_GLOBAL_CLEAR, 0));
}

const struct pmu_register *status_of(const struct pmu_box *box)
{
	const struct pmu_register *status = pmu_box_register(box, PMU_ROLE_BOX_STATUS, 0);
	const struct pmu_register *global = pmu_box_register(box, PMU_ROLE_GLOBAL_STATUS, 0);

	if (status)
		return status;
	return global && tells_overflows(box, global) ? global : NULL;
}

const struct pmu_register *status_clear_of(const struct pmu_box *box)
{
	const struct pmu_register *clear = pmu_box_register(box, PMU_ROLE_GLOBAL_CLEAR, 0);

	return clear ? clear : status_of(box);
}
