/* The register that measures requests of IA-64 cores, fed by hand (323602-001 §5.3). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "catalog/entries.h"
#include "catalog/signal.h"
#include "pmon/ia64/uncore.h"

/* Of the control, table 5-5. */
#define EN	    0x1ull
#define EACH	    0x2ull /* lfsr_msk */
#define OTHER	    0x4ull /* ot */
#define HOM	    (1ull << 3)
#define NCS	    (4ull << 3)
#define OP(n)	    ((uint64_t)(n) << 6)
#define ANY_OP	    (0xFull << 10)
#define THRESH_N(n) ((uint64_t)(n) << 14)
#define V64	    (1ull << 16)
#define DATA1	    0x108u
#define DATA0	    0x100u
#define CONTROL	    0x110u
#define CORE	    2u
#define CPE	    0xA000u /* of core 2, table 5-4 */

struct fixture {
	struct pmon_uncore *uncore;
	uint64_t now;
};

static int begin(void **state)
{
	const struct pmu_pmu *pmu = pmu_find_pmu("itanium-9300");
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->uncore = calloc(1, pmon_uncore_size(pmu, 2));
	assert_non_null(f->uncore);
	assert_int_equal(pmon_uncore_init(f->uncore, NULL, pmu, 2), 0);
	*state = f;
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;

	free(f->uncore);
	free(f);
	return 0;
}

static void control(struct fixture *f, uint64_t value)
{
	assert_int_equal(pmon_uncore_write(f->uncore, 1, CPE + CONTROL, f->now, value), 0);
}

static uint64_t get(struct fixture *f, uint32_t offset)
{
	uint64_t value;

	assert_int_equal(pmon_uncore_read(f->uncore, 1, CPE + offset, f->now, &value), 0);
	return value;
}

/* A read of data of 700 cycles from home agent 3, of core 2 of socket 1. */
static const struct detail_request read_data = {.address = 0x2C5544332200,
						.time = 1000,
						.end = 1500,
						.latency = 700,
						.apart = 13,
						.message = MESSAGE_READ_DATA,
						.home = 3,
						.reads = true,
						.from_home = true};

static bool request(struct fixture *f, struct detail_request r)
{
	return pmon_uncore_request(f->uncore, 1, CORE, &r, 0);
}

static void test_fields(void **state)
{
	struct fixture *f = *state;
	struct detail_request r = read_data;

	control(f, EN | EACH | HOM | ANY_OP);
	assert_true(request(f, r));
	assert_int_equal(get(f, DATA0), 0x44332200u | 2 << 2); /* RdData */
	assert_int_equal(get(f, DATA1), 1u << 30 | 3u << 20 | 0x2C55);
	assert_int_equal(get(f, CONTROL) >> 17, 700);
	/* From another cache, and of another core. */
	r.time = 2000;
	r.end = 2100;
	r.from_home = false;
	r.message = MESSAGE_READ_OWN;
	assert_true(request(f, r));
	assert_int_equal(get(f, DATA0) >> 2 & 0xF, 4); /* RdInvOwn */
	assert_int_equal(get(f, DATA1) >> 30, 0);
	r.time = 3000;
	assert_false(pmon_uncore_request(f->uncore, 1, CORE + 1, &r, 0));
	assert_false(pmon_uncore_request(f->uncore, 0, CORE, &r, 0));
	/* A write of the control clears the cycles. */
	control(f, EN | EACH | HOM | ANY_OP);
	assert_int_equal(get(f, CONTROL) >> 17, 0);
}

/* Table 5-6: a write clears inprog, and nothing else. */
static void test_data_is_not_written(void **state)
{
	struct fixture *f = *state;
	uint64_t low, high;

	control(f, EN | EACH | HOM | OP(2));
	assert_true(request(f, read_data));
	low = get(f, DATA0);
	high = get(f, DATA1);
	assert_int_equal(low & 1, 0);
	for (unsigned i = 0; i < 2; i++) {
		uint64_t value = i ? UINT32_MAX : 0;

		assert_int_equal(pmon_uncore_write(f->uncore, 1, CPE + DATA0, f->now, value), 0);
		assert_int_equal(pmon_uncore_write(f->uncore, 1, CPE + DATA1, f->now, value), 0);
		assert_int_equal(get(f, DATA0), low);
		assert_int_equal(get(f, DATA1), high);
	}
}

/* 15 bits of latency. */
static void test_overflow(void **state)
{
	struct fixture *f = *state;
	struct detail_request r = read_data;

	control(f, EN | EACH | HOM | ANY_OP | THRESH_N(3));
	r.latency = 0x7FFF;
	assert_true(request(f, r));
	assert_int_equal(get(f, DATA0) & 2, 0);
	r.time = r.end;
	r.latency = 0x8000 + 5;
	assert_true(request(f, r));
	assert_int_equal(get(f, DATA0) & 2, 2);
	assert_int_equal(get(f, CONTROL) >> 17, 5);
}

