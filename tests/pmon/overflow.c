/* Enabling, freezing, overflow and what follows it (334291-001 §2.1, §2.2.1.1, §2.5.1.1). */
#include "rig.h"

#define UNUSED __attribute__((unused))

/* CLOCKTICKS of CBo and HA, DCLOCKTICKS of the iMC: all of code 0. */
#define CLOCKTICKS EVENT(0x00, 0)

static struct rig rig;

static int setup(void **state UNUSED)
{
	rig_open(&rig);
	return 0;
}

static int teardown(void **state UNUSED)
{
	rig_close(&rig);
	return 0;
}

/* §1.5, §2.1.2: a counter counts only while it is enabled and nothing freezes it. */
static void test_every_level_stops(void **state UNUSED)
{
	rig_at(&rig, 1000);
	rig_set_msr(&rig, C_CTL(0, 0), CLOCKTICKS);
	rig_at(&rig, 2000);
	assert_int_equal(rig_msr(&rig, C_CTR(0, 0)), 0); /* not enabled */
	rig_set_msr(&rig, C_CTL(0, 0), EN | CLOCKTICKS);
	rig_at(&rig, 2700);
	assert_int_equal(rig_msr(&rig, C_CTR(0, 0)), 700);
	rig_set_msr(&rig, C_BOX_CTL(0), BOX_FRZ);
	rig_at(&rig, 3000);
	assert_int_equal(rig_msr(&rig, C_CTR(0, 0)), 700);
	rig_set_msr(&rig, C_BOX_CTL(0), BOX_GO);
	rig_at(&rig, 3050);
	rig_set_msr(&rig, GLOBAL_CTL, FRZ_ALL);
	rig_at(&rig, 4000);
	assert_int_equal(rig_msr(&rig, C_CTR(0, 0)), 750);
	rig_set_msr(&rig, GLOBAL_CTL, UNFRZ_ALL);
	rig_at(&rig, 4001);
	assert_int_equal(rig_msr(&rig, C_CTR(0, 0)), 751);
	rig_set_msr(&rig, C_CTL(0, 0), CLOCKTICKS);
	rig_at(&rig, 9000);
	assert_int_equal(rig_msr(&rig, C_CTR(0, 0)), 751);
}

/* Decided: two latches. Neither ends the other. */
static void test_box_and_global_freeze_are_apart(void **state UNUSED)
{
	rig_set_msr(&rig, C_CTL(0, 0), EN | CLOCKTICKS);
	rig_set_msr(&rig, C_BOX_CTL(0), BOX_FRZ);
	rig_set_msr(&rig, GLOBAL_CTL, FRZ_ALL);
	rig_at(&rig, 100);
	rig_set_msr(&rig, GLOBAL_CTL, UNFRZ_ALL);
	rig_at(&rig, 200);
	assert_int_equal(rig_msr(&rig, C_CTR(0, 0)), 0);
	rig_set_msr(&rig, GLOBAL_CTL, FRZ_ALL);
	rig_set_msr(&rig, C_BOX_CTL(0), BOX_GO);
	rig_at(&rig, 300);
	assert_int_equal(rig_msr(&rig, C_CTR(0, 0)), 0);
	/* Writes that name neither bit leave the freeze alone; both together freeze. */
	rig_set_msr(&rig, GLOBAL_CTL, 0x1);
	rig_at(&rig, 400);
	assert_int_equal(rig_msr(&rig, C_CTR(0, 0)), 0);
	rig_set_msr(&rig, GLOBAL_CTL, UNFRZ_ALL);
	rig_set_msr(&rig, GLOBAL_CTL, FRZ_ALL | UNFRZ_ALL);
	rig_at(&rig, 500);
	assert_int_equal(rig_msr(&rig, C_CTR(0, 0)), 0);
	rig_set_msr(&rig, GLOBAL_CTL, UNFRZ_ALL);
	rig_at(&rig, 600);
	assert_int_equal(rig_msr(&rig, C_CTR(0, 0)), 100);
	/* A reset write carries frz = 0 and so ends the box's freeze. */
	rig_set_msr(&rig, C_BOX_CTL(0), BOX_FRZ);
	rig_set_msr(&rig, C_BOX_CTL(0), 0x30002);
	rig_at(&rig, 650);
	assert_int_equal(rig_msr(&rig, C_CTR(0, 0)), 50);
}

