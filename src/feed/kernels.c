#include "feed/kernels.h"

#include <string.h>

#define CODE_ADDRESS 0x400000
#define INSN_BYTES   4 /* a usual length; the loop is in one line of code */
#define ELEMENT	     8
#define LINE	     64

/* Data that nobody computes addresses with, at addresses that come from no load. */
static const struct machine_insn independent;
/* mov rax, [rax] */
static const struct machine_insn dependent = {.address_registers = 1, .loads_registers = 1};

static void run_load(struct machine_hart *core, const struct machine_block *block,
		     const struct feed_arrays *arrays)
{
	for (uint64_t i = 0; i < arrays->bytes; i += ELEMENT) {
		machine_run(core, block);
		machine_load(core, arrays->address + i, ELEMENT, &independent);
	}
}

static void run_store(struct machine_hart *core, const struct machine_block *block,
		      const struct feed_arrays *arrays)
{
	for (uint64_t i = 0; i < arrays->bytes; i += ELEMENT) {
		machine_run(core, block);
		machine_store(core, arrays->address + i, ELEMENT, &independent);
	}
}

static void run_stream(struct machine_hart *core, const struct machine_block *block,
		       const struct feed_arrays *arrays)
{
	for (uint64_t i = 0; i < arrays->bytes; i += ELEMENT) {
		machine_run(core, block);
		machine_store_nt(core, arrays->address + i, ELEMENT);
	}
}

static void run_copy(struct machine_hart *core, const struct machine_block *block,
		     const struct feed_arrays *arrays)
{
	uint64_t to = arrays->address + arrays->bytes;

	for (uint64_t i = 0; i < arrays->bytes; i += ELEMENT) {
		machine_run(core, block);
		machine_load(core, arrays->address + i, ELEMENT, &independent);
		machine_store(core, to + i, ELEMENT, &independent);
	}
}

static void run_update(struct machine_hart *core, const struct machine_block *block,
		       const struct feed_arrays *arrays)
{
	for (uint64_t i = 0; i < arrays->bytes; i += ELEMENT) {
		machine_run(core, block);
		machine_load(core, arrays->address + i, ELEMENT, &independent);
		machine_store(core, arrays->address + i, ELEMENT, &independent);
	}
}

static void run_triad(struct machine_hart *core, const struct machine_block *block,
		      const struct feed_arrays *arrays)
{
	uint64_t b = arrays->address, c = b + arrays->bytes, a = c + arrays->bytes;

	for (uint64_t i = 0; i < arrays->bytes; i += ELEMENT) {
		machine_run(core, block);
		machine_load(core, b + i, ELEMENT, &independent);
		machine_load(core, c + i, ELEMENT, &independent);
		machine_store(core, a + i, ELEMENT, &independent);
	}
}

/* A linear congruence of full period (Hull and Dobell) visits every line once, in disorder. */
static void run_chase(struct machine_hart *core, const struct machine_block *block,
		      const struct feed_arrays *arrays)
{
	uint64_t lines = arrays->bytes / LINE, line = 0;

	for (uint64_t i = 0; i < lines; i++) {
		machine_run(core, block);
		machine_load(core, arrays->address + line * LINE, ELEMENT, &dependent);
		line = (line * 1664525 + 1013904223) & (lines - 1);
	}
}

static void run_stride(struct machine_hart *core, const struct machine_block *block,
		       const struct feed_arrays *arrays)
{
	for (uint64_t i = 0; i < arrays->bytes; i += arrays->stride) {
		machine_run(core, block);
		machine_load(core, arrays->address + i, ELEMENT, &independent);
	}
}

/* clang-format off */
static const struct feed_kernel kernels[] = {
    {"load",   "sum of an array",               1, 3, 1, 0, 0, ELEMENT, run_load},
    {"store",  "an array is set",               1, 3, 0, 1, 0, ELEMENT, run_store},
    {"stream", "an array is set past the caches", 1, 3, 0, 0, 1, ELEMENT, run_stream},
    {"copy",   "b[i] = a[i]",                   2, 4, 1, 1, 0, ELEMENT, run_copy},
    {"update", "a[i] += x",                     1, 4, 1, 1, 0, ELEMENT, run_update},
    {"triad",  "a[i] = b[i] + x * c[i]",        3, 6, 2, 1, 0, ELEMENT, run_triad},
    {"chase",  "a pointer goes once to every line", 1, 3, 1, 0, 0, LINE, run_chase},
    {"stride", "one load every so many bytes",  1, 3, 1, 0, 0, 0,       run_stride},
};
/* clang-format on */

const struct feed_kernel *feed_kernels(size_t *count)
{
	*count = sizeof(kernels) / sizeof(kernels[0]);
	return kernels;
}

const struct feed_kernel *feed_kernel_find(const char *name)
{
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
		if (!strcmp(kernels[i].name, name))
			return &kernels[i];
	return NULL;
}

uint64_t feed_kernel_steps(const struct feed_kernel *kernel, const struct feed_arrays *arrays)
{
	uint64_t step = kernel->step_bytes ? kernel->step_bytes : arrays->stride;

	return (arrays->bytes + step - 1) / step;
}

void feed_kernel_run(const struct feed_kernel *kernel, const struct machine *machine,
		     struct machine_hart *core, const struct feed_arrays *arrays)
{
	struct machine_block block;

	machine_block_init(machine, &block, CODE_ADDRESS, INSN_BYTES * kernel->instructions,
			   kernel->instructions, kernel->loads, kernel->stores + kernel->streams);
	block.branches = 1; /* back to the loop's begin */
	kernel->run(core, &block, arrays);
}
