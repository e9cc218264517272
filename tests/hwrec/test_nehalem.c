/*
 * PEBS records, data sources and branch records of Nehalem: examples worked out by hand from the
 * Performance Analysis Guide (G) and 253669 §17.7.1, §18.8.1, and random records put together by
 * their offsets and bits.
 */
#include "fixture.h"

#define ROUNDS	     2000
#define RECORD_BYTES 0xb0
#define STACK	     16

static int fixture_up(void **state)
{
	return fixture_up_for(state, "nehalem", "core");
}

static void put_word(unsigned char *bytes, size_t offset, uint64_t word)
{
	for (unsigned i = 0; i < 8; i++)
		bytes[offset + i] = (unsigned char)(word >> 8 * i);
}

/* 253669 §18.8.1.1: flags, address, the general registers in this order */
static const char *const registers[] = {"rflags", "rip", "rax", "rbx", "rcx", "rdx",
					"rsi",	  "rdi", "rbp", "rsp", "r8",  "r9",
					"r10",	  "r11", "r12", "r13", "r14", "r15"};

static void pebs(void **state)
{
	struct fixture *dump = *state;
	unsigned char bytes[RECORD_BYTES];
	uint64_t random = 3;

	assert_int_equal(pmu_find_hwrec(dump->box, "pebs")->size, RECORD_BYTES);
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t words[RECORD_BYTES / 8];

		for (size_t i = 0; i < RECORD_BYTES / 8; i++) {
			words[i] = next_random(&random);
			if (i == 0xa8 / 8)
				words[i] &= 0x3ff;
			put_word(bytes, 8 * i, words[i]);
		}
		assert_int_equal(dump_decode_bytes(dump, "pebs", bytes), 0);
		for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
			assert_true(value_of(dump, OF_RECORD, registers[i]) == words[i]);
		assert_true(value_of(dump, OF_RECORD, "global_status") == words[0x90 / 8]);
		if (words[0xa8 / 8] == 0) {
			assert_null(reported(dump, OF_RECORD, "data_source"));
			continue;
		}
		assert_true(value_of(dump, OF_RECORD, "data_address") == words[0x98 / 8]);
		assert_true(value_of(dump, OF_RECORD, "data_source") == (words[0xa0 / 8] & 15));
		assert_true(value_of(dump, OF_RECORD, "latency") == words[0xa8 / 8]);
		assert_int_equal(dump->note_count, 0);
	}
	/* No sample of the latency event: code 0 would be a miss of unknown source */
	memset(bytes, 0, sizeof(bytes));
	assert_int_equal(dump_decode_bytes(dump, "pebs", bytes), 0);
	assert_null(reported(dump, OF_RECORD, "data_source"));
	assert_null(reported(dump, OF_RECORD, "latency"));
	assert_int_equal(dump->note_count, 1);
}

/* G table 5 */
static void data_sources(void **state)
{
	static const char *const names[] = {"UNKNOWN_MISS",
					    "L1_HIT",
					    "FILL_BUFFER",
					    "L2_HIT",
					    "L3_HIT",
					    "L3_OTHER_CORE_HIT",
					    "L3_OTHER_CORE_HITM",
					    "L3_NO_DETAILS",
					    "REMOTE_CACHE_FWD",
					    "REMOTE_CACHE_HITM",
					    "LOCAL_DRAM_S",
					    "REMOTE_DRAM_S",
					    "LOCAL_DRAM_E",
					    "REMOTE_DRAM_E",
					    "IO",
					    "UNCACHEABLE"};
	struct fixture *dump = *state;
	unsigned char bytes[8];

	for (uint64_t code = 0; code < 16; code++) {
		put_word(bytes, 0, code);
		assert_int_equal(dump_decode_bytes(dump, "data-source", bytes), 0);
		assert_string_equal(meaning_of(dump, OF_RECORD, "source"), names[code]);
		assert_int_equal(dump->note_count, 0);
		put_word(bytes, 0, code | UINT64_C(1) << 63);
		assert_int_equal(dump_decode_bytes(dump, "data-source", bytes), 0);
		assert_string_equal(meaning_of(dump, OF_RECORD, "source"), names[code]);
		assert_int_equal(dump->note_count, 1);
	}
}

