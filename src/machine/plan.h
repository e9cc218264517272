/*
 * Plans: what a block of straight-line code costs an out-of-order core, computed once when the
 * block is translated. What it costs each time it runs is in issue.c.
 *
 * A plan maps the times at which the values of registers are there when the block begins on those
 * when it ends: each is the latest of sums of a time before and of a latency (max-plus algebra).
 * Times are lags: cycles after the core takes instructions in, 0 for a value that is there already.
 */
#ifndef MACHINE_PLAN_H
#define MACHINE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/access.h"
#include "machine/op.h"
#include "machine/plan_front.h"

#define PLAN_INSN_BYTES_MAX 15
#define PLAN_WINDOWS_MAX    (PLAN_OPS_MAX * PLAN_INSN_BYTES_MAX / FRONT_WINDOW + 2)
#define PLAN_BIAS	    127 /* that latencies in a plan are more than they are */
#define PLAN_OPS_MAX	    512
#define PLAN_ALIGNMENT	    64

#define PLAN_FROM_MOST 6 /* rows whose values stand before them */

/* Bits: what few blocks have. */
enum plan_special {
	PLAN_BOTH_HALVES = 1, /* rows are of general and of vector registers */
	PLAN_CARRIES = 2,     /* struct machine_plan.carried is not 0 */
	PLAN_MANY_ROWS = 4,   /* more than PLAN_FROM_MOST */
	PLAN_FENCES = 8,      /* it waits for all accesses before it */
	PLAN_LOOPS = 16,      /* the loop buffer has room for it, and it may follow itself */
	PLAN_SEQUENCES = 32,  /* it has instructions that are microcoded */
};

/* Constants of a block for issue.c. Of variable length, and most often two lines of the host. */
struct machine_plan {
	uint64_t address;	      /* virtual, of the block's first byte */
	struct machine_block_end end; /* how it ends */
	uint32_t ticks;		      /* that the block takes when nothing waits */
	uint32_t units;		      /* ticks in units of UARCH_CYCLE */
	/* In the order in which struct machine_progress has them. */
	uint16_t instructions;
	uint16_t slots; /* micro-operations issued; fused ones are one */
	uint16_t uops;	/* executed */
	uint16_t branches;
	uint32_t carried; /* ticks more where it follows itself, through memory or for its jump */
	uint16_t bytes;
	uint8_t special; /* enum plan_special */
	uint8_t rest;	 /* units that the lags in the plan leave out */
	uint8_t row_count;
	uint8_t kept; /* a row's entry of a value that the block does not write, for itself */
	uint8_t from[PLAN_FROM_MOST]; /* value of each row; of more rows all stand after these */
	/* What the block books of each port, less what passes meanwhile: units. */
	_Alignas(16) int16_t booked[UARCH_PORTS];
	/*
	 * Vectors of PLAN_LANES, PLAN_BIAS more than they are; 0: no such path. First what a value
	 * is at least, which is 0 where the block does not write it; then the rows. After them
	 * struct machine_plan_front.
	 */
	uint8_t rows[];
};

_Static_assert(offsetof(struct machine_plan, rows) == PLAN_ALIGNMENT, "a line, then rows");

#define MACHINE_PLAN_BYTES_MAX                                                                     \
	(sizeof(struct machine_plan) + (size_t)(1 + PLAN_VALUES) * PLAN_VALUES + PLAN_VALUES +     \
	 sizeof(struct machine_plan_front) +                                                       \
	 PLAN_WINDOWS_MAX * sizeof(struct machine_plan_window))

/**
 * Finds which loads decide where the block's branch goes.
 * @param decides  receives it for each of @ops
 * @return general registers from before the block that do, as bits
 */
uint16_t machine_plan_deciders(const struct machine_op *const *ops, size_t count, bool *decides);

/** Behind the rows: bytes from the plan's begin. */
static inline size_t machine_plan_front_at(const struct machine_plan *plan)
{
	const size_t stride = plan->special & PLAN_BOTH_HALVES ? PLAN_VALUES : PLAN_LANES;

	return offsetof(struct machine_plan, rows) + (1 + (size_t)plan->row_count) * stride +
	       (plan->special & PLAN_MANY_ROWS ? PLAN_VALUES : 0);
}

static inline const struct machine_plan_front *machine_plan_front(const struct machine_plan *plan)
{
	return (const void *)((const uint8_t *)plan + machine_plan_front_at(plan));
}

/** Whether the machine's cores need plans. */
bool machine_plans(const struct machine *machine);

/**
 * Makes a plan.
 * @param plan   room for MACHINE_PLAN_BYTES_MAX; aligned to PLAN_ALIGNMENT it touches the
 *               fewest lines of the host
 * @param block  of the instructions
 * @param ops    at most PLAN_OPS_MAX
 * @return its bytes
 */
size_t machine_plan_make(struct machine_plan *plan, const struct machine *machine,
			 const struct machine_block *block, const struct machine_op *const *ops,
			 size_t count);

/** Limits of lags: cycles that values, and that ports, may be behind the instructions taken in. */
uint32_t machine_plan_lag_most(const struct machine *machine);
uint32_t machine_plan_port_most(const struct machine *machine);

/** As machine_run(), by a plan. */
void machine_run_planned(struct machine_hart *core, const struct machine_plan *plan);

#endif
