/*
 * Every event of the catalog on every counter: it counts its own signal where the catalog allows
 * it, and nothing where it does not. Registers are taken from the catalog, so that a new box is
 * tested with its first line.
 */
#include <string.h>

#include "catalog/binding.h"
#include "fixture.h"

static struct fixture fixture;

static uint64_t field(const struct pmu_register *reg, const char *name, uint64_t value)
{
	const struct pmu_field *found = pmu_find_field(reg, name);

	if (!found) {
		assert_int_equal(value, 0);
		return 0;
	}
	return value << found->lo;
}

static void write_register(const struct pmu_box *box, const struct pmu_register *reg,
			   uint64_t value)
{
	assert_int_equal(pmon_write(fixture.pmon,
				    AT(0, (enum pmu_space)box->space,
				       pmu_register_address(box, reg, 0), reg->width),
				    &fixture.now, value),
			 0);
}

static uint64_t read_counter(const struct pmu_box *box, unsigned counter)
{
	const struct pmu_register *reg = pmu_box_register(box, PMU_ROLE_COUNTER, counter);
	uint64_t value;

	assert_int_equal(pmon_read(fixture.pmon,
				   AT(0, (enum pmu_space)box->space,
				      pmu_register_address(box, reg, 0), reg->width),
				   &fixture.now, &value),
			 0);
	return value;
}

static uint64_t mnemonic(const struct pmu_box *box, const char *field, const char *name)
{
	for (size_t i = 0; i < box->mnemonic_count; i++)
		if (!strcmp(box->mnemonics[i].field, field) &&
		    !strcmp(box->mnemonics[i].name, name))
			return box->mnemonics[i].value;
	return UINT64_MAX;
}

/*
 * What a filter field holds that lets a read of data pass: its opcode, neither non-coherent nor
 * isochronous; all ones in others.
 */
static uint64_t open_field(const struct pmu_box *box, const struct pmu_field *field)
{
	const uint64_t ones = pmu_mask(field->hi, field->lo) >> field->lo;
	uint64_t value = ones;

	if (!strcmp(field->name, "opc"))
		value = mnemonic(box, "opc", strcmp(box->name, "ha") ? "DRd" : "RdData");
	else if (!strcmp(field->name, "nc") || !strcmp(field->name, "isoc") ||
		 pmu_field_must(field) == PMU_MUST_WRITE_0)
		value = 0;
	return value & ones;
}

static void open_filters(const struct pmu_box *box)
{
	for (size_t i = 0; i < box->register_count; i++) {
		const struct pmu_register *reg = &box->registers[i];
		uint64_t value = 0;

		const struct pmu_field *records =
		    pmu_field_by_role(reg, PMU_FIELD_BRANCH_ENABLE, 0);

		/* Of what is recorded, what is counted is what is recorded. */
		if (records)
			write_register(box, reg, pmu_mask(records->hi, records->lo));
		if (reg->role != PMU_ROLE_FILTER)
			continue;
		for (size_t f = 0; f < reg->field_count; f++)
			value |= open_field(box, &reg->fields[f]) << reg->fields[f].lo;
		write_register(box, reg, value);
	}
}

/* In the control, what goes with a unit mask. */
static uint64_t implied_by(const struct pmu_umask *row)
{
	uint64_t value = 0;

	for (size_t i = 0; row && i < row->implied_count; i++)
		if (!row->implied[i].modifier->reg)
			value |= row->implied[i].value << row->implied[i].modifier->lo;
	return value;
}

/* @param row  NULL: the event has none */
static void program(const struct pmu_box *box, const struct pmu_event *event, unsigned counter,
		    const struct pmu_umask *row)
{
	const struct pmu_register *control = pmu_box_register(box, PMU_ROLE_COUNTER_CTL, counter);
	const unsigned umask = row ? row->value : event->umask;

	uint64_t value =
	    field(control, "ev_sel", event->code) | field(control, "ev_sel_ext", event->ext);

	if (box->scope == PMU_SCOPE_CORE)
		value |= implied_by(row);

	/* Counters of a core need a ring, and the core's own global control. */
	if (box->scope == PMU_SCOPE_CORE) {
		value |= field(control, "usr", 1);
		write_register(box, pmu_box_register(box, PMU_ROLE_GLOBAL_CTL, 0), 0xff);
	}

	/* Where there is no unit mask, what selects among cores has its upper two bits. */
	value |= pmu_find_field(control, "umask") ? field(control, "umask", umask)
						  : field(control, "occ_sel", umask >> 6);
	/* Some boxes want it twice; the others do not mind. */
	write_register(box, control, value);
	write_register(box, control, value | field(control, "en", 1));
}

static unsigned signal_of(const struct pmu_event *event, const struct pmu_umask *row)
{
	return event->by_umask && row ? row->signal : event->signal;
}

/* What @row names, as a signal that each of its conditions welcomes. */
static struct signal welcome(const struct pmu_event *event, const struct pmu_umask *row)
{
	const unsigned umask = row ? row->value : event->umask;
	struct signal signal = {
	    .id = (uint16_t)signal_of(event, row),
	    .duration = 7,
	    .time = 100,
	    .request = REQUEST_READ_DATA,
	    .address = pmu_mask(45, 6),
	};
	const struct signal_desc *desc = &signal_table[signal.id];
	const char *rank = strstr(event->name, "_CAS_RANK");

	if (desc->qualifier_count)
		signal.qualifiers = (uint32_t)pmu_mask(desc->qualifier_count - 1u, 0);
	if (rank) {
		signal.rank = (uint8_t)(rank[strlen("_CAS_RANK")] - '0');
		signal.bank = (uint8_t)(umask <= 16 ? umask & 0xf : (umask - 17) * 4);
	}
	return signal;
}

