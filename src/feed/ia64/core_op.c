/*
 * Instructions as a core model sees them, by their formats (245319 chapter 4). Ports: 323602-001
 * table 2-2, the prose of §2.2.1, and where its tables 2-4 and 2-5 are unreadable the public
 * description of the Itanium 2's ports in GCC (config/ia64/itanium2.md).
 */
#include "feed/ia64/core_op.h"

#include "feed/ia64/cpu.h"

#include <string.h>

/* Roles of the register fields. */
enum role {
	ROLE_NONE,
	SRC_GR, /* with the use of the row */
	SRC_ADDRESS,
	SRC_STORE,
	SRC_FR,
	SRC_STORE_FR,
	SRC_BR,
	SRC_AR,
	DST_GR,
	DST_FR,
	DST_BR,
	DST_AR,
	DST_ADDRESS, /* a source, and incremented */
};

struct shape {
	uint8_t r1, r2, r3, r4; /* enum role */
	bool predicates;	/* p1 and p2 are results */
	uint8_t use, via, via_predicate;
	uint8_t port; /* in an I slot, for what M slots take too */
};

#define ALU   EPIC_USE_ALU, EPIC_VIA_ADDER, EPIC_VIA_COMPARE
#define MM    EPIC_USE_MULTIMEDIA, EPIC_VIA_MULTIMEDIA, 0
#define LD    EPIC_USE_ALU, EPIC_VIA_LOAD, 0
#define LDF   EPIC_USE_ALU, EPIC_VIA_FLOAD, 0
#define FMAC  EPIC_USE_FMAC, EPIC_VIA_FMAC, EPIC_VIA_FAPPROXIMATE
#define FMISC EPIC_USE_FMISC, EPIC_VIA_FMISC, EPIC_VIA_FCOMPARE
#define MOVE  EPIC_USE_ALU, EPIC_VIA_MOVE, 0
#define AR    EPIC_USE_ALU, EPIC_VIA_APPLICATION, 0

#define A_	     EPIC_PORT_A
#define I_	     EPIC_PORT_I
#define I0	     EPIC_PORT_I0
#define M_	     EPIC_PORT_M
#define M0	     EPIC_PORT_M0
#define MR	     EPIC_PORT_M01
#define M2	     EPIC_PORT_M2
#define MW	     EPIC_PORT_M23
#define F_	     EPIC_PORT_F
#define B_	     EPIC_PORT_B
#define FORMAT(name) [IA64_FORMAT_##name]

