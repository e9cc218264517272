#include "feed/ia64/translate.h"

#include "feed/ia64/code.h"
#include "feed/ia64/handlers.h"

typedef ia64_handler *const table[4];

/* What an instruction writes, for the checks that all of a kind share. */
enum target { NOTHING, GENERAL, FLOATING, PREDICATES };

struct plan {
	table *op;
	enum target target;
};

/* Instructions that are one operation, their operands where the decoder put them. */
#define G(name)                                                                                    \
	{                                                                                          \
		&ia64_op_##name, GENERAL                                                           \
	}
#define F(name)                                                                                    \
	{                                                                                          \
		&ia64_op_##name, FLOATING                                                          \
	}
#define P(name)                                                                                    \
	{                                                                                          \
		&ia64_op_##name, PREDICATES                                                        \
	}
#define N(name)                                                                                    \
	{                                                                                          \
		&ia64_op_##name, NOTHING                                                           \
	}
static const struct plan plans[] = {
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
    [IA64_PSHLADD] = G(pshladd2),
    [IA64_PSHRADD] = G(pshradd2),
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
    [IA64_COVER] = N(cover),
    [IA64_CLRRRB] = N(clrrrb),
    [IA64_CLRRRB_PR] = N(clrrrb_pr),
    [IA64_XMA] = F(xma_l),
    [IA64_FSELECT] = F(fselect),
    [IA64_FPACK] = F(fpack),
    [IA64_FCVT_XF] = F(fcvt_xf),
    [IA64_FSETC] = N(fsetc),
    [IA64_FCLRF] = N(fclrf),
    [IA64_BR_COND] = N(br),
    [IA64_BRL_COND] = N(br),
    [IA64_BR_IND] = N(br_ind),
    [IA64_BR_CALL] = N(br_call),
    [IA64_BRL_CALL] = N(br_call),
    [IA64_BR_CALL_IND] = N(br_call_ind),
    [IA64_BR_RET] = N(br_ret),
    [IA64_BR_CLOOP] = N(br_cloop),
    [IA64_BR_CTOP] = N(br_ctop),
    [IA64_BR_CEXIT] = N(br_cexit),
    [IA64_BR_WTOP] = N(br_wtop),
    [IA64_BR_WEXIT] = N(br_wexit),
    [IA64_FCHKF] = N(fchkf),
    [IA64_BREAK] = N(break),
    [IA64_TBIT] = P(tbit),
    [IA64_TNAT] = P(tnat),
    [IA64_TF] = P(tf),
    [IA64_TBIT_AND] = P(tbit_and),
    [IA64_TBIT_OR] = P(tbit_or),
    [IA64_TBIT_ANDCM] = P(tbit_andcm),
    [IA64_TNAT_AND] = P(tnat_and),
    [IA64_TNAT_OR] = P(tnat_or),
    [IA64_TNAT_ANDCM] = P(tnat_andcm),
    [IA64_TF_AND] = P(tf_and),
    [IA64_TF_OR] = P(tf_or),
    [IA64_TF_ANDCM] = P(tf_andcm),
};
#undef G
#undef F
#undef P
#undef N

static void set(struct ia64_op *o, const struct ia64_context *x, table *op)
{
	o->run = (*op)[(x->nats ? 2 : 0) + (o->qp ? 1 : 0)];
}

static void fault(struct ia64_op *o, const struct ia64_context *x, enum ia64_fault kind)
{
	o->c = kind;
	set(o, x, &ia64_op_illegal);
}

static bool bad_general(const struct ia64_context *x, unsigned r)
{
	return r == 0 || r >= 32 + x->sof;
}

static bool bad_floating(unsigned f)
{
	return f < 2;
}

/* The same one twice; p0 too. */
static bool bad_predicates(const struct ia64_op *o)
{
	return o->p1 == o->p2 || (o->p1 == IA64_SINK && o->p2 == IA64_SINK + 1);
}

static void check(struct ia64_op *o, const struct ia64_context *x, enum target target)
{
	bool bad = (target == GENERAL && bad_general(x, o->r1)) ||
		   (target == FLOATING && bad_floating(o->r1)) ||
		   (target == PREDICATES && bad_predicates(o));

	if (bad)
		fault(o, x, IA64_FAULT_ILLEGAL);
}

