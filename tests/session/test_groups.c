/*
 * Events that one PMU cannot count at once, divided among several that listen to the same machine:
 * each counts what it counts alone.
 */
#include "session/groups.h"

#include <stdio.h>
#include <string.h>

#include "bus/emulated.h"
#include "emul/emul.h"
#include "machine/access.h"
#include "support/cmocka.h"
#include "support/prefetchers.h"
#include "support/untranslated.h"

#define LINE_BYTES 64
#define LINES	   600
#define BASE	   0x10000000u /* virtual, of the lines that are touched */
#define EVENTS_MAX 1024

struct fixture {
	struct pmu_ctx *ctx;
	struct pmu_bus *bus;
	struct pmu_session *session;
	const struct pmu_count *counts;
	size_t count;
};

static void fixture_up(struct fixture *fixture, const char *machine)
{
	memset(fixture, 0, sizeof(*fixture));
	assert_int_equal(pmu_ctx_new(&fixture->ctx), 0);
	assert_int_equal(pmu_bus_emulated(&fixture->bus, fixture->ctx, untranslated(machine)), 0);
	assert_int_equal(pmu_session_new(&fixture->session, fixture->ctx, fixture->bus), 0);
	pmu_session_spread(fixture->session);
	switch_prefetchers_off(emul_machine(bus_emulated_emul(fixture->bus)));
}

static void fixture_down(struct fixture *fixture)
{
	pmu_session_free(fixture->session);
	pmu_bus_free(fixture->bus);
	pmu_ctx_free(fixture->ctx);
}

static unsigned add(struct fixture *fixture, const char *event)
{
	struct pmu_selection selection;
	int index;

	if (pmu_event_parse(fixture->ctx, pmu_bus_pmu(fixture->bus), event, &selection))
		fail_msg("%s", pmu_message(fixture->ctx));
	index = pmu_session_add(fixture->session, fixture->ctx, &selection);
	assert_true(index >= 0);
	return (unsigned)index;
}

/* Loads lines on core 0, and stores to some of them on the last core, through @emul. */
static void touch_lines(struct emul *emul)
{
	struct machine *machine = emul_machine(emul);
	const struct machine_insn insn = {0};
	struct machine_address_space *space;
	struct machine_block block;
	struct machine_hart *harts[2];

	assert_int_equal(machine_address_space_new(&space, machine), 0);
	harts[0] = machine_hart_enter(machine, space, 0);
	harts[1] = machine_hart_enter(machine, space, 0);
	machine_block_init(machine, &block, 0x400000, 16, 4, 1, 0);
	for (unsigned i = 0; i < LINES; i++) {
		machine_run(harts[0], &block);
		machine_load(harts[0], BASE + i * LINE_BYTES, 8, &insn);
		if (i % 3)
			continue;
		machine_run(harts[1], &block);
		machine_store(harts[1], BASE + i / 2 * LINE_BYTES, 8, &insn);
	}
	machine_hart_leave(harts[0]);
	machine_hart_leave(harts[1]);
	machine_drain(machine);
	machine_address_space_free(space);
}

static void start(struct fixture *fixture)
{
	if (pmu_session_start(fixture->session, fixture->ctx))
		fail_msg("%s", pmu_message(fixture->ctx));
}

static void stop(struct fixture *fixture)
{
	assert_int_equal(pmu_session_stop(fixture->session, fixture->ctx), 0);
	assert_int_equal(
	    pmu_session_read(fixture->session, fixture->ctx, &fixture->counts, &fixture->count), 0);
}

static uint64_t total(const struct fixture *fixture, unsigned event)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < fixture->count; i++)
		if (fixture->counts[i].event == event)
			sum += fixture->counts[i].count;
	return sum;
}

/* One unit mask after the other of every event that the machine produces. */
static size_t list_events(const struct pmu_pmu *pmu, struct pmu_ctx *ctx,
			  struct pmu_selection selections[EVENTS_MAX])
{
	const struct pmu_box *box;
	size_t count = 0;

