/*
 * Sets of tag words: search, victim, recency. A tag word is a tag with the state in its low bits; 0
 * is invalid. Baseline SSE2, eight ways at a time or twenty.
 */
#ifndef MACHINE_CACHE_H
#define MACHINE_CACHE_H

#include <immintrin.h>

#include "machine/state.h"

#define CACHE_STATE_BITS 2
#define CACHE_STATE_MASK 3u

/* One bit a way: has the tag of @tag, in whatever state; is free. */
#ifdef __AVX2__
static inline unsigned cache_bits8(__m256i equal)
{
	return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(equal));
}

static inline unsigned cache_match8(const uint32_t *words, uint32_t tag)
{
	__m256i all = _mm256_loadu_si256((const __m256i *)words);
	__m256i wanted = _mm256_set1_epi32((int)(tag >> CACHE_STATE_BITS));

	return cache_bits8(_mm256_cmpeq_epi32(_mm256_srli_epi32(all, CACHE_STATE_BITS), wanted));
}

static inline unsigned cache_free8(const uint32_t *words)
{
	__m256i all = _mm256_loadu_si256((const __m256i *)words);

	return cache_bits8(_mm256_cmpeq_epi32(all, _mm256_setzero_si256()));
}
#else
static inline unsigned cache_bits8(__m128i low, __m128i high)
{
	__m128i both = _mm_packs_epi32(low, high);

	return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(both, _mm_setzero_si128()));
}

static inline unsigned cache_match8(const uint32_t *words, uint32_t tag)
{
	__m128i low = _mm_load_si128((const __m128i *)words);
	__m128i high = _mm_load_si128((const __m128i *)(words + 4));
	__m128i wanted = _mm_set1_epi32((int)(tag >> CACHE_STATE_BITS));

	return cache_bits8(_mm_cmpeq_epi32(_mm_srli_epi32(low, CACHE_STATE_BITS), wanted),
			   _mm_cmpeq_epi32(_mm_srli_epi32(high, CACHE_STATE_BITS), wanted));
}

static inline unsigned cache_free8(const uint32_t *words)
{
	__m128i low = _mm_load_si128((const __m128i *)words);
	__m128i high = _mm_load_si128((const __m128i *)(words + 4));
	const __m128i zero = _mm_setzero_si128();

	return cache_bits8(_mm_cmpeq_epi32(low, zero), _mm_cmpeq_epi32(high, zero));
}
#endif

/* Which of twenty words are @wanted. */
#ifdef __AVX2__
static inline unsigned cache_equal8(const uint32_t *words, __m256i wanted)
{
	return cache_bits8(_mm256_cmpeq_epi32(_mm256_loadu_si256((const __m256i *)words), wanted));
}

static inline unsigned cache_match20(const uint32_t *words, uint32_t wanted)
{
	const __m256i all = _mm256_set1_epi32((int)wanted);
	__m128i equal = _mm_cmpeq_epi32(_mm_load_si128((const __m128i *)(words + 16)),
					_mm256_castsi256_si128(all));

	return cache_equal8(words, all) | cache_equal8(words + 8, all) << 8 |
	       (unsigned)_mm_movemask_ps(_mm_castsi128_ps(equal)) << 16;
}
#else
static inline unsigned cache_match20(const uint32_t *words, uint32_t wanted)
{
	const __m128i all = _mm_set1_epi32((int)wanted);
	unsigned match = 0;

	for (int i = 0; i < 5; i++) {
		__m128i equal = _mm_cmpeq_epi32(_mm_load_si128((const __m128i *)words + i), all);

		match |= (unsigned)_mm_movemask_ps(_mm_castsi128_ps(equal)) << 4 * i;
	}
	return match;
}
#endif

/*
 * Tree pseudo-LRU of eight ways. Bit 0 is the root, bits 1 and 2 its children, bits 3 to 6 theirs;
 * a bit names the half to be replaced next, 0 the lower one.
 */
/* What a use makes of it: the bits that stay, and those that are then set. */
struct plru_use {
	uint8_t kept, on;
};
static inline struct plru_use plru_use(unsigned way)
{
	/* For each way all but its three nodes, and those of them that must name the upper half. */
	static const struct plru_use uses[L1_WAYS] = {
	    {0x74, 0x0b}, {0x74, 0x03}, {0x6c, 0x11}, {0x6c, 0x01},
	    {0x5a, 0x24}, {0x5a, 0x04}, {0x3a, 0x40}, {0x3a, 0x00},
	};

	return uses[way];
}

static inline void plru_touch(uint8_t *plru, unsigned way)
{
	const struct plru_use use = plru_use(way);

	*plru = (uint8_t)((*plru & use.kept) | use.on);
}

