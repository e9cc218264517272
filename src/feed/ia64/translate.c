#include "feed/ia64/translate.h"

#include "feed/ia64/translate_parts.h"

/* What an instruction writes besides r3 of a memory access. */
enum target { NOTHING, GENERAL, FLOATING, PREDICATES };

/* How an opcode becomes an operation: one of its own whose operands are where the decoder put them,
 * or what a function makes of it. Without either it does nothing. */
static const struct plan {
	ia64_table *op;
	ia64_maker *make;
	enum target target;
} plans[] = {
#define G(name)                                                                                    \
	{                                                                                          \
		.op = &ia64_op_##name, .target = GENERAL                                           \
	}
#define F(name)                                                                                    \
	{                                                                                          \
		.op = &ia64_op_##name, .target = FLOATING                                          \
	}
#define N(name)                                                                                    \
	{                                                                                          \
		.op = &ia64_op_##name, .target = NOTHING                                           \
	}
#define M(name, writes)                                                                            \
	{                                                                                          \
		.make = ia64_make_##name, .target = writes                                         \
	}
    [IA64_ADD] = G(add),
    [IA64_ADD1] = G(add1),
    [IA64_SUB] = G(sub),
    [IA64_SUB1] = G(sub1),
    [IA64_ADDP4] = G(addp4),
    [IA64_AND] = G(and),
    [IA64_ANDCM] = G(andcm),
    [IA64_OR] = G(or),
    [IA64_XOR] = G(xor),
    [IA64_SHLADD] = G(shladd),
    [IA64_SHLADDP4] = G(shladdp4),
    [IA64_SUBI] = G(subi),
    [IA64_ANDI] = G(andi),
    [IA64_ANDCMI] = G(andcmi),
    [IA64_ORI] = G(ori),
    [IA64_XORI] = G(xori),
    [IA64_ADDP4I] = G(addp4i),
    [IA64_PADD4] = G(padd4),
    [IA64_PSUB4] = G(psub4),
    [IA64_PCMP4_EQ] = G(peq4),
    [IA64_PCMP4_GT] = G(pgt4),
    [IA64_PACK2_USS] = G(pack2_uss),
    [IA64_PACK2_SSS] = G(pack2_sss),
    [IA64_PACK4_SSS] = G(pack4_sss),
    [IA64_PMIN1U] = G(pmin_u1),
    [IA64_PMAX1U] = G(pmax_u1),
    [IA64_PMIN2] = G(pmin2),
    [IA64_PMAX2] = G(pmax2),
    [IA64_PSAD1] = G(psad1),
    [IA64_MUX2] = G(mux2),
    [IA64_SHL] = G(shl),
    [IA64_PSHL2] = G(pshl2),
    [IA64_PSHL4] = G(pshl4),
    [IA64_PSHL2I] = G(pshl2i),
    [IA64_PSHL4I] = G(pshl4i),
    [IA64_POPCNT] = G(popcnt),
    [IA64_SHRP] = G(shrp),
    [IA64_ZXT1] = G(zxt1),
    [IA64_ZXT2] = G(zxt2),
    [IA64_ZXT4] = G(zxt4),
    [IA64_SXT1] = G(sxt1),
    [IA64_SXT2] = G(sxt2),
    [IA64_SXT4] = G(sxt4),
    [IA64_CZX1L] = G(czx1l),
    [IA64_CZX1R] = G(czx1r),
    [IA64_CZX2L] = G(czx2l),
    [IA64_CZX2R] = G(czx2r),
    [IA64_MOVL] = G(movl),
    [IA64_MOV_FROM_BR] = G(mov_from_br),
    [IA64_MOV_FROM_PR] = G(mov_from_pr),
    [IA64_MOV_FROM_UM] = G(mov_from_um),
    [IA64_MOV_FROM_CPUID] = G(mov_from_cpuid),
    [IA64_MOV_FROM_PMD] = G(mov_from_pmd),
    [IA64_THASH] = G(thash),
    [IA64_MOV_TO_BR] = N(mov_to_br),
    [IA64_MOV_TO_PR] = N(mov_to_pr),
    [IA64_MOV_TO_ROT] = N(mov_to_rot),
    [IA64_MOV_TO_UM] = N(mov_to_um),
    [IA64_SUM] = N(sum),
    [IA64_RUM] = N(rum),
    [IA64_MF] = N(mf),
    [IA64_INVALA] = N(invala),
    [IA64_INVALA_E] = N(invala_e),
    [IA64_INVALA_EF] = N(invala_ef),
    [IA64_FC] = N(fc),
    [IA64_SRLZ_I] = N(srlz_i),
    [IA64_FLUSHRS] = N(flushrs),
    [IA64_LOADRS] = N(loadrs),
    [IA64_CLRRRB] = N(clrrrb),
    [IA64_CLRRRB_PR] = N(clrrrb_pr),
    [IA64_FSELECT] = F(fselect),
    [IA64_FPACK] = F(fpack),
    [IA64_FCVT_XF] = F(fcvt_xf),
    [IA64_FSETC] = N(fsetc),
    [IA64_FCLRF] = N(fclrf),
    [IA64_BR_IND] = N(br_ind),
    [IA64_BR_CALL_IND] = N(br_call_ind),
    [IA64_BR_RET] = N(br_ret),
    [IA64_ADDI] = M(add, GENERAL),
    [IA64_MOV_IP] = M(ip, GENERAL),
    [IA64_MUX1] = M(mux1, GENERAL),
    [IA64_PSHLADD] = M(shift_add, GENERAL),
    [IA64_PSHRADD] = M(shift_add, GENERAL),
    [IA64_CMP_LT] = M(compare, PREDICATES),
    [IA64_CMP_LTU] = M(compare, PREDICATES),
    [IA64_CMP_EQ] = M(compare, PREDICATES),
    [IA64_CMP_EQ_AND] = M(parallel, PREDICATES),
    [IA64_CMP_EQ_OR] = M(parallel, PREDICATES),
    [IA64_CMP_EQ_ANDCM] = M(parallel, PREDICATES),
    [IA64_CMP_GT_AND] = M(parallel, PREDICATES),
    [IA64_CMP_GT_OR] = M(parallel, PREDICATES),
    [IA64_CMP_GT_ANDCM] = M(parallel, PREDICATES),
    [IA64_CMP_GE_AND] = M(parallel, PREDICATES),
    [IA64_CMP_GE_OR] = M(parallel, PREDICATES),
    [IA64_CMP_GE_ANDCM] = M(parallel, PREDICATES),
    [IA64_TBIT] = M(test, PREDICATES),
    [IA64_TBIT_AND] = M(test, PREDICATES),
    [IA64_TBIT_OR] = M(test, PREDICATES),
    [IA64_TBIT_ANDCM] = M(test, PREDICATES),
    [IA64_TNAT] = M(test, PREDICATES),
    [IA64_TNAT_AND] = M(test, PREDICATES),
    [IA64_TNAT_OR] = M(test, PREDICATES),
    [IA64_TNAT_ANDCM] = M(test, PREDICATES),
    [IA64_TF] = M(test, PREDICATES),
    [IA64_TF_AND] = M(test, PREDICATES),
    [IA64_TF_OR] = M(test, PREDICATES),
    [IA64_TF_ANDCM] = M(test, PREDICATES),
    [IA64_PADD] = M(multimedia, GENERAL),
    [IA64_PSUB] = M(multimedia, GENERAL),
    [IA64_PAVG] = M(multimedia, GENERAL),
    [IA64_PAVG_RAZ] = M(multimedia, GENERAL),
    [IA64_PAVGSUB] = M(multimedia, GENERAL),
    [IA64_PCMP_EQ] = M(multimedia, GENERAL),
    [IA64_PCMP_GT] = M(multimedia, GENERAL),
    [IA64_MIX] = M(chosen, GENERAL),
    [IA64_MIX4] = M(chosen, GENERAL),
    [IA64_UNPACK] = M(chosen, GENERAL),
    [IA64_UNPACK4] = M(chosen, GENERAL),
    [IA64_PMPY] = M(chosen, GENERAL),
    [IA64_PMPYSHR] = M(chosen, GENERAL),
    [IA64_SHR] = M(chosen, GENERAL),
    [IA64_PSHR2] = M(chosen, GENERAL),
    [IA64_PSHR4] = M(chosen, GENERAL),
    [IA64_PSHR2I] = M(chosen, GENERAL),
    [IA64_PSHR4I] = M(chosen, GENERAL),
    [IA64_EXTR] = M(field, GENERAL),
    [IA64_DEPZ] = M(field, GENERAL),
    [IA64_DEPZI] = M(field, GENERAL),
    [IA64_DEPI] = M(field, GENERAL),
    [IA64_DEP] = M(field, GENERAL),
    [IA64_LD] = M(load, GENERAL),
    [IA64_ST] = M(store, NOTHING),
    [IA64_LDF] = M(load_floating, FLOATING),
    [IA64_LDFP] = M(load_floating, FLOATING),
    [IA64_LD_FILL] = M(memory, GENERAL),
    [IA64_ST_SPILL] = M(memory, NOTHING),
    [IA64_LDF_FILL] = M(memory, FLOATING),
    [IA64_STF_SPILL] = M(memory, NOTHING),
    [IA64_STF] = M(memory, NOTHING),
    [IA64_LFETCH] = M(memory, NOTHING),
    [IA64_LD16] = M(memory, GENERAL),
    [IA64_ST16] = M(memory, NOTHING),
    [IA64_CMPXCHG] = M(memory, GENERAL),
    [IA64_CMP8XCHG16] = M(memory, GENERAL),
    [IA64_XCHG] = M(memory, GENERAL),
    [IA64_FETCHADD] = M(memory, GENERAL),
    [IA64_SETF] = M(memory, FLOATING),
    [IA64_GETF] = M(memory, GENERAL),
    [IA64_FMA] = M(multiply_add, FLOATING),
    [IA64_FMA_S] = M(multiply_add, FLOATING),
    [IA64_FMA_D] = M(multiply_add, FLOATING),
    [IA64_FMS] = M(multiply_add, FLOATING),
    [IA64_FMS_S] = M(multiply_add, FLOATING),
    [IA64_FMS_D] = M(multiply_add, FLOATING),
    [IA64_FNMA] = M(multiply_add, FLOATING),
    [IA64_FNMA_S] = M(multiply_add, FLOATING),
    [IA64_FNMA_D] = M(multiply_add, FLOATING),
    [IA64_FPMA] = M(multiply_add, FLOATING),
    [IA64_FPMS] = M(multiply_add, FLOATING),
    [IA64_FPNMA] = M(multiply_add, FLOATING),
    [IA64_FCMP_EQ] = M(compare_floating, PREDICATES),
    [IA64_FCMP_LT] = M(compare_floating, PREDICATES),
    [IA64_FCMP_LE] = M(compare_floating, PREDICATES),
    [IA64_FCMP_UNORD] = M(compare_floating, PREDICATES),
    [IA64_FCMP_EQ_UNC] = M(compare_floating, PREDICATES),
    [IA64_FCMP_LT_UNC] = M(compare_floating, PREDICATES),
    [IA64_FCMP_LE_UNC] = M(compare_floating, PREDICATES),
    [IA64_FCMP_UNORD_UNC] = M(compare_floating, PREDICATES),
    [IA64_FCLASS] = M(class, PREDICATES),
    [IA64_FCLASS_UNC] = M(class, PREDICATES),
    [IA64_XMA] = M(floating, FLOATING),
    [IA64_FMINMAX] = M(floating, FLOATING),
    [IA64_FPMINMAX] = M(floating, FLOATING),
    [IA64_FPCMP] = M(floating, FLOATING),
    [IA64_FMERGE] = M(floating, FLOATING),
    [IA64_FPMERGE] = M(floating, FLOATING),
    [IA64_FMIX] = M(floating, FLOATING),
    [IA64_FSXT] = M(floating, FLOATING),
    [IA64_FSWAP] = M(floating, FLOATING),
    [IA64_FLOGIC] = M(floating, FLOATING),
    [IA64_FCVT] = M(floating, FLOATING),
    [IA64_FPCVT] = M(floating, FLOATING),
    [IA64_FRCPA] = M(approximate, FLOATING),
    [IA64_FPRCPA] = M(approximate, FLOATING),
    [IA64_FRSQRTA] = M(approximate, FLOATING),
    [IA64_FPRSQRTA] = M(approximate, FLOATING),
    [IA64_BR_COND] = M(branch, NOTHING),
    [IA64_BRL_COND] = M(branch, NOTHING),
    [IA64_BR_CALL] = M(branch, NOTHING),
    [IA64_BRL_CALL] = M(branch, NOTHING),
    [IA64_BR_CLOOP] = M(branch, NOTHING),
    [IA64_BR_CTOP] = M(branch, NOTHING),
    [IA64_BR_CEXIT] = M(branch, NOTHING),
    [IA64_BR_WTOP] = M(branch, NOTHING),
    [IA64_BR_WEXIT] = M(branch, NOTHING),
    [IA64_CHK_S] = M(branch, NOTHING),
    [IA64_CHK_SF] = M(branch, NOTHING),
    [IA64_CHK_A] = M(branch, NOTHING),
    [IA64_CHK_AF] = M(branch, NOTHING),
    [IA64_FCHKF] = M(branch, NOTHING),
    [IA64_ALLOC] = M(alloc, GENERAL),
    [IA64_MOV_FROM_AR] = M(application, GENERAL),
    [IA64_MOV_TO_AR] = M(application, NOTHING),
    [IA64_MOV_TO_ARI] = M(application, NOTHING),
    [IA64_PROBE] = M(probe, GENERAL),
    [IA64_PROBE_FAULT] = M(probe, NOTHING),
    [IA64_BREAK] = M(break, NOTHING),
    [IA64_COVER] = M(cover, NOTHING),
    [IA64_ILLEGAL] = M(illegal, NOTHING),
    [IA64_PRIV] = M(illegal, NOTHING),
    [IA64_BR_IA] = M(illegal, NOTHING),
#undef G
#undef F
#undef N
#undef M
};

