/*
 * Trace buffer and IP-EAR of the Itanium 9300: examples worked out by hand from 323602-001, and
 * random buffers put together by the bit positions of its tables.
 */
#include "fixture.h"

#define ROUNDS 2000
#define BUFFER 16

/* Nibbles of PMD39 from bit 0 up, as tables 3-28 and 3-32 list them. */
static const unsigned nibble_of[BUFFER] = {48, 56, 49, 57, 50, 58, 51, 59,
					   52, 60, 53, 61, 54, 62, 55, 63};

static int fixture_up(void **state)
{
	return fixture_up_for(state, "itanium-9300", "core");
}

/* The four bits of PMD39 that belong to an entry. */
static void put_extension(struct fixture *dump, unsigned pmd, uint64_t nibble)
{
	uint64_t extension = 0;
	unsigned i = 0;

	for (size_t v = 0; v < dump->count; v++)
		if (!strcmp(dump->values[v].reg->name, "PMD39"))
			extension = dump->values[v].value;
	while (nibble_of[i] != pmd)
		i++;
	dump_put(dump, "PMD39", (extension & ~(UINT64_C(15) << 4 * i)) | nibble << 4 * i);
}

static void put_pmd(struct fixture *dump, unsigned number, uint64_t value)
{
	char name[16];

	snprintf(name, sizeof(name), "PMD%u", number);
	dump_put(dump, name, value);
}

/* Table 3-26 */
static uint64_t etb_source(uint64_t bundle, unsigned slot, bool mispredicted)
{
	return bundle | slot << 2 | (unsigned)mispredicted << 1 | 1;
}

static uint64_t etb_target(uint64_t bundle)
{
	return bundle | 2;
}

static void etb_by_hand(void **state)
{
	struct fixture *dump = *state;

	/*
	 * Oldest first: a branch in slot 2 of 0x1000's second bundle to 0x2000; there, a
	 * mispredicted branch that flushed, to 0x3000, recorded by its own entry alone, which is a
	 * source; it goes on to 0x4000. Then a branch not taken. ebi = 5, full = 0: PMD48 to PMD52.
	 */
	dump->count = 0;
	put_pmd(dump, 48, etb_source(0x1000, 2, false));
	put_extension(dump, 48, 1);
	put_pmd(dump, 49, etb_source(0x2000, 0, true));
	put_extension(dump, 49, 3);
	put_pmd(dump, 50, etb_source(0x3000, 1, false));
	put_pmd(dump, 51, etb_target(0x4000));
	put_pmd(dump, 52, etb_source(0x4050, 3, false));
	dump_put(dump, "PMD38", 5);
	assert_int_equal(dump_decode(dump, "etb", NULL), 0);
	assert_int_equal(dump->entries, 5);

	/* The youngest first */
	assert_int_equal(dump->entry[0].row, 4);
	assert_string_equal(dump->entry[0].kind, "source");
	assert_string_equal(meaning_of(dump, 0, "slot"), "not_taken");
	assert_null(reported(dump, 0, "target"));
	assert_string_equal(dump->entry[1].kind, "target");
	assert_true(value_of(dump, 1, "address") == 0x4000);
	assert_true(value_of(dump, 2, "address") == 0x3000);
	assert_true(value_of(dump, 2, "target") == 0x4000);
	/* b1 of PMD49: its source is in the second bundle, but what it is the target of is not */
	assert_true(value_of(dump, 3, "address") == 0x2010);
	assert_true(value_of(dump, 3, "target") == 0x3000);
	assert_true(value_of(dump, 3, "mispredicted") == 1);
	assert_true(value_of(dump, 3, "flushed") == 1);
	assert_true(value_of(dump, 4, "address") == 0x1010);
	assert_true(value_of(dump, 4, "slot") == 2);
	assert_true(value_of(dump, 4, "target") == 0x2000);
	assert_true(value_of(dump, 4, "mispredicted") == 0);
	assert_null(reported(dump, 4, "flushed"));

	/* drt = 1 (bit 4): targets may have been left out, so what follows need not be one */
	dump_put(dump, "PMC39", 1 << 4 | 2 << 8);
	assert_int_equal(dump_decode(dump, "etb", NULL), 0);
	assert_null(reported(dump, 2, "target"));
	/* ds = 1 (bit 7): what is no source is undefined */
	dump_put(dump, "PMC39", 1 << 7 | 3 << 8);
	assert_int_equal(dump_decode(dump, "etb", NULL), 0);
	assert_string_equal(dump->entry[1].kind, "undefined");
	assert_null(reported(dump, 1, "address"));
	assert_null(reported(dump, 2, "target"));
}

