#include "cli/text.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/locale.h"

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD in UTF-8 */

/* Bytes of the UTF-8 character at the beginning of the text; 0: there is none. */
static size_t character_bytes(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	unsigned long value;
	size_t bytes;

	if (at[0] < 0x80)
		return 1;
	if (at[0] < 0xC2 || at[0] > 0xF4)
		return 0;
	bytes = at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : 4;
	value = at[0] & (0xFFu >> (bytes + 1));
	for (size_t i = 1; i < bytes; i++) {
		if ((at[i] & 0xC0) != 0x80)
			return 0;
		value = value << 6 | (at[i] & 0x3F);
	}
	/* Longer than needed, a surrogate, or beyond Unicode. */
	if ((bytes == 3 && value < 0x800) ||
	    (bytes == 4 && (value < 0x10000 || value > 0x10FFFF)) ||
	    (value >= 0xD800 && value <= 0xDFFF))
		return 0;
	return bytes;
}

static bool is_control(const char *text, size_t bytes)
{
	unsigned char first = (unsigned char)text[0];

	if (bytes == 1)
		return (first < 0x20 && first != '\n' && first != '\t') || first == 0x7F;
	/* U+0080 to U+009F: terminals take U+009B for ESC [. */
	return first == 0xC2 && (unsigned char)text[1] < 0xA0;
}

void text_put(FILE *file, const char *text)
{
	while (*text) {
		size_t bytes = character_bytes(text);

		if (bytes > 1 && !locale_is_utf8() && !strncmp(text, LOCALE_SECTION_SIGN, bytes)) {
			fputs(LOCALE_SECTION, file);
		} else if (bytes && !is_control(text, bytes) && (bytes == 1 || locale_is_utf8())) {
			fwrite(text, 1, bytes, file);
		} else {
			bytes = bytes ? bytes : 1;
			for (size_t i = 0; i < bytes; i++)
				fprintf(file, "\\x%02X", (unsigned char)text[i]);
		}
		text += bytes;
	}
}

void text_print_arguments(FILE *file, const char *format, va_list arguments)
{
	char *text;

	if (vasprintf(&text, format, arguments) < 0) {
		fputs("(out of memory for a text)", file);
		return;
	}
	text_put(file, text);
	free(text);
}

void text_print(FILE *file, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	text_print_arguments(file, format, arguments);
	va_end(arguments);
}

json_t *text_json(const char *text)
{
	json_t *json = json_string(text);
	char *valid, *out;

	if (json)
		return json;
	out = valid = malloc(strlen(REPLACEMENT) * strlen(text) + 1);
	if (!valid)
		return NULL;
	while (*text) {
		size_t bytes = character_bytes(text);

		out = mempcpy(out, bytes ? text : REPLACEMENT, bytes ? bytes : strlen(REPLACEMENT));
		text += bytes ? bytes : 1;
	}
	*out = '\0';
	json = json_string(valid);
	free(valid);
	return json;
}

static bool is_utf8(const char *text)
{
	size_t bytes = 1;

	for (; *text && bytes; text += bytes)
		bytes = character_bytes(text);
	return bytes;
}

static json_t *hex_json(const char *text)
{
	size_t length = strlen(text);
	char *hex = malloc(2 * length + 1);
	json_t *json;

	if (!hex)
		return NULL;
	hex[0] = '\0';
	for (size_t i = 0; i < length; i++)
		sprintf(hex + 2 * i, "%02x", (unsigned char)text[i]);
	json = json_string(hex);
	free(hex);
	return json;
}

static json_t *array_of(char *const *texts, json_t *(*each)(const char *))
{
	json_t *array = json_array();

	for (; *texts; texts++)
		json_array_append_new(array, each(*texts));
	return array;
}

json_t *text_json_set(json_t *object, const char *key, char *const *texts)
{
	char hex_key[64];
	bool valid = true;

	json_object_set_new(object, key, array_of(texts, text_json));
	for (char *const *text = texts; *text; text++)
		valid &= is_utf8(*text);
	if (valid)
		return object;
	snprintf(hex_key, sizeof(hex_key), "%s_hex", key);
	json_object_set_new(object, hex_key, array_of(texts, hex_json));
	return object;
}

int text_compare(const char *a, const char *b)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

int number_compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}
