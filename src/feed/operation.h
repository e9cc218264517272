/* What an instruction's time depends on: its class, and the values that it reads and writes. */
#ifndef FEED_OPERATION_H
#define FEED_OPERATION_H

#include <Zydis/Zydis.h>

#include "machine/plan.h"
#include "machine/timing_ids.h"

/** enum machine_timing_id of each mnemonic; MACHINE_TIMING_OTHER where none is known. */
extern const uint8_t feed_timings[ZYDIS_MNEMONIC_MAX_VALUE + 1];

/** What instructions count as that compute with floating point: those of 256 bits as others do. */
struct feed_arithmetic {
	uint8_t count; /* 0: of any other */
	uint8_t kind;  /* enum machine_float */
};

extern const struct feed_arithmetic feed_arithmetic[ZYDIS_MNEMONIC_MAX_VALUE + 1];

/**
 * Fills in @op.
 * @param operands  all of the instruction's
 * @param loads     of memory, by one iteration
 * @param stores    of memory; one that locks is a store alone
 */
void feed_operation(struct machine_op *op, const ZydisDecodedInstruction *instruction,
		    const ZydisDecodedOperand *operands, unsigned loads, unsigned stores);

#endif