static void test_frozen_signals_do_not_count(void **state UNUSED)
{
	rig_set_msr(&rig, C_CTL(0, 1), EN | EVENT(0x37, 0x0F)); /* LLC_VICTIMS, all states */
	rig_pulse(&rig, SIGNAL_LLC_VICTIM, 0, QUALIFIER_LLC_VICTIM_M, 10);
	rig_at(&rig, 20);
	rig_set_msr(&rig, C_BOX_CTL(0), BOX_FRZ);
	rig_pulse(&rig, SIGNAL_LLC_VICTIM, 0, QUALIFIER_LLC_VICTIM_M, 30);
	/* Told late: it is taken as happening now, and now the box is frozen. */
	rig_pulse(&rig, SIGNAL_LLC_VICTIM, 0, QUALIFIER_LLC_VICTIM_M, 15);
	rig_at(&rig, 40);
	rig_set_msr(&rig, C_BOX_CTL(0), BOX_GO);
	rig_set_msr(&rig, GLOBAL_CTL, FRZ_ALL);
	rig_pulse(&rig, SIGNAL_LLC_VICTIM, 0, QUALIFIER_LLC_VICTIM_M, 45);
	rig_pulse(&rig, SIGNAL_LLC_VICTIM, 0, QUALIFIER_LLC_VICTIM_M, 35);
	rig_at(&rig, 50);
	rig_set_msr(&rig, GLOBAL_CTL, UNFRZ_ALL);
	rig_pulse(&rig, SIGNAL_LLC_VICTIM, 0, QUALIFIER_LLC_VICTIM_M, 60);
	rig_at(&rig, 70);
	assert_int_equal(rig_msr(&rig, C_CTR(0, 1)), 2);
}

/* §2.3.1.2, table 2-15: a CBo tells nobody of its overflow. */
static void test_cbo_overflow_stays_in_the_box(void **state UNUSED)
{
	rig_set_msr(&rig, GLOBAL_CTL, 0x1);
	rig_set_msr(&rig, C_CTR(2, 3), COUNTER_LIMIT - 2);
	rig_set_msr(&rig, C_CTL(2, 3), EN | EVENT(0x37, 0x01));
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(rig_msr(&rig, C_STATUS(2)), i < 2 ? 0 : 1u << 3);
		rig_pulse(&rig, SIGNAL_LLC_VICTIM, 2, QUALIFIER_LLC_VICTIM_M, 10 + i);
		rig_at(&rig, 11 + i);
	}
	assert_int_equal(rig_msr(&rig, C_CTR(2, 3)), 3); /* wrapped, and went on */
	assert_int_equal(rig_msr(&rig, GLOBAL_STATUS), 0);
	assert_int_equal(pmon_interrupts(rig.pmon, 0, 0, &rig.now), 0);
	/* Writing 0 does not clear, writing another bit does not, writing the bit does. */
	rig_set_msr(&rig, C_STATUS(2), 0);
	rig_set_msr(&rig, C_STATUS(2), 0x7);
	assert_int_equal(rig_msr(&rig, C_STATUS(2)), 1u << 3);
	rig_set_msr(&rig, C_STATUS(2), 1u << 3);
	assert_int_equal(rig_msr(&rig, C_STATUS(2)), 0);
}

/* §2.5.1.1: without ov_en the box bit only; with it message, freeze of every box, PMI. */
static void test_ov_en(void **state UNUSED)
{
	rig_set_pci(&rig, HA(1, PCI_CTR(2)), COUNTER_LIMIT - 1000);
	rig_set_pci(&rig, HA(1, PCI_CTL(2)), EN | CLOCKTICKS);
	rig_set_msr(&rig, C_CTL(0, 0), EN | CLOCKTICKS);
	rig_at(&rig, 999);
	assert_int_equal(rig_pci(&rig, HA(1, PCI_STATUS)), 0);
	rig_at(&rig, 5000);
	assert_int_equal(rig_pci(&rig, HA(1, PCI_STATUS)), 1u << 2);
	assert_int_equal(rig_pci(&rig, HA(1, PCI_CTR(2))), 4000);
	assert_int_equal(rig_msr(&rig, GLOBAL_STATUS), 0);
	assert_int_equal(rig_msr(&rig, C_CTR(0, 0)), 5000);
}

/*
 * A carry in cycle 999 freezes from cycle 1000 on, everywhere in the socket, seen from every clock:
 * uncore cycle 1000 begins 428.6 DRAM cycles after power on.
 */
