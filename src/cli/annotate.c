#include "cli/annotate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text.h"

#define CONTEXT	    3	 /* lines around those that have counts */
#define LEAST_SHARE 1e-3 /* of the first event, for a file to be printed */

/* The lines of one file that have counts, by their numbers. */
struct source {
	const char *file;
	uint64_t first_sum; /* of the first event */
	size_t begin, end;  /* of the items */
};

static int by_place(const void *left, const void *right)
{
	const struct attribution_item *a = left, *b = right;

	if (!a->file || !b->file)
		return (a->file == NULL) - (b->file == NULL);
	if (a->file != b->file && strcmp(a->file, b->file))
		return strcmp(a->file, b->file);
	return (a->line > b->line) - (a->line < b->line);
}

static int by_sum(const void *left, const void *right)
{
	const struct source *a = left, *b = right;

	if (a->first_sum != b->first_sum)
		return a->first_sum < b->first_sum ? 1 : -1;
	return strcmp(a->file, b->file);
}

/* Lines of several functions, where they were inlined, are one. @return how many items are left */
static size_t merge_lines(const struct attribution *attribution)
{
	struct attribution_item *items = attribution->items;
	size_t used = 0;

	qsort(items, attribution->item_count, sizeof(*items), by_place);
	for (size_t i = 0; i < attribution->item_count && items[i].file; i++) {
		if (!used || by_place(&items[used - 1], &items[i])) {
			/* In place of one that was merged: that one is used no more. */
			items[used++] = items[i];
			continue;
		}
		for (unsigned k = 0; k < attribution->events; k++)
			items[used - 1].counts[k] += items[i].counts[k];
	}
	return used;
}

static size_t find_sources(const struct attribution *attribution, size_t items,
			   struct source *sources)
{
	size_t count = 0;

	for (size_t i = 0; i < items; i++) {
		const struct attribution_item *item = &attribution->items[i];

		if (!count || strcmp(sources[count - 1].file, item->file))
			sources[count++] = (struct source){item->file, 0, i, i};
		sources[count - 1].first_sum += item->counts[0];
		sources[count - 1].end = i + 1;
	}
	qsort(sources, count, sizeof(*sources), by_sum);
	return count;
}

static void blank_counts(const struct stat_run *run, struct table *table)
{
	for (unsigned k = 0; k <= run->attribution->events; k++)
		table_cell(table, "%s", "");
}

/* @return whether the line is near one that has counts; @next: the first such at or after it */
static bool is_near(const struct attribution *attribution, const struct source *source, size_t next,
		    unsigned line)
{
	const struct attribution_item *items = attribution->items;

	return (next < source->end && items[next].line - line <= CONTEXT) ||
	       (next > source->begin && line - items[next - 1].line <= CONTEXT);
}

static void add_lines(const struct stat_run *run, const struct source *source, FILE *file,
		      struct table *table)
{
	const struct attribution *attribution = run->attribution;
	size_t next = source->begin, size = 0;
	bool gap = false;
	char *text = NULL;

	for (unsigned line = 1; getline(&text, &size, file) >= 0; line++) {
		text[strcspn(text, "\n")] = '\0';
		if (!is_near(attribution, source, next, line)) {
			gap = true;
			continue;
		}
		if (gap) {
			blank_counts(run, table);
			table_cell(table, "%s", "...");
		}
		gap = false;
		if (next < source->end && attribution->items[next].line == line)
			attribution_counts(run, table, attribution->items[next++].counts);
		else
			blank_counts(run, table);
		table_cell(table, "%6u  %s", line, text);
	}
	free(text);
}

static int print_source(const struct cli *cli, const struct stat_run *run,
			const struct source *source)
{
	struct table *table = attribution_table(run, source->file);
	FILE *file = fopen(source->file, "re");

	if (!table) {
		if (file)
			fclose(file);
		return cli_error(cli, EXIT_FAILED, "out of memory");
	}
	if (file) {
		add_lines(run, source, file, table);
		fclose(file);
	} else {
		blank_counts(run, table);
		table_cell(table, "(cannot read: %s; --by line has its counts)", strerror(errno));
	}
	fputc('\n', cli->out);
	return cli_print_table(cli, table);
}

/* What is in no file that is printed. */
static int print_rest(const struct cli *cli, const struct stat_run *run, const uint64_t *printed)
{
	const struct attribution *attribution = run->attribution;
	struct table *table = attribution_table(run, "");
	uint64_t *rest = calloc(attribution->events, sizeof(*rest));

	if (!table || !rest) {
		free(rest);
		table_free(table);
		return cli_error(cli, EXIT_FAILED, "out of memory");
	}
	for (unsigned k = 0; k < attribution->events; k++)
		rest[k] = attribution->totals[k] - printed[k];
	attribution_counts(run, table, rest);
	table_cell(table, "%s", "elsewhere: code without source, files with less than 0.1 %");
	attribution_counts(run, table, attribution->totals);
	table_cell(table, "%s", "total");
	free(rest);
	fputc('\n', cli->out);
	return cli_print_table(cli, table);
}

static int print_sources(const struct cli *cli, const struct stat_run *run, struct source *sources,
			 size_t count, uint64_t *printed)
{
	const struct attribution *attribution = run->attribution;
	const double least = LEAST_SHARE * (double)attribution->totals[0];
	int code = 0;

	for (size_t i = 0; i < count && !code; i++) {
		if ((double)sources[i].first_sum < least)
			break;
		for (size_t item = sources[i].begin; item < sources[i].end; item++)
			for (unsigned k = 0; k < attribution->events; k++)
				printed[k] += attribution->items[item].counts[k];
		code = print_source(cli, run, &sources[i]);
	}
	return code ? code : print_rest(cli, run, printed);
}

int annotate_print(const struct cli *cli, const struct stat_run *run)
{
	const struct attribution *attribution = run->attribution;
	const size_t items = merge_lines(attribution);
	struct source *sources = calloc(items + 1, sizeof(*sources));
	uint64_t *printed = calloc(attribution->events, sizeof(*printed));
	int code;

	if (sources && printed)
		code = print_sources(cli, run, sources, find_sources(attribution, items, sources),
				     printed);
	else
		code = cli_error(cli, EXIT_FAILED, "out of memory");
	free(sources);
	free(printed);
	return code;
}
