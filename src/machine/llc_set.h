/*
 * A set of the LLC, in one line of the host. Its ways stand in the order of their use, the most
 * recent first, and free ones last. So a set that is full has its least recent way at the end, and
 * zeroed memory is a valid start. A way moves with each use: its number holds until then.
 */
#ifndef MACHINE_LLC_SET_H
#define MACHINE_LLC_SET_H

#include <assert.h>
#include <immintrin.h>
#include <string.h>

#include "machine/state.h"

/* Who has a line of the LLC, of the socket's cores: one, or what core-valid bits elsewhere say. */
#define LLC_CORE_NONE	 1u
#define LLC_CORE_SEVERAL 2u
#define LLC_CORE(number) (3u + (number))

/* Beside the bits of keys: several cores have had a line of the set, and may have it still. */
#define LLC_HAD_SEVERAL (1u << 31)

#define LLC_CORE_BITS 6
#define LLC_CORE_MASK ((1u << LLC_CORE_BITS) - 1)

static_assert(LLC_CORE(CORES_MAX) <= LLC_CORE_MASK, "a core fits");
static_assert(LINE_S == 1 && LINE_E == 2 && LINE_M == 3 && LINE_F == 4, "two bits a state");

/* What a line is known by in its set: not 0. */
static inline uint32_t llc_key(uint32_t tag)
{
	return tag + 1;
}

static inline uint32_t llc_key_at(const struct llc_set *set, unsigned way)
{
	return set->keys[way] | (set->high >> way & 1) << 16;
}

static inline bool llc_in_use(const struct llc_set *set, unsigned way)
{
	return set->holds[way];
}

static inline enum line_state llc_state(const struct llc_set *set, unsigned way)
{
	return (enum line_state)((set->holds[way] >> LLC_CORE_BITS) + 1);
}

/** One of LLC_CORE*. */
static inline unsigned llc_core(const struct llc_set *set, unsigned way)
{
	return set->holds[way] & LLC_CORE_MASK;
}

static inline uint8_t llc_holds(enum line_state state, unsigned core)
{
	return (uint8_t)((uint32_t)(state - 1) << LLC_CORE_BITS | core);
}

static inline void llc_set_state(struct llc_set *set, unsigned way, enum line_state state)
{
	set->holds[way] = llc_holds(state, llc_core(set, way));
}

static inline void llc_set_core(struct llc_set *set, unsigned way, unsigned core)
{
	if (core == LLC_CORE_SEVERAL)
		set->high |= LLC_HAD_SEVERAL;
	set->holds[way] = (uint8_t)((set->holds[way] & ~LLC_CORE_MASK) | core);
}

/** A line comes. @param core  not several */
static inline void llc_put(struct llc_set *set, unsigned way, uint32_t key, enum line_state state,
			   unsigned core)
{
	set->keys[way] = (uint16_t)key;
	set->high = (set->high & ~(1u << way)) | key >> 16 << way;
	set->holds[way] = llc_holds(state, core);
}

/** A line leaves the last way that is in use. */
static inline void llc_clear(struct llc_set *set, unsigned way)
{
	set->keys[way] = 0;
	set->high &= ~(1u << way);
	set->holds[way] = 0;
}

/* Those of @match, a bit a way whose key ends as @key does, that have the key. */
static inline int llc_way(const struct llc_set *set, unsigned match, uint32_t key)
{
	match &= ~(set->high ^ (key >> 16 ? UINT32_MAX : 0));
	return match ? __builtin_ctz(match) : -1;
}

/* Bits of the ways from the first one to @way. */
static inline uint32_t llc_up_to(unsigned way)
{
	return (2u << way) - 1;
}

/** Its way, -1 where the set does not have it. */
static inline int llc_find(const struct llc_set *set, uint32_t key)
{
	const __m128i wanted = _mm_set1_epi16((short)key), *keys = (const __m128i *)set->keys;
	__m128i first = _mm_packs_epi16(_mm_cmpeq_epi16(_mm_load_si128(keys), wanted),
					_mm_cmpeq_epi16(_mm_load_si128(keys + 1), wanted));
	__m128i last = _mm_cmpeq_epi16(_mm_loadl_epi64(keys + 2), wanted);
	unsigned bits = (unsigned)_mm_movemask_epi8(_mm_packs_epi16(last, last));

	return llc_way(set, (unsigned)_mm_movemask_epi8(first) | (bits & 0xf) << 16, key);
}

