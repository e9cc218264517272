/* Names compared without regard to case, and guesses at misspelt ones. */
#include <string.h>

#include "base/name.h"
#include "support/cmocka.h"

static void test_compare(void **state)
{
	(void)state;
	assert_true(name_equal("LLC_Lookup", "llc_LOOKUP"));
	assert_true(name_equal("", ""));
	assert_false(name_equal("RD", "RD_"));
	assert_false(name_equal("RD", "R"));
	/* Letters only: these differ by the same bit as upper and lower case do. */
	assert_false(name_equal("@", "`"));
	assert_false(name_equal("[", "{"));
	/* '_' stands between upper and lower case: lower case decides. */
	assert_true(name_compare("A_", "AB") < 0);
	assert_true(name_compare("b", "A") > 0);
	assert_true(name_compare("A", "AB") < 0);
}

/* FNV-1a of "foobar" is published with the algorithm. */
static void test_hash(void **state)
{
	(void)state;
	assert_int_equal(name_hash(""), 0x811c9dc5);
	assert_int_equal(name_hash("foobar"), 0xbf9cf968);
	assert_int_equal(name_hash("FooBar"), 0xbf9cf968);
}

static unsigned smaller(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* By the definition: the whole matrix. */
static unsigned plain_distance(const char *a, const char *b)
{
	unsigned at[16][16];
	unsigned m = (unsigned)strlen(a), n = (unsigned)strlen(b);

	for (unsigned i = 0; i <= m; i++) {
		for (unsigned j = 0; j <= n; j++) {
			unsigned best = i + j;

			if (i)
				best = smaller(best, at[i - 1][j] + 1);
			if (j)
				best = smaller(best, at[i][j - 1] + 1);
			if (i && j)
				best = smaller(best, at[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				best = smaller(best, at[i - 2][j - 2] + 1);
			at[i][j] = best;
		}
	}
	return at[m][n];
}

static void random_name(char name[16], uint32_t *seed)
{
	unsigned length;

	*seed = *seed * 1664525 + 1013904223;
	length = *seed >> 28;
	for (unsigned i = 0; i < length; i++) {
		*seed = *seed * 1664525 + 1013904223;
		name[i] = (char)('a' + (*seed >> 30));
	}
	name[length] = '\0';
}

/* Few letters, so that many are the same and stand in another order. */
static void test_distance(void **state)
{
	uint32_t seed = 1;

	(void)state;
	for (unsigned i = 0; i < 100000; i++) {
		struct name_guess guess;
		char wanted[16], offered[16];

		random_name(wanted, &seed);
		random_name(offered, &seed);
		name_guess_init(&guess, wanted);
		guess.distance = 100;
		name_guess_offer(&guess, offered);
		assert_int_equal(guess.distance, plain_distance(wanted, offered));
	}
}

struct guess {
	const char *wanted, *offered[4], *best;
	unsigned distance;
};

static void test_guess(void **state)
{
	static const struct guess guesses[] = {
	    {"DRq", {"RFO", "DRd"}, "DRd", 1},
	    {"cob", {"ubox", "cbo"}, "cbo", 1}, /* two letters swapped */
	    {"CAS_CUONT", {"CAS_COUNT"}, "CAS_COUNT", 1},
	    {"tresh", {"thresh", "threshold"}, "thresh", 1},
	    {"clockticks", {"CLOCKTICKS"}, "CLOCKTICKS", 0},
	    {"kitten", {"sitting"}, "sitting", 3},
	    {"abc", {"abcd", "ab", "xabc"}, "abcd", 1}, /* the first of equals */
	    {"RD", {"RING_BOUNCES"}, NULL, 0},		/* nothing in common */
	    {"foo", {"sbo", "lbr"}, NULL, 0},		/* one letter of three */
	    {"", {"abc"}, NULL, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(guesses) / sizeof(guesses[0]); i++) {
		struct name_guess guess;

		name_guess_init(&guess, guesses[i].wanted);
		for (size_t j = 0; j < 4 && guesses[i].offered[j]; j++)
			name_guess_offer(&guess, guesses[i].offered[j]);
		if (!guesses[i].best) {
			assert_null(guess.best);
			continue;
		}
		assert_non_null(guess.best);
		assert_string_equal(guess.best, guesses[i].best);
		assert_int_equal(guess.distance, guesses[i].distance);
	}
}

static void test_long_names(void **state)
{
	char longest[64], too_long[65];
	struct name_guess guess;

	(void)state;
	memset(longest, 'a', sizeof(longest) - 1);
	longest[63] = '\0';
	memset(too_long, 'a', sizeof(too_long) - 1);
	too_long[64] = '\0';
	name_guess_init(&guess, longest);
	name_guess_offer(&guess, too_long);
	assert_null(guess.best);
	name_guess_offer(&guess, longest);
	assert_ptr_equal(guess.best, longest);
}

/* The list as it fits 16 bytes: names are whole, and what is left out shows. */
static void test_list(void **state)
{
	static const struct {
		const char *names[5], *list;
	} lists[] = {
	    {{"one", "two"}, "one, two"},
	    {{"one", "two", "seven"}, "one, two, seven"},
	    {{"one", "two", "seven", "x"}, "one, two, ..."},
	    {{"one", "twelve", "ten", "x"}, "one, ..."},
	    {{"thirteenchars", "x", "y"}, ", ..."},
	    {{"nine_char", "eight_ch", "x"}, "nine_char, ..."},
	    {{"ten_charac", "eight_ch"}, "ten_charac, ..."},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		char text[16] = "";

		for (size_t j = 0; lists[i].names[j]; j++)
			name_list_add(text, sizeof(text), ", ", lists[i].names[j]);
		assert_string_equal(text, lists[i].list);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_compare),    cmocka_unit_test(test_hash),
	    cmocka_unit_test(test_distance),   cmocka_unit_test(test_guess),
	    cmocka_unit_test(test_long_names), cmocka_unit_test(test_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
