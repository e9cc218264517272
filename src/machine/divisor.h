/* Division of line numbers, which have 31 bits, by a number of the machine: a multiplication. */
#ifndef MACHINE_DIVISOR_H
#define MACHINE_DIVISOR_H

#include <stdint.h>

struct divisor {
	uint64_t inverse; /* 2^shift / value, rounded up */
	uint32_t shift, value;
};

/** @param value  1 to 2^31 */
static inline struct divisor divisor_of(uint32_t value)
{
	struct divisor divisor = {.shift = 31, .value = value};

	/* 31 bits and those of the divisor make it exact. */
	while (1ull << (divisor.shift - 31) < value)
		divisor.shift++;
	divisor.inverse = ((1ull << divisor.shift) + value - 1) / value;
	return divisor;
}

/** Quotient of a number of 31 bits. */
static inline uint32_t divide(const struct divisor *divisor, uint32_t number)
{
	return (uint32_t)(number * divisor->inverse >> divisor->shift);
}

#endif
