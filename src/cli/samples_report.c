/* The command `report`: where the samples of a recording are. */
#include <getopt.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/samples.h"
#include "cli/text.h"

#define DEFAULT_FILE "perf.data"
#define ROWS_SHOWN   40 /* in a table; JSON and CSV have all */

static const char *const words[SAMPLES_BYS] = {
    [SAMPLES_BY_FUNCTION] = "function",
    [SAMPLES_BY_LINE] = "line",
    [SAMPLES_BY_IP] = "ip",
    [SAMPLES_BY_DATA] = "data",
    [SAMPLES_BY_LATENCY] = "latency",
    [SAMPLES_BY_BRANCH] = "branch",
    [SAMPLES_BY_RETIRED] = "retired",
    [SAMPLES_BY_THREAD] = "thread",
};

static void usage(FILE *file)
{
	fputs("usage: pmulab report [-i FILE] [--by WHAT] [--format table|json|csv]\n"
	      "\n"
	      "Prints where the samples are that pmulab record has taken, one table an event.\n"
	      "\n"
	      "Example: pmulab report --by line\n"
	      "\n"
	      "  -i, --input FILE        read this file; default: perf.data\n"
	      "  --by function           where the sampled instructions are; the default\n"
	      "  --by line               their source lines, by debug information\n"
	      "  --by ip                 their addresses\n"
	      "  --by data               data addresses that were captured\n"
	      "  --by latency            latencies that were captured, by powers of two\n"
	      "  --by branch             branches of the captured traces: from, to\n"
	      "  --by retired            addresses that retired before the samples, with cycles\n"
	      "  --by thread             threads, and the cores that they ran on\n"
	      "  --format table|json|csv print the report in this format\n",
	      file);
}

static bool has_symbols(const struct samples *s)
{
	return s->by != SAMPLES_BY_LATENCY && s->by != SAMPLES_BY_THREAD;
}

/* What shares are shares of: entries of traces, cycles, or the event's count. */
static uint64_t size_of(const struct samples *s, const struct samples_group *group)
{
	return s->by == SAMPLES_BY_BRANCH ? group->samples : group->period;
}

static uint64_t total(const struct samples *s, unsigned event)
{
	uint64_t sum = 0;

	if (s->by != SAMPLES_BY_BRANCH && s->by != SAMPLES_BY_RETIRED)
		return s->periods[event];
	for (size_t i = 0; i < s->count; i++)
		if (s->groups[i].event == event)
			sum += size_of(s, &s->groups[i]);
	return sum;
}

static double mean_latency(const struct samples_group *group)
{
	return (double)group->latency / (double)group->latencies;
}

/* function+0x10, of a stripped file only its address. */
static void place_text(char *text, size_t size, uint64_t address, const struct symbol *symbol)
{
	if (symbol->function)
		snprintf(text, size, "0x%llx  %s+0x%llx", (unsigned long long)address,
			 symbol->function, (unsigned long long)(address - symbol->address));
	else
		snprintf(text, size, "0x%llx", (unsigned long long)address);
}

static void name_text(const struct samples *s, const struct samples_group *g, char *text,
		      size_t size)
{
	char from[512], to[512];

	switch (s->by) {
	case SAMPLES_BY_FUNCTION:
		if (g->symbol.function)
			snprintf(text, size, "%s", g->symbol.function);
		else
			snprintf(text, size, "0x%llx", (unsigned long long)g->symbol.address);
		break;
	case SAMPLES_BY_LINE:
		if (g->symbol.file)
			snprintf(text, size, "%s:%u  %s", g->symbol.file, g->symbol.line,
				 g->symbol.function ? g->symbol.function : "");
		else
			place_text(text, size, g->key, &g->symbol);
		break;
	case SAMPLES_BY_LATENCY:
		snprintf(text, size, "%llu to %llu cycles", (unsigned long long)g->key,
			 (unsigned long long)(g->key ? 2 * g->key - 1 : 0));
		break;
	case SAMPLES_BY_THREAD:
		snprintf(text, size, "thread %llu on core %llu", (unsigned long long)g->key,
			 (unsigned long long)g->to);
		break;
	case SAMPLES_BY_BRANCH:
		place_text(from, sizeof(from), g->key, &g->symbol);
		place_text(to, sizeof(to), g->to, &g->to_symbol);
		snprintf(text, size, "%s -> %s", from, g->to ? to : "(not taken)");
		break;
	default:
		place_text(text, size, g->key, &g->symbol);
		break;
	}
}

static const char *size_heading(const struct samples *s)
{
	return s->by == SAMPLES_BY_BRANCH    ? "MISPREDICTED"
	       : s->by == SAMPLES_BY_RETIRED ? "CYCLES"
					     : "COUNT";
}