void ia64_make(struct ia64_op *o, const struct ia64_context *x, ia64_table *op)
{
	o->run = (*op)[(x->nats ? 2 : 0) + (o->qp ? 1 : 0)];
}

void ia64_make_fault(struct ia64_op *o, const struct ia64_context *x, enum ia64_fault fault)
{
	o->c = fault;
	ia64_make(o, x, &ia64_op_illegal);
}

bool ia64_bad_general(const struct ia64_context *x, unsigned r)
{
	return r == 0 || r >= 32 + x->sof;
}

bool ia64_bad_floating(unsigned f)
{
	return f < 2;
}

/* The same one twice; p0 too. */
static bool bad_predicates(const struct ia64_op *o)
{
	return o->p1 == o->p2 || (o->p1 == IA64_SINK && o->p2 == IA64_SINK + 1);
}

void ia64_check_unc(struct ia64_op *o)
{
	if (bad_predicates(o)) {
		o->c = IA64_FAULT_ILLEGAL;
		o->run = ia64_op_illegal[0];
	}
}

void ia64_finish(struct ia64_op *o, const struct ia64_insn *n, const struct ia64_context *x,
		 ia64_table *op)
{
	enum target target = plans[n->op].target;

	ia64_make(o, x, op);
	if ((target == GENERAL && ia64_bad_general(x, o->r1)) ||
	    (target == FLOATING && ia64_bad_floating(o->r1)) ||
	    (target == PREDICATES && bad_predicates(o)))
		ia64_make_fault(o, x, IA64_FAULT_ILLEGAL);
}

