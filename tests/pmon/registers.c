/* Registers: addresses, access types, reset values, discovery (334291-001 §1.6, §2.1 to §2.6). */
#include "fixture.h"

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

static int try_read(unsigned socket, enum pmu_space space, uint32_t address, unsigned width)
{
	uint64_t value;

	return pmon_read(fixture.pmon, AT(socket, space, address, width), &fixture.now, &value);
}

static int try_write(enum pmu_space space, uint32_t address, unsigned width)
{
	return pmon_write(fixture.pmon, AT(0, space, address, width), &fixture.now, 0);
}

/* Table 2-4: num_c is 18 at reset; everything else is 0. */
static void test_reset_values(void **state UNUSED)
{
	assert_int_equal(fixture_msr(&fixture, GLOBAL_CONFIG), 18);
	for (uint32_t address = 0x700; address <= 0x70A; address++)
		if (address != GLOBAL_CONFIG && address != 0x707)
			assert_int_equal(fixture_msr(&fixture, address), 0);
	for (uint32_t address = C_BOX_CTL(0); address <= C_CTR(0, 3); address++)
		assert_int_equal(fixture_msr(&fixture, address), 0);
	for (unsigned k = 0; k < 4; k++) {
		assert_int_equal(fixture_pci(&fixture, HA(1, PCI_CTL(k))), 0);
		assert_int_equal(fixture_pci(&fixture, HA(1, PCI_CTR(k))), 0);
	}
}

static void test_unknown_addresses(void **state UNUSED)
{
	/* Holes of tables 1-2 and 1-3, and the box control that the UBox does not have. */
	assert_int_equal(try_read(0, PMU_SPACE_MSR, 0x707, 64), PMU_E_UNKNOWN);
	assert_int_equal(try_read(0, PMU_SPACE_MSR, 0xE0C, 64), PMU_E_UNKNOWN);
	assert_int_equal(try_write(PMU_SPACE_MSR, 0xF80, 64), PMU_E_UNKNOWN);
	assert_int_equal(try_read(0, PMU_SPACE_PCI, HA(0, 0xC0), 32), PMU_E_UNKNOWN);
	assert_int_equal(try_read(0, PMU_SPACE_PCI, PCI(22, 0, 0xA0), 32), PMU_E_UNKNOWN);
	assert_int_equal(try_write(PMU_SPACE_PCI, HA(0, 0xD0), 32), PMU_E_UNKNOWN);
	/* Neither space shows the other's, nor a socket that is not there. */
	assert_int_equal(try_read(0, PMU_SPACE_PCI, 0x700, 32), PMU_E_UNKNOWN);
	assert_int_equal(try_read(2, PMU_SPACE_MSR, 0x700, 64), PMU_E_UNKNOWN);
	/* Dwords lie at multiples of 4; two registers are not one. */
	assert_int_equal(try_read(0, PMU_SPACE_PCI, HA(0, 0xA2), 32), PMU_E_UNKNOWN);
	assert_int_equal(try_read(0, PMU_SPACE_PCI, HA(0, 0xD8), 64), PMU_E_UNKNOWN);
}

/* §1.6: CAPID5 tells which CBos there are; the others do not answer. */
static void test_absent_boxes(void **state UNUSED)
{
	for (unsigned n = 0; n < 24; n++) {
		int expected = 0xF0F >> n & 1 ? 0 : PMU_E_UNKNOWN;

		assert_int_equal(try_read(0, PMU_SPACE_MSR, C_CTL(n, 0), 64), expected);
		assert_int_equal(try_write(PMU_SPACE_MSR, C_FILTER0(n), 64), expected);
	}
}

