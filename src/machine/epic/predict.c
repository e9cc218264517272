/*
 * Branch prediction: counted loops by their counters; else static hints hold always, dynamic ones
 * until the branch has a history. Returns by a stack, other indirect branches by their last target.
 */
#include "machine/epic/core.h"

static uint64_t pop(struct returns *r)
{
	r->top = (r->top + RETURNS - 1) % RETURNS;
	return r->targets[r->top];
}

static void push(struct returns *r, uint64_t target)
{
	r->targets[r->top] = target;
	r->top = (r->top + 1) % RETURNS;
}

/* Whether the target of a branch that is taken was predicted. */
static bool target_right(struct predictor *p, struct returns *returns, const struct epic_op *op,
			 uint64_t target)
{
	uint64_t *last = &p->targets[op->ip >> 4 & ((1u << TARGETS_LOG2) - 1)];
	bool right = true;

	if (op->kind == EPIC_RETURN) {
		right = pop(returns) == target;
	} else if (op->kind == EPIC_INDIRECT) {
		right = *last == target;
		*last = target;
	}
	if (op->flags & EPIC_CALL)
		push(returns, op->ip + 16);
	return right;
}

enum epic_outcome epic_predict(struct predictor *p, struct returns *returns,
			       const struct epic_op *op, const struct epic_instance *instance,
			       bool forced)
{
	bool path = (!forced && epic_predict_direction(p, op, instance->taken)) == instance->taken;
	bool target = !instance->taken || target_right(p, returns, op, instance->target);

	return !path ? OUTCOME_WRONG_PATH : target ? OUTCOME_CORRECT : OUTCOME_WRONG_TARGET;
}
