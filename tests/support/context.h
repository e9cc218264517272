/* A context, for tests or groups of them that need nothing else: *state. */
#ifndef TESTS_SUPPORT_CONTEXT_H
#define TESTS_SUPPORT_CONTEXT_H

#include "pmulab/pmulab.h"

static inline int fixture_up(void **state)
{
	struct pmu_ctx *ctx;
	int code = pmu_ctx_new(&ctx);

	*state = ctx;
	return code;
}

static inline int fixture_down(void **state)
{
	pmu_ctx_free(*state);
	return 0;
}

#endif