static void finish(struct ia64_op *o, const struct ia64_context *x, table *op, enum target target)
{
	set(o, x, op);
	check(o, x, target);
}

/* cmp and cmp4: c[0] is the width, c[1] .unc. */
static void compare(struct ia64_op *o, const struct ia64_insn *n, const struct ia64_context *x)
{
	static table *const ops[3][2][2][2] = {/* relation, width, immediate, .unc */
#define FOUR(name)                                                                                 \
	{{&ia64_op_##name, &ia64_op_##name##_unc}, {&ia64_op_##name##_i, &ia64_op_##name##_i_unc}}
					       {FOUR(cmp_lt), FOUR(cmp4_lt)},
					       {FOUR(cmp_ltu), FOUR(cmp4_ltu)},
					       {FOUR(cmp_eq), FOUR(cmp4_eq)}};
#undef FOUR
	unsigned relation = n->op == IA64_CMP_LT ? 0 : n->op == IA64_CMP_LTU ? 1 : 2;

	finish(o, x, ops[relation][n->c[0]][n->format == IA64_FORMAT_A8][n->c[1]], PREDICATES);
	if (n->c[1] && bad_predicates(o)) /* .unc writes whatever the predicate is */
		o->run = ia64_op_illegal[0];
}

/* Parallel compares: c[0] is the width, c[1] whether the relation is the other one of its pair. */
static void compare_parallel(struct ia64_op *o, const struct ia64_insn *n,
			     const struct ia64_context *x, unsigned relation, unsigned kind)
{
	static table *const ops[3][2] = {{&ia64_op_cmp_and, &ia64_op_cmp_and_i},
					 {&ia64_op_cmp_or, &ia64_op_cmp_or_i},
					 {&ia64_op_cmp_andcm, &ia64_op_cmp_andcm_i}};

	o->c = (relation + n->c[1]) | (n->c[0] ? IA64_REL_4 : 0);
	if (n->format == IA64_FORMAT_A7)
		o->r2 = 0;
	finish(o, x, ops[kind][n->format == IA64_FORMAT_A8], PREDICATES);
}

/* Multimedia arithmetic on bytes or half words: c[0] is the size, c[1] the kind of saturation. */
static void multimedia(struct ia64_op *o, const struct ia64_insn *n, const struct ia64_context *x)
{
#define TWO(name)                                                                                  \
	{                                                                                          \
		&ia64_op_p##name##1, &ia64_op_p##name##2                                           \
	}
	static table *const adds[4][2] = {TWO(add), TWO(add_sss), TWO(add_uuu), TWO(add_uus)};
	static table *const subs[4][2] = {TWO(sub), TWO(sub_sss), TWO(sub_uuu), TWO(sub_uus)};
	static table *const avg[2] = TWO(avg), *const raz[2] = TWO(avg_raz);
	static table *const avgsub[2] = TWO(avgsub), *const eq[2] = TWO(eq), *const gt[2] = TWO(gt);
#undef TWO
	unsigned size = n->c[0];

	switch (n->op) {
	case IA64_PADD:
		finish(o, x, adds[n->c[1]][size], GENERAL);
		break;
	case IA64_PSUB:
		finish(o, x, subs[n->c[1]][size], GENERAL);
		break;
	case IA64_PAVG:
		finish(o, x, avg[size], GENERAL);
		break;
	case IA64_PAVG_RAZ:
		finish(o, x, raz[size], GENERAL);
		break;
	case IA64_PAVGSUB:
		finish(o, x, avgsub[size], GENERAL);
		break;
	case IA64_PCMP_EQ:
		finish(o, x, eq[size], GENERAL);
		break;
	default:
		finish(o, x, gt[size], GENERAL);
		break;
	}
}

/* Instructions whose completers choose among operations that write a general register. */
static void chosen(struct ia64_op *o, const struct ia64_insn *n, const struct ia64_context *x)
{
	static table *const mix[2][2] = {{&ia64_op_mix1r, &ia64_op_mix1l},
					 {&ia64_op_mix2r, &ia64_op_mix2l}};
	static table *const mix4[2] = {&ia64_op_mix4r, &ia64_op_mix4l};
	static table *const unpack[2][2] = {{&ia64_op_unpack1h, &ia64_op_unpack1l},
					    {&ia64_op_unpack2h, &ia64_op_unpack2l}};
	static table *const unpack4[2] = {&ia64_op_unpack4h, &ia64_op_unpack4l};
	static table *const pmpy[2] = {&ia64_op_pmpy2r, &ia64_op_pmpy2l};
	static table *const pmpyshr[2] = {&ia64_op_pmpyshr2u, &ia64_op_pmpyshr2};
	static table *const shr[2] = {&ia64_op_shr_u, &ia64_op_shr};
	static table *const pshr2[2] = {&ia64_op_pshr2u, &ia64_op_pshr2};
	static table *const pshr4[2] = {&ia64_op_pshr4u, &ia64_op_pshr4};
	static table *const pshr2i[2] = {&ia64_op_pshr2ui, &ia64_op_pshr2i};
	static table *const pshr4i[2] = {&ia64_op_pshr4ui, &ia64_op_pshr4i};
	table *op;

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
	finish(o, x, op, GENERAL);
}

/* Bit fields: the decoder gives position in r4 and length in p1, which may reach beyond bit 63. */
static void field(struct ia64_op *o, const struct ia64_insn *n, const struct ia64_context *x)
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
		finish(o, x, n->c[0] ? &ia64_op_extr : &ia64_op_extr_u, GENERAL);
		break;
	case IA64_DEPZ:
		finish(o, x, &ia64_op_dep_z, GENERAL);
		break;
	case IA64_DEPZI:
		o->uimm = ((uint64_t)n->imm & mask) << position;
		finish(o, x, &ia64_op_movl, GENERAL);
		break;
	case IA64_DEPI:
		o->uimm = mask << position;
		finish(o, x, n->imm ? &ia64_op_dep_ones : &ia64_op_dep_zeros, GENERAL);
		break;
	default:
		finish(o, x, &ia64_op_dep, GENERAL);
		break;
	}
}

