/* Division by numbers of the machine that stay the same: a multiplication. */
#ifndef MACHINE_DIVISOR_H
#define MACHINE_DIVISOR_H

#include <stdint.h>

/* Of line numbers, which have 31 bits. */
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

__extension__ typedef unsigned __int128 divisor_wide;

/* Of times. */
struct time_divisor {
	uint64_t inverse; /* 2^(64 + shift) / (2 * value), rounded up */
	uint32_t shift;
};

/** @param value  1 to 2^61 */
static inline struct time_divisor time_divisor_of(uint64_t value)
{
	/* As above, of 63 bits; with twice the value there is a bit of it at least. */
	const uint64_t twice = 2 * value;
	struct time_divisor divisor = {0};

	while (2ull << divisor.shift < twice)
		divisor.shift++;
	divisor.inverse =
	    (uint64_t)((((divisor_wide)1 << (64 + divisor.shift)) + twice - 1) / twice);
	return divisor;
}

/** Quotient of a number of 62 bits. */
static inline uint64_t divide_time(const struct time_divisor *divisor, uint64_t number)
{
	return (uint64_t)((divisor_wide)(2 * number) * divisor->inverse >> 64) >> divisor->shift;
}

#endif
