/* Enabling, freezing, overflow and what follows it (334291-001 §2.1, §2.2.1.1, §2.5.1.1). */
#include "fixture.h"

/* CLOCKTICKS of CBo and HA, DCLOCKTICKS of the iMC: all of code 0. */
#define CLOCKTICKS EVENT(0x00, 0)

static struct fixture fixture;

static int setup(void **state UNUSED)
{
	fixture_up(&fixture);
	return 0;
}

static int teardown(void **state UNUSED)
{
	fixture_down(&fixture);
	return 0;
}

/* §1.5, §2.1.2: a counter counts only while it is enabled and nothing freezes it. */
static void test_every_level_stops(void **state UNUSED)
{
	fixture_at(&fixture, 1000);
	fixture_set_msr(&fixture, C_CTL(0, 0), CLOCKTICKS);
	fixture_at(&fixture, 2000);
	assert_int_equal(fixture_msr(&fixture, C_CTR(0, 0)), 0); /* not enabled */
	fixture_set_msr(&fixture, C_CTL(0, 0), EN | CLOCKTICKS);
	fixture_at(&fixture, 2700);
	assert_int_equal(fixture_msr(&fixture, C_CTR(0, 0)), 700);
	fixture_set_msr(&fixture, C_BOX_CTL(0), BOX_FRZ);
	fixture_at(&fixture, 3000);
	assert_int_equal(fixture_msr(&fixture, C_CTR(0, 0)), 700);
	fixture_set_msr(&fixture, C_BOX_CTL(0), BOX_GO);
	fixture_at(&fixture, 3050);
	fixture_set_msr(&fixture, GLOBAL_CTL, FRZ_ALL);
	fixture_at(&fixture, 4000);
	assert_int_equal(fixture_msr(&fixture, C_CTR(0, 0)), 750);
	fixture_set_msr(&fixture, GLOBAL_CTL, UNFRZ_ALL);
	fixture_at(&fixture, 4001);
	assert_int_equal(fixture_msr(&fixture, C_CTR(0, 0)), 751);
	fixture_set_msr(&fixture, C_CTL(0, 0), CLOCKTICKS);
	fixture_at(&fixture, 9000);
	assert_int_equal(fixture_msr(&fixture, C_CTR(0, 0)), 751);
}

/* Decided: two latches. Neither ends the other. */
static void test_box_and_global_freeze_are_apart(void **state UNUSED)
{
	fixture_set_msr(&fixture, C_CTL(0, 0), EN | CLOCKTICKS);
	fixture_set_msr(&fixture, C_BOX_CTL(0), BOX_FRZ);
	fixture_set_msr(&fixture, GLOBAL_CTL, FRZ_ALL);
	fixture_at(&fixture, 100);
	fixture_set_msr(&fixture, GLOBAL_CTL, UNFRZ_ALL);
	fixture_at(&fixture, 200);
	assert_int_equal(fixture_msr(&fixture, C_CTR(0, 0)), 0);
	fixture_set_msr(&fixture, GLOBAL_CTL, FRZ_ALL);
	fixture_set_msr(&fixture, C_BOX_CTL(0), BOX_GO);
	fixture_at(&fixture, 300);
	assert_int_equal(fixture_msr(&fixture, C_CTR(0, 0)), 0);
	/* Writes that name neither bit leave the freeze alone; both together freeze. */
	fixture_set_msr(&fixture, GLOBAL_CTL, 0x1);
	fixture_at(&fixture, 400);
	assert_int_equal(fixture_msr(&fixture, C_CTR(0, 0)), 0);
	fixture_set_msr(&fixture, GLOBAL_CTL, UNFRZ_ALL);
	fixture_set_msr(&fixture, GLOBAL_CTL, FRZ_ALL | UNFRZ_ALL);
	fixture_at(&fixture, 500);
	assert_int_equal(fixture_msr(&fixture, C_CTR(0, 0)), 0);
	fixture_set_msr(&fixture, GLOBAL_CTL, UNFRZ_ALL);
	fixture_at(&fixture, 600);
	assert_int_equal(fixture_msr(&fixture, C_CTR(0, 0)), 100);
	/* A reset write carries frz = 0 and so ends the box's freeze. */
	fixture_set_msr(&fixture, C_BOX_CTL(0), BOX_FRZ);
	fixture_set_msr(&fixture, C_BOX_CTL(0), 0x30002);
	fixture_at(&fixture, 650);
	assert_int_equal(fixture_msr(&fixture, C_CTR(0, 0)), 50);
}