static void tests(struct ia64_op *o, const struct ia64_insn *n, const struct ia64_context *x)
{
	o->c = n->c[0];
	if (n->format == IA64_FORMAT_I30)
		o->imm = (uint64_t)IA64_FEATURES >> (32 + n->imm) & 1;
	finish(o, x, plans[n->op].op, PREDICATES);
	if ((n->op == IA64_TBIT || n->op == IA64_TNAT || n->op == IA64_TF) && n->c[0] &&
	    bad_predicates(o))
		o->run = ia64_op_illegal[0];
}

/* -- Memory ------------------------------------------------------------------------------------ */

static enum ia64_increment increment(enum ia64_format f)
{
	switch (f) {
	case IA64_FORMAT_M2:
	case IA64_FORMAT_M7:
	case IA64_FORMAT_M14:
		return IA64_INC_REG;
	case IA64_FORMAT_M3:
	case IA64_FORMAT_M5:
	case IA64_FORMAT_M8:
	case IA64_FORMAT_M10:
	case IA64_FORMAT_M12:
	case IA64_FORMAT_M15:
		return IA64_INC_IMM;
	default:
		return IA64_INC_NONE;
	}
}

/* A base register that is written must be writable, and not be the target as well. */
static void check_base(struct ia64_op *o, const struct ia64_insn *n, const struct ia64_context *x,
		       bool general)
{
	if (increment(n->format) != IA64_INC_NONE &&
	    (bad_general(x, n->r3) || (general && n->r1 == n->r3)))
		fault(o, x, IA64_FAULT_ILLEGAL);
}

/* c[0]: size, c[1]: type in the order of the set ldtype */
static void load(struct ia64_op *o, const struct ia64_insn *n, const struct ia64_context *x)
{
	static table *const plain[4][3] = {
	    {&ia64_op_ld1, &ia64_op_ld1_r, &ia64_op_ld1_i},
	    {&ia64_op_ld2, &ia64_op_ld2_r, &ia64_op_ld2_i},
	    {&ia64_op_ld4, &ia64_op_ld4_r, &ia64_op_ld4_i},
	    {&ia64_op_ld8, &ia64_op_ld8_r, &ia64_op_ld8_i},
	};
	static const uint8_t types[9] = {IA64_LD_PLAIN, IA64_LD_S,     IA64_LD_A,
					 IA64_LD_SA,	IA64_LD_PLAIN, IA64_LD_PLAIN,
					 IA64_LD_C_CLR, IA64_LD_C_NC,  IA64_LD_C_CLR};
	enum ia64_increment kind = increment(n->format);
	unsigned type = types[n->c[1]];

	o->c = kind | n->c[0] << IA64_LD_SIZE | type << IA64_LD_TYPE;
	finish(o, x, type == IA64_LD_PLAIN ? plain[n->c[0]][kind] : &ia64_op_lds, GENERAL);
	check_base(o, n, x, true);
}

