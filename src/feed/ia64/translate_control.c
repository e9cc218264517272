/* Operations of branches, of what changes the frame, and of system instructions. */
#include "feed/ia64/translate.h"
#include "feed/ia64/translate_parts.h"

static bool only_in_slot_2(unsigned op)
{
	return op == IA64_BR_CLOOP || op == IA64_BR_CTOP || op == IA64_BR_CEXIT ||
	       op == IA64_BR_WTOP || op == IA64_BR_WEXIT;
}

void ia64_make_branch(struct ia64_op *o, const struct ia64_insn *n, struct ia64_context *x)
{
	static ia64_table *const ops[] = {
	    [IA64_CHK_S] = &ia64_op_chk_s,	 [IA64_CHK_SF] = &ia64_op_chk_sf,
	    [IA64_CHK_A] = &ia64_op_chk_a,	 [IA64_CHK_AF] = &ia64_op_chk_af,
	    [IA64_BR_COND] = &ia64_op_br,	 [IA64_BRL_COND] = &ia64_op_br,
	    [IA64_BR_CALL] = &ia64_op_br_call,	 [IA64_BRL_CALL] = &ia64_op_br_call,
	    [IA64_BR_CLOOP] = &ia64_op_br_cloop, [IA64_BR_CTOP] = &ia64_op_br_ctop,
	    [IA64_BR_CEXIT] = &ia64_op_br_cexit, [IA64_BR_WTOP] = &ia64_op_br_wtop,
	    [IA64_BR_WEXIT] = &ia64_op_br_wexit, [IA64_FCHKF] = &ia64_op_fchkf,
	};

	o->uimm = n->ip + (uint64_t)n->imm;
	ia64_make(o, x, ops[n->op]);
	if (only_in_slot_2(n->op) && n->slot != 2)
		ia64_make_fault(o, x, IA64_FAULT_ILLEGAL);
}

void ia64_make_alloc(struct ia64_op *o, const struct ia64_insn *n, struct ia64_context *x)
{
	unsigned sof = n->imm & 0x7F, sol = n->imm >> 7 & 0x7F, sor = n->imm >> 14 & 0xF;

	ia64_make(o, x, &ia64_op_alloc);
	if (n->qp || sof > 96 || sol > sof || sor * 8 > sof || n->r1 == 0 || n->r1 >= 32 + sof)
		ia64_make_fault(o, x, IA64_FAULT_ILLEGAL);
	else
		x->sof = sof;
}

/* Of the slot's unit: 0 to 63 belong to M, the others to I. */
void ia64_make_application(struct ia64_op *o, const struct ia64_insn *n, struct ia64_context *x)
{
	bool integer = n->format == IA64_FORMAT_I26 || n->format == IA64_FORMAT_I27 ||
		       n->format == IA64_FORMAT_I28;

	switch (n->op) {
	case IA64_MOV_FROM_AR:
		ia64_finish(o, n, x,
			    n->r3 == IA64_AR_LC	    ? &ia64_op_mov_from_lc
			    : n->r3 == IA64_AR_PFS  ? &ia64_op_mov_from_pfs
			    : n->r3 == IA64_AR_UNAT ? &ia64_op_mov_from_unat
						    : &ia64_op_mov_from_ar);
		break;
	case IA64_MOV_TO_AR:
		ia64_make(o, x,
			  n->r3 == IA64_AR_LC	 ? &ia64_op_mov_to_lc
			  : n->r3 == IA64_AR_PFS ? &ia64_op_mov_to_pfs
						 : &ia64_op_mov_to_ar);
		break;
	default:
		ia64_make(o, x, &ia64_op_mov_to_ari);
		break;
	}
	if (integer != (n->r3 >= 64) && !(n->r3 >= 48 && n->r3 < 64))
		ia64_make_fault(o, x, IA64_FAULT_ILLEGAL);
}

void ia64_make_probe(struct ia64_op *o, const struct ia64_insn *n, struct ia64_context *x)
{
	unsigned x6 = ia64_encodings[n->encoding].value >> 27 & 0x3F;

	if (n->op == IA64_PROBE) {
		o->c = x6 & 1 ? 2 : 1;
		ia64_finish(o, n, x, &ia64_op_probe);
	} else {
		o->c = x6 == 0x31 ? 3 : x6 == 0x32 ? 1 : 2;
		ia64_finish(o, n, x, &ia64_op_probe_fault);
	}
}

/* The number of a break in a B slot does not reach the system. */
void ia64_make_break(struct ia64_op *o, const struct ia64_insn *n, struct ia64_context *x)
{
	if (n->format == IA64_FORMAT_B9)
		o->imm = 0;
	ia64_make(o, x, &ia64_op_break);
}

void ia64_make_cover(struct ia64_op *o, const struct ia64_insn *n, struct ia64_context *x)
{
	(void)n;
	ia64_make(o, x, &ia64_op_cover);
	x->sof = 0;
}

void ia64_make_ip(struct ia64_op *o, const struct ia64_insn *n, struct ia64_context *x)
{
	o->uimm = n->ip;
	ia64_finish(o, n, x, &ia64_op_movl);
}

/* br.ia needs predicate 0; there is no other instruction set to go to. */
void ia64_make_illegal(struct ia64_op *o, const struct ia64_insn *n, struct ia64_context *x)
{
	ia64_make_fault(o, x,
			n->op == IA64_PRIV		? IA64_FAULT_PRIVILEGED
			: n->op == IA64_BR_IA && !n->qp ? IA64_FAULT_DISABLED_ISA
							: IA64_FAULT_ILLEGAL);
}
