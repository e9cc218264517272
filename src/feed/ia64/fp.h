/*
 * IA-64 floating point: registers, FPSR and every floating-point instruction, as functions of
 * values.
 *
 * Nothing here knows register numbers, predicates or signals. Three conventions:
 *
 * - Operands carry the names of the instruction set's own notation: fma is f1 = f3 * f4 + f2. The
 *   result may be the same object as an operand. NaTVal operands give NaTVal and no status.
 * - What depends on FPSR takes the whole register and a mode: status field and precision, put
 *   together once when an instruction is decoded (ia64_fp_mode).
 * - What can signal returns a status word:
 *     bits 5:0   flags V D Z O U I to be ORed into the status field (ia64_fpsr_raise);
 *     FAULT      raise a floating-point exception fault: no result is written, no flag raised;
 *     TRAP       write the result, raise the flags, then a floating-point exception trap;
 *     bits 31:16 ISR.code of that fault or trap.
 *   Work done by system software on hardware (software assist) is done here: it never shows.
 */
#ifndef FEED_IA64_FP_H
#define FEED_IA64_FP_H

#include <stdbool.h>
#include <stdint.h>

/** A register: what stf.spill writes, low half first. */
struct ia64_fr {
	uint64_t sig; /* 63: integer bit */
	uint64_t se;  /* 17: sign; 16:0: exponent, bias 0xFFFF */
};

#define IA64_FR_SIGN	    0x20000u
#define IA64_FR_EXP	    0x1FFFFu /* the field's mask; as a value: infinities and NaNs */
#define IA64_FR_BIAS	    0xFFFF
#define IA64_FR_INTEGER_BIT 0x8000000000000000u
#define IA64_FR_EXP_INTEGER 0x1003Eu /* of integers and pairs of singles */

#define IA64_FR_ZERO   ((struct ia64_fr){0, 0})				     /* f0 */
#define IA64_FR_ONE    ((struct ia64_fr){IA64_FR_INTEGER_BIT, IA64_FR_BIAS}) /* f1 */
#define IA64_FR_NATVAL ((struct ia64_fr){0, 0x1FFFE})
/* The quiet NaN of a masked invalid operation. */
#define IA64_FR_INDEFINITE ((struct ia64_fr){0xC000000000000000u, IA64_FR_SIGN | IA64_FR_EXP})

static inline bool ia64_fr_is_natval(const struct ia64_fr *f)
{
	return f->se == 0x1FFFE && f->sig == 0;
}

/* -- FPSR -------------------------------------------------------------------------------------- */

enum ia64_fp_flag {
	IA64_FP_V = 1 << 0, /* invalid */
	IA64_FP_D = 1 << 1, /* denormal or unnormal operand */
	IA64_FP_Z = 1 << 2, /* zero divide */
	IA64_FP_O = 1 << 3, /* overflow */
	IA64_FP_U = 1 << 4, /* underflow */
	IA64_FP_I = 1 << 5, /* inexact */
	IA64_FP_FLAGS = 0x3F,
};

/* Controls of a status field. */
#define IA64_SF_FTZ	 0x01u
#define IA64_SF_WRE	 0x02u
#define IA64_SF_PC	 0x0Cu /* 0: 24 bits, 1: reserved, 2: 53, 3: 64 */
#define IA64_SF_RC	 0x30u /* 0: nearest, 1: down, 2: up, 3: to zero */
#define IA64_SF_TD	 0x40u
#define IA64_SF_CONTROLS 0x7Fu

#define IA64_FPSR_RESET	   0x0009804C0270033Fu /* what Linux gives a program */
#define IA64_FPSR_RESERVED 0xFC00000000000000u

static inline unsigned ia64_fpsr_controls(uint64_t fpsr, unsigned sf)
{
	return fpsr >> (6 + 13 * sf) & IA64_SF_CONTROLS;
}

