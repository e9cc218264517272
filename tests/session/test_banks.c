/* Which L1D and L2D events of an Itanium 9300 count together (323602-001 §4.8.2, §4.8.4). */
#include <string.h>

#include "session/session.h"
#include "support/cmocka.h"

#define EVENTS_MAX 12
#define NOWHERE	   UINT8_MAX

/* Counter 0 is PMC4. */
enum { PMC4, PMC5, PMC6, PMC7, PMC8, PMC9 };

struct assigned {
	struct pmu_ctx *ctx;
	struct session_event events[EVENTS_MAX];
	struct pmu_session session;
	struct selection_nodes nodes;
	int result;
};

static void assign(struct assigned *a, const char *const *expressions)
{
	const struct pmu_pmu *pmu = pmu_find_pmu("itanium-9300");

	memset(a, 0, sizeof(*a));
	assert_int_equal(pmu_ctx_new(&a->ctx), 0);
	a->session =
	    (struct pmu_session){.pmu = pmu, .sockets = 1, .events = a->events, .nodes = &a->nodes};
	for (; expressions[a->session.event_count]; a->session.event_count++) {
		struct session_event *event = &a->events[a->session.event_count];
		const char *text = expressions[a->session.event_count];

		assert_true(a->session.event_count < EVENTS_MAX);
		if (pmu_event_parse(a->ctx, pmu, text, &event->selection))
			fail_msg("%s: %s", text, pmu_message(a->ctx));
		event->counted = true;
	}
	a->result = session_assign(&a->session, a->ctx);
}

/* Where each event is; every counter has one at most, which can count it. */
static void check_counters(const struct assigned *a)
{
	uint32_t taken = 0;

	for (size_t i = 0; i < a->session.event_count; i++) {
		uint32_t bit = 1u << a->events[i].counter;

		assert_true(a->events[i].selection.event->counters & bit);
		assert_false(taken & bit);
		taken |= bit;
	}
}

static const struct pmu_selection *on_counter(const struct assigned *a, unsigned counter)
{
	for (size_t i = 0; i < a->session.event_count; i++)
		if (a->events[i].counter == counter)
			return &a->events[i].selection;
	return NULL;
}

/* PMC4 leads PMC5 and 8, PMC6 leads PMC7 and 9: with its set, unit mask and .all. */
static void check_l2d(const struct assigned *a)
{
	static const uint8_t leads[] = {NOWHERE, PMC4, NOWHERE, PMC6, PMC4, PMC6};
	const uint64_t umask = 0xf0000, all = 1u << 26;

	for (unsigned c = 0; c < 6; c++) {
		const struct pmu_selection *own = on_counter(a, c);
		const struct pmu_selection *lead;

		if (!own || strcmp(own->event->set_group, "L2D") != 0 || leads[c] == NOWHERE)
			continue;
		lead = on_counter(a, leads[c]);
		assert_non_null(lead);
		assert_string_equal(lead->event->set_group, "L2D");
		assert_int_equal(lead->event->set, own->event->set);
		assert_int_equal(pmu_event_control(lead) & (umask | all),
				 pmu_event_control(own) & (umask | all));
	}
}

/* One set, which PMC5 has an event of. */
static void check_l1d(const struct assigned *a)
{
	const struct pmu_selection *lead = on_counter(a, PMC5);

	for (size_t i = 0; i < a->session.event_count; i++) {
		const struct pmu_event *event = a->events[i].selection.event;

		if (strcmp(event->set_group, "L1D") != 0)
			continue;
		assert_non_null(lead);
		assert_string_equal(lead->event->set_group, "L1D");
		assert_int_equal(lead->event->set, event->set);
	}
}

static void together(const char *const *expressions)
{
	struct assigned a;

	assign(&a, expressions);
	if (a.result)
		fail_msg("%s...: %s", expressions[0], pmu_message(a.ctx));
	check_counters(&a);
	check_l1d(&a);
	check_l2d(&a);
	pmu_ctx_free(a.ctx);
}

static void refused(const char *const *expressions, const char *const *says)
{
	struct assigned a;

	assign(&a, expressions);
	assert_int_equal(a.result, PMU_E_CONFLICT);
	for (; *says; says++)
		if (!strstr(pmu_message(a.ctx), *says))
			fail_msg("\"%s\" is not in: %s", *says, pmu_message(a.ctx));
	pmu_ctx_free(a.ctx);
}

