#include "cli/stat_multiplex.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "cli/slices.h"

int stat_multiplex_init(const struct cli *cli, struct stat_run *run)
{
	run->slices = calloc(pmu_session_events(run->session) + 1, sizeof(*run->slices));
	return run->slices ? 0 : cli_error(cli, EXIT_FAILED, "out of memory");
}

void stat_multiplex_fini(struct stat_run *run)
{
	free(run->slices);
	run->slices = NULL;
}

/* Groups count in turn. */
void stat_multiplex_add(struct stat_run *run, const uint64_t *counts, double seconds)
{
	const unsigned groups = (unsigned)pmu_session_pmus(run->session);

	for (unsigned event = 0; event < pmu_session_events(run->session); event++) {
		struct slices *slices = &run->slices[event];
		const unsigned group = (unsigned)pmu_session_pmu_of(run->session, event);

		slices_add(slices, slices->all % groups == group, counts[event], seconds);
	}
}

static void number_cell(struct table *table, double value)
{
	if (isnan(value))
		table_cell(table, "not known");
	else
		table_number(table, (uint64_t)(value + 0.5));
}

int stat_multiplex_print(const struct cli *cli, const struct stat_run *run)
{
	const bool truth = run->emul;
	struct table *table = table_new(truth ? "rrrrl" : "rrrl");

	if (!table)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	table_cell(table, "SHARE");
	table_cell(table, "ESTIMATE");
	table_cell(table, "BOUND");
	if (truth)
		table_cell(table, "TRUTH");
	table_cell(table, "EVENT");
	for (unsigned event = 0; event < pmu_session_events(run->session); event++) {
		const struct pmu_selection *selection = pmu_session_event(run->session, event);
		const struct slices *slices = &run->slices[event];
		char text[PMU_EVENT_TEXT_MAX];

		if (stat_is_absent(run, selection))
			continue;
		pmu_event_print(selection, text, sizeof(text));
		table_cell(table, "%.1f %%", 100 * slices_share(slices));
		number_cell(table, slices_estimate(slices));
		number_cell(table, slices_bound(slices));
		if (truth)
			table_number(table, stat_total(run, event, -1));
		table_cell(table, "%s", text);
	}
	if (truth)
		fprintf(cli->out, "\nif one PMU had counted by turns of %.9g ms:\n\n",
			run->options.multiplex_ms);
	else
		fputc('\n', cli->out);
	return cli_print_table(cli, table);
}

static json_t *known(double value)
{
	return isnan(value) ? json_null() : json_real(value);
}

json_t *stat_multiplex_json(const struct stat_run *run)
{
	json_t *array = json_array();

	for (unsigned event = 0; event < pmu_session_events(run->session); event++) {
		const struct pmu_selection *selection = pmu_session_event(run->session, event);
		const struct slices *slices = &run->slices[event];
		char text[PMU_EVENT_TEXT_MAX];

		if (stat_is_absent(run, selection))
			continue;
		pmu_event_print(selection, text, sizeof(text));
		json_array_append_new(
		    array,
		    json_pack("{s:s, s:f, s:o, s:o, s:o}", "event", text, "share",
			      slices_share(slices), "estimate", known(slices_estimate(slices)),
			      "bound", known(slices_bound(slices)), "count",
			      run->emul ? cli_json_number(stat_total(run, event, -1))
					: json_null()));
	}
	return array;
}
