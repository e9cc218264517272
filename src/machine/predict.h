/*
 * Branch prediction. Nobody has published what these cores do. This is a small predictor of the
 * kind that is thought to be there: counters by address, and by address and two lengths of history
 * with tags, of which the longest that matches decides (Seznec's TAGE); targets by address and
 * history; a stack of returns.
 */
#ifndef MACHINE_PREDICT_H
#define MACHINE_PREDICT_H

#include <stdbool.h>
#include <stdint.h>

#define PREDICT_BASE	4096
#define PREDICT_TAGGED	2048
#define PREDICT_TARGETS 512
#define PREDICT_RETURNS 16

/* A counter of a history: not below 0 predicts that the jump is taken. */
struct predict_entry {
	uint8_t tag;
	int8_t counter; /* -4 to 3 */
	uint8_t useful; /* it was right last */
};

struct predict_target {
	uint32_t tag;
	uint64_t address;
};

/* Valid when zeroed. Of a hart. */
struct predictor {
	uint64_t history;	   /* of jumps, the last one lowest; 1: taken */
	int8_t base[PREDICT_BASE]; /* -2 to 1 */
	struct predict_entry near[PREDICT_TAGGED], far[PREDICT_TAGGED];
	struct predict_target targets[PREDICT_TARGETS];
	uint64_t returns[PREDICT_RETURNS];
	uint32_t calls; /* not returned from */
};

/** A number for a branch at an address. */
static inline uint32_t predict_hash(uint64_t address)
{
	return (uint32_t)((address * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

/** A conditional jump is executed. @return whether that was foreseen */
bool predict_conditional(struct predictor *predictor, uint32_t hash, bool taken);
/** A jump or call to an address that is computed. */
bool predict_indirect(struct predictor *predictor, uint32_t hash, uint64_t target);
/** A call; what follows it is at @next. */
void predict_call(struct predictor *predictor, uint64_t next);
bool predict_return(struct predictor *predictor, uint64_t target);

#endif
