/* Multimedia: parallel arithmetic on bytes, half words and words of general registers. */
#include "feed/ia64/handlers.h"
#include "feed/ia64/ops.h"

#define R2   (c->gr[o->r2])
#define R3   (c->gr[o->r3])
#define NAT2 (nats && c->nat[o->r2])
#define NAT3 (nats && c->nat[o->r3])

#define OP_VALUE(name, nat, value)                                                                 \
	OP(name)                                                                                   \
	{                                                                                          \
		set_gr(c, o->r1, value, nat, nats);                                                \
		UNUSED_OP;                                                                         \
		return o + 1;                                                                      \
	}

static inline uint64_t element(uint64_t v, unsigned width, unsigned i)
{
	return v >> (i * width) & (~0ull >> (64 - width));
}

static inline int64_t element_signed(uint64_t v, unsigned width, unsigned i)
{
	return (int64_t)(v << (64 - width - i * width)) >> (64 - width);
}

static inline int64_t clamp(int64_t v, int64_t low, int64_t high)
{
	return v < low ? low : v > high ? high : v;
}

/* A register of f(x, y) by elements; x and y are signed where `how` says so. */
#define EACH(name, sx, sy, expression)                                                             \
	static inline uint64_t name(uint64_t a, uint64_t b, unsigned width)                        \
	{                                                                                          \
		uint64_t r = 0, mask = ~0ull >> (64 - width);                                      \
		int64_t smax = (int64_t)(mask >> 1), umax = (int64_t)mask;                         \
                                                                                                   \
		for (unsigned i = 0; i < 64 / width; i++) {                                        \
			int64_t x =                                                                \
			    sx ? element_signed(a, width, i) : (int64_t)element(a, width, i);      \
			int64_t y =                                                                \
			    sy ? element_signed(b, width, i) : (int64_t)element(b, width, i);      \
                                                                                                   \
			r |= ((uint64_t)(expression)&mask) << (i * width);                         \
		}                                                                                  \
		(void)smax;                                                                        \
		(void)umax;                                                                        \
		return r;                                                                          \
	}

EACH(each_add, 0, 0, x + y)
EACH(each_add_sss, 1, 1, clamp(x + y, -smax - 1, smax))
EACH(each_add_uuu, 0, 0, clamp(x + y, 0, umax))
EACH(each_add_uus, 0, 1, clamp(x + y, 0, umax))
EACH(each_sub, 0, 0, x - y)
EACH(each_sub_sss, 1, 1, clamp(x - y, -smax - 1, smax))
EACH(each_sub_uuu, 0, 0, clamp(x - y, 0, umax))
EACH(each_sub_uus, 0, 1, clamp(x - y, 0, umax))
/* The sum's lowest bit stays ORed in, so that the mean is rounded to odd. */
EACH(each_avg, 0, 0, (x + y) >> 1 | ((x + y) & 1))
EACH(each_avg_raz, 0, 0, (x + y + 1) >> 1)
EACH(each_avgsub, 0, 0, (x - y) >> 1 | ((x - y) & 1))
EACH(each_eq, 0, 0, -(int64_t)(x == y))
EACH(each_gt, 1, 1, -(int64_t)(x > y))
EACH(each_min_u, 0, 0, x < y ? x : y)
EACH(each_max_u, 0, 0, x > y ? x : y)
EACH(each_min, 1, 1, x < y ? x : y)
EACH(each_max, 1, 1, x > y ? x : y)

#define OP_EACH(name, width) OP_VALUE(p##name##width, NAT2 || NAT3, each_##name(R2, R3, width * 8))

OP_EACH(add_uuu, 1)
OP_EACH(add_uuu, 2)
OP_EACH(add_uus, 1)
OP_EACH(add_uus, 2)
OP_EACH(add_sss, 1)
OP_EACH(add_sss, 2)
OP_EACH(add, 1)
OP_EACH(add, 2)
OP_EACH(add, 4)
OP_EACH(sub_uuu, 1)
OP_EACH(sub_uuu, 2)
OP_EACH(sub_uus, 1)
OP_EACH(sub_uus, 2)
OP_EACH(sub_sss, 1)
OP_EACH(sub_sss, 2)
OP_EACH(sub, 1)
OP_EACH(sub, 2)
OP_EACH(sub, 4)
OP_EACH(avg, 1)
OP_EACH(avg, 2)
OP_EACH(avg_raz, 1)
OP_EACH(avg_raz, 2)
OP_EACH(avgsub, 1)
OP_EACH(avgsub, 2)
OP_EACH(eq, 1)
OP_EACH(eq, 2)
OP_EACH(eq, 4)
OP_EACH(gt, 1)
OP_EACH(gt, 2)
OP_EACH(gt, 4)
OP_EACH(min_u, 1)
OP_EACH(max_u, 1)
OP_EACH(min, 2)
OP_EACH(max, 2)

