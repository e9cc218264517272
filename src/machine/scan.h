/*
 * Small tables searched at once, a bit an entry: of 32 entries at most, of which those that are not
 * in use are 0. Entries are looked at in groups: behind @count there may be some more, unused ones.
 */
#ifndef MACHINE_SCAN_H
#define MACHINE_SCAN_H

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

#define SCAN_MAX 32

#ifdef __AVX2__
/** Which of @words (aligned to 16) are @wanted, which is not 0. */
static inline uint32_t scan_equal(const uint32_t *words, unsigned count, uint32_t wanted)
{
	const __m256i all = _mm256_set1_epi32((int)wanted);
	uint32_t found = 0;

	for (unsigned i = 0; i < count; i += 8) {
		__m256i eight = _mm256_loadu_si256((const __m256i *)(words + i));
		__m256i equal = _mm256_cmpeq_epi32(eight, all);

		found |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(equal)) << i;
	}
	return found;
}

/** Which of @times are later than @time; all are below 2^63. */
static inline uint32_t scan_later(const uint64_t *times, unsigned count, uint64_t time)
{
	const __m256i all = _mm256_set1_epi64x((long long)time);
	uint32_t found = 0;

	for (unsigned i = 0; i < count; i += 4) {
		__m256i four = _mm256_loadu_si256((const __m256i *)(times + i));
		__m256i later = _mm256_cmpgt_epi64(four, all);

		found |= (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(later)) << i;
	}
	return found;
}

/** Whether one of @four (aligned to 32) is @wanted. */
static inline bool scan_has(const uint64_t *four, uint64_t wanted)
{
	__m256i equal = _mm256_cmpeq_epi64(_mm256_load_si256((const __m256i *)four),
					   _mm256_set1_epi64x((long long)wanted));

	return !_mm256_testz_si256(equal, equal);
}
#else
static inline uint32_t scan_equal(const uint32_t *words, unsigned count, uint32_t wanted)
{
	const __m128i all = _mm_set1_epi32((int)wanted);
	uint32_t found = 0;

	for (unsigned i = 0; i < count; i += 4) {
		__m128i equal = _mm_cmpeq_epi32(_mm_load_si128((const __m128i *)(words + i)), all);

		found |= (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(equal)) << i;
	}
	return found;
}

static inline uint32_t scan_later(const uint64_t *times, unsigned count, uint64_t time)
{
	uint32_t found = 0;

	for (unsigned i = 0; i < count; i++)
		found |= (uint32_t)(times[i] > time) << i;
	return found;
}

static inline bool scan_has(const uint64_t *four, uint64_t wanted)
{
	return (four[0] == wanted) | (four[1] == wanted) | (four[2] == wanted) |
	       (four[3] == wanted);
}
#endif

#endif
