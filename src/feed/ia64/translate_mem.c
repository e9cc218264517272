/* Operations of instructions that access memory or move between register files. */
#include "feed/ia64/translate_parts.h"

enum ia64_increment ia64_increments(enum ia64_format f)
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
	if (ia64_increments(n->format) != IA64_INC_NONE &&
	    (ia64_bad_general(x, n->r3) || (general && n->r1 == n->r3)))
		ia64_make_fault(o, x, IA64_FAULT_ILLEGAL);
}

/* c[0]: size, c[1]: type in the order of the set ldtype */
void ia64_make_load(struct ia64_op *o, const struct ia64_insn *n, struct ia64_context *x)
{
	static ia64_table *const plain[4][3] = {
	    {&ia64_op_ld1, &ia64_op_ld1_r, &ia64_op_ld1_i},
	    {&ia64_op_ld2, &ia64_op_ld2_r, &ia64_op_ld2_i},
	    {&ia64_op_ld4, &ia64_op_ld4_r, &ia64_op_ld4_i},
	    {&ia64_op_ld8, &ia64_op_ld8_r, &ia64_op_ld8_i},
	};
	static const uint8_t types[9] = {IA64_LD_PLAIN, IA64_LD_S,     IA64_LD_A,
					 IA64_LD_SA,	IA64_LD_PLAIN, IA64_LD_PLAIN,
					 IA64_LD_C_CLR, IA64_LD_C_NC,  IA64_LD_C_CLR};
	enum ia64_increment kind = ia64_increments(n->format);
	unsigned type = types[n->c[1]];

	o->c = kind | n->c[0] << IA64_LD_SIZE | type << IA64_LD_TYPE;
	ia64_finish(o, n, x, type == IA64_LD_PLAIN ? plain[n->c[0]][kind] : &ia64_op_lds);
	check_base(o, n, x, true);
}

void ia64_make_store(struct ia64_op *o, const struct ia64_insn *n, struct ia64_context *x)
{
	static ia64_table *const plain[4][2] = {{&ia64_op_st1, &ia64_op_st1_i},
						{&ia64_op_st2, &ia64_op_st2_i},
						{&ia64_op_st4, &ia64_op_st4_i},
						{&ia64_op_st8, &ia64_op_st8_i}};

	ia64_finish(o, n, x, plain[n->c[0]][n->format == IA64_FORMAT_M5]);
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
	return ia64_bad_floating(n->r1) || ia64_bad_floating(n->r2) || (n->r1 & 1) == (n->r2 & 1);
}

void ia64_make_load_floating(struct ia64_op *o, const struct ia64_insn *n, struct ia64_context *x)
{
	static ia64_table *const plain[4] = {&ia64_op_ldfe, &ia64_op_ldf8, &ia64_op_ldfs,
					     &ia64_op_ldfd};
	static const uint8_t types[6] = {IA64_LD_PLAIN, IA64_LD_S,     IA64_LD_A,
					 IA64_LD_SA,	IA64_LD_C_CLR, IA64_LD_C_NC};
	bool pair = n->op == IA64_LDFP;
	unsigned type = types[n->c[pair && n->format == IA64_FORMAT_M12 ? 0 : 1]];

	o->c = ia64_increments(n->format) | type << IA64_LD_TYPE;
	o->p1 = pair;
	o->p2 = pair ? pair_size(n) : n->c[0];
	o->r4 = n->r2;
	if (n->format == IA64_FORMAT_M12)
		o->imm = pair_size(n) == IA64_FSIZE_S ? 8 : 16;
	ia64_finish(o, n, x, pair || type != IA64_LD_PLAIN ? &ia64_op_ldfx : plain[n->c[0]]);
	if (pair && bad_pair(n))
		ia64_make_fault(o, x, IA64_FAULT_ILLEGAL);
	check_base(o, n, x, false);
}

