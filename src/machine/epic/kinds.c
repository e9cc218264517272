/* What instructions are counted as besides retired: checks, nops, those of the register stack. */
#include "machine/epic/group.h"

/* A check that the ALAT failed. */
static void tell_check(struct epic_core *core, const struct epic_op *op,
		       const struct epic_instance *in)
{
	struct detail_miss miss = {
	    .ip = op->ip,
	    .address = in->address,
	    .slot = op->slot,
	    .bundle = core->group.bundle,
	    .alat = true,
	    .by_address = core->marks & SIGNAL_MARK_ADDRESS,
	    .by_mark = core->marks & SIGNAL_MARK_CHANNEL,
	    .by_data = core->marks & SIGNAL_MARK_CHANNEL,
	};

	core->watch.miss(core->watch.arg, &miss);
}

static void count_check(struct epic_core *core, const struct epic_op *op,
			const struct epic_instance *in)
{
	bool floating = op->kind == EPIC_FP_CHECK || op->kind == EPIC_FP_ALAT_CHECK ||
			op->kind == EPIC_FP_LOAD_CHECK;
	bool failed =
	    op->kind == EPIC_LOAD_CHECK || op->kind == EPIC_FP_LOAD_CHECK ? !in->hit : in->taken;

	switch (op->kind) {
	case EPIC_CHECK:
	case EPIC_FP_CHECK:
		epic_add(core, (enum epic_cell)(CELL_CHECK_GENERAL + floating + (failed ? 2 : 0)),
			 1);
		break;
	case EPIC_FLAGS_CHECK:
		if (failed)
			epic_add_marked(core, core->marks, CELL_FP_CHECK_FAILED, 1);
		break;
	default:
		epic_add_marked(core, core->marks,
				(enum epic_cell)(CELL_ALAT_GENERAL + floating + (failed ? 2 : 0)),
				1);
		if (failed && core->watch.miss)
			tell_check(core, op, in);
		break;
	}
}

/* The cycle from which application registers can be used. */
static uint64_t ready(const struct epic_core *core, enum epic_application group)
{
	return core->done[PHYSICAL_APPLICATION + group] >> 8;
}

/* What the instruction waits for, or makes others wait for. */
static void count_wait(struct epic_core *core, const struct epic_op *op)
{
	switch (op->waits) {
	case EPIC_WAITS_FILL:
		core->unat_ready = ready(core, EPIC_AR_SPILLED);
		return;
	case EPIC_WAITS_MOVE:
		core->moved_ready = ready(core, EPIC_AR_SPILLED);
		break;
	case EPIC_WAITS_LOADRS:
		core->loadrs = core->params->loadrs;
		break;
	default:
		return;
	}
	core->stack_waits = true;
}

void epic_count_kind(struct epic_core *core, const struct epic_op *op,
		     const struct epic_instance *in)
{
	switch (op->kind) {
	case EPIC_PAUSE:
		core->turn.hinted = true;
		epic_add_marked(core, core->marks, CELL_NOP, 1);
		break;
	case EPIC_NOP:
		epic_add_marked(core, core->marks, CELL_NOP, 1);
		break;
	case EPIC_LOAD_CHECK:
	case EPIC_FP_LOAD_CHECK:
	case EPIC_CHECK:
	case EPIC_FP_CHECK:
	case EPIC_ALAT_CHECK:
	case EPIC_FP_ALAT_CHECK:
	case EPIC_FLAGS_CHECK:
		count_check(core, op, in);
		break;
	case EPIC_SERIALIZE:
		epic_add(core, CELL_SERIALIZE, 1);
		break;
	default:
		break;
	}
	if (op->fp_ops)
		epic_add_marked(core, core->marks, CELL_FP_OP, op->fp_ops);
	if (op->flags & EPIC_STACK)
		epic_add(core, CELL_STACK_EVENT, 1);
	if (op->flags & EPIC_STACK && op->kind == EPIC_OTHER) {
		core->stack_ready = ready(core, EPIC_AR_STACK);
		core->stack_waits = true;
	}
	if (op->waits)
		count_wait(core, op);
	if (in->replaced)
		epic_add_marked(core, core->marks,
				op->kind == EPIC_FP_LOAD || op->kind == EPIC_FP_LOAD_CHECK
				    ? CELL_REPLACED_FLOATING
				    : CELL_REPLACED_GENERAL,
				1);
}