static inline int16_t saturate(int64_t v)
{
	return clamp(v, -32768, 32767);
}

/* Where the shift alone overflows, its limit is the result. */
static inline int16_t shift_left_add(int64_t x, int64_t y, unsigned count)
{
	int64_t shifted = x * (1 << count);

	return saturate(shifted) == shifted ? saturate(shifted + y) : saturate(shifted);
}

static uint64_t shift_add(uint64_t a, uint64_t b, unsigned left, unsigned right)
{
	uint64_t r = 0;

	for (unsigned i = 0; i < 4; i++) {
		int64_t x = element_signed(a, 16, i), y = element_signed(b, 16, i);
		int16_t sum = left ? shift_left_add(x, y, left) : saturate((x >> right) + y);

		r |= (uint64_t)(uint16_t)sum << (16 * i);
	}
	return r;
}

OP_VALUE(pshladd2, NAT2 || NAT3, shift_add(R2, R3, o->imm, 0))
OP_VALUE(pshradd2, NAT2 || NAT3, shift_add(R2, R3, 0, o->imm))

static uint64_t multiply_shift(uint64_t a, uint64_t b, unsigned count, bool is_unsigned)
{
	uint64_t r = 0;

	for (unsigned i = 0; i < 4; i++) {
		uint64_t p = is_unsigned
				 ? element(a, 16, i) * element(b, 16, i)
				 : (uint64_t)(element_signed(a, 16, i) * element_signed(b, 16, i));

		r |= (p >> count & 0xFFFF) << (16 * i);
	}
	return r;
}

OP_VALUE(pmpyshr2, NAT2 || NAT3, multiply_shift(R2, R3, o->imm, false))
OP_VALUE(pmpyshr2u, NAT2 || NAT3, multiply_shift(R2, R3, o->imm, true))

/* Products of elements 0 and 2, or 1 and 3. */
static inline uint64_t multiply(uint64_t a, uint64_t b, unsigned first)
{
	uint64_t low = element_signed(a, 16, first) * element_signed(b, 16, first);
	uint64_t high = element_signed(a, 16, first + 2) * element_signed(b, 16, first + 2);

	return (low & 0xFFFFFFFF) | high << 32;
}

OP_VALUE(pmpy2r, NAT2 || NAT3, multiply(R2, R3, 0))
OP_VALUE(pmpy2l, NAT2 || NAT3, multiply(R2, R3, 1))

/* Elements of a and b in turn, b's lower: even ones, odd ones, low half, high half. */
static inline uint64_t interleave(uint64_t a, uint64_t b, unsigned width, unsigned first,
				  unsigned step)
{
	uint64_t r = 0;

	for (unsigned i = 0; i < 32 / width; i++) {
		unsigned from = first + i * step;

		r |= element(b, width, from) << (2 * i * width);
		r |= element(a, width, from) << ((2 * i + 1) * width);
	}
	return r;
}

