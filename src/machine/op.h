/* Instructions and branches, as far as the time of an out-of-order core depends on them. */
#ifndef MACHINE_OP_H
#define MACHINE_OP_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/uarch.h"

/*
 * Values that instructions pass on: general registers by their number, vector registers from 16 on.
 * The stack pointer's place is the flags': its own value never waits.
 */
#define PLAN_FLAGS	    4
#define PLAN_VECTORS	    16
#define PLAN_VALUES	    32
#define PLAN_LANES	    16	 /* values of a half */
#define PLAN_AT_ONCE	    32	 /* for a value: the branch waits for none, */
#define PLAN_LOADED	    33	 /* or for what it loads itself */
#define PLAN_ADDRESS_NONE   0xff /* base or index: no register */
#define PLAN_STEP_UNKNOWN   INT32_MIN
#define PLAN_ADDRESS_LITTLE 2048 /* bytes: a smaller displacement makes a simple address */

/* An address as its instruction writes it; two that are equal, of unchanged registers, meet. */
struct machine_op_address {
	uint8_t base, index; /* general registers, or PLAN_ADDRESS_NONE */
	uint8_t scale;
	uint8_t bytes; /* of the operand; 0: the address is none that can be told from others */
	int32_t displacement;
};

/* An instruction, as far as its time depends on it. */
struct machine_op {
	uint8_t timing;	     /* enum machine_timing_id */
	uint8_t branch;	     /* enum machine_branch */
	uint8_t length;	     /* bytes */
	bool length_prefix;  /* a prefix changes the length of what follows it */
	bool wide_immediate; /* of 64 bits */
	uint8_t loads, stores;
	uint8_t floats;	    /* times that it is counted as what computes with floating point, */
	uint8_t float_kind; /* as which: enum machine_float */
	bool pure;	    /* it moves from or to memory, and computes nothing */
	bool vector_load, wide_load; /* into a vector register; of 256 bits */
	bool wide_access;	     /* its accesses are of more than 16 bytes */
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

#endif
