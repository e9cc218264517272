/* Functions and source lines of code that was executed, by elfutils. */
#ifndef CLI_SYMBOLS_H
#define CLI_SYMBOLS_H

#include <stdint.h>
#include <time.h>

struct symbols;

/* What is known of an instruction; the texts live as long as what they were found by. */
struct symbol {
	const char *function; /* NULL: no symbol covers it */
	uint64_t address;     /* as in the file's symbol table: where its function begins, as far
				 as that is known, else its own */
	const char *file;     /* NULL: no debug information covers it */
	unsigned line;
};

/**
 * @param since  files that were changed after that are not those that were executed
 * @return NULL where memory ran out
 */
struct symbols *symbols_new(time_t since);
void symbols_free(struct symbols *symbols);

/**
 * Looks up an instruction.
 * @param module  path of its file; must live as long as @symbols
 * @param offset  in the file
 */
void symbols_find(struct symbols *symbols, const char *module, uint64_t offset,
		  struct symbol *symbol);

/** The same of code or data by its address, as in the file's symbol table. */
void symbols_find_address(struct symbols *symbols, const char *module, uint64_t address,
			  struct symbol *symbol);

#endif
