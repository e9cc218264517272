/*
 * Registers from and to the formats of memory. A store of what its format does not hold takes the
 * bits that are there: the exponent's top bit and low ones, the significand's upper ones.
 */
#include "feed/ia64/fp_value.h"

/* Exponents of a format's bias 0 and of its denormals. */
#define SINGLE_BASE   0xFF80
#define DOUBLE_BASE   0xFC00
#define EXTENDED_BASE 0xC000

static struct ia64_fr from(bool sign, unsigned exp, unsigned ones, unsigned base, uint64_t fraction)
{
	uint64_t high = sign ? IA64_FR_SIGN : 0;

	if (exp == ones)
		return (struct ia64_fr){IA64_FR_INTEGER_BIT | fraction, high | IA64_FR_EXP};
	if (exp)
		return (struct ia64_fr){IA64_FR_INTEGER_BIT | fraction, high | (base + exp)};
	return (struct ia64_fr){fraction, high | (fraction ? base + 1 : 0)};
}

struct ia64_fr ia64_fr_from_single(uint32_t bits)
{
	return from(bits >> 31, bits >> 23 & 0xFF, 0xFF, SINGLE_BASE,
		    (uint64_t)(bits & 0x7FFFFF) << 40);
}

struct ia64_fr ia64_fr_from_double(uint64_t bits)
{
	return from(bits >> 63, bits >> 52 & 0x7FF, 0x7FF, DOUBLE_BASE, bits << 12 >> 1);
}

struct ia64_fr ia64_fr_from_extended(uint64_t sig, uint16_t se)
{
	uint64_t high = se & 0x8000 ? IA64_FR_SIGN : 0;
	unsigned exp = se & 0x7FFF;

	if (exp == 0x7FFF)
		exp = IA64_FR_EXP;
	else if (exp)
		exp += EXTENDED_BASE;
	return (struct ia64_fr){sig, high | exp};
}

uint32_t ia64_fr_to_single(const struct ia64_fr *f)
{
	uint32_t bits = (uint32_t)fr_sign(f) << 31 | (uint32_t)(f->sig >> 40 & 0x7FFFFF);

	if (f->sig >> 63)
		bits |= (fr_exp(f) >> 16) << 30 | (fr_exp(f) & 0x7F) << 23;
	return bits;
}

uint64_t ia64_fr_to_double(const struct ia64_fr *f)
{
	uint64_t bits = (uint64_t)fr_sign(f) << 63 | f->sig << 1 >> 12;

	if (f->sig >> 63)
		bits |= (uint64_t)(fr_exp(f) >> 16) << 62 | (uint64_t)(fr_exp(f) & 0x3FF) << 52;
	return bits;
}

uint16_t ia64_fr_to_extended(const struct ia64_fr *f)
{
	return (uint16_t)((unsigned)fr_sign(f) << 15 | (fr_exp(f) >> 16) << 14 |
			  (fr_exp(f) & 0x3FFF));
}