static const struct shape shapes[] = {
    FORMAT(A1) = {DST_GR, SRC_GR, SRC_GR, 0, false, ALU, A_},
    FORMAT(A2) = {DST_GR, SRC_GR, SRC_GR, 0, false, ALU, A_},
    FORMAT(A3) = {DST_GR, 0, SRC_GR, 0, false, ALU, A_},
    FORMAT(A4) = {DST_GR, 0, SRC_GR, 0, false, ALU, A_},
    FORMAT(A5) = {DST_GR, 0, SRC_GR, 0, false, ALU, A_},
    FORMAT(A6) = {0, SRC_GR, SRC_GR, 0, true, ALU, A_},
    FORMAT(A7) = {0, 0, SRC_GR, 0, true, ALU, A_},
    FORMAT(A8) = {0, 0, SRC_GR, 0, true, ALU, A_},
    FORMAT(A9) = {DST_GR, SRC_GR, SRC_GR, 0, false, MM, A_},
    FORMAT(A10) = {DST_GR, SRC_GR, SRC_GR, 0, false, MM, A_},
    FORMAT(I1) = {DST_GR, SRC_GR, SRC_GR, 0, false, MM, I0},
    FORMAT(I2) = {DST_GR, SRC_GR, SRC_GR, 0, false, MM, I_},
    FORMAT(I3) = {DST_GR, SRC_GR, 0, 0, false, MM, I_},
    FORMAT(I4) = {DST_GR, SRC_GR, 0, 0, false, MM, I_},
    FORMAT(I5) = {DST_GR, SRC_GR, SRC_GR, 0, false, MM, I_},
    FORMAT(I6) = {DST_GR, 0, SRC_GR, 0, false, MM, I_},
    FORMAT(I7) = {DST_GR, SRC_GR, SRC_GR, 0, false, MM, I_},
    FORMAT(I8) = {DST_GR, SRC_GR, 0, 0, false, MM, I_},
    FORMAT(I9) = {DST_GR, 0, SRC_GR, 0, false, MM, I_},
    FORMAT(I10) = {DST_GR, SRC_GR, SRC_GR, 0, false, ALU, I_},
    FORMAT(I11) = {DST_GR, 0, SRC_GR, 0, false, ALU, I_},
    FORMAT(I12) = {DST_GR, SRC_GR, 0, 0, false, ALU, I_},
    FORMAT(I13) = {DST_GR, 0, 0, 0, false, ALU, I_},
    FORMAT(I14) = {DST_GR, 0, SRC_GR, 0, false, ALU, I_},
    FORMAT(I15) = {DST_GR, SRC_GR, SRC_GR, 0, false, ALU, I_},
    FORMAT(I16) = {0, 0, SRC_GR, 0, true, ALU, I_},
    FORMAT(I17) = {0, 0, SRC_GR, 0, true, ALU, I_},
    FORMAT(I18) = {.port = I_},
    FORMAT(I19) = {.port = I_},
    FORMAT(I20) = {0, SRC_GR, 0, 0, false, ALU, I_},
    FORMAT(I21) = {DST_BR, SRC_GR, 0, 0, false, EPIC_USE_ALU, EPIC_VIA_BRANCH_REG, 0, I0},
    FORMAT(I22) = {DST_GR, SRC_BR, 0, 0, false, MOVE, I0},
    FORMAT(I23) = {0, SRC_GR, 0, 0, false, ALU, I0},
    FORMAT(I24) = {.port = I0},
    FORMAT(I25) = {DST_GR, 0, 0, 0, false, MOVE, I0},
    FORMAT(I26) = {0, SRC_GR, DST_AR, 0, false, AR, I0},
    FORMAT(I27) = {0, 0, DST_AR, 0, false, AR, I0},
    FORMAT(I28) = {DST_GR, 0, SRC_AR, 0, false, AR, I0},
    FORMAT(I29) = {DST_GR, 0, SRC_GR, 0, false, ALU, I_},
    FORMAT(I30) = {.predicates = true, .via_predicate = EPIC_VIA_COMPARE, .port = I_},
    FORMAT(M1) = {DST_GR, 0, SRC_ADDRESS, 0, false, LD, MR},
    FORMAT(M2) = {DST_GR, SRC_GR, DST_ADDRESS, 0, false, LD, MR},
    FORMAT(M3) = {DST_GR, 0, DST_ADDRESS, 0, false, LD, MR},
    FORMAT(M4) = {0, SRC_STORE, SRC_ADDRESS, 0, false, ALU, MW},
    FORMAT(M5) = {0, SRC_STORE, DST_ADDRESS, 0, false, ALU, MW},
    FORMAT(M6) = {DST_FR, 0, SRC_ADDRESS, 0, false, LDF, M_},
    FORMAT(M7) = {DST_FR, SRC_GR, DST_ADDRESS, 0, false, LDF, M_},
    FORMAT(M8) = {DST_FR, 0, DST_ADDRESS, 0, false, LDF, M_},
    FORMAT(M9) = {0, SRC_STORE_FR, SRC_ADDRESS, 0, false, ALU, MW},
    FORMAT(M10) = {0, SRC_STORE_FR, DST_ADDRESS, 0, false, ALU, MW},
    FORMAT(M11) = {DST_FR, DST_FR, SRC_ADDRESS, 0, false, LDF, MR},
    FORMAT(M12) = {DST_FR, DST_FR, DST_ADDRESS, 0, false, LDF, MR},
    FORMAT(M13) = {0, 0, SRC_ADDRESS, 0, false, ALU, MR},
    FORMAT(M14) = {0, SRC_GR, DST_ADDRESS, 0, false, ALU, MR},
    FORMAT(M15) = {0, 0, DST_ADDRESS, 0, false, ALU, MR},
    FORMAT(M16) = {DST_GR, SRC_STORE, SRC_ADDRESS, 0, false, LD, MW},
    FORMAT(M17) = {DST_GR, 0, SRC_ADDRESS, 0, false, LD, MW},
    FORMAT(M18) = {DST_FR, SRC_GR, 0, 0, false, EPIC_USE_SETF, EPIC_VIA_SETF, 0, MW},
    FORMAT(M19) = {DST_GR, SRC_FR, 0, 0, false, EPIC_USE_GETF, EPIC_VIA_GETF, 0, M2},
    FORMAT(M20) = {0, SRC_GR, 0, 0, false, ALU, MW},
    FORMAT(M21) = {0, SRC_FR, 0, 0, false, EPIC_USE_FMISC, 0, 0, MW},
    FORMAT(M22) = {.port = MR},
    FORMAT(M23) = {.port = MR},
    FORMAT(M24) = {.port = M0},
    FORMAT(M25) = {.port = M0},
    FORMAT(M26) = {.port = M0},
    FORMAT(M27) = {.port = M0},
    FORMAT(M28) = {0, 0, SRC_ADDRESS, 0, false, ALU, M0},
    FORMAT(M29) = {0, SRC_GR, DST_AR, 0, false, AR, M2},
    FORMAT(M30) = {0, 0, DST_AR, 0, false, AR, M2},
    FORMAT(M31) = {DST_GR, 0, SRC_AR, 0, false, AR, M2},
    FORMAT(M34) = {DST_GR, 0, 0, 0, false, MOVE, M2},
    FORMAT(M35) = {0, SRC_GR, 0, 0, false, ALU, M0},
    FORMAT(M36) = {DST_GR, 0, 0, 0, false, AR, M0},
    FORMAT(M37) = {.port = M_},
    FORMAT(M38) = {DST_GR, SRC_GR, SRC_ADDRESS, 0, false, EPIC_USE_ALU, EPIC_VIA_PROBE, 0, M0},
    FORMAT(M39) = {DST_GR, 0, SRC_ADDRESS, 0, false, EPIC_USE_ALU, EPIC_VIA_PROBE, 0, M0},
    FORMAT(M40) = {0, 0, SRC_ADDRESS, 0, false, ALU, M0},
    FORMAT(M43) = {DST_GR, 0, SRC_GR, 0, false, EPIC_USE_ALU, EPIC_VIA_INDIRECT, 0, M0},
    FORMAT(M44) = {.port = M0},
    FORMAT(M46) = {DST_GR, 0, SRC_ADDRESS, 0, false, EPIC_USE_ALU, EPIC_VIA_PROBE, 0, M0},
    FORMAT(M48) = {.port = M_},
    FORMAT(B1) = {.port = B_},
    FORMAT(B2) = {.port = B_},
    FORMAT(B3) = {DST_BR, 0, 0, 0, false, EPIC_USE_BRANCH, EPIC_VIA_BRANCH_REG, 0, B_},
    FORMAT(B4) = {0, SRC_BR, 0, 0, false, EPIC_USE_BRANCH, 0, 0, B_},
    FORMAT(B5) = {DST_BR, SRC_BR, 0, 0, false, EPIC_USE_BRANCH, EPIC_VIA_BRANCH_REG, 0, B_},
    FORMAT(B6) = {.port = EPIC_PORT_B_HINT},
    FORMAT(B7) = {.port = EPIC_PORT_B_HINT},
    FORMAT(B8) = {.port = B_},
    FORMAT(B9) = {.port = EPIC_PORT_B_HINT},
    FORMAT(F1) = {DST_FR, SRC_FR, SRC_FR, SRC_FR, false, FMAC, F_},
    FORMAT(F2) = {DST_FR, SRC_FR, SRC_FR, SRC_FR, false, FMAC, F_},
    FORMAT(F3) = {DST_FR, SRC_FR, SRC_FR, SRC_FR, false, FMISC, F_},
    FORMAT(F4) = {0, SRC_FR, SRC_FR, 0, true, FMISC, F_},
    FORMAT(F5) = {0, SRC_FR, 0, 0, true, FMISC, F_},
    FORMAT(F6) = {DST_FR, SRC_FR, SRC_FR, 0, true, FMAC, F_},
    FORMAT(F7) = {DST_FR, 0, SRC_FR, 0, true, FMAC, F_},
    FORMAT(F8) = {DST_FR, SRC_FR, SRC_FR, 0, false, FMISC, F_},
    FORMAT(F9) = {DST_FR, SRC_FR, SRC_FR, 0, false, FMISC, F_},
    FORMAT(F10) = {DST_FR, SRC_FR, 0, 0, false, FMAC, F_},
    FORMAT(F11) = {DST_FR, SRC_FR, 0, 0, false, FMAC, F_},
    FORMAT(F12) = {.port = F_},
    FORMAT(F13) = {.port = F_},
    FORMAT(F14) = {.port = F_},
    FORMAT(F15) = {.port = F_},
    FORMAT(F16) = {.port = F_},
    FORMAT(X1) = {.port = EPIC_PORT_LONG},
    FORMAT(X2) = {DST_GR, 0, 0, 0, false, ALU, EPIC_PORT_LONG},
    FORMAT(X3) = {.port = EPIC_PORT_LONG_B},
    FORMAT(X4) = {DST_BR, 0, 0, 0, false, EPIC_USE_BRANCH, EPIC_VIA_BRANCH_REG, 0,
		  EPIC_PORT_LONG_B},
    FORMAT(X5) = {.port = EPIC_PORT_LONG},
};

