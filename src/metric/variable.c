#include <ctype.h>
#include <string.h>

#include "metric/formula.h"

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_letter(char c)
{
	return is_lower(c) || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* RANKx and RANKx_IN, but not TxR or RSPxWB. */
bool variable_at(const char *name, size_t i)
{
	return is_lower(name[i]) && i > 0 && is_letter(name[i - 1]) && !is_lower(name[i - 1]) &&
	       !is_letter(name[i + 1]) && !is_digit(name[i + 1]);
}

bool variable_in(const char *name)
{
	for (size_t i = 0; name[i]; i++)
		if (variable_at(name, i))
			return true;
	return false;
}

/* Takes the digits at @text. @return how many, 0 where there are none or they do not fit */
static size_t take_digits(const char *text, struct formula_variable *variable)
{
	size_t length = strspn(text, "0123456789");

	if (length >= sizeof(variable->value))
		return 0;
	memcpy(variable->value, text, length);
	variable->value[length] = '\0';
	return length;
}

bool variable_match(const char *pattern, const char *name, struct formula_variable *variable)
{
	size_t at = 0;

	variable->letter = '\0';
	for (size_t i = 0; pattern[i]; i++) {
		size_t length = 1;

		if (variable_at(pattern, i) && !variable->letter) {
			length = take_digits(name + at, variable);
			variable->letter = pattern[i];
		} else if (toupper((unsigned char)pattern[i]) != toupper((unsigned char)name[at])) {
			return false;
		}
		if (length == 0)
			return false;
		at += length;
	}
	return !name[at] && variable->letter;
}

bool variable_replace(const struct formula_variable *variable, const char *name, char *text,
		      size_t size)
{
	size_t used = 0;

	for (size_t i = 0; name[i]; i++) {
		bool here = variable->letter == name[i] && variable_at(name, i);
		size_t length = here ? strlen(variable->value) : 1;

		if (used + length >= size)
			return false;
		memcpy(text + used, here ? variable->value : name + i, length);
		used += length;
	}
	text[used] = '\0';
	return true;
}
