/* Estimates of time slices: by hand, and over many random programs. */
#include "cli/slices.h"

#include <math.h>
#include <stdlib.h>

#include "support/cmocka.h"
#include "support/random.h"

#define PROGRAMS 4000
#define SLICES	 600

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fabs(b) + 1e-12;
}

/* Four slices of 1, 1, 2 and 1 s; counted are the first and the third, with 10 and 26. */
static void test_by_hand(void **state)
{
	struct slices slices = {0};

	(void)state;
	assert_true(isnan(slices_estimate(&slices)));
	assert_true(slices_share(&slices) == 0);
	slices_add(&slices, true, 10, 1);
	assert_true(slices_estimate(&slices) == 10 && slices_bound(&slices) == 0);
	slices_add(&slices, false, 0, 1);
	assert_true(isnan(slices_bound(&slices)));
	slices_add(&slices, true, 26, 2);
	slices_add(&slices, false, 0, 1);
	assert_true(near(slices_share(&slices), 0.6));
	/* 36 in 3 of 5 s. */
	assert_true(near(slices_estimate(&slices), 60));
	/* Rate 12: residuals -2 and 2, variance 8; 12.706 * 4 * sqrt((1 - 2/4) * 8 / 2). */
	assert_true(near(slices_bound(&slices), 12.706 * 4 * sqrt(2)));
}

/* Two slices of 1 s are counted, with 10 and 14, and nothing in the 2 s between them. */
static void test_gap(void **state)
{
	struct slices slices = {0};

	(void)state;
	slices_add(&slices, true, 10, 1);
	slices_add_gap(&slices, 2);
	slices_add(&slices, true, 14, 1);
	assert_true(near(slices_share(&slices), 0.5));
	assert_true(near(slices_estimate(&slices), 48));
	/* Residuals -2 and 2, variance 8; four slices of 1 s in all. */
	assert_true(near(slices_bound(&slices), 12.706 * 4 * sqrt(2)));
}

/* What happens in a slice: a rate that changes at random, with bursts. */
static uint64_t happen(uint64_t *random, double seconds)
{
	double rate = 0;

	for (unsigned i = 0; i < 8; i++)
		rate += (double)(next_random(random) % 1000000);
	if (next_random(random) % 4 == 0)
		rate += 3e6;
	return (uint64_t)(rate * seconds * 1e3);
}

/* The truth lies within the bound of 95 of 100 programs, whatever their length. */
static void test_coverage(void **state)
{
	uint64_t random = 0x2545f4914f6cdd1d;

	(void)state;
	for (unsigned groups = 2; groups <= 5; groups += 3)
		for (unsigned length = SLICES / 4; length <= SLICES; length *= 2) {
			unsigned within = 0;

			for (unsigned program = 0; program < PROGRAMS; program++) {
				struct slices slices = {0};
				double truth = 0;

				for (unsigned i = 0; i < length; i++) {
					const double seconds =
					    1e-3 * (1 + (double)(next_random(&random) % 100) / 200);
					const uint64_t count = happen(&random, seconds);

					truth += (double)count;
					slices_add(&slices, i % groups == 0, count, seconds);
				}
				within +=
				    fabs(slices_estimate(&slices) - truth) <= slices_bound(&slices);
			}
			print_message("%u groups, %u slices: within the bound %.2f %%\n", groups,
				      length, 100.0 * within / PROGRAMS);
			/* The share of 4000 is off by 0.34 % on average. */
			assert_true(within > 0.94 * PROGRAMS && within < 0.96 * PROGRAMS);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_by_hand),
	    cmocka_unit_test(test_gap),
	    cmocka_unit_test(test_coverage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
