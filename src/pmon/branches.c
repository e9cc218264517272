#include "pmon/branches.h"

#include "catalog/find.h"
#include "catalog/select.h"
#include "pmon/describe.h"

/* The registers of a field's role, one after the other. @return how many; @first: the first one */
static unsigned find_row(const struct pmu_box *box, enum pmu_field_role role, uint8_t *first)
{
	unsigned count = 0;

	*first = PMON_NO_REGISTER;
	for (size_t r = 0; r < box->register_count; r++) {
		if (!pmu_field_by_role(&box->registers[r], role, 0))
			continue;
		if (!count)
			*first = (uint8_t)r;
		if (*first + count != r)
			return 0;
		count++;
	}
	return count;
}

bool pmon_describe_branches(struct pmon_branches *branches, const struct pmu_box *box)
{
	const struct pmu_register *registers = box->registers, *record;
	const struct pmu_field *wrong;

	branches->count = (uint8_t)find_row(box, PMU_FIELD_BRANCH_FROM, &branches->from);
	if (!branches->count)
		return branches->from == PMON_NO_REGISTER;
	if (find_row(box, PMU_FIELD_BRANCH_TO, &branches->to) != branches->count ||
	    find_row(box, PMU_FIELD_BRANCH_ENABLE, &branches->control) != 1 ||
	    find_row(box, PMU_FIELD_BRANCH_LEFT_OUT, &branches->select) != 1 ||
	    find_row(box, PMU_FIELD_BRANCH_LAST, &branches->last) != 1)
		return false;
	record = &registers[branches->from];
	branches->signal = registers[branches->last].signal;
	branches->enable = pmon_find_field(&registers[branches->control], PMU_FIELD_BRANCH_ENABLE);
	branches->freeze = pmon_find_field(&registers[branches->control], PMU_FIELD_BRANCH_FREEZE);
	branches->number = pmon_find_field(&registers[branches->last], PMU_FIELD_BRANCH_LAST);
	branches->address = pmon_find_field(record, PMU_FIELD_BRANCH_FROM).mask |
			    pmon_find_field(record, PMU_FIELD_BRANCH_SIGN).mask;
	wrong = pmu_field_by_role(record, PMU_FIELD_BRANCH_MISPREDICTED, 0);
	if (!wrong || !wrong->select_count)
		return false;
	branches->mispredicted = pmu_mask(wrong->hi, wrong->lo);
	branches->wrong = select_qualifiers(wrong->selects, 1);
	return true;
}

bool pmon_branches_on(const struct pmon *pmon, const struct pmon_unit *unit)
{
	const struct pmon_branches *branches = &pmon->core.branches;

	return branches->count && unit->regs[branches->control] & branches->enable.mask;
}

/* @return the signal's qualifiers of which none is recorded */
static uint32_t left_out(const struct pmu_register *select, uint64_t value)
{
	uint32_t qualifiers = 0;

	for (size_t i = 0; i < select->field_count; i++) {
		const struct pmu_field *field = &select->fields[i];

		for (size_t s = 0; s < field->select_count; s++)
			qualifiers |= select_qualifiers(&field->selects[s],
							(value & pmu_mask(field->hi, field->lo)) >>
							    field->lo);
	}
	return qualifiers;
}

bool pmon_branches_take(const struct pmon *pmon, struct pmon_unit *unit,
			const struct signal *signal)
{
	const struct pmon_branches *branches = &pmon->core.branches;
	const struct pmu_register *select = &pmon_box(pmon, unit)->box->registers[branches->select];
	uint64_t number;

	if (!pmon_branches_on(pmon, unit) ||
	    signal->qualifiers & left_out(select, unit->regs[branches->select]))
		return false;
	number = (pmon_field_get(branches->number, unit->regs[branches->last]) + signal->duration) %
		 branches->count;
	unit->regs[branches->last] = number << branches->number.lo;
	unit->regs[branches->from + number] =
	    (signal->address & branches->address) |
	    (signal->qualifiers & branches->wrong ? branches->mispredicted : 0);
	unit->regs[branches->to + number] = signal->target;
	return true;
}

bool pmon_branches_interrupt(const struct pmon *pmon, struct pmon_unit *unit)
{
	const struct pmon_branches *branches = &pmon->core.branches;

	if (!pmon_branches_on(pmon, unit) ||
	    !(unit->regs[branches->control] & branches->freeze.mask))
		return false;
	unit->regs[branches->control] &= ~branches->enable.mask;
	return true;
}
