/*
 * Counts the memory traffic of a program on an emulated machine.
 *
 *     traffic PROGRAM [ARGUMENTS]
 */
#include <pmulab/program.h>
#include <pmulab/session.h>

#include <inttypes.h>
#include <stdio.h>

#define LINE_BYTES 64

static int failed(struct pmu_ctx *ctx)
{
	fprintf(stderr, "traffic: %s\n", pmu_message(ctx));
	return 1;
}

int main(int argc, char **argv)
{
	static const char *const events[] = {"imc.CAS_COUNT.RD", "imc.CAS_COUNT.WR"};
	const struct pmu_machine *machine = pmu_find_machine("xeon-e5-2699v4-2s");
	struct pmu_program_result end = {.size = sizeof(end)};
	struct pmu_program *program;
	struct pmu_session *session;
	const struct pmu_count *counts;
	uint64_t lines[2] = {0};
	struct pmu_emul *emul;
	struct pmu_bus *bus;
	struct pmu_ctx *ctx;
	size_t count;

	if (argc < 2 || pmu_ctx_new(&ctx))
		return 2;
	if (pmu_emul_new(&emul, ctx, machine) || pmu_emul_bus(&bus, ctx, emul) ||
	    pmu_session_new(&session, ctx, bus) ||
	    pmu_program_new(&program, ctx, machine, argv + 1, NULL))
		return failed(ctx);
	for (int i = 0; i < 2; i++) {
		struct pmu_selection selection;

		if (pmu_event_parse(ctx, pmu_bus_pmu(bus), events[i], &selection) ||
		    pmu_session_add(session, ctx, &selection) < 0)
			return failed(ctx);
	}
	if (pmu_session_start(session, ctx) || pmu_program_run(program, ctx, emul, &end) ||
	    pmu_session_stop(session, ctx) || pmu_session_read(session, ctx, &counts, &count))
		return failed(ctx);
	for (size_t i = 0; i < count; i++)
		lines[counts[i].event] += counts[i].count;
	printf("read %" PRIu64 " bytes, written %" PRIu64 " bytes, in %.6f s on %s\n",
	       lines[0] * LINE_BYTES, lines[1] * LINE_BYTES, pmu_emul_time_ns(emul) * 1e-9,
	       pmu_machine_title(machine));
	pmu_program_free(program);
	pmu_session_free(session);
	pmu_bus_free(bus);
	pmu_emul_free(emul);
	pmu_ctx_free(ctx);
	return end.exit;
}
