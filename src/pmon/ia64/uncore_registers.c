/* Registers, by their addresses. */
#include "catalog/address.h"
#include "pmon/ia64/uncore_state.h"

static int find(const struct pmon_uncore *u, uint32_t address, struct uncore_unit *at,
		const struct pmu_register **reg)
{
	const struct pmu_address *found = catalog_address_find(u->pmu, PMU_SPACE_MMIO, address);

	if (!found || at->socket >= u->sockets)
		return PMU_E_UNKNOWN;
	at->box = found->box;
	at->instance = found->instance;
	*reg = &u->boxes[at->box].box->registers[found->reg];
	return 0;
}

static bool is_of_counter(const struct pmu_register *reg)
{
	return reg->role == PMU_ROLE_COUNTER || reg->role == PMU_ROLE_COUNTER_CTL;
}

/* Of a count in two registers: where each part's lowest bit is in the count. */
static const struct {
	enum pmu_field_role role;
	bool high;
} parts[] = {{PMU_FIELD_COUNT, false}, {PMU_FIELD_COUNT_LOW, false}, {PMU_FIELD_COUNT_HIGH, true}};

static unsigned shift_of(const struct uncore_box *b, const struct pmu_field *field, bool high)
{
	return high ? b->box->counter_width - (field->hi - field->lo + 1u) : 0;
}

static uint64_t with_count(const struct uncore_box *b, const struct pmu_register *reg,
			   uint64_t count, uint64_t value)
{
	for (unsigned p = 0; p < 3; p++) {
		const struct pmu_field *field = pmu_field_by_role(reg, parts[p].role, 0);
		uint64_t mask = field ? pmu_mask(field->hi, field->lo) : 0;

		if (field)
			value = (value & ~mask) |
				(count >> shift_of(b, field, parts[p].high) << field->lo & mask);
	}
	return value;
}

static uint64_t count_written(const struct uncore_box *b, const struct pmu_register *reg,
			      uint64_t count, uint64_t value)
{
	for (unsigned p = 0; p < 3; p++) {
		const struct pmu_field *field = pmu_field_by_role(reg, parts[p].role, 0);
		unsigned shift = field ? shift_of(b, field, parts[p].high) : 0;
		uint64_t mask = field ? pmu_mask(field->hi, field->lo) : 0;

		if (field)
			count = (count & ~(mask >> field->lo << shift)) |
				(value & mask) >> field->lo << shift;
	}
	return count;
}

int pmon_uncore_read(struct pmon_uncore *u, unsigned socket, uint32_t address, uint64_t now,
		     uint64_t *value)
{
	struct uncore_unit at = {.socket = socket};
	const struct pmu_register *reg;
	const struct uncore_box *b;
	int error = find(u, address, &at, &reg);

	if (error)
		return error;
	uncore_settle(u, now);
	b = uncore_box(u, &at);
	*value = *uncore_slot(u, &at, reg);
	if (is_of_counter(reg)) {
		struct uncore_counter *c = uncore_counter(u, &at, reg->index);

		uncore_catch_up_counter(c, now);
		*value = with_count(b, reg, c->value, *value);
	}
	if (reg == b->control || reg == b->status) {
		const struct pmu_field *field = pmu_field_by_role(reg, PMU_FIELD_FROZEN, 0);

		if (!field)
			field = pmu_field_by_role(reg, PMU_FIELD_FREEZE, 0);
		if (field && uncore_is_frozen(u, &at))
			*value |= pmu_mask(field->hi, field->lo);
	}
	return 0;
}

static uint64_t kept(const struct pmu_register *reg, uint64_t old, uint64_t value)
{
	uint64_t stored = 0, cleared = 0;

	if (reg->role == PMU_ROLE_CAPTURE)
		value = 0; /* its bits are read-only, or any write clears them */
	for (size_t f = 0; f < reg->field_count; f++) {
		const struct pmu_field *field = &reg->fields[f];
		uint64_t mask = pmu_mask(field->hi, field->lo);
		bool command = field->role == PMU_FIELD_FREEZE &&
			       reg->role != PMU_ROLE_GLOBAL_CTL &&
			       reg->role != PMU_ROLE_COUNTER_CTL;

		if (field->access == PMU_ACCESS_RW1C)
			cleared |= mask;
		else if (!command &&
			 (field->access == PMU_ACCESS_RW || field->access == PMU_ACCESS_RWV ||
			  field->access == PMU_ACCESS_RWS))
			stored |= mask;
	}
	return ((old & ~stored) | (value & stored)) & ~(value & cleared);
}

static void clear_counters(struct pmon_uncore *u, const struct uncore_unit *of, bool overflows)
{
	const struct uncore_box *b = uncore_box(u, of);
	struct uncore_unit at = *of;

	for (at.instance = 0; at.instance < b->box->instance_count; at.instance++)
		for (unsigned i = 0; i < counters_at(u, &at); i++) {
			uint64_t bit, *reg = uncore_overflow_bit(u, &at, i, &bit);

			if (b->whole[at.instance] != b->whole[of->instance])
				break;
			uncore_counter(u, &at, i)->value = uncore_counter(u, &at, i)->rest = 0;
			uncore_counter(u, &at, i)->stopped = false;
			if (overflows)
				*reg &= ~bit;
		}
}