#define OP_INTERLEAVE(width)                                                                       \
	OP_VALUE(mix##width##r, NAT2 || NAT3, interleave(R2, R3, width * 8, 0, 2))                 \
	OP_VALUE(mix##width##l, NAT2 || NAT3, interleave(R2, R3, width * 8, 1, 2))                 \
	OP_VALUE(unpack##width##l, NAT2 || NAT3, interleave(R2, R3, width * 8, 0, 1))              \
	OP_VALUE(unpack##width##h, NAT2 || NAT3, interleave(R2, R3, width * 8, 4 / width, 1))

OP_INTERLEAVE(1)
OP_INTERLEAVE(2)
OP_INTERLEAVE(4)

/* Signed elements of both registers, halved with saturation; a's are the lower half. */
static inline uint64_t pack(uint64_t a, uint64_t b, unsigned width, int64_t low, int64_t high)
{
	uint64_t r = 0, mask = ~0ull >> (64 - width / 2);
	unsigned n = 64 / width;

	for (unsigned i = 0; i < 2 * n; i++) {
		int64_t x = element_signed(i < n ? a : b, width, i % n);

		r |= ((uint64_t)clamp(x, low, high) & mask) << (i * width / 2);
	}
	return r;
}

OP_VALUE(pack2_uss, NAT2 || NAT3, pack(R2, R3, 16, 0, 255))
OP_VALUE(pack2_sss, NAT2 || NAT3, pack(R2, R3, 16, -128, 127))
OP_VALUE(pack4_sss, NAT2 || NAT3, pack(R2, R3, 32, -32768, 32767))

static inline uint64_t differences(uint64_t a, uint64_t b)
{
	uint64_t r = 0;

	for (unsigned i = 0; i < 8; i++) {
		int d = (int)element(a, 8, i) - (int)element(b, 8, i);

		r += d < 0 ? -d : d;
	}
	return r;
}

OP_VALUE(psad1, NAT2 || NAT3, differences(R2, R3))

/* Bytes in the order that mbtype4 names, from the lowest. */
static uint64_t permute(uint64_t v, unsigned type)
{
	static const uint8_t from[16][8] = {
	    [0x0] = {0, 0, 0, 0, 0, 0, 0, 0}, /* @brcst */
	    [0x8] = {0, 4, 2, 6, 1, 5, 3, 7}, /* @mix */
	    [0x9] = {0, 4, 1, 5, 2, 6, 3, 7}, /* @shuf */
	    [0xA] = {0, 2, 4, 6, 1, 3, 5, 7}, /* @alt */
	    [0xB] = {7, 6, 5, 4, 3, 2, 1, 0}, /* @rev */
	};
	uint64_t r = 0;

	for (unsigned i = 0; i < 8; i++)
		r |= element(v, 8, from[type][i]) << (8 * i);
	return r;
}

static inline uint64_t permute2(uint64_t v, unsigned type)
{
	uint64_t r = 0;

	for (unsigned i = 0; i < 4; i++)
		r |= element(v, 16, type >> (2 * i) & 3) << (16 * i);
	return r;
}

OP_VALUE(mux1, NAT2, permute(R2, o->imm))
OP_VALUE(mux1_rev, NAT2, __builtin_bswap64(R2))
OP_VALUE(mux2, NAT2, permute2(R2, o->imm))

/* Shifts: a count above the width gives what the width gives. */
static inline uint64_t each_shl(uint64_t v, unsigned width, uint64_t count)
{
	uint64_t r = 0, mask = ~0ull >> (64 - width);

	for (unsigned i = 0; count < width && i < 64 / width; i++)
		r |= (element(v, width, i) << count & mask) << (i * width);
	return r;
}

static inline uint64_t each_shr(uint64_t v, unsigned width, uint64_t count)
{
	uint64_t r = 0, mask = ~0ull >> (64 - width);

	count = count < width ? count : width - 1;
	for (unsigned i = 0; i < 64 / width; i++)
		r |= ((uint64_t)(element_signed(v, width, i) >> count) & mask) << (i * width);
	return r;
}

static inline uint64_t each_shr_u(uint64_t v, unsigned width, uint64_t count)
{
	uint64_t r = 0;

	for (unsigned i = 0; count < width && i < 64 / width; i++)
		r |= element(v, width, i) >> count << (i * width);
	return r;
}

#define OP_SHIFT(width)                                                                            \
	OP_VALUE(pshl##width, NAT2 || NAT3, each_shl(R2, width * 8, R3))                           \
	OP_VALUE(pshr##width, NAT2 || NAT3, each_shr(R3, width * 8, R2))                           \
	OP_VALUE(pshr##width##u, NAT2 || NAT3, each_shr_u(R3, width * 8, R2))                      \
	OP_VALUE(pshl##width##i, NAT2, each_shl(R2, width * 8, o->uimm))                           \
	OP_VALUE(pshr##width##i, NAT3, each_shr(R3, width * 8, o->uimm))                           \
	OP_VALUE(pshr##width##ui, NAT3, each_shr_u(R3, width * 8, o->uimm))

OP_SHIFT(2)
OP_SHIFT(4)
