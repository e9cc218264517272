/* A machine of one socket and four cores, in memory of its own. */
#ifndef TESTS_FEED_FIXTURE_H
#define TESTS_FEED_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "catalog/description.h"
#include "machine/machine.h"
#include "support/cmocka.h"
#include "support/prefetchers.h"

struct fixture {
	struct pmu_ctx *ctx;
	struct pmu_machine desc; /* translation is free */
	void *memory;
	struct machine *machine;
	struct machine_address_space *space;
};

static inline int fixture_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	size_t size;

	assert_non_null(fixture);
	fixture->desc = *pmu_find_machine("xeon-e5v4-4c");
	fixture->desc.translation = "none";
	size = (machine_state_size(&fixture->desc) + 63) & ~(size_t)63;
	assert_int_equal(pmu_ctx_new(&fixture->ctx), 0);
	fixture->memory = aligned_alloc(64, size);
	assert_non_null(fixture->memory);
	memset(fixture->memory, 0, size);
	assert_int_equal(
	    machine_open(&fixture->machine, fixture->ctx, &fixture->desc, fixture->memory, true),
	    0);
	switch_prefetchers_off(fixture->machine);
	assert_int_equal(machine_address_space_new(&fixture->space, fixture->machine), 0);
	*state = fixture;
	return 0;
}

static inline int fixture_down(void **state)
{
	struct fixture *fixture = *state;

	machine_address_space_free(fixture->space);
	machine_close(fixture->machine);
	free(fixture->memory);
	pmu_ctx_free(fixture->ctx);
	free(fixture);
	return 0;
}

#endif