/* §1.6, §1.6.1 and table 1-3. */
static void test_discovery(void **state UNUSED)
{
	uint64_t value;

	assert_int_equal(fixture_pci(&fixture, PCI(30, 3, 0x94)), FIXTURE_CAPID4);
	assert_int_equal(fixture_pci(&fixture, PCI(30, 3, 0x98)), FIXTURE_CAPID5);
	assert_int_equal(fixture_pci(&fixture, HA(0, 0)), 0x6F308086);
	assert_int_equal(fixture_pci(&fixture, HA(1, 0)), 0x6F388086);
	assert_int_equal(fixture_pci(&fixture, MC(0, 0)), 0x6FB08086);
	assert_int_equal(fixture_pci(&fixture, MC(3, 0)), 0x6FB58086);
	assert_int_equal(fixture_pci(&fixture, PCI(24, 1, 0)), 0x6FD58086);
	assert_int_equal(fixture_pci(&fixture, PCI(16, 5, 0)), 0x6F1E8086);
	for (unsigned socket = 0; socket < 2; socket++) {
		uint64_t node, mapping;

		assert_int_equal(pmon_read(fixture.pmon,
					   AT(socket, PMU_SPACE_PCI, PCI(16, 5, 0x40), 32),
					   &fixture.now, &node),
				 0);
		assert_int_equal(pmon_read(fixture.pmon,
					   AT(socket, PMU_SPACE_PCI, PCI(16, 5, 0x54), 32),
					   &fixture.now, &mapping),
				 0);
		assert_int_equal(node & 7, socket);
		assert_int_equal(mapping >> (3 * socket) & 7, node & 7);
	}
	/* They cannot be changed. */
	fixture_set_pci(&fixture, PCI(30, 3, 0x98), 0xffffff);
	fixture_set_pci(&fixture, HA(0, 0), 0);
	value = fixture_pci(&fixture, PCI(30, 3, 0x98));
	assert_int_equal(value, FIXTURE_CAPID5);
	assert_int_equal(fixture_pci(&fixture, HA(0, 0)), 0x6F308086);
}

/* Tables 2-7, 2-16, 2-18, 2-19, 2-64, 2-66 to 2-68, 2-116: what is kept of all ones. */
static void test_read_back(void **state UNUSED)
{
	fixture_set_msr(&fixture, GLOBAL_CTL, FRZ_ALL);
	fixture_set_msr(&fixture, U_CTL(0), 0xffffffff);
	assert_int_equal(fixture_msr(&fixture, U_CTL(0)), 0x1FD4FFFF);
	fixture_set_msr(&fixture, UCLK_CTL, 0xffffffff);
	assert_int_equal(fixture_msr(&fixture, UCLK_CTL), 0x00500000);
	fixture_set_msr(&fixture, C_CTL(3, 2), 0xffffffff);
	assert_int_equal(fixture_msr(&fixture, C_CTL(3, 2)), 0xFFCCFFFF);
	fixture_set_msr(&fixture, C_FILTER0(3), 0xffffffff);
	assert_int_equal(fixture_msr(&fixture, C_FILTER0(3)), 0x00FE003F);
	fixture_set_msr(&fixture, C_FILTER1(3), 0xffffffff);
	assert_int_equal(fixture_msr(&fixture, C_FILTER1(3)), 0xDFF0FFFF);
	fixture_set_pci(&fixture, HA(0, PCI_CTL(1)), 0xffffffff);
	assert_int_equal(fixture_pci(&fixture, HA(0, PCI_CTL(1))), 0xFFD4FFFF);
	fixture_set_pci(&fixture, HA(0, HA_ADDRMATCH0), 0xffffffff);
	assert_int_equal(fixture_pci(&fixture, HA(0, HA_ADDRMATCH0)), 0xFFFFFFC0);
	fixture_set_pci(&fixture, HA(0, HA_ADDRMATCH1), 0xffffffff);
	assert_int_equal(fixture_pci(&fixture, HA(0, HA_ADDRMATCH1)), 0x3FFF);
	fixture_set_pci(&fixture, HA(0, HA_OPCMATCH), 0xffffffff);
	assert_int_equal(fixture_pci(&fixture, HA(0, HA_OPCMATCH)), 0x3F);
	fixture_set_pci(&fixture, MC(2, PCI_FIXED_CTL), 0xffffffff);
	assert_int_equal(fixture_pci(&fixture, MC(2, PCI_FIXED_CTL)), 0x00D00000);
	fixture_set_msr(&fixture, GLOBAL_CONFIG, 0xffffffff);
	assert_int_equal(fixture_msr(&fixture, GLOBAL_CONFIG), 0x1F);
	/* Each instance and socket has its own. */
	assert_int_equal(fixture_msr(&fixture, C_CTL(2, 2)), 0);
	assert_int_equal(fixture_msr_of(&fixture, 1, C_CTL(3, 2)), 0);
	assert_int_equal(fixture_pci(&fixture, HA(1, PCI_CTL(1))), 0);
}

