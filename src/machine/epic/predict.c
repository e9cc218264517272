/*
 * Branch prediction: counted loops by their counters; else static hints hold always, dynamic ones
 * until the branch has a history. Returns by a stack, other indirect branches by their last target.
 */
#include "machine/epic/core.h"

static unsigned pop(struct returns *r)
{
	r->top = (r->top + RETURNS - 1) % RETURNS;
	return r->top;
}

static void push(struct returns *r, uint64_t target, uint64_t frame)
{
	r->targets[r->top] = target;
	r->frames[r->top] = frame;
	r->top = (r->top + 1) % RETURNS;
}

/* Whether the target of a branch that is taken was predicted. */
static bool target_right(struct predictor *p, struct returns *returns, const struct epic_op *op,
			 const struct epic_instance *in, bool *frame_wrong)
{
	uint64_t *last = &p->targets[op->ip >> 4 & ((1u << TARGETS_LOG2) - 1)];
	bool right = true;

	if (op->kind == EPIC_RETURN) {
		unsigned i = pop(returns);

		right = returns->targets[i] == in->target;
		*frame_wrong = returns->frames[i] != in->address;
	} else if (op->kind == EPIC_INDIRECT) {
		right = *last == in->target;
		*last = in->target;
	}
	if (op->flags & EPIC_CALL)
		push(returns, op->ip + 16, in->address);
	return right;
}

enum epic_outcome epic_predict(struct predictor *p, struct returns *returns,
			       const struct epic_op *op, const struct epic_instance *instance,
			       bool forced, bool *frame_wrong)
{
	bool path = (!forced && epic_predict_direction(p, op, instance->taken)) == instance->taken;
	bool target = !instance->taken || target_right(p, returns, op, instance, frame_wrong);

	*frame_wrong &= path;
	return !path ? OUTCOME_WRONG_PATH : target ? OUTCOME_CORRECT : OUTCOME_WRONG_TARGET;
}
