#include "cli/table.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/locale.h"
#include "pmulab/pmulab.h"

#define GAP 2

struct cell {
	char *text;
	bool number; /* digits, grouped only when printed for people */
};

struct table {
	char *columns;
	size_t column_count;
	struct cell *cells;
	size_t count, room;
	bool lost;
};

struct table *table_new(const char *columns)
{
	struct table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->columns = strdup(columns);
	table->column_count = strlen(columns);
	if (!table->columns) {
		free(table);
		return NULL;
	}
	return table;
}

void table_free(struct table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->count; i++)
		free(table->cells[i].text);
	free(table->cells);
	free(table->columns);
	free(table);
}

static void add(struct table *table, char *text, bool number)
{
	if (table->count == table->room) {
		size_t room = table->room ? 2 * table->room : 64;
		struct cell *cells = realloc(table->cells, room * sizeof(*cells));

		if (!cells) {
			free(text);
			table->lost = true;
			return;
		}
		table->cells = cells;
		table->room = room;
	}
	table->cells[table->count++] = (struct cell){text, number};
}

void table_cell(struct table *table, const char *format, ...)
{
	va_list arguments;
	char *text, *shown;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	shown = length < 0 ? NULL : locale_text(text);
	if (shown)
		add(table, shown, false);
	else
		table->lost = true;
	if (length >= 0)
		free(text);
}

void table_number(struct table *table, unsigned long long number)
{
	char *text;

	if (asprintf(&text, "%llu", number) < 0)
		table->lost = true;
	else
		add(table, text, true);
}

static size_t printed_length(const struct cell *cell)
{
	size_t length = strlen(cell->text);

	return cell->number && length ? length + (length - 1) / 3 : length;
}

static void print_grouped(const char *digits, FILE *file)
{
	for (size_t left = strlen(digits); left; left--) {
		fputc(*digits++, file);
		if (left > 1 && left % 3 == 1)
			fputc(',', file);
	}
}

static void print_spaces(size_t count, FILE *file)
{
	while (count--)
		fputc(' ', file);
}

static void print_cell(const struct cell *cell, FILE *file)
{
	if (cell->number)
		print_grouped(cell->text, file);
	else
		fputs(cell->text, file);
}

int table_print(const struct table *table, FILE *file, unsigned width)
{
	size_t columns = table->column_count, last = columns - 1, used = 0;
	size_t *widths = calloc(columns, sizeof(*widths));

	if (!widths)
		return PMU_E_NOMEM;
	for (size_t i = 0; i < table->count; i++) {
		size_t length = printed_length(&table->cells[i]);

		if (length > widths[i % columns])
			widths[i % columns] = length;
	}
	for (size_t i = 0; i < last; i++)
		used += widths[i] + GAP;

	for (size_t i = 0; i < table->count; i++) {
		const struct cell *cell = &table->cells[i];
		size_t column = i % columns, pad = widths[column] - printed_length(cell);

		if (table->columns[column] == 'r')
			print_spaces(pad, file);
		if (column == last && width > used && printed_length(cell) > width - used)
			fprintf(file, "%.*s...", (int)(width - used) - 3, cell->text);
		else
			print_cell(cell, file);
		if (column == last) {
			fputc('\n', file);
			continue;
		}
		print_spaces(table->columns[column] == 'r' ? GAP : pad + GAP, file);
	}
	free(widths);
	return table->lost ? PMU_E_NOMEM : 0;
}

static void print_quoted(const char *text, FILE *file, char separator)
{
	if (!strpbrk(text, (const char[]){separator, '"', '\n', '\r', '\0'})) {
		fputs(text, file);
		return;
	}
	fputc('"', file);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', file);
		fputc(*text, file);
	}
	fputc('"', file);
}

int table_print_separated(const struct table *table, FILE *file, char separator)
{
	for (size_t i = 0; i < table->count; i++) {
		print_quoted(table->cells[i].text, file, separator);
		fputc(i % table->column_count == table->column_count - 1 ? '\n' : separator, file);
	}
	return table->lost ? PMU_E_NOMEM : 0;
}

int table_print_csv(const struct table *table, FILE *file)
{
	return table_print_separated(table, file, ',');
}
