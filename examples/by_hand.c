/*
 * Drives a machine by hand and reads its counters: how many of 100,000 loads, one a line, and of
 * the page walks for them miss the last-level cache the first time, and how many the second time?
 */
#include <pmulab/emul.h>
#include <pmulab/session.h>

#include <inttypes.h>
#include <stdio.h>

#define LINES 100000
#define LINE  64

static int measure(struct pmu_ctx *ctx, struct pmu_emul *emul, struct pmu_hart *hart,
		   uint64_t *misses)
{
	struct pmu_selection selection;
	const struct pmu_count *counts;
	struct pmu_session *session;
	struct pmu_bus *bus;
	size_t count;

	if (pmu_emul_bus(&bus, ctx, emul) || pmu_session_new(&session, ctx, bus) ||
	    pmu_event_parse(ctx, pmu_bus_pmu(bus), "cbo.TOR_INSERTS.MISS_OPCODE:opc=DRd",
			    &selection) ||
	    pmu_session_add(session, ctx, &selection) < 0 || pmu_session_start(session, ctx))
		return -1;
	for (uint64_t i = 0; i < LINES; i++)
		pmu_hart_load(hart, 0x10000000 + i * LINE, 8, NULL);
	pmu_hart_pause(hart);
	pmu_emul_drain(emul);
	if (pmu_session_stop(session, ctx) || pmu_session_read(session, ctx, &counts, &count))
		return -1;
	*misses = 0;
	for (size_t i = 0; i < count; i++)
		*misses += counts[i].count;
	pmu_session_free(session);
	pmu_bus_free(bus);
	return 0;
}

int main(void)
{
	struct pmu_emul *emul;
	struct pmu_hart *hart;
	struct pmu_ctx *ctx;
	uint64_t misses;

	if (pmu_ctx_new(&ctx))
		return 2;
	/* What a prefetcher brings is there before it is loaded. */
	if (pmu_emul_new(&emul, ctx, pmu_find_machine("xeon-e5-2699v4-2s")) ||
	    pmu_emul_set_prefetchers(emul, ctx, "none") || pmu_hart_new(&hart, ctx, emul, NULL))
		goto failed;
	for (int pass = 1; pass <= 2; pass++) {
		if (measure(ctx, emul, hart, &misses))
			goto failed;
		printf("pass %d: %" PRIu64 " misses\n", pass, misses);
	}
	pmu_hart_free(hart);
	pmu_emul_free(emul);
	pmu_ctx_free(ctx);
	return 0;

failed:
	fprintf(stderr, "by_hand: %s\n", pmu_message(ctx));
	return 1;
}
