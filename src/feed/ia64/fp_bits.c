/* Instructions that move bits of registers: merge, mix, pack, swap, sign extension, logic. */
#include "feed/ia64/fp_value.h"

#define SIGN_HI	   0x8000000000000000u
#define SIGN_LO	   0x0000000080000000u
#define SIGNS	   (SIGN_HI | SIGN_LO)
#define SIGNS_EXPS 0xFF800000FF800000u
#define LO	   0x00000000FFFFFFFFu

static bool is_natval(const struct ia64_fr *f2, const struct ia64_fr *f3)
{
	return ia64_fr_is_natval(f2) || ia64_fr_is_natval(f3);
}

static void merge(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3,
		  uint64_t se)
{
	*f1 = is_natval(f2, f3) ? IA64_FR_NATVAL : (struct ia64_fr){f3->sig, se};
}

void ia64_fmerge_s(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3)
{
	merge(f1, f2, f3, (f2->se & IA64_FR_SIGN) | fr_exp(f3));
}

void ia64_fmerge_ns(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3)
{
	merge(f1, f2, f3, (~f2->se & IA64_FR_SIGN) | fr_exp(f3));
}

void ia64_fmerge_se(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3)
{
	merge(f1, f2, f3, f2->se);
}

/* The rest give a significand, as an integer has it. */
static void put(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3,
		uint64_t sig)
{
	*f1 = is_natval(f2, f3) ? IA64_FR_NATVAL : ia64_fr_from_integer(sig);
}

void ia64_fpmerge_s(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3)
{
	put(f1, f2, f3, (f2->sig & SIGNS) | (f3->sig & ~SIGNS));
}

void ia64_fpmerge_ns(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3)
{
	put(f1, f2, f3, (~f2->sig & SIGNS) | (f3->sig & ~SIGNS));
}

void ia64_fpmerge_se(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3)
{
	put(f1, f2, f3, (f2->sig & SIGNS_EXPS) | (f3->sig & ~SIGNS_EXPS));
}

void ia64_fmix_l(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3)
{
	put(f1, f2, f3, (f2->sig & ~(uint64_t)LO) | f3->sig >> 32);
}

void ia64_fmix_r(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3)
{
	put(f1, f2, f3, f2->sig << 32 | (f3->sig & LO));
}

void ia64_fmix_lr(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3)
{
	put(f1, f2, f3, (f2->sig & ~(uint64_t)LO) | (f3->sig & LO));
}

void ia64_fsxt_l(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3)
{
	put(f1, f2, f3, (f2->sig & SIGN_HI ? ~(uint64_t)LO : 0) | f3->sig >> 32);
}

void ia64_fsxt_r(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3)
{
	put(f1, f2, f3, (f2->sig & SIGN_LO ? ~(uint64_t)LO : 0) | (f3->sig & LO));
}

void ia64_fpack(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3)
{
	put(f1, f2, f3, (uint64_t)ia64_fr_to_single(f2) << 32 | ia64_fr_to_single(f3));
}

static uint64_t swapped(const struct ia64_fr *f2, const struct ia64_fr *f3)
{
	return f3->sig << 32 | f2->sig >> 32;
}

void ia64_fswap(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3)
{
	put(f1, f2, f3, swapped(f2, f3));
}

void ia64_fswap_nl(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3)
{
	put(f1, f2, f3, swapped(f2, f3) ^ SIGN_HI);
}

void ia64_fswap_nr(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3)
{
	put(f1, f2, f3, swapped(f2, f3) ^ SIGN_LO);
}

void ia64_fand(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3)
{
	put(f1, f2, f3, f2->sig & f3->sig);
}

void ia64_fandcm(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3)
{
	put(f1, f2, f3, f2->sig & ~f3->sig);
}

void ia64_for(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3)
{
	put(f1, f2, f3, f2->sig | f3->sig);
}

void ia64_fxor(struct ia64_fr *f1, const struct ia64_fr *f2, const struct ia64_fr *f3)
{
	put(f1, f2, f3, f2->sig ^ f3->sig);
}

void ia64_fselect(struct ia64_fr *f1, const struct ia64_fr *f3, const struct ia64_fr *f4,
		  const struct ia64_fr *f2)
{
	if (ia64_fr_is_natval(f2))
		*f1 = IA64_FR_NATVAL;
	else
		put(f1, f3, f4, (f3->sig & f2->sig) | (f4->sig & ~f2->sig));
}