static const char *name_heading(const struct samples *s)
{
	static const char *const headings[SAMPLES_BYS] = {
	    [SAMPLES_BY_FUNCTION] = "FUNCTION", [SAMPLES_BY_LINE] = "LINE",
	    [SAMPLES_BY_IP] = "INSTRUCTION",	[SAMPLES_BY_DATA] = "DATA",
	    [SAMPLES_BY_LATENCY] = "LATENCY",	[SAMPLES_BY_BRANCH] = "BRANCH",
	    [SAMPLES_BY_RETIRED] = "BUNDLE",	[SAMPLES_BY_THREAD] = "THREAD",
	};

	return headings[s->by];
}

static void group_row(const struct samples *s, struct table *table, const struct samples_group *g,
		      uint64_t all)
{
	char text[1200];

	table_cell(table, "%.1f %%", all ? 100.0 * (double)size_of(s, g) / (double)all : 0.0);
	table_number(table, g->samples);
	if (s->by == SAMPLES_BY_RETIRED && g->least)
		table_cell(table, ">= %llu", (unsigned long long)g->period);
	else
		table_number(table, s->by == SAMPLES_BY_BRANCH ? g->mispredicted : g->period);
	if (g->latencies)
		table_cell(table, "%s%.1f", g->least ? ">= " : "", mean_latency(g));
	else
		table_cell(table, "%s", "");
	name_text(s, g, text, sizeof(text));
	table_cell(table, "%s", text);
}

static int print_event(const struct samples *s, unsigned event)
{
	struct table *table = table_new("rrrrl");
	const uint64_t all = total(s, event);
	size_t rows = 0, more = 0;

	if (!table)
		return cli_error(s->cli, EXIT_FAILED, "out of memory");
	table_cell(table, "SHARE");
	table_cell(table, "SAMPLES");
	table_cell(table, "%s", size_heading(s));
	table_cell(table, "LATENCY");
	table_cell(table, "%s", name_heading(s));
	for (size_t i = 0; i < s->count; i++) {
		if (s->groups[i].event != event)
			continue;
		if (rows < ROWS_SHOWN)
			group_row(s, table, &s->groups[i], all);
		else
			more++;
		rows++;
	}
	fprintf(s->cli->out, "%s%s on %s: %llu samples, count %llu\n\n", event ? "\n" : "",
		pmu_samples_event(s->file, event), pmu_samples_machine(s->file),
		(unsigned long long)s->samples[event], (unsigned long long)s->periods[event]);
	if (!rows) {
		table_free(table);
		fprintf(s->cli->out, "No sample of it has what --by %s needs.\n", words[s->by]);
		return 0;
	}
	if (cli_print_table(s->cli, table))
		return EXIT_FAILED;
	if (more)
		fprintf(s->cli->out, "(%zu more; --format csv has all)\n", more);
	return 0;
}

static void csv_number(struct table *table, uint64_t number, bool known)
{
	if (known)
		table_cell(table, "%llu", (unsigned long long)number);
	else
		table_cell(table, "%s", "");
}

static void csv_row(const struct samples *s, struct table *table, const struct samples_group *g)
{
	const struct symbol *symbol = &g->symbol;

	table_cell(table, "%s", pmu_samples_event(s->file, g->event));
	csv_number(table, g->samples, true);
	csv_number(table, g->period, s->by != SAMPLES_BY_BRANCH && s->by != SAMPLES_BY_RETIRED);
	csv_number(table, g->period, s->by == SAMPLES_BY_RETIRED);
	if (g->latencies)
		table_cell(table, "%.17g", mean_latency(g));
	else
		table_cell(table, "%s", "");
	csv_number(table, g->latencies, g->latencies);
	csv_number(table, g->least, g->latencies || s->by == SAMPLES_BY_RETIRED);
	csv_number(table, g->mispredicted, s->by == SAMPLES_BY_BRANCH);
	if (s->by == SAMPLES_BY_LATENCY || s->by == SAMPLES_BY_THREAD)
		csv_number(table, g->key, true);
	else
		table_cell(table, "0x%llx",
			   (unsigned long long)(s->by == SAMPLES_BY_FUNCTION && symbol->address
						    ? symbol->address
						    : g->key));
	if (s->by == SAMPLES_BY_BRANCH && g->to)
		table_cell(table, "0x%llx", (unsigned long long)g->to);
	else
		csv_number(table, g->to, s->by == SAMPLES_BY_THREAD);
	table_cell(table, "%s", symbol->function ? symbol->function : "");
	table_cell(table, "%s", symbol->file ? symbol->file : "");
	csv_number(table, symbol->line, symbol->file);
}

