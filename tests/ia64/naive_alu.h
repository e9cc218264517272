/*
 * IA-64 integer, shift, bit-field, compare and multimedia instructions by their definitions (Intel
 * 245319), an element and a bit at a time. Written without a look at the executor: its tests
 * compare the two on random operands.
 */
#ifndef TESTS_IA64_NAIVE_ALU_H
#define TESTS_IA64_NAIVE_ALU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How an instruction's operands are written, after r1 =, and which of naive_operands they are. */
enum naive_form {
	NAIVE_R2_R3,	       /* r2, r3 */
	NAIVE_R3_R2,	       /* r3, r2: pshr, shr */
	NAIVE_R3,	       /* r3 */
	NAIVE_R2,	       /* r2: mux */
	NAIVE_R2_IMM,	       /* r2, imm: mux2, pshl, shl */
	NAIVE_R3_IMM,	       /* r3, imm: pshr, shr */
	NAIVE_IMM_R3,	       /* imm, r3: imm8, imm14, imm22 */
	NAIVE_R2_R3_1,	       /* r2, r3, 1 */
	NAIVE_R2_IMM_R3,       /* r2, imm, r3: shladd */
	NAIVE_R2_R3_IMM,       /* r2, r3, imm: shrp, pmpyshr2 */
	NAIVE_R3_POS_LEN,      /* r3, imm, len: extr */
	NAIVE_R2_POS_LEN,      /* r2, imm, len: dep.z */
	NAIVE_R2_R3_POS_LEN,   /* r2, r3, imm, len: dep */
	NAIVE_IMM8_POS_LEN,    /* field, imm, len: dep.z of a signed field of 8 bits */
	NAIVE_IMM1_R3_POS_LEN, /* field, r3, imm, len: dep of -1 or 0 */
};

struct naive_operands {
	uint64_t r2, r3;
	int64_t imm;   /* the immediate or count; the position where there is a length */
	int64_t field; /* what dep deposits where that is an immediate */
	unsigned len;
};

struct naive_op {
	const char *mnemonic; /* with its completers, as an assembler takes it */
	enum naive_form form;
	int64_t imm_min, imm_max; /* a position's, with its length, may pass bit 63 */
	unsigned len_max;	  /* 0: no length; else from 1 */
	uint64_t (*compute)(const struct naive_operands *o);
};

extern const struct naive_op naive_integer[], naive_multimedia[];
extern const size_t naive_integer_count, naive_multimedia_count;

/** pmpyshr2's counts are not a range: 0, 7, 15 and 16. */
extern const int64_t naive_pmpyshr_counts[4];

/* -- Compares ---------------------------------------------------------------------------------- */

enum naive_relation {
	NAIVE_EQ,
	NAIVE_NE,
	NAIVE_LT,
	NAIVE_LE,
	NAIVE_GT,
	NAIVE_GE,
	NAIVE_LTU,
	NAIVE_LEU,
	NAIVE_GTU,
	NAIVE_GEU,
};

/* How cmp, tbit and tnat write their two predicates. */
enum naive_ctype {
	NAIVE_NORMAL,
	NAIVE_UNC,
	NAIVE_AND,
	NAIVE_OR,
	NAIVE_OR_ANDCM,
	NAIVE_ORCM,	/* or of the contrary */
	NAIVE_ANDCM,	/* and of the contrary */
	NAIVE_AND_ORCM, /* or.andcm with the predicates exchanged, of the contrary */
};

/** cmp, or cmp4: of the low halves. */
bool naive_cmp(enum naive_relation relation, uint64_t a, uint64_t b);
bool naive_cmp4(enum naive_relation relation, uint64_t a, uint64_t b);
/** tbit.nz */
bool naive_tbit(uint64_t r3, unsigned pos);
/**
 * The predicates after a compare under predicate qp: p[0] and p[1] hold what they were and get what
 * they are. nat: a source is NaT (for tnat never).
 */
void naive_predicates(bool p[2], bool qp, enum naive_ctype ctype, bool result, bool nat);

#endif