static inline unsigned plru_victim(unsigned plru)
{
#define LEFT(p)	   ((p) >> (1 + ((p)&1)) & 1)
#define VICTIM(p)  (((p)&1) << 2 | LEFT(p) << 1 | ((p) >> (3 + 2 * ((p)&1) + LEFT(p)) & 1))
#define FOUR(p)	   VICTIM(p), VICTIM((p) + 1), VICTIM((p) + 2), VICTIM((p) + 3)
#define SIXTEEN(p) FOUR(p), FOUR((p) + 4), FOUR((p) + 8), FOUR((p) + 12)
	static const uint8_t victims[] = {SIXTEEN(0),  SIXTEEN(16), SIXTEEN(32), SIXTEEN(48),
					  SIXTEEN(64), SIXTEEN(80), SIXTEEN(96), SIXTEEN(112)};
#undef SIXTEEN
#undef FOUR
#undef VICTIM
#undef LEFT

	return victims[plru];
}

/*
 * LRU of eight words: they stand in the order of their use, the most recent first, and free ones
 * last. A set that is full has its least recent word at the end, and zeroed memory is a valid
 * start.
 */
#ifdef __AVX2__
/** Makes the word at @way the most recent. */
static inline void lru8_use(uint32_t *words, unsigned way)
{
	static const _Alignas(32) uint32_t orders[L2_WAYS][L2_WAYS] = {
	    {0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 2, 3, 4, 5, 6, 7}, {2, 0, 1, 3, 4, 5, 6, 7},
	    {3, 0, 1, 2, 4, 5, 6, 7}, {4, 0, 1, 2, 3, 5, 6, 7}, {5, 0, 1, 2, 3, 4, 6, 7},
	    {6, 0, 1, 2, 3, 4, 5, 7}, {7, 0, 1, 2, 3, 4, 5, 6},
	};
	__m256i all = _mm256_load_si256((const __m256i *)words);
	__m256i order = _mm256_load_si256((const __m256i *)orders[way]);

	_mm256_store_si256((__m256i *)words, _mm256_permutevar8x32_epi32(all, order));
}

/** Adds @word, the most recent then. @return the one that leaves, 0: none */
static inline uint32_t lru8_add(uint32_t *words, uint32_t word)
{
	const __m256i order = _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6);
	__m256i all = _mm256_load_si256((const __m256i *)words);
	__m256i first = _mm256_castsi128_si256(_mm_cvtsi32_si128((int)word));
	uint32_t last = words[L2_WAYS - 1];

	all = _mm256_permutevar8x32_epi32(all, order);
	_mm256_store_si256((__m256i *)words, _mm256_blend_epi32(all, first, 1));
	return last;
}
#else
/* Four words, one later; @first comes before them. */
static inline __m128i lru8_later(__m128i four, __m128i first)
{
	__m128i later = _mm_shuffle_epi32(four, _MM_SHUFFLE(2, 1, 0, 0));

	return _mm_castps_si128(_mm_move_ss(_mm_castsi128_ps(later), _mm_castsi128_ps(first)));
}

static inline __m128i lru8_either(__m128i mask, __m128i yes, __m128i no)
{
	return _mm_or_si128(_mm_and_si128(mask, yes), _mm_andnot_si128(mask, no));
}

static inline void lru8_use(uint32_t *words, unsigned way)
{
	const __m128i at = _mm_set1_epi32((int)way + 1), used = _mm_cvtsi32_si128((int)words[way]);
	__m128i low = _mm_load_si128((const __m128i *)words);
	__m128i high = _mm_load_si128((const __m128i *)(words + 4));
	__m128i moves_low = _mm_cmpgt_epi32(at, _mm_setr_epi32(0, 1, 2, 3));
	__m128i moves_high = _mm_cmpgt_epi32(at, _mm_setr_epi32(4, 5, 6, 7));
	__m128i fourth = _mm_shuffle_epi32(low, _MM_SHUFFLE(3, 3, 3, 3));

	_mm_store_si128((__m128i *)words, lru8_either(moves_low, lru8_later(low, used), low));
	_mm_store_si128((__m128i *)(words + 4),
			lru8_either(moves_high, lru8_later(high, fourth), high));
}

static inline uint32_t lru8_add(uint32_t *words, uint32_t word)
{
	__m128i low = _mm_load_si128((const __m128i *)words);
	__m128i high = _mm_load_si128((const __m128i *)(words + 4));
	__m128i fourth = _mm_shuffle_epi32(low, _MM_SHUFFLE(3, 3, 3, 3));
	uint32_t last = words[L2_WAYS - 1];

	_mm_store_si128((__m128i *)words, lru8_later(low, _mm_cvtsi32_si128((int)word)));
	_mm_store_si128((__m128i *)(words + 4), lru8_later(high, fourth));
	return last;
}
#endif

