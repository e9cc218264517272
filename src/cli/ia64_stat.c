#include "cli/ia64_stat.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmulab/event.h"
#include "pmulab/pmulab.h"
#include "pmulab/session.h"

struct ia64_stat {
	struct pmu_ctx *ctx;
	struct pmu_ia64_core *core;
	struct pmu_bus *bus;
	struct pmu_session *session;
	const struct pmu_pmu *pmu;
};

static int fail(const struct ia64_stat *s)
{
	fprintf(stderr, "pmulab-ia64: %s\n", pmu_message(s->ctx));
	return 2;
}

static void print_count(const struct ia64_stat *s, const struct pmu_count *count)
{
	char text[PMU_EVENT_TEXT_MAX], number[32] = "not modelled";

	if (count->valid)
		snprintf(number, sizeof(number), "%" PRIu64, count->count);
	pmu_event_print(pmu_session_event(s->session, count->event), text, sizeof(text));
	fprintf(stderr, "%20s  %s\n", number, text);
}

static void end(void *arg)
{
	struct ia64_stat *s = arg;
	const struct pmu_count *counts;
	size_t count;
	int error;

	error = pmu_session_stop(s->session, s->ctx);
	if (!error)
		error = pmu_session_read(s->session, s->ctx, &counts, &count);
	if (error) {
		fail(s);
		return;
	}
	for (size_t i = 0; i < count; i++)
		print_count(s, &counts[i]);
	if (pmu_ia64_core_other_threads(s->core))
		fprintf(stderr, "%u more threads ran and were not counted.\n",
			pmu_ia64_core_other_threads(s->core));
}

static int add(struct ia64_stat *s, const char *item, size_t length)
{
	char *text = strndup(item, length);
	struct pmu_selection selection;
	int error;

	if (!text)
		return PMU_E_NOMEM;
	error = pmu_event_parse(s->ctx, s->pmu, text, &selection);
	if (!error)
		error = pmu_session_add(s->session, s->ctx, &selection);
	free(text);
	return error < 0 ? error : 0;
}

static int add_all(struct ia64_stat *s, const char *events)
{
	const char *item;
	size_t length;
	int error = 0;

	while (!error && pmu_event_list_next(&events, &item, &length))
		error = add(s, item, length);
	return error;
}

static int open_core(struct ia64_stat *s)
{
	int error = pmu_ia64_core_new(&s->core, s->ctx);

	if (!error)
		error = pmu_ia64_core_bus(&s->bus, s->ctx, s->core);
	if (!error)
		error = pmu_session_new(&s->session, s->ctx, s->bus);
	if (!error)
		s->pmu = pmu_bus_pmu(s->bus);
	return error;
}

int ia64_stat_new(struct ia64_stat **stat, struct pmu_ia64_options *run, const char *events)
{
	struct ia64_stat *s = calloc(1, sizeof(*s));
	int error;

	if (!s || pmu_ctx_new(&s->ctx)) {
		fprintf(stderr, "pmulab-ia64: out of memory\n");
		free(s);
		return 1;
	}
	error = open_core(s);
	if (!error)
		error = add_all(s, events);
	if (!error)
		error = pmu_session_start(s->session, s->ctx);
	if (error) {
		error = fail(s);
		ia64_stat_free(s);
		return error;
	}
	run->core = s->core;
	run->ended = end;
	run->arg = s;
	*stat = s;
	return 0;
}

void ia64_stat_free(struct ia64_stat *s)
{
	if (!s)
		return;
	pmu_session_free(s->session);
	pmu_bus_free(s->bus);
	pmu_ia64_core_free(s->core);
	pmu_ctx_free(s->ctx);
	free(s);
}
