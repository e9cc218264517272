/* From addresses to registers: 334291-001 tables 2-1, 2-13, 2-61, 2-112 and §1.6. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bus/map.h"

static struct bus_map map;

static int open_map(void **fixture)
{
	(void)fixture;
	return bus_map_init(&map, pmu_find_pmu("xeon-e5v4"));
}

static int close_map(void **fixture)
{
	(void)fixture;
	bus_map_fini(&map);
	return 0;
}

static void check_in_core(unsigned core, enum pmu_space space, uint32_t address, unsigned width,
			  const char *box, unsigned instance, const char *reg)
{
	const struct bus_register_ref *place =
	    bus_map_find_in_core(&map, core, space, address, width);

	assert_non_null(place);
	assert_string_equal(place->box->name, box);
	assert_string_equal(place->reg->name, reg);
	assert_int_equal(place->instance, instance);
}

static void check(enum pmu_space space, uint32_t address, unsigned width, const char *box,
		  unsigned instance, const char *reg)
{
	check_in_core(0, space, address, width, box, instance, reg);
}

static void test_known_addresses(void **fixture)
{
	(void)fixture;
	check(PMU_SPACE_MSR, 0x700, 32, "ubox", 0, "U_MSR_PMON_GLOBAL_CTL");
	check(PMU_SPACE_MSR, 0xE00, 32, "cbo", 0, "Cn_MSR_PMON_BOX_CTL");
	check(PMU_SPACE_MSR, 0xF7B, 64, "cbo", 23, "Cn_MSR_PMON_CTR3");
	check(PMU_SPACE_MSR, 0xF27, 32, "cbo", 18, "Cn_MSR_PMON_BOX_STATUS");
	/* D18:F5, D24:F1 and D30:F3: device << 15 | function << 12 | offset. */
	check(PMU_SPACE_PCI, 0x950F4, 32, "ha", 1, "HAn_PCI_PMON_BOX_CTL");
	check(PMU_SPACE_PCI, 0xC10F0, 32, "imc", 7, "MC_CHy_PCI_PMON_FIXED_CTL");
	check(PMU_SPACE_PCI, 0xF3098, 32, "cfg", 0, "CAPID5");
	/* What every core has, and what a socket has, seen from core 5. */
	check_in_core(5, PMU_SPACE_MSR, 0x38F, 64, "core", 5, "IA32_PERF_GLOBAL_CTRL");
	check_in_core(5, PMU_SPACE_MSR, 0x700, 32, "ubox", 0, "U_MSR_PMON_GLOBAL_CTL");
}

static void test_halves_in_pci_space_only(void **fixture)
{
	(void)fixture;
	check(PMU_SPACE_PCI, 0x910A0, 64, "ha", 0, "HAn_PCI_PMON_CTR0");
	check(PMU_SPACE_PCI, 0x910A0, 32, "ha", 0, "HAn_PCI_PMON_CTR0");
	check(PMU_SPACE_PCI, 0x910A4, 32, "ha", 0, "HAn_PCI_PMON_CTR0");
	assert_null(bus_map_find(&map, PMU_SPACE_PCI, 0x910A4, 64));
	assert_null(bus_map_find(&map, PMU_SPACE_PCI, 0x910A2, 32));
	assert_null(bus_map_find(&map, PMU_SPACE_MSR, 0xE08, 32));
}

static void test_holes(void **fixture)
{
	(void)fixture;
	assert_null(bus_map_find(&map, PMU_SPACE_MSR, 0, 32));
	assert_null(bus_map_find(&map, PMU_SPACE_MSR, 0xC0000080, 64));
	assert_null(bus_map_find(&map, PMU_SPACE_MSR, 0xE0C, 32));
	assert_null(bus_map_find(&map, PMU_SPACE_MSR, 0xF7C, 64));
	assert_null(bus_map_find(&map, PMU_SPACE_PCI, 0x700, 32));
	assert_null(bus_map_find(&map, PMU_SPACE_PCI, 0x91004, 32));
	assert_null(bus_map_find(&map, PMU_SPACE_PCI, UINT32_MAX, 32));
}

/* Every register of every instance is where the catalog says, and none hides another. */
static void test_all_registers(void **fixture)
{
	const struct pmu_pmu *pmu = pmu_find_pmu("xeon-e5v4");

	(void)fixture;
	for (size_t b = 0; b < pmu->box_count; b++)
		for (unsigned i = 0; i < pmu->boxes[b].instance_count; i++)
			for (size_t r = 0; r < pmu->boxes[b].register_count; r++) {
				const struct pmu_box *box = &pmu->boxes[b];
				const struct pmu_register *reg = &box->registers[r];

				check_in_core(box->scope == PMU_SCOPE_CORE ? i : 0, box->space,
					      pmu_register_address(box, reg, i), reg->width,
					      box->name, i, reg->name);
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_known_addresses),
	    cmocka_unit_test(test_halves_in_pci_space_only),
	    cmocka_unit_test(test_holes),
	    cmocka_unit_test(test_all_registers),
	};

	return cmocka_run_group_tests(tests, open_map, close_map);
}