static unsigned application_group(unsigned ar)
{
	switch (ar) {
	case IA64_AR_LC:
	case IA64_AR_EC:
		return EPIC_AR_LOOP;
	case IA64_AR_FPSR:
		return EPIC_AR_STATUS;
	case IA64_AR_PFS:
		return EPIC_AR_FRAME;
	case IA64_AR_RSC:
	case IA64_AR_BSP:
	case IA64_AR_BSPSTORE:
	case IA64_AR_RNAT:
		return EPIC_AR_STACK;
	default:
		return EPIC_AR_OTHER;
	}
}

static unsigned application_via(unsigned ar)
{
	unsigned group = application_group(ar);

	return group == EPIC_AR_LOOP || group == EPIC_AR_FRAME ? EPIC_VIA_LOOP
	       : group == EPIC_AR_STATUS		       ? EPIC_VIA_STATUS
							       : EPIC_VIA_APPLICATION;
}

static void source(struct epic_op *op, unsigned name, unsigned use)
{
	op->sources[op->source_count] = (uint16_t)name;
	op->uses[op->source_count++] = (uint8_t)use;
}

static void result(struct epic_op *op, unsigned name, unsigned via)
{
	op->results[op->result_count] = (uint16_t)name;
	op->vias[op->result_count++] = (uint8_t)via;
}

