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
	columns[pmu_facts_columns(facts)] = '\0';
	table = table_new(columns);
	for (size_t i = 0; table && i < pmu_facts_columns(facts); i++)
		table_cell(table, "%s", pmu_facts_column(facts, i));
	for (size_t r = 0; table && r < pmu_facts_rows(facts); r++)
		for (size_t c = 0; c < pmu_facts_columns(facts); c++)
			table_cell(table, "%s", pmu_facts_cell(facts, r, c));
	return table;
}

void list_show_facts(const struct cli *cli, const struct pmu_box *box,
		     const struct pmu_facts *facts)
{
	struct table *table = facts_table(facts);

	fprintf(cli->out, "facts %s/%s.%s\n  %-12s %s\n  %-12s %s\n", pmu_box_pmu_name(box),
		pmu_box_name(box), pmu_facts_name(facts), "are", pmu_facts_title(facts), "source",
		pmu_facts_source(facts));
	if (table)
		cli_print_table(cli, table);
}

static json_t *rows_json(const struct pmu_facts *facts)
{
	json_t *rows = json_array();

	for (size_t r = 0; r < pmu_facts_rows(facts); r++) {
		json_t *row = json_object();

		for (size_t c = 0; c < pmu_facts_columns(facts); c++)
			json_object_set_new(row, pmu_facts_column(facts, c),
					    json_string(pmu_facts_cell(facts, r, c)));
		json_array_append_new(rows, row);
	}
	return rows;
}

void list_facts_json(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (size_t i = 0; i < pmu_box_fact_tables(box); i++) {
		const struct pmu_facts *facts = pmu_box_facts(box, i);

		if (list_chosen(choice, pmu_facts_name(facts)))
			json_array_append_new(
			    arg,
			    json_pack("{s:s, s:s, s:s, s:s, s:o, s:s}", "pmu",
				      pmu_box_pmu_name(box), "box", pmu_box_name(box), "name",
				      pmu_facts_name(facts), "title", pmu_facts_title(facts),
				      "rows", rows_json(facts), "source", pmu_facts_source(facts)));
	}
}

void list_facts_table(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	for (size_t i = 0; i < pmu_box_fact_tables(box); i++) {
		if (!list_chosen(choice, pmu_facts_name(pmu_box_facts(box, i))))
			continue;
		table_cell(arg, "%s", pmu_box_pmu_name(box));
		table_cell(arg, "%s.%s", pmu_box_name(box), pmu_facts_name(pmu_box_facts(box, i)));
		table_number(arg, pmu_facts_rows(pmu_box_facts(box, i)));
		table_cell(arg, "%s", pmu_facts_title(pmu_box_facts(box, i)));
	}
}
