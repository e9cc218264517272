/* What takes energy. */
#include "machine/machine.h"
#include "machine/memory.h"
#include "machine/state.h"

__extension__ typedef unsigned __int128 wide;

static uint64_t ns_of(const struct machine *machine, uint64_t ticks)
{
	return (uint64_t)((wide)ticks * 1000000000 / machine_ticks_per_second(machine));
}

static uint64_t busy_ticks(const struct core *core)
{
	uint64_t ticks = 0;

	for (uint32_t i = 0; i < core->users_high; i++)
		ticks += core->progress[i].time - core->progress[i].idle;
	return ticks;
}

void machine_socket_activity(const struct machine *machine, unsigned socket,
			     struct machine_activity *activity)
{
	const struct pmu_machine *desc = machine->desc;
	const unsigned channels = desc->home_agents * desc->channels;
	uint64_t busy = 0;

	*activity = (struct machine_activity){.passed_ns = ns_of(machine, machine_now(machine))};
	for (unsigned i = 0; i < desc->cores; i++)
		busy += busy_ticks(&machine->cores[socket * desc->cores + i]);
	activity->busy_ns = ns_of(machine, busy);
	for (unsigned i = 0; i < desc->slices; i++)
		activity->lookups += machine->slices[socket * desc->slices + i].lookups;
	for (unsigned i = 0; i < channels; i++) {
		const struct memory_statistics *memory =
		    memory_statistics(&machine->channels[socket * channels + i]);

		activity->cas += memory->cas_reads + memory->cas_writes;
	}
}
