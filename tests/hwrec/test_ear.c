/*
 * Event address registers and QEAR of the Itanium 9300: examples worked out by hand from
 * 323602-001, and random records put together by the bit positions of its tables.
 */
#include "fixture.h"

#define ROUNDS 2000

static int fixture_up(void **state)
{
	return fixture_up_for(state, "itanium-9300", "core");
}

static int fixture_up_qear(void **state)
{
	return fixture_up_for(state, "itanium-9300", "cpe");
}

static void ear_d_cache(void **state)
{
	struct fixture *dump = *state;

	/* Table 3-19: mode 8:7. Table 3-21: stat 15:14 = 1, latency 12:0 = 0x25. PMD36: slot 1:0 =
	 * 1, bn = 1: the second bundle, 16 bytes on; vl = 1; address 63:4. */
	dump_put(dump, "PMC40", 0x2020003);
	dump_put(dump, "PMD32", 0xe000000000001238);
	dump_put(dump, "PMD33", 0x4025);
	dump_put(dump, "PMD36", 0x400000000001234d);
	assert_int_equal(dump_decode(dump, "ear-d", NULL), 0);
	assert_string_equal(dump->kind, "cache");
	assert_true(dump->captured);
	assert_true(value_of(dump, OF_RECORD, "data_address") == 0xe000000000001238);
	assert_true(value_of(dump, OF_RECORD, "latency") == 37);
	assert_false(reported(dump, OF_RECORD, "latency")->least);
	assert_true(value_of(dump, OF_RECORD, "instruction_address") == 0x4000000000012350);
	assert_true(value_of(dump, OF_RECORD, "slot") == 1);
	assert_false(reported(dump, OF_RECORD, "slot")->least);
	assert_int_equal(dump->note_count, 0);
	/* PMC39 matters in the other modes only (§3.3.9.2, §3.3.9.3) */
	dump_put(dump, "PMC39", 0x300);
	assert_int_equal(dump_decode(dump, "ear-d", NULL), 0);
	assert_int_equal(dump->note_count, 0);

	/* ov, bit 13: 2^13 + 5 cycles or more */
	dump_put(dump, "PMD33", 0x6005);
	assert_int_equal(dump_decode(dump, "ear-d", NULL), 0);
	assert_true(value_of(dump, OF_RECORD, "latency") == 8197);
	assert_true(reported(dump, OF_RECORD, "latency")->least);

	/* vl = 0 with a valid stat: a load of the register stack engine (table 3-23) */
	dump_put(dump, "PMD36", 0x4000000000012345);
	assert_int_equal(dump_decode(dump, "ear-d", NULL), 0);
	assert_null(reported(dump, OF_RECORD, "instruction_address"));
	assert_null(reported(dump, OF_RECORD, "slot"));
	assert_true(noted(dump, "vl"));

	/* stat = 0: nothing in the three registers */
	dump_put(dump, "PMD33", 0x2025);
	assert_int_equal(dump_decode(dump, "ear-d", NULL), 0);
	assert_false(dump->captured);
	assert_int_equal(dump->reported_count, 0);
}

