/*
 * Loops of instructions beside the published times of their classes: decoded, planned and run as
 * feeds do it, all accesses hitting L1.
 *
 *     test_feed_loops [FILE]
 *
 * Prints a table, or looks whether FILE has it.
 */
#include "feed/block.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "machine/issue.h"

#define ROUNDS	      4000
#define WARM_UP	      400
#define PERCENT_MOST  10
#define BLOCKS_MAX    8
#define ADDRESS	      0x400000
#define ROW_MAX	      256
#define DOCUMENT_MAX  (1 << 20)
#define MACHINE_OF(s) "{\"base\": \"xeon-e5v4-4c\", \"name\": \"loops\", \"uarch\": \"" s "\"}"

struct loop {
	const char *core, *name, *source;
	const uint8_t *begin, *end;
	uint32_t hundredths; /* cycles of a published round */
	uint32_t rounds;     /* of those in the loop */
};

extern const struct loop loops[];

/* The code of a loop, as blocks that follow each other. */
struct code {
	struct machine_plan *plans[BLOCKS_MAX];
	unsigned count;
};

static void refuse(const struct loop *loop)
{
	fprintf(stderr, "%s: not decoded\n", loop->name);
	exit(EXIT_FAILURE);
}

static struct machine_plan *plan_of(const struct machine *machine, uint64_t address,
				    const struct feed_insn *insns, size_t count)
{
	_Alignas(struct feed_block) char memory[FEED_BLOCK_SIZE_MAX(PLAN_OPS_MAX)];
	struct machine_plan *plan = aligned_alloc(64, (MACHINE_PLAN_BYTES_MAX + 63) / 64 * 64);
	struct feed_block *block = (struct feed_block *)memory;

	if (!plan)
		return NULL;
	feed_block_init(block, machine, address, insns, count);
	feed_block_plan(plan, machine, block, insns, count);
	return plan;
}

static struct code code_of(const struct machine *machine, const struct loop *loop)
{
	struct feed_insn insns[PLAN_OPS_MAX];
	struct feed_decoder decoder;
	struct code code = {.count = 0};
	const uint8_t *at = loop->begin;

	feed_decoder_init(&decoder);
	while (at < loop->end && code.count < BLOCKS_MAX) {
		const uint64_t address = ADDRESS + (uint64_t)(at - loop->begin);
		size_t count = 0;

		for (; at < loop->end && count < PLAN_OPS_MAX; at += insns[count++].length)
			if (!feed_decode(&decoder, at, (size_t)(loop->end - at), &insns[count]))
				refuse(loop);
		code.plans[code.count++] = plan_of(machine, address, insns, count);
		if (!code.plans[code.count - 1])
			refuse(loop);
	}
	if (at != loop->end)
		refuse(loop);
	return code;
}

/* Cycles of a round that is published. */
static double measure(struct machine *machine, struct machine_address_space *space,
		      const struct loop *loop)
{
	const struct code code = code_of(machine, loop);
	struct machine_hart *core = machine_hart_enter(machine, space, 0);
	uint64_t begin = 0;

	for (int i = 0; i < ROUNDS + WARM_UP; i++) {
		if (i == WARM_UP)
			begin = machine_hart_time(core);
		for (unsigned n = 0; n < code.count; n++)
			machine_run_planned(core, code.plans[n]);
	}
	begin = machine_hart_time(core) - begin;
	machine_hart_leave(core);
	for (unsigned n = 0; n < code.count; n++)
		free(code.plans[n]);
	return (double)begin / (double)machine->core_ticks / ROUNDS / loop->rounds;
}

static bool is_near(double cycles, double published)
{
	return cycles <= published * (1 + PERCENT_MOST / 100.0) &&
	       cycles >= published * (1 - PERCENT_MOST / 100.0);
}

static void *must(void *pointer)
{
	if (!pointer) {
		fprintf(stderr, "out of memory\n");
		exit(EXIT_FAILURE);
	}
	return pointer;
}

/* Prints what was measured, or looks for it in a document. @return whether it is there */
static bool tell(const struct loop *loop, double published, double cycles, const char *document)
{
	char row[ROW_MAX];

	snprintf(row, sizeof(row), "| %s | %s | %.2f | %.2f | %s |\n", loop->core, loop->name,
		 published, cycles, loop->source);
	if (!document) {
		printf("%s", row);
		return true;
	}
	if (strstr(document, row))
		return true;
	fprintf(stderr, "not in the document: %s", row);
	return false;
}

/* @return how many loops of the core are far from what is published, or told otherwise */
static int measure_core(struct pmu_ctx *ctx, const char *core, const char *document)
{
	struct pmu_machine *desc;
	struct machine_address_space *space;
	struct machine *machine;
	char text[128];
	size_t size;
	void *state;
	int far = 0;

	snprintf(text, sizeof(text), MACHINE_OF("%s"), core);
	if (pmu_machine_parse(&desc, ctx, text, strlen(text), "loops"))
		return 1;
	size = (machine_state_size(desc) + 63) / 64 * 64;
	state = must(aligned_alloc(64, size));
	memset(state, 0, size);
	if (machine_open(&machine, ctx, desc, state, true) ||
	    machine_address_space_new(&space, machine))
		exit(EXIT_FAILURE);
	for (const struct loop *loop = loops; loop->name; loop++) {
		const double published = loop->hundredths / 100.0;
		double cycles;

		if (strcmp(loop->core, core) != 0)
			continue;
		cycles = measure(machine, space, loop);
		if (!tell(loop, published, cycles, document))
			far++;
		if (is_near(cycles, published))
			continue;
		fprintf(stderr, "%s on %s: %.3f cycles, not %.2f (%s)\n", loop->name, core, cycles,
			published, loop->source);
		far++;
	}
	machine_address_space_free(space);
	machine_close(machine);
	free(state);
	pmu_machine_free(desc);
	return far;
}

static const char *const cores[] = {"broadwell", "sandybridge", "nehalem"};
#define CORES (sizeof(cores) / sizeof(cores[0]))

static size_t count_rows(const char *document)
{
	char begin[ROW_MAX];
	size_t count = 0;

	for (size_t i = 0; i < CORES; i++) {
		const char *at = document;

		snprintf(begin, sizeof(begin), "\n| %s |", cores[i]);
		for (; (at = strstr(at, begin)); at++)
			count++;
	}
	return count;
}

static size_t count_loops(void)
{
	size_t count = 0;

	while (loops[count].name)
		count++;
	return count;
}

int main(int argc, char **argv)
{
	struct pmu_ctx *ctx;
	char *document = NULL;
	int far = 0;

	if (pmu_ctx_new(&ctx))
		return EXIT_FAILURE;
	if (argc > 1 && file_read(ctx, argv[1], DOCUMENT_MAX, &document, NULL)) {
		fprintf(stderr, "%s\n", pmu_message(ctx));
		return EXIT_FAILURE;
	}
	for (size_t i = 0; i < CORES; i++)
		far += measure_core(ctx, cores[i], document);
	if (document && count_rows(document) != count_loops()) {
		fprintf(stderr, "%s has %zu rows of %zu loops\n", argv[1], count_rows(document),
			count_loops());
		far++;
	}
	free(document);
	pmu_ctx_free(ctx);
	return far ? EXIT_FAILURE : EXIT_SUCCESS;
}