static void test_thresholds(void **state)
{
	static const uint16_t least[] = {0, 128, 256, 512};
	struct fixture *f = *state;
	struct detail_request r = read_data;

	for (unsigned t = 0; t < 4; t++)
		for (unsigned less = 0; less < (t ? 2 : 1); less++) {
			control(f, EN | EACH | HOM | ANY_OP | THRESH_N(t));
			r.latency = least[t] - less;
			assert_int_equal(request(f, r), !less);
			assert_int_equal(get(f, CONTROL) >> 17, r.latency); /* captured anyway */
		}
}

/* Opcodes with a mask, and classes. */
static void test_choice(void **state)
{
	static const struct {
		uint64_t control;
		uint8_t message;
		bool taken;
	} rows[] = {
	    {EN | EACH | HOM | OP(2), MESSAGE_READ_DATA, true},
	    {EN | EACH | HOM | OP(2), MESSAGE_READ_CODE, false},
	    {EN | EACH | HOM | OP(1), MESSAGE_READ_CODE, true},
	    {EN | EACH | HOM | OP(0xD), MESSAGE_READ_DATA, false}, /* all bits differ */
	    {EN | EACH | HOM | OP(0) | 3ull << 10, MESSAGE_READ_CODE, true},
	    {EN | EACH | HOM | OP(0) | 3ull << 10, MESSAGE_READ_OWN, false},
	    {EN | EACH | HOM | OP(8), MESSAGE_OWN, true},
	    {EN | EACH | HOM | OP(12), MESSAGE_WRITEBACK, true},
	    {EN | EACH | NCS | ANY_OP, MESSAGE_READ_DATA, false},
	    {EACH | HOM | ANY_OP, MESSAGE_READ_DATA, false},
	};
	struct fixture *f = *state;

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct detail_request r = read_data;

		r.message = rows[i].message;
		control(f, rows[i].control);
		assert_int_equal(request(f, r), rows[i].taken);
	}
}

/* One at a time. */
static void test_busy(void **state)
{
	struct fixture *f = *state;
	struct detail_request r = read_data;

	control(f, EN | EACH | HOM | ANY_OP);
	assert_true(request(f, r));
	r.time = 1499;
	assert_false(request(f, r));
	r.time = 1500;
	assert_true(request(f, r));
}

/* The monitors of the thread that ot names stop it. */
static void test_frozen(void **state)
{
	struct fixture *f = *state;

	control(f, EN | EACH | HOM | ANY_OP);
	assert_false(pmon_uncore_request(f->uncore, 1, CORE, &read_data, 1));
	control(f, EN | EACH | HOM | ANY_OP | OTHER);
	assert_true(pmon_uncore_request(f->uncore, 1, CORE, &read_data, 1));
	assert_false(pmon_uncore_request(f->uncore, 1, CORE, &read_data, 2));
}

/* The time between the halves of a line that is read; classes do not matter. */
static void test_pairs(void **state)
{
	struct fixture *f = *state;
	struct detail_request r = read_data;

	control(f, EN | EACH | ANY_OP | V64);
	assert_true(request(f, r));
	assert_int_equal(get(f, CONTROL) >> 17, 13);
	r.time = r.end;
	r.reads = false;
	r.message = MESSAGE_OWN;
	assert_false(request(f, r));
}

/* Of 127 cycles a shift register of seven bits has 16 with three bits given. */
static void test_random(void **state)
{
	struct fixture *f = *state;
	struct detail_request r = read_data;
	unsigned taken = 0;

	for (unsigned write = 0; write < 3; write++) {
		f->now = 10000ull * (write + 1);
		control(f, EN | HOM | ANY_OP);
		taken = 0;
		for (unsigned cycle = 1; cycle <= 127; cycle++) {
			r.time = f->now + cycle;
			r.end = r.time;
			taken += request(f, r);
		}
		/* It begins with the second write that enables. */
		assert_int_equal(taken, write < 1 ? 0 : 16);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_fields, begin, end),
	    cmocka_unit_test_setup_teardown(test_data_is_not_written, begin, end),
	    cmocka_unit_test_setup_teardown(test_overflow, begin, end),
	    cmocka_unit_test_setup_teardown(test_thresholds, begin, end),
	    cmocka_unit_test_setup_teardown(test_choice, begin, end),
	    cmocka_unit_test_setup_teardown(test_busy, begin, end),
	    cmocka_unit_test_setup_teardown(test_frozen, begin, end),
	    cmocka_unit_test_setup_teardown(test_pairs, begin, end),
	    cmocka_unit_test_setup_teardown(test_random, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
