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
#include "machine/uarch.h"

/*
 * Values that instructions pass on: general registers by their number, vector registers from 16 on.
 * The stack pointer's place is the flags': its own value never waits.
 */
#define PLAN_FLAGS	    4
#define PLAN_VECTORS	    16
#define PLAN_VALUES	    32
#define PLAN_LANES	    16	/* values of a half */
#define PLAN_AT_ONCE	    32	/* for a value: the branch waits for none, */
#define PLAN_LOADED	    33	/* or for what it loads itself */
#define PLAN_BIAS	    127 /* that latencies in a plan are more than they are */
#define PLAN_OPS_MAX	    512
#define PLAN_ALIGNMENT	    64
#define PLAN_ADDRESS_NONE   0xff /* base or index: no register */
#define PLAN_STEP_UNKNOWN   INT32_MIN
#define PLAN_ADDRESS_LITTLE 2048 /* bytes: a smaller displacement makes a simple address */

/* What ends a block. */
enum machine_branch {
	MACHINE_BRANCH_NONE,
	MACHINE_BRANCH_CONDITIONAL,
	MACHINE_BRANCH_JUMP,
	MACHINE_BRANCH_JUMP_INDIRECT,
	MACHINE_BRANCH_CALL,
	MACHINE_BRANCH_CALL_INDIRECT,
	MACHINE_BRANCH_RETURN,
	MACHINE_BRANCH_SYSTEM, /* to the system, which does not count as jumping */
};

/* An address as its instruction writes it; two that are equal, of unchanged registers, meet. */
struct machine_op_address {
	uint8_t base, index; /* general registers, or PLAN_ADDRESS_NONE */
	uint8_t scale;
	uint8_t bytes; /* of the operand; 0: the address is none that can be told from others */
	int32_t displacement;
};

/* An instruction, as far as its time depends on it. */
struct machine_op {
	uint8_t timing; /* enum machine_timing_id */
	uint8_t branch; /* enum machine_branch */
	uint8_t loads, stores;
	bool pure;		     /* it moves from or to memory, and computes nothing */
	bool vector_load, wide_load; /* into a vector register; of 256 bits */
	uint8_t fuses;		     /* with a jump that follows, on cores of this struct
					machine_uarch.fusion; 0: on none */
	bool reads_flags;	     /* the carry, */
	bool reads_others;	     /* or others, which have no place outside of the block */
	bool writes_flags, writes_others;
	uint32_t reads, writes; /* bit: value */
	uint16_t address;	/* bit: general register that forms an address of its accesses */
	struct machine_op_address operand;
	int8_t stepped; /* a register to which it adds `step`; negative: none */
	int32_t step;	/* bytes, or PLAN_STEP_UNKNOWN */
	int32_t target; /* of a direct branch: bytes from the end of the instruction */
};

#define PLAN_FROM_MOST 7 /* rows whose values stand before them */

/* Constants of a block for issue.c. Of variable length, and most often two lines of the host. */
struct machine_plan {
	uint64_t address; /* virtual, of the block's first byte */
	uint32_t ticks;	  /* that the block takes when nothing waits */
	uint32_t units;	  /* ticks in units of UARCH_CYCLE */
	uint32_t carried; /* ticks more where it follows itself, through memory or for its jump */
	uint16_t bytes, instructions;
	uint16_t slots; /* micro-operations issued; fused ones are one */
	uint16_t uops;	/* executed */
	uint8_t branches;
	uint8_t rest; /* units that the lags in the plan leave out */
	uint8_t row_count;
	bool vectors; /* rows have both halves */
	struct machine_block_end end;
	uint8_t kept; /* a row's entry of a value that the block does not write, for itself */
	uint8_t from[PLAN_FROM_MOST]; /* value of each row; of more rows all stand after these */
	/* What the block books of each port, less what passes meanwhile: units. */
	_Alignas(16) int16_t booked[UARCH_PORTS];
	/*
	 * Vectors of PLAN_LANES, PLAN_BIAS more than they are; 0: no such path. First what a value
	 * is at least, which is 0 where the block does not write it; then the rows.
	 */
	uint8_t rows[];
};

_Static_assert(offsetof(struct machine_plan, rows) == PLAN_ALIGNMENT, "a line, then rows");

#define MACHINE_PLAN_BYTES_MAX                                                                     \
	(sizeof(struct machine_plan) + (size_t)(1 + PLAN_VALUES) * PLAN_VALUES + PLAN_VALUES)

/**
 * Finds which loads decide where the block's branch goes.
 * @param decides  receives it for each of @ops
 * @return general registers from before the block that do, as bits
 */
uint16_t machine_plan_deciders(const struct machine_op *const *ops, size_t count, bool *decides);

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