	for (size_t b = 0; (box = pmu_pmu_box(pmu, b)); b++)
		for (size_t e = 0; e < pmu_box_events(box); e++) {
			const struct pmu_event *event = pmu_box_event(box, e);
			size_t umasks = pmu_event_umasks(event);

			for (size_t u = 0; u < (umasks ? umasks : 1); u++) {
				struct pmu_selection *selection = &selections[count];
				char text[PMU_EVENT_TEXT_MAX];

				snprintf(text, sizeof(text), "%s.%s%s%s", pmu_box_name(box),
					 pmu_event_name(event), umasks ? "." : "",
					 umasks ? pmu_umask_name(pmu_event_umask(event, u)) : "");
				if (pmu_event_parse(ctx, pmu, text, selection) ||
				    pmu_selection_model(selection) == PMU_MODEL_ABSENT ||
				    selection_follows_counter0(selection))
					continue;
				assert_true(++count < EVENTS_MAX);
			}
		}
	return count;
}

static uint64_t count_alone(const char *machine, const struct pmu_selection *selection)
{
	struct fixture fixture;
	uint64_t count;

	fixture_up(&fixture, machine);
	assert_int_equal(pmu_session_add(fixture.session, fixture.ctx, selection), 0);
	start(&fixture);
	assert_int_equal(pmu_session_pmus(fixture.session), 1);
	touch_lines(bus_emulated_emul(fixture.bus));
	stop(&fixture);
	count = total(&fixture, 0);
	fixture_down(&fixture);
	return count;
}

static void check_all_at_once(const char *machine)
{
	static struct pmu_selection selections[EVENTS_MAX];
	struct fixture fixture;
	unsigned counting = 0;
	size_t listed, count = 0;

	fixture_up(&fixture, machine);
	listed = list_events(pmu_bus_pmu(fixture.bus), fixture.ctx, selections);
	for (size_t i = 0; i < listed; i++) {
		int number = pmu_session_add(fixture.session, fixture.ctx, &selections[i]);

		/* Two names of one event are one. */
		assert_in_range(number, 0, count);
		if ((size_t)number == count)
			selections[count++] = selections[i];
	}
	start(&fixture);
	assert_true(pmu_session_pmus(fixture.session) > 4);
	touch_lines(bus_emulated_emul(fixture.bus));
	stop(&fixture);
	for (size_t i = 0; i < count; i++) {
		uint64_t alone = count_alone(machine, &selections[i]);
		char text[PMU_EVENT_TEXT_MAX];

		pmu_event_print(&selections[i], text, sizeof(text));
		if (total(&fixture, (unsigned)i) != alone)
			fail_msg("%s: %llu among others, %llu alone", text,
				 (unsigned long long)total(&fixture, (unsigned)i),
				 (unsigned long long)alone);
		counting += alone != 0;
	}
	assert_true(counting > 40);
	fixture_down(&fixture);
}

static void all_events_at_once(void **state)
{
	(void)state;
	check_all_at_once("xeon-e5v4-4c");
	check_all_at_once("xeon-e5-2650v4-2s");
}

/* One filter, six values of it: the DRd are the lines, however many count beside them. */
static void one_filter_with_many_values(void **state)
{
	struct fixture fixture;
	unsigned reads, stores;

	(void)state;
	fixture_up(&fixture, "xeon-e5v4-4c");
	add(&fixture, "cbo.TOR_INSERTS.MISS_OPCODE:opc=CRd");
	reads = add(&fixture, "cbo.TOR_INSERTS.MISS_OPCODE:opc=DRd");
	stores = add(&fixture, "cbo.TOR_INSERTS.MISS_OPCODE:opc=RFO");
	add(&fixture, "cbo.TOR_INSERTS.OPCODE:opc=WbMtoI");
	start(&fixture);
	assert_int_equal(pmu_session_pmus(fixture.session), 4);
	assert_string_equal(pmu_session_reason(fixture.session, 0), "");
	assert_non_null(strstr(pmu_session_reason(fixture.session, 2), "values of opc"));
	assert_null(strstr(pmu_session_reason(fixture.session, 2), "separate runs"));
	assert_int_equal(pmu_session_pmu_of(fixture.session, stores), 2);
	touch_lines(bus_emulated_emul(fixture.bus));
	stop(&fixture);
	assert_int_equal(total(&fixture, reads), LINES);
	assert_int_equal(total(&fixture, stores), 0); /* of what has been read before */
	fixture_down(&fixture);
}