/* Free ways as bits. */
static inline uint32_t llc_free(const struct llc_set *set)
{
	/* Eight bytes before the first way are the last keys, four behind the last one other ones.
	 */
	const __m128i *holds = (const __m128i *)(set->keys + 16), zero = _mm_setzero_si128();
	__m128i first = _mm_cmpeq_epi8(_mm_load_si128(holds), zero);
	__m128i last = _mm_cmpeq_epi8(_mm_load_si128(holds + 1), zero);

	return ((uint32_t)_mm_movemask_epi8(first) >> 8 | (uint32_t)_mm_movemask_epi8(last) << 8) &
	       llc_up_to(LLC_WAYS_MAX - 1);
}

/* The last four ways of a move of @way to the front. */
static inline void llc_move_last(struct llc_set *set, unsigned way)
{
	const unsigned bits = (way - 15) * 8;
	const uint64_t moved_keys = UINT64_MAX >> (64 - 2 * bits);
	const uint32_t moved = UINT32_MAX >> (32 - bits);
	uint64_t keys;
	uint32_t holds;

	memcpy(&keys, set->keys + 16, sizeof(keys));
	memcpy(&holds, set->holds + 16, sizeof(holds));
	keys = (keys & ~moved_keys) | ((keys << 16 | set->keys[15]) & moved_keys);
	holds = (holds & ~moved) | ((holds << 8 | set->holds[15]) & moved);
	memcpy(set->keys + 16, &keys, sizeof(keys));
	memcpy(set->holds + 16, &holds, sizeof(holds));
}

static inline __m128i llc_either(__m128i mask, __m128i yes, __m128i no)
{
	return _mm_or_si128(_mm_and_si128(mask, yes), _mm_andnot_si128(mask, no));
}

/* The ways before @way are one later, and it is the first. */
static inline void llc_move(struct llc_set *set, unsigned way)
{
	const __m128i key = _mm_cvtsi32_si128(set->keys[way]);
	const __m128i hold = _mm_cvtsi32_si128(set->holds[way]);
	const __m128i at = _mm_set1_epi16((short)(way + 1));
	const __m128i moved = _mm_cmpgt_epi16(at, _mm_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7));
	const __m128i moved_too = _mm_cmpgt_epi16(at, _mm_setr_epi16(8, 9, 10, 11, 12, 13, 14, 15));
	__m128i *first = (__m128i *)set->keys, *second = first + 1;
	__m128i *holds = (__m128i *)set->holds;
	__m128i keys = _mm_load_si128(first), more = _mm_load_si128(second);
	__m128i held = _mm_loadu_si128(holds);

	if (way > 15)
		llc_move_last(set, way);
	more = llc_either(moved_too,
			  _mm_or_si128(_mm_slli_si128(more, 2), _mm_srli_si128(keys, 14)), more);
	keys = llc_either(moved, _mm_or_si128(_mm_slli_si128(keys, 2), key), keys);
	held = llc_either(_mm_packs_epi16(moved, moved_too),
			  _mm_or_si128(_mm_slli_si128(held, 1), hold), held);
	_mm_store_si128(first, keys);
	_mm_store_si128(second, more);
	_mm_storeu_si128(holds, held);
}

/** Whether several cores may have a line of the set. */
static inline bool llc_has_several(const struct llc_set *set)
{
	return set->high & LLC_HAD_SEVERAL;
}

/** The first free way, else the one used least recently. */
static inline unsigned llc_room(const struct llc_set *set, unsigned ways)
{
	if (llc_in_use(set, ways - 1))
		return ways - 1;
	return (unsigned)__builtin_ctz(llc_free(set));
}

/** Makes the way the most recent, which then is the first one. */
static inline void llc_use(struct llc_set *set, unsigned way)
{
	const uint32_t high = set->high, moved = llc_up_to(way);

	llc_move(set, way);
	set->high = (high & ~moved) | ((high << 1 | (high >> way & 1)) & moved);
}

/** A line leaves: the ways behind it are one earlier. */
static inline void llc_drop(struct llc_set *set, unsigned way)
{
	const uint32_t before = llc_up_to(way) >> 1;
	const size_t behind = LLC_WAYS_MAX - 1 - way;

	memmove(set->keys + way, set->keys + way + 1, behind * sizeof(set->keys[0]));
	memmove(set->holds + way, set->holds + way + 1, behind);
	set->keys[LLC_WAYS_MAX - 1] = 0;
	set->holds[LLC_WAYS_MAX - 1] = 0;
	set->high = (set->high & (before | LLC_HAD_SEVERAL)) |
		    ((set->high & llc_up_to(LLC_WAYS_MAX - 1)) >> 1 & ~before);
}

#endif
