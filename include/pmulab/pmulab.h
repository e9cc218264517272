/*
 * pmulab: errors and the context that every call takes first.
 *
 * All functions that can fail return 0 or a negative PMU_E... value and leave one message with the
 * particulars in the context. Nothing in the library prints or exits. A context is for one thread
 * at a time; catalog tables are constant and shared by all.
 *
 * A program goes on working with a later library of the same soname. What can grow is one of these:
 * an opaque struct behind functions; a struct that begins with its size; one that only the library
 * makes and gives by pointer, which grows at its end; and small structs that programs copy and make
 * arrays of, which have room in a member `reserved`: 0 from the program, not to be read.
 */
#ifndef PMULAB_PMULAB_H
#define PMULAB_PMULAB_H

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/**
 * Which of two names a misspelt one was probably meant to be, by edit distance, without regard to
 * case.
 * @param a, b  may be NULL
 * @return @a where both are as near, or @b; NULL where neither is near enough to be meant
 */
const char *pmu_nearest_name(const char *wanted, const char *a, const char *b);

/* Of these headers; that of the library is pmu_version(). */
#define PMU_VERSION_MAJOR 0
#define PMU_VERSION_MINOR 1
#define PMU_VERSION_PATCH 0

/** The library's version, "MAJOR.MINOR.PATCH". Constant. */
const char *pmu_version(void);

enum pmu_error {
	PMU_E_NOMEM = -1,	/* memory ran out */
	PMU_E_SYNTAX = -2,	/* text that cannot be parsed */
	PMU_E_UNKNOWN = -3,	/* no PMU, box, event, unit mask, field or machine of that name */
	PMU_E_RANGE = -4,	/* a value that does not fit its field */
	PMU_E_CONFLICT = -5,	/* requests that exclude each other */
	PMU_E_IO = -6,		/* a register, file or process that could not be reached */
	PMU_E_RIGHTS = -7,	/* not allowed; the message names what grants it */
	PMU_E_UNSUPPORTED = -8, /* documented, but not here */
	PMU_E_STATE = -9,	/* a call in the wrong order */
	PMU_E_BUSY = -10,	/* counters that somebody else uses */
};

struct pmu_ctx;

/** Makes a context. @return 0 or PMU_E_NOMEM; *ctx is the caller's, to be freed. */
int pmu_ctx_new(struct pmu_ctx **ctx);

/** Frees a context; NULL is allowed. */
void pmu_ctx_free(struct pmu_ctx *ctx);

/**
 * The message of the last failed call: one sentence, and where the input is at fault, a second and
 * third line with the input and a caret. Never NULL; valid until the next call with @ctx.
 */
const char *pmu_message(const struct pmu_ctx *ctx);

/**
 * What an error code means in general, as a phrase: "unknown name".
 * @param error  0, an enum pmu_error, or anything else, which is called an unknown error
 * @return a constant string, never NULL
 */
const char *pmu_strerror(int error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