static void store(struct ia64_op *o, const struct ia64_insn *n, const struct ia64_context *x)
{
	static table *const plain[4][2] = {{&ia64_op_st1, &ia64_op_st1_i},
					   {&ia64_op_st2, &ia64_op_st2_i},
					   {&ia64_op_st4, &ia64_op_st4_i},
					   {&ia64_op_st8, &ia64_op_st8_i}};

	finish(o, x, plain[n->c[0]][n->format == IA64_FORMAT_M5], NOTHING);
	check_base(o, n, x, false);
}

/* The second size of the set fpsize is ldfp8's. */
static unsigned pair_size(const struct ia64_insn *n)
{
	unsigned x6 = ia64_encodings[n->encoding].value >> 30 & 3;

	return x6 == 1 ? IA64_FSIZE_8 : x6 == 2 ? IA64_FSIZE_S : IA64_FSIZE_D;
}

static bool bad_pair(const struct ia64_insn *n)
{
	return bad_floating(n->r1) || bad_floating(n->r2) || (n->r1 & 1) == (n->r2 & 1);
}

static void load_floating(struct ia64_op *o, const struct ia64_insn *n,
			  const struct ia64_context *x)
{
	static table *const plain[4] = {&ia64_op_ldfe, &ia64_op_ldf8, &ia64_op_ldfs, &ia64_op_ldfd};
	static const uint8_t types[6] = {IA64_LD_PLAIN, IA64_LD_S,     IA64_LD_A,
					 IA64_LD_SA,	IA64_LD_C_CLR, IA64_LD_C_NC};
	bool pair = n->op == IA64_LDFP;
	unsigned type = types[n->c[pair && n->format == IA64_FORMAT_M12 ? 0 : 1]];

	o->c = increment(n->format) | type << IA64_LD_TYPE;
	o->p1 = pair;
	o->p2 = pair ? pair_size(n) : n->c[0];
	o->r4 = n->r2;
	if (n->format == IA64_FORMAT_M12)
		o->imm = pair_size(n) == IA64_FSIZE_S ? 8 : 16;
	finish(o, x, pair || type != IA64_LD_PLAIN ? &ia64_op_ldfx : plain[n->c[0]], FLOATING);
	if (pair && bad_pair(n))
		fault(o, x, IA64_FAULT_ILLEGAL);
	check_base(o, n, x, false);
}

static void memory(struct ia64_op *o, const struct ia64_insn *n, const struct ia64_context *x)
{
	static table *const compare_exchange[4] = {&ia64_op_cmpxchg1, &ia64_op_cmpxchg2,
						   &ia64_op_cmpxchg4, &ia64_op_cmpxchg8};
	static table *const exchange[4] = {&ia64_op_xchg1, &ia64_op_xchg2, &ia64_op_xchg4,
					   &ia64_op_xchg8};
	static table *const stores[4] = {&ia64_op_stfe, &ia64_op_stf8, &ia64_op_stfs,
					 &ia64_op_stfd};
	static table *const setf[4] = {&ia64_op_setf_sig, &ia64_op_setf_exp, &ia64_op_setf_s,
				       &ia64_op_setf_d};
	static table *const getf[4] = {&ia64_op_getf_sig, &ia64_op_getf_exp, &ia64_op_getf_s,
				       &ia64_op_getf_d};

	o->c = increment(n->format);
	switch (n->op) {
	case IA64_LD_FILL:
		finish(o, x, &ia64_op_ld8_fill, GENERAL);
		check_base(o, n, x, true);
		break;
	case IA64_ST_SPILL:
		finish(o, x, &ia64_op_st8_spill, NOTHING);
		check_base(o, n, x, false);
		break;
	case IA64_LDF_FILL:
		finish(o, x, &ia64_op_ldf_fill, FLOATING);
		check_base(o, n, x, false);
		break;
	case IA64_STF_SPILL:
		finish(o, x, &ia64_op_stf_spill, NOTHING);
		check_base(o, n, x, false);
		break;
	case IA64_STF:
		finish(o, x, stores[n->c[0]], NOTHING);
		check_base(o, n, x, false);
		break;
	case IA64_LFETCH:
		o->c |= (n->c[0] & 2) << (IA64_LD_TYPE - 1);
		finish(o, x, &ia64_op_lfetch, NOTHING);
		check_base(o, n, x, false);
		break;
	case IA64_LD16:
		finish(o, x, &ia64_op_ld16, GENERAL);
		break;
	case IA64_ST16:
		finish(o, x, &ia64_op_st16, NOTHING);
		break;
	case IA64_CMPXCHG:
		finish(o, x, compare_exchange[n->c[0]], GENERAL);
		break;
	case IA64_CMP8XCHG16:
		finish(o, x, &ia64_op_cmp8xchg16, GENERAL);
		break;
	case IA64_XCHG:
		finish(o, x, exchange[n->c[0]], GENERAL);
		break;
	case IA64_FETCHADD:
		finish(o, x, n->c[0] ? &ia64_op_fetchadd8 : &ia64_op_fetchadd4, GENERAL);
		break;
	case IA64_SETF:
		finish(o, x, setf[n->c[0]], FLOATING);
		break;
	default:
		finish(o, x, getf[n->c[0]], GENERAL);
		break;
	}
}

