#include "catalog/address.h"
#include "pmon/access.h"
#include "pmon/ia64/strict.h"
#include "pmon/ia64/uncore_state.h"

#define LIVE_MODES 2u /* of transactions; in those above, nothing waits for the write */

/* Whether a write changes what takes effect with a write of the box's other filter. */
static bool needs_filter(const struct pmu_register *reg, uint64_t old, uint64_t value)
{
	const struct pmu_field *mode = pmu_field_by_role(reg, PMU_FIELD_FILTER_AFTER, 0);
	uint64_t bits = pmu_field_bits(reg, PMU_FIELD_FILTER_AFTER, 0) |
			pmu_field_bits(reg, PMU_FIELD_FILTER_AFTER, 1);

	return mode && (old & pmu_mask(mode->hi, mode->lo)) >> mode->lo < LIVE_MODES &&
	       (old ^ value) & bits;
}

static bool is_awaited(const struct uncore_awaited *awaited, const struct uncore_unit *at,
		       const struct pmu_register *reg)
{
	return reg->role == PMU_ROLE_FILTER && reg != awaited->after &&
	       at->socket == awaited->at.socket && at->box == awaited->at.box &&
	       at->instance == awaited->at.instance;
}

void pmon_uncore_check_pause(struct pmon_uncore *u, const struct pmon_ia64_strict *strict)
{
	struct uncore_awaited *awaited = &u->awaited;
	const struct pmon_ia64_checked at = {strict, awaited->at.socket, awaited->at.instance};

	if (awaited->after)
		pmon_ia64_report(&at, awaited->after, awaited->value,
				 "a field changes that needs a write of the box's other filter "
				 "right after",
				 strict->pmu->rules.filter_after);
	awaited->after = NULL;
}

static void check_order(struct pmon_uncore *u, const struct pmon_ia64_strict *strict,
			const struct uncore_unit *unit, const struct pmu_register *reg,
			uint64_t value)
{
	if (is_awaited(&u->awaited, unit, reg))
		u->awaited.after = NULL;
	pmon_uncore_check_pause(u, strict);
	if (needs_filter(reg, *uncore_slot(u, unit, reg), value))
		u->awaited = (struct uncore_awaited){reg, *unit, value};
}

static void check_global(const struct pmon_ia64_checked *at, const struct pmu_register *reg,
			 uint64_t value)
{
	if (value & pmu_field_bits(reg, PMU_FIELD_FREEZE_ENABLE, 0) &&
	    !(value & pmu_field_bits(reg, PMU_FIELD_OVERFLOW_ENABLE, 0)))
		pmon_ia64_report(at, reg, value,
				 "freezes of the socket are enabled and overflows of its boxes not",
				 at->strict->pmu->rules.global_freeze);
}

void pmon_uncore_check(struct pmon_uncore *u, const struct pmon_ia64_strict *strict,
		       unsigned socket, uint32_t address, uint64_t value)
{
	const struct pmu_address *found = catalog_address_find(u->pmu, PMU_SPACE_MMIO, address);
	const struct uncore_unit unit = {.socket = socket,
					 .box = found ? found->box : 0,
					 .instance = found ? found->instance : 0};
	const struct pmon_ia64_checked at = {strict, socket, unit.instance};
	const struct pmu_register *reg;

	if (!found || socket >= u->sockets)
		return;
	reg = &u->boxes[found->box].box->registers[found->reg];
	/* What was read may be written back. */
	if (reg->role != PMU_ROLE_COUNTER && reg->role != PMU_ROLE_SUB_COUNTER)
		pmon_ia64_check_reserved(&at, reg, value);
	if (reg == u->global_control)
		check_global(&at, reg, value);
	check_order(u, strict, &unit, reg, value);
}
