/* Every event and unit mask of the catalog: named, printed, encoded and decoded. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "catalog/entries.h"
#include "pmulab/event.h"
#include "support/cmocka.h"
#include "support/context.h"

#define TEXT_MAX 512

/* What selections are made of, for one event with none or one of its unit masks. */
struct subject {
	struct pmu_ctx *ctx;
	const struct pmu_box *box;
	const struct pmu_event *event;
	const struct pmu_umask *umask; /* NULL: none */
};

static bool holds(uint64_t set, const struct pmu_modifier *modifier)
{
	return modifier && set >> modifier->number & 1;
}

/*
 * A unit mask that has to be named too: NID of look-ups and victims qualifies the others
 * (334291-001 tables 2-21, 2-22), and some count only with one of another group.
 */
static const struct pmu_umask *company_of(const struct subject *subject)
{
	const struct pmu_event *event = subject->event;
	const struct pmu_umask *umask = subject->umask;

	if (!umask)
		return NULL;
	if (umask->narrows)
		return &event->umasks[0];
	for (size_t i = 0; *umask->needs && i < event->umask_count; i++)
		if (!strcmp(event->umasks[i].group, umask->needs))
			return &event->umasks[i];
	return NULL;
}

/* Writes box.EVENT.UMASK:filter=1..., with the filters that the unit mask needs. */
static void write_expression(const struct subject *subject, char *text)
{
	const struct pmu_umask *company = company_of(subject);
	size_t length = (size_t)sprintf(text, "%s/%s.%s", subject->box->pmu, subject->box->name,
					subject->event->name);

	if (subject->umask)
		length += (size_t)sprintf(text + length, ".%s", subject->umask->name);
	if (company)
		length += (size_t)sprintf(text + length, "+%s", company->name);
	for (size_t i = 0; !subject->umask && i < subject->box->modifier_count; i++)
		if (subject->box->modifiers[i].set &&
		    holds(subject->event->filters, &subject->box->modifiers[i]))
			length += (size_t)sprintf(text + length, ":%s=1",
						  subject->box->modifiers[i].name);
	if (subject->event->needs)
		length += (size_t)sprintf(
		    text + length, ":%s=1",
		    subject->box->modifiers[__builtin_ctzll(subject->event->needs)].name);
	for (size_t i = 0; subject->umask && i < subject->box->modifier_count; i++)
		if (holds(subject->umask->filters, &subject->box->modifiers[i]))
			length += (size_t)sprintf(text + length, ":%s=1",
						  subject->box->modifiers[i].name);
}

static void assert_same(const struct pmu_selection *a, const struct pmu_selection *b)
{
	assert_ptr_equal(a->pmu, b->pmu);
	assert_ptr_equal(a->box, b->box);
	assert_ptr_equal(a->event, b->event);
	assert_int_equal(a->one_instance, b->one_instance);
	assert_int_equal(a->instance, b->instance);
	assert_int_equal(a->umask, b->umask);
	assert_int_equal(a->fixed, b->fixed);
	assert_int_equal(a->setting_count, b->setting_count);
	for (size_t i = 0; i < a->setting_count; i++) {
		assert_ptr_equal(a->settings[i].modifier, b->settings[i].modifier);
		assert_int_equal(a->settings[i].value, b->settings[i].value);
		assert_int_equal(a->settings[i].nodes, b->settings[i].nodes);
	}
}

static void assert_prints_back(struct pmu_ctx *ctx, const struct pmu_selection *selection)
{
	struct pmu_selection again;
	char text[TEXT_MAX], small[4];
	int length = pmu_event_print(selection, text, sizeof(text));

	assert_int_equal(strlen(text), length);
	assert_int_equal(pmu_event_print(selection, NULL, 0), length);
	assert_int_equal(pmu_event_print(selection, small, sizeof(small)), length);
	assert_memory_equal(small, text, sizeof(small) - 1);
	assert_int_equal(pmu_event_parse(ctx, selection->pmu, text, &again), 0);
	assert_same(selection, &again);
}

/* Where a counter control has event and unit mask, and its bits that make it count. */
struct layout {
	const char *pmu, *box; /* box NULL: any other */
	unsigned code, umask;
	uint64_t enabled;
	uint64_t chosen; /* set unless the expression chooses among them */
};

