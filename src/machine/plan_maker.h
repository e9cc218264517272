/* Values of a block on their way through its instructions: what plans are made of. */
#ifndef MACHINE_PLAN_MAKER_H
#define MACHINE_PLAN_MAKER_H

#include <stddef.h>

#include "machine/op.h"
#include "machine/spread.h"

#define PLAN_FROM_BEGIN	 PLAN_VALUES /* source: the block's begin */
#define PLAN_SOURCES	 (PLAN_VALUES + 1)
#define PLAN_OTHER_FLAGS PLAN_VALUES /* value: flags without the carry */
#define PLAN_ARRIVALS	 (PLAN_VALUES + 1)
#define PLAN_NEVER	 (-0x40000000) /* anything is later */
#define PLAN_STORES_MAX	 32	       /* that later loads are compared with */

/* When a value is there: cycles after each of its sources. */
struct plan_arrival {
	int32_t after[PLAN_SOURCES];
};

/* An address of the block: its registers as they were at the begin, or after so many writes. */
struct plan_place {
	struct machine_op_address operand;
	uint16_t base_version, index_version;
};

struct plan_stored {
	struct plan_place place;
	struct plan_arrival data;
};

struct plan_maker {
	const struct machine_uarch *uarch;
	uint32_t slots, uops, eliminated;
	uint32_t written;   /* bit: value */
	bool forwards;	    /* loads wait for stores of the same address, */
	uint32_t forwarded; /* and so many did */
	int32_t load_begin,
	    load_end; /* cycles: the first is issued, the last ends; 0: there is none */
	struct plan_arrival values[PLAN_ARRIVALS];
	uint16_t versions[PLAN_LANES];
	int32_t steps[PLAN_LANES]; /* that a register of this version has been moved */
	struct plan_stored stores[PLAN_STORES_MAX];
	uint32_t stored;
	uint8_t resolver; /* of the last flags */
	struct spread ports;
	uint32_t loading, storing; /* units that data keep ports without a micro-operation */
};

/** At the begin of a block. */
void plan_begin(struct plan_maker *maker, const struct machine_uarch *uarch);
/** Through all of a block, or once more. */
void plan_follow(struct plan_maker *maker, const struct machine_op *const *ops, size_t count);
/** Micro-operations that the instruction @i is issued as; 0: the jump behind it has them. */
uint32_t plan_slots(const struct machine_uarch *uarch, const struct machine_op *const *ops,
		    size_t i, size_t count);
/** The latest arrival of a value, or of data to be stored, after the block's begin, if all values
 * are there then. */
int plan_latest(const struct plan_maker *maker);

#endif
