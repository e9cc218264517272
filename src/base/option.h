/*
 * Structs of the API that can grow: the first member is the size that the caller was compiled with.
 * What an older caller has not is as if it were 0; what a newer one sets and this library has not
 * is refused.
 */
#ifndef BASE_OPTION_H
#define BASE_OPTION_H

#include <stddef.h>

#include "pmulab/pmulab.h"

/**
 * Takes options into a struct of this library's.
 * @param own    all zero; receives them, its own size among them
 * @param given  the caller's; NULL: all are 0
 * @return 0, PMU_E_RANGE for no size, PMU_E_UNSUPPORTED for options that this library has not
 */
int option_take(struct pmu_ctx *ctx, void *own, size_t own_size, const void *given);

/** Gives results to a caller's struct, as far as that goes. @return 0, PMU_E_RANGE for no size */
int option_give(void *given, const void *own, size_t own_size);

#endif