static void etb_boundaries(void **state)
{
	struct fixture *dump = *state;

	/* ebi and full both 0: nothing was captured (§3.3.10.1.2) */
	dump->count = 0;
	dump_put(dump, "PMD39", 0);
	dump_put(dump, "PMD38", 0);
	assert_int_equal(dump_decode(dump, "etb", NULL), 0);
	assert_false(dump->captured);
	assert_int_equal(dump->entries, 0);

	/* What was written is needed, and nothing else */
	dump_put(dump, "PMD38", 2);
	put_pmd(dump, 48, etb_target(0x10));
	assert_int_equal(dump_decode(dump, "etb", NULL), PMU_E_UNKNOWN);
	assert_says(dump, "PMD49", NULL);
	assert_null(strstr(pmu_message(dump->ctx), "PMD50"));
	put_pmd(dump, 49, 0x1230); /* s = 0, mp = 0 */
	assert_int_equal(dump_decode(dump, "etb", NULL), 0);
	assert_string_equal(dump->entry[0].kind, "invalid");
	assert_null(reported(dump, 0, "address"));

	/* full with ebi 0: all, PMD63 last */
	for (unsigned pmd = 48; pmd < 64; pmd++)
		put_pmd(dump, pmd, etb_target((uint64_t)pmd << 4));
	dump_put(dump, "PMD38", 1 << 5);
	assert_int_equal(dump_decode(dump, "etb", NULL), 0);
	assert_int_equal(dump->entries, 16);
	assert_true(value_of(dump, 0, "address") == 63 << 4);
	assert_true(value_of(dump, 15, "address") == 48 << 4);

	dump_remove(dump, "PMD38");
	assert_int_equal(dump_decode(dump, "etb", NULL), PMU_E_UNKNOWN);
	assert_says(dump, "PMD38", NULL);
	dump_put(dump, "PMC42", 4 << 8);
	assert_int_equal(dump_decode(dump, "etb", NULL), PMU_E_CONFLICT);
	assert_says(dump, "PMC42.mode is 4", NULL);
}

/* Entries in the order in which they were written, put where ebi and full say that they are. */
static void etb_round_trips(void **state)
{
	struct fixture *dump = *state;
	uint64_t random = 42;

	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t extension = 0, written[BUFFER], nibbles[BUFFER];
		unsigned full = next_random(&random) & 1;
		unsigned ebi = (unsigned)next_random(&random) & 15;
		unsigned count = full ? BUFFER : ebi;

		dump->count = 0;
		for (unsigned pmd = 48; pmd < 64; pmd++)
			put_pmd(dump, pmd, next_random(&random));
		for (unsigned age = 0; age < count; age++) {
			unsigned pmd = 48 + (ebi + BUFFER - 1 - age) % BUFFER, i = 0;

			written[age] = next_random(&random);
			nibbles[age] = next_random(&random) & 15;
			put_pmd(dump, pmd, written[age]);
			while (nibble_of[i] != pmd)
				i++;
			extension |= nibbles[age] << 4 * i;
		}
		dump_put(dump, "PMD39", extension);
		dump_put(dump, "PMD38", full << 5 | ebi);
		assert_int_equal(dump_decode(dump, "etb", NULL), 0);
		assert_int_equal(dump->entries, count);
		for (unsigned age = 0; age < count; age++) {
			bool source = written[age] & 1, mp = written[age] & 2;
			uint64_t bundle = written[age] & ~UINT64_C(15);

			assert_int_equal(dump->entry[age].row, (ebi + BUFFER - 1 - age) % BUFFER);
			if (!source) {
				assert_string_equal(dump->entry[age].kind,
						    mp ? "target" : "invalid");
				assert_true(!reported(dump, (int)age, "address") == !mp);
				if (mp)
					assert_true(value_of(dump, (int)age, "address") == bundle);
				continue;
			}
			assert_string_equal(dump->entry[age].kind, "source");
			assert_true(value_of(dump, (int)age, "address") ==
				    bundle + (nibbles[age] & 1) * 16);
			assert_true(value_of(dump, (int)age, "slot") == (written[age] >> 2 & 3));
			assert_true(value_of(dump, (int)age, "mispredicted") == mp);
			if (mp)
				assert_true(value_of(dump, (int)age, "flushed") ==
					    (nibbles[age] >> 1 & 1));
			if (age > 0 && (written[age] >> 2 & 3) != 3 && (written[age - 1] & 3))
				assert_true(value_of(dump, (int)age, "target") ==
					    (written[age - 1] & ~UINT64_C(15)));
			else
				assert_null(reported(dump, (int)age, "target"));
		}
	}
}

