#include "trace.h"

#include <stdio.h>
#include <string.h>

#include "support/cmocka.h"

static void note(void *arg, bool write, const struct pmu_access_op *op)
{
	struct trace *trace = arg;
	size_t left = sizeof(trace->text) - trace->length;

	if (!write) {
		trace->reads++;
		return;
	}
	trace->writes++;
	trace->length += (size_t)snprintf(trace->text + trace->length, left, "%u %X=%llX\n",
					  op->socket, op->address, (unsigned long long)op->value);
	assert_true(trace->length < sizeof(trace->text));
}

void trace_clear(struct trace *trace)
{
	memset(trace, 0, sizeof(*trace));
}

void traced_init(struct traced *traced, unsigned sockets)
{
	traced_init_on(traced, pmu_find_pmu("xeon-e5v4"), sockets);
}

void traced_init_on(struct traced *traced, const struct pmu_pmu *pmu, unsigned sockets)
{
	memset(traced, 0, sizeof(*traced));
	assert_int_equal(pmu_ctx_new(&traced->ctx), 0);
	assert_int_equal(
	    pmu_bus_dry_run(&traced->bus, traced->ctx, pmu, sockets, note, &traced->trace), 0);
	assert_int_equal(pmu_session_new(&traced->session, traced->ctx, traced->bus), 0);
	trace_clear(&traced->trace);
}

void traced_fini(struct traced *traced)
{
	pmu_session_free(traced->session);
	pmu_bus_free(traced->bus);
	pmu_ctx_free(traced->ctx);
}

int traced_add(struct traced *traced, const char *event)
{
	struct pmu_selection selection;
	int error = pmu_event_parse(traced->ctx, pmu_bus_pmu(traced->bus), event, &selection);

	if (error)
		fail_msg("%s: %s", event, pmu_message(traced->ctx));
	return pmu_session_add(traced->session, traced->ctx, &selection);
}
