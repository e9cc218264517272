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

#include "machine/uarch.h"

/* At most. */
#define PREDICT_BASE	4096
#define PREDICT_TAGGED	2048
#define PREDICT_TARGETS 512
#define PREDICT_RETURNS 16

#define PREDICT_MIX UINT64_C(0xd6e8feb86659fd93)

/* A counter of a history: not below 0 predicts that the jump is taken. */
struct predict_entry {
	uint8_t tag;
	int8_t counter; /* -4 to 3; -1 and 0 are given up for another history */
};

struct predict_target {
	uint32_t tag;
	uint64_t address;
};

/* Of a hart. */
struct predictor {
	uint64_t history;		/* of jumps, the last one lowest; 1: taken */
	uint64_t near_jumps, far_jumps; /* bits of it */
	/* Entries that there are, less one; of those with tags, bits of a mix beyond the index. */
	uint32_t base_mask, target_mask, return_mask, tagged_shift;
	int8_t base[PREDICT_BASE]; /* -2 to 1 */
	struct predict_entry near[PREDICT_TAGGED], far[PREDICT_TAGGED];
	struct predict_target targets[PREDICT_TARGETS];
	uint64_t returns[PREDICT_RETURNS];
	uint32_t calls; /* not returned from */
};

/** For one that is zeroed. */
void predict_init(struct predictor *predictor, const struct machine_uarch *uarch);

/** A number for a branch at an address. */
static inline uint32_t predict_hash(uint64_t address)
{
	return (uint32_t)((address * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

/** A conditional jump is executed. @return whether that was foreseen; if not, see predict_learn()
 */
static inline bool predict_conditional(struct predictor *predictor, uint32_t hash, bool taken);
/** The conditional jump executed last was not foreseen: it is kept with a longer history. */
void predict_learn(struct predictor *predictor, uint32_t hash);
/** A jump or call to an address that is computed. */
bool predict_indirect(struct predictor *predictor, uint32_t hash, uint64_t target);
/** A call; what follows it is at @next. */
void predict_call(struct predictor *predictor, uint64_t next);
bool predict_return(struct predictor *predictor, uint64_t target);

/* Where a history is kept, and what tells it from others there. */
struct predict_key {
	uint32_t index;
	uint8_t tag;
};

/* An index is the highest bits of the mix. */
static inline struct predict_key predict_key_of(const struct predictor *predictor, uint64_t history,
						uint32_t hash)
{
	const uint64_t mixed = (history + hash) * PREDICT_MIX;

	return (struct predict_key){(uint32_t)(mixed >> predictor->tagged_shift),
				    (uint8_t)(mixed >> 40)};
}

/* @return whether the counter predicted it */
static inline bool predict_count(int8_t *counter, bool taken, int least, int most)
{
	const int before = *counter, after = before + (taken ? 1 : -1);

	*counter = (int8_t)(after < least ? least : after > most ? most : after);
	return (before >= 0) == taken;
}

static inline struct predict_key predict_near(const struct predictor *predictor, uint64_t history,
					      uint32_t hash)
{
	return predict_key_of(predictor, history & predictor->near_jumps, hash);
}

static inline struct predict_key predict_far(const struct predictor *predictor, uint64_t history,
					     uint32_t hash)
{
	return predict_key_of(predictor, history & predictor->far_jumps, ~hash);
}

static inline bool predict_conditional(struct predictor *predictor, uint32_t hash, bool taken)
{
	const uint64_t history = predictor->history;
	struct predict_key key = predict_far(predictor, history, hash);
	struct predict_entry *entry = &predictor->far[key.index];

	predictor->history = history << 1 | taken;
	if (entry->tag == key.tag)
		return predict_count(&entry->counter, taken, -4, 3);
	key = predict_near(predictor, history, hash);
	entry = &predictor->near[key.index];
	return entry->tag == key.tag
		   ? predict_count(&entry->counter, taken, -4, 3)
		   : predict_count(&predictor->base[hash & predictor->base_mask], taken, -2, 1);
}

#endif
