/* Notations, each read into an expression of pmulab's own. */
#ifndef NOTATION_PARSE_H
#define NOTATION_PARSE_H

#include "notation/names.h"

/* What is read, and what comes of it. */
struct notation_reader {
	struct pmu_ctx *ctx;
	const struct pmu_pmu *pmu; /* NULL: any */
	const char *text;
	char own[NOTATION_TEXT_MAX]; /* the expression */
	size_t used;
};

/** Adds to the expression, as printf(). */
__attribute__((format(printf, 2, 3))) void notation_put(struct notation_reader *reader,
							const char *format, ...);
/** Begins it: [PMU/]box[N]. */
void notation_put_box(struct notation_reader *reader, const struct notation_box *where);

/** The next box of the PMUs that may be meant, behind @box; NULL: none is left. */
const struct pmu_box *notation_next_box(const struct notation_reader *reader,
					const struct pmu_box *box, const struct pmu_pmu **pmu);

/**
 * Each: whether the text is of that notation.
 * @return 1 where it is, and the expression stands in the reader; 0; or an error
 */
int notation_read_terms(struct notation_reader *reader);
int notation_read_raw(struct notation_reader *reader);
int notation_read_libpfm4(struct notation_reader *reader);
int notation_read_likwid(struct notation_reader *reader);
int notation_read_intel(struct notation_reader *reader);

#endif
