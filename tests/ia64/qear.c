/*
 * usage: qear PROGRAM
 * Has the first core of an Itanium 9300 measure each read of data. Prints how many it measured, how
 * many reads there were, and what the last one left in the registers.
 */
#include <pmulab/emul.h>
#include <pmulab/program.h>
#include <pmulab/session.h>

#include <inttypes.h>
#include <stdio.h>

#define CPE0	0x8000u /* 323602-001 table 5-4 */
#define CONTROL 0x110u
#define READS	(0x1u | 0x2u | 1u << 3 | 2u << 6) /* en, lfsr_msk, mc HOM, op RdData */

static int access_register(struct pmu_ctx *ctx, struct pmu_bus *bus, uint32_t offset, bool write,
			   uint64_t *value)
{
	struct pmu_access_op op = {.space = PMU_SPACE_MMIO,
				   .width = 32,
				   .address = CPE0 + offset,
				   .value = *value,
				   .reg = "CPE_CSR_QEAR"};
	int error = write ? pmu_bus_write(bus, ctx, &op) : pmu_bus_read(bus, ctx, &op);

	*value = op.value;
	return error;
}

static int add(struct pmu_ctx *ctx, struct pmu_bus *bus, struct pmu_session *session,
	       const char *event)
{
	struct pmu_selection selection;

	return pmu_event_parse(ctx, pmu_bus_pmu(bus), event, &selection) ||
	       pmu_session_add(session, ctx, &selection) < 0;
}

static int print_counts(struct pmu_ctx *ctx, struct pmu_session *session)
{
	const struct pmu_count *counts;
	uint64_t sums[2] = {0, 0};
	size_t count;

	if (pmu_session_read(session, ctx, &counts, &count))
		return -1;
	for (size_t i = 0; i < count; i++)
		sums[counts[i].event] += counts[i].count;
	printf("%" PRIu64 " %" PRIu64, sums[0], sums[1]);
	return 0;
}

static int run(struct pmu_ctx *ctx, char **argv)
{
	static const uint32_t offsets[] = {0x100, 0x108, CONTROL};
	const struct pmu_machine *machine = pmu_find_machine("itanium-9300-1s");
	struct pmu_program_result result = {.size = sizeof(result)};
	struct pmu_program *program;
	struct pmu_session *session;
	struct pmu_emul *emul;
	struct pmu_bus *bus;
	uint64_t value = READS;

	if (pmu_emul_new(&emul, ctx, machine) || pmu_emul_bus(&bus, ctx, emul) ||
	    pmu_session_new(&session, ctx, bus) || add(ctx, bus, session, "CPE_CPP_MISC.CEAR") ||
	    add(ctx, bus, session, "ER_READS.CACHEABLE_LOADS") ||
	    pmu_program_new(&program, ctx, machine, argv, NULL) ||
	    access_register(ctx, bus, CONTROL, true, &value) || pmu_session_start(session, ctx) ||
	    pmu_program_run(program, ctx, emul, &result) || pmu_session_stop(session, ctx) ||
	    print_counts(ctx, session))
		return -1;
	for (unsigned i = 0; i < 3; i++) {
		if (access_register(ctx, bus, offsets[i], false, &value))
			return -1;
		printf(" %#" PRIx64, value);
	}
	printf("\n");
	pmu_program_free(program);
	pmu_session_free(session);
	pmu_bus_free(bus);
	pmu_emul_free(emul);
	return 0;
}

int main(int argc, char **argv)
{
	struct pmu_ctx *ctx;

	if (argc < 2 || pmu_ctx_new(&ctx))
		return 2;
	if (run(ctx, argv + 1)) {
		fprintf(stderr, "qear: %s\n", pmu_message(ctx));
		return 1;
	}
	pmu_ctx_free(ctx);
	return 0;
}
