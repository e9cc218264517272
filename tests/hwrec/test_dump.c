/* Lines of dumps: how registers are named, and what is refused. */
#include <stdio.h>
#include <string.h>

#include "catalog/hwrec.h"
#include "support/cmocka.h"
#include "support/context.h"

#define LINE_MAX_LENGTH 256

static void numbers(void **state)
{
	static const struct {
		const char *line;
		uint64_t value;
	} lines[] = {
	    {"PMD32 0xE000000000001238", 0xE000000000001238},
	    {"pmd32=0", 0},
	    {"  PMD32: 18446744073709551615 # all ones", UINT64_MAX},
	    {"core.PMD32\t=\t0xffffffffffffffff\r", UINT64_MAX},
	    {"core0.pmd32 10", 10},
	    {"itanium-9300/core0.PMD32 10", 10},
	    {"Itanium-9300/PMD32=10", 10},
	};
	struct pmu_register_value value;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_int_equal(
		    pmu_dump_parse(*state, pmu_find_pmu("itanium-9300"), lines[i].line, &value), 1);
		assert_string_equal(value.reg->name, "PMD32");
		assert_true(value.value == lines[i].value);
		assert_int_equal(value.instance, 0);
	}
	assert_int_equal(pmu_dump_parse(*state, NULL, "", &value), 0);
	assert_int_equal(pmu_dump_parse(*state, NULL, " # PMD32 1", &value), 0);
}

static void refusals(void **state)
{
	static const struct {
		const char *line;
		int error;
		const char *says;
	} lines[] = {
	    {"PMD32", PMU_E_SYNTAX, "value"},
	    {"PMD32 #", PMU_E_SYNTAX, "value"},
	    {"PMD32 1 2", PMU_E_SYNTAX, "one value"},
	    {"PMD32 0x", PMU_E_SYNTAX, "0x"},
	    {"PMD32 12ab", PMU_E_SYNTAX, "0x"},
	    {"PMD32 -1", PMU_E_SYNTAX, "0x"},
	    /* padded hexadecimal without 0x, as some tools print it */
	    {"PMD32 0000000000000010", PMU_E_SYNTAX, "0x"},
	    {"PMD32 18446744073709551616", PMU_E_SYNTAX, "64 bits"},
	    {"PMD32 0x10000000000000000", PMU_E_SYNTAX, "64 bits"},
	    {"PMD320 1", PMU_E_UNKNOWN, "PMD32"},
	    {"core8.PMD32 1", PMU_E_UNKNOWN, "no register"},
	    {"core99999999999999999999.PMD32 1", PMU_E_UNKNOWN, "no register"},
	    {"cbo.PMD32 1", PMU_E_UNKNOWN, "no register"},
	    {"corex.PMD32 1", PMU_E_UNKNOWN, "no register"},
	    {"32 1", PMU_E_UNKNOWN, "address"},
	    {"itanium/PMD32 1", PMU_E_UNKNOWN, "no PMU \"itanium\""},
	    {"/PMD32 1", PMU_E_UNKNOWN, "no PMU"},
	    {"itanium-9300/ 1", PMU_E_UNKNOWN, "no register"},
	    {"nehalem/PMD32 1", PMU_E_CONFLICT, "registers of itanium-9300"},
	};
	struct pmu_register_value value;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_int_equal(
		    pmu_dump_parse(*state, pmu_find_pmu("itanium-9300"), lines[i].line, &value),
		    lines[i].error);
		if (!strstr(pmu_message(*state), lines[i].says))
			fail_msg("\"%s\" does not say %s", pmu_message(*state), lines[i].says);
	}
	/* 32 bits (323602-001 table 5-6) */
	assert_int_equal(pmu_dump_parse(*state, NULL, "cpe3.CPE_CSR_QEAR_DAT0 0x100000000", &value),
			 PMU_E_RANGE);
}

/* 323602-001 tables 5-2 and 5-3: CPE 2 at 0xA000, windows of the own socket and of each */
static void physical_addresses(void **state)
{
	static const char *const lines[] = {"0xA108 7", "0x8003FFFBFEB0A108 7",
					    "0x8003FFFBFC00A108 7", "0x8003FFFBFCFFA108 7",
					    "cpe2.CPE_CSR_QEAR_DAT1 7"};
	const struct pmu_pmu *pmu = pmu_find_pmu("itanium-9300");
	struct pmu_register_value value;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_int_equal(pmu_dump_parse(*state, pmu, lines[i], &value), 1);
		assert_string_equal(value.reg->name, "CPE_CSR_QEAR_DAT1");
		assert_int_equal(value.instance, 2);
		assert_true(value.value == 7);
	}
	assert_int_equal(pmu_dump_parse(*state, pmu, "0x8003FFFBFD00A108 7", &value),
			 PMU_E_UNKNOWN);
}

/* MSR 0x186 is the first general counter's control in every core since Core (253669 §18.2.1.1). */
static void several_have_it(void **state)
{
	struct pmu_register_value value;

	assert_int_equal(pmu_dump_parse(*state, NULL, "0x186 1", &value), PMU_E_CONFLICT);
	assert_non_null(strstr(pmu_message(*state), "nehalem/core"));
	assert_non_null(strstr(pmu_message(*state), "xeon-e5v4/core"));
	assert_int_equal(pmu_dump_parse(*state, pmu_find_pmu("nehalem"), "0x186 1", &value), 1);
	assert_string_equal(value.box->pmu, "nehalem");
	assert_int_equal(pmu_dump_parse(*state, NULL, "nehalem/0x186 1", &value), 1);
	assert_string_equal(value.box->pmu, "nehalem");
}

static void check_register(struct pmu_ctx *ctx, const struct pmu_pmu *pmu,
			   const struct pmu_box *box, const struct pmu_register *reg,
			   unsigned instance)
{
	struct pmu_register_value value;
	char line[LINE_MAX_LENGTH];
	uint32_t address = pmu_register_address(box, reg, instance);

	snprintf(line, sizeof(line), "%s%u.%s 3", box->name, instance, reg->name);
	assert_int_equal(pmu_dump_parse(ctx, pmu, line, &value), 1);
	assert_ptr_equal(value.box, box);
	assert_ptr_equal(value.reg, reg);
	assert_int_equal(value.instance, instance);
	assert_true(value.value == 3);
	if (reg->space != PMU_SPACE_MSR && reg->space != PMU_SPACE_MMIO)
		return;
	snprintf(line, sizeof(line), "0x%X 3", address);
	assert_int_equal(pmu_dump_parse(ctx, pmu, line, &value), 1);
	assert_int_equal(pmu_register_address(value.box, value.reg, value.instance), address);
}

/* Every register of every instance is found by its name, and where it has an address, by that. */
static void every_register(void **state)
{
	const struct pmu_pmu *pmus;
	size_t count;

	pmus = catalog_pmus(&count);
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < pmus[i].box_count; j++)
			for (size_t r = 0; r < pmus[i].boxes[j].register_count; r++)
				for (unsigned n = 0; n < pmus[i].boxes[j].instance_count; n++)
					check_register(*state, &pmus[i], &pmus[i].boxes[j],
						       &pmus[i].boxes[j].registers[r], n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(numbers, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(refusals, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(physical_addresses, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(several_have_it, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(every_register, fixture_up, fixture_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