static int print_csv(const struct samples *s)
{
	static const char *const names[] = {
	    "event",	    "samples", "count", "cycles",   "latency", "latencies", "saturated",
	    "mispredicted", "key",     "to",	"function", "file",    "line"};
	struct table *table = table_new("lllllllllllll");

	if (!table)
		return cli_error(s->cli, EXIT_FAILED, "out of memory");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		table_cell(table, "%s", names[i]);
	for (size_t i = 0; i < s->count; i++)
		csv_row(s, table, &s->groups[i]);
	return cli_print_table(s->cli, table);
}

static json_t *group_json(const struct samples *s, const struct samples_group *g)
{
	json_t *row = json_object();

	json_object_set_new(row, "key", cli_json_number(g->key));
	json_object_set_new(row, "samples", cli_json_number(g->samples));
	if (s->by == SAMPLES_BY_BRANCH) {
		json_object_set_new(row, "to", g->to ? cli_json_number(g->to) : json_null());
		json_object_set_new(row, "mispredicted", cli_json_number(g->mispredicted));
	} else {
		json_object_set_new(row, s->by == SAMPLES_BY_RETIRED ? "cycles" : "count",
				    cli_json_number(g->period));
	}
	if (s->by == SAMPLES_BY_THREAD)
		json_object_set_new(row, "core", cli_json_number(g->to));
	if (g->latencies || s->by == SAMPLES_BY_RETIRED)
		json_object_set_new(row, "saturated", cli_json_number(g->least));
	if (g->latencies) {
		json_object_set_new(row, "latency", json_real(mean_latency(g)));
		json_object_set_new(row, "latencies", cli_json_number(g->latencies));
	}
	if (!has_symbols(s))
		return row;
	json_object_set_new(row, "function",
			    g->symbol.function ? text_json(g->symbol.function) : json_null());
	json_object_set_new(row, "file", g->symbol.file ? text_json(g->symbol.file) : json_null());
	json_object_set_new(row, "line",
			    g->symbol.file ? cli_json_number(g->symbol.line) : json_null());
	return row;
}

static int print_json(const struct samples *s)
{
	json_t *events = json_array();

	for (unsigned e = 0; e < pmu_samples_events(s->file); e++) {
		json_t *rows = json_array();

		for (size_t i = 0; i < s->count; i++)
			if (s->groups[i].event == e)
				json_array_append_new(rows, group_json(s, &s->groups[i]));
		json_array_append_new(events,
				      json_pack("{s:s, s:o, s:o, s:o}", "event",
						pmu_samples_event(s->file, e), "samples",
						cli_json_number(s->samples[e]), "count",
						cli_json_number(s->periods[e]), "rows", rows));
	}
	return cli_print_json(s->cli,
			      json_pack("{s:s, s:s, s:o}", "machine", pmu_samples_machine(s->file),
					"by", words[s->by], "events", events));
}

static int print(const struct samples *s)
{
	int code = 0;

	if (cli_is_json(s->cli))
		return print_json(s);
	if (s->cli->format == CLI_CSV)
		return print_csv(s);
	for (unsigned e = 0; e < pmu_samples_events(s->file) && !code; e++)
		code = print_event(s, e);
	return code;
}

static int read_by(const struct cli *cli, enum samples_by *by, const char *text)
{
	struct cli_names valid;

	cli_names_init(&valid, text);
	for (int i = 0; i < SAMPLES_BYS; i++) {
		if (!strcmp(text, words[i])) {
			*by = (enum samples_by)i;
			return 0;
		}
		cli_names_add(&valid, words[i]);
	}
	return cli_error(cli, EXIT_USAGE, "--by \"%s\"; %s", text, cli_names_text(&valid));
}

/* @return 0; -1: --help was printed; or EXIT_USAGE, said */
static int read_options(struct cli *cli, struct samples *s, const char **path, int argc,
			char **argv)
{
	static const struct option options[] = {{"input", required_argument, NULL, 'i'},
						{"by", required_argument, NULL, 'b'},
						{"format", required_argument, NULL, 'f'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	int code = 0;

	for (int option; !code && (option = getopt_long(argc, argv, "i:h", options, NULL)) != -1;) {
		switch (option) {
		case 'i':
			*path = optarg;
			break;
		case 'b':
			code = read_by(cli, &s->by, optarg);
			break;
		case 'f':
			code = cli_set_format(cli, optarg);
			break;
		case 'h':
			usage(stdout);
			return -1;
		default:
			return EXIT_USAGE;
		}
	}
	if (!code && optind < argc)
		return cli_error(cli, EXIT_USAGE, "unexpected argument %s", argv[optind]);
	return code;
}

int cli_report(struct cli *cli, int argc, char **argv)
{
	struct samples samples = {.cli = cli};
	const char *path = DEFAULT_FILE;
	int code = read_options(cli, &samples, &path, argc, argv);

	if (!code)
		code = samples_read(&samples, path);
	if (!code)
		code = samples_name(&samples, path);
	if (!code)
		code = print(&samples);
	samples_fini(&samples);
	return code < 0 ? EXIT_DONE : code;
}