/* -- Floating point ---------------------------------------------------------------------------- */

static void multiply_add(struct ia64_op *o, const struct ia64_insn *n, const struct ia64_context *x)
{
	static const struct {
		uint8_t op, precision;
		table *run;
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
	finish(o, x, forms[i].run, FLOATING);
}

static void compare_floating(struct ia64_op *o, const struct ia64_insn *n,
			     const struct ia64_context *x)
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
	finish(o, x, &ia64_op_fcmp, PREDICATES);
	if (forms[i].unc && bad_predicates(o))
		o->run = ia64_op_illegal[0];
}

static void floating(struct ia64_op *o, const struct ia64_insn *n, const struct ia64_context *x)
{
	static table *const minmax[4] = {&ia64_op_fmin, &ia64_op_fmax, &ia64_op_famin,
					 &ia64_op_famax};
	static table *const pminmax[4] = {&ia64_op_fpmin, &ia64_op_fpmax, &ia64_op_fpamin,
					  &ia64_op_fpamax};
	static table *const merge[3] = {&ia64_op_fmerge_s, &ia64_op_fmerge_ns, &ia64_op_fmerge_se};
	static table *const pmerge[3] = {&ia64_op_fpmerge_s, &ia64_op_fpmerge_ns,
					 &ia64_op_fpmerge_se};
	static table *const mix[3] = {&ia64_op_fmix_lr, &ia64_op_fmix_r, &ia64_op_fmix_l};
	static table *const sxt[2] = {&ia64_op_fsxt_r, &ia64_op_fsxt_l};
	static table *const swap[3] = {&ia64_op_fswap, &ia64_op_fswap_nl, &ia64_op_fswap_nr};
	static table *const logic[4] = {&ia64_op_fand, &ia64_op_fandcm, &ia64_op_for,
					&ia64_op_fxor};
	static table *const convert[4] = {&ia64_op_fcvt_fx, &ia64_op_fcvt_fxu,
					  &ia64_op_fcvt_fx_trunc, &ia64_op_fcvt_fxu_trunc};
	static table *const pconvert[4] = {&ia64_op_fpcvt_fx, &ia64_op_fpcvt_fxu,
					   &ia64_op_fpcvt_fx_trunc, &ia64_op_fpcvt_fxu_trunc};
	static table *const xma[3] = {&ia64_op_xma_l, &ia64_op_xma_hu, &ia64_op_xma_h};
	unsigned i = n->c[0];

	switch (n->op) {
	case IA64_XMA:
		finish(o, x, xma[i], FLOATING);
		break;
	case IA64_FMINMAX:
	case IA64_FPMINMAX:
		o->c = ia64_fp_mode(n->c[1], IA64_FP_DYNAMIC);
		finish(o, x, n->op == IA64_FMINMAX ? minmax[i] : pminmax[i], FLOATING);
		break;
	case IA64_FCVT:
	case IA64_FPCVT:
		o->c = ia64_fp_mode(n->c[1], IA64_FP_DYNAMIC);
		finish(o, x, n->op == IA64_FCVT ? convert[i] : pconvert[i], FLOATING);
		break;
	case IA64_FPCMP:
		o->c = ia64_fp_mode(n->c[1], IA64_FP_DYNAMIC);
		o->imm = i;
		finish(o, x, &ia64_op_fpcmp, FLOATING);
		break;
	case IA64_FMERGE:
		finish(o, x, merge[i], FLOATING);
		break;
	case IA64_FPMERGE:
		finish(o, x, pmerge[i], FLOATING);
		break;
	case IA64_FMIX:
		finish(o, x, mix[i], FLOATING);
		break;
	case IA64_FSXT:
		finish(o, x, sxt[i], FLOATING);
		break;
	case IA64_FSWAP:
		finish(o, x, swap[i], FLOATING);
		break;
	default:
		finish(o, x, logic[i], FLOATING);
		break;
	}
}