/* Registers that never change are no operands. */
static void operand(struct epic_op *op, const struct shape *s, unsigned role, unsigned r,
		    const struct ia64_insn *n)
{
	switch (role) {
	case SRC_GR:
	case SRC_STORE:
	case SRC_ADDRESS:
	case DST_ADDRESS:
		if (r)
			source(op, r,
			       role == SRC_GR	   ? s->use
			       : role == SRC_STORE ? EPIC_USE_STORE
						   : EPIC_USE_ADDRESS);
		if (role == DST_ADDRESS && r)
			result(op, r, EPIC_VIA_ADDER);
		break;
	case SRC_FR:
	case SRC_STORE_FR:
		if (r > 1)
			source(op, EPIC_FLOATING + r, role == SRC_FR ? s->use : EPIC_USE_STORE);
		break;
	case SRC_BR:
		source(op, EPIC_BRANCH_REG + (r & 7), s->use);
		break;
	case SRC_AR:
		source(op, EPIC_APPLICATION + application_group(n->r3), EPIC_USE_ALU);
		break;
	case DST_AR:
		result(op, EPIC_APPLICATION + application_group(n->r3), application_via(n->r3));
		break;
	case DST_GR:
		if (r)
			result(op, r,
			       n->format == IA64_FORMAT_I28 || n->format == IA64_FORMAT_M31
				   ? application_via(n->r3)
				   : s->via);
		break;
	case DST_FR:
		if (r > 1)
			result(op, EPIC_FLOATING + r, s->via);
		break;
	case DST_BR:
		result(op, EPIC_BRANCH_REG + (r & 7), s->via);
		break;
	default:
		break;
	}
}