static void test_frozen_signals_do_not_count(void **state UNUSED)
{
	fixture_set_msr(&fixture, C_CTL(0, 1),
			EN | EVENT(0x37, 0x0F)); /* LLC_VICTIMS, all states */
	fixture_pulse(&fixture, SIGNAL_LLC_VICTIM, 0, QUALIFIER_LLC_VICTIM_M, 10);
	fixture_at(&fixture, 20);
	fixture_set_msr(&fixture, C_BOX_CTL(0), BOX_FRZ);
	fixture_pulse(&fixture, SIGNAL_LLC_VICTIM, 0, QUALIFIER_LLC_VICTIM_M, 30);
	/* Told late: it is taken as happening now, and now the box is frozen. */
	fixture_pulse(&fixture, SIGNAL_LLC_VICTIM, 0, QUALIFIER_LLC_VICTIM_M, 15);
	fixture_at(&fixture, 40);
	fixture_set_msr(&fixture, C_BOX_CTL(0), BOX_GO);
	fixture_set_msr(&fixture, GLOBAL_CTL, FRZ_ALL);
	fixture_pulse(&fixture, SIGNAL_LLC_VICTIM, 0, QUALIFIER_LLC_VICTIM_M, 45);
	fixture_pulse(&fixture, SIGNAL_LLC_VICTIM, 0, QUALIFIER_LLC_VICTIM_M, 35);
	fixture_at(&fixture, 50);
	fixture_set_msr(&fixture, GLOBAL_CTL, UNFRZ_ALL);
	fixture_pulse(&fixture, SIGNAL_LLC_VICTIM, 0, QUALIFIER_LLC_VICTIM_M, 60);
	fixture_at(&fixture, 70);
	assert_int_equal(fixture_msr(&fixture, C_CTR(0, 1)), 2);
}

/* §2.3.1.2, table 2-15: a CBo tells nobody of its overflow. */
static void test_cbo_overflow_stays_in_the_box(void **state UNUSED)
{
	fixture_set_msr(&fixture, GLOBAL_CTL, 0x1);
	fixture_set_msr(&fixture, C_CTR(2, 3), COUNTER_LIMIT - 2);
	fixture_set_msr(&fixture, C_CTL(2, 3), EN | EVENT(0x37, 0x01));
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(fixture_msr(&fixture, C_STATUS(2)), i < 2 ? 0 : 1u << 3);
		fixture_pulse(&fixture, SIGNAL_LLC_VICTIM, 2, QUALIFIER_LLC_VICTIM_M, 10 + i);
		fixture_at(&fixture, 11 + i);
	}
	assert_int_equal(fixture_msr(&fixture, C_CTR(2, 3)), 3); /* wrapped, and went on */
	assert_int_equal(fixture_msr(&fixture, GLOBAL_STATUS), 0);
	assert_int_equal(pmon_interrupts(fixture.pmon, 0, 0, &fixture.now), 0);
	/* Writing 0 does not clear, writing another bit does not, writing the bit does. */
	fixture_set_msr(&fixture, C_STATUS(2), 0);
	fixture_set_msr(&fixture, C_STATUS(2), 0x7);
	assert_int_equal(fixture_msr(&fixture, C_STATUS(2)), 1u << 3);
	fixture_set_msr(&fixture, C_STATUS(2), 1u << 3);
	assert_int_equal(fixture_msr(&fixture, C_STATUS(2)), 0);
}

/* §2.5.1.1: without ov_en the box bit only; with it message, freeze of every box, PMI. */
static void test_ov_en(void **state UNUSED)
{
	fixture_set_pci(&fixture, HA(1, PCI_CTR(2)), COUNTER_LIMIT - 1000);
	fixture_set_pci(&fixture, HA(1, PCI_CTL(2)), EN | CLOCKTICKS);
	fixture_set_msr(&fixture, C_CTL(0, 0), EN | CLOCKTICKS);
	fixture_at(&fixture, 999);
	assert_int_equal(fixture_pci(&fixture, HA(1, PCI_STATUS)), 0);
	fixture_at(&fixture, 5000);
	assert_int_equal(fixture_pci(&fixture, HA(1, PCI_STATUS)), 1u << 2);
	assert_int_equal(fixture_pci(&fixture, HA(1, PCI_CTR(2))), 4000);
	assert_int_equal(fixture_msr(&fixture, GLOBAL_STATUS), 0);
	assert_int_equal(fixture_msr(&fixture, C_CTR(0, 0)), 5000);
}

