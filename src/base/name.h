/* Names that people type: compared without regard to ASCII case, and guessed where misspelt. */
#ifndef BASE_NAME_H
#define BASE_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** As strcmp(), upper and lower case ASCII letters being equal. */
int name_compare(const char *a, const char *b);
bool name_equal(const char *a, const char *b);
#define NAME_HASH_START 2166136261u

/** The hash of a name that is one character longer than that of @hash. */
static inline uint32_t name_hash_next(uint32_t hash, char c)
{
	/* Upper and lower case differ in this bit alone. */
	return (hash ^ ((unsigned char)c | 0x20u)) * 16777619u;
}

/** FNV-1a of the name; the same for names that are equal. */
uint32_t name_hash(const char *name);

/**
 * Adds a name to a list in @text, @separator before it unless it is the first. Names that do not
 * fit are left out, and the list ends with "...".
 */
void name_list_add(char *text, size_t size, const char *separator, const char *name);

/** Whether such a list, ", " between its names, has the name. */
static inline bool name_in_list(const char *list, const char *name)
{
	const size_t length = strlen(name);

	for (const char *at = list; length && (at = strstr(at, name)); at++)
		if ((at == list || at[-1] == ' ') && (!at[length] || at[length] == ','))
			return true;
	return false;
}

/* The closest of the names offered so far, by edit distance. */
struct name_guess {
	const char *wanted;
	const char *best; /* NULL: none is close enough to be meant */
	unsigned distance;
	size_t length;	  /* of wanted */
	uint64_t at[256]; /* by lower case character: a bit for each place of it in wanted */
};

/** Starts guessing what @wanted means; it must outlive the guess. */
void name_guess_init(struct name_guess *guess, const char *wanted);
void name_guess_offer(struct name_guess *guess, const char *name);

#endif
