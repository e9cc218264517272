/* An emulated machine of one socket and four cores, by the public API. */
#ifndef TESTS_LIBRARY_FIXTURE_H
#define TESTS_LIBRARY_FIXTURE_H

#include <pmulab/emul.h>

#include "support/cmocka.h"

#define MACHINE "xeon-e5v4-4c"

struct fixture {
	struct pmu_ctx *ctx;
	struct pmu_emul *emul;
};

static inline int fixture_up(void **state)
{
	static struct fixture fixture;

	assert_int_equal(pmu_ctx_new(&fixture.ctx), 0);
	if (pmu_emul_new(&fixture.emul, fixture.ctx, pmu_find_machine(MACHINE)))
		fail_msg("%s", pmu_message(fixture.ctx));
	/* Closed forms are those of demands. */
	assert_int_equal(pmu_emul_set_prefetchers(fixture.emul, fixture.ctx, "none"), 0);
	*state = &fixture;
	return 0;
}

static inline int fixture_down(void **state)
{
	struct fixture *fixture = *state;

	pmu_emul_free(fixture->emul);
	pmu_ctx_free(fixture->ctx);
	return 0;
}

static inline struct pmu_emul_statistics statistics_of(const struct fixture *fixture)
{
	struct pmu_emul_statistics statistics = {.size = sizeof(statistics)};

	assert_int_equal(pmu_emul_statistics(fixture->emul, &statistics), 0);
	return statistics;
}

#endif