static void write_global(struct pmon_uncore *u, const struct uncore_unit *at, uint64_t old,
			 uint64_t value)
{
	uint64_t risen = value & ~old;

	if (risen & pmu_field_bits(u->global_control, PMU_FIELD_FREEZE, 0))
		uncore_freeze_socket(u, at->socket, true);
	if (risen & pmu_field_bits(u->global_control, PMU_FIELD_UNFREEZE, 0))
		uncore_freeze_socket(u, at->socket, false);
}

/* A control or status that freezes its box; where it has no bit for the end of that, a 0 ends it.
 */
static void write_freeze(struct pmon_uncore *u, const struct uncore_unit *at,
			 const struct pmu_register *reg, uint64_t value)
{
	uint64_t freeze = pmu_field_bits(reg, PMU_FIELD_FREEZE, 0);
	uint64_t unfreeze = pmu_field_bits(reg, PMU_FIELD_UNFREEZE, 0);
	bool *frozen = &u->frozen[at->socket][at->box][uncore_box(u, at)->whole[at->instance]];

	if (freeze && (!unfreeze || value & freeze))
		*frozen = value & freeze;
	if (value & unfreeze)
		*frozen = false;
	if (value & pmu_field_bits(reg, PMU_FIELD_RESET_COUNTERS, 0))
		clear_counters(u, at, false);
}

/* A counter that overflowed before it was to freeze the box for that does so now. */
static void freeze_late(struct pmon_uncore *u, const struct uncore_unit *at,
			const struct pmu_register *reg, uint64_t old)
{
	const struct pmu_field *field = pmu_field_by_role(reg, PMU_FIELD_OVERFLOW_FREEZE, 0);
	uint64_t risen = field ? *uncore_slot(u, at, reg) & ~old : 0;

	for (unsigned i = 0; i < counters_at(u, at); i++) {
		uint64_t bit, *status = uncore_overflow_bit(u, at, i, &bit);

		if (field && risen >> (field->lo + i) & 1 && *status & bit) {
			uncore_freeze_box(u, at);
			uncore_tell_global(u, at, true);
		}
	}
}

/* A write that is for the low part of the count changes nothing else. */
static bool write_counter(struct pmon_uncore *u, const struct uncore_unit *at,
			  const struct pmu_register *reg, uint64_t value)
{
	const struct uncore_box *b = uncore_box(u, at);
	struct uncore_counter *c = uncore_counter(u, at, reg->index);
	uint64_t gate = pmu_field_bits(reg, PMU_FIELD_COUNT_LOW_WRITE, 0);

	if (!gate || value & gate)
		c->value = count_written(b, reg, c->value, value);
	if (value & pmu_field_bits(reg, PMU_FIELD_RESET_COUNTERS, 0) && !reg->index)
		clear_counters(u, at, true);
	c->stopped = false;
	return value & gate;
}

static void clear_live_count(struct pmon_uncore *u, const struct uncore_unit *at)
{
	const struct pmu_box *box = uncore_box(u, at)->box;

	for (size_t r = 0; r < box->register_count; r++)
		*uncore_slot(u, at, &box->registers[r]) &=
		    ~pmu_field_bits(&box->registers[r], PMU_FIELD_LIVE_COUNT, 0);
}

static void store(struct pmon_uncore *u, const struct uncore_unit *at,
		  const struct pmu_register *reg, uint64_t now, uint64_t value)
{
	uint64_t *slot = uncore_slot(u, at, reg), old = *slot;

	if (is_of_counter(reg) && write_counter(u, at, reg, value))
		return;
	*slot = kept(reg, old, value);
	if (reg == u->global_control)
		write_global(u, at, old, value);
	else if (pmu_field_by_role(reg, PMU_FIELD_LIVE_FILTER, 0))
		clear_live_count(u, at);
	else if (reg->role == PMU_ROLE_CAPTURE_CTL)
		uncore_qear_written(u, at, now);
	else if (reg->role == PMU_ROLE_BOX_CTL || reg->role == PMU_ROLE_BOX_STATUS) {
		write_freeze(u, at, reg, value);
		freeze_late(u, at, reg, old);
	}
}

int pmon_uncore_write(struct pmon_uncore *u, unsigned socket, uint32_t address, uint64_t now,
		      uint64_t value)
{
	struct uncore_unit at = {.socket = socket};
	const struct pmu_register *reg;
	int error = find(u, address, &at, &reg);

	if (error)
		return error;
	uncore_settle(u, now);
	for (unsigned i = 0; i < counters_at(u, &at); i++)
		uncore_catch_up_counter(uncore_counter(u, &at, i), now);
	store(u, &at, reg, now, value);
	if (uncore_bits(u, &at, uncore_box(u, &at)->control, PMU_FIELD_HOLD_COUNTERS))
		for (unsigned a = 0; a < uncore_box(u, &at)->accumulator_count; a++)
			*uncore_slot(u, &at, uncore_box(u, &at)->accumulators[a].reg) &=
			    ~uncore_box(u, &at)->accumulators[a].mask;
	uncore_configure(u, socket, now);
	return 0;
}