static const struct layout layouts[] = {
    /* 334291-001 tables 2-7, 2-16, 2-64, 2-115, 2-159: ev_sel 7:0, umask 15:8, en 22; occ_sel 15:14
       stands where the upper bits of a unit mask do */
    {"xeon-e5v4", "core", 0, 8, 1 << 22, 3 << 16}, /* 325384: as nehalem's */
    {"xeon-e5v4", NULL, 0, 8, 1 << 22, 0},
    /* 327043-001 tables 2-2, 2-35, 2-61: the same */
    {"xeon-e5", "core", 0, 8, 1 << 22, 3 << 16},
    {"xeon-e5", NULL, 0, 8, 1 << 22, 0},
    /* 253669 §18.2.1.1, §18.8.2.2: usr 16, os 17, en 22 */
    {"nehalem", "core", 0, 8, 1 << 22, 3 << 16},
    {"nehalem", NULL, 0, 8, 1 << 22, 0},
    /* 323602-001 tables 3-4, 3-5: es 15:8, umask 19:16; all states, ism 2, all privilege levels */
    {"itanium-9300", "core", 8, 16, 0x7a00000f, 0},
    /* 323602-001 tables 5-27, 5-47: ev_sel 18:16, en 22; inc_sel 9:4, en 0. Unit masks stand in
       other registers, as all that selects a B-Box event */
    {"itanium-9300", "rbox", 16, 0, 1 << 22, 0},
    {"itanium-9300", "zbox", 4, 0, 1, 0},
    {"itanium-9300", "bbox", 0, 0, 0, 0},
};

static const struct layout *layout_of(const struct pmu_box *box)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (!strcmp(layouts[i].pmu, box->pmu) &&
		    (!layouts[i].box || !strcmp(layouts[i].box, box->name)))
			return &layouts[i];
	fail_msg("no layout of %s/%s", box->pmu, box->name);
	return NULL;
}

static int encode(const struct subject *subject, const struct pmu_selection *selection,
		  unsigned instance, unsigned counter, struct pmu_register_value *values)
{
	struct pmu_write writes[PMU_EVENT_WRITES];
	int count = pmu_event_encode(subject->ctx, selection, instance, counter, writes);

	for (int i = 0; i < count; i++)
		values[i] = (struct pmu_register_value){.box = subject->box,
							.instance = instance,
							.reg = writes[i].reg,
							.value = writes[i].value};
	return count;
}

/*
 * Of two names for one encoding, decoding finds one that sets no more: IA64_INST_RETIRED is channel
 * 0's, CMD_ALL with a dram_cmd is the unit mask of that command.
 */
static void assert_decoded(const struct subject *subject, const struct pmu_selection *selection,
			   unsigned instance, unsigned counter)
{
	struct pmu_register_value values[PMU_EVENT_WRITES], again[PMU_EVENT_WRITES];
	struct pmu_selection decoded;
	char text[TEXT_MAX], found[TEXT_MAX];
	int count = encode(subject, selection, instance, counter, values);

	assert_true(count > 0);
	pmu_event_print(selection, text, sizeof(text));
	if (pmu_event_decode_dump(subject->ctx, subject->box, instance, counter, values,
				  (size_t)count, &decoded))
		fail_msg("%s: %s", text, pmu_message(subject->ctx));
	pmu_event_print(&decoded, found, sizeof(found));
	if (!strcmp(found, text)) {
		assert_same(selection, &decoded);
		return;
	}
	assert_ptr_equal(decoded.pmu, selection->pmu);
	if (decoded.setting_count > selection->setting_count)
		fail_msg("%s is decoded as %s", text, found);
	assert_int_equal(encode(subject, &decoded, instance, counter, again), count);
	for (int i = 0; i < count; i++) {
		if (values[i].reg != again[i].reg || values[i].value != again[i].value)
			fail_msg("%s is decoded as %s", text, found);
	}
}

/* On each counter, in the first instance and the last one. */
static void assert_round_trip(const struct subject *subject, const struct pmu_selection *selection)
{
	unsigned last = (unsigned)subject->box->instance_count - 1;

	for (unsigned counter = 0; counter < subject->box->counter_count; counter++) {
		if (!(subject->event->counters >> counter & 1))
			continue;
		assert_decoded(subject, selection, 0, counter);
		assert_decoded(subject, selection, last, counter);
	}
}

/* 253669 §18.2.1.1: what a unit mask gives beside itself. */
static uint64_t given_bits(const struct pmu_umask *umask, uint64_t chosen)
{
	static const struct {
		const char *name;
		unsigned lo;
	} bits[] = {{"usr", 16}, {"os", 17}, {"edge", 18}, {"any", 21}, {"inv", 23}, {"cmask", 24}};
	uint64_t value = 0;

	for (size_t i = 0; umask && i < umask->implied_count; i++) {
		for (size_t j = 0; j < sizeof(bits) / sizeof(bits[0]); j++) {
			if (strcmp(umask->implied[i].modifier->name, bits[j].name) != 0)
				continue;
			value |= umask->implied[i].value << bits[j].lo;
			if (chosen >> bits[j].lo & 1)
				chosen = 0;
		}
	}
	return value | chosen;
}