static inline unsigned ia64_fpsr_flags(uint64_t fpsr, unsigned sf)
{
	return fpsr >> (13 + 13 * sf) & IA64_FP_FLAGS;
}

/** FPSR with the flags of a status word raised in a status field. */
static inline uint64_t ia64_fpsr_raise(uint64_t fpsr, unsigned sf, uint32_t status)
{
	return fpsr | (uint64_t)(status & IA64_FP_FLAGS) << (13 + 13 * sf);
}

/** False where a move to FPSR raises Reserved Register/Field: reserved bits, pc 1, or sf0.td. */
bool ia64_fpsr_valid(uint64_t fpsr);

/** fsetc: false, and FPSR as before, where it raises Reserved Register/Field. */
bool ia64_fsetc(uint64_t *fpsr, unsigned sf, unsigned amask7, unsigned omask7);
/** fclrf */
uint64_t ia64_fclrf(uint64_t fpsr, unsigned sf);
/** fchkf: true where the branch is taken. */
bool ia64_fchkf(uint64_t fpsr, unsigned sf);

/* -- Status and modes -------------------------------------------------------------------------- */

#define IA64_FP_FAULT	  0x100u
#define IA64_FP_TRAP	  0x200u
#define IA64_FP_FLUSHED	  0x400u  /* a result too small for its format became 0 */
#define IA64_FP_TINY	  0x800u  /* one would have, in flush-to-zero mode */
#define IA64_FP_UNSAFE	  0x1000u /* its exponent is at an end of the format's, or beyond */
#define IA64_FP_ISR_SHIFT 16

/* ISR.code{15:0} of a fault or trap. */
static inline unsigned ia64_fp_isr_code(uint32_t status)
{
	return status >> IA64_FP_ISR_SHIFT;
}

/* By the encoding's own order for the completers of fma: none, .s, .d. */
enum ia64_fp_precision {
	IA64_FP_DYNAMIC, /* the status field's pc */
	IA64_FP_SINGLE,
	IA64_FP_DOUBLE,
};

/** What the functions below take as mode. */
static inline unsigned ia64_fp_mode(unsigned sf, enum ia64_fp_precision precision)
{
	return sf | (unsigned)precision << 2;
}

/* -- Arithmetic --------------------------------------------------------------------------------
 * f2 is NULL where the instruction names register f0 as f2: then it multiplies, and the sign of a
 * zero is the product's. fadd, fsub, fmpy, fnorm and fcvt.xuf are forms of these.
 */
uint32_t ia64_fma(struct ia64_fr *f1, const struct ia64_fr *f3, const struct ia64_fr *f4,
		  const struct ia64_fr *f2, uint64_t fpsr, unsigned mode);
uint32_t ia64_fms(struct ia64_fr *f1, const struct ia64_fr *f3, const struct ia64_fr *f4,
		  const struct ia64_fr *f2, uint64_t fpsr, unsigned mode);
uint32_t ia64_fnma(struct ia64_fr *f1, const struct ia64_fr *f3, const struct ia64_fr *f4,
		   const struct ia64_fr *f2, uint64_t fpsr, unsigned mode);
uint32_t ia64_fpma(struct ia64_fr *f1, const struct ia64_fr *f3, const struct ia64_fr *f4,
		   const struct ia64_fr *f2, uint64_t fpsr, unsigned mode);
uint32_t ia64_fpms(struct ia64_fr *f1, const struct ia64_fr *f3, const struct ia64_fr *f4,
		   const struct ia64_fr *f2, uint64_t fpsr, unsigned mode);
uint32_t ia64_fpnma(struct ia64_fr *f1, const struct ia64_fr *f3, const struct ia64_fr *f4,
		    const struct ia64_fr *f2, uint64_t fpsr, unsigned mode);

/* xma; here f2 is a register like the others (f0 holds 0). xmpy is a form of these. */
void ia64_xma_l(struct ia64_fr *f1, const struct ia64_fr *f3, const struct ia64_fr *f4,
		const struct ia64_fr *f2);
