/*
 * A box whose own global registers have a bit for each counter, and which is all units of the
 * machine at once: the uncore of Xeon 5500 (253669 §18.8.2; the Performance Analysis Guide's
 * tables).
 */
#include "fixture.h"

#define SNOOP_MESF	0x301
#define GLOBAL_CONTROL	0x391
#define GLOBAL_OVERFLOW 0x392
#define GLOBAL_CLEARING 0x393
#define FIXED_COUNTER	0x394
#define FIXED_CONTROL	0x395
#define COUNTER(n)	(0x3b0u + (n))
#define CONTROL(n)	(0x3c0u + (n))

#define EN_PC(n)    (UINT64_C(1) << (n))
#define EN_FC	    (UINT64_C(1) << 32)
#define EN_PMI(n)   (UINT64_C(1) << (48 + (n)))
#define PMI_FRZ	    (UINT64_C(1) << 63)
#define OVF_PC(n)   (UINT64_C(1) << (n))
#define OVF_FC	    (UINT64_C(1) << 32)
#define OVF_PMI	    (UINT64_C(1) << 61)
#define CHG	    (UINT64_C(1) << 63)
#define FIXED_EN    1u
#define FIXED_PMI   4u
#define LLC_MISS(u) EVENT(0x09, u)

static struct fixture fixture;

static int setup(void **state UNUSED)
{
	fixture_up_for(&fixture, pmu_find_pmu("nehalem"));
	return 0;
}

static int teardown(void **state UNUSED)
{
	fixture_down(&fixture);
	return 0;
}

static uint64_t interrupts(unsigned core)
{
	return pmon_interrupts(fixture.pmon, 0, core, &fixture.now);
}

static void miss(unsigned slice, uint64_t time)
{
	struct signal signal = {
	    .id = SIGNAL_LLC_LOOKUP,
	    .unit = (uint8_t)slice,
	    .qualifiers = QUALIFIER_LLC_LOOKUP_READ,
	    .state = SIGNAL_STATE_I,
	    .time = time,
	};

	signal_emit(&fixture.port, signal);
}

/* A counter counts while its control and its bit of the global control let it. */
static void test_two_enables(void **state UNUSED)
{
	fixture_set_msr(&fixture, CONTROL(3), EN | LLC_MISS(1));
	miss(0, 10);
	assert_int_equal(fixture_msr(&fixture, COUNTER(3)), 0);
	fixture_set_msr(&fixture, GLOBAL_CONTROL, EN_PC(2));
	miss(0, 20);
	assert_int_equal(fixture_msr(&fixture, COUNTER(3)), 0);
	fixture_set_msr(&fixture, GLOBAL_CONTROL, EN_PC(3));
	miss(0, 30);
	miss(2, 31); /* of any slice */
	assert_int_equal(fixture_msr(&fixture, COUNTER(3)), 2);
	fixture_set_msr(&fixture, CONTROL(3), LLC_MISS(1));
	miss(0, 40);
	fixture_set_msr(&fixture, CONTROL(3), EN | LLC_MISS(1));
	fixture_set_msr(&fixture, GLOBAL_CONTROL, 0);
	miss(0, 50);
	assert_int_equal(fixture_msr(&fixture, COUNTER(3)), 2);
	/* The other socket has its own. */
	assert_int_equal(fixture_msr_of(&fixture, 1, GLOBAL_CONTROL), 0);
}

static void test_fixed_counter(void **state UNUSED)
{
	fixture_set_msr(&fixture, FIXED_CONTROL, FIXED_EN);
	fixture_at(&fixture, 100);
	assert_int_equal(fixture_msr(&fixture, FIXED_COUNTER), 0);
	fixture_set_msr(&fixture, GLOBAL_CONTROL, EN_FC);
	fixture_at(&fixture, 350);
	assert_int_equal(fixture_msr(&fixture, FIXED_COUNTER), 250);
	fixture_set_msr(&fixture, GLOBAL_CONTROL, 0);
	fixture_at(&fixture, 1000);
	assert_int_equal(fixture_msr(&fixture, FIXED_COUNTER), 250);
}

