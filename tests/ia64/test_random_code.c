/* Random bundles: only documented faults, no state that cannot be, and the same by either kind of
 * operations. Arguments: how many, and a seed. */
#include <stdlib.h>

#include "random_code.h"
#include "support/cmocka.h"

static uint64_t programs = 1500, first = 1;

static void random_bundles(void **unused)
{
	struct fixture *b = random_code_fixture();
	unsigned char code[RANDOM_CODE_BYTES];

	(void)unused;
	for (uint64_t seed = first; seed < first + programs; seed++) {
		const char *wrong;

		random_code_make(code, seed);
		wrong = random_code_run(b, code, sizeof(code), seed);
		if (wrong)
			fail_msg("seed %llu: %s", (unsigned long long)seed, wrong);
	}
	fixture_down(b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(random_bundles),
	};

	if (argc > 1)
		programs = strtoull(argv[1], NULL, 0);
	if (argc > 2)
		first = strtoull(argv[2], NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
