/* Strict mode: each rule is broken once, and good software breaks none. */
#include <string.h>

#include "fixture.h"

#define TOR_INSERTS 0x35
#define OPC_DRD	    (0x182u << 20)

static struct {
	struct fixture fixture;
	unsigned count;
	char reg[40], rule[128];
	uint64_t value;
	unsigned instance;
} test;

static void collect(void *arg UNUSED, const struct pmon_violation *violation)
{
	test.count++;
	strncpy(test.reg, violation->reg, sizeof(test.reg) - 1);
	strncpy(test.rule, violation->rule, sizeof(test.rule) - 1);
	test.value = violation->value;
	test.instance = violation->instance;
	assert_non_null(strstr(violation->source, "334291-001"));
}

static int setup(void **state UNUSED)
{
	memset(&test, 0, sizeof(test));
	fixture_up(&test.fixture);
	pmon_strict(test.fixture.pmon, collect, NULL);
	return 0;
}

static int teardown(void **state UNUSED)
{
	fixture_down(&test.fixture);
	return 0;
}

static void set_msr(uint32_t address, uint64_t value)
{
	test.count = 0;
	fixture_set_msr(&test.fixture, address, value);
}

static void set_pci(uint32_t address, uint64_t value)
{
	test.count = 0;
	fixture_set_pci(&test.fixture, address, value);
}

/* Exactly one violation by the last access, of this register, with these words. */
#define assert_violation(register_name, words)                                                     \
	do {                                                                                       \
		assert_int_equal(test.count, 1);                                                   \
		assert_string_equal(test.reg, register_name);                                      \
		if (!strstr(test.rule, words))                                                     \
			fail_msg("\"%s\" does not say \"%s\"", test.rule, words);                  \
	} while (0)
#define assert_clean() assert_int_equal(test.count, 0)

/* §2.1.2 to §2.1.4 as written, errata decided: not one line. */
static void test_good_session(void **state UNUSED)
{
	fixture_set_msr(&test.fixture, GLOBAL_CTL, FRZ_ALL);
	for (unsigned sample = 0; sample < 3; sample++) {
		fixture_set_msr(&test.fixture, C_BOX_CTL(0), 0x30103);
		fixture_set_pci(&test.fixture, HA(0, PCI_BOX_CTL), 0x30103);
		fixture_set_pci(&test.fixture, HA(0, PCI_STATUS), 0xF);
		fixture_set_msr(&test.fixture, GLOBAL_STATUS, 0xC3FE00007);
		fixture_set_msr(&test.fixture, C_FILTER1(0), OPC_DRD);
		fixture_set_msr(&test.fixture, C_CTL(0, 1), EN | EVENT(TOR_INSERTS, 0x03));
		fixture_set_msr(&test.fixture, C_CTL(0, 2), EN | EVENT(0x00, 0));
		fixture_set_pci(&test.fixture, HA(0, PCI_CTL(0)), EN | OV_EN | EVENT(0x00, 0));
		fixture_set_pci(&test.fixture, HA(0, PCI_CTR(0)), COUNTER_LIMIT - 1000);
		fixture_set_msr(&test.fixture, C_BOX_CTL(0), BOX_GO);
		fixture_set_pci(&test.fixture, HA(0, PCI_BOX_CTL), BOX_GO);
		fixture_set_msr(&test.fixture, GLOBAL_CTL, UNFRZ_ALL);
		fixture_at(&test.fixture, 5000 * (sample + 1));
		assert_int_equal(fixture_pci(&test.fixture, HA(0, PCI_STATUS)), 1);
		fixture_msr(&test.fixture, C_CTR(0, 2));
		/* The next round resets controls: they are turned off before. */
		fixture_set_msr(&test.fixture, C_CTL(0, 1), 0);
		fixture_set_msr(&test.fixture, C_CTL(0, 2), 0);
		fixture_set_pci(&test.fixture, HA(0, PCI_CTL(0)), 0);
	}
	assert_clean();
}

static void test_reserved_bits(void **state UNUSED)
{
	set_msr(C_BOX_CTL(0), 0x3);
	assert_violation("Cn_MSR_PMON_BOX_CTL", "written as 1");
	assert_int_equal(test.value, 0x3);
	set_msr(C_BOX_CTL(0), 0x10003);
	assert_violation("Cn_MSR_PMON_BOX_CTL", "written as 1");
	set_msr(C_BOX_CTL(0), 0x30003);
	assert_clean();
	set_msr(C_BOX_CTL(0), 0x70003);
	assert_violation("Cn_MSR_PMON_BOX_CTL", "reserved bits are set");
	set_msr(C_CTL(0, 0), 1u << 21);
	assert_violation("Cn_MSR_PMON_CTL0", "written as 0");
	set_msr(C_FILTER0(0), 1u << 6);
	assert_violation("Cn_MSR_PMON_BOX_FILTER0", "written as 0");
	set_msr(GLOBAL_CTL, 1u << 20);
	assert_violation("U_MSR_PMON_GLOBAL_CTL", "reserved bits are set");
	set_msr(C_FILTER1(0), 1ull << 40);
	assert_violation("Cn_MSR_PMON_BOX_FILTER1", "reserved bits are set");
	/* What the HA ignores it ignores. */
	set_pci(HA(0, PCI_BOX_CTL), 0xFFFFFFFF);
	assert_clean();
	set_pci(HA(0, PCI_STATUS), 1u << 4);
	assert_violation("HAn_PCI_PMON_BOX_STATUS", "written as 0");
}

