/* Elements of a register, number 0 the least significant; what the naive instructions are made of.
 */
#ifndef TESTS_IA64_NAIVE_ELEMENTS_H
#define TESTS_IA64_NAIVE_ELEMENTS_H

#include "naive_alu.h"

/* An instruction that is one expression of its operands o. */
#define OP(name, ...)                                                                              \
	static uint64_t name(const struct naive_operands *o)                                       \
	{                                                                                          \
		return __VA_ARGS__;                                                                \
	}

static inline uint64_t mask(unsigned bits)
{
	uint64_t m = 0;

	for (unsigned i = 0; i < bits; i++)
		m = m << 1 | 1;
	return m;
}

static inline int64_t zero_ext(uint64_t x, unsigned bits)
{
	return (int64_t)(x & mask(bits));
}

static inline int64_t sign_ext(uint64_t x, unsigned bits)
{
	bool negative = x >> (bits - 1) & 1;

	return (int64_t)(negative ? x | ~mask(bits) : x & mask(bits));
}

static inline int64_t unsigned_at(uint64_t x, unsigned bits, unsigned i)
{
	return zero_ext(x >> (bits * i), bits);
}

static inline int64_t signed_at(uint64_t x, unsigned bits, unsigned i)
{
	return sign_ext(x >> (bits * i), bits);
}

static inline uint64_t at(int64_t value, unsigned bits, unsigned i)
{
	return ((uint64_t)value & mask(bits)) << (bits * i);
}

static inline int64_t clamp(int64_t x, int64_t least, int64_t greatest)
{
	return x < least ? least : x > greatest ? greatest : x;
}

static inline int64_t saturate_signed(int64_t x, unsigned bits)
{
	return clamp(x, -((int64_t)1 << (bits - 1)), ((int64_t)1 << (bits - 1)) - 1);
}

static inline int64_t saturate_unsigned(int64_t x, unsigned bits)
{
	return clamp(x, 0, (int64_t)mask(bits));
}

static inline int64_t shift_right_signed(int64_t x, uint64_t count)
{
	for (uint64_t i = 0; i < count && i < 64; i++)
		x = (int64_t)((uint64_t)x >> 1 | ((uint64_t)x & 1ULL << 63));
	return x;
}

static inline uint64_t shift_right(uint64_t x, uint64_t count)
{
	return count > 63 ? 0 : x >> count;
}

static inline uint64_t shift_left(uint64_t x, uint64_t count)
{
	return count > 63 ? 0 : x << count;
}

#endif
