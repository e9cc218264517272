#include "machine/predict.h"

#define NEAR_MASK ((UINT64_C(1) << 12) - 1)
#define FAR_MASK  ((UINT64_C(1) << 44) - 1)
#define MIX	  UINT64_C(0xd6e8feb86659fd93)

/* Where a history is kept, and what tells it from others there. */
struct key {
	uint32_t index;
	uint8_t tag;
};

static struct key key_of(uint64_t history, uint32_t hash)
{
	const uint64_t mixed = (history + hash) * MIX;

	return (struct key){(uint32_t)(mixed >> 40) % PREDICT_TAGGED, (uint8_t)(mixed >> 32)};
}

static void count(int8_t *counter, bool taken, int least, int most)
{
	if (taken && *counter < most)
		++*counter;
	else if (!taken && *counter > least)
		--*counter;
}

static bool is_of(const struct predict_entry *entry, struct key key)
{
	return entry->tag == key.tag;
}

/* @return whether there was room for a history that foresees better */
static bool allocate(struct predict_entry *entry, struct key key, bool taken)
{
	if (entry->useful) {
		entry->useful = 0;
		return false;
	}
	*entry = (struct predict_entry){.tag = key.tag, .counter = taken ? 0 : -1};
	return true;
}

static bool use(struct predict_entry *entry, bool taken)
{
	const bool right = (entry->counter >= 0) == taken;

	entry->useful = right;
	count(&entry->counter, taken, -4, 3);
	return right;
}

static bool use_base(struct predictor *predictor, uint32_t hash, bool taken)
{
	int8_t *counter = &predictor->base[hash % PREDICT_BASE];
	const bool right = (*counter >= 0) == taken;

	count(counter, taken, -2, 1);
	return right;
}

bool predict_conditional(struct predictor *predictor, uint32_t hash, bool taken)
{
	const struct key near_key = key_of(predictor->history & NEAR_MASK, hash);
	const struct key far_key = key_of(predictor->history & FAR_MASK, ~hash);
	struct predict_entry *near = &predictor->near[near_key.index];
	struct predict_entry *far = &predictor->far[far_key.index];
	bool right;

	predictor->history = predictor->history << 1 | taken;
	if (is_of(far, far_key))
		return use(far, taken);
	if (is_of(near, near_key)) {
		right = use(near, taken);
		if (!right)
			allocate(far, far_key, taken);
		return right;
	}
	right = use_base(predictor, hash, taken);
	if (!right && !allocate(near, near_key, taken))
		allocate(far, far_key, taken);
	return right;
}

static struct predict_target *target_of(struct predictor *predictor, uint32_t hash)
{
	return &predictor->targets[hash % PREDICT_TARGETS];
}

/* With its history, or else as it went last. */
bool predict_indirect(struct predictor *predictor, uint32_t hash, uint64_t target)
{
	const uint32_t mixed = hash ^ (uint32_t)((predictor->history & NEAR_MASK) * MIX >> 32);
	struct predict_target *last = target_of(predictor, hash);
	struct predict_target *exact = target_of(predictor, mixed);
	const bool known = exact->tag == mixed;
	const bool right =
	    known ? exact->address == target : last->tag == hash && last->address == target;

	if (known || !right)
		*exact = (struct predict_target){mixed, target};
	*last = (struct predict_target){hash, target};
	predictor->history = predictor->history << 3 ^ target >> 2;
	return right;
}

void predict_call(struct predictor *predictor, uint64_t next)
{
	predictor->returns[predictor->calls++ % PREDICT_RETURNS] = next;
}

bool predict_return(struct predictor *predictor, uint64_t target)
{
	return predictor->returns[--predictor->calls % PREDICT_RETURNS] == target;
}
