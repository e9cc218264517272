/* Lists that people write: what commas divide. */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Takes the next item of a list. Commas in braces belong to the item; items without a character are
 * left out.
 * @param list    moved behind the item and its comma
 * @param item    receives where the item begins, in the list
 * @param length  receives its length
 * @return false at the end of the list
 */
bool list_next(const char **list, const char **item, size_t *length);

#endif
