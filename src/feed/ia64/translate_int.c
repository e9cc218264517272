/* Operations of integer and multimedia instructions. */
#include "feed/ia64/code.h"
#include "feed/ia64/translate_parts.h"

/* cmp and cmp4: c[0] is the width, c[1] .unc. */
void ia64_make_compare(struct ia64_op *o, const struct ia64_insn *n, struct ia64_context *x)
{
	static ia64_table *const ops[3][2][2][2] = {/* relation, width, immediate, .unc */
#define FOUR(name)                                                                                 \
	{{&ia64_op_##name, &ia64_op_##name##_unc}, {&ia64_op_##name##_i, &ia64_op_##name##_i_unc}}
						    {FOUR(cmp_lt), FOUR(cmp4_lt)},
						    {FOUR(cmp_ltu), FOUR(cmp4_ltu)},
						    {FOUR(cmp_eq), FOUR(cmp4_eq)}};
#undef FOUR
	unsigned relation = n->op == IA64_CMP_LT ? 0 : n->op == IA64_CMP_LTU ? 1 : 2;

	ia64_finish(o, n, x, ops[relation][n->c[0]][n->format == IA64_FORMAT_A8][n->c[1]]);
	if (n->c[1])
		ia64_check_unc(o);
}

/* Parallel compares: c[0] is the width, c[1] whether the relation is the other one of its pair. */
void ia64_make_parallel(struct ia64_op *o, const struct ia64_insn *n, struct ia64_context *x)
{
	static const struct {
		uint8_t op, relation, kind;
	} forms[] = {
	    {IA64_CMP_EQ_AND, IA64_REL_EQ, 0},	 {IA64_CMP_EQ_OR, IA64_REL_EQ, 1},
	    {IA64_CMP_EQ_ANDCM, IA64_REL_EQ, 2}, {IA64_CMP_GT_AND, IA64_REL_GT, 0},
	    {IA64_CMP_GT_OR, IA64_REL_GT, 1},	 {IA64_CMP_GT_ANDCM, IA64_REL_GT, 2},
	    {IA64_CMP_GE_AND, IA64_REL_GE, 0},	 {IA64_CMP_GE_OR, IA64_REL_GE, 1},
	    {IA64_CMP_GE_ANDCM, IA64_REL_GE, 2},
	};
	static ia64_table *const ops[3][2] = {{&ia64_op_cmp_and, &ia64_op_cmp_and_i},
					      {&ia64_op_cmp_or, &ia64_op_cmp_or_i},
					      {&ia64_op_cmp_andcm, &ia64_op_cmp_andcm_i}};
	unsigned i = 0;

	while (forms[i].op != n->op)
		i++;
	o->c = (forms[i].relation + n->c[1]) | (n->c[0] ? IA64_REL_4 : 0);
	if (n->format == IA64_FORMAT_A7)
		o->r2 = 0;
	ia64_finish(o, n, x, ops[forms[i].kind][n->format == IA64_FORMAT_A8]);
}

/* Multimedia arithmetic on bytes or half words: c[0] is the size, c[1] the kind of saturation. */
void ia64_make_multimedia(struct ia64_op *o, const struct ia64_insn *n, struct ia64_context *x)
{
#define TWO(name)                                                                                  \
	{                                                                                          \
		&ia64_op_p##name##1, &ia64_op_p##name##2                                           \
	}
	static ia64_table *const adds[4][2] = {TWO(add), TWO(add_sss), TWO(add_uuu), TWO(add_uus)};
	static ia64_table *const subs[4][2] = {TWO(sub), TWO(sub_sss), TWO(sub_uuu), TWO(sub_uus)};
	static ia64_table *const avg[2] = TWO(avg), *const raz[2] = TWO(avg_raz);
	static ia64_table *const avgsub[2] = TWO(avgsub), *const eq[2] = TWO(eq),
				 *const gt[2] = TWO(gt);
#undef TWO
	unsigned size = n->c[0];

	switch (n->op) {
	case IA64_PADD:
		ia64_finish(o, n, x, adds[n->c[1]][size]);
		break;
	case IA64_PSUB:
		ia64_finish(o, n, x, subs[n->c[1]][size]);
		break;
	case IA64_PAVG:
		ia64_finish(o, n, x, avg[size]);
		break;
	case IA64_PAVG_RAZ:
		ia64_finish(o, n, x, raz[size]);
		break;
	case IA64_PAVGSUB:
		ia64_finish(o, n, x, avgsub[size]);
		break;
	case IA64_PCMP_EQ:
		ia64_finish(o, n, x, eq[size]);
		break;
	default:
		ia64_finish(o, n, x, gt[size]);
		break;
	}
}

/* Instructions whose completers choose among operations that write a general register. */
void ia64_make_chosen(struct ia64_op *o, const struct ia64_insn *n, struct ia64_context *x)
{
	static ia64_table *const mix[2][2] = {{&ia64_op_mix1r, &ia64_op_mix1l},
					      {&ia64_op_mix2r, &ia64_op_mix2l}};
	static ia64_table *const mix4[2] = {&ia64_op_mix4r, &ia64_op_mix4l};
	static ia64_table *const unpack[2][2] = {{&ia64_op_unpack1h, &ia64_op_unpack1l},
						 {&ia64_op_unpack2h, &ia64_op_unpack2l}};
	static ia64_table *const unpack4[2] = {&ia64_op_unpack4h, &ia64_op_unpack4l};
	static ia64_table *const pmpy[2] = {&ia64_op_pmpy2r, &ia64_op_pmpy2l};
	static ia64_table *const pmpyshr[2] = {&ia64_op_pmpyshr2u, &ia64_op_pmpyshr2};
	static ia64_table *const shr[2] = {&ia64_op_shr_u, &ia64_op_shr};
	static ia64_table *const pshr2[2] = {&ia64_op_pshr2u, &ia64_op_pshr2};
	static ia64_table *const pshr4[2] = {&ia64_op_pshr4u, &ia64_op_pshr4};
	static ia64_table *const pshr2i[2] = {&ia64_op_pshr2ui, &ia64_op_pshr2i};
	static ia64_table *const pshr4i[2] = {&ia64_op_pshr4ui, &ia64_op_pshr4i};
	ia64_table *op;

	switch (n->op) {
	case IA64_MIX:
		op = mix[n->c[0]][n->c[1]];
		break;
	case IA64_MIX4:
		op = mix4[n->c[0]];
		break;
	case IA64_UNPACK:
		op = unpack[n->c[0]][n->c[1]];
		break;
	case IA64_UNPACK4:
		op = unpack4[n->c[0]];
		break;
	case IA64_PMPY:
		op = pmpy[n->c[0]];
		break;
	case IA64_PMPYSHR:
		op = pmpyshr[n->c[0]];
		break;
	case IA64_SHR:
		op = shr[n->c[0]];
		break;
	case IA64_PSHR2:
		op = pshr2[n->c[0]];
		break;
	case IA64_PSHR4:
		op = pshr4[n->c[0]];
		break;
	case IA64_PSHR2I:
		op = pshr2i[n->c[0]];
		break;
	default:
		op = pshr4i[n->c[0]];
		break;
	}
	ia64_finish(o, n, x, op);
}

/* Bit fields: the decoder gives position in r4 and length in p1, which may reach beyond bit 63. */
void ia64_make_field(struct ia64_op *o, const struct ia64_insn *n, struct ia64_context *x)
{
	unsigned position = n->r4, length = n->p1;
	uint64_t mask;

	if (position + length > 64)
		length = 64 - position;
	mask = ~0ull >> (64 - length);
	o->p1 = length;
	o->imm = mask;
	switch (n->op) {
	case IA64_EXTR:
		ia64_finish(o, n, x, n->c[0] ? &ia64_op_extr : &ia64_op_extr_u);
		break;
	case IA64_DEPZ:
		ia64_finish(o, n, x, &ia64_op_dep_z);
		break;
	case IA64_DEPZI:
		o->uimm = ((uint64_t)n->imm & mask) << position;
		ia64_finish(o, n, x, &ia64_op_movl);
		break;
	case IA64_DEPI:
		o->uimm = mask << position;
		ia64_finish(o, n, x, n->imm ? &ia64_op_dep_ones : &ia64_op_dep_zeros);
		break;
	default:
		ia64_finish(o, n, x, &ia64_op_dep);
		break;
	}
}

void ia64_make_test(struct ia64_op *o, const struct ia64_insn *n, struct ia64_context *x)
{
	static const struct {
		uint8_t op;
		ia64_table *run;
	} forms[] = {
	    {IA64_TBIT, &ia64_op_tbit},	      {IA64_TBIT_AND, &ia64_op_tbit_and},
	    {IA64_TBIT_OR, &ia64_op_tbit_or}, {IA64_TBIT_ANDCM, &ia64_op_tbit_andcm},
	    {IA64_TNAT, &ia64_op_tnat},	      {IA64_TNAT_AND, &ia64_op_tnat_and},
	    {IA64_TNAT_OR, &ia64_op_tnat_or}, {IA64_TNAT_ANDCM, &ia64_op_tnat_andcm},
	    {IA64_TF, &ia64_op_tf},	      {IA64_TF_AND, &ia64_op_tf_and},
	    {IA64_TF_OR, &ia64_op_tf_or},     {IA64_TF_ANDCM, &ia64_op_tf_andcm},
	};
	unsigned i = 0;

	while (forms[i].op != n->op)
		i++;
	o->c = n->c[0];
	if (n->format == IA64_FORMAT_I30)
		o->imm = (uint64_t)IA64_FEATURES >> (32 + n->imm) & 1;
	ia64_finish(o, n, x, forms[i].run);
	if ((n->op == IA64_TBIT || n->op == IA64_TNAT || n->op == IA64_TF) && n->c[0])
		ia64_check_unc(o);
}

void ia64_make_add(struct ia64_op *o, const struct ia64_insn *n, struct ia64_context *x)
{
	ia64_finish(o, n, x,
		    n->r3 == 0	  ? &ia64_op_movl
		    : n->imm == 0 ? &ia64_op_mov
				  : &ia64_op_addi);
}

/* Permutations that are not defined are reserved. */
void ia64_make_mux1(struct ia64_op *o, const struct ia64_insn *n, struct ia64_context *x)
{
	ia64_finish(o, n, x, n->imm == 0xB ? &ia64_op_mux1_rev : &ia64_op_mux1);
	if (n->imm != 0 && (n->imm < 8 || n->imm > 0xB))
		ia64_make_fault(o, x, IA64_FAULT_ILLEGAL);
}

/* Counts are 1 to 3. */
void ia64_make_shift_add(struct ia64_op *o, const struct ia64_insn *n, struct ia64_context *x)
{
	ia64_finish(o, n, x, n->op == IA64_PSHLADD ? &ia64_op_pshladd2 : &ia64_op_pshradd2);
	if (n->imm > 3)
		ia64_make_fault(o, x, IA64_FAULT_ILLEGAL);
}
