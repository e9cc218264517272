/* Collects what would have been valid, for a refusal, with a guess at what was meant. */
#ifndef EVENT_VALID_H
#define EVENT_VALID_H

#include "base/name.h"
#include "event/expression.h"

struct valid {
	struct name_guess guess;
	char list[2048]; /* names, comma separated; "" for none */
};

void valid_init(struct valid *valid, const char *wanted);
/** Adds a name to the list and to what may have been meant. */
void valid_add(struct valid *valid, const char *name);

/** Refuses a word as unknown: @format says what it is not, the nearest and all valid names follow.
 */
__attribute__((format(printf, 4, 5))) int valid_refuse(const struct valid *valid,
						       const struct expression *expression,
						       struct text_span span, const char *format,
						       ...);

#endif