struct ia64_writes ia64_writes(const struct ia64_insn *n)
{
	struct ia64_writes w = {0};

	if (plans[n->op].target == GENERAL)
		w.general[w.general_count++] = n->r1;
	if (plans[n->op].target == FLOATING)
		w.floating[w.floating_count++] = n->r1;
	if (n->op == IA64_LDFP)
		w.floating[w.floating_count++] = n->r2;
	if (ia64_increments(n->format) != IA64_INC_NONE)
		w.general[w.general_count++] = n->r3;
	return w;
}

bool ia64_ends(const struct ia64_insn *n)
{
	switch (n->op) {
	case IA64_BR_COND:
	case IA64_BR_IND:
	case IA64_BR_CALL:
	case IA64_BR_CALL_IND:
	case IA64_BR_RET:
	case IA64_BRL_COND:
	case IA64_BRL_CALL:
	case IA64_ILLEGAL:
		return n->qp == 0;
	case IA64_BREAK:
	case IA64_PRIV:
	case IA64_BR_IA:
		return n->qp == 0;
	default:
		return false;
	}
}

bool ia64_translate(struct ia64_op *o, const struct ia64_insn *n, struct ia64_context *x)
{
	const struct plan *plan = &plans[n->op];

	*o = (struct ia64_op){
	    .imm = n->imm,
	    .qp = n->qp,
	    .r1 = n->r1,
	    .r2 = n->r2,
	    .r3 = n->r3,
	    .r4 = n->r4,
	    .p1 = n->p1 ? n->p1 : IA64_SINK,
	    .p2 = n->p2 ? n->p2 : IA64_SINK + 1,
	    .c = n->c[0],
	};
	if (plan->make)
		plan->make(o, n, x);
	else if (plan->op)
		ia64_finish(o, n, x, plan->op);
	return plan->make || plan->op;
}
