#include "cli/attribution.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/symbols.h"
#include "cli/text.h"
#include "pmulab/attribution.h"

#define ROWS_SHOWN 40 /* in a table; JSON and CSV have all */

static const char *const words[] = {
    [STAT_BY_FUNCTION] = "function", [STAT_BY_LINE] = "line",	  [STAT_BY_THREAD] = "thread",
    [STAT_BY_REGION] = "region",     [STAT_BY_SOURCE] = "source",
};

int attribution_read_by(const struct cli *cli, enum stat_by *by, const char *text)
{
	struct cli_names valid;

	cli_names_init(&valid, text);
	for (int i = STAT_BY_FUNCTION; i <= STAT_BY_SOURCE; i++) {
		if (!strcmp(text, words[i])) {
			*by = (enum stat_by)i;
			return 0;
		}
		cli_names_add(&valid, words[i]);
	}
	return cli_error(cli, EXIT_USAGE, "--by \"%s\"; %s", text, cli_names_text(&valid));
}

static int add_counter(const struct cli *cli, const struct stat_run *run,
		       const struct pmu_count *count)
{
	const struct pmu_selection *selection = pmu_session_event(run->session, count->event);
	const struct pmu_attributed counter = {
	    .size = sizeof(counter),
	    .box = selection->box,
	    .event = count->event,
	    .pmu = (unsigned)pmu_session_pmu_of(run->session, count->event),
	    .socket = count->socket,
	    .instance = count->instance,
	    .counter = count->counter,
	    .fixed = !selection->event,
	};
	int error = pmu_attribution_add(run->attribution->counted, cli->ctx, &counter);

	return error ? cli_fail(cli, error) : 0;
}

static int add_counters(const struct cli *cli, const struct stat_run *run)
{
	const struct pmu_count *counts;
	size_t count;
	int code = 0, error = pmu_session_read(run->session, cli->ctx, &counts, &count);

	if (error)
		return cli_fail(cli, error);
	for (size_t i = 0; i < count && !code; i++)
		if (counts[i].valid)
			code = add_counter(cli, run, &counts[i]);
	return code;
}

int attribution_begin(const struct cli *cli, struct stat_run *run)
{
	struct attribution *attribution;
	int error;

	if (run->options.by == STAT_BY_NOTHING)
		return 0;
	attribution = calloc(1, sizeof(*attribution));
	if (!attribution)
		return cli_error(cli, EXIT_FAILED, "out of memory for attribution");
	run->attribution = attribution;
	attribution->began = time(NULL);
	attribution->events = (unsigned)pmu_session_events(run->session);
	error =
	    pmu_attribution_new(&attribution->counted, cli->ctx, run->emul, attribution->events);
	return error ? cli_fail(cli, error) : add_counters(cli, run);
}

void attribution_free(struct attribution *attribution)
{
	if (!attribution)
		return;
	pmu_attribution_free(attribution->counted);
	symbols_free(attribution->symbols);
	free(attribution->items);
	free(attribution->counts);
	free(attribution->totals);
	free(attribution);
}

static void look_up(const struct attribution *attribution, const struct pmu_attributed_row *row,
		    enum stat_by by, struct attribution_item *item)
{
	struct symbol symbol = {.address = row->address};

	item->module = row->module;
	if (row->module)
		symbols_find(attribution->symbols, row->module, row->address, &symbol);
	item->function = symbol.function;
	item->address = symbol.address;
	if (by == STAT_BY_FUNCTION)
		return;
	item->file = symbol.file;
	item->line = symbol.line;
}

