#include "metric/reader.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"

#define MESSAGE_BYTES 256

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' ||
	       c == '.';
}

int reader_refuse(const struct reader *reader, int code, size_t start, const char *format, ...)
{
	char message[MESSAGE_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	return error_set_at(reader->ctx, code, reader->text, start, reader->at - start, "%s",
			    message);
}

char reader_peek(struct reader *reader)
{
	while (reader->text[reader->at] == ' ')
		reader->at++;
	return reader->text[reader->at];
}

bool reader_accept(struct reader *reader, char c)
{
	if (reader_peek(reader) != c)
		return false;
	reader->at++;
	return true;
}

bool reader_accept_word(struct reader *reader, const char *word)
{
	reader_peek(reader);
	if (strncasecmp(reader->text + reader->at, word, strlen(word)))
		return false;
	reader->at += strlen(word);
	return true;
}

int reader_expect(struct reader *reader, char c)
{
	if (reader_accept(reader, c))
		return 0;
	return reader_refuse(reader, PMU_E_SYNTAX, reader->at, "'%c' is missing here", c);
}

int reader_name(struct reader *reader, char name[READER_NAME_MAX])
{
	size_t start, length = 0;

	reader_peek(reader);
	start = reader->at;
	while (is_name(reader->text[start + length]))
		length++;
	reader->at += length;
	if (length == 0)
		return reader_refuse(reader, PMU_E_SYNTAX, start,
				     "a name or a number is missing here");
	if (length >= READER_NAME_MAX)
		return reader_refuse(reader, PMU_E_SYNTAX, start, "this name is too long");
	memcpy(name, reader->text + start, length);
	name[length] = '\0';
	return 0;
}

static double read_digits(struct reader *reader)
{
	double value = 0;

	for (; is_digit(reader->text[reader->at]); reader->at++)
		value = 10 * value + (reader->text[reader->at] - '0');
	return value;
}

static double read_hexadecimal(struct reader *reader)
{
	static const char digits[] = "0123456789abcdef";
	double value = 0;

	for (;; reader->at++) {
		char c = reader->text[reader->at];
		const char *digit = c ? strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c) : NULL;

		if (!digit)
			return value;
		value = 16 * value + (double)(digit - digits);
	}
}

static bool has_exponent(const char *text)
{
	return (text[0] == 'e' || text[0] == 'E') && is_digit(text[1]);
}

/* Not strtod(), which reads what the locale says. */
static double read_decimal(struct reader *reader)
{
	double value = read_digits(reader);

	if (reader->text[reader->at] == '.') {
		size_t start = ++reader->at;
		double fraction = read_digits(reader);

		for (size_t i = start; i < reader->at; i++)
			fraction /= 10;
		value += fraction;
	}
	if (has_exponent(reader->text + reader->at)) {
		reader->at++;
		for (double power = read_digits(reader); power > 0 && value > 0; power--) {
			value *= 10;
			if (value > 1e300)
				break;
		}
	}
	return value;
}

int reader_number(struct reader *reader, double *value)
{
	size_t start;

	reader_peek(reader);
	start = reader->at;
	if (reader_accept_word(reader, "0x"))
		*value = read_hexadecimal(reader);
	else
		*value = read_decimal(reader);
	if (!is_name(reader->text[reader->at]))
		return 0;
	reader->at++;
	return reader_refuse(reader, PMU_E_SYNTAX, start, "this is no number");
}
