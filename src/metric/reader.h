/* The words of an equation, read one after the other. Spaces between them mean nothing. */
#ifndef METRIC_READER_H
#define METRIC_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "pmulab/pmulab.h"

#define READER_NAME_MAX 128 /* characters of a name, the terminator included */

struct reader {
	struct pmu_ctx *ctx;
	const char *text;
	size_t at; /* the next character */
};

/** The next character that is no space, 0 at the end; the reader then stands before it. */
char reader_peek(struct reader *reader);
/** Goes over a character or, without regard to case, a word, if it is next. */
bool reader_accept(struct reader *reader, char c);
bool reader_accept_word(struct reader *reader, const char *word);
/** @return 0 or PMU_E_SYNTAX */
int reader_expect(struct reader *reader, char c);

/** Letters, digits, underscores and dots. @return 0 or PMU_E_SYNTAX */
int reader_name(struct reader *reader, char name[READER_NAME_MAX]);
/** 64, 0x40, 1e6 or 1.5. @return 0 or PMU_E_SYNTAX */
int reader_number(struct reader *reader, double *value);

/** Keeps a message with a caret from @start to where the reader is, and returns @code. */
__attribute__((format(printf, 4, 5))) int reader_refuse(const struct reader *reader, int code,
							size_t start, const char *format, ...);

#endif