/* Qualifiers of the alternatives that @umask has; *some: there are any, with or without. */
static uint32_t alternatives(const struct pmu_event *event, unsigned umask, bool *some)
{
	uint32_t qualifiers = 0;

	*some = event->row_count == 0;
	for (size_t i = 0; i < event->row_count; i++) {
		const struct pmu_row *row = &event->rows[i];

		if (row->kind != ROW_ANY || (umask & row->care) != row->value)
			continue;
		*some = true;
		qualifiers |= row->qualifiers;
	}
	return qualifiers;
}

/*
 * How much one signal of 7 cycles, of 7 at once, or a number of 7 held to the end, adds by
 * cycle 1000.
 */
static uint64_t expected_count(const struct pmu_event *event)
{
	bool level = signal_table[event->signal].kind == SIGNAL_LEVEL;

	switch (event->measure) {
	case PMU_MEASURE_CLOCK:
		return 1000;
	case PMU_MEASURE_COUNT:
		return signal_table[event->signal].kind == SIGNAL_ACCUMULATOR || event->by_umask
			   ? 7
			   : 1;
	case PMU_MEASURE_OCCUPANCY:
		return level ? 7 * 900 : 7;
	case PMU_MEASURE_NONEMPTY:
		return level ? 900 : 7;
	}
	return 0;
}

/* Whether the counter counts what the row says under this or another name. */
static bool can_count(const struct pmu_box *box, const struct pmu_event *event, unsigned counter,
		      const struct pmu_umask *row)
{
	if (event->counters >> counter & 1)
		return true;
	for (size_t e = 0; row && event->by_umask && e < box->event_count; e++) {
		const struct pmu_event *other = &box->events[e];

		if (other->code != event->code || !(other->counters >> counter & 1))
			continue;
		for (size_t u = 0; u < other->umask_count; u++)
			if (other->umasks[u].value == row->value && other->umasks[u].signal &&
			    implied_by(&other->umasks[u]) == implied_by(row))
				return true;
	}
	return false;
}

static const struct pmu_pmu *tested;

static void check_event(const struct pmu_box *box, const struct pmu_event *event, unsigned counter,
			const struct pmu_umask *row)
{
	const unsigned umask = row ? row->value : event->umask;
	const bool can = can_count(box, event, counter, row);
	uint64_t expected = 0, counted;
	uint32_t named;
	bool some;

	fixture_up_single(&fixture, tested);
	open_filters(box);
	program(box, event, counter, row);
	named = alternatives(event, umask, &some);
	if (event->model != PMU_MODEL_ABSENT && can && some &&
	    !(event->by_umask && !signal_of(event, row))) {
		expected = expected_count(event);
		/* What holds by default holds in the 993 other cycles too. */
		if (event->measure == PMU_MEASURE_NONEMPTY &&
		    (named & signal_table[event->signal].default_qualifier))
			expected = 1000;
	}
	if (signal_of(event, row)) {
		struct signal signal = welcome(event, row);

		signal_emit(&fixture.port, signal);
	}
	for (int clock = 0; clock < PMON_CLOCKS; clock++)
		fixture.now.cycles[clock] = 1000;
	counted = read_counter(box, counter);
	if (counted != expected)
		fail_msg("%s.%s, umask %#x, counter %u: %llu, not %llu", box->name, event->name,
			 umask, counter, (unsigned long long)counted, (unsigned long long)expected);
	fixture_down(&fixture);
}

static void check_every_event(const char *name, unsigned least)
{
	const struct pmu_pmu *pmu = tested = pmu_find_pmu(name);
	unsigned checked = 0, modelled = 0;

	for (size_t b = 0; b < pmu->box_count; b++) {
		const struct pmu_box *box = &pmu->boxes[b];

		for (size_t e = 0; e < box->event_count; e++) {
			const struct pmu_event *event = &box->events[e];

			for (unsigned k = 0; k < box->counter_count; k++) {
				for (size_t u = 0; u < event->umask_count; u++, checked++)
					check_event(box, event, k, &event->umasks[u]);
				if (!event->umask_count)
					check_event(box, event, k, NULL), checked++;
			}
			modelled += event->model != PMU_MODEL_ABSENT;
		}
	}
	/* Fewer, and the catalog has lost its models. */
	assert_true(modelled >= least);
	print_message("%u combinations, %u events modelled\n", checked, modelled);
}

static void test_every_event(void **state UNUSED)
{
	check_every_event("xeon-e5v4", 55); /* CBo 7, HA 19, iMC 28, core 5 and the clocks */
	check_every_event("xeon-e5", 40);   /* CBo 9, HA 9, iMC 15, core 5, R2PCIe, R3QPI */
}

/* Codes that no event has: everything may be programmed, nothing counts. */
static void test_undefined_codes(void **state UNUSED)
{
	for (unsigned code = 0xD0; code < 0x100; code++) {
		fixture_up(&fixture);
		fixture_set_pci(&fixture, HA(0, PCI_CTL(0)), EN | EVENT(code, 0xff));
		fixture_span(&fixture, SIGNAL_HOME_REQUEST, 0, 0x3f, 10, 10);
		fixture_at(&fixture, 1000);
		assert_int_equal(fixture_pci(&fixture, HA(0, PCI_CTR(0))), 0);
		fixture_down(&fixture);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_every_event),
	    cmocka_unit_test(test_undefined_codes),
	};

	return cmocka_run_group_tests_name("pmon events", tests, NULL, NULL);
}