/** Frees the word at @way. */
static inline void lru8_drop(uint32_t *words, unsigned way)
{
	for (; way < L2_WAYS - 1; way++)
		words[way] = words[way + 1];
	words[way] = 0;
}

/*
 * LRU of more: the most recent way of a set has recency `ways`, the one before it one less, and so
 * on; free ways have 0. So a set that is full has its least recent way at 1, and zeroed memory is a
 * valid start. Of the 32 bytes that are read, those that are no ways' are 0 or negative.
 */
#ifdef __AVX2__
static inline void lru_touch32(int8_t *recency, unsigned way, unsigned ways)
{
	__m256i all = _mm256_loadu_si256((const __m256i *)recency);
	__m256i later = _mm256_cmpgt_epi8(all, _mm256_set1_epi8(recency[way]));

	_mm256_storeu_si256((__m256i *)recency, _mm256_add_epi8(all, later));
	recency[way] = (int8_t)ways;
}

/* Bit a byte that is @value. */
static inline unsigned lru_equal32(const int8_t *recency, int8_t value)
{
	__m256i all = _mm256_loadu_si256((const __m256i *)recency);

	return (unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(all, _mm256_set1_epi8(value)));
}
#else
static inline void lru_touch32(int8_t *recency, unsigned way, unsigned ways)
{
	const __m128i old = _mm_set1_epi8(recency[way]);
	__m128i *half = (__m128i *)recency;

	for (int i = 0; i < 2; i++) {
		__m128i all = _mm_load_si128(half + i);

		_mm_store_si128(half + i, _mm_add_epi8(all, _mm_cmpgt_epi8(all, old)));
	}
	recency[way] = (int8_t)ways;
}

static inline unsigned lru_equal32(const int8_t *recency, int8_t value)
{
	const __m128i wanted = _mm_set1_epi8(value), *half = (const __m128i *)recency;
	__m128i low = _mm_cmpeq_epi8(_mm_load_si128(half), wanted);
	__m128i high = _mm_cmpeq_epi8(_mm_load_si128(half + 1), wanted);

	return (unsigned)_mm_movemask_epi8(low) | (unsigned)_mm_movemask_epi8(high) << 16;
}
#endif

/** The first free way, else the least recent one. */
static inline unsigned lru_victim32(const int8_t *recency, unsigned ways)
{
	const unsigned free = lru_equal32(recency, 0) & ((1u << ways) - 1);

	if (free)
		return (unsigned)__builtin_ctz(free);
	return (unsigned)__builtin_ctz(lru_equal32(recency, 1) | 1u << (ways - 1));
}

/* L1: 64 sets. */
static inline uint32_t l1_tag(uint32_t line)
{
	return (line / L1_SETS + 1) << CACHE_STATE_BITS;
}

static inline uint32_t l1_line(uint32_t word, unsigned set)
{
	return ((word >> CACHE_STATE_BITS) - 1) * L1_SETS + set;
}

/* Slot of @line, -1 where it is absent. */
static inline int l1_find(const uint32_t *words, uint32_t line)
{
	unsigned first = line % L1_SETS * L1_WAYS;
	unsigned match = cache_match8(words + first, l1_tag(line));

	return match ? (int)first + __builtin_ctz(match) : -1;
}

/* Tag words of L1 are read without a lock by the core they belong to. */
static inline uint32_t l1_read(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/* Written under the lock of the core's caches. */
static inline void l1_write(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
}

static inline unsigned l2_first(const struct machine *machine, uint32_t line)
{
	return (line & ((1u << machine->l2_sets_log2) - 1)) * L2_WAYS;
}

static inline uint32_t l2_tag(const struct machine *machine, uint32_t line)
{
	return ((line >> machine->l2_sets_log2) + 1) << CACHE_STATE_BITS;
}

static inline uint32_t l2_line(const struct machine *machine, uint32_t word, unsigned slot)
{
	return ((word >> CACHE_STATE_BITS) - 1) << machine->l2_sets_log2 | slot / L2_WAYS;
}

/* Slot of @line until the set is used again, -1 where it is absent. */
static inline int l2_find(const struct machine *machine, const struct core *core, uint32_t line)
{
	unsigned first = l2_first(machine, line);
	unsigned match = cache_match8(core->l2 + first, l2_tag(machine, line));

	return match ? (int)first + __builtin_ctz(match) : -1;
}

static inline enum line_state cache_state(uint32_t word)
{
	return (enum line_state)(word & CACHE_STATE_MASK);
}

#endif