/* Tables 2-2, 2-14: what is write only reads as 0. */
static void test_write_only(void **state UNUSED)
{
	fixture_set_msr(&fixture, GLOBAL_CTL, FRZ_ALL | 1u << 30 | 0x3ffff);
	assert_int_equal(fixture_msr(&fixture, GLOBAL_CTL), 1u << 30 | 0x3ffff);
	fixture_set_msr(&fixture, C_BOX_CTL(0), 0xffffffff);
	assert_int_equal(fixture_msr(&fixture, C_BOX_CTL(0)), 0);
	fixture_set_pci(&fixture, MC(0, PCI_BOX_CTL), BOX_FRZ | 3);
	assert_int_equal(fixture_pci(&fixture, MC(0, PCI_BOX_CTL)), 0);
}

/* Tables 2-8, 2-17, 2-65: 48 bits. */
static void test_counters_hold_48_bits(void **state UNUSED)
{
	fixture_set_msr(&fixture, C_CTR(0, 1), UINT64_MAX);
	assert_int_equal(fixture_msr(&fixture, C_CTR(0, 1)), COUNTER_LIMIT - 1);
	fixture_set_msr(&fixture, UCLK_CTR, 0x1234567890ABCDEF);
	assert_int_equal(fixture_msr(&fixture, UCLK_CTR), 0x567890ABCDEF);
	fixture_set_pci(&fixture, MC(1, PCI_FIXED_CTR), UINT64_MAX);
	assert_int_equal(fixture_pci(&fixture, MC(1, PCI_FIXED_CTR)), COUNTER_LIMIT - 1);
}

/* 327043-001 §2.2.2, table 2-5: 48 bits beside general counters of 44 (§2.2.3.2). */
static void test_fixed_counter_is_wider(void **state UNUSED)
{
	const uint32_t fixed_control = 0xC08, fixed = 0xC09, general = 0xC16;
	struct fixture e5;

	fixture_up_for(&e5, pmu_find_pmu("xeon-e5"));
	fixture_set_msr(&e5, general, UINT64_MAX);
	assert_int_equal(fixture_msr(&e5, general), (1ull << 44) - 1);
	fixture_set_msr(&e5, fixed, UINT64_MAX);
	assert_int_equal(fixture_msr(&e5, fixed), COUNTER_LIMIT - 1);
	fixture_set_msr(&e5, fixed, (1ull << 44) - 10);
	fixture_set_msr(&e5, fixed_control, EN);
	fixture_at(&e5, 100);
	assert_int_equal(fixture_msr(&e5, fixed), (1ull << 44) + 90);
	fixture_set_msr(&e5, fixed, COUNTER_LIMIT - 10);
	fixture_at(&e5, 200);
	assert_int_equal(fixture_msr(&e5, fixed), 90);
	fixture_down(&e5);
}

/* Table 2-61: PCI counters are two dwords, lower one first. */
static void test_two_dwords(void **state UNUSED)
{
	uint32_t address = HA(0, PCI_CTR(2));
	uint64_t low, high;

	fixture_set_pci(&fixture, address, 0x123456789ABC);
	assert_int_equal(
	    pmon_read(fixture.pmon, AT(0, PMU_SPACE_PCI, address, 32), &fixture.now, &low), 0);
	assert_int_equal(
	    pmon_read(fixture.pmon, AT(0, PMU_SPACE_PCI, address + 4, 32), &fixture.now, &high), 0);
	assert_int_equal(low, 0x56789ABC);
	assert_int_equal(high, 0x1234);
	assert_int_equal(pmon_write(fixture.pmon, AT(0, PMU_SPACE_PCI, address + 4, 32),
				    &fixture.now, 0xFFFF8765),
			 0);
	assert_int_equal(fixture_pci(&fixture, address), 0x876556789ABC);
	assert_int_equal(
	    pmon_write(fixture.pmon, AT(0, PMU_SPACE_PCI, address, 32), &fixture.now, 1), 0);
	assert_int_equal(fixture_pci(&fixture, address), 0x876500000001);
}

