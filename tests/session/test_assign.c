/* What can be counted together, and what is said where it cannot. */
#include <stdio.h>
#include <string.h>

#include "support/cmocka.h"
#include "trace.h"

#define EVENTS_MAX 6

/* @says: texts that the refusal has to contain; none: it has to work. */
struct trial {
	const char *events[EVENTS_MAX];
	const char *says[4];
};

static void try_to_start(const struct trial *trial)
{
	struct traced traced;
	int result;

	traced_init(&traced, 1);
	for (size_t i = 0; i < EVENTS_MAX && trial->events[i]; i++)
		assert_int_equal(traced_add(&traced, trial->events[i]), i);
	result = pmu_session_start(traced.session, traced.ctx);
	if (!trial->says[0] && result)
		fail_msg("%s: %s", trial->events[0], pmu_message(traced.ctx));
	if (trial->says[0]) {
		assert_int_equal(result, PMU_E_CONFLICT);
		assert_int_equal(traced.trace.writes, 0);
	}
	for (size_t i = 0; i < 4 && trial->says[i]; i++)
		if (!strstr(pmu_message(traced.ctx), trial->says[i]))
			fail_msg("\"%s\" is not in: %s", trial->says[i], pmu_message(traced.ctx));
	traced_fini(&traced);
}

#define TRY(...)                                                                                   \
	do {                                                                                       \
		const struct trial trials[] = {__VA_ARGS__};                                       \
		for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++)                    \
			try_to_start(&trials[i]);                                                  \
	} while (0)

/* 334291-001 table 2-21: TOR_OCCUPANCY and RxR_OCCUPANCY on counter 0, all counters are four. */
static void test_counters(void **state)
{
	(void)state;
	TRY({{"cbo.CLOCKTICKS", "cbo.LLC_VICTIMS.M_STATE", "cbo.LLC_VICTIMS.E_STATE",
	      "cbo.RxR_OCCUPANCY.IRQ"},
	     {NULL}},
	    {{"cbo.CLOCKTICKS", "cbo.LLC_VICTIMS.M_STATE", "cbo.LLC_VICTIMS.E_STATE",
	      "cbo.LLC_VICTIMS.S_STATE", "cbo.LLC_VICTIMS.F_STATE"},
	     {"cbo has 4 counters", "5 events", "cbo.CLOCKTICKS", "cbo.LLC_VICTIMS.F_STATE"}},
	    {{"cbo.CLOCKTICKS", "cbo.RxR_OCCUPANCY.IRQ", "cbo.TOR_OCCUPANCY.ALL"},
	     {"cbo.RxR_OCCUPANCY.IRQ", "cbo.TOR_OCCUPANCY.ALL", "counter 0;", "separate runs"}},
	    {{"ubox.clock", "ubox.RACU_REQUESTS", "ubox.PHOLD_CYCLES.ASSERT_TO_ACK"}, {NULL}},
	    {{"ubox.RACU_REQUESTS", "ubox.PHOLD_CYCLES.ASSERT_TO_ACK",
	      "ubox.EVENT_MSG.DOORBELL_RCVD"},
	     {"ubox has 2 counters"}});
}

/* Boxes and instances do not share counters. */
static void test_boxes_apart(void **state)
{
	(void)state;
	TRY({{"cbo3.RxR_OCCUPANCY.IRQ", "cbo5.TOR_OCCUPANCY.ALL"}, {NULL}},
	    {{"cbo3.TOR_INSERTS.OPCODE:opc=0x182", "cbo5.TOR_INSERTS.OPCODE:opc=0x180"}, {NULL}},
	    {{"cbo.RxR_OCCUPANCY.IRQ", "cbo5.TOR_OCCUPANCY.ALL"},
	     {"cbo.RxR_OCCUPANCY.IRQ", "cbo5.TOR_OCCUPANCY.ALL"}},
	    /* The event of all instances has to leave counter 0 to that of one. */
	    {{"cbo.CLOCKTICKS", "cbo.LLC_VICTIMS.M_STATE", "cbo7.TOR_OCCUPANCY.ALL",
	      "cbo2.RxR_OCCUPANCY.IRQ"},
	     {NULL}},
	    {{"cbo.CLOCKTICKS", "cbo.LLC_VICTIMS.M_STATE", "cbo.LLC_VICTIMS.E_STATE",
	      "cbo7.TOR_INSERTS.ALL", "cbo7.LLC_VICTIMS.S_STATE"},
	     {"cbo has 4 counters", "cbo7.TOR_INSERTS.ALL"}});
}