static void test_freeze_reaches_every_box(void **state UNUSED)
{
	rig_set_msr(&rig, GLOBAL_CTL, 0x20022);
	rig_set_pci(&rig, HA(1, PCI_CTR(2)), COUNTER_LIMIT - 1000);
	rig_set_pci(&rig, HA(1, PCI_CTL(2)), EN | OV_EN | CLOCKTICKS);
	rig_set_msr(&rig, C_CTL(9, 0), EN | CLOCKTICKS);
	rig_set_msr(&rig, UCLK_CTL, EN);
	rig_set_pci(&rig, MC(1, PCI_CTL(3)), EN | CLOCKTICKS);
	rig_set_pci(&rig, MC(1, PCI_FIXED_CTL), EN);
	rig_set_msr_of(&rig, 1, C_CTL(0, 0), EN | CLOCKTICKS);
	rig_at(&rig, 50000);
	assert_int_equal(rig_msr(&rig, C_CTR(9, 0)), 1000);
	assert_int_equal(rig_msr(&rig, UCLK_CTR), 1000);
	assert_int_equal(rig_pci(&rig, HA(1, PCI_CTR(2))), 0);
	assert_in_range(rig_pci(&rig, MC(1, PCI_CTR(3))), 428, 429);
	assert_in_range(rig_pci(&rig, MC(1, PCI_FIXED_CTR)), 428, 429);
	assert_int_equal(rig_pci(&rig, HA(1, PCI_STATUS)), 1u << 2);
	assert_int_equal(rig_msr(&rig, GLOBAL_STATUS), 1u << 22); /* ov_h1 */
	for (unsigned core = 0; core < 18; core++)
		assert_int_equal(pmon_interrupts(rig.pmon, 0, core, &rig.now),
				 core == 1 || core == 5 || core == 17);
	/* The other socket has its own UBox. */
	assert_int_equal(rig_msr_of(&rig, 1, C_CTR(0, 0)), 50000);
	assert_int_equal(pmon_interrupts(rig.pmon, 1, 1, &rig.now), 0);
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
		void (*set)(struct rig *, uint32_t, uint64_t) =
		    cases[i].pci ? rig_set_pci : rig_set_msr;
		uint64_t (*get)(struct rig *, uint32_t) = cases[i].pci ? rig_pci : rig_msr;

		rig_close(&rig);
		rig_open(&rig);
		set(&rig, cases[i].counter, COUNTER_LIMIT - 10);
		set(&rig, cases[i].control, EN | OV_EN | CLOCKTICKS);
		rig_at(&rig, 1000);
		assert_int_equal(get(&rig, cases[i].status), cases[i].box_bit);
		assert_int_equal(rig_msr(&rig, GLOBAL_STATUS), cases[i].global_bit);
		assert_int_equal(get(&rig, cases[i].counter), 0);
	}
}

/* Lets counter 0 of HA 0 overflow once more. @return whether that froze the socket */
static bool overflows_and_freezes(void)
{
	uint64_t now = rig.now.cycles[PMU_CLOCK_UCLK], before;

	rig_set_pci(&rig, HA(0, PCI_CTR(0)), COUNTER_LIMIT - 100);
	before = rig_msr(&rig, C_CTR(0, 0));
	rig_set_msr(&rig, GLOBAL_CTL, UNFRZ_ALL | 1);
	rig_at(&rig, now + 1000);
	return rig_msr(&rig, C_CTR(0, 0)) - before == 100;
}

/* §2.5.1.1: both bits have to be cleared before a new freeze, in whichever order. */
static void test_no_second_freeze_before_both_are_cleared(void **state UNUSED)
{
	rig_set_msr(&rig, GLOBAL_CTL, FRZ_ALL);
	rig_set_pci(&rig, HA(0, PCI_CTL(0)), EN | OV_EN | CLOCKTICKS);
	rig_set_msr(&rig, C_CTL(0, 0), EN | CLOCKTICKS);
	assert_true(overflows_and_freezes());
	assert_int_equal(pmon_interrupts(rig.pmon, 0, 0, &rig.now), 1);
	assert_false(overflows_and_freezes()); /* neither */
	rig_set_msr(&rig, GLOBAL_STATUS, 1 << 21);
	assert_int_equal(rig_msr(&rig, GLOBAL_STATUS), 0);
	assert_false(overflows_and_freezes()); /* the global one only: and it is set again */
	assert_int_equal(rig_msr(&rig, GLOBAL_STATUS), 1 << 21);
	rig_set_msr(&rig, GLOBAL_STATUS, 1 << 21);
	rig_set_pci(&rig, HA(0, PCI_STATUS), 1);
	assert_true(overflows_and_freezes()); /* global, then box */
	rig_set_pci(&rig, HA(0, PCI_STATUS), 1);
	assert_int_equal(rig_pci(&rig, HA(0, PCI_STATUS)), 0);
	assert_false(overflows_and_freezes()); /* the box's only */
	rig_set_pci(&rig, HA(0, PCI_STATUS), 1);
	rig_set_msr(&rig, GLOBAL_STATUS, 1 << 21);
	assert_true(overflows_and_freezes()); /* box, then global */
	assert_int_equal(pmon_interrupts(rig.pmon, 0, 0, &rig.now), 3);
}