/* Overflow shows in the status, interrupts nobody without pmi, and counting goes on. */
static void test_overflow(void **state UNUSED)
{
	fixture_set_msr(&fixture, GLOBAL_CONTROL, EN_PC(5) | EN_PMI(0) | PMI_FRZ);
	fixture_set_msr(&fixture, COUNTER(5), COUNTER_LIMIT - 1);
	fixture_set_msr(&fixture, CONTROL(5), EN | LLC_MISS(1));
	assert_int_equal(fixture_msr(&fixture, GLOBAL_OVERFLOW), 0);
	miss(1, 10);
	miss(1, 20);
	assert_int_equal(fixture_msr(&fixture, COUNTER(5)), 1);
	assert_true(fixture_msr(&fixture, GLOBAL_OVERFLOW) == (OVF_PC(5) | CHG));
	assert_int_equal(interrupts(0), 0);
	/* The status is read only; bits of the clearing register clear those in the same places. */
	fixture_set_msr(&fixture, GLOBAL_OVERFLOW, 0);
	assert_true(fixture_msr(&fixture, GLOBAL_OVERFLOW) == (OVF_PC(5) | CHG));
	fixture_set_msr(&fixture, GLOBAL_CLEARING, OVF_PC(5));
	assert_true(fixture_msr(&fixture, GLOBAL_OVERFLOW) == CHG);
	fixture_set_msr(&fixture, GLOBAL_CLEARING, CHG | OVF_PMI);
	assert_int_equal(fixture_msr(&fixture, GLOBAL_OVERFLOW), 0);
	assert_int_equal(fixture_msr(&fixture, GLOBAL_CLEARING), 0);
}

/* With pmi, those cores whose bits are set; nothing stops without pmi_frz. */
static void test_interrupt(void **state UNUSED)
{
	fixture_set_msr(&fixture, GLOBAL_CONTROL, EN_PC(0) | EN_PMI(1) | EN_PMI(3));
	fixture_set_msr(&fixture, COUNTER(0), COUNTER_LIMIT - 2);
	fixture_set_msr(&fixture, CONTROL(0), EN | OV_EN | LLC_MISS(1));
	for (unsigned i = 0; i < 5; i++)
		miss(i % 4, 10 + i);
	assert_int_equal(fixture_msr(&fixture, COUNTER(0)), 3);
	assert_true(fixture_msr(&fixture, GLOBAL_OVERFLOW) == (OVF_PC(0) | OVF_PMI | CHG));
	assert_int_equal(interrupts(0), 0);
	assert_int_equal(interrupts(1), 1);
	assert_int_equal(interrupts(2), 0);
	assert_int_equal(interrupts(3), 1);
}

/* With pmi_frz all counters stop, and their enables are gone until software sets them again. */
static void test_freeze(void **state UNUSED)
{
	const uint64_t on = EN_PC(0) | EN_PC(1) | EN_FC | EN_PMI(2) | PMI_FRZ;

	fixture_set_msr(&fixture, GLOBAL_CONTROL, on);
	fixture_set_msr(&fixture, COUNTER(0), COUNTER_LIMIT - 3);
	fixture_set_msr(&fixture, CONTROL(0), EN | OV_EN | LLC_MISS(1));
	fixture_set_msr(&fixture, CONTROL(1), EN | LLC_MISS(1));
	fixture_set_msr(&fixture, FIXED_CONTROL, FIXED_EN);
	for (unsigned i = 1; i <= 10; i++)
		miss(0, 100 * i);
	fixture_at(&fixture, 5000);
	assert_int_equal(fixture_msr(&fixture, COUNTER(0)), 0);
	assert_int_equal(fixture_msr(&fixture, COUNTER(1)), 3);
	assert_int_equal(fixture_msr(&fixture, FIXED_COUNTER), 301);
	assert_int_equal(interrupts(2), 1);
	assert_true(fixture_msr(&fixture, GLOBAL_CONTROL) == (EN_PMI(2) | PMI_FRZ));
	fixture_set_msr(&fixture, GLOBAL_CLEARING, OVF_PC(0) | OVF_PMI | CHG);
	fixture_set_msr(&fixture, GLOBAL_CONTROL, on);
	miss(0, 5100);
	fixture_at(&fixture, 5200);
	assert_int_equal(fixture_msr(&fixture, COUNTER(0)), 1);
	assert_int_equal(fixture_msr(&fixture, COUNTER(1)), 4);
	assert_int_equal(fixture_msr(&fixture, FIXED_COUNTER), 501);
}

/* The fixed counter overflows without a signal. */
static void test_fixed_overflow(void **state UNUSED)
{
	fixture_set_msr(&fixture, FIXED_COUNTER, COUNTER_LIMIT - 700);
	fixture_set_msr(&fixture, FIXED_CONTROL, FIXED_EN | FIXED_PMI);
	fixture_set_msr(&fixture, CONTROL(7), EN | LLC_MISS(1));
	fixture_set_msr(&fixture, GLOBAL_CONTROL, EN_PC(7) | EN_FC | EN_PMI(0) | PMI_FRZ);
	miss(0, 600);
	miss(0, 800);
	fixture_at(&fixture, 1000);
	assert_int_equal(fixture_msr(&fixture, COUNTER(7)), 1);
	assert_int_equal(fixture_msr(&fixture, FIXED_COUNTER), 0);
	assert_true(fixture_msr(&fixture, GLOBAL_OVERFLOW) == (OVF_FC | OVF_PMI | CHG));
	assert_int_equal(interrupts(0), 1);
}

