/*
 * A tool that is written against the register files of an IA-64 processor. It counts the
 * instructions and the cycles of a program on the first core.
 *
 *     sudo pmulab emulate -M itanium-9300-1s -- ./registers PROGRAM
 */
#include <pmulab/registers.h>

#include <inttypes.h>
#include <stdio.h>

/* 323602-001 §3.3: at privilege level 3, in the IA-64 instruction set, lines in any state. */
#define COUNT(code) ((uint64_t)(code) << 8 | 1u << 3 | 2u << 24 | 0xFu << 27)
#define FREEZE	    1u /* PMC0.fr */

static const struct setting {
	uint32_t pmc;
	uint64_t value;
} settings[] = {
    {0, FREEZE},
    /* No address, encoding or data range is matched. */
    {32, 0x030F01FFFFFFFFFF},
    {36, 0},
    {38, 0xDB6},
    {41, 0x2078FEFEFEFE},
    {4, COUNT(0x08)}, /* IA64_INST_RETIRED */
    {5, COUNT(0x12)}, /* CPU_OP_CYCLES */
    {0, 0},
};
#define SETTINGS (sizeof(settings) / sizeof(settings[0]))

static int measure(struct pmu_ctx *ctx, struct pmu_registers *core, char **argv, int *exit)
{
	int error = 0;

	for (size_t i = 0; i < SETTINGS && !error; i++)
		error = pmu_registers_write(core, ctx, PMU_SPACE_PMC, settings[i].pmc,
					    settings[i].value);
	if (!error)
		error = pmu_registers_run(core, ctx, argv, exit);
	return error ? error : pmu_registers_write(core, ctx, PMU_SPACE_PMC, 0, FREEZE);
}

int main(int argc, char **argv)
{
	struct pmu_registers *core = NULL;
	struct pmu_ctx *ctx;
	uint64_t counts[2];
	int exit = 0, error;

	if (argc < 2 || pmu_ctx_new(&ctx))
		return 2;
	error = pmu_registers_open(&core, ctx, 0);
	if (!error)
		error = measure(ctx, core, argv + 1, &exit);
	for (unsigned i = 0; i < 2 && !error; i++)
		error = pmu_registers_read(core, ctx, PMU_SPACE_PMD, 4 + i, &counts[i]);
	if (error)
		fprintf(stderr, "registers: %s\n", pmu_message(ctx));
	else
		printf("exit code %d, %" PRIu64 " instructions, %" PRIu64 " cycles\n", exit,
		       counts[0], counts[1]);
	pmu_registers_close(core);
	pmu_ctx_free(ctx);
	return error != 0;
}
