/*
 * Programs without a program: loops that drive a core directly, whose traffic is known beforehand.
 * For tests and benchmarks.
 */
#ifndef FEED_KERNELS_H
#define FEED_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "machine/access.h"

/* What a kernel works on: arrays one after the other. */
struct feed_arrays {
	uint64_t address; /* virtual, of the first one, multiple of 64 */
	uint64_t bytes;	  /* of each, multiple of 64; a power of two for "chase" */
	uint64_t stride;  /* bytes from one step to the next, for "stride" only */
};

struct feed_kernel {
	const char *name;
	const char *title;
	uint8_t arrays;
	uint8_t instructions, loads, stores, streams; /* a step */
	uint8_t step_bytes;			      /* of each array; 0: the stride */
	void (*run)(struct machine_hart *core, const struct machine_block *block,
		    const struct feed_arrays *arrays);
};

const struct feed_kernel *feed_kernels(size_t *count);
/** NULL where there is none of that name. */
const struct feed_kernel *feed_kernel_find(const char *name);

/** Steps of one pass over the arrays. */
uint64_t feed_kernel_steps(const struct feed_kernel *kernel, const struct feed_arrays *arrays);
/** One pass over the arrays. */
void feed_kernel_run(const struct feed_kernel *kernel, const struct machine *machine,
		     struct machine_hart *core, const struct feed_arrays *arrays);

#endif