static void ear_d_tlb_and_alat(void **state)
{
	static const char *const outcomes[] = {NULL, "L2DTLB", "VHPT", "FAULT"};
	struct fixture *dump = *state;

	dump->count = 0;
	dump_put(dump, "PMD32", 0x1000);
	dump_put(dump, "PMD33", 0);
	dump_put(dump, "PMD36", 0x200a);
	dump_put(dump, "PMC40", 1 << 7);
	dump_put(dump, "PMC39", 0);
	for (uint64_t stat = 1; stat < 4; stat++) {
		dump_put(dump, "PMD33", stat << 14 | 0x123);
		assert_int_equal(dump_decode(dump, "ear-d", NULL), 0);
		assert_string_equal(dump->kind, "tlb");
		assert_string_equal(meaning_of(dump, OF_RECORD, "outcome"), outcomes[stat]);
		assert_null(reported(dump, OF_RECORD, "latency")); /* undefined (table 3-23) */
		assert_true(value_of(dump, OF_RECORD, "instruction_address") == 0x2000);
		assert_true(value_of(dump, OF_RECORD, "slot") == 2);
		assert_int_equal(dump->note_count, 0);
	}
	/* 1x: ALAT; PMC39 has to be 0 (§3.3.9.3); the data address is undefined (table 3-24) */
	dump_put(dump, "PMC39", 0x300);
	dump_put(dump, "PMD33", 1 << 14);
	for (uint64_t mode = 2; mode < 4; mode++) {
		dump_put(dump, "PMC40", mode << 7);
		assert_int_equal(dump_decode(dump, "ear-d", NULL), 0);
		assert_string_equal(dump->kind, "alat");
		assert_null(reported(dump, OF_RECORD, "data_address"));
		assert_null(reported(dump, OF_RECORD, "latency"));
		assert_true(value_of(dump, OF_RECORD, "instruction_address") == 0x2000);
		assert_true(noted(dump, "PMC39"));
	}
	/* Not frozen (§3.3.9): PMC0.fr is bit 0 */
	dump_put(dump, "PMC0", 0x10);
	assert_int_equal(dump_decode(dump, "ear-d", NULL), 0);
	assert_true(noted(dump, "PMC0"));
	dump_put(dump, "PMC0", 0x11);
	assert_int_equal(dump_decode(dump, "ear-d", NULL), 0);
	assert_false(noted(dump, "PMC0"));
}

static void ear_d_refusals(void **state)
{
	struct fixture *dump = *state;

	dump->count = 0;
	dump_put(dump, "PMD33", 0x4025);
	assert_int_equal(dump_decode(dump, "ear-d", NULL), PMU_E_UNKNOWN);
	assert_says(dump, "PMC40", "cache", "tlb", "alat", NULL);
	assert_int_equal(dump_decode(dump, "ear-d", "cache"), PMU_E_UNKNOWN);
	assert_says(dump, "PMD32", "PMD36", NULL);
	assert_int_equal(dump_decode(dump, "ear-d", "alat"), PMU_E_UNKNOWN);
	assert_null(strstr(pmu_message(dump->ctx), "PMD32")); /* undefined there, so not needed */
	assert_int_equal(dump_decode(dump, "ear-d", "cash"), PMU_E_UNKNOWN);
	assert_says(dump, "cache", "tlb", "alat", NULL);
	dump_put(dump, "PMC40", 1 << 7);
	assert_int_equal(dump_decode(dump, "ear-d", "cache"), PMU_E_CONFLICT);
	assert_says(dump, "PMC40.mode is 1", "cache", NULL);
}

static void ear_i(void **state)
{
	struct fixture *dump = *state;

	/* Table 3-16: stat x1, line address 63:5, latency 11:0, overflow 12. PMD34 = 0x4000_1225:
	 * bit 0 set, address 0x40001220. */
	dump->count = 0;
	dump_put(dump, "PMC37", 0x3fe3);
	dump_put(dump, "PMD34", 0x40001225);
	dump_put(dump, "PMD35", 0x64);
	assert_int_equal(dump_decode(dump, "ear-i", NULL), 0);
	assert_string_equal(dump->kind, "cache");
	assert_true(value_of(dump, OF_RECORD, "line_address") == 0x40001220);
	assert_true(value_of(dump, OF_RECORD, "latency") == 100);
	dump_put(dump, "PMD35", 0x1064);
	assert_int_equal(dump_decode(dump, "ear-i", NULL), 0);
	assert_true(value_of(dump, OF_RECORD, "latency") == 4096 + 100);
	assert_true(reported(dump, OF_RECORD, "latency")->least);
	/* x0: nothing, whatever bit 1 is */
	dump_put(dump, "PMD34", 0x40001222);
	assert_int_equal(dump_decode(dump, "ear-i", NULL), 0);
	assert_false(dump->captured);

	/* ct = 00, table 3-18: 10 is a VHPT hit; PMD35 is undefined, so need not be there */
	dump_put(dump, "PMC37", 0xe3);
	dump_remove(dump, "PMD35");
	assert_int_equal(dump_decode(dump, "ear-i", NULL), 0);
	assert_string_equal(dump->kind, "tlb");
	assert_true(dump->captured);
	assert_string_equal(meaning_of(dump, OF_RECORD, "outcome"), "VHPT");
	assert_null(reported(dump, OF_RECORD, "latency"));

	/* ct = 01: nothing is monitored */
	dump_put(dump, "PMC37", 1 << 12);
	assert_int_equal(dump_decode(dump, "ear-i", NULL), PMU_E_CONFLICT);
	assert_says(dump, "PMC37.ct is 1", "cache", "2, 3", "tlb", "0", NULL);
}

