/* What names of other tools consist of. */
#ifndef NOTATION_NAMES_H
#define NOTATION_NAMES_H

#include "catalog/entries.h"
#include "pmulab/notation.h"

#define NOTATION_TEXT_MAX PMU_EVENT_TEXT_MAX

/* A box, as a tool names it. */
struct notation_box {
	const struct pmu_pmu *pmu;
	const struct pmu_box *box;
	int instance; /* -1: all */
	bool fixed;   /* the name is that of a fixed counter */
};

/** The Linux PMU of a box, {i} in place of an instance; NULL: there is none. */
const char *notation_kernel_name(const struct pmu_box *box);

/**
 * Whether @text is @pattern with numbers in place of {i} and {c}.
 * @param instance  receives that of {i}; -1 where the pattern has none
 */
bool notation_match(const char *pattern, const char *text, int *instance);
/** Writes @pattern with these numbers, as snprintf(). */
int notation_fill(const char *pattern, unsigned instance, unsigned counter, char *text,
		  size_t size);

/** The event and unit mask as pmulab names them: CAS_COUNT.RD. @umask may be NULL. */
void notation_own_name(const struct pmu_event *event, const struct pmu_umask *umask, char *text,
		       size_t size);
/** The same as a tool names them, words still divided by dots; "": it does not. */
void notation_tool_name(const struct pmu_box *box, enum pmu_tool tool, const char *own, char *text,
			size_t size);

/** Whether names are equal but for case and the characters that divide words. */
bool notation_equal(const char *a, const char *b);

/**
 * Finds what a tool calls @name in a box, and writes pmulab's name for it, with the fields that the
 * tool's name sets: OFFCORE_RESPONSE_0:request=0x1:response=0x1.
 * @return whether there is one
 */
bool notation_find(const struct pmu_box *box, enum pmu_tool tool, const char *name, char *own,
		   size_t size);

/** perf's term for a whole filter register of a box; NULL: it has none. */
const char *notation_kernel_filter(const struct pmu_box *box);

/** A field as a tool names it; NULL: it has none. */
const char *notation_field_name(const struct pmu_box *box, enum pmu_tool tool,
				const struct pmu_modifier *modifier);
/**
 * The field that a tool gives that name.
 * @param event  of several fields of one name that which it takes is meant; NULL: the first one is
 * @return NULL: there is none
 */
const struct pmu_modifier *notation_field(const struct pmu_box *box, const struct pmu_event *event,
					  enum pmu_tool tool, const char *name);

#endif