/*
 * A carry in cycle 999 freezes from cycle 1000 on, everywhere in the socket, seen from every clock:
 * uncore cycle 1000 begins 428.6 DRAM cycles after power on.
 */
static void test_freeze_reaches_every_box(void **state UNUSED)
{
	fixture_set_msr(&fixture, GLOBAL_CTL, 0x20022);
	fixture_set_pci(&fixture, HA(1, PCI_CTR(2)), COUNTER_LIMIT - 1000);
	fixture_set_pci(&fixture, HA(1, PCI_CTL(2)), EN | OV_EN | CLOCKTICKS);
	fixture_set_msr(&fixture, C_CTL(9, 0), EN | CLOCKTICKS);
	fixture_set_msr(&fixture, UCLK_CTL, EN);
	fixture_set_pci(&fixture, MC(1, PCI_CTL(3)), EN | CLOCKTICKS);
	fixture_set_pci(&fixture, MC(1, PCI_FIXED_CTL), EN);
	fixture_set_msr_of(&fixture, 1, C_CTL(0, 0), EN | CLOCKTICKS);
	fixture_at(&fixture, 50000);
	assert_int_equal(fixture_msr(&fixture, C_CTR(9, 0)), 1000);
	assert_int_equal(fixture_msr(&fixture, UCLK_CTR), 1000);
	assert_int_equal(fixture_pci(&fixture, HA(1, PCI_CTR(2))), 0);
	assert_in_range(fixture_pci(&fixture, MC(1, PCI_CTR(3))), 428, 429);
	assert_in_range(fixture_pci(&fixture, MC(1, PCI_FIXED_CTR)), 428, 429);
	assert_int_equal(fixture_pci(&fixture, HA(1, PCI_STATUS)), 1u << 2);
	assert_int_equal(fixture_msr(&fixture, GLOBAL_STATUS), 1u << 22); /* ov_h1 */
	for (unsigned core = 0; core < 18; core++)
		assert_int_equal(pmon_interrupts(fixture.pmon, 0, core, &fixture.now),
				 core == 1 || core == 5 || core == 17);
	/* The other socket has its own UBox. */
	assert_int_equal(fixture_msr_of(&fixture, 1, C_CTR(0, 0)), 50000);
	assert_int_equal(pmon_interrupts(fixture.pmon, 1, 1, &fixture.now), 0);
}