static void qear(void **state)
{
	struct fixture *dump = *state;
	uint64_t random = 99;

	/* Tables 5-5 to 5-7: RdData is opcode 2 of HOM0, 0x3_1234_5678_9a40 the line */
	dump_put(dump, "CPE_CSR_QEAR_DAT0", 0x56789a40 | 2 << 2);
	dump_put(dump, "CPE_CSR_QEAR_DAT1", 1 << 30 | 0x155 << 20 | 0 << 18 | 0x31234);
	dump_put(dump, "CPE_CSR_QEAR_CTL", (uint64_t)300 << 17 | 1 << 3 | 1);
	assert_int_equal(dump_decode(dump, "qear", NULL), 0);
	assert_string_equal(dump->kind, "latency");
	assert_true(value_of(dump, OF_RECORD, "address") == 0x3123456789a40);
	assert_string_equal(meaning_of(dump, OF_RECORD, "request"), "RdData");
	assert_string_equal(meaning_of(dump, OF_RECORD, "class"), "HOM0");
	assert_true(value_of(dump, OF_RECORD, "home_node") == 0x155);
	assert_true(value_of(dump, OF_RECORD, "latency") == 300);
	assert_true(value_of(dump, OF_RECORD, "data_cmp") == 1);
	assert_int_equal(dump->note_count, 0);
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t line = next_random(&random) & ((UINT64_C(1) << 50) - 64);
		uint64_t cycles = next_random(&random) & 0x7fff;
		unsigned op = (unsigned)next_random(&random) & 15;
		unsigned class = (unsigned)next_random(&random) & 3;
		unsigned ov = next_random(&random) & 1, running = next_random(&random) & 1;
		unsigned v64 = next_random(&random) & 1, home = next_random(&random) & 0x3ff;
		const char *what = v64 ? "separation" : "latency";

		dump_put(dump, "CPE_CSR_QEAR_DAT0",
			 (line & 0xffffffff) | op << 2 | ov << 1 | running);
		dump_put(dump, "CPE_CSR_QEAR_DAT1", home << 20 | class << 18 | line >> 32);
		dump_put(dump, "CPE_CSR_QEAR_CTL", cycles << 17 | v64 << 16 | 1);
		assert_int_equal(dump_decode(dump, "qear", NULL), 0);
		assert_string_equal(dump->kind, v64 ? "v64" : "latency");
		assert_true(value_of(dump, OF_RECORD, "address") == line);
		assert_true(value_of(dump, OF_RECORD, "opcode") == op);
		assert_true(value_of(dump, OF_RECORD, "class") == class);
		assert_true(!reported(dump, OF_RECORD, "class")->meaning == (class == 3));
		assert_true(value_of(dump, OF_RECORD, "home_node") == home);
		assert_true(value_of(dump, OF_RECORD, what) == cycles + ov * 32768);
		assert_true(reported(dump, OF_RECORD, what)->least == ov);
		assert_true(noted(dump, "inprog") == running);
	}
	/* What is another box's is not this one's, wherever it stands */
	dump->values[1].box = pmu_find_box(pmu_find_pmu("itanium-9300"), "zbox");
	assert_int_equal(dump_decode(dump, "qear", NULL), PMU_E_UNKNOWN);
	assert_says(dump, dump->values[1].reg->name, NULL);
	dump->values[1].box = dump->box;
	dump_remove(dump, "CPE_CSR_QEAR_DAT1");
	assert_int_equal(dump_decode(dump, "qear", NULL), PMU_E_UNKNOWN);
	assert_says(dump, "CPE_CSR_QEAR_DAT1", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(ear_d_cache, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(ear_d_tlb_and_alat, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(ear_d_refusals, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(ear_i, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(qear, fixture_up_qear, fixture_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