#define LIST(...)                                                                                  \
	(const char *const[])                                                                      \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}
#define TOGETHER(...)	together(LIST(__VA_ARGS__))
#define REFUSED(e, ...) refused(e, LIST(__VA_ARGS__))

static void test_l1d(void **state)
{
	(void)state;
	TOGETHER("BE_L1D_FPU_BUBBLE.ALL");
	TOGETHER("CPU_OP_CYCLES.ALL", "L1D_READS_SET0", "DATA_REFERENCES_SET0", "L2DTLB_MISSES");
	TOGETHER("BE_L1D_FPU_BUBBLE.ALL", "BE_L1D_FPU_BUBBLE.FPU", "BE_L1D_FPU_BUBBLE.L1D");
	REFUSED(LIST("L1D_READS_SET0", "L1D_READ_MISSES.ALL"), "L1D_READS_SET0",
		"L1D_READ_MISSES.ALL", "sets of L1D", "1 at a time", "separate runs");
	REFUSED(LIST("LOADS_RETIRED", "CPU_OP_CYCLES.ALL", "STORES_RETIRED"), "LOADS_RETIRED",
		"STORES_RETIRED", "sets of L1D");
	/* Of no set, although among the codes of L1D events. */
	TOGETHER("DATA_EAR_EVENTS", "L1D_READS_SET0", "DTLB_INSERTS_HPW");
}

static void test_l2d(void **state)
{
	(void)state;
	TOGETHER("L2D_REFERENCES.READS");
	TOGETHER("L2D_REFERENCES.READS", "L2D_REFERENCES.WRITES");
	TOGETHER("L2D_REFERENCES.READS", "L2D_STORE_HIT_SHARED.ANY");
	/* 0xb0, 0xb1 and 0xcb are of no set. */
	TOGETHER("L2D_INSERT_HITS", "L2D_INSERT_MISSES", "L2D_MISSES", "L2D_REFERENCES.READS",
		 "L2D_STORE_HIT_SHARED.ANY");
	/* Two of set 4 have unit mask 0 and fit beneath one lead, beside set 5. */
	TOGETHER("L2D_FORCE_RECIRC.RECIRC", "L2D_ISSUED_RECIRC_OZQ_ACC",
		 "L2D_STORE_HIT_SHARED.ANY");
	REFUSED(LIST("L2D_REFERENCES.READS", "L2D_STORE_HIT_SHARED.ANY", "L2D_FILLB_FULL.THIS"),
		"L2D_REFERENCES.READS", "L2D_FILLB_FULL.THIS", "sets of L2D", "2 at a time");
	/* The followers have their lead's unit mask and .all. */
	REFUSED(LIST("L2D_REFERENCES.READS", "L2D_REFERENCES.WRITES", "L2D_REFERENCES.ALL"),
		"unit masks", "2 at a time");
	REFUSED(
	    LIST("L2D_REFERENCES.READS", "L2D_REFERENCES.READS:all=1", "L2D_STORE_HIT_SHARED.ANY"),
	    "sets of L2D");
}

/* PMC5 follows PMC4 and leads the L1D events: both at once is one too many. */
static void test_both(void **state)
{
	static const char *const six[] = {"L2D_FORCE_RECIRC.RECIRC",
					  "L2D_ISSUED_RECIRC_OZQ_ACC",
					  "L2D_ISSUED_RECIRC_OZQ_ACC:plm=1",
					  "L2D_L3ACCESS_CANCEL.INV_L3_BYP",
					  "L2D_OZDB_FULL.THIS",
					  "L2D_OZDB_FULL.THIS:plm=1",
					  NULL};
	const char *seven[8] = {[6] = "LOADS_RETIRED"};
	const char *six_of_both[7] = {[5] = "LOADS_RETIRED"};

	(void)state;
	together(six);
	memcpy(seven, six, 6 * sizeof(*six));
	REFUSED(seven, "no counters of core", "LOADS_RETIRED", "L2D_OZDB_FULL.THIS");
	memcpy(six_of_both, six, 5 * sizeof(*six));
	together(six_of_both);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_l1d),
	    cmocka_unit_test(test_l2d),
	    cmocka_unit_test(test_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
