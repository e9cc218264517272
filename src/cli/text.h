/* Prints foreign text (arguments, names that others chose) safely, for people and in JSON. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

struct json_t;

/**
 * Prints text so that a terminal shows it and does nothing else: control characters but the end of
 * a line and tabs, what is no UTF-8, and in other locales what is not ASCII, as \xNN.
 */
void text_put(FILE *file, const char *text);
/** Formats, then prints as text_put() does. */
__attribute__((format(printf, 2, 3))) void text_print(FILE *file, const char *format, ...);
__attribute__((format(printf, 2, 0))) void text_print_arguments(FILE *file, const char *format,
								va_list arguments);

/** For sorting: as strcmp(); NULL is before all texts. */
int text_compare(const char *a, const char *b);
int number_compare(uint64_t a, uint64_t b);

/** A JSON string; each byte that is no UTF-8 becomes U+FFFD. NULL where memory ran out. */
struct json_t *text_json(const char *text);
/**
 * Sets @key of @object to an array of texts that ends with NULL. Where one of them is not UTF-8,
 * KEY_hex has all of them, byte by byte.
 * @return @object
 */
struct json_t *text_json_set(struct json_t *object, const char *key, char *const *texts);

#endif
