/* An event expression while it is read: what the parts of this layer share. */
#ifndef EVENT_EXPRESSION_H
#define EVENT_EXPRESSION_H

#include "catalog/entries.h"
#include "pmulab/event.h"

#define WORD_MAX   64 /* characters of a name, the terminator included */
#define UMASK_ROWS 8  /* named unit masks that one value can be made of: one a bit */

/* Bit of ev_sel that occupancy events have, where PMU_QUIRK_OCC_CONTROLS says so. */
#define EVENT_CODE_OCCUPANCY 0x80

/* Characters of the input, for the caret. */
struct text_span {
	size_t offset, length;
};

struct word {
	struct text_span span;
	uint32_t hash; /* name_hash() */
	char name[WORD_MAX];
};

struct expression {
	struct pmu_ctx *ctx;
	const char *text;
	size_t at;		   /* the next character */
	const struct pmu_pmu *pmu; /* where names are looked up; NULL: everywhere */
	struct pmu_selection *selection;
	size_t umask_count;			    /* unit masks that were named */
	const struct pmu_umask *umasks[UMASK_ROWS]; /* the first of them */
	const struct pmu_umask *alone; /* one of those that cannot be added to others */
	struct text_span event;	       /* box and event */
	struct text_span settings[PMU_EVENT_SETTINGS]; /* as selection->settings */
};

/** Whether a character may stand in any name. */
static inline bool expression_is_name(char c)
{
	unsigned char letter = (unsigned char)(c | ('a' - 'A'));

	return (letter >= 'a' && letter <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/**
 * Reads a name: @what it is (a field, an event...) goes into the message where it is missing.
 * @return 0 or PMU_E_SYNTAX
 */
int expression_word(struct expression *expression, const char *what, struct word *word);
/** As expression_word(), for names that may hold the characters of @more too. */
int expression_word_with(struct expression *expression, const char *more, const char *what,
			 struct word *word);

/** Keeps a message with the caret under @span and returns @code. */
__attribute__((format(printf, 4, 5))) int expression_refuse(const struct expression *expression,
							    int code, struct text_span span,
							    const char *format, ...);

#endif
