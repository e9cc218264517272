/* Operations of floating-point instructions. */
#include "feed/ia64/translate_parts.h"

void ia64_make_multiply_add(struct ia64_op *o, const struct ia64_insn *n, struct ia64_context *x)
{
	static const struct {
		uint8_t op, precision;
		ia64_table *run;
	} forms[] = {
	    {IA64_FMA, IA64_FP_DYNAMIC, &ia64_op_fma},
	    {IA64_FMA_S, IA64_FP_SINGLE, &ia64_op_fma},
	    {IA64_FMA_D, IA64_FP_DOUBLE, &ia64_op_fma},
	    {IA64_FMS, IA64_FP_DYNAMIC, &ia64_op_fms},
	    {IA64_FMS_S, IA64_FP_SINGLE, &ia64_op_fms},
	    {IA64_FMS_D, IA64_FP_DOUBLE, &ia64_op_fms},
	    {IA64_FNMA, IA64_FP_DYNAMIC, &ia64_op_fnma},
	    {IA64_FNMA_S, IA64_FP_SINGLE, &ia64_op_fnma},
	    {IA64_FNMA_D, IA64_FP_DOUBLE, &ia64_op_fnma},
	    {IA64_FPMA, IA64_FP_DYNAMIC, &ia64_op_fpma},
	    {IA64_FPMS, IA64_FP_DYNAMIC, &ia64_op_fpms},
	    {IA64_FPNMA, IA64_FP_DYNAMIC, &ia64_op_fpnma},
	};
	unsigned i = 0;

	while (forms[i].op != n->op)
		i++;
	o->c = ia64_fp_mode(n->c[0], forms[i].precision);
	ia64_finish(o, n, x, forms[i].run);
}

void ia64_make_compare_floating(struct ia64_op *o, const struct ia64_insn *n,
				struct ia64_context *x)
{
	static const struct {
		uint8_t op, relation, unc;
	} forms[] = {
	    {IA64_FCMP_EQ, IA64_FREL_EQ, 0},	 {IA64_FCMP_LT, IA64_FREL_LT, 0},
	    {IA64_FCMP_LE, IA64_FREL_LE, 0},	 {IA64_FCMP_UNORD, IA64_FREL_UNORD, 0},
	    {IA64_FCMP_EQ_UNC, IA64_FREL_EQ, 8}, {IA64_FCMP_LT_UNC, IA64_FREL_LT, 8},
	    {IA64_FCMP_LE_UNC, IA64_FREL_LE, 8}, {IA64_FCMP_UNORD_UNC, IA64_FREL_UNORD, 8},
	};
	unsigned i = 0;

	while (forms[i].op != n->op)
		i++;
	o->c = ia64_fp_mode(n->c[0], IA64_FP_DYNAMIC);
	o->imm = forms[i].relation | forms[i].unc;
	ia64_finish(o, n, x, &ia64_op_fcmp);
	if (forms[i].unc)
		ia64_check_unc(o);
}

void ia64_make_floating(struct ia64_op *o, const struct ia64_insn *n, struct ia64_context *x)
{
	static ia64_table *const minmax[4] = {&ia64_op_fmin, &ia64_op_fmax, &ia64_op_famin,
					      &ia64_op_famax};
	static ia64_table *const pminmax[4] = {&ia64_op_fpmin, &ia64_op_fpmax, &ia64_op_fpamin,
					       &ia64_op_fpamax};
	static ia64_table *const merge[3] = {&ia64_op_fmerge_s, &ia64_op_fmerge_ns,
					     &ia64_op_fmerge_se};
	static ia64_table *const pmerge[3] = {&ia64_op_fpmerge_s, &ia64_op_fpmerge_ns,
					      &ia64_op_fpmerge_se};
	static ia64_table *const mix[3] = {&ia64_op_fmix_lr, &ia64_op_fmix_r, &ia64_op_fmix_l};
	static ia64_table *const sxt[2] = {&ia64_op_fsxt_r, &ia64_op_fsxt_l};
	static ia64_table *const swap[3] = {&ia64_op_fswap, &ia64_op_fswap_nl, &ia64_op_fswap_nr};
	static ia64_table *const logic[4] = {&ia64_op_fand, &ia64_op_fandcm, &ia64_op_for,
					     &ia64_op_fxor};
	static ia64_table *const convert[4] = {&ia64_op_fcvt_fx, &ia64_op_fcvt_fxu,
					       &ia64_op_fcvt_fx_trunc, &ia64_op_fcvt_fxu_trunc};
	static ia64_table *const pconvert[4] = {&ia64_op_fpcvt_fx, &ia64_op_fpcvt_fxu,
						&ia64_op_fpcvt_fx_trunc, &ia64_op_fpcvt_fxu_trunc};
	static ia64_table *const xma[3] = {&ia64_op_xma_l, &ia64_op_xma_hu, &ia64_op_xma_h};
	unsigned i = n->c[0];

	switch (n->op) {
	case IA64_XMA:
		ia64_finish(o, n, x, xma[i]);
		break;
	case IA64_FMINMAX:
	case IA64_FPMINMAX:
		o->c = ia64_fp_mode(n->c[1], IA64_FP_DYNAMIC);
		ia64_finish(o, n, x, n->op == IA64_FMINMAX ? minmax[i] : pminmax[i]);
		break;
	case IA64_FCVT:
	case IA64_FPCVT:
		o->c = ia64_fp_mode(n->c[1], IA64_FP_DYNAMIC);
		ia64_finish(o, n, x, n->op == IA64_FCVT ? convert[i] : pconvert[i]);
		break;
	case IA64_FPCMP:
		o->c = ia64_fp_mode(n->c[1], IA64_FP_DYNAMIC);
		o->imm = i;
		ia64_finish(o, n, x, &ia64_op_fpcmp);
		break;
	case IA64_FMERGE:
		ia64_finish(o, n, x, merge[i]);
		break;
	case IA64_FPMERGE:
		ia64_finish(o, n, x, pmerge[i]);
		break;
	case IA64_FMIX:
		ia64_finish(o, n, x, mix[i]);
		break;
	case IA64_FSXT:
		ia64_finish(o, n, x, sxt[i]);
		break;
	case IA64_FSWAP:
		ia64_finish(o, n, x, swap[i]);
		break;
	default:
		ia64_finish(o, n, x, logic[i]);
		break;
	}
}

void ia64_make_approximate(struct ia64_op *o, const struct ia64_insn *n, struct ia64_context *x)
{
	ia64_table *op = n->op == IA64_FRCPA	 ? &ia64_op_frcpa
			 : n->op == IA64_FPRCPA	 ? &ia64_op_fprcpa
			 : n->op == IA64_FRSQRTA ? &ia64_op_frsqrta
						 : &ia64_op_fprsqrta;

	o->c = ia64_fp_mode(n->c[0], IA64_FP_DYNAMIC);
	ia64_finish(o, n, x, op);
}

void ia64_make_class(struct ia64_op *o, const struct ia64_insn *n, struct ia64_context *x)
{
	o->c = n->op == IA64_FCLASS_UNC;
	ia64_finish(o, n, x, &ia64_op_fclass);
	if (o->c)
		ia64_check_unc(o);
}
