/* Names that people type: compared without regard to ASCII case, and guessed where misspelt. */
#ifndef BASE_NAME_H
#define BASE_NAME_H

#include <stdbool.h>
#include <stdint.h>

/** As strcmp(), upper and lower case ASCII letters being equal. */
int name_compare(const char *a, const char *b);
bool name_equal(const char *a, const char *b);
/** FNV-1a of the name in lower case. */
uint32_t name_hash(const char *name);

/* The closest of the names offered so far, by edit distance. */
struct name_guess {
	const char *wanted;
	const char *best; /* NULL: none is close enough to be meant */
	unsigned distance;
};

/** Starts guessing what @wanted means; it must outlive the guess. */
void name_guess_init(struct name_guess *guess, const char *wanted);
void name_guess_offer(struct name_guess *guess, const char *name);

#endif