/* §2.1.4: cleared and preloaded again, a sample starts; unfrz_all lets it run. */
static void test_sampling(void **state UNUSED)
{
	rig_set_msr(&rig, GLOBAL_CTL, FRZ_ALL | 1u << 3);
	rig_set_msr(&rig, UCLK_CTL, EN | OV_EN);
	rig_set_msr(&rig, C_CTL(1, 0), EN | EVENT(0x37, 0x01));
	for (unsigned sample = 1; sample <= 5; sample++) {
		uint64_t start = sample * 10000;

		rig_at(&rig, start);
		rig_set_msr(&rig, C_BOX_CTL(1), 0x30002);
		rig_set_msr(&rig, GLOBAL_STATUS, 1);
		rig_set_msr(&rig, UCLK_CTR, COUNTER_LIMIT - 500);
		rig_set_msr(&rig, GLOBAL_CTL, UNFRZ_ALL | 1u << 3);
		/* One a cycle: those of the first 500 cycles count. */
		for (unsigned cycle = 0; cycle < 2000; cycle++)
			rig_pulse(&rig, SIGNAL_LLC_VICTIM, 1, QUALIFIER_LLC_VICTIM_M,
				  start + cycle);
		rig_at(&rig, start + 5000);
		assert_int_equal(rig_msr(&rig, C_CTR(1, 0)), 500);
		assert_int_equal(rig_msr(&rig, GLOBAL_STATUS), 1);
		assert_int_equal(pmon_interrupts(rig.pmon, 0, 3, &rig.now), sample);
	}
}

/* A plain count freezes from the cycle after that of its carry. */
static void test_count_overflow_freezes(void **state UNUSED)
{
	rig_set_pci(&rig, HA(0, PCI_CTR(1)), COUNTER_LIMIT - 3);
	rig_set_pci(&rig, HA(0, PCI_CTL(1)), EN | OV_EN | EVENT(0x17, 0x01)); /* IMC_READS */
	rig_set_pci(&rig, HA(0, PCI_CTL(2)), EN | EVENT(0x17, 0x01));
	rig_set_pci(&rig, HA(1, PCI_CTL(0)), EN | CLOCKTICKS);
	for (unsigned i = 1; i <= 10; i++)
		rig_pulse(&rig, SIGNAL_HOME_MEMORY_READ, 0, 0, 100 * i);
	rig_at(&rig, 5000);
	assert_int_equal(rig_pci(&rig, HA(0, PCI_CTR(1))), 0);
	assert_int_equal(rig_pci(&rig, HA(0, PCI_CTR(2))), 3);
	assert_int_equal(rig_pci(&rig, HA(1, PCI_CTR(0))), 301);
}

/* A counter that adds 7 a cycle wraps in the right cycle, with the rest kept. */
static void test_occupancy_overflow(void **state UNUSED)
{
	rig_set_pci(&rig, HA(0, PCI_CTR(0)), COUNTER_LIMIT - 100);
	rig_set_pci(&rig, HA(0, PCI_CTL(0)),
		    EN | OV_EN | EVENT(0x04, 0x04)); /* TRACKER_OCCUPANCY */
	rig_set_pci(&rig, HA(0, PCI_CTL(1)), EN | CLOCKTICKS);
	for (unsigned i = 0; i < 7; i++)
		rig_span(&rig, SIGNAL_HOME_REQUEST, 0, QUALIFIER_HOME_REQUEST_READ_LOCAL, 1000,
			 500);
	rig_at(&rig, 3000);
	/* 15 cycles of 7 make 105: the carry comes in cycle 1014. */
	assert_int_equal(rig_pci(&rig, HA(0, PCI_CTR(0))), 5);
	assert_int_equal(rig_pci(&rig, HA(0, PCI_STATUS)), 1);
	assert_int_equal(rig_msr(&rig, GLOBAL_STATUS), 1 << 21);
	assert_int_equal(rig_pci(&rig, HA(0, PCI_CTR(1))), 1015);
}

/* Two counters of cycles in different clocks: the earlier overflow is the one that freezes. */
static void test_earlier_overflow_freezes(void **state UNUSED)
{
	rig_set_pci(&rig, HA(0, PCI_CTR(0)), COUNTER_LIMIT - 2800);
	rig_set_pci(&rig, HA(0, PCI_CTL(0)), EN | OV_EN | CLOCKTICKS);
	rig_set_pci(&rig, MC(0, PCI_FIXED_CTR), COUNTER_LIMIT - 600);
	rig_set_pci(&rig, MC(0, PCI_FIXED_CTL), EN | OV_EN);
	rig_set_msr(&rig, C_CTL(0, 0), EN | CLOCKTICKS);
	rig_at(&rig, 100000);
	/* 600 DRAM cycles are 1400 uncore cycles. */
	assert_int_equal(rig_msr(&rig, C_CTR(0, 0)), 1400);
	assert_int_equal(rig_pci(&rig, HA(0, PCI_CTR(0))), COUNTER_LIMIT - 1400);
	assert_int_equal(rig_msr(&rig, GLOBAL_STATUS), 1 << 23);
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
