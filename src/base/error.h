/* How a function says what went wrong: a code by return value, the particulars in the context. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stddef.h>

#include "pmulab/pmulab.h"

/** Keeps a printf-style message in @ctx (which may be NULL) and returns @code. */
__attribute__((format(printf, 3, 4))) int error_set(struct pmu_ctx *ctx, int code,
						    const char *format, ...);

/**
 * As error_set(), and shows @input with a caret under the @length characters from @offset.
 * Offsets beyond the end of @input point behind its last character.
 */
__attribute__((format(printf, 6, 7))) int error_set_at(struct pmu_ctx *ctx, int code,
						       const char *input, size_t offset,
						       size_t length, const char *format, ...);

/**
 * The first of several errors, where one does not keep the rest from being done: what comes after
 * may be its consequence, and gets no context to leave a message in.
 */
static inline int error_first(int first, int later)
{
	return first ? first : later;
}

#endif