/* Table 3-30: cycl 63:60, IP bits 63:12 in 59:8, bits 11:4 in 7:0. Table 3-32: cycl 3:2, f, ef. */
static void put_ip(struct fixture *dump, unsigned pmd, uint64_t ip, unsigned cycles, bool flushed)
{
	put_pmd(dump, pmd, (uint64_t)(cycles & 15) << 60 | ip >> 12 << 8 | (ip >> 4 & 0xff));
	put_extension(dump, pmd, (uint64_t)(cycles >> 4) << 2 | (uint64_t)flushed << 1);
}

static void ip_ear(void **state)
{
	struct fixture *dump = *state;

	dump->count = 0;
	/* Oldest first; cycles since the one before: 9, 63 or more, 20, 1. ebi 2 and full. */
	for (unsigned pmd = 50; pmd < 64; pmd++)
		put_ip(dump, pmd, 0x10000 + pmd * 16, pmd == 62 ? 9 : pmd == 63 ? 63 : 2, false);
	put_ip(dump, 48, 0xe000000012345670, 20, true);
	put_ip(dump, 49, 0x777770, 1, false);
	dump_put(dump, "PMD38", 1 << 5 | 2);
	dump_put(dump, "PMC42", 4 << 8 | 30 << 11);
	assert_int_equal(dump_decode(dump, "ip-ear", NULL), 0);
	assert_int_equal(dump->entries, 16);
	assert_true(value_of(dump, OF_RECORD, "delay") == 30);
	assert_int_equal(dump->entry[0].row, 1);
	assert_string_equal(dump->entry[0].kind, "last"); /* may be wrong (§3.3.10.2.1) */
	assert_true(value_of(dump, 0, "ip") == 0x777770);
	assert_true(value_of(dump, 0, "before_last") == 0);
	assert_string_equal(dump->entry[1].kind, "retired");
	assert_true(value_of(dump, 1, "ip") == 0xe000000012345670);
	assert_true(value_of(dump, 1, "cycles") == 20);
	assert_true(value_of(dump, 1, "flushed") == 1);
	assert_true(value_of(dump, 1, "before_last") == 1);
	/* PMD63 retired 1 + 20 cycles before the last; what is before it, 63 more or longer ago. */
	assert_true(value_of(dump, 2, "cycles") == 63);
	assert_true(reported(dump, 2, "cycles")->least);
	assert_true(value_of(dump, 2, "before_last") == 21);
	assert_false(reported(dump, 2, "before_last")->least);
	assert_true(value_of(dump, 3, "before_last") == 84);
	assert_true(reported(dump, 3, "before_last")->least);
	assert_true(value_of(dump, 4, "before_last") == 93);

	/* ef: bits 11:4 of the IP are lost, the delay's rest stands there */
	put_pmd(dump, 49, UINT64_C(5) << 60 | 0x777 << 8 | 17);
	put_extension(dump, 49, 1);
	assert_int_equal(dump_decode(dump, "ip-ear", NULL), 0);
	assert_string_equal(dump->entry[0].kind, "early");
	assert_null(reported(dump, 0, "ip"));
	assert_true(value_of(dump, 0, "ip_page") == 0x777000);
	assert_true(value_of(dump, 0, "delay_left") == 17);

	dump_put(dump, "PMC42", 0);
	assert_int_equal(dump_decode(dump, "ip-ear", NULL), PMU_E_CONFLICT);
	assert_says(dump, "PMC42.mode is 0", NULL);
}

