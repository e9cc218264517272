#include "cli/encode_plan.h"

#include <stdlib.h>
#include <string.h>

#include "pmulab/notation.h"
#include "pmulab/session.h"

/* Alone, an event of a set counts on the lead of a bank only. */
static unsigned first_counter(const struct pmu_selection *selection)
{
	if (!selection->event)
		return 0;
	for (size_t b = 0; b < pmu_box_banks(selection->box); b++)
		if (!strcmp(pmu_bank_group(pmu_box_bank(selection->box, b)),
			    pmu_event_set_group(selection->event)))
			return pmu_bank_lead(pmu_box_bank(selection->box, b));
	return (unsigned)__builtin_ctz(pmu_event_counters(selection->event));
}

static void ignore(void *arg, bool write, const struct pmu_access_op *op)
{
	(void)arg;
	(void)write;
	(void)op;
}

/* Counters for the events of one PMU, as a session that counts them all gives them. */
static int assign(const struct cli *cli, struct encode_plan *plan, struct pmu_session *session,
		  const struct pmu_pmu *pmu)
{
	int error = 0;

	for (size_t i = 0; i < plan->count && !error; i++) {
		struct pmu_selection selection = plan->selections[i];

		if (selection.pmu != pmu)
			continue;
		selection.one_instance = true;
		selection.instance = plan->events[i].instance;
		error = pmu_session_add(session, cli->ctx, &selection);
		/* Its number, until all have counters. */
		plan->events[i].counter = (unsigned)error;
		error = error < 0 ? error : 0;
	}
	if (!error)
		error = pmu_session_assign(session, cli->ctx);
	for (size_t i = 0; i < plan->count && !error; i++) {
		struct pmu_placed *placed = &plan->events[i];

		if (plan->selections[i].pmu == pmu)
			placed->counter = (unsigned)pmu_session_counter(session, placed->counter,
									placed->instance);
	}
	return error;
}

static int assign_pmu(const struct cli *cli, struct encode_plan *plan, const struct pmu_pmu *pmu)
{
	struct pmu_session *session = NULL;
	struct pmu_bus *bus;
	int error = pmu_bus_dry_run(&bus, cli->ctx, pmu, 1, ignore, NULL);

	if (error)
		return error;
	error = pmu_session_new(&session, cli->ctx, bus);
	if (!error)
		error = assign(cli, plan, session, pmu);
	pmu_session_free(session);
	pmu_bus_free(bus);
	return error;
}

static bool is_first_of_pmu(const struct encode_plan *plan, size_t event)
{
	for (size_t i = 0; i < event; i++)
		if (plan->selections[i].pmu == plan->selections[event].pmu)
			return false;
	return true;
}

static int place(const struct cli *cli, struct encode_plan *plan, int counter)
{
	int error = 0;

	for (size_t i = 0; i < plan->count; i++) {
		struct pmu_selection *selection = &plan->selections[i];
		unsigned instance = selection->instance;
		unsigned first = pmu_box_first_counter(selection->box, instance);
		unsigned number = counter < 0 ? first_counter(selection) : (unsigned)counter;

		/* Where the manual numbers the counters of several instances one after the other.
		 */
		if (counter >= 0 && number >= first)
			number -= first;
		plan->events[i] = (struct pmu_placed){
		    .selection = selection, .instance = instance, .counter = number};
	}
	for (size_t i = 0; i < plan->count && plan->count > 1 && counter < 0 && !error; i++)
		if (is_first_of_pmu(plan, i))
			error = assign_pmu(cli, plan, plan->selections[i].pmu);
	return error;
}

int encode_plan_init(const struct cli *cli, struct encode_plan *plan, const struct pmu_pmu *pmu,
		     char **texts, int counter)
{
	int error = 0;

	*plan = (struct encode_plan){0};
	while (texts[plan->count])
		plan->count++;
	plan->selections = calloc(plan->count + 1, sizeof(*plan->selections));
	plan->events = calloc(plan->count + 1, sizeof(*plan->events));
	if (!plan->selections || !plan->events)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	for (size_t i = 0; i < plan->count && !error; i++)
		error = pmu_notation_parse(cli->ctx, pmu, texts[i], &plan->selections[i]);
	if (!error)
		error = place(cli, plan, counter);
	return error ? cli_fail(cli, error) : EXIT_DONE;
}

void encode_plan_fini(struct encode_plan *plan)
{
	free(plan->selections);
	free(plan->events);
}

/* What is written at the place of @write in the end. */
static void take_value(struct pmu_write *write, const struct pmu_write *merged, int count)
{
	for (int i = 0; i < count; i++)
		if (merged[i].space == write->space && merged[i].address == write->address)
			write->value = merged[i].value;
}

int encode_plan_writes(const struct cli *cli, const struct encode_plan *plan, size_t event,
		       struct pmu_write writes[PMU_EVENT_WRITES])
{
	const struct pmu_placed *own = &plan->events[event];
	struct pmu_placed *beside = calloc(plan->count, sizeof(*beside));
	struct pmu_write *merged = calloc(plan->count * PMU_EVENT_WRITES, sizeof(*merged));
	size_t used = 0;
	int count, all;

	/* Events of other instances have their own registers, but may share its counters. */
	for (size_t i = 0; beside && i < plan->count; i++)
		if (plan->events[i].selection->box == own->selection->box)
			beside[used++] = plan->events[i];
	all = beside && merged
		  ? pmu_event_merge(cli->ctx, beside, used, merged, plan->count * PMU_EVENT_WRITES)
		  : PMU_E_NOMEM;
	count = all < 0 ? all
			: pmu_event_encode(cli->ctx, own->selection, own->instance, own->counter,
					   writes);
	for (int i = 0; i < count; i++)
		/* Of a control that is written twice, the first write stays. */
		if (i + 1 == count || writes[i + 1].address != writes[i].address)
			take_value(&writes[i], merged, all);
	free(merged);
	free(beside);
	return count;
}
