#include "machine/predict.h"

void predict_init(struct predictor *predictor, const struct machine_uarch *uarch)
{
	predictor->near_jumps = (UINT64_C(1) << uarch->predict_near) - 1;
	predictor->far_jumps = (UINT64_C(1) << uarch->predict_far) - 1;
	predictor->base_mask = uarch->predict_base - 1;
	predictor->target_mask = uarch->predict_targets - 1;
	predictor->return_mask = uarch->predict_returns - 1;
	predictor->tagged_shift = 64 - (uint32_t)__builtin_ctz(uarch->predict_tagged);
}

/* @return whether the entry's history was given up for this one */
static bool allocate(struct predict_entry *entry, struct predict_key key, bool taken)
{
	if (entry->counter < -1 || entry->counter > 0) {
		entry->counter += entry->counter < 0 ? 1 : -1;
		return false;
	}
	*entry = (struct predict_entry){.tag = key.tag, .counter = taken ? 0 : -1};
	return true;
}

void predict_learn(struct predictor *predictor, uint32_t hash)
{
	const bool taken = predictor->history & 1;
	const uint64_t before = predictor->history >> 1;
	const struct predict_key near = predict_near(predictor, before, hash);
	const struct predict_key far = predict_far(predictor, before, hash);
	struct predict_entry *nearer = &predictor->near[near.index];

	if (predictor->far[far.index].tag == far.tag)
		return;
	if (nearer->tag == near.tag || !allocate(nearer, near, taken))
		allocate(&predictor->far[far.index], far, taken);
}

static struct predict_target *target_of(struct predictor *predictor, uint32_t hash)
{
	return &predictor->targets[hash & predictor->target_mask];
}

/* With its history, or else as it went last. */
bool predict_indirect(struct predictor *predictor, uint32_t hash, uint64_t target)
{
	const uint32_t mixed =
	    hash ^ (uint32_t)((predictor->history & predictor->near_jumps) * PREDICT_MIX >> 32);
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
	predictor->returns[predictor->calls++ & predictor->return_mask] = next;
}

bool predict_return(struct predictor *predictor, uint64_t target)
{
	return predictor->returns[--predictor->calls & predictor->return_mask] == target;
}