static void approximate(struct ia64_op *o, const struct ia64_insn *n, const struct ia64_context *x)
{
	table *op = n->op == IA64_FRCPA	    ? &ia64_op_frcpa
		    : n->op == IA64_FPRCPA  ? &ia64_op_fprcpa
		    : n->op == IA64_FRSQRTA ? &ia64_op_frsqrta
					    : &ia64_op_fprsqrta;

	o->c = ia64_fp_mode(n->c[0], IA64_FP_DYNAMIC);
	finish(o, x, op, FLOATING);
}

/* -- Control and system ------------------------------------------------------------------------ */

static bool only_in_slot_2(unsigned op)
{
	return op == IA64_BR_CLOOP || op == IA64_BR_CTOP || op == IA64_BR_CEXIT ||
	       op == IA64_BR_WTOP || op == IA64_BR_WEXIT;
}

static void branch(struct ia64_op *o, const struct ia64_insn *n, const struct ia64_context *x)
{
	static table *const checks[] = {
	    [IA64_CHK_S] = &ia64_op_chk_s,
	    [IA64_CHK_SF] = &ia64_op_chk_sf,
	    [IA64_CHK_A] = &ia64_op_chk_a,
	    [IA64_CHK_AF] = &ia64_op_chk_af,
	};

	o->uimm = n->ip + (uint64_t)n->imm;
	o->c = n->c[0];
	if (n->op == IA64_CHK_S || n->op == IA64_CHK_SF || n->op == IA64_CHK_A ||
	    n->op == IA64_CHK_AF)
		set(o, x, checks[n->op]);
	else
		set(o, x, plans[n->op].op);
	if (only_in_slot_2(n->op) && n->slot != 2)
		fault(o, x, IA64_FAULT_ILLEGAL);
}

static void allocate(struct ia64_op *o, const struct ia64_insn *n, struct ia64_context *x)
{
	unsigned sof = n->imm & 0x7F, sol = n->imm >> 7 & 0x7F, sor = n->imm >> 14 & 0xF;

	set(o, x, &ia64_op_alloc);
	if (n->qp || sof > 96 || sol > sof || sor * 8 > sof || n->r1 == 0 || n->r1 >= 32 + sof)
		fault(o, x, IA64_FAULT_ILLEGAL);
	else
		x->sof = sof;
}

/* Of the slot's unit: 0 to 63 belong to M, the others to I. */
static void application(struct ia64_op *o, const struct ia64_insn *n, const struct ia64_context *x)
{
	bool integer = n->format == IA64_FORMAT_I26 || n->format == IA64_FORMAT_I27 ||
		       n->format == IA64_FORMAT_I28;

	switch (n->op) {
	case IA64_MOV_FROM_AR:
		finish(o, x,
		       n->r3 == IA64_AR_LC     ? &ia64_op_mov_from_lc
		       : n->r3 == IA64_AR_PFS  ? &ia64_op_mov_from_pfs
		       : n->r3 == IA64_AR_UNAT ? &ia64_op_mov_from_unat
					       : &ia64_op_mov_from_ar,
		       GENERAL);
		break;
	case IA64_MOV_TO_AR:
		set(o, x,
		    n->r3 == IA64_AR_LC	   ? &ia64_op_mov_to_lc
		    : n->r3 == IA64_AR_PFS ? &ia64_op_mov_to_pfs
					   : &ia64_op_mov_to_ar);
		break;
	default:
		set(o, x, &ia64_op_mov_to_ari);
		break;
	}
	if (integer != (n->r3 >= 64) && !(n->r3 >= 48 && n->r3 < 64))
		fault(o, x, IA64_FAULT_ILLEGAL);
}

