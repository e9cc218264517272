#include "cli/annotate.h"

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
			const struct source *source, FILE *file)
{
	struct table *table = attribution_table(run, source->file);

	if (!table)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	add_lines(run, source, file, table);
	fputc('\n', cli->out);
	return cli_print_table(cli, table);
}

static void add_source(const struct stat_run *run, const struct source *source, uint64_t *sums)
{
	const struct attribution *attribution = run->attribution;

	for (size_t i = source->begin; i < source->end; i++)
		for (unsigned k = 0; k < attribution->events; k++)
			sums[k] += attribution->items[i].counts[k];
}

/* What is printed, and what is left of the totals. */
struct printed {
	uint64_t *rest, *row; /* by event */
	struct table *others; /* what is not printed line by line */
};

/* @return what of the totals is the file's, which is not elsewhere */
static const uint64_t *take(const struct stat_run *run, const struct source *source,
			    struct printed *printed)
{
	memset(printed->row, 0, run->attribution->events * sizeof(*printed->row));
	add_source(run, source, printed->row);
	for (unsigned k = 0; k < run->attribution->events; k++)
		printed->rest[k] -= printed->row[k];
	return printed->row;
}

static int print_sources(const struct cli *cli, const struct stat_run *run,
			 const struct source *sources, size_t count, struct printed *printed)
{
	const struct attribution *attribution = run->attribution;
	const double least = LEAST_SHARE * (double)attribution->totals[0];
	int code = 0;

	for (size_t i = 0; i < count && !code; i++) {
		const uint64_t *sums;
		FILE *file;

		if ((double)sources[i].first_sum < least)
			break;
		sums = take(run, &sources[i], printed);
		file = fopen(sources[i].file, "re");
		if (!file) {
			attribution_counts(run, printed->others, sums);
			table_cell(printed->others, "%s  (cannot be read)", sources[i].file);
			continue;
		}
		code = print_source(cli, run, &sources[i], file);
		fclose(file);
	}
	return code;
}

static int print_all(const struct cli *cli, const struct stat_run *run, struct source *sources,
		     struct printed *printed)
{
	const struct attribution *attribution = run->attribution;
	const size_t count = find_sources(attribution, merge_lines(attribution), sources);
	int code;

	memcpy(printed->rest, attribution->totals, attribution->events * sizeof(*printed->rest));
	code = print_sources(cli, run, sources, count, printed);
	if (code) {
		table_free(printed->others);
		return code;
	}
	attribution_counts(run, printed->others, printed->rest);
	table_cell(printed->others, "%s", "code without source, and files with less than 0.1 %");
	attribution_counts(run, printed->others, attribution->totals);
	table_cell(printed->others, "%s", "total");
	fputc('\n', cli->out);
	return cli_print_table(cli, printed->others);
}

int annotate_print(const struct cli *cli, const struct stat_run *run)
{
	const struct attribution *attribution = run->attribution;
	struct source *sources = calloc(attribution->item_count + 1, sizeof(*sources));
	struct printed printed = {
	    .rest = calloc(attribution->events, sizeof(uint64_t)),
	    .row = calloc(attribution->events, sizeof(uint64_t)),
	    .others = attribution_table(run, "ELSEWHERE"),
	};
	int code;

	if (sources && printed.rest && printed.row && printed.others) {
		code = print_all(cli, run, sources, &printed);
	} else {
		table_free(printed.others);
		code = cli_error(cli, EXIT_FAILED, "out of memory");
	}
	free(sources);
	free(printed.rest);
	free(printed.row);
	return code;
}