static void operands(struct epic_op *op, const struct shape *s, const struct ia64_insn *n)
{
	operand(op, s, s->r1, n->r1, n);
	operand(op, s, s->r2, n->r2, n);
	operand(op, s, s->r3, n->r3, n);
	operand(op, s, s->r4, n->r4, n);
	if (!s->predicates)
		return;
	if (n->p1 && n->format != IA64_FORMAT_F6 && n->format != IA64_FORMAT_F7)
		result(op, EPIC_PREDICATE + n->p1, s->via_predicate);
	if (n->p2)
		result(op, EPIC_PREDICATE + n->p2, s->via_predicate);
}

static unsigned load_kind(uint64_t word, bool floating)
{
	unsigned type = word >> 30 & 0x3C;
	bool check = type == 0x20 || type == 0x24 || (!floating && type == 0x28);

	return floating ? (check ? EPIC_FP_LOAD_CHECK : EPIC_FP_LOAD)
			: (check ? EPIC_LOAD_CHECK : EPIC_LOAD);
}

static unsigned kind_of(const struct ia64_insn *n, uint64_t word)
{
	switch (n->op) {
	case IA64_NOP: /* a hint.b is nothing else */
		return n->format != IA64_FORMAT_B9 && word >> 26 & 1 && !n->imm ? EPIC_PAUSE
										: EPIC_NOP;
	case IA64_LD:
	case IA64_LD16:
	case IA64_LD_FILL:
		return load_kind(word, false);
	case IA64_LDF:
	case IA64_LDFP:
	case IA64_LDF_FILL:
		return load_kind(word, true);
	case IA64_ST:
	case IA64_ST16:
	case IA64_ST_SPILL:
		return EPIC_STORE;
	case IA64_STF:
	case IA64_STF_SPILL:
		return EPIC_FP_STORE;
	case IA64_CMPXCHG:
	case IA64_CMP8XCHG16:
	case IA64_XCHG:
	case IA64_FETCHADD:
		return EPIC_EXCHANGE;
	case IA64_LFETCH:
		return EPIC_PREFETCH;
	case IA64_FC:
		return EPIC_FLUSH;
	case IA64_MF:
		return EPIC_FENCE;
	case IA64_BR_COND:
	case IA64_BR_CALL:
	case IA64_BR_CLOOP:
	case IA64_BR_CTOP:
	case IA64_BR_CEXIT:
	case IA64_BR_WTOP:
	case IA64_BR_WEXIT:
	case IA64_BRL_COND:
	case IA64_BRL_CALL:
		return EPIC_BRANCH;
	case IA64_BR_RET:
		return EPIC_RETURN;
	case IA64_BR_IND:
	case IA64_BR_CALL_IND:
		return EPIC_INDIRECT;
	case IA64_CHK_S:
		return EPIC_CHECK;
	case IA64_CHK_SF:
		return EPIC_FP_CHECK;
	case IA64_CHK_A:
		return EPIC_ALAT_CHECK;
	case IA64_CHK_AF:
		return EPIC_FP_ALAT_CHECK;
	case IA64_FCHKF:
		return EPIC_FLAGS_CHECK;
	case IA64_SRLZ_I:
		return EPIC_SERIALIZE;
	case IA64_BREAK:
	case IA64_ILLEGAL:
	case IA64_PRIV:
		return EPIC_LEAVE;
	default:
		return EPIC_OTHER;
	}
}

static unsigned loop_of(const struct ia64_insn *n)
{
	switch (n->op) {
	case IA64_BR_CLOOP:
	case IA64_BR_CTOP:
		return EPIC_LOOP_BACK;
	case IA64_BR_CEXIT:
		return EPIC_LOOP_OUT;
	default:
		return EPIC_LOOP_NONE;
	}
}