static void test_events(void **state UNUSED)
{
	set_msr(GLOBAL_CTL, FRZ_ALL);
	set_msr(C_CTL(5 + 3, 0), EN | EVENT(0xEE, 0));
	assert_violation("Cn_MSR_PMON_CTL0", "no event of this code");
	assert_int_equal(test.instance, 8);
	set_msr(C_CTL(0, 1), EN | EVENT(0x36, 0x08)); /* TOR_OCCUPANCY: counter 0 only */
	assert_violation("Cn_MSR_PMON_CTL1", "cannot count");
	set_msr(C_CTL(0, 0), EN | EVENT(0x36, 0x08));
	assert_clean();
	/* Table 2-40 lists 0x03 and 0x2A, but not 0x0B; 0 selects nothing. */
	set_msr(C_CTL(0, 1), EN | EVENT(TOR_INSERTS, 0x0B));
	assert_violation("Cn_MSR_PMON_CTL1", "unit mask");
	set_msr(C_CTL(0, 1), EN | EVENT(TOR_INSERTS, 0));
	assert_violation("Cn_MSR_PMON_CTL1", "unit mask");
	set_msr(C_CTL(0, 1), EN | EVENT(TOR_INSERTS, 0x2A));
	assert_clean();
	/* LLC_VICTIMS adds states up, but has no bit 5. */
	set_msr(C_CTL(0, 1), EN | EVENT(0x37, 0x0F));
	assert_clean();
	set_msr(C_CTL(0, 1), EN | EVENT(0x37, 0x2F));
	assert_violation("Cn_MSR_PMON_CTL1", "unit mask");
	/* LLC_LOOKUP.WRITE+REMOTE_SNOOP share bit 0. */
	set_msr(C_CTL(0, 1), EN | EVENT(0x34, 0x0D));
	assert_clean();
	/* IRQ_REJ of RxR_INSERTS stands alone. */
	set_msr(C_CTL(0, 1), EN | EVENT(0x13, 0x02));
	assert_clean();
	set_msr(C_CTL(0, 1), EN | EVENT(0x13, 0x03));
	assert_violation("Cn_MSR_PMON_CTL1", "unit mask");
	set_msr(C_CTL(0, 1), EN | EDGE | EVENT(0x37, 0x01));
	assert_violation("Cn_MSR_PMON_CTL1", "threshold");
	set_msr(C_CTL(0, 1), EN | INVERT | EVENT(0x37, 0x01));
	assert_violation("Cn_MSR_PMON_CTL1", "threshold");
	set_msr(C_CTL(0, 1), EN | INVERT | EDGE | THRESH(1) | EVENT(0x37, 0x01));
	assert_clean();
	/* Not enabled, nothing is wrong yet; UBox counters idle with event 0 (§2.1.2). */
	set_msr(C_CTL(0, 2), EVENT(0xEE, 0));
	assert_clean();
	set_msr(U_CTL(0), EN);
	assert_clean();
}

static void test_filters(void **state UNUSED)
{
	set_msr(C_BOX_CTL(0), BOX_FRZ);
	set_msr(C_CTL(0, 1), EN | EVENT(TOR_INSERTS, 0x41)); /* NID_OPCODE */
	set_msr(C_FILTER1(0), OPC_DRD);
	assert_clean();
	set_msr(C_BOX_CTL(0), BOX_GO);
	assert_violation("Cn_MSR_PMON_BOX_FILTER1", "filter field that is 0");
	set_msr(C_BOX_CTL(0), BOX_FRZ);
	set_msr(C_FILTER1(0), OPC_DRD | 1);
	set_msr(C_BOX_CTL(0), BOX_GO);
	assert_clean();
	set_msr(C_FILTER1(0), OPC_DRD | 2);
	assert_violation("Cn_MSR_PMON_BOX_FILTER1", "changes while");
	set_msr(C_FILTER1(0), OPC_DRD | 2); /* the same again changes nothing */
	assert_clean();
	set_msr(C_FILTER0(0), 0x20000); /* nobody uses it */
	assert_clean();
	set_msr(GLOBAL_CTL, FRZ_ALL);
	set_msr(C_FILTER1(0), OPC_DRD | 1);
	assert_clean();
	/* With the global freeze the last to go, the check comes at its end. */
	set_msr(C_FILTER1(0), 0);
	set_msr(GLOBAL_CTL, UNFRZ_ALL);
	assert_violation("Cn_MSR_PMON_BOX_FILTER1", "filter field that is 0");
	/* RdCur is opcode 0: what is matched at the HA may be 0 in part. */
	set_pci(HA(0, HA_ADDRMATCH0), 0x1000);
	set_pci(HA(0, PCI_CTL(0)), EN | EVENT(0x20, 0x03));
	assert_clean();
}