/* Tables 2-14, 2-16, 2-62, 2-116: three ways to clear, each with its reach. */
static void test_reset_bits(void **state UNUSED)
{
	fixture_set_msr(&fixture, C_BOX_CTL(0), BOX_FRZ);
	for (unsigned k = 0; k < 4; k++) {
		fixture_set_msr(&fixture, C_CTL(0, k), EN | EVENT(0x00, 0));
		fixture_set_msr(&fixture, C_CTR(0, k), 100 + k);
	}
	fixture_set_msr(&fixture, C_FILTER1(0), 0x182 << 20);

	fixture_set_msr(&fixture, C_CTL(0, 1), EN | RST | EVENT(0x00, 0));
	assert_int_equal(fixture_msr(&fixture, C_CTR(0, 0)), 100);
	assert_int_equal(fixture_msr(&fixture, C_CTR(0, 1)), 0);
	assert_int_equal(fixture_msr(&fixture, C_CTL(0, 1)), EN);

	fixture_set_msr(&fixture, C_BOX_CTL(0), BOX_RST_CTRS);
	for (unsigned k = 0; k < 4; k++) {
		assert_int_equal(fixture_msr(&fixture, C_CTR(0, k)), 0);
		assert_int_equal(fixture_msr(&fixture, C_CTL(0, k)), EN);
		fixture_set_msr(&fixture, C_CTR(0, k), 7);
	}
	fixture_set_msr(&fixture, C_BOX_CTL(0), BOX_RST_CTRL);
	for (unsigned k = 0; k < 4; k++) {
		assert_int_equal(fixture_msr(&fixture, C_CTR(0, k)), 7);
		assert_int_equal(fixture_msr(&fixture, C_CTL(0, k)), 0);
	}
	/* Filters are no counter controls. */
	assert_int_equal(fixture_msr(&fixture, C_FILTER1(0)), 0x182 << 20);

	fixture_set_pci(&fixture, MC(0, PCI_FIXED_CTR), 55);
	fixture_set_pci(&fixture, MC(0, PCI_FIXED_CTL), FIXED_RST);
	assert_int_equal(fixture_pci(&fixture, MC(0, PCI_FIXED_CTR)), 0);
	fixture_set_pci(&fixture, MC(0, PCI_FIXED_CTR), 55);
	fixture_set_pci(&fixture, MC(0, PCI_BOX_CTL), BOX_RST_CTRS);
	assert_int_equal(fixture_pci(&fixture, MC(0, PCI_FIXED_CTR)), 0);
}

/* A signal is enabled while any counter of any instance and socket subscribes to it. */
static void test_who_subscribes(void **state UNUSED)
{
	const uint64_t inserts = EN | EVENT(0x35, 0x08); /* TOR_INSERTS.ALL */
	const uint8_t *enabled = &fixture.port.enabled[SIGNAL_LLC_REQUEST];

	assert_int_equal(*enabled, 0);
	fixture_set_msr(&fixture, C_CTL(1, 0), inserts);
	fixture_set_msr_of(&fixture, 1, C_CTL(3, 2), inserts);
	fixture_set_msr_of(&fixture, 1, C_CTL(3, 3), inserts);
	assert_int_not_equal(*enabled, 0);
	fixture_set_msr(&fixture, C_CTL(1, 0), 0);
	assert_int_not_equal(*enabled, 0);
	fixture_set_msr(&fixture, C_CTL(1, 0), inserts);
	fixture_set_msr_of(&fixture, 1, C_CTL(3, 3), EN | EVENT(0x34, 0x03)); /* LLC_LOOKUP */
	fixture_set_msr_of(&fixture, 1, C_BOX_CTL(3), BOX_RST_CTRL);
	assert_int_not_equal(*enabled, 0);
	fixture_set_msr(&fixture, C_CTL(1, 0), 0);
	assert_int_equal(*enabled, 0);
	assert_int_equal(fixture.port.enabled[SIGNAL_LLC_LOOKUP], 0);
}

/* §2.4.2: an SBo keeps its event select until another is written twice in a row. */
static void test_control_written_twice(void **state UNUSED)
{
	const uint32_t control = 0x721, control1 = 0x722, counter = 0x726;
	const uint32_t ring = EVENT(0x1b, 0x01); /* not modelled: counts nothing */

	fixture_set_msr(&fixture, control, EN | ring);
	fixture_at(&fixture, 100);
	assert_int_equal(fixture_msr(&fixture, control), EN | ring);
	assert_int_equal(fixture_msr(&fixture, counter), 100); /* still code 0, cycles */
	fixture_set_msr(&fixture, control1, ring);
	fixture_set_msr(&fixture, control, EN | ring); /* twice, but not in a row */
	fixture_at(&fixture, 200);
	assert_int_equal(fixture_msr(&fixture, counter), 200);
	fixture_set_msr(&fixture, control, ring);
	fixture_set_msr(&fixture, control, EN | ring);
	fixture_at(&fixture, 300);
	assert_int_equal(fixture_msr(&fixture, counter), 200);
	fixture_set_msr(&fixture, control, 0);
	fixture_set_msr(&fixture, control, EN);
	fixture_at(&fixture, 400);
	assert_int_equal(fixture_msr(&fixture, counter), 300);
}