static size_t part_of(const struct fixture *fixture, unsigned event)
{
	return fixture->session->events[event].part;
}

static void groups_stay_together(void **state)
{
	struct fixture fixture;
	unsigned reads, stores, clock, lookups, events[2];

	(void)state;
	for (int grouped = 0; grouped <= 1; grouped++) {
		fixture_up(&fixture, "xeon-e5v4-4c");
		reads = add(&fixture, "cbo.TOR_INSERTS.MISS_OPCODE:opc=DRd");
		stores = add(&fixture, "cbo.TOR_INSERTS.MISS_OPCODE:opc=RFO");
		clock = add(&fixture, "cbo.CLOCKTICKS");
		lookups = add(&fixture, "cbo.LLC_LOOKUP.ANY:state=I");
		memcpy(events, (const unsigned[]){stores, clock}, sizeof(events));
		if (grouped)
			assert_int_equal(pmu_session_group(fixture.session, fixture.ctx, events, 2),
					 0);
		memcpy(events, (const unsigned[]){reads, stores}, sizeof(events));
		assert_int_equal(pmu_session_group(fixture.session, fixture.ctx, events, 2),
				 PMU_E_CONFLICT);
		events[1] = 99;
		assert_int_equal(pmu_session_group(fixture.session, fixture.ctx, events, 2),
				 PMU_E_RANGE);
		assert_int_equal(pmu_session_assign(fixture.session, fixture.ctx), 0);
		assert_int_equal(part_of(&fixture, reads), 0);
		assert_int_equal(part_of(&fixture, stores), 1);
		assert_int_equal(part_of(&fixture, clock), grouped);
		assert_int_equal(part_of(&fixture, lookups), 0);
		fixture_down(&fixture);
	}
}

/* Two groups with an event in common are one, which has to fit as a whole. */
static void groups_with_a_common_event(void **state)
{
	struct fixture fixture;
	unsigned events[3], far;

	(void)state;
	fixture_up(&fixture, "xeon-e5v4-4c");
	events[0] = add(&fixture, "cbo.CLOCKTICKS");
	events[1] = add(&fixture, "cbo.TOR_INSERTS.MISS_OPCODE:opc=DRd");
	far = add(&fixture, "cbo.TOR_INSERTS.MISS_OPCODE:opc=RFO");
	assert_int_equal(pmu_session_group(fixture.session, fixture.ctx, events, 2), 0);
	events[1] = far;
	assert_int_equal(pmu_session_group(fixture.session, fixture.ctx, events, 2),
			 PMU_E_CONFLICT);
	fixture_down(&fixture);
}

/* What counts what counter 0 sees is where something is on counter 0, whatever comes first. */
static void a_follower_finds_its_leader(void **state)
{
	struct fixture fixture;
	unsigned busy, other, leader;

	(void)state;
	fixture_up(&fixture, "xeon-e5v4-4c");
	busy = add(&fixture, "cbo.COUNTER0_OCCUPANCY:thresh=1");
	other = add(&fixture, "cbo.TOR_INSERTS.MISS_OPCODE:opc=RFO");
	leader = add(&fixture, "cbo.TOR_OCCUPANCY.MISS_OPCODE:opc=DRd");
	assert_int_equal(pmu_session_assign(fixture.session, fixture.ctx), 0);
	assert_int_equal(part_of(&fixture, other), 0);
	assert_int_equal(part_of(&fixture, leader), 1);
	assert_int_equal(part_of(&fixture, busy), 1);
	fixture_down(&fixture);
}

