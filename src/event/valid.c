#include "event/valid.h"

#include <stdarg.h>
#include <stdio.h>

void valid_init(struct valid *valid, const char *wanted)
{
	name_guess_init(&valid->guess, wanted);
	valid->list[0] = '\0';
}

void valid_add(struct valid *valid, const char *name)
{
	name_guess_offer(&valid->guess, name);
	/* Boxes of several PMUs have the same name. */
	if (!name_in_list(valid->list, name))
		name_list_add(valid->list, sizeof(valid->list), ", ", name);
}

int valid_refuse(const struct valid *valid, const struct expression *expression,
		 struct text_span span, const char *format, ...)
{
	const char *best = valid->guess.best;
	char problem[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(problem, sizeof(problem), format, arguments);
	va_end(arguments);
	return expression_refuse(expression, PMU_E_UNKNOWN, span, "%s%s%s%s%s%s", problem,
				 best ? "; did you mean " : "", best ? best : "", best ? "?" : "",
				 *valid->list ? (best ? " Valid: " : "; valid: ") : "",
				 valid->list);
}
