#include "base/name.h"

#include <stddef.h>
#include <string.h>

#define GUESS_MAX 63 /* characters; longer names are not guessed */

static unsigned char lower(char c)
{
	return (unsigned char)(c + (c >= 'A' && c <= 'Z') * ('a' - 'A'));
}

int name_compare(const char *a, const char *b)
{
	while (*a && lower(*a) == lower(*b)) {
		a++;
		b++;
	}
	return lower(*a) - lower(*b);
}

bool name_equal(const char *a, const char *b)
{
	/* Most names are written as the manual has them. */
	return !strcmp(a, b) || !name_compare(a, b);
}

uint32_t name_hash(const char *name)
{
	uint32_t hash = NAME_HASH_START;

	for (; *name; name++)
		hash = name_hash_next(hash, *name);
	return hash;
}

static unsigned smaller(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Insertions, deletions, replacements and swaps of neighbours that turn @a into @b. */
static unsigned edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	unsigned rows[3][GUESS_MAX + 1];
	unsigned *before = rows[0], *above = rows[1], *row = rows[2];

	for (size_t j = 0; j <= b_length; j++)
		above[j] = (unsigned)j;
	for (size_t i = 1; i <= a_length; i++) {
		unsigned *oldest = before;

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b_length; j++) {
			bool same = lower(a[i - 1]) == lower(b[j - 1]);

			row[j] = smaller(smaller(above[j], row[j - 1]) + 1, above[j - 1] + !same);
			if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
			    lower(a[i - 2]) == lower(b[j - 1]))
				row[j] = smaller(row[j], before[j - 2] + 1);
		}
		before = above;
		above = row;
		row = oldest;
	}
	return above[b_length];
}

void name_guess_init(struct name_guess *guess, const char *wanted)
{
	/* A third of the letters may be wrong: what is farther away is not what was meant. */
	*guess = (struct name_guess){
	    .wanted = wanted,
	    .distance = (unsigned)strlen(wanted) / 3 + 2,
	};
}

void name_guess_offer(struct name_guess *guess, const char *name)
{
	size_t wanted_length = strlen(guess->wanted), length = strlen(name);
	unsigned distance;

	if (wanted_length > GUESS_MAX || length > GUESS_MAX)
		return;
	distance = edit_distance(guess->wanted, wanted_length, name, length);
	if (distance < guess->distance) {
		guess->distance = distance;
		guess->best = name;
	}
}
