#include "event/expression.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/name.h"

static bool is_one_of(char c, const char *more)
{
	for (; *more; more++)
		if (*more == c)
			return true;
	return false;
}

int expression_word_with(struct expression *expression, const char *more, const char *what,
			 struct word *word)
{
	const char *start = expression->text + expression->at;
	uint32_t hash = NAME_HASH_START;
	size_t length = 0;

	while (expression_is_name(start[length]) || is_one_of(start[length], more)) {
		hash = name_hash_next(hash, start[length]);
		length++;
	}
	word->span = (struct text_span){expression->at, length};
	word->hash = hash;
	if (*start == '-' && length == 0)
		return expression_refuse(expression, PMU_E_RANGE, word->span,
					 "%s cannot be negative", what);
	if (length == 0)
		return expression_refuse(expression, PMU_E_SYNTAX, word->span, "%s is missing here",
					 what);
	if (length >= WORD_MAX)
		return expression_refuse(expression, PMU_E_SYNTAX, word->span,
					 "%s has at most %d characters", what, WORD_MAX - 1);
	memcpy(word->name, start, length);
	word->name[length] = '\0';
	expression->at += length;
	return 0;
}

int expression_word(struct expression *expression, const char *what, struct word *word)
{
	return expression_word_with(expression, "", what, word);
}

int expression_refuse(const struct expression *expression, int code, struct text_span span,
		      const char *format, ...)
{
	char problem[4096];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(problem, sizeof(problem), format, arguments);
	va_end(arguments);
	return error_set_at(expression->ctx, code, expression->text, span.offset, span.length, "%s",
			    problem);
}
