#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analyze.h"
#include "cli/text.h"

static const struct analyze_line *root_of(const struct analyze *a, const struct analyze_line *line)
{
	while (line->node->parent != PMU_ANALYSIS_ROOT)
		line = &a->lines[line->node->parent];
	return line;
}

static void share_cell(struct table *table, double value, double whole)
{
	if (isnan(value) || !(whole > 0))
		table_cell(table, "%s", "");
	else
		table_cell(table, "%.1f %%", 100 * value / whole);
}

static void value_cell(struct table *table, double value)
{
	if (isnan(value))
		table_cell(table, "not modelled");
	else if (value < 0)
		table_cell(table, "%.0f", value);
	else
		table_number(table, (unsigned long long)(value + 0.5));
}

static void name_cell(struct table *table, unsigned depth, const char *name)
{
	table_cell(table, "%*s%s", 2 * (int)depth, "", name);
}

static const char *how(const struct analyze_line *line)
{
	if (!line->has_parts)
		return "";
	return line->node->parts == PMU_PARTS_OVERLAP	 ? "; parts may come together"
	       : line->node->parts == PMU_PARTS_ESTIMATE ? "; parts are estimates"
							 : "";
}

/* What exact parts leave is a line of its own, after the last of them. */
static void rest_row(const struct analyze *a, struct table *table, const struct analyze_line *line)
{
	if (line->node->parts != PMU_PARTS_EXACT || !line->has_parts || !(fabs(line->rest) > 0.5))
		return;
	share_cell(table, line->rest, root_of(a, line)->value);
	value_cell(table, line->rest);
	name_cell(table, line->node->depth + 1, "Other");
	table_cell(table, "%s", "what the parts above do not hold");
}

/* Ends all parts at this depth and deeper before the line at @next. */
static void end_parts(const struct analyze *a, struct table *table, size_t next)
{
	unsigned depth = next < a->line_count ? a->lines[next].node->depth : 0;

	for (size_t i = next ? next - 1 : SIZE_MAX; i != SIZE_MAX;
	     i = a->lines[i].node->parent == PMU_ANALYSIS_ROOT ? SIZE_MAX
							       : a->lines[i].node->parent) {
		if (a->lines[i].node->depth < depth)
			return;
		if (a->lines[i].has_parts)
			rest_row(a, table, &a->lines[i]);
	}
}

static int print_tree(const struct analyze *a)
{
	struct table *table = table_new("rrll");

	if (!table)
		return cli_error(a->cli, EXIT_FAILED, "out of memory");
	table_cell(table, "SHARE");
	table_cell(table, "COUNT");
	table_cell(table, "WHERE");
	table_cell(table, "%s", "");
	for (size_t i = 0; i < a->line_count; i++) {
		const struct analyze_line *line = &a->lines[i];

		if (i)
			end_parts(a, table, i);
		if (line->node->measure)
			continue;
		share_cell(table, line->value, root_of(a, line)->value);
		value_cell(table, line->value);
		name_cell(table, line->node->depth, line->node->name);
		table_cell(table, "%s%s", line->node->desc, how(line));
	}
	end_parts(a, table, a->line_count);
	return cli_print_table(a->cli, table);
}

static int print_measures(const struct analyze *a)
{
	struct table *table = table_new("rll");

	if (!table)
		return cli_error(a->cli, EXIT_FAILED, "out of memory");
	table_cell(table, "VALUE");
	table_cell(table, "UNIT");
	table_cell(table, "MEASURE");
	for (size_t i = 0; i < a->line_count; i++) {
		const struct analyze_line *line = &a->lines[i];

		if (!line->node->measure)
			continue;
		if (isnan(line->value))
			table_cell(table, "%s", "-");
		else
			table_cell(table, "%.4g", line->value);
		table_cell(table, "%s", line->node->desc);
		table_cell(table, "%s", line->node->name);
	}
	fputc('\n', a->cli->out);
	return cli_print_table(a->cli, table);
}

static int print_table(const struct analyze *a, char **argv)
{
	FILE *out = a->cli->out;
	int code;

	text_print(out, "\n%s on %s, exit code %d: %s\n", argv[0], pmu_machine_name(a->machine),
		   a->exit, a->title);
	fprintf(out, "%.6g s on the machine\n\n", a->seconds);
	code = print_tree(a);
	return code ? code : print_measures(a);
}

static json_t *number(double value)
{
	return isnan(value) ? json_null() : json_real(value);
}

static json_t *line_json(const struct analyze *a, const struct analyze_line *line)
{
	static const char *const parts[] = {[PMU_PARTS_NONE] = "none",
					    [PMU_PARTS_EXACT] = "exact",
					    [PMU_PARTS_OVERLAP] = "overlap",
					    [PMU_PARTS_ESTIMATE] = "estimate"};
	const struct pmu_analysis_node *node = line->node;
	json_t *row = json_pack("{s:s, s:o}", "name", node->name, "value", number(line->value));

	if (node->measure) {
		json_object_set_new(row, "unit", json_string(node->desc));
		return row;
	}
	json_object_set_new(row, "desc", json_string(node->desc));
	json_object_set_new(row, "depth", json_integer(node->depth));
	json_object_set_new(row, "share", number(line->value / root_of(a, line)->value));
	json_object_set_new(row, "parts", json_string(parts[line->has_parts ? node->parts : 0]));
	if (line->has_parts && node->parts == PMU_PARTS_EXACT)
		json_object_set_new(row, "rest", number(line->rest));
	return row;
}

static int print_json(const struct analyze *a, char **argv)
{
	json_t *tree = json_array(), *measures = json_array();

	for (size_t i = 0; i < a->line_count; i++)
		json_array_append_new(a->lines[i].node->measure ? measures : tree,
				      line_json(a, &a->lines[i]));
	return cli_print_json(
	    a->cli, json_pack("{s:o, s:s, s:i, s:f, s:o, s:o}", "program", text_json(argv[0]),
			      "machine", pmu_machine_name(a->machine), "exit", a->exit, "seconds",
			      a->seconds, "tree", tree, "measures", measures));
}

static int print_csv(const struct analyze *a)
{
	struct table *table = table_new("lllll");

	if (!table)
		return cli_error(a->cli, EXIT_FAILED, "out of memory");
	table_cell(table, "name");
	table_cell(table, "depth");
	table_cell(table, "value");
	table_cell(table, "share");
	table_cell(table, "unit");
	for (size_t i = 0; i < a->line_count; i++) {
		const struct analyze_line *line = &a->lines[i];
		double share = line->value / root_of(a, line)->value;

		table_cell(table, "%s", line->node->name);
		table_cell(table, "%u", line->node->depth);
		if (isnan(line->value))
			table_cell(table, "%s", "");
		else
			table_cell(table, "%.10g", line->value);
		if (isnan(share) || line->node->measure)
			table_cell(table, "%s", "");
		else
			table_cell(table, "%.6f", share);
		table_cell(table, "%s", line->node->measure ? line->node->desc : "");
	}
	return cli_print_table(a->cli, table);
}

int analyze_report(struct analyze *a, char **argv)
{
	if (cli_is_json(a->cli))
		return print_json(a, argv);
	return a->cli->format == CLI_CSV ? print_csv(a) : print_table(a, argv);
}