/* By the completers of loads, stores and semaphores (245319 §4.4). */
static unsigned order_of(const struct ia64_insn *n, uint64_t word)
{
	unsigned type = word >> 30 & 0x3C;

	switch (n->op) {
	case IA64_LD:
		return type == 0x14 || type == 0x28 ? EPIC_ACQUIRE : 0;
	case IA64_LD16:
		return type == 0x2C ? EPIC_ACQUIRE : 0;
	case IA64_ST:
	case IA64_ST16:
		return type == 0x34 ? EPIC_RELEASE : 0;
	case IA64_MF:
		return EPIC_ACQUIRE | EPIC_RELEASE;
	case IA64_XCHG:
		return EPIC_ACQUIRE;
	case IA64_CMPXCHG:
	case IA64_CMP8XCHG16:
	case IA64_FETCHADD:
		return type & 4 ? EPIC_RELEASE : EPIC_ACQUIRE;
	default:
		return 0;
	}
}

/* ld.bias, lfetch.excl. */
static bool asks_to_own(const struct ia64_insn *n, uint64_t word)
{
	return (n->op == IA64_LD && (word >> 30 & 0x3C) == 0x10) ||
	       (n->op == IA64_LFETCH && word >> 30 & 1);
}

static unsigned bytes_of(const struct ia64_insn *n, uint64_t word)
{
	unsigned x6 = word >> 30 & 3;

	switch (n->op) {
	case IA64_LD:
	case IA64_ST:
	case IA64_CMPXCHG:
	case IA64_XCHG:
		return 1u << x6;
	case IA64_FETCHADD:
		return x6 == 2 ? 4 : 8;
	case IA64_LD_FILL:
	case IA64_ST_SPILL:
		return 8;
	case IA64_LDF:
	case IA64_STF:
		return x6 == 0 ? 16 : x6 == 2 ? 4 : 8;
	case IA64_LDFP:
		return x6 == 2 ? 8 : 16;
	case IA64_LD16:
	case IA64_ST16:
	case IA64_CMP8XCHG16:
	case IA64_LDF_FILL:
	case IA64_STF_SPILL:
		return 16;
	default:
		return 0;
	}
}

/* Weights of floating-point operations: 323602-001 §4.16, FP_OPS_RETIRED. Where several of its rows
 * fit, that of plain multiplication or addition: half as much as both. */
static unsigned fp_ops(const struct ia64_insn *n)
{
	bool half = n->r2 == 0 || n->r4 == 1;

	switch (n->op) {
	case IA64_FPMA:
	case IA64_FPMS:
	case IA64_FPNMA:
		return half ? 2 : 4;
	case IA64_FMA:
	case IA64_FMA_S:
	case IA64_FMA_D:
	case IA64_FMS:
	case IA64_FMS_S:
	case IA64_FMS_D:
	case IA64_FNMA:
	case IA64_FNMA_S:
	case IA64_FNMA_D:
		return half ? 1 : 2;
	case IA64_FPRCPA:
	case IA64_FPRSQRTA:
	case IA64_FPMINMAX:
	case IA64_FPCMP:
	case IA64_FPCVT:
		return 2;
	case IA64_FRCPA:
	case IA64_FRSQRTA:
	case IA64_FMINMAX:
	case IA64_FCVT:
		return 1;
	default:
		return n->format == IA64_FORMAT_F4 ? 1 : 0;
	}
}

static unsigned flags_of(const struct ia64_insn *n, unsigned template, unsigned slots)
{
	bool bbb = template == 0x16, mbb = template == 0x12;
	unsigned flags = n->stop ? EPIC_STOP : 0;

	flags |= n->slot + 1u == slots ? EPIC_LAST : 0;
	flags |= bbb || mbb ? EPIC_SPLITS : 0;
	flags |= bbb ? EPIC_B_FIRST : 0;
	switch (n->op) {
	case IA64_BR_CALL:
	case IA64_BR_CALL_IND:
	case IA64_BRL_CALL:
		return flags | EPIC_CALL | EPIC_STACK;
	case IA64_BR_RET:
	case IA64_ALLOC:
	case IA64_COVER:
	case IA64_FLUSHRS:
	case IA64_LOADRS:
		return flags | EPIC_STACK;
	case IA64_MOV_TO_PR:
	case IA64_MOV_TO_ROT:
		return flags | EPIC_PREDICATES;
	default:
		return flags;
	}
}