/* One cycle count of 6 bits in two registers, in whatever entry. */
static void ip_ear_round_trips(void **state)
{
	struct fixture *dump = *state;
	uint64_t random = 7;

	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned full = next_random(&random) & 1;
		unsigned ebi = (unsigned)next_random(&random) & 15;
		int count = full ? BUFFER : (int)ebi;
		uint64_t ips[BUFFER], before = 0;
		unsigned cycles[BUFFER];
		bool flushed[BUFFER], saturated = false;

		dump->count = 0;
		for (unsigned age = 0; age < BUFFER; age++) {
			ips[age] = next_random(&random) & ~UINT64_C(15);
			cycles[age] = (unsigned)next_random(&random) & 63;
			flushed[age] = next_random(&random) & 1;
			put_ip(dump, 48 + (ebi + BUFFER - 1 - age) % BUFFER, ips[age], cycles[age],
			       flushed[age]);
		}
		dump_put(dump, "PMD38", full << 5 | ebi);
		assert_int_equal(dump_decode(dump, "ip-ear", NULL), 0);
		assert_int_equal(dump->entries, count);
		assert_null(reported(dump, OF_RECORD, "delay")); /* PMC42 is not in the dump */
		for (int age = 0; age < count; age++) {
			assert_true(value_of(dump, age, "ip") == ips[age]);
			assert_true(value_of(dump, age, "cycles") == cycles[age]);
			assert_true(reported(dump, age, "cycles")->least == (cycles[age] == 63));
			assert_true(value_of(dump, age, "flushed") == flushed[age]);
			assert_true(value_of(dump, age, "before_last") == before);
			assert_true(reported(dump, age, "before_last")->least == saturated);
			before += cycles[age];
			saturated |= cycles[age] == 63;
		}
	}
}

static void dumps_hold(void **state)
{
	struct fixture *dump = *state;
	const struct pmu_hwrec *etb = pmu_find_hwrec(dump->box, "etb");
	const struct pmu_hwrec *ip = pmu_find_hwrec(dump->box, "ip-ear");
	const struct pmu_hwrec *ear = pmu_find_hwrec(dump->box, "ear-d");

	/* The controls alone are no record; without PMC42, the mode is that after reset: 0. */
	dump->count = 0;
	dump_put(dump, "PMC40", 0);
	assert_false(pmu_hwrec_in_dump(ear, dump->values, dump->count));
	put_pmd(dump, 48, 1);
	assert_true(pmu_hwrec_in_dump(etb, dump->values, dump->count));
	assert_false(pmu_hwrec_in_dump(ip, dump->values, dump->count));
	dump_put(dump, "PMC42", 4 << 8);
	assert_false(pmu_hwrec_in_dump(etb, dump->values, dump->count));
	assert_true(pmu_hwrec_in_dump(ip, dump->values, dump->count));
	/* PMD48 has one layout for each */
	assert_string_equal(pmu_hwrec_register(ip, pmu_find_register(dump->box, "PMD48"))->name,
			    "PMD48_IPEAR");
	assert_null(pmu_hwrec_register(ear, pmu_find_register(dump->box, "PMD48")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(etb_by_hand, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(etb_boundaries, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(etb_round_trips, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(ip_ear, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(ip_ear_round_trips, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(dumps_hold, fixture_up, fixture_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
