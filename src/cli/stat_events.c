#include "cli/stat_events.h"

#include <stdlib.h>
#include <string.h>

#include "cli/stat_group.h"
#include "cli/stat_metric.h"
#include "pmulab/notation.h"

int stat_wanted_init(const struct cli *cli, struct stat_wanted *wanted, int argc)
{
	wanted->events.words = calloc((size_t)argc, sizeof(char *));
	wanted->metrics.words = calloc((size_t)argc, sizeof(char *));
	wanted->groups.words = calloc((size_t)argc, sizeof(char *));
	return wanted->events.words && wanted->metrics.words && wanted->groups.words
		   ? 0
		   : cli_error(cli, EXIT_FAILED, "out of memory");
}

void stat_wanted_fini(struct stat_wanted *wanted)
{
	free(wanted->events.words);
	free(wanted->metrics.words);
	free(wanted->groups.words);
}

const char *stat_first_events(const struct stat_wanted *wanted)
{
	return wanted->events.count ? wanted->events.words[0] : NULL;
}

int stat_each_of_list(const struct cli *cli, struct stat_run *run, const char *list,
		      stat_item *each)
{
	const char *at = list, *item;
	size_t length;
	int code = 0;

	if (!list[strspn(list, ", ")])
		return cli_error(cli, EXIT_USAGE, "\"%s\" is a list without a name", list);
	while (!code && pmu_event_list_next(&at, &item, &length)) {
		const size_t blank = strspn(item, " \t");
		char *text = blank < length ? strndup(item + blank, length - blank) : strdup("");

		code = text ? each(cli, run, text) : cli_error(cli, EXIT_FAILED, "out of memory");
		free(text);
	}
	return code;
}

int stat_each_word(const struct cli *cli, struct stat_run *run, const struct stat_words *words,
		   stat_item *each)
{
	int code = 0;

	for (size_t i = 0; i < words->count && !code; i++)
		code = stat_each_of_list(cli, run, words->words[i], each);
	return code;
}

struct adding {
	const struct cli *cli;
	struct stat_run *run;
};

/* @return 0 or an error of pmu_session_add() */
static int add_event(void *arg, const struct pmu_selection *selection)
{
	const struct adding *adding = arg;
	struct stat_run *run = adding->run;
	int index = pmu_session_add(run->session, adding->cli->ctx, selection);

	if (index < 0)
		return index;
	if (run->group && run->group_size < STAT_GROUP_MAX)
		run->group[run->group_size++] = (unsigned)index;
	return 0;
}

/* An event in any notation, or a pattern of several. */
static int add_member(const struct cli *cli, struct stat_run *run, const char *text)
{
	struct adding adding = {cli, run};
	int error = pmu_notation_expand(cli->ctx, run->pmu, text, add_event, &adding);

	return error ? cli_fail(cli, error) : 0;
}

/* {EVENT,EVENT,..}: events that one PMU counts. Where there is one group, it has all anyway. */
static int add_group(const struct cli *cli, struct stat_run *run, const char *text)
{
	unsigned events[STAT_GROUP_MAX];
	size_t length = strlen(text);
	char *list;
	int code;

	if (text[length - 1] != '}')
		return cli_error(cli, EXIT_USAGE, "the group \"%s\" does not end with a \"}\"",
				 text);
	list = strndup(text + 1, length - 2);
	if (!list)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	run->group = events;
	run->group_size = 0;
	code = stat_each_of_list(cli, run, list, add_member);
	run->group = NULL;
	free(list);
	if (!code && (run->emul || stat_divides(run))) {
		int error = pmu_session_group(run->session, cli->ctx, events, run->group_size);

		if (error)
			code = cli_fail(cli, error);
	}
	return code;
}

static int add_item(const struct cli *cli, struct stat_run *run, const char *text)
{
	return *text == '{' ? add_group(cli, run, text) : add_member(cli, run, text);
}

static int add_wanted(const struct cli *cli, struct stat_run *run, const struct stat_wanted *wanted)
{
	int code = stat_each_word(cli, run, &wanted->events, add_item);

	if (!code)
		code = stat_groups_add(cli, run, &wanted->groups, PMU_GROUP_EVENTS, add_item);
	run->asked_count = (unsigned)pmu_session_events(run->session);
	if (!code)
		code = stat_each_word(cli, run, &wanted->metrics, stat_metric_add);
	if (!code)
		code =
		    stat_groups_add(cli, run, &wanted->groups, PMU_GROUP_METRICS, stat_metric_add);
	return code;
}

int stat_add(const struct cli *cli, struct stat_run *run, const struct stat_wanted *wanted)
{
	int code;

	if (wanted->events.count || wanted->metrics.count || wanted->groups.count)
		return add_wanted(cli, run, wanted);
	if (!run->machine)
		return cli_error(cli, EXIT_USAGE,
				 "no events are given; pmulab list events --pmu %s",
				 pmu_pmu_name(run->pmu));
	code = stat_each_of_list(cli, run, pmu_machine_events(run->machine), add_item);
	run->asked_count = (unsigned)pmu_session_events(run->session);
	return code;
}

void stat_events_fini(struct stat_run *run)
{
	for (size_t i = 0; i < run->metric_count; i++)
		stat_metric_fini(&run->metrics[i]);
	free(run->metrics);
}

void stat_warn_absent(const struct cli *cli, const struct stat_run *run)
{
	for (unsigned i = 0; i < run->asked_count; i++) {
		const struct pmu_selection *selection = pmu_session_event(run->session, i);
		char note[PMU_EVENT_TEXT_MAX];
		char text[PMU_EVENT_TEXT_MAX];

		if (!stat_is_absent(run, selection))
			continue;
		pmu_selection_model_on(selection, pmu_bus_machine(run->bus), note, sizeof(note));
		pmu_event_print(selection, text, sizeof(text));
		cli_error(cli, 0, "warning: %s is not modelled on this machine%s%s", text,
			  *note ? ": " : "", note);
	}
}

static void assignment_row(const struct stat_run *run, struct table *table, unsigned event)
{
	const struct pmu_selection *selection = pmu_session_event(run->session, event);
	int counter = pmu_session_counter(run->session, event,
					  selection->one_instance ? selection->instance : 0);
	char text[PMU_EVENT_TEXT_MAX];

	pmu_event_print(selection, text, sizeof(text));
	table_cell(table, "%d", pmu_session_pmu_of(run->session, event));
	if (stat_is_absent(run, selection))
		table_cell(table, "none");
	else
		table_cell(table, "%s%d", selection->event ? "" : "fixed ", counter);
	table_cell(table, "%s", text);
}

int stat_print_assignment(const struct cli *cli, const struct stat_run *run)
{
	struct table *table = table_new("rrl");
	int code;

	if (!table)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	table_cell(table, "PMU");
	table_cell(table, "COUNTER");
	table_cell(table, "EVENT");
	for (unsigned event = 0; event < pmu_session_events(run->session); event++)
		assignment_row(run, table, event);
	fputc('\n', cli->out);
	code = cli_print_table(cli, table);
	for (size_t pmu = 1; pmu < pmu_session_pmus(run->session); pmu++)
		fprintf(cli->out, "\nPMU %zu: %s.\n", pmu, pmu_session_reason(run->session, pmu));
	return code;
}