/* What rows have in common that are one to @by. */
static void name_row(const struct attribution *attribution, const struct pmu_attributed_row *row,
		     enum stat_by by, struct attribution_item *item)
{
	if (row->cause == PMU_CAUSE_NOBODY)
		item->what = "(no instruction)";
	else if (row->cause == PMU_CAUSE_REST)
		item->what = "(more instructions than there is room for)";
	else if (by == STAT_BY_THREAD) {
		item->process = row->process;
		item->thread = row->thread;
	} else if (by == STAT_BY_REGION) {
		if (row->region)
			item->region = row->region;
		else
			item->what = "(outside of regions)";
	} else {
		look_up(attribution, row, by, item);
	}
}

/* By all that tells items apart. */
static int compare_names(const void *left, const void *right)
{
	const struct attribution_item *a = left, *b = right;
	int order = text_compare(a->what, b->what);

	if (!order)
		order = text_compare(a->file, b->file);
	if (!order)
		order = number_compare(a->line, b->line);
	if (!order)
		order = text_compare(a->module, b->module);
	if (!order)
		order = text_compare(a->function, b->function);
	/* Lines of one function are one, wherever they begin. */
	if (!order && !a->function)
		order = number_compare(a->address, b->address);
	if (!order)
		order = text_compare(a->region, b->region);
	if (!order)
		order = number_compare(a->process, b->process);
	return order ? order : number_compare(a->thread, b->thread);
}

static unsigned sorted_events;

static int compare_counts(const void *left, const void *right)
{
	const struct attribution_item *a = left, *b = right;

	for (unsigned i = 0; i < sorted_events; i++)
		if (a->counts[i] != b->counts[i])
			return number_compare(b->counts[i], a->counts[i]);
	return compare_names(left, right);
}

static void merge(struct attribution *attribution)
{
	size_t used = 0;

	qsort(attribution->items, attribution->item_count, sizeof(*attribution->items),
	      compare_names);
	for (size_t i = 0; i < attribution->item_count; i++) {
		struct attribution_item *item = &attribution->items[i];

		if (!used || compare_names(&attribution->items[used - 1], item)) {
			attribution->items[used++] = *item;
			continue;
		}
		for (unsigned k = 0; k < attribution->events; k++)
			attribution->items[used - 1].counts[k] += item->counts[k];
	}
	attribution->item_count = used;
	sorted_events = attribution->events;
	qsort(attribution->items, used, sizeof(*attribution->items), compare_counts);
}

/* What no instruction caused alone: cycles, and counters that compare. */
static void add_rest(const struct stat_run *run, struct attribution *attribution)
{
	struct attribution_item *rest = &attribution->items[attribution->item_count];
	uint64_t *counts = attribution->counts + attribution->item_count * attribution->events;
	bool any = false;

	for (unsigned k = 0; k < attribution->events; k++) {
		uint64_t sum = 0;

		attribution->totals[k] = stat_sum(run, k, -1);
		for (size_t i = 0; i < attribution->item_count; i++)
			sum += attribution->items[i].counts[k];
		counts[k] = attribution->totals[k] - sum;
		any = any || counts[k];
	}
	if (!any)
		return;
	*rest = (struct attribution_item){.what = "(not attributable)", .counts = counts};
	attribution->item_count++;
}

static int fill(const struct stat_run *run, struct attribution *attribution,
		const struct pmu_attributed_row *rows, size_t count)
{
	const unsigned events = attribution->events;

	attribution->symbols = symbols_new(attribution->began);
	attribution->items = calloc(count + 1, sizeof(*attribution->items));
	attribution->counts = calloc((count + 1) * events, sizeof(uint64_t));
	attribution->totals = calloc(events, sizeof(uint64_t));
	if (!attribution->symbols || !attribution->items || !attribution->counts ||
	    !attribution->totals)
		return -1;
	for (size_t i = 0; i < count; i++) {
		attribution->items[i].counts = attribution->counts + i * events;
		memcpy(attribution->items[i].counts, rows[i].counts, events * sizeof(uint64_t));
		name_row(attribution, &rows[i], run->options.by, &attribution->items[i]);
	}
	attribution->item_count = count;
	add_rest(run, attribution);
	merge(attribution);
	return 0;
}