void ia64_xma_h(struct ia64_fr *f1, const struct ia64_fr *f3, const struct ia64_fr *f4,
		const struct ia64_fr *f2);
void ia64_xma_hu(struct ia64_fr *f1, const struct ia64_fr *f3, const struct ia64_fr *f4,
		 const struct ia64_fr *f2);

/*
 * Approximations. *p2 is what the instruction writes to its predicate. frsqrta reads f3 only. Where
 * hardware leaves quotient or root to software (exponents near the ends of 17 bits), f1 is the
 * correctly rounded quotient or root and *p2 false.
 */
uint32_t ia64_frcpa(struct ia64_fr *f1, bool *p2, const struct ia64_fr *f2,
		    const struct ia64_fr *f3, uint64_t fpsr, unsigned mode);
uint32_t ia64_frsqrta(struct ia64_fr *f1, bool *p2, const struct ia64_fr *f3, uint64_t fpsr,
		      unsigned mode);
uint32_t ia64_fprcpa(struct ia64_fr *f1, bool *p2, const struct ia64_fr *f2,
		     const struct ia64_fr *f3, uint64_t fpsr, unsigned mode);
uint32_t ia64_fprsqrta(struct ia64_fr *f1, bool *p2, const struct ia64_fr *f3, uint64_t fpsr,
		       unsigned mode);

/* -- Comparison -------------------------------------------------------------------------------- */

uint32_t ia64_fmin(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3,
		   uint64_t fpsr, unsigned mode);
uint32_t ia64_fmax(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3,
		   uint64_t fpsr, unsigned mode);
uint32_t ia64_famin(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3,
		    uint64_t fpsr, unsigned mode);
uint32_t ia64_famax(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3,
		    uint64_t fpsr, unsigned mode);
uint32_t ia64_fpmin(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3,
		    uint64_t fpsr, unsigned mode);
uint32_t ia64_fpmax(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3,
		    uint64_t fpsr, unsigned mode);
uint32_t ia64_fpamin(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3,
		     uint64_t fpsr, unsigned mode);
uint32_t ia64_fpamax(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3,
		     uint64_t fpsr, unsigned mode);

/* The first four are fcmp's; fpcmp has the negated ones besides. */
enum ia64_frel {
	IA64_FREL_EQ,
	IA64_FREL_LT,
	IA64_FREL_LE,
	IA64_FREL_UNORD,
	IA64_FREL_NEQ,
	IA64_FREL_NLT,
	IA64_FREL_NLE,
	IA64_FREL_ORD,
};

/** fcmp: the relation's truth; predicates, and both 0 for a NaTVal operand, are the caller's. */
uint32_t ia64_fcmp(bool *holds, const struct ia64_fr *f2, const struct ia64_fr *f3,
		   enum ia64_frel rel, uint64_t fpsr, unsigned mode);
uint32_t ia64_fpcmp(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3,
		    enum ia64_frel rel, uint64_t fpsr, unsigned mode);

/* Bits of fclass9. */
enum ia64_fclass {
	IA64_FCLASS_POS = 0x001,
	IA64_FCLASS_NEG = 0x002,
	IA64_FCLASS_ZERO = 0x004,
	IA64_FCLASS_UNORM = 0x008,
	IA64_FCLASS_NORM = 0x010,
	IA64_FCLASS_INF = 0x020,
	IA64_FCLASS_SNAN = 0x040,
	IA64_FCLASS_QNAN = 0x080,
	IA64_FCLASS_NATVAL = 0x100,
};
/** fclass.m; a NaTVal without its bit clears both predicates, which is the caller's. */
bool ia64_fclass(const struct ia64_fr *f2, unsigned fclass9);

/* -- Conversion between floating point and integer --------------------------------------------- */

