/* The cycles that are free, against a plain array of them. */
#include <stdlib.h>
#include <string.h>

#include "machine/calendar.h"
#include "support/cmocka.h"

#define CYCLES 100000u

static uint64_t find(const uint8_t *taken, uint64_t end, uint64_t from, uint32_t cycles)
{
	const uint64_t words = (end + 63) / 64;

	if (words > CALENDAR_WORDS && from < 64 * (words - CALENDAR_WORDS))
		from = 64 * (words - CALENDAR_WORDS);
	for (; from + cycles <= end; from++)
		if (!memchr(taken + from, 1, cycles))
			return from;
	return CALENDAR_NONE;
}

static void finds_what_is_free(void **unused)
{
	static uint8_t taken[2 * CYCLES];
	static struct calendar calendar;
	uint64_t end = 0, random = 88172645463325252;

	(void)unused;
	while (end < CYCLES) {
		uint32_t cycles, late;
		uint64_t at;

		random = random * 6364136223846793005 + 1442695040888963407;
		cycles = 1 + (random >> 33) % 6;
		late = (random >> 40) % 12000;
		at = random >> 63 ? CALENDAR_NONE
				  : calendar_find(&calendar, end > late ? end - late : 0, cycles);
		if (!(random >> 63))
			assert_int_equal(at, find(taken, end, end > late ? end - late : 0, cycles));
		if (at == CALENDAR_NONE)
			at = end + (random >> 55) % 3;
		calendar_take(&calendar, at, cycles);
		memset(taken + at, 1, cycles);
		end = at + cycles > end ? at + cycles : end;
	}
}

/* As after a long time without a use. */
static void forgets_what_is_long_ago(void **unused)
{
	static struct calendar calendar;

	(void)unused;
	calendar_take(&calendar, 0, CALENDAR_USE_MAX);
	calendar_take(&calendar, 10 * CALENDAR_CYCLES, 4);
	/* The words of the last CALENDAR_CYCLES, with that of the end. */
	assert_int_equal(calendar_find(&calendar, 0, 64), 9 * CALENDAR_CYCLES + 64);
	assert_int_equal(calendar_find(&calendar, 10 * CALENDAR_CYCLES, 1), CALENDAR_NONE);
}

/* Before a use is room for another of four cycles, or nothing. */
static void puts_off_what_leaves_too_little(void **unused)
{
	static const uint32_t after[] = {0, 3, 2, 1, 0, 0}; /* cycles since the last use */
	static struct calendar calendar;

	(void)unused;
	calendar_take(&calendar, 100, 4);
	calendar_take(&calendar, 110, 4);
	for (unsigned i = 0; i < sizeof(after) / sizeof(after[0]); i++) {
		assert_int_equal(calendar_fragment(&calendar, 104 + i, 4), after[i]);
		assert_int_equal(calendar_fragment(&calendar, 114 + i, 4), after[i]);
	}
	assert_int_equal(calendar_fragment(&calendar, 10 * CALENDAR_CYCLES, 4), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(finds_what_is_free),
	    cmocka_unit_test(puts_off_what_leaves_too_little),
	    cmocka_unit_test(forgets_what_is_long_ago),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