int attribution_end(const struct cli *cli, struct stat_run *run)
{
	struct attribution *attribution = run->attribution;
	struct pmu_attributed_row *rows;
	size_t count;
	int failed;

	if (!attribution)
		return 0;
	count = pmu_attribution_rows(attribution->counted, NULL, 0);
	rows = calloc(count + 1, sizeof(*rows));
	if (rows)
		pmu_attribution_rows(attribution->counted, rows, count);
	failed = !rows || fill(run, attribution, rows, count);
	free(rows);
	return failed ? cli_error(cli, EXIT_FAILED, "out of memory for attribution") : 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void function_cell(struct table *table, const struct attribution_item *item)
{
	if (!item->module)
		table_cell(table, "0x%llx  (of no file)", (unsigned long long)item->address);
	else if (!item->function)
		table_cell(table, "0x%llx  (%s)", (unsigned long long)item->address,
			   base_name(item->module));
	else
		table_cell(table, "%s  (%s)", item->function, base_name(item->module));
}

static void name_cell(struct table *table, const struct attribution_item *item, enum stat_by by)
{
	if (item->what)
		table_cell(table, "%s", item->what);
	else if (by == STAT_BY_THREAD)
		table_cell(table, "process %u, thread %u", item->process, item->thread);
	else if (by == STAT_BY_REGION)
		table_cell(table, "%s", item->region);
	else if (item->file)
		table_cell(table, "%s:%u  %s", item->file, item->line,
			   item->function ? item->function : "");
	else
		function_cell(table, item);
}

static void share_cell(struct table *table, uint64_t count, uint64_t total)
{
	if (total)
		table_cell(table, "%.1f %%", 100.0 * (double)count / (double)total);
	else
		table_cell(table, "%s", "");
}

static void heading(const struct stat_run *run, struct table *table, const char *name)
{
	char text[PMU_EVENT_TEXT_MAX];

	table_cell(table, "%s", "SHARE");
	for (unsigned k = 0; k < run->attribution->events; k++) {
		pmu_event_print(pmu_session_event(run->session, k), text, sizeof(text));
		table_cell(table, "%s", text);
	}
	table_cell(table, "%s", name);
}

struct table *attribution_table(const struct stat_run *run, const char *name)
{
	const unsigned events = run->attribution->events;
	char *columns = malloc(events + 3);
	struct table *table;

	if (!columns)
		return NULL;
	memset(columns, 'r', events + 1);
	columns[events + 1] = 'l';
	columns[events + 2] = '\0';
	table = table_new(columns);
	free(columns);
	if (table)
		heading(run, table, name);
	return table;
}

void attribution_counts(const struct stat_run *run, struct table *table, const uint64_t *counts)
{
	share_cell(table, counts[0], run->attribution->totals[0]);
	for (unsigned k = 0; k < run->attribution->events; k++)
		table_number(table, counts[k]);
}

/* The items from @first on, in one row. */
static void others(const struct stat_run *run, struct table *table, size_t first)
{
	const struct attribution *attribution = run->attribution;
	uint64_t *sums = attribution->items[first].counts;

	for (size_t i = first + 1; i < attribution->item_count; i++)
		for (unsigned k = 0; k < attribution->events; k++)
			sums[k] += attribution->items[i].counts[k];
	attribution_counts(run, table, sums);
	table_cell(table, "(%zu more; --format csv has all)", attribution->item_count - first);
}

int attribution_print(const struct cli *cli, const struct stat_run *run)
{
	const struct attribution *attribution = run->attribution;
	struct table *table;

	table = attribution_table(run, run->options.by == STAT_BY_FUNCTION ? "FUNCTION"
				       : run->options.by == STAT_BY_LINE   ? "LINE"
				       : run->options.by == STAT_BY_THREAD ? "THREAD"
									   : "REGION");
	if (!table)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	fputc('\n', cli->out);
	for (size_t i = 0; i < attribution->item_count; i++) {
		if (i == ROWS_SHOWN && attribution->item_count > ROWS_SHOWN + 1) {
			others(run, table, i);
			break;
		}
		attribution_counts(run, table, attribution->items[i].counts);
		name_cell(table, &attribution->items[i], run->options.by);
	}
	return cli_print_table(cli, table);
}

static void text_cell(struct table *table, const char *text)
{
	table_cell(table, "%s", text ? text : "");
}

static void number_cell(struct table *table, const char *format, uint64_t number, bool known)
{
	if (known)
		table_cell(table, format, (unsigned long long)number);
	else
		table_cell(table, "%s", "");
}

int attribution_print_csv(const struct cli *cli, const struct stat_run *run)
{
	static const char *const names[] = {"cause", "function", "module",  "address", "file",
					    "line",  "region",	 "process", "thread"};
	const size_t name_count = sizeof(names) / sizeof(names[0]);
	const struct attribution *attribution = run->attribution;
	char *columns = calloc(1, name_count + attribution->events + 1), text[PMU_EVENT_TEXT_MAX];
	struct table *table;

	if (columns)
		memset(columns, 'l', name_count + attribution->events);
	table = columns ? table_new(columns) : NULL;
	free(columns);
	if (!table)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	for (size_t i = 0; i < name_count; i++)
		table_cell(table, "%s", names[i]);
	for (unsigned k = 0; k < attribution->events; k++) {
		pmu_event_print(pmu_session_event(run->session, k), text, sizeof(text));
		table_cell(table, "%s", text);
	}
	for (size_t i = 0; i < attribution->item_count; i++) {
		const struct attribution_item *item = &attribution->items[i];

		text_cell(table, item->what);
		text_cell(table, item->function);
		text_cell(table, item->module);
		number_cell(table, "0x%llx", item->address, item->address);
		text_cell(table, item->file);
		number_cell(table, "%llu", item->line, item->line);
		text_cell(table, item->region);
		number_cell(table, "%llu", item->process, item->process);
		number_cell(table, "%llu", item->thread, item->thread);
		for (unsigned k = 0; k < attribution->events; k++)
			table_number(table, item->counts[k]);
	}
	return cli_print_table(cli, table);
}

static json_t *text_or_null(const char *text)
{
	return text ? text_json(text) : json_null();
}

static json_t *number_or_null(uint64_t number)
{
	return number ? cli_json_number(number) : json_null();
}

static json_t *numbers_json(const uint64_t *numbers, unsigned count)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < count; i++)
		json_array_append_new(array, cli_json_number(numbers[i]));
	return array;
}

static json_t *item_json(const struct attribution_item *item, unsigned events)
{
	return json_pack(
	    "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "cause", text_or_null(item->what),
	    "function", text_or_null(item->function), "module", text_or_null(item->module),
	    "address", number_or_null(item->address), "file", text_or_null(item->file), "line",
	    number_or_null(item->line), "region", text_or_null(item->region), "process",
	    number_or_null(item->process), "thread", number_or_null(item->thread), "counts",
	    numbers_json(item->counts, events));
}

json_t *attribution_json(const struct stat_run *run)
{
	const struct attribution *attribution = run->attribution;
	json_t *events = json_array(), *rows = json_array();
	char text[PMU_EVENT_TEXT_MAX];

	for (unsigned k = 0; k < attribution->events; k++) {
		pmu_event_print(pmu_session_event(run->session, k), text, sizeof(text));
		json_array_append_new(events, json_string(text));
	}
	for (size_t i = 0; i < attribution->item_count; i++)
		json_array_append_new(rows, item_json(&attribution->items[i], attribution->events));
	return json_pack("{s:s, s:o, s:o, s:o}", "by", words[run->options.by], "events", events,
			 "totals", numbers_json(attribution->totals, attribution->events), "rows",
			 rows);
}
