/* A program outside of the tree: it encodes an event and counts loads that it makes by hand. */
#include <pmulab/event.h>
#include <pmulab/pmulab.h>
#include <pmulab/session.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
	struct pmu_write writes[PMU_EVENT_WRITES];
	struct pmu_selection selection;
	struct pmu_session *session = NULL;
	struct pmu_bus *bus = NULL;
	struct pmu_ctx *ctx;
	char version[32];
	int count;

	snprintf(version, sizeof(version), "%d.%d.%d", PMU_VERSION_MAJOR, PMU_VERSION_MINOR,
		 PMU_VERSION_PATCH);
	if (strcmp(version, pmu_version()) || pmu_ctx_new(&ctx))
		return 1;
	if (pmu_event_parse(ctx, NULL, "xeon-e5v4/imc.CAS_COUNT.RD", &selection))
		return 2;
	count = pmu_event_encode(ctx, &selection, 0, 0, writes);
	/* 334291-001 table 2-81: CAS_COUNT is event 0x04, RD 0b00000011; en is bit 22. */
	if (count < 1 || writes[count - 1].value != 0x400304)
		return 3;
	if (pmu_bus_emulated(&bus, ctx, pmu_find_machine("xeon-e5-2699v4-2s")) ||
	    pmu_session_new(&session, ctx, bus) || pmu_session_add(session, ctx, &selection) != 0 ||
	    pmu_session_start(session, ctx) || pmu_session_stop(session, ctx))
		return 4;
	pmu_session_free(session);
	pmu_bus_free(bus);
	pmu_ctx_free(ctx);
	puts(pmu_version());
	return 0;
}
