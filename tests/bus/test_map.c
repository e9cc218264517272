/* From addresses to registers: 334291-001 tables 2-1, 2-13, 2-61, 2-112 and §1.6. */
#include <stdlib.h>

#include "bus/map.h"
#include "support/cmocka.h"

static const struct pmu_pmu *pmu;

static int find_pmu(void **state)
{
	(void)state;
	pmu = pmu_find_pmu("xeon-e5v4");
	return !pmu;
}

static bool find(unsigned core, enum pmu_space space, uint32_t address, unsigned width,
		 struct bus_register_ref *ref)
{
	const struct pmu_access_op op = {
	    .core = core, .space = (uint8_t)space, .width = (uint8_t)width, .address = address};

	return bus_find(pmu, &op, ref);
}

static bool is_hole(enum pmu_space space, uint32_t address, unsigned width)
{
	struct bus_register_ref ref;

	return !find(0, space, address, width, &ref);
}

static void check_in_core(unsigned core, enum pmu_space space, uint32_t address, unsigned width,
			  const char *box, unsigned instance, const char *reg)
{
	struct bus_register_ref ref;

	assert_true(find(core, space, address, width, &ref));
	assert_string_equal(ref.box->name, box);
	assert_string_equal(ref.reg->name, reg);
	assert_int_equal(ref.instance, instance);
}

static void check(enum pmu_space space, uint32_t address, unsigned width, const char *box,
		  unsigned instance, const char *reg)
{
	check_in_core(0, space, address, width, box, instance, reg);
}

static void test_known_addresses(void **state)
{
	(void)state;
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

static void test_halves_in_pci_space_only(void **state)
{
	(void)state;
	check(PMU_SPACE_PCI, 0x910A0, 64, "ha", 0, "HAn_PCI_PMON_CTR0");
	check(PMU_SPACE_PCI, 0x910A0, 32, "ha", 0, "HAn_PCI_PMON_CTR0");
	check(PMU_SPACE_PCI, 0x910A4, 32, "ha", 0, "HAn_PCI_PMON_CTR0");
	assert_true(is_hole(PMU_SPACE_PCI, 0x910A4, 64));
	assert_true(is_hole(PMU_SPACE_PCI, 0x910A2, 32));
	assert_true(is_hole(PMU_SPACE_MSR, 0xE08, 32));
}

static void test_holes(void **state)
{
	(void)state;
	assert_true(is_hole(PMU_SPACE_MSR, 0, 32));
	assert_true(is_hole(PMU_SPACE_MSR, 0xC0000080, 64));
	assert_true(is_hole(PMU_SPACE_MSR, 0xE0C, 32));
	assert_true(is_hole(PMU_SPACE_MSR, 0xF7C, 64));
	assert_true(is_hole(PMU_SPACE_PCI, 0x700, 32));
	assert_true(is_hole(PMU_SPACE_PCI, 0x91004, 32));
	assert_true(is_hole(PMU_SPACE_PCI, UINT32_MAX, 32));
}

/* Every register of every instance is where the catalog says, and has a number of its own. */
static void test_all_registers(void **state)
{
	size_t count = bus_register_count(pmu);
	bool *numbered = calloc(count, sizeof(*numbered));

	(void)state;
	assert_non_null(numbered);
	for (size_t b = 0; b < pmu->box_count; b++)
		for (unsigned i = 0; i < pmu->boxes[b].instance_count; i++)
			for (size_t r = 0; r < pmu->boxes[b].register_count; r++) {
				const struct pmu_box *box = &pmu->boxes[b];
				const struct pmu_register *reg = &box->registers[r];
				const struct bus_register_ref ref = {
				    .box = box, .reg = reg, .instance = i};
				size_t number = bus_register_number(pmu, &ref);

				check_in_core(box->scope == PMU_SCOPE_CORE ? i : 0, reg->space,
					      pmu_register_address(box, reg, i), reg->width,
					      box->name, i, reg->name);
				assert_true(number < count);
				assert_false(numbered[number]);
				numbered[number] = true;
			}
	free(numbered);
}

/* A register that bits of another one give a second meaning is found under the first. */
static void test_overlay(void **state)
{
	const struct pmu_pmu *itanium = pmu_find_pmu("itanium-9300");
	const struct pmu_access_op op = {.space = PMU_SPACE_PMD, .width = 64, .address = 48};
	struct bus_register_ref ref;

	(void)state;
	assert_true(bus_find(itanium, &op, &ref));
	assert_string_equal(ref.reg->name, "PMD48");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_known_addresses), cmocka_unit_test(test_halves_in_pci_space_only),
	    cmocka_unit_test(test_holes),	    cmocka_unit_test(test_all_registers),
	    cmocka_unit_test(test_overlay),
	};

	return cmocka_run_group_tests(tests, find_pmu, NULL);
}
