/*
 * A tool that samples a program by the instruction EAR, as a driver of such a processor does: each
 * miss of the L1I overflows a counter, and the handler prints the line and the latency.
 *
 *     sudo pmulab emulate -M itanium-9300-1s -- ./instruction_ear PROGRAM
 */
#include <pmulab/registers.h>

#include <inttypes.h>
#include <stdio.h>

#define PERIOD	   1
#define NEXT	   ((UINT64_C(1) << 47) - PERIOD) /* 323602-001 table 3-6 */
#define USER	   (1u << 3)
#define INTERRUPTS (1u << 5) /* PMC.oi: interrupts, and freezes */
#define EAR_EVENTS (0x43u << 8 | 2u << 24 | 0xFu << 27 | INTERRUPTS | USER) /* table 3-5 */

static const struct setting {
	enum pmu_space space;
	uint32_t number;
	uint64_t value;
} settings[] = {
    {PMU_SPACE_PMC, 0, 1}, /* frozen */
    {PMU_SPACE_PMC, 38, 0xDB6},
    {PMU_SPACE_PMC, 41, 0x2078FEFEFEFE},
    {PMU_SPACE_PMC, 37, 2u << 12 | 0x40u << 5 | USER}, /* L1I misses of any latency: table 3-15 */
    {PMU_SPACE_PMC, 4, EAR_EVENTS},
    {PMU_SPACE_PMD, 4, NEXT},
    {PMU_SPACE_PMC, 0, 0},
};
#define SETTINGS (sizeof(settings) / sizeof(settings[0]))

static int handle(struct pmu_registers *cpu, struct pmu_ctx *ctx,
		  const struct pmu_registers_message *overflow)
{
	uint64_t line = 0, latency = 0;
	int error = pmu_registers_read(cpu, ctx, PMU_SPACE_PMD, 34, &line);

	if (!error)
		error = pmu_registers_read(cpu, ctx, PMU_SPACE_PMD, 35, &latency);
	printf("thread %" PRIu32 " pmds 0x%" PRIx64 " ip 0x%" PRIx64 " line 0x%" PRIx64
	       " latency %" PRIu64 "\n",
	       overflow->thread, overflow->overflowed, overflow->ip, line & ~UINT64_C(31),
	       latency & 0xFFF);
	if (!error)
		error = pmu_registers_write(cpu, ctx, PMU_SPACE_PMD, 4, NEXT);
	if (!error) /* what overflowed, and the freeze */
		error = pmu_registers_write(cpu, ctx, PMU_SPACE_PMC, 0, 0);
	return error ? error : pmu_registers_resume(cpu, ctx);
}

int main(int argc, char **argv)
{
	struct pmu_registers_message message = {.size = sizeof(message),
						.kind = PMU_REGISTERS_OVERFLOWED};
	struct pmu_registers *cpu = NULL;
	struct pmu_ctx *ctx;
	int error;

	if (argc < 2 || pmu_ctx_new(&ctx))
		return 2;
	error = pmu_registers_open(&cpu, ctx, 0);
	for (size_t i = 0; i < SETTINGS && !error; i++)
		error = pmu_registers_write(cpu, ctx, settings[i].space, settings[i].number,
					    settings[i].value);
	if (!error)
		error = pmu_registers_start(cpu, ctx, argv + 1);
	while (!error && message.kind != PMU_REGISTERS_ENDED) {
		error = pmu_registers_wait(cpu, ctx, &message);
		if (!error && message.kind == PMU_REGISTERS_OVERFLOWED)
			error = handle(cpu, ctx, &message);
	}
	if (error)
		fprintf(stderr, "instruction_ear: %s\n", pmu_message(ctx));
	else
		printf("exit code %d\n", message.exit);
	pmu_registers_close(cpu);
	pmu_ctx_free(ctx);
	return error != 0;
}
