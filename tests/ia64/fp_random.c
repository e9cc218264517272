#include "fp_random.h"

#include <stddef.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

uint64_t random_bits(struct fp_random *r)
{
	uint64_t x = r->state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	r->state = x;
	return x * 0x2545F4914F6CDD1Du;
}

unsigned random_below(struct fp_random *r, unsigned n)
{
	return (unsigned)((random_bits(r) >> 32) * n >> 32);
}

uint64_t random_significand(struct fp_random *r)
{
	static const unsigned precisions[] = {1, 8, 11, 24, 32, 53, 63, 64};
	unsigned drop = 64 - precisions[random_below(r, COUNT(precisions))];
	uint64_t x = random_bits(r), low = drop ? (1ULL << drop) - 1 : 0;

	switch (random_below(r, 8)) {
	case 0: /* few bits */
		x = 1ULL << 63 | 1ULL << random_below(r, 64) | 1ULL << random_below(r, 64);
		break;
	case 1: /* ones at the top */
		x = ~low;
		break;
	case 2: /* halfway between two of the precision, or beside it */
		x = (x & ~low) | (low + 1) >> 1;
		x += random_below(r, 3) - 1ULL;
		break;
	case 3:
		x = low;
		break;
	case 4:
	case 5:
		x &= ~low;
		break;
	default:
		break;
	}
	return x | 1ULL << 63;
}

static unsigned random_exponent(struct fp_random *r)
{
	static const int edges[] = {0,	    -126, -149, -1022, -1074, -16382, -16445,
				    -65534, 127,  1023, 16383, 65535, 31,     63};
	int exp = edges[random_below(r, COUNT(edges))];

	switch (random_below(r, 8)) {
	case 0:
		return 1 + random_below(r, 0x1FFFE);
	case 1: /* so that a product is at the edge */
	case 2:
		exp /= 2;
		/* fall through */
	case 3:
		exp += (int)random_below(r, 7) - 3;
		break;
	case 4:
		exp += (int)random_below(r, 141) - 70;
		break;
	default:
		exp = (int)random_below(r, 141) - 70;
		break;
	}
	exp += 0xFFFF;
	return exp < 1 ? 1 : exp > 0x1FFFE ? 0x1FFFE : (unsigned)exp;
}

struct ia64_fr random_register(struct fp_random *r)
{
	uint64_t sign = random_below(r, 2) ? IA64_FR_SIGN : 0;
	struct ia64_fr f = {random_significand(r), sign | random_exponent(r)};

	switch (random_below(r, 32)) {
	case 0:
		return (struct ia64_fr){0, sign};
	case 1: /* pseudo-zero or NaTVal */
		f.sig = 0;
		if (random_below(r, 2))
			return random_below(r, 4) ? f : IA64_FR_NATVAL;
		f.se = sign | 0x1FFFE;
		break;
	case 2: /* infinity */
		return (struct ia64_fr){1ULL << 63, sign | IA64_FR_EXP};
	case 3: /* NaN or unsupported */
		f.se = sign | IA64_FR_EXP;
		if (!random_below(r, 4))
			f.sig = random_bits(r) >> 1;
		break;
	case 4: /* unnormal */
	case 5:
		f.sig >>= 1 + random_below(r, 63);
		break;
	case 6: /* denormal, pseudo-denormal */
		f.se = sign;
		f.sig >>= random_below(r, 64);
		break;
	case 7:
		f = ia64_fr_from_single(random_single(r));
		break;
	default:
		break;
	}
	return f;
}

uint32_t random_single(struct fp_random *r)
{
	static const uint32_t exponents[] = {0,	  1,   2,   23,	 24,  25,  62,	63,  64,  127, 149,
					     150, 151, 157, 158, 159, 190, 252, 253, 254, 255};
	uint32_t sign = random_below(r, 2) << 31;
	uint32_t fraction = (uint32_t)(random_significand(r) << 1 >> 41);

	switch (random_below(r, 8)) {
	case 0:
		return sign;
	case 1:
		return (uint32_t)random_bits(r);
	case 2:
		return sign | fraction | (60 + random_below(r, 140)) << 23;
	case 3:
		return sign | fraction >> random_below(r, 23);
	default:
		return sign | fraction | exponents[random_below(r, COUNT(exponents))] << 23;
	}
}

uint64_t random_fpsr(struct fp_random *r)
{
	uint64_t fpsr;

	do {
		fpsr = random_bits(r) & ~IA64_FPSR_RESERVED;
		if (random_below(r, 3))
			fpsr |= IA64_FP_FLAGS;
	} while (!ia64_fpsr_valid(fpsr));
	return fpsr;
}

/* f2 about -(f3 * f4): nearly all of it cancels. */
static void cancel(struct fp_random *r, const struct ia64_fr *f3, const struct ia64_fr *f4,
		   struct ia64_fr *f2)
{
	/* 64 bits, 17 bits of exponent, to zero */
	uint64_t fpsr = IA64_FP_FLAGS | (uint64_t)(IA64_SF_RC | IA64_SF_PC | IA64_SF_WRE) << 6;

	ia64_fnma(f2, f3, f4, NULL, fpsr, ia64_fp_mode(0, IA64_FP_DYNAMIC));
	if (!(f2->sig >> 63) || (f2->se & IA64_FR_EXP) == IA64_FR_EXP)
		return;
	f2->sig = (f2->sig + random_below(r, 5) - 2) | 1ULL << 63;
	if (!random_below(r, 4) && (f2->se & IA64_FR_EXP) > 2)
		f2->se -= random_below(r, 2);
}

/* f3 of some precision; f2 half a unit of its last place, or beside it. */
static void halfway(struct fp_random *r, struct ia64_fr *f3, struct ia64_fr *f4, struct ia64_fr *f2)
{
	static const unsigned precisions[] = {24, 53, 64};
	unsigned precision = precisions[random_below(r, COUNT(precisions))];

	f3->sig &= ~(uint64_t)0 << (64 - precision);
	f3->sig |= 1ULL << 63;
	*f4 = IA64_FR_ONE;
	f2->sig = 1ULL << 63 | random_below(r, 2);
	if (!random_below(r, 3))
		f2->sig = ~(uint64_t)0;
	f2->se = (f2->se & IA64_FR_SIGN) |
		 ((f3->se & IA64_FR_EXP) - precision + random_below(r, 3) - 1) % 0x1FFFE;
}

void random_operands(struct fp_random *r, struct ia64_fr *f3, struct ia64_fr *f4,
		     struct ia64_fr *f2)
{
	*f3 = random_register(r);
	*f4 = random_register(r);
	*f2 = random_register(r);
	switch (random_below(r, 4)) {
	case 0:
		cancel(r, f3, f4, f2);
		break;
	case 1:
		halfway(r, f3, f4, f2);
		break;
	default:
		break;
	}
}