/* 3 DRAM cycles are 7 of the uncore; the unit mask says of which channel. */
static void test_times_of_the_memory(void **state UNUSED)
{
	fixture_set_msr(&fixture, GLOBAL_CONTROL, 0xff);
	fixture_set_msr(&fixture, CONTROL(0), EN | EVENT(0x2A, 0x2)); /* occupancy, channel 1 */
	fixture_set_msr(&fixture, CONTROL(1), EN | EVENT(0x2C, 0x7)); /* reads of all */
	fixture_set_msr(&fixture, CONTROL(2), EN | EVENT(0x29, 0x2)); /* cycles with a read */
	fixture_set_msr(&fixture, CONTROL(3), EN | THRESH(2) | EVENT(0x2A, 0x2)); /* with two */
	fixture_span(&fixture, SIGNAL_DRAM_READ_QUEUE, 1, 0, 300, 30);
	fixture_span(&fixture, SIGNAL_DRAM_READ_QUEUE, 2, 0, 303, 60);
	fixture_span(&fixture, SIGNAL_DRAM_READ_QUEUE, 1, 0, 315, 30);
	fixture_at(&fixture, 20000);
	assert_int_equal(fixture_msr(&fixture, COUNTER(0)), 140);
	assert_int_equal(fixture_msr(&fixture, COUNTER(1)), 3);
	assert_int_equal(fixture_msr(&fixture, COUNTER(2)), 105);
	assert_int_equal(fixture_msr(&fixture, COUNTER(3)), 35);
}

/* Each channel has its own number of writes. One code has two events, by unit mask. */
static void test_writes_that_wait(void **state UNUSED)
{
	fixture_set_msr(&fixture, GLOBAL_CONTROL, 0xff);
	for (unsigned channel = 0; channel < 3; channel++)
		fixture_set_msr(&fixture, CONTROL(channel), EN | EVENT(0x29, 0x8u << channel));
	fixture_set_msr(&fixture, CONTROL(3), EN | EVENT(0x29, 0x18)); /* of channel 0 or 1 */
	fixture_span(&fixture, SIGNAL_DRAM_WRITE_QUEUE, 0, 0, 30, 2);
	fixture_span(&fixture, SIGNAL_DRAM_WRITE_QUEUE, 1, 0, 60, 1);
	fixture_span(&fixture, SIGNAL_DRAM_WRITE_QUEUE, 0, 0, 90, 0);
	fixture_span(&fixture, SIGNAL_DRAM_WRITE_QUEUE, 1, 0, 120, 0);
	fixture_at(&fixture, 20000);
	assert_int_equal(fixture_msr(&fixture, COUNTER(0)), 140);
	assert_int_equal(fixture_msr(&fixture, COUNTER(1)), 140);
	assert_int_equal(fixture_msr(&fixture, COUNTER(2)), 0);
	assert_int_equal(fixture_msr(&fixture, COUNTER(3)), 210);
}

/* Table 28: MSR 0x301 has a bit for each change of state. */
static void test_changes_of_state(void **state UNUSED)
{
	fixture_set_msr(&fixture, GLOBAL_CONTROL, 0xff);
	fixture_set_msr(&fixture, SNOOP_MESF, 0x22); /* E to S, and E to I */
	fixture_set_msr(&fixture, CONTROL(0), EN | EVENT(0x0C, 0x1));
	fixture_set_msr(&fixture, CONTROL(1), EN | EVENT(0x0C, 0x2));
	fixture_set_msr(&fixture, CONTROL(2), EN | EVENT(0x0C, 0x4));
	fixture_set_msr(&fixture, CONTROL(3), EN | EVENT(0x0C, 0x8));
	for (unsigned change = 0; change < 8; change++) {
		struct signal signal = {
		    .id = SIGNAL_LLC_ANSWER,
		    .qualifiers =
			change < 4 ? QUALIFIER_LLC_ANSWER_TO_S : QUALIFIER_LLC_ANSWER_TO_I,
		    .bank = (uint8_t)change,
		    .time = 10 + change,
		};

		for (unsigned i = 0; i <= change; i++)
			signal_emit(&fixture.port, signal);
	}
	assert_int_equal(fixture_msr(&fixture, COUNTER(0)), 1 + 2 + 3 + 4);
	assert_int_equal(fixture_msr(&fixture, COUNTER(1)), 5 + 6 + 7 + 8);
	assert_int_equal(fixture_msr(&fixture, COUNTER(2)), 2);
	assert_int_equal(fixture_msr(&fixture, COUNTER(3)), 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_two_enables, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_fixed_counter, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_overflow, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_interrupt, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_freeze, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_fixed_overflow, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_times_of_the_memory, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_writes_that_wait, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_changes_of_state, setup, teardown),
	};

	return cmocka_run_group_tests_name("pmon governed", tests, NULL, NULL);
}