/* The global bit of each box, tables 2-3, 1-3: fixed counters included. */
static void test_global_status_bits(void **state UNUSED)
{
	const struct {
		uint32_t counter, control, status;
		uint64_t box_bit, global_bit;
		bool pci;
	} cases[] = {
	    {HA(0, PCI_CTR(0)), HA(0, PCI_CTL(0)), HA(0, PCI_STATUS), 1 << 0, 1 << 21, true},
	    {HA(1, PCI_CTR(3)), HA(1, PCI_CTL(3)), HA(1, PCI_STATUS), 1 << 3, 1 << 22, true},
	    /* Bit 0 is the fixed counter's, bit n + 1 counter n's (errata). */
	    {MC(0, PCI_CTR(0)), MC(0, PCI_CTL(0)), MC(0, PCI_STATUS), 1 << 1, 1 << 23, true},
	    {MC(3, PCI_CTR(3)), MC(3, PCI_CTL(3)), MC(3, PCI_STATUS), 1 << 4, 1 << 23, true},
	    {MC(2, PCI_FIXED_CTR), MC(2, PCI_FIXED_CTL), MC(2, PCI_STATUS), 1 << 0, 1 << 23, true},
	    {PCI(24, 1, PCI_CTR(1)), PCI(24, 1, PCI_CTL(1)), PCI(24, 1, PCI_STATUS), 1 << 2,
	     1 << 24, true},
	    /* The fixed UCLK counter shows in the global status only. */
	    {UCLK_CTR, UCLK_CTL, U_STATUS, 0, 1 << 0, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		void (*set)(struct fixture *, uint32_t, uint64_t) =
		    cases[i].pci ? fixture_set_pci : fixture_set_msr;
		uint64_t (*get)(struct fixture *, uint32_t) =
		    cases[i].pci ? fixture_pci : fixture_msr;

		fixture_down(&fixture);
		fixture_up(&fixture);
		set(&fixture, cases[i].counter, COUNTER_LIMIT - 10);
		set(&fixture, cases[i].control, EN | OV_EN | CLOCKTICKS);
		fixture_at(&fixture, 1000);
		assert_int_equal(get(&fixture, cases[i].status), cases[i].box_bit);
		assert_int_equal(fixture_msr(&fixture, GLOBAL_STATUS), cases[i].global_bit);
		assert_int_equal(get(&fixture, cases[i].counter), 0);
	}
}

/* Lets counter 0 of HA 0 overflow once more. @return whether that froze the socket */
static bool overflows_and_freezes(void)
{
	uint64_t now = fixture.now.cycles[PMU_CLOCK_UCLK], before;

	fixture_set_pci(&fixture, HA(0, PCI_CTR(0)), COUNTER_LIMIT - 100);
	before = fixture_msr(&fixture, C_CTR(0, 0));
	fixture_set_msr(&fixture, GLOBAL_CTL, UNFRZ_ALL | 1);
	fixture_at(&fixture, now + 1000);
	return fixture_msr(&fixture, C_CTR(0, 0)) - before == 100;
}

/* §2.5.1.1: both bits have to be cleared before a new freeze, in whichever order. */
static void test_no_second_freeze_before_both_are_cleared(void **state UNUSED)
{
	fixture_set_msr(&fixture, GLOBAL_CTL, FRZ_ALL);
	fixture_set_pci(&fixture, HA(0, PCI_CTL(0)), EN | OV_EN | CLOCKTICKS);
	fixture_set_msr(&fixture, C_CTL(0, 0), EN | CLOCKTICKS);
	assert_true(overflows_and_freezes());
	assert_int_equal(pmon_interrupts(fixture.pmon, 0, 0, &fixture.now), 1);
	assert_false(overflows_and_freezes()); /* neither */
	fixture_set_msr(&fixture, GLOBAL_STATUS, 1 << 21);
	assert_int_equal(fixture_msr(&fixture, GLOBAL_STATUS), 0);
	assert_false(overflows_and_freezes()); /* the global one only: and it is set again */
	assert_int_equal(fixture_msr(&fixture, GLOBAL_STATUS), 1 << 21);
	fixture_set_msr(&fixture, GLOBAL_STATUS, 1 << 21);
	fixture_set_pci(&fixture, HA(0, PCI_STATUS), 1);
	assert_true(overflows_and_freezes()); /* global, then box */
	fixture_set_pci(&fixture, HA(0, PCI_STATUS), 1);
	assert_int_equal(fixture_pci(&fixture, HA(0, PCI_STATUS)), 0);
	assert_false(overflows_and_freezes()); /* the box's only */
	fixture_set_pci(&fixture, HA(0, PCI_STATUS), 1);
	fixture_set_msr(&fixture, GLOBAL_STATUS, 1 << 21);
	assert_true(overflows_and_freezes()); /* box, then global */
	assert_int_equal(pmon_interrupts(fixture.pmon, 0, 0, &fixture.now), 3);
}

/* §2.1.4: cleared and preloaded again, a sample starts; unfrz_all lets it run. */
static void test_sampling(void **state UNUSED)
{
	fixture_set_msr(&fixture, GLOBAL_CTL, FRZ_ALL | 1u << 3);
	fixture_set_msr(&fixture, UCLK_CTL, EN | OV_EN);
	fixture_set_msr(&fixture, C_CTL(1, 0), EN | EVENT(0x37, 0x01));
	for (unsigned sample = 1; sample <= 5; sample++) {
		uint64_t start = sample * 10000;

		fixture_at(&fixture, start);
		fixture_set_msr(&fixture, C_BOX_CTL(1), 0x30002);
		fixture_set_msr(&fixture, GLOBAL_STATUS, 1);
		fixture_set_msr(&fixture, UCLK_CTR, COUNTER_LIMIT - 500);
		fixture_set_msr(&fixture, GLOBAL_CTL, UNFRZ_ALL | 1u << 3);
		/* One a cycle: those of the first 500 cycles count. */
		for (unsigned cycle = 0; cycle < 2000; cycle++)
			fixture_pulse(&fixture, SIGNAL_LLC_VICTIM, 1, QUALIFIER_LLC_VICTIM_M,
				      start + cycle);
		fixture_at(&fixture, start + 5000);
		assert_int_equal(fixture_msr(&fixture, C_CTR(1, 0)), 500);
		assert_int_equal(fixture_msr(&fixture, GLOBAL_STATUS), 1);
		assert_int_equal(pmon_interrupts(fixture.pmon, 0, 3, &fixture.now), sample);
	}
}

/* A plain count freezes from the cycle after that of its carry. */
static void test_count_overflow_freezes(void **state UNUSED)
{
	fixture_set_pci(&fixture, HA(0, PCI_CTR(1)), COUNTER_LIMIT - 3);
	fixture_set_pci(&fixture, HA(0, PCI_CTL(1)),
			EN | OV_EN | EVENT(0x17, 0x01)); /* IMC_READS */
	fixture_set_pci(&fixture, HA(0, PCI_CTL(2)), EN | EVENT(0x17, 0x01));
	fixture_set_pci(&fixture, HA(1, PCI_CTL(0)), EN | CLOCKTICKS);
	for (unsigned i = 1; i <= 10; i++)
		fixture_pulse(&fixture, SIGNAL_HOME_MEMORY_READ, 0, 0, 100 * i);
	fixture_at(&fixture, 5000);
	assert_int_equal(fixture_pci(&fixture, HA(0, PCI_CTR(1))), 0);
	assert_int_equal(fixture_pci(&fixture, HA(0, PCI_CTR(2))), 3);
	assert_int_equal(fixture_pci(&fixture, HA(1, PCI_CTR(0))), 301);
}

/* A counter that adds 7 a cycle wraps in the right cycle, with the rest kept. */
static void test_occupancy_overflow(void **state UNUSED)
{
	fixture_set_pci(&fixture, HA(0, PCI_CTR(0)), COUNTER_LIMIT - 100);
	fixture_set_pci(&fixture, HA(0, PCI_CTL(0)),
			EN | OV_EN | EVENT(0x04, 0x04)); /* TRACKER_OCCUPANCY */
	fixture_set_pci(&fixture, HA(0, PCI_CTL(1)), EN | CLOCKTICKS);
	for (unsigned i = 0; i < 7; i++)
		fixture_span(&fixture, SIGNAL_HOME_REQUEST, 0, QUALIFIER_HOME_REQUEST_READ_LOCAL,
			     1000, 500);
	fixture_at(&fixture, 3000);
	/* 15 cycles of 7 make 105: the carry comes in cycle 1014. */
	assert_int_equal(fixture_pci(&fixture, HA(0, PCI_CTR(0))), 5);
	assert_int_equal(fixture_pci(&fixture, HA(0, PCI_STATUS)), 1);
	assert_int_equal(fixture_msr(&fixture, GLOBAL_STATUS), 1 << 21);
	assert_int_equal(fixture_pci(&fixture, HA(0, PCI_CTR(1))), 1015);
}

/* Two counters of cycles in different clocks: the earlier overflow is the one that freezes. */
static void test_earlier_overflow_freezes(void **state UNUSED)
{
	fixture_set_pci(&fixture, HA(0, PCI_CTR(0)), COUNTER_LIMIT - 2800);
	fixture_set_pci(&fixture, HA(0, PCI_CTL(0)), EN | OV_EN | CLOCKTICKS);
	fixture_set_pci(&fixture, MC(0, PCI_FIXED_CTR), COUNTER_LIMIT - 600);
	fixture_set_pci(&fixture, MC(0, PCI_FIXED_CTL), EN | OV_EN);
	fixture_set_msr(&fixture, C_CTL(0, 0), EN | CLOCKTICKS);
	fixture_at(&fixture, 100000);
	/* 600 DRAM cycles are 1400 uncore cycles. */
	assert_int_equal(fixture_msr(&fixture, C_CTR(0, 0)), 1400);
	assert_int_equal(fixture_pci(&fixture, HA(0, PCI_CTR(0))), COUNTER_LIMIT - 1400);
	assert_int_equal(fixture_msr(&fixture, GLOBAL_STATUS), 1 << 23);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_every_level_stops, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_box_and_global_freeze_are_apart, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_frozen_signals_do_not_count, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_cbo_overflow_stays_in_the_box, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_ov_en, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_freeze_reaches_every_box, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_global_status_bits, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_no_second_freeze_before_both_are_cleared, setup,
					    teardown),
	    cmocka_unit_test_setup_teardown(test_sampling, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_count_overflow_freezes, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_occupancy_overflow, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_earlier_overflow_freezes, setup, teardown),
	};

	return cmocka_run_group_tests_name("pmon overflow", tests, NULL, NULL);
}