/* 323602-001 tables 5-10, 5-11: counter n has the bits from 6n up of one register, 1 + n of
 * another. */
static void assert_selected_by_fields(const struct subject *subject, const struct pmu_write *writes,
				      int count)
{
	unsigned counter = (unsigned)__builtin_ctz(subject->event->counters);

	assert_true(count >= 2);
	assert_int_equal(writes[count - 2].reg->role, PMU_ROLE_SELECT);
	assert_int_equal(writes[count - 2].value, (uint64_t)subject->event->code << 6 * counter);
	assert_int_equal(writes[count - 1].reg->role, PMU_ROLE_BOX_CTL);
	assert_int_equal(writes[count - 1].value & 0x1fe, 2u << counter);
}

/* Some controls are written disabled first. */
static void assert_control(const struct subject *subject, const struct pmu_selection *selection)
{
	const struct pmu_umask *company = company_of(subject);
	const struct layout *layout = layout_of(subject->box);
	uint64_t expected = (uint64_t)subject->event->code << layout->code;
	unsigned counter = (unsigned)__builtin_ctz(subject->event->counters);
	struct pmu_write writes[PMU_EVENT_WRITES];
	int count;

	expected |= given_bits(subject->umask, layout->chosen);
	if (!subject->umask || !subject->umask->fixed_field_count)
		expected |=
		    (uint64_t)(subject->umask ? subject->umask->value : subject->event->umask)
		    << layout->umask;
	if (company)
		expected |= (uint64_t)company->value << layout->umask;
	if (subject->event->ext)
		expected |= 1 << 21;
	assert_int_equal(pmu_event_control(selection), expected);

	count = pmu_event_encode(subject->ctx, selection, 0, counter, writes);
	assert_true(count >= 1);
	if (!pmu_box_register(subject->box, PMU_ROLE_COUNTER_CTL, 0)) {
		assert_selected_by_fields(subject, writes, count);
		return;
	}
	assert_int_equal(writes[count - 1].value, expected | layout->enabled);
	count -= 1 + !!(subject->box->quirks & PMU_QUIRK_CONTROL_TWICE);
	if (subject->box->quirks & PMU_QUIRK_CONTROL_TWICE)
		assert_int_equal(writes[count].value, expected);
	for (int i = 0; i < count; i++)
		assert_true(writes[i].reg->role == PMU_ROLE_FILTER ||
			    writes[i].reg->role == PMU_ROLE_MATCH ||
			    writes[i].reg->role == PMU_ROLE_CAPTURE_CTL);
}

/* Without its box, an event is found, or it is refused because others have the name too. */
static void assert_found_without_box(const struct subject *subject, const char *text,
				     const struct pmu_selection *selection)
{
	const struct pmu_pmu *pmu = selection->pmu;
	struct pmu_selection found;
	size_t owners = 0;
	int code = pmu_event_parse(subject->ctx, pmu, strchr(text, '.') + 1, &found);

	for (size_t i = 0; i < pmu->box_count; i++)
		owners += pmu_find_event(&pmu->boxes[i], subject->event->name) != NULL;
	assert_int_equal(code, owners > 1 ? PMU_E_CONFLICT : 0);
	if (!code)
		assert_same(selection, &found);
}

static void check_subject(const struct subject *subject)
{
	struct pmu_selection selection;
	char text[TEXT_MAX];

	write_expression(subject, text);
	if (pmu_event_parse(subject->ctx, NULL, text, &selection))
		fail_msg("%s", pmu_message(subject->ctx));
	assert_ptr_equal(selection.box, subject->box);
	assert_ptr_equal(selection.event, subject->event);
	assert_false(selection.one_instance);
	assert_prints_back(subject->ctx, &selection);
	assert_control(subject, &selection);
	assert_round_trip(subject, &selection);

	assert_found_without_box(subject, text, &selection);
	selection.one_instance = true;
	selection.instance = (unsigned)subject->box->instance_count - 1;
	assert_prints_back(subject->ctx, &selection);
}

static void check_event(struct pmu_ctx *ctx, const struct pmu_box *box,
			const struct pmu_event *event)
{
	struct subject subject = {.ctx = ctx, .box = box, .event = event};

	if (event->umask_count == 0)
		check_subject(&subject);
	for (size_t i = 0; i < event->umask_count; i++) {
		subject.umask = &event->umasks[i];
		check_subject(&subject);
	}
}

static void test_whole_catalog(void **state)
{
	const struct pmu_pmu *pmus;
	size_t count, events = 0, umasks = 0;

	pmus = catalog_pmus(&count);
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < pmus[i].box_count; j++) {
			const struct pmu_box *box = &pmus[i].boxes[j];

			for (size_t k = 0; k < box->event_count; k++) {
				check_event(*state, box, &box->events[k]);
				umasks += box->events[k].umask_count;
			}
			events += box->event_count;
		}
	}
	print_message("%zu events, %zu unit masks\n", events, umasks);
	/* 334291-001 §2.2.4, §2.3.4, §2.5.3, §2.6.5: 3 UBox, 28 CBo, 50 HA and 43 iMC events. */
	assert_true(events >= 124);
}

