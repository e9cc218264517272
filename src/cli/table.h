/* Tables of text cells, printed aligned for people or as CSV for programs. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stddef.h>
#include <stdio.h>

struct table;

/**
 * Makes an empty table.
 * @param columns  a letter a column: 'l' left or 'r' right aligned
 * @return NULL when memory runs out
 */
struct table *table_new(const char *columns);
void table_free(struct table *table);

/**
 * Adds a cell, printf-style, behind the last; rows fill from left to right. The first row is the
 * heading. Memory running out is remembered and reported by the print functions.
 */
__attribute__((format(printf, 2, 3))) void table_cell(struct table *table, const char *format, ...);

/** A count with thousands separators, as a cell; CSV prints it without. */
void table_number(struct table *table, unsigned long long number);

/**
 * Prints aligned, columns two spaces apart; the last column is cut at @width characters in all
 * (0: not cut). @return 0, or PMU_E_NOMEM if a cell was lost
 */
int table_print(const struct table *table, FILE *file, unsigned width);

/** Prints as CSV (RFC 4180). @return as table_print() */
int table_print_csv(const struct table *table, FILE *file);
/** The same with another character between the values. */
int table_print_separated(const struct table *table, FILE *file, char separator);

#endif