static void put_branch(struct fixture *dump, unsigned number, uint64_t from, uint64_t to)
{
	char name[40];

	snprintf(name, sizeof(name), "MSR_LASTBRANCH_%u_FROM_IP", number);
	dump_put(dump, name, from);
	snprintf(name, sizeof(name), "MSR_LASTBRANCH_%u_TO_IP", number);
	dump_put(dump, name, to);
}

static void lbr_by_hand(void **state)
{
	struct fixture *dump = *state;

	/*
	 * 253669 §17.7.1: the youngest is the one that TOS names; bit 63 of FROM is the
	 * misprediction, not the address's sign: 0xffff8000_00001234 is stored as it is, predicted
	 * right as 0x7fff8000_00001234.
	 */
	for (unsigned i = 0; i < STACK; i++)
		put_branch(dump, i, 0, 0);
	put_branch(dump, 0, 0xffff800000001234, 0x401000);
	put_branch(dump, 1, 0x7fff800000005678, 0xffff800000009abc);
	put_branch(dump, 2, 0x8000000000401010, 0x402000);
	dump_put(dump, "MSR_LASTBRANCH_TOS", 1);
	assert_int_equal(dump_decode(dump, "lbr", NULL), 0);
	assert_int_equal(dump->entries, 16);
	assert_int_equal(dump->entry[0].row, 1);
	assert_true(value_of(dump, 0, "from") == 0xffff800000005678);
	assert_true(value_of(dump, 0, "to") == 0xffff800000009abc);
	assert_true(value_of(dump, 0, "mispredicted") == 0);
	assert_int_equal(dump->entry[1].row, 0);
	assert_true(value_of(dump, 1, "from") == 0xffff800000001234);
	assert_true(value_of(dump, 1, "mispredicted") == 1);
	/* Behind 0 comes 15; 2 is the oldest */
	assert_int_equal(dump->entry[2].row, 15);
	assert_string_equal(dump->entry[2].kind, "empty");
	assert_null(reported(dump, 2, "from"));
	assert_int_equal(dump->entry[15].row, 2);
	assert_true(value_of(dump, 15, "from") == 0x401010);
	assert_true(value_of(dump, 15, "mispredicted") == 1);

	dump_put(dump, "IA32_DEBUGCTL", 1);
	assert_int_equal(dump_decode(dump, "lbr", NULL), 0);
	assert_true(noted(dump, "IA32_DEBUGCTL"));
	dump_remove(dump, "MSR_LASTBRANCH_7_TO_IP");
	assert_int_equal(dump_decode(dump, "lbr", NULL), PMU_E_UNKNOWN);
	assert_says(dump, "MSR_LASTBRANCH_7_TO_IP", NULL);
}

static void lbr_round_trips(void **state)
{
	struct fixture *dump = *state;
	uint64_t random = 1234567;

	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned tos = (unsigned)next_random(&random) & 15;
		int64_t from[STACK], to[STACK];
		bool mispredicted[STACK];

		dump->count = 0;
		for (unsigned age = 0; age < STACK; age++) {
			/* 48 bits, and their sign above */
			from[age] = (int64_t)next_random(&random) >> 16;
			to[age] = (int64_t)next_random(&random) >> 16;
			mispredicted[age] = next_random(&random) & 1;
			put_branch(dump, (tos + STACK - age) % STACK,
				   ((uint64_t)from[age] & INT64_MAX) | (uint64_t)mispredicted[age]
									   << 63,
				   (uint64_t)to[age]);
		}
		dump_put(dump, "MSR_LASTBRANCH_TOS", tos);
		assert_int_equal(dump_decode(dump, "lbr", NULL), 0);
		for (int age = 0; age < STACK; age++) {
			assert_int_equal(dump->entry[age].row,
					 (tos + STACK - (unsigned)age) % STACK);
			assert_true(value_of(dump, age, "from") == (uint64_t)from[age]);
			assert_true(value_of(dump, age, "to") == (uint64_t)to[age]);
			assert_true(value_of(dump, age, "mispredicted") == mispredicted[age]);
		}
	}
}

static void wrong_place(void **state)
{
	struct fixture *dump = *state;
	unsigned char bytes[RECORD_BYTES] = {0};

	assert_int_equal(dump_decode_bytes(dump, "lbr", bytes), PMU_E_UNSUPPORTED);
	assert_int_equal(dump_decode(dump, "pebs", NULL), PMU_E_UNSUPPORTED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(pebs, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(data_sources, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(lbr_by_hand, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(lbr_round_trips, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(wrong_place, fixture_up, fixture_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