/* Another process's view of the machine feeds all PMUs that there were when it joined. */
static void who_joins_feeds_all(void **state)
{
	struct fixture fixture;
	struct emul *joined;
	unsigned reads, all;

	(void)state;
	fixture_up(&fixture, "xeon-e5v4-4c");
	add(&fixture, "cbo.TOR_INSERTS.MISS_OPCODE:opc=CRd");
	reads = add(&fixture, "cbo.TOR_INSERTS.MISS_OPCODE:opc=DRd");
	all = add(&fixture, "imc.CAS_COUNT.RD");
	start(&fixture);
	assert_int_equal(emul_attach(&joined, fixture.ctx, emul_fd(bus_emulated_emul(fixture.bus))),
			 0);
	touch_lines(joined);
	stop(&fixture);
	assert_int_equal(total(&fixture, reads), LINES);
	assert_in_range(total(&fixture, all), LINES, 2 * LINES);
	emul_free(joined);
	fixture_down(&fixture);
}

static void none_are_added_after_that(void **state)
{
	struct fixture fixture;
	struct emul *joined;

	(void)state;
	fixture_up(&fixture, "xeon-e5v4-4c");
	add(&fixture, "cbo.TOR_INSERTS.MISS_OPCODE:opc=CRd");
	add(&fixture, "cbo.TOR_INSERTS.MISS_OPCODE:opc=DRd");
	assert_int_equal(emul_attach(&joined, fixture.ctx, emul_fd(bus_emulated_emul(fixture.bus))),
			 0);
	assert_int_equal(pmu_session_start(fixture.session, fixture.ctx), PMU_E_STATE);
	assert_int_equal(emul_add_pmu(joined, fixture.ctx), PMU_E_STATE);
	emul_free(joined);
	fixture_down(&fixture);
}

/* Without leave to divide them, events that exclude each other are refused. */
static void only_where_asked_for(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_up(&fixture, "xeon-e5v4-4c");
	pmu_session_free(fixture.session);
	assert_int_equal(pmu_session_new(&fixture.session, fixture.ctx, fixture.bus), 0);
	add(&fixture, "cbo.TOR_INSERTS.MISS_OPCODE:opc=CRd");
	add(&fixture, "cbo.TOR_INSERTS.MISS_OPCODE:opc=DRd");
	assert_int_equal(pmu_session_assign(fixture.session, fixture.ctx), PMU_E_CONFLICT);
	fixture_down(&fixture);
}

/* A plan tells the groups; it is not started. */
static void test_plan(void **state)
{
	static const char *const events[] = {"cbo.TOR_INSERTS.OPCODE:opc=DRd",
					     "cbo.LLC_VICTIMS.M_STATE",
					     "cbo.TOR_INSERTS.OPCODE:opc=RFO"};
	struct fixture fixture;
	unsigned index[3];

	(void)state;
	fixture_up(&fixture, "xeon-e5v4-4c");
	for (size_t i = 0; i < 3; i++)
		index[i] = add(&fixture, events[i]);
	assert_int_equal(pmu_session_divide(fixture.session, fixture.ctx), 0);
	assert_int_equal(pmu_session_pmus(fixture.session), 2);
	assert_int_equal(pmu_session_pmu_of(fixture.session, index[0]), 0);
	assert_int_equal(pmu_session_pmu_of(fixture.session, index[1]), 0);
	assert_int_equal(pmu_session_pmu_of(fixture.session, index[2]), 1);
	assert_non_null(strstr(pmu_session_reason(fixture.session, 1), "different values of opc"));
	assert_int_equal(pmu_session_start(fixture.session, fixture.ctx), PMU_E_STATE);
	assert_int_equal(pmu_session_divide(fixture.session, fixture.ctx), PMU_E_STATE);
	fixture_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_plan),
	    cmocka_unit_test(all_events_at_once),
	    cmocka_unit_test(one_filter_with_many_values),
	    cmocka_unit_test(groups_stay_together),
	    cmocka_unit_test(groups_with_a_common_event),
	    cmocka_unit_test(a_follower_finds_its_leader),
	    cmocka_unit_test(who_joins_feeds_all),
	    cmocka_unit_test(none_are_added_after_that),
	    cmocka_unit_test(only_where_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
