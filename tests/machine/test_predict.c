/* The predictor of branches: patterns that it is to learn, and what none can. */
#include "machine/predict.h"
#include "support/cmocka.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS	4000
#define WARM_UP 2000

static const struct machine_uarch *described; /* NULL: Broadwell's core */

static struct predictor *new_predictor(void)
{
	struct predictor *predictor = calloc(1, sizeof(*predictor));

	assert_non_null(predictor);
	predict_init(predictor, described ? described : machine_uarch_find("broadwell"));
	return predictor;
}

/* Of a jump whose i-th execution is taken(i), alone: how many are not foreseen once it is known. */
static unsigned misses(bool (*taken)(unsigned i))
{
	struct predictor *predictor = new_predictor();
	const uint32_t hash = predict_hash(0x401000);
	unsigned misses = 0;

	for (unsigned i = 0; i < WARM_UP + ROUNDS; i++) {
		if (predict_conditional(predictor, hash, taken(i)))
			continue;
		predict_learn(predictor, hash);
		misses += i >= WARM_UP;
	}
	free(predictor);
	return misses;
}

static bool always(unsigned i)
{
	return i < UINT32_MAX;
}

static bool never(unsigned i)
{
	return !always(i);
}

static bool alternates(unsigned i)
{
	return i % 2;
}

static bool loops_ten_times(unsigned i)
{
	return i % 10 != 9;
}

static bool loops_forty_times(unsigned i)
{
	return i % 40 != 39;
}

/* splitmix64 */
static bool is_random(unsigned i)
{
	uint64_t z = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (z ^ z >> 31) & 1;
}

static void learns_patterns(void **state)
{
	(void)state;
	assert_int_equal(misses(always), 0);
	assert_int_equal(misses(never), 0);
	assert_int_equal(misses(alternates), 0);
	assert_int_equal(misses(loops_ten_times), 0);
	assert_int_equal(misses(loops_forty_times), 0);
}

/* Half of random jumps is foreseen: four standard deviations are 3 % of them. */
static void random_jumps_are_not_foreseen(void **state)
{
	const unsigned missed = misses(is_random);

	(void)state;
	assert_in_range(missed, ROUNDS / 2 - ROUNDS / 31, ROUNDS / 2 + ROUNDS / 31);
}

static void returns_match_calls(void **state)
{
	struct predictor *predictor = new_predictor();

	(void)state;
	for (unsigned i = 0; i < PREDICT_RETURNS; i++)
		predict_call(predictor, 0x1000 + i);
	for (unsigned i = PREDICT_RETURNS; i-- > 0;)
		assert_true(predict_return(predictor, 0x1000 + i));
	/* One call more than the stack holds: the first is lost. */
	for (unsigned i = 0; i <= PREDICT_RETURNS; i++)
		predict_call(predictor, 0x1000 + i);
	for (unsigned i = PREDICT_RETURNS; i > 0; i--)
		assert_true(predict_return(predictor, 0x1000 + i));
	assert_false(predict_return(predictor, 0x1000));
	free(predictor);
}

/* A switch that goes round by its history; one that changes is mispredicted once. */
static void computed_targets(void **state)
{
	struct predictor *predictor = new_predictor();
	const uint32_t hash = predict_hash(0x402000);
	unsigned missed = 0;

	(void)state;
	for (unsigned i = 0; i < 2000; i++)
		if (!predict_indirect(predictor, hash, 0x5000 + i % 3 * 0x40) && i >= 1000)
			missed++;
	assert_int_equal(missed, 0);
	assert_false(predict_indirect(predictor, predict_hash(0x403000), 0x6000));
	free(predictor);
}

/* What the shorter history shows of forty rounds is the same from the fifth on. */
static void cores_differ(void **state)
{
	struct machine_uarch small = *machine_uarch_find("broadwell");
	struct predictor *predictor;

	(void)state;
	small.predict_near = 2;
	small.predict_far = 4;
	small.predict_returns = 4;
	described = &small;
	assert_int_equal(misses(always), 0);
	assert_true(misses(loops_forty_times) >= ROUNDS / 40);
	predictor = new_predictor();
	for (unsigned i = 0; i < 5; i++)
		predict_call(predictor, 0x1000 + i);
	for (unsigned i = 4; i > 0; i--)
		assert_true(predict_return(predictor, 0x1000 + i));
	assert_false(predict_return(predictor, 0x1000));
	free(predictor);
	described = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(learns_patterns),	   cmocka_unit_test(random_jumps_are_not_foreseen),
	    cmocka_unit_test(returns_match_calls), cmocka_unit_test(cores_differ),
	    cmocka_unit_test(computed_targets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
