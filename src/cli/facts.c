/* Tables of the manuals that describe the hardware: queues, caches, latencies. */
#include <jansson.h>

#include "cli/cli.h"
#include "cli/list.h"

static struct table *facts_table(const struct pmu_facts *facts)
{
	char columns[CLI_FACT_COLUMNS + 1];
	struct table *table;

	for (size_t i = 0; i < CLI_FACT_COLUMNS; i++)
		columns[i] = 'l';
	columns[facts->column_count] = '\0';
	table = table_new(columns);
	for (size_t i = 0; table && i < facts->column_count; i++)
		table_cell(table, "%s", facts->columns[i]);
	for (size_t i = 0; table && i < facts->row_count * facts->column_count; i++)
		table_cell(table, "%s", facts->cells[i]);
	return table;
}

void list_show_facts(const struct cli *cli, const struct pmu_box *box,
		     const struct pmu_facts *facts)
{
	struct table *table = facts_table(facts);

	fprintf(cli->out, "facts %s/%s.%s\n  %-12s %s\n  %-12s %s\n", box->pmu, box->name,
		facts->name, "are", facts->title, "source", facts->source);
	if (table)
		cli_print_table(cli, table);
}

static json_t *rows_json(const struct pmu_facts *facts)
{
	json_t *rows = json_array();

	for (size_t r = 0; r < facts->row_count; r++) {
		json_t *row = json_object();

		for (size_t c = 0; c < facts->column_count; c++)
			json_object_set_new(row, facts->columns[c],
					    json_string(facts->cells[r * facts->column_count + c]));
		json_array_append_new(rows, row);
	}
	return rows;
}

void list_facts_json(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (size_t i = 0; i < box->fact_count; i++) {
		const struct pmu_facts *facts = &box->facts[i];

		if (list_chosen(choice, facts->name))
			json_array_append_new(
			    arg, json_pack("{s:s, s:s, s:s, s:s, s:o, s:s}", "pmu", box->pmu, "box",
					   box->name, "name", facts->name, "title", facts->title,
					   "rows", rows_json(facts), "source", facts->source));
	}
}

void list_facts_table(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (size_t i = 0; i < box->fact_count; i++) {
		if (!list_chosen(choice, box->facts[i].name))
			continue;
		table_cell(arg, "%s", box->pmu);
		table_cell(arg, "%s.%s", box->name, box->facts[i].name);
		table_number(arg, box->facts[i].row_count);
		table_cell(arg, "%s", box->facts[i].title);
	}
}