static unsigned port_of(const struct ia64_insn *n, const struct shape *s, const struct epic_op *op)
{
	unsigned unit = op->unit;
	bool advanced = op->encoding >> 30 & 0x28;

	if (!n->encoding)
		return unit == 'M' ? EPIC_PORT_M : unit == 'I' ? EPIC_PORT_I : EPIC_PORT_B;
	if (s->port == EPIC_PORT_A && unit == 'M')
		return EPIC_PORT_M;
	if (n->op == IA64_PMPY)
		return EPIC_PORT_I0;
	if (n->op == IA64_NOP && n->format == IA64_FORMAT_M24)
		return EPIC_PORT_M0;
	if (n->op == IA64_BREAK && n->format == IA64_FORMAT_B9)
		return EPIC_PORT_B;
	if (n->op == IA64_LDF && advanced)
		return EPIC_PORT_M01;
	return s->port;
}

/* The kind of slot, by template and slot. */
static char unit_of(unsigned template, unsigned slot)
{
	static const char units[16][4] = {"MII", "MII", "MLI", "",    "MMI", "MMI", "MFI", "MMF",
					  "MIB", "MBB", "",    "BBB", "MMB", "",    "MFB", ""};
	char unit = units[template / 2][slot];

	return unit == 'L' || !unit ? 'I' : unit;
}

static uint64_t encoding_of(const struct ia64_bundle *b, unsigned slot)
{
	uint64_t w = slot == 0	 ? b->low >> 5
		     : slot == 1 ? b->low >> 46 | b->high << 18
				 : b->high >> 23;

	return w & ((1ull << 41) - 1);
}

static unsigned waits_of(const struct ia64_insn *n)
{
	switch (n->op) {
	case IA64_LD_FILL:
		return EPIC_WAITS_FILL;
	case IA64_LOADRS:
		return EPIC_WAITS_LOADRS;
	case IA64_MOV_TO_AR:
	case IA64_MOV_TO_ARI:
	case IA64_MOV_FROM_AR:
		return n->r3 == IA64_AR_UNAT ? EPIC_WAITS_MOVE : EPIC_WAITS_NOT;
	default:
		return EPIC_WAITS_NOT;
	}
}

void ia64_core_op(struct epic_op *op, const struct ia64_insn *n, const struct ia64_bundle *bundle)
{
	static const struct shape none = {0};
	unsigned template = bundle->low & 0x1E, slots = ia64_slots(bundle);
	bool wide = slots == 2 && n->slot == 1;
	const struct shape *s = &none;

	if (n->encoding && n->format < sizeof(shapes) / sizeof(shapes[0]))
		s = &shapes[n->format];
	memset(op, 0, sizeof(*op));
	op->ip = n->ip;
	op->encoding = encoding_of(bundle, wide ? 2 : n->slot);
	op->target = n->ip + (uint64_t)n->imm;
	op->slot = n->slot;
	op->slots = (uint8_t)slots;
	op->unit = (uint8_t)unit_of(template, n->slot);
	op->either = n->encoding && n->format <= IA64_FORMAT_A10;
	op->kind = (uint8_t)kind_of(n, op->encoding);
	op->port = (uint8_t)port_of(n, s, op);
	op->hint = op->encoding >> 33 & 3;
	op->bytes = (uint8_t)bytes_of(n, op->encoding);
	op->order = (uint8_t)order_of(n, op->encoding);
	op->streams =
	    op->kind >= EPIC_BRANCH && op->kind <= EPIC_INDIRECT && op->encoding >> 12 & 1;
	op->loop = (uint8_t)loop_of(n);
	op->fp_ops = (uint8_t)fp_ops(n);
	op->qp = n->qp;
	op->flags = (uint8_t)(flags_of(n, template, slots) |
			      (asks_to_own(n, op->encoding) ? EPIC_OWNS : 0));
	op->waits = (uint8_t)waits_of(n);
	operands(op, s, n);
	if (n->op == IA64_ST_SPILL)
		result(op, EPIC_APPLICATION + EPIC_AR_SPILLED, EPIC_VIA_APPLICATION);
	epic_prepare(op);
}