uint32_t ia64_fcvt_fx(struct ia64_fr *f1, const struct ia64_fr *f2, uint64_t fpsr, unsigned mode);
uint32_t ia64_fcvt_fx_trunc(struct ia64_fr *f1, const struct ia64_fr *f2, uint64_t fpsr,
			    unsigned mode);
uint32_t ia64_fcvt_fxu(struct ia64_fr *f1, const struct ia64_fr *f2, uint64_t fpsr, unsigned mode);
uint32_t ia64_fcvt_fxu_trunc(struct ia64_fr *f1, const struct ia64_fr *f2, uint64_t fpsr,
			     unsigned mode);
uint32_t ia64_fpcvt_fx(struct ia64_fr *f1, const struct ia64_fr *f2, uint64_t fpsr, unsigned mode);
uint32_t ia64_fpcvt_fx_trunc(struct ia64_fr *f1, const struct ia64_fr *f2, uint64_t fpsr,
			     unsigned mode);
uint32_t ia64_fpcvt_fxu(struct ia64_fr *f1, const struct ia64_fr *f2, uint64_t fpsr, unsigned mode);
uint32_t ia64_fpcvt_fxu_trunc(struct ia64_fr *f1, const struct ia64_fr *f2, uint64_t fpsr,
			      unsigned mode);
/** fcvt.xf: exact, never signals. */
void ia64_fcvt_xf(struct ia64_fr *f1, const struct ia64_fr *f2);

/* -- Bits: none of these signals. fabs, fneg, fpabs and fpneg are merges with f0 or itself.
 * -------- */

void ia64_fmerge_s(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3);
void ia64_fmerge_ns(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3);
void ia64_fmerge_se(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3);
void ia64_fpmerge_s(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3);
void ia64_fpmerge_ns(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3);
void ia64_fpmerge_se(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3);
void ia64_fmix_l(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3);
void ia64_fmix_r(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3);
void ia64_fmix_lr(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3);
void ia64_fsxt_l(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3);
void ia64_fsxt_r(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3);
void ia64_fpack(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3);
void ia64_fswap(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3);
void ia64_fswap_nl(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3);
void ia64_fswap_nr(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3);
void ia64_fand(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3);
void ia64_fandcm(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3);
void ia64_for(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3);
void ia64_fxor(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3);
/** fselect: f3 where f2's bits are 1, f4 where they are 0. */
void ia64_fselect(struct ia64_fr *f1, const struct ia64_fr *f3, const struct ia64_fr *f4,
		  const struct ia64_fr *f2);

/* -- Memory and general registers --------------------------------------------------------------
 * ldfs, setf.s and each half of ldfps: ia64_fr_from_single, and so on. ldf8, ldfp8 and setf.sig:
 * from_integer. ldf.fill and stf.spill are the struct itself. NaTVal (a store's NaT consumption
 * fault, getf's NaT bit) and NaT are the caller's.
 */
struct ia64_fr ia64_fr_from_single(uint32_t bits);
struct ia64_fr ia64_fr_from_double(uint64_t bits);
/** ldfe: significand, then sign and exponent, as they follow each other in memory. */
struct ia64_fr ia64_fr_from_extended(uint64_t sig, uint16_t se);
uint32_t ia64_fr_to_single(const struct ia64_fr *f);
uint64_t ia64_fr_to_double(const struct ia64_fr *f);
/** stfe: sign and exponent; the significand is f->sig. */
uint16_t ia64_fr_to_extended(const struct ia64_fr *f);

static inline struct ia64_fr ia64_fr_from_integer(uint64_t sig)
{
	return (struct ia64_fr){sig, IA64_FR_EXP_INTEGER};
}

/** setf.exp; getf.exp is f->se, getf.sig f->sig. ldf.fill takes the low 18 bits of the second half.
 */
static inline struct ia64_fr ia64_fr_from_exponent(uint64_t bits)
{
	return (struct ia64_fr){IA64_FR_INTEGER_BIT, bits & (IA64_FR_SIGN | IA64_FR_EXP)};
}

#endif