static void test_controls_that_count(void **state UNUSED)
{
	set_msr(C_CTL(0, 0), EN | EVENT(0x37, 0x01));
	assert_clean();
	set_msr(C_CTL(0, 0), EN | EVENT(0x37, 0x02));
	assert_violation("Cn_MSR_PMON_CTL0", "changes while its counter counts");
	set_msr(C_CTL(0, 0), EVENT(0x37, 0x02)); /* turning it off is how an agent may stop */
	assert_clean();
	set_msr(C_CTL(0, 0), EVENT(0x37, 0x04));
	assert_clean();
	set_msr(C_CTL(0, 0), EN | EVENT(0x37, 0x04));
	assert_clean();
	set_msr(C_CTL(0, 0), 0);
	assert_clean();
	set_msr(C_CTL(0, 0), EN | EVENT(0x37, 0x04));
	set_msr(C_BOX_CTL(0), 0x30101);
	assert_violation("Cn_MSR_PMON_BOX_CTL", "wipes");
	set_msr(C_BOX_CTL(0), 0x30101); /* now there is none left */
	assert_clean();
}

static void test_absent_and_read_only(void **state UNUSED)
{
	uint64_t value;

	test.count = 0;
	assert_int_equal(pmon_write(test.fixture.pmon,
				    AT(0, PMU_SPACE_MSR, C_CTL(FIXTURE_CBO_ABSENT, 0), 64),
				    &test.fixture.now, EN),
			 PMU_E_UNKNOWN);
	assert_violation("Cn_MSR_PMON_CTL0", "does not have this box");
	assert_int_equal(test.instance, FIXTURE_CBO_ABSENT);
	test.count = 0;
	assert_int_equal(pmon_read(test.fixture.pmon,
				   AT(0, PMU_SPACE_MSR, C_CTR(FIXTURE_CBO_ABSENT, 3), 64),
				   &test.fixture.now, &value),
			 PMU_E_UNKNOWN);
	assert_violation("Cn_MSR_PMON_CTR3", "does not have this box");
	set_pci(PCI(30, 3, 0x98), 0);
	assert_violation("CAPID5", "read only");
}

static void test_overflow_left_behind(void **state UNUSED)
{
	set_pci(HA(0, PCI_CTR(0)), COUNTER_LIMIT - 10);
	set_pci(HA(0, PCI_CTL(0)), EN | OV_EN | EVENT(0x00, 0));
	fixture_at(&test.fixture, 100);
	set_msr(GLOBAL_CTL, UNFRZ_ALL);
	assert_int_equal(test.count, 2); /* the global bit and the box's */
	set_msr(GLOBAL_CTL, FRZ_ALL);
	set_msr(GLOBAL_STATUS, 1u << 21);
	set_msr(GLOBAL_CTL, UNFRZ_ALL);
	assert_violation("HAn_PCI_PMON_BOX_STATUS", "not cleared");
	assert_int_equal(test.value, 1);
	set_pci(HA(0, PCI_STATUS), 1);
	set_msr(GLOBAL_CTL, UNFRZ_ALL);
	assert_clean();
}

static void test_split_read(void **state UNUSED)
{
	uint64_t value;

	set_pci(HA(0, PCI_CTL(0)), EN | EVENT(0x00, 0));
	test.count = 0;
	assert_int_equal(pmon_read(test.fixture.pmon, AT(0, PMU_SPACE_PCI, HA(0, PCI_CTR(0)), 32),
				   &test.fixture.now, &value),
			 0);
	assert_violation("HAn_PCI_PMON_CTR0", "half of a counter");
	set_pci(HA(0, PCI_BOX_CTL), BOX_FRZ);
	test.count = 0;
	assert_int_equal(pmon_read(test.fixture.pmon, AT(0, PMU_SPACE_PCI, HA(0, PCI_CTR(0)), 32),
				   &test.fixture.now, &value),
			 0);
	assert_clean();
}

/* §2.4.2: SBo controls. */
static void test_second_write(void **state UNUSED)
{
	set_msr(0x721, EN);
	assert_violation("Sn_MSR_PMON_CTL0", "twice");
	set_msr(0x722, 0);
	assert_clean();
	set_msr(0x722, EN);
	assert_clean();
}

static void test_can_be_turned_off(void **state UNUSED)
{
	pmon_strict(test.fixture.pmon, NULL, NULL);
	set_msr(C_BOX_CTL(0), 0x3);
	assert_clean();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_good_session, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_reserved_bits, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_events, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_filters, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_controls_that_count, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_absent_and_read_only, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_overflow_left_behind, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_split_read, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_second_write, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_can_be_turned_off, setup, teardown),
	};

	return cmocka_run_group_tests_name("pmon strict", tests, NULL, NULL);
}
