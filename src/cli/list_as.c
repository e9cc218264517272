/* Events as other tools name them. */
#include <jansson.h>
#include <string.h>
#include <strings.h>

#include "cli/cli.h"
#include "cli/list.h"
#include "pmulab/notation.h"

int list_set_tool(const struct cli *cli, struct choice *choice, const char *name)
{
	struct cli_names valid;

	cli_names_init(&valid, name);
	for (int tool = 0; tool < PMU_TOOL_COUNT; tool++) {
		choice->tool = (enum pmu_tool)tool;
		if (!strcasecmp(pmu_tool_name(choice->tool), name))
			return 0;
		cli_names_add(&valid, pmu_tool_name(choice->tool));
	}
	return cli_error(cli, EXIT_USAGE, "no tool \"%s\"; %s", name, cli_names_text(&valid));
}

/* Calls @row with pmulab's name and the tool's, NULL where it has none. */
typedef void name_row(void *arg, const struct pmu_box *box, const char *own, const char *theirs);

/* Filters without which the unit mask counts nothing, with the first value that has a name. */
static void add_needed(const struct pmu_box *box, const struct pmu_umask *umask, char *own,
		       size_t size)
{
	for (size_t i = 0; umask && i < pmu_box_modifiers(box); i++) {
		const struct pmu_modifier *modifier = pmu_box_modifier(box, i);
		const char *value = "1";
		size_t used = strlen(own);

		if (!pmu_umask_needs(umask, modifier))
			continue;
		for (size_t j = pmu_box_mnemonics(box); j-- > 0;)
			if (!strcasecmp(pmu_mnemonic_field(pmu_box_mnemonic(box, j)),
					pmu_modifier_name(modifier)))
				value = pmu_mnemonic_name(pmu_box_mnemonic(box, j));
		snprintf(own + used, size - used, ":%s=%s", pmu_modifier_name(modifier), value);
	}
}

static void offer(void *arg, const struct choice *choice, const struct pmu_box *box,
		  const char *event, const struct pmu_umask *umask, name_row *row)
{
	char own[PMU_EVENT_TEXT_MAX], theirs[PMU_EVENT_TEXT_MAX];
	struct pmu_selection selection;
	bool known;

	snprintf(own, sizeof(own), "%s/%s.%s%s%s", pmu_box_pmu_name(box), pmu_box_name(box), event,
		 umask ? "." : "", umask ? pmu_umask_name(umask) : "");
	add_needed(box, umask, own, sizeof(own));
	known = !pmu_event_parse(NULL, NULL, own, &selection) &&
		pmu_notation_print(&selection, choice->tool, theirs, sizeof(theirs)) >= 0;
	row(arg, box, own, known ? theirs : NULL);
}

static const char *fixed_event(const struct pmu_box *box, unsigned number)
{
	const struct pmu_register *reg = pmu_box_register(box, PMU_ROLE_FIXED_COUNTER, number);
	const char *name = pmu_register_event(reg);

	return *name ? name : "clock";
}

static void each_name(void *arg, const struct choice *choice, const struct pmu_box *box,
		      name_row *row)
{
	for (size_t i = 0; i < pmu_box_events(box); i++) {
		const struct pmu_event *event = pmu_box_event(box, i);
		const size_t umasks = pmu_event_umasks(event);

		for (size_t j = 0; j < (umasks ? umasks : 1); j++) {
			const struct pmu_umask *umask = pmu_event_umask(event, j);

			if (list_chosen(choice, pmu_event_name(event)) &&
			    list_chosen_umask(choice, box, event, umask))
				offer(arg, choice, box, pmu_event_name(event), umask, row);
		}
	}
	for (unsigned i = 0; i < pmu_box_fixed_counters(box); i++)
		if (list_chosen(choice, fixed_event(box, i)))
			offer(arg, choice, box, fixed_event(box, i), NULL, row);
}

static void json_row(void *arg, const struct pmu_box *box, const char *own, const char *theirs)
{
	json_array_append_new(arg,
			      json_pack("{s:s, s:s, s:s, s:s?}", "pmu", pmu_box_pmu_name(box),
					"box", pmu_box_name(box), "event", own, "name", theirs));
}

void list_names_json(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	each_name(arg, choice, box, json_row);
}

static void table_row(void *arg, const struct pmu_box *box, const char *own, const char *theirs)
{
	(void)box;
	table_cell(arg, "%s", own);
	table_cell(arg, "%s", theirs ? theirs : "-");
}

void list_names_table(void *arg, const struct choice *choice, const struct pmu_box *box)
{
	each_name(arg, choice, box, table_row);
}
