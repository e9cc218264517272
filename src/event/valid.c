#include "event/valid.h"

#include <stdarg.h>
#include <stdio.h>

void valid_init(struct valid *valid, const char *wanted)
{
	name_guess_init(&valid->guess, wanted);
	valid->length = 0;
	valid->list[0] = '\0';
}

void valid_add(struct valid *valid, const char *name)
{
	size_t room = sizeof(valid->list) - valid->length;
	int length =
	    snprintf(valid->list + valid->length, room, "%s%s", valid->length ? ", " : "", name);

	name_guess_offer(&valid->guess, name);
	if ((size_t)length < room)
		valid->length += (size_t)length;
	else
		valid->list[valid->length] = '\0';
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
				 valid->length ? (best ? " Valid: " : "; valid: ") : "",
				 valid->list);
}
