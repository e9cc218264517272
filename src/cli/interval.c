#include "cli/interval.h"

#include <jansson.h>

static void print_json(const struct cli *cli, double time, double length,
		       const struct interval_count *counts, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(
		    array,
		    json_pack("{s:s, s:o}", "event", counts[i].event, "count",
			      counts[i].missing ? json_null() : cli_json_number(counts[i].count)));
	cli_print_json(cli, json_pack("{s:f, s:f, s:o}", "seconds", time, "interval", length,
				      "counts", array));
}

static void print_csv(const struct cli *cli, double time, const struct interval_count *count)
{
	const char separator = cli_separator(cli);

	fprintf(cli->out, "%.9f%c%s%c", time, separator, count->event, separator);
	if (!count->missing)
		fprintf(cli->out, "%llu", (unsigned long long)count->count);
	fputc('\n', cli->out);
}

static void print_text(const struct cli *cli, double time, const struct interval_count *count)
{
	fprintf(cli->out, "%14.9f  ", time);
	if (count->missing)
		fprintf(cli->out, "%16s  %s\n", count->missing, count->event);
	else
		fprintf(cli->out, "%16llu  %s\n", (unsigned long long)count->count, count->event);
}

void interval_begin(const struct cli *cli)
{
	const char separator = cli_separator(cli);

	if (cli->format == CLI_CSV)
		fprintf(cli->out, "time%cevent%ccount\n", separator, separator);
}

void interval_end(const struct cli *cli)
{
	if (cli->format == CLI_CSV)
		fputc('\n', cli->out);
}

void interval_print(const struct cli *cli, double time, double length,
		    const struct interval_count *counts, size_t count)
{
	if (cli->format == CLI_JSONL)
		print_json(cli, time, length, counts, count);
	for (size_t i = 0; i < count && cli->format != CLI_JSONL; i++)
		if (cli->format == CLI_CSV)
			print_csv(cli, time, &counts[i]);
		else
			print_text(cli, time, &counts[i]);
	fflush(cli->out);
}