static bool is_pair_refused(const struct pmu_event *event, const struct pmu_umask *a,
			    const struct pmu_umask *b)
{
	return event->combine == PMU_COMBINE_ONE || a->alone || b->alone ||
	       (event->combine == PMU_COMBINE_GROUP && strcmp(a->group, b->group) != 0);
}

static bool is_pair_lonely(const struct pmu_umask *a, const struct pmu_umask *b)
{
	return (*a->needs && strcmp(a->needs, b->group) != 0) ||
	       (*b->needs && strcmp(b->needs, a->group) != 0);
}

/* Every pair of unit masks adds up to the bits of both or is refused. */
static void check_pair(struct pmu_ctx *ctx, const struct pmu_box *box,
		       const struct pmu_event *event, const struct pmu_umask *a,
		       const struct pmu_umask *b)
{
	struct pmu_selection selection;
	char text[TEXT_MAX];
	size_t length = (size_t)sprintf(text, "%s/%s.%s.%s+%s", box->pmu, box->name, event->name,
					a->name, b->name);
	int code;

	for (size_t i = 0; i < box->modifier_count; i++)
		if (holds(a->filters | b->filters, &box->modifiers[i]))
			length += (size_t)sprintf(text + length, ":%s=1", box->modifiers[i].name);
	code = pmu_event_parse(ctx, NULL, text, &selection);
	if (is_pair_refused(event, a, b)) {
		assert_int_equal(code, PMU_E_CONFLICT);
		return;
	}
	if (is_pair_lonely(a, b)) {
		assert_int_equal(code, PMU_E_SYNTAX);
		return;
	}
	if (code)
		fail_msg("%s", pmu_message(ctx));
	assert_int_equal(selection.umask, a->value | b->value);
	assert_prints_back(ctx, &selection);
}

static void test_pairs(void **state)
{
	const struct pmu_pmu *pmus;
	size_t count;

	pmus = catalog_pmus(&count);
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < pmus[i].box_count; j++) {
			const struct pmu_box *box = &pmus[i].boxes[j];

			for (size_t k = 0; k < box->event_count; k++)
				for (size_t b = 1; b < box->events[k].umask_count; b++)
					for (size_t a = 0; a < b; a++)
						check_pair(*state, box, &box->events[k],
							   &box->events[k].umasks[a],
							   &box->events[k].umasks[b]);
		}
	}
}

struct decoded_fields {
	char text[TEXT_MAX];
};

static void note_field(void *arg, const struct pmu_field *field, uint64_t value)
{
	struct decoded_fields *fields = arg;
	size_t length = strlen(fields->text);

	snprintf(fields->text + length, sizeof(fields->text) - length, "%s=%" PRIx64 " ",
		 field->name, value);
}

static void test_decode(void **state)
{
	const struct pmu_pmu *pmu = pmu_find_pmu("xeon-e5v4");
	const struct pmu_box *cbo = pmu_find_box(pmu, "cbo");
	struct decoded_fields fields = {{0}};
	struct pmu_selection selection;
	char text[TEXT_MAX];

	assert_int_equal(pmu_event_decode(*state, cbo, 0x0144001f, &selection), 0);
	pmu_event_print(&selection, text, sizeof(text));
	assert_string_equal(text, "cbo.COUNTER0_OCCUPANCY:thresh=1:edge_det");

	/* 0x06 of RxR_INSERTS would be IRQ_REJ and IPQ, which stand apart; 0xff is no code. */
	assert_int_equal(pmu_event_decode(*state, cbo, 0x00400613, &selection), PMU_E_UNKNOWN);
	assert_int_equal(pmu_event_decode(*state, cbo, 0x004000ff, &selection), PMU_E_UNKNOWN);
	assert_int_equal(pmu_event_decode(*state, pmu_find_box(pmu, "cfg"), 0, &selection),
			 PMU_E_UNKNOWN);

	pmu_register_decode(pmu_box_register(cbo, PMU_ROLE_COUNTER_CTL, 0), 0x14c80335, note_field,
			    &fields);
	assert_string_equal(fields.text, "thresh=14 invert=1 en=1 rsv=0 tid_en=1 edge_det=0 rst=0 "
					 "rsv=0 umask=3 ev_sel=35 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_whole_catalog),
	    cmocka_unit_test(test_pairs),
	    cmocka_unit_test(test_decode),
	};

	return cmocka_run_group_tests(tests, fixture_up, fixture_down);
}
