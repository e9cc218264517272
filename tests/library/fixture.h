/* An emulated machine of one socket and four cores, by the public API. */
#ifndef TESTS_LIBRARY_FIXTURE_H
#define TESTS_LIBRARY_FIXTURE_H

#include <string.h>

#include <pmulab/emul.h>

#include "support/cmocka.h"

/* Page walks would read memory too. */
#define MACHINE_TEXT                                                                               \
	"{\"base\": \"xeon-e5v4-4c\", \"name\": \"untranslated\", \"translation\": \"none\"}"

struct fixture {
	struct pmu_ctx *ctx;
	struct pmu_machine *machine;
	struct pmu_emul *emul;
};

static inline int fixture_up(void **state)
{
	static struct fixture fixture;

	assert_int_equal(pmu_ctx_new(&fixture.ctx), 0);
	if (pmu_machine_parse(&fixture.machine, fixture.ctx, MACHINE_TEXT, strlen(MACHINE_TEXT),
			      "untranslated") ||
	    pmu_emul_new(&fixture.emul, fixture.ctx, fixture.machine))
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
	pmu_machine_free(fixture->machine);
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