static void probe(struct ia64_op *o, const struct ia64_insn *n, const struct ia64_context *x)
{
	unsigned x6 = ia64_encodings[n->encoding].value >> 27 & 0x3F;

	if (n->op == IA64_PROBE) {
		o->c = x6 & 1 ? 2 : 1;
		finish(o, x, &ia64_op_probe, GENERAL);
	} else {
		o->c = x6 == 0x31 ? 3 : x6 == 0x32 ? 1 : 2;
		finish(o, x, &ia64_op_probe_fault, NOTHING);
	}
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
	switch (n->op) {
	case IA64_NOP:
	case IA64_PRIV_MAYBE:
	case IA64_EPC:
		return false;
	case IA64_ILLEGAL:
		fault(o, x, IA64_FAULT_ILLEGAL);
		break;
	case IA64_PRIV:
		fault(o, x, IA64_FAULT_PRIVILEGED);
		break;
	case IA64_BR_IA:
		fault(o, x, n->qp ? IA64_FAULT_ILLEGAL : IA64_FAULT_DISABLED_ISA);
		break;
	case IA64_ADDI:
		finish(o, x,
		       n->r3 == 0    ? &ia64_op_movl
		       : n->imm == 0 ? &ia64_op_mov
				     : &ia64_op_addi,
		       GENERAL);
		break;
	case IA64_CMP_LT:
	case IA64_CMP_LTU:
	case IA64_CMP_EQ:
		compare(o, n, x);
		break;
	case IA64_CMP_EQ_AND:
		compare_parallel(o, n, x, IA64_REL_EQ, 0);
		break;
	case IA64_CMP_EQ_OR:
		compare_parallel(o, n, x, IA64_REL_EQ, 1);
		break;
	case IA64_CMP_EQ_ANDCM:
		compare_parallel(o, n, x, IA64_REL_EQ, 2);
		break;
	case IA64_CMP_GT_AND:
		compare_parallel(o, n, x, IA64_REL_GT, 0);
		break;
	case IA64_CMP_GT_OR:
		compare_parallel(o, n, x, IA64_REL_GT, 1);
		break;
	case IA64_CMP_GT_ANDCM:
		compare_parallel(o, n, x, IA64_REL_GT, 2);
		break;
	case IA64_CMP_GE_AND:
		compare_parallel(o, n, x, IA64_REL_GE, 0);
		break;
	case IA64_CMP_GE_OR:
		compare_parallel(o, n, x, IA64_REL_GE, 1);
		break;
	case IA64_CMP_GE_ANDCM:
		compare_parallel(o, n, x, IA64_REL_GE, 2);
		break;
	case IA64_TBIT:
	case IA64_TBIT_AND:
	case IA64_TBIT_OR:
	case IA64_TBIT_ANDCM:
	case IA64_TNAT:
	case IA64_TNAT_AND:
	case IA64_TNAT_OR:
	case IA64_TNAT_ANDCM:
	case IA64_TF:
	case IA64_TF_AND:
	case IA64_TF_OR:
	case IA64_TF_ANDCM:
		tests(o, n, x);
		break;
	case IA64_PADD:
	case IA64_PSUB:
	case IA64_PAVG:
	case IA64_PAVG_RAZ:
	case IA64_PAVGSUB:
	case IA64_PCMP_EQ:
	case IA64_PCMP_GT:
		multimedia(o, n, x);
		break;
	case IA64_MIX:
	case IA64_MIX4:
	case IA64_UNPACK:
	case IA64_UNPACK4:
	case IA64_PMPY:
	case IA64_PMPYSHR:
	case IA64_SHR:
	case IA64_PSHR2:
	case IA64_PSHR4:
	case IA64_PSHR2I:
	case IA64_PSHR4I:
		chosen(o, n, x);
		break;
	case IA64_MUX1:
		finish(o, x, n->imm == 0xB ? &ia64_op_mux1_rev : &ia64_op_mux1, GENERAL);
		if (n->imm != 0 && (n->imm < 8 || n->imm > 0xB)) /* reserved */
			fault(o, x, IA64_FAULT_ILLEGAL);
		break;
	case IA64_PSHLADD:
	case IA64_PSHRADD:
		finish(o, x, plans[n->op].op, GENERAL);
		if (n->imm > 3)
			fault(o, x, IA64_FAULT_ILLEGAL);
		break;
	case IA64_EXTR:
	case IA64_DEPZ:
	case IA64_DEPZI:
	case IA64_DEPI:
	case IA64_DEP:
		field(o, n, x);
		break;
	case IA64_LD:
		load(o, n, x);
		break;
	case IA64_ST:
		store(o, n, x);
		break;
	case IA64_LDF:
	case IA64_LDFP:
		load_floating(o, n, x);
		break;
	case IA64_LD_FILL:
	case IA64_ST_SPILL:
	case IA64_LDF_FILL:
	case IA64_STF_SPILL:
	case IA64_STF:
	case IA64_LFETCH:
	case IA64_LD16:
	case IA64_ST16:
	case IA64_CMPXCHG:
	case IA64_CMP8XCHG16:
	case IA64_XCHG:
	case IA64_FETCHADD:
	case IA64_SETF:
	case IA64_GETF:
		memory(o, n, x);
		break;
	case IA64_FMA:
	case IA64_FMA_S:
	case IA64_FMA_D:
	case IA64_FMS:
	case IA64_FMS_S:
	case IA64_FMS_D:
	case IA64_FNMA:
	case IA64_FNMA_S:
	case IA64_FNMA_D:
	case IA64_FPMA:
	case IA64_FPMS:
	case IA64_FPNMA:
		multiply_add(o, n, x);
		break;
	case IA64_FCMP_EQ:
	case IA64_FCMP_LT:
	case IA64_FCMP_LE:
	case IA64_FCMP_UNORD:
	case IA64_FCMP_EQ_UNC:
	case IA64_FCMP_LT_UNC:
	case IA64_FCMP_LE_UNC:
	case IA64_FCMP_UNORD_UNC:
		compare_floating(o, n, x);
		break;
	case IA64_FCLASS:
	case IA64_FCLASS_UNC:
		o->c = n->op == IA64_FCLASS_UNC;
		finish(o, x, &ia64_op_fclass, PREDICATES);
		if (o->c && bad_predicates(o))
			o->run = ia64_op_illegal[0];
		break;
	case IA64_XMA:
	case IA64_FMINMAX:
	case IA64_FPMINMAX:
	case IA64_FPCMP:
	case IA64_FMERGE:
	case IA64_FPMERGE:
	case IA64_FMIX:
	case IA64_FSXT:
	case IA64_FSWAP:
	case IA64_FLOGIC:
	case IA64_FCVT:
	case IA64_FPCVT:
		floating(o, n, x);
		break;
	case IA64_FRCPA:
	case IA64_FPRCPA:
	case IA64_FRSQRTA:
	case IA64_FPRSQRTA:
		approximate(o, n, x);
		break;
	case IA64_BR_COND:
	case IA64_BRL_COND:
	case IA64_BR_CALL:
	case IA64_BRL_CALL:
	case IA64_BR_CLOOP:
	case IA64_BR_CTOP:
	case IA64_BR_CEXIT:
	case IA64_BR_WTOP:
	case IA64_BR_WEXIT:
	case IA64_CHK_S:
	case IA64_CHK_SF:
	case IA64_CHK_A:
	case IA64_CHK_AF:
	case IA64_FCHKF:
		branch(o, n, x);
		break;
	case IA64_ALLOC:
		allocate(o, n, x);
		break;
	case IA64_MOV_IP:
		o->uimm = n->ip;
		finish(o, x, &ia64_op_movl, GENERAL);
		break;
	case IA64_MOV_FROM_AR:
	case IA64_MOV_TO_AR:
	case IA64_MOV_TO_ARI:
		application(o, n, x);
		break;
	case IA64_PROBE:
	case IA64_PROBE_FAULT:
		probe(o, n, x);
		break;
	case IA64_BREAK:
		if (n->format == IA64_FORMAT_B9) /* its number does not reach the system */
			o->imm = 0;
		set(o, x, &ia64_op_break);
		break;
	default:
		finish(o, x, plans[n->op].op, plans[n->op].target);
		if (n->op == IA64_COVER)
			x->sof = 0;
		break;
	}
	return true;
}