void ia64_make_memory(struct ia64_op *o, const struct ia64_insn *n, struct ia64_context *x)
{
	static ia64_table *const compare_exchange[4] = {&ia64_op_cmpxchg1, &ia64_op_cmpxchg2,
							&ia64_op_cmpxchg4, &ia64_op_cmpxchg8};
	static ia64_table *const exchange[4] = {&ia64_op_xchg1, &ia64_op_xchg2, &ia64_op_xchg4,
						&ia64_op_xchg8};
	static ia64_table *const stores[4] = {&ia64_op_stfe, &ia64_op_stf8, &ia64_op_stfs,
					      &ia64_op_stfd};
	static ia64_table *const setf[4] = {&ia64_op_setf_sig, &ia64_op_setf_exp, &ia64_op_setf_s,
					    &ia64_op_setf_d};
	static ia64_table *const getf[4] = {&ia64_op_getf_sig, &ia64_op_getf_exp, &ia64_op_getf_s,
					    &ia64_op_getf_d};

	o->c = ia64_increments(n->format);
	switch (n->op) {
	case IA64_LD_FILL:
		ia64_finish(o, n, x, &ia64_op_ld8_fill);
		check_base(o, n, x, true);
		break;
	case IA64_ST_SPILL:
		ia64_finish(o, n, x, &ia64_op_st8_spill);
		check_base(o, n, x, false);
		break;
	case IA64_LDF_FILL:
		ia64_finish(o, n, x, &ia64_op_ldf_fill);
		check_base(o, n, x, false);
		break;
	case IA64_STF_SPILL:
		ia64_finish(o, n, x, &ia64_op_stf_spill);
		check_base(o, n, x, false);
		break;
	case IA64_STF:
		ia64_finish(o, n, x, stores[n->c[0]]);
		check_base(o, n, x, false);
		break;
	case IA64_LFETCH:
		o->c |= (n->c[0] & 2) << (IA64_LD_TYPE - 1);
		ia64_finish(o, n, x, &ia64_op_lfetch);
		check_base(o, n, x, false);
		break;
	case IA64_LD16:
		ia64_finish(o, n, x, &ia64_op_ld16);
		break;
	case IA64_ST16:
		ia64_finish(o, n, x, &ia64_op_st16);
		break;
	case IA64_CMPXCHG:
		ia64_finish(o, n, x, compare_exchange[n->c[0]]);
		break;
	case IA64_CMP8XCHG16:
		ia64_finish(o, n, x, &ia64_op_cmp8xchg16);
		break;
	case IA64_XCHG:
		ia64_finish(o, n, x, exchange[n->c[0]]);
		break;
	case IA64_FETCHADD:
		ia64_finish(o, n, x, n->c[0] ? &ia64_op_fetchadd8 : &ia64_op_fetchadd4);
		break;
	case IA64_SETF:
		ia64_finish(o, n, x, setf[n->c[0]]);
		break;
	default:
		ia64_finish(o, n, x, getf[n->c[0]]);
		break;
	}
}

unsigned ia64_alignment(const struct ia64_insn *n)
{
	static const uint8_t floating[] = {16, 8, 4, 8};
	unsigned type = n->c[1];

	switch (n->op) {
	case IA64_LD: /* .s and .sa are deferred by software, which here has no need to */
		return type == 1 || type == 3 ? 0 : 1u << n->c[0];
	case IA64_ST:
		return 1u << n->c[0];
	case IA64_LD_FILL:
	case IA64_ST_SPILL:
		return 8;
	case IA64_LDF:
		return type == 1 || type == 3 ? 0 : floating[n->c[0]];
	case IA64_STF:
		return floating[n->c[0]];
	case IA64_LDF_FILL:
	case IA64_STF_SPILL:
		return 16;
	case IA64_LDFP:
		type = n->c[n->format == IA64_FORMAT_M12 ? 0 : 1];
		return type == 1 || type == 3 ? 0 : pair_size(n) == IA64_FSIZE_S ? 8 : 16;
	default:
		return 0;
	}
}