/* §2.3.2.3: one pair of filter registers a CBo. */
static void test_filters(void **state)
{
	(void)state;
	TRY({{"cbo.TOR_INSERTS.OPCODE:opc=0x182", "cbo.TOR_OCCUPANCY.MISS_OPCODE:opc=0x182"},
	     {NULL}},
	    {{"cbo.TOR_INSERTS.OPCODE:opc=0x182", "cbo.TOR_INSERTS.OPCODE:opc=0x180"},
	     {"cbo.TOR_INSERTS.OPCODE:opc=", "values of opc", "Cn_MSR_PMON_BOX_FILTER1",
	      "separate runs"}},
	    /* ALL does not look at the opcode, nor LLC_VICTIMS at the state. */
	    {{"cbo.TOR_INSERTS.OPCODE:opc=0x182", "cbo.TOR_INSERTS.ALL"}, {NULL}},
	    {{"cbo.LLC_LOOKUP.DATA_READ:state=1", "cbo.LLC_VICTIMS.M_STATE"}, {NULL}},
	    {{"cbo.LLC_LOOKUP.DATA_READ:state=1", "cbo.LLC_LOOKUP.DATA_READ:state=0x1F"},
	     {"values of state", "Cn_MSR_PMON_BOX_FILTER0"}},
	    /* nc applies to every transaction in the TOR: what does not set it must not have it. */
	    {{"cbo.TOR_INSERTS.OPCODE:opc=0x182:nc=1", "cbo.TOR_INSERTS.ALL"}, {"values of nc"}},
	    {{"cbo.TOR_INSERTS.NID_ALL:nid=1", "cbo.TOR_INSERTS.ALL"}, {NULL}},
	    {{"cbo.TOR_INSERTS.NID_ALL:nid=1", "cbo.LLC_VICTIMS.M_STATE+NID:nid=2"},
	     {"values of nid"}},
	    {{"cbo.TOR_INSERTS.NID_ALL:nid=my_node", "cbo.LLC_VICTIMS.M_STATE+NID:nid=1"}, {NULL}},
	    {{"cbo.LLC_VICTIMS.M_STATE:tid=2", "cbo.LLC_VICTIMS.M_STATE:tid=4"}, {"values of tid"}},
	    {{"cbo.LLC_VICTIMS.M_STATE:tid=2", "cbo3.LLC_VICTIMS.M_STATE:tid=4"},
	     {"cbo3.LLC_VICTIMS.M_STATE:tid=", "values of tid"}});
}

/* §2.3.1.1: it shows what counter 0 sees, so something has to be there for certain. */
static void test_occupancy_of_counter_0(void **state)
{
	(void)state;
	TRY({{"cbo.COUNTER0_OCCUPANCY:thresh=1", "cbo.TOR_OCCUPANCY.ALL"}, {NULL}},
	    {{"cbo.COUNTER0_OCCUPANCY:thresh=1", "cbo.TOR_OCCUPANCY.OPCODE:opc=0x182"}, {NULL}},
	    {{"cbo.COUNTER0_OCCUPANCY:thresh=1:opc=0x180", "cbo.TOR_OCCUPANCY.OPCODE:opc=0x182"},
	     {"values of opc"}},
	    {{"cbo.COUNTER0_OCCUPANCY:thresh=1"}, {"cbo.COUNTER0_OCCUPANCY", "counter 0"}},
	    {{"cbo.COUNTER0_OCCUPANCY:thresh=1", "cbo.CLOCKTICKS"}, {"cbo.COUNTER0_OCCUPANCY"}},
	    {{"cbo.COUNTER0_OCCUPANCY:thresh=1", "cbo4.TOR_OCCUPANCY.ALL"},
	     {"cbo.COUNTER0_OCCUPANCY"}},
	    {{"cbo4.COUNTER0_OCCUPANCY:thresh=1", "cbo.TOR_OCCUPANCY.ALL"}, {NULL}});
}

