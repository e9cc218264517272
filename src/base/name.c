#include "base/name.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "pmulab/pmulab.h"

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

/*
 * Insertions, deletions, replacements and swaps of neighbours that turn the wanted name into @name:
 * the columns of the matrix as bit vectors (H. Hyyro, "A bit-vector algorithm for computing
 * Levenshtein and Damerau edit distances", 2003). A whole catalog is offered where a name is wrong.
 */
static unsigned edit_distance(const struct name_guess *guess, const char *name)
{
	uint64_t last = UINT64_C(1) << (guess->length - 1);
	uint64_t more = UINT64_MAX, less = 0, diagonal = 0, before = 0; /* than the place above */
	unsigned distance = (unsigned)guess->length;

	for (; *name; name++) {
		uint64_t same = guess->at[lower(*name)];
		uint64_t swapped = ((~diagonal & same) << 1) & before;
		uint64_t right_more, right_less;

		diagonal = (((same & more) + more) ^ more) | same | less | swapped;
		right_more = less | ~(diagonal | more);
		right_less = diagonal & more;
		distance += (right_more & last) != 0;
		distance -= (right_less & last) != 0;
		right_more = right_more << 1 | 1;
		right_less <<= 1;
		more = right_less | ~(diagonal | right_more);
		less = right_more & diagonal;
		before = same;
	}
	return distance;
}

void name_list_add(char *text, size_t size, const char *separator, const char *name)
{
	static const char more[] = ", ...";
	size_t used = strlen(text), at = used;
	int length;

	if (used >= sizeof(more) - 1 && !strcmp(text + used - (sizeof(more) - 1), more))
		return;
	length = snprintf(text + used, size - used, "%s%s", used ? separator : "", name);
	if ((size_t)length < size - used)
		return;
	while (at > size - sizeof(more))
		do
			at--;
		while (at > 0 && strncmp(text + at, separator, strlen(separator)) != 0);
	memcpy(text + at, more, sizeof(more));
}

void name_guess_init(struct name_guess *guess, const char *wanted)
{
	size_t length = strlen(wanted);

	/*
	 * A third of the letters may be wrong, and one more in words of which there is enough then:
	 * what is farther away is not what was meant.
	 */
	*guess = (struct name_guess){
	    .wanted = wanted,
	    .distance = (unsigned)length / 3 + (length > 3 ? 2 : 1),
	    .length = length,
	};
	for (size_t i = 0; i < length && length <= GUESS_MAX; i++)
		guess->at[lower(wanted[i])] |= UINT64_C(1) << i;
}

void name_guess_offer(struct name_guess *guess, const char *name)
{
	size_t length = strlen(name);
	size_t apart = length > guess->length ? length - guess->length : guess->length - length;
	unsigned distance;

	if (guess->length > GUESS_MAX || length > GUESS_MAX || apart >= guess->distance)
		return;
	distance = guess->length ? edit_distance(guess, name) : (unsigned)length;
	if (distance < guess->distance) {
		guess->distance = distance;
		guess->best = name;
	}
}

const char *pmu_nearest_name(const char *wanted, const char *a, const char *b)
{
	struct name_guess guess;

	name_guess_init(&guess, wanted);
	if (a)
		name_guess_offer(&guess, a);
	if (b)
		name_guess_offer(&guess, b);
	return guess.best;
}