/* Table 2-169: on QPI, rst holds the counter until it is written as 0. */
static void test_rst_that_stays(void **state UNUSED)
{
	const uint32_t control = PCI(8, 2, PCI_CTL(0)), counter = PCI(8, 2, PCI_CTR(0));

	fixture_set_pci(&fixture, counter, 1234);
	fixture_set_pci(&fixture, control, RST);
	assert_int_equal(fixture_pci(&fixture, counter), 0);
	fixture_set_pci(&fixture, counter, 1234);
	assert_int_equal(fixture_pci(&fixture, counter), 0);
	fixture_set_pci(&fixture, control, 0);
	fixture_set_pci(&fixture, counter, 1234);
	assert_int_equal(fixture_pci(&fixture, counter), 1234);
}

/* Table 2-167: rst_ctrl resets the controls to 0, rst with them, which then holds no counter. */
static void test_rst_ends_with_the_controls(void **state UNUSED)
{
	const uint32_t control = PCI(8, 2, PCI_CTL(0)), counter = PCI(8, 2, PCI_CTR(0));
	const uint32_t box_control = PCI(8, 2, PCI_BOX_CTL);

	fixture_set_pci(&fixture, control, RST);
	fixture_set_pci(&fixture, box_control, BOX_RST_CTRS);
	fixture_set_pci(&fixture, counter, 1234);
	assert_int_equal(fixture_pci(&fixture, counter), 0);
	fixture_set_pci(&fixture, box_control, BOX_RST_CTRL | BOX_RST_CTRS);
	fixture_set_pci(&fixture, counter, COUNTER_LIMIT - 1000);
	assert_int_equal(fixture_pci(&fixture, counter), COUNTER_LIMIT - 1000);
	fixture_set_pci(&fixture, control, EN | EVENT(0x14, 0)); /* CLOCKTICKS */
	fixture_set_pci(&fixture, box_control, BOX_GO);
	fixture.now.cycles[PMU_CLOCK_QFCLK] += 500;
	assert_int_equal(fixture_pci(&fixture, counter), COUNTER_LIMIT - 500);
}

/* A second view of the same block sees the same registers; a block of other size is refused. */
static void test_attach(void **state UNUSED)
{
	struct pmon_config config = {
	    .pmu = pmu_find_pmu("xeon-e5v4"),
	    .sockets = 2,
	    .clock_mhz = {[PMU_CLOCK_UCLK] = FIXTURE_UCLK_MHZ,
			  [PMU_CLOCK_DCLK] = FIXTURE_DCLK_MHZ,
			  [PMU_CLOCK_PCLK] = FIXTURE_PCLK_MHZ,
			  [PMU_CLOCK_QFCLK] = FIXTURE_QFCLK_MHZ},
	    .present = {1, 1, 1, 1, 1},
	};
	struct pmon *second;
	uint64_t value;

	fixture_set_msr(&fixture, C_FILTER1(0), 0x182 << 20);
	assert_int_equal(pmon_open(&second, fixture.ctx, &config, fixture.state, false), 0);
	assert_int_equal(
	    pmon_read(second, AT(0, PMU_SPACE_MSR, C_FILTER1(0), 64), &fixture.now, &value), 0);
	assert_int_equal(value, 0x182 << 20);
	pmon_close(second);
	config.sockets = 1;
	assert_int_equal(pmon_open(&second, fixture.ctx, &config, fixture.state, false),
			 PMU_E_UNSUPPORTED);
	config.clock_mhz[PMU_CLOCK_QFCLK] = 0;
	assert_int_equal(pmon_open(&second, fixture.ctx, &config, fixture.state, false),
			 PMU_E_RANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_reset_values, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_unknown_addresses, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_absent_boxes, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_discovery, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_read_back, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_write_only, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_counters_hold_48_bits, setup, teardown),
	    cmocka_unit_test(test_fixed_counter_is_wider),
	    cmocka_unit_test_setup_teardown(test_two_dwords, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_reset_bits, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_who_subscribes, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_control_written_twice, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_rst_that_stays, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_rst_ends_with_the_controls, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_attach, setup, teardown),
	};

	return cmocka_run_group_tests_name("pmon registers", tests, NULL, NULL);
}