/* Random events of all instances (-1) and of two single ones, against all ways there are. */
#define MIX_EVENTS 6
#define MIX_TRIALS 400

struct mix {
	uint32_t allowed[MIX_EVENTS];
	int instance[MIX_EVENTS]; /* -1, 0 or 1 */
};

static bool meet(int a, int b)
{
	return a < 0 || b < 0 || a == b;
}

static bool mix_possible(const struct mix *mix, size_t next, unsigned *counter)
{
	if (next == MIX_EVENTS)
		return true;
	for (counter[next] = 0; counter[next] < 4; counter[next]++) {
		bool free = mix->allowed[next] & 1u << counter[next];

		for (size_t i = 0; i < next; i++)
			if (counter[i] == counter[next] &&
			    meet(mix->instance[i], mix->instance[next]))
				free = false;
		if (free && mix_possible(mix, next + 1, counter))
			return true;
	}
	return false;
}

static void test_mixed_instances(void **state)
{
	/* Table 2-21: RxR_OCCUPANCY 0, FAST_ASSERTED 0-1, CLOCKTICKS 0-3. */
	static const char *const names[] = {"RxR_OCCUPANCY.IRQ", "FAST_ASSERTED", "CLOCKTICKS"};
	static const uint32_t counters[] = {0x1, 0x3, 0xF};
	static const char *const boxes[] = {"cbo", "cbo0", "cbo1"};
	unsigned possible = 0;
	uint64_t random = 7;

	(void)state;
	for (unsigned trial = 0; trial < MIX_TRIALS; trial++) {
		unsigned counter[MIX_EVENTS];
		struct traced traced;
		struct mix mix;
		bool expected;

		traced_init(&traced, 1);
		for (unsigned i = 0; i < MIX_EVENTS; i++) {
			struct pmu_selection selection;
			unsigned kind, box;
			char event[64];

			random = random * 6364136223846793005u + 1442695040888963407u;
			kind = (unsigned)(random >> 33) % 8;
			kind = kind < 2 ? kind : 2;
			box = (unsigned)(random >> 40) % 3;
			mix.allowed[i] = counters[kind];
			mix.instance[i] = (int)box - 1;
			snprintf(event, sizeof(event), "%s.%s:thresh=1", boxes[box], names[kind]);
			assert_int_equal(pmu_event_parse(traced.ctx, NULL, event, &selection), 0);
			/* A threshold of its own makes each event another one. */
			selection.settings[0].value = i + 1;
			assert_int_equal(pmu_session_add(traced.session, traced.ctx, &selection),
					 i);
		}
		expected = mix_possible(&mix, 0, counter);
		assert_int_equal(pmu_session_start(traced.session, traced.ctx),
				 expected ? 0 : PMU_E_CONFLICT);
		possible += expected;
		traced_fini(&traced);
	}
	assert_in_range(possible, MIX_TRIALS / 10, MIX_TRIALS * 9 / 10);
}

static void test_equal_events_are_one(void **state)
{
	struct traced traced;

	(void)state;
	traced_init(&traced, 1);
	assert_int_equal(traced_add(&traced, "cbo.TOR_INSERTS.OPCODE:opc=0x182:thresh=1"), 0);
	assert_int_equal(traced_add(&traced, "cbo.TOR_INSERTS.OPCODE:opc=0x182"), 1);
	assert_int_equal(traced_add(&traced, "TOR_INSERTS.OPCODE:thresh=0x1:opc=DRd"), 0);
	assert_int_equal(traced_add(&traced, "cbo0.TOR_INSERTS.OPCODE:opc=0x182"), 2);
	assert_int_equal(pmu_session_events(traced.session), 3);
	assert_false(pmu_session_event(traced.session, 1)->one_instance);
	assert_true(pmu_session_event(traced.session, 2)->one_instance);
	assert_int_equal(pmu_session_event(traced.session, 2)->instance, 0);
	assert_null(pmu_session_event(traced.session, 3));
	traced_fini(&traced);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_counters),	    cmocka_unit_test(test_boxes_apart),
	    cmocka_unit_test(test_filters),	    cmocka_unit_test(test_occupancy_of_counter_0),
	    cmocka_unit_test(test_mixed_instances), cmocka_unit_test(test_equal_events_are_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
