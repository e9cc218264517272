#include "core_fixture.h"

#include <stdio.h>

#include "bus/emulated.h"
#include "emul/block.h"
#include "support/cmocka.h"
#include "support/prefetchers.h"

void core_fixture_up(struct core_fixture *fixture, const char *machine)
{
	core_fixture_up_with(fixture, machine, "none");
}

void core_fixture_up_with(struct core_fixture *fixture, const char *machine,
			  const char *translation)
{
	*fixture = (struct core_fixture){.desc = *pmu_find_machine(machine)};
	fixture->desc.translation = translation;
	assert_int_equal(pmu_ctx_new(&fixture->ctx), 0);
	if (pmu_bus_emulated(&fixture->bus, fixture->ctx, &fixture->desc) ||
	    pmu_session_new(&fixture->session, fixture->ctx, fixture->bus))
		fail_msg("%s", pmu_message(fixture->ctx));
	fixture->machine = emul_machine(bus_emulated_emul(fixture->bus));
	assert_int_equal(machine_address_space_new(&fixture->space, fixture->machine), 0);
}

void core_fixture_down(struct core_fixture *fixture)
{
	for (unsigned i = 0; i < fixture->hart_count; i++)
		machine_hart_leave(fixture->harts[i]);
	machine_address_space_free(fixture->space);
	pmu_session_free(fixture->session);
	pmu_bus_free(fixture->bus);
	pmu_ctx_free(fixture->ctx);
}

void core_fixture_enter(struct core_fixture *fixture, unsigned harts)
{
	assert_true(harts <= CORE_FIXTURE_HARTS);
	for (; fixture->hart_count < harts; fixture->hart_count++)
		fixture->harts[fixture->hart_count] =
		    machine_hart_enter(fixture->machine, fixture->space, 0);
}

void core_fixture_add(struct core_fixture *fixture, const char *event)
{
	struct pmu_selection selection;

	if (pmu_event_parse(fixture->ctx, pmu_bus_pmu(fixture->bus), event, &selection) ||
	    pmu_session_add(fixture->session, fixture->ctx, &selection) < 0)
		fail_msg("%s: %s", event, pmu_message(fixture->ctx));
}

void core_fixture_start(struct core_fixture *fixture)
{
	if (pmu_session_start(fixture->session, fixture->ctx))
		fail_msg("%s", pmu_message(fixture->ctx));
}

const struct pmu_count *core_fixture_stop(struct core_fixture *fixture, size_t *count)
{
	const struct pmu_count *counts = NULL;

	if (pmu_session_stop(fixture->session, fixture->ctx) ||
	    pmu_session_read(fixture->session, fixture->ctx, &counts, count))
		fail_msg("%s", pmu_message(fixture->ctx));
	assert_true(*count > 0);
	return counts;
}

/* @return cycles */
static uint64_t count_one(const char *name, uint64_t *value, core_fixture_drive *drive)
{
	struct core_fixture fixture;
	const struct pmu_count *counts;
	uint64_t values[2] = {0};
	char event[80];
	size_t count = 0;

	core_fixture_up(&fixture, "xeon-e5v4-4c");
	switch_prefetchers_off(fixture.machine);
	snprintf(event, sizeof(event), "core.%s", name);
	core_fixture_add(&fixture, event);
	core_fixture_add(&fixture, "core.CPU_CLK_UNHALTED.THREAD");
	core_fixture_start(&fixture);
	core_fixture_enter(&fixture, 1);
	drive(&fixture);
	machine_hart_pause_briefly(fixture.harts[0]);
	counts = core_fixture_stop(&fixture, &count);
	for (size_t i = 0; i < count; i++)
		if (!counts[i].instance)
			values[counts[i].event] = counts[i].count;
	core_fixture_down(&fixture);
	*value = values[0];
	return values[1];
}

uint64_t core_fixture_count(const char *const *names, uint64_t *values, unsigned events,
			    core_fixture_drive *drive)
{
	uint64_t cycles = 0;

	for (unsigned i = 0; i < events; i++) {
		const uint64_t taken = count_one(names[i], &values[i], drive);

		assert_true(!i || taken == cycles);
		cycles = taken;
	}
	return cycles;
}
