/* Numbers as dumps have them. */
#ifndef EVENT_RECORD_DUMP_H
#define EVENT_RECORD_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Reads all of @text: decimal, or hexadecimal with 0x. A leading 0 in front of other digits is
 * refused: some tools pad hexadecimal numbers with it.
 */
bool dump_number(const char *text, size_t length, uint64_t *value);

#endif
