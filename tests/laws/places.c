#include "places.h"

#include "machine/control.h"

#define NEAR 1 /* another core of socket 0 */

static const struct machine_insn plain;

/* A core of socket 1. */
static unsigned far_core(const struct core_fixture *fixture)
{
	return fixture->desc.cores;
}

void places_enter(struct core_fixture *fixture)
{
	core_fixture_enter(fixture, far_core(fixture) + 1);
}

void places_settle(struct core_fixture *fixture)
{
	for (unsigned i = 0; i < fixture->hart_count; i++)
		machine_hart_sleep(fixture->harts[i], 1000000000);
}

void places_pass(struct core_fixture *fixture, unsigned core, unsigned lines, bool stores)
{
	for (unsigned i = 0; i < lines; i++) {
		if (stores)
			machine_store(fixture->harts[core], PLACES_DATA + i * PLACES_LINE, 8,
				      &plain);
		else
			machine_load(fixture->harts[core], PLACES_DATA + i * PLACES_LINE, 8,
				     &plain);
		if (i % 8 == 7)
			places_settle(fixture);
	}
	places_settle(fixture);
}

static void flush(struct core_fixture *fixture, unsigned lines)
{
	for (unsigned i = 0; i < lines; i++)
		machine_flush(fixture->harts[0], PLACES_DATA + i * PLACES_LINE);
	places_settle(fixture);
}

void places_private(struct core_fixture *fixture, unsigned lines)
{
	places_pass(fixture, 0, lines, false);
}

void places_memory(struct core_fixture *fixture, unsigned lines)
{
	places_pass(fixture, 0, lines, false);
	flush(fixture, lines);
}

void places_far_memory(struct core_fixture *fixture, unsigned lines)
{
	places_pass(fixture, far_core(fixture), lines, false);
	flush(fixture, lines);
}

void places_clean_near(struct core_fixture *fixture, unsigned lines)
{
	places_pass(fixture, NEAR, lines, false);
}

void places_modified_near(struct core_fixture *fixture, unsigned lines)
{
	places_pass(fixture, NEAR, lines, true);
}

void places_gone_near(struct core_fixture *fixture, unsigned lines)
{
	places_pass(fixture, NEAR, lines, false);
	for (unsigned i = 0; i < 16384; i++)
		machine_load(fixture->harts[NEAR], 2 * PLACES_DATA + i * PLACES_LINE, 8, &plain);
	places_settle(fixture);
}

void places_clean_far(struct core_fixture *fixture, unsigned lines)
{
	places_pass(fixture, far_core(fixture), lines, false);
}

void places_modified_far(struct core_fixture *fixture, unsigned lines)
{
	places_pass(fixture, far_core(fixture), lines, true);
}

void places_clean_lent(struct core_fixture *fixture, unsigned lines)
{
	places_memory(fixture, lines);
	places_clean_far(fixture, lines);
}

void places_modified_lent(struct core_fixture *fixture, unsigned lines)
{
	places_memory(fixture, lines);
	places_modified_far(fixture, lines);
}
