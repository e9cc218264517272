/* What the machine did and holds, for reports and tests. */
#include "base/lock.h"
#include "machine/accumulator.h"
#include "machine/cache.h"
#include "machine/machine.h"
#include "machine/memory.h"
#include "machine/tor.h"

static void add_walks(const struct machine_progress *progress, struct machine_statistics *stats)
{
	for (unsigned use = 0; use < MACHINE_TLB_USES; use++)
		for (unsigned large = 0; large < 2; large++) {
			const uint64_t walks = progress->tlb_walks[use][large];
			const uint64_t misses = walks + progress->tlb_second[use][large];

			stats->walks += walks;
			if (use == TLB_FETCH)
				stats->itlb_misses += misses;
			else
				stats->dtlb_misses += misses;
		}
	for (unsigned code = 0; code < 2; code++) {
		stats->walk_l1_hits += progress->walk_reads[code][0];
		stats->walk_l2_hits += progress->walk_reads[code][1];
		stats->walk_reads += progress->walk_reads[code][0] + progress->walk_reads[code][1];
	}
}

static void add_core(const struct machine *machine, const struct core *core,
		     struct machine_statistics *stats)
{
	uint64_t ticks = 0;

	for (uint32_t i = 0; i < core->users_high; i++) {
		const struct machine_progress *progress = &core->progress[i];

		ticks += progress->time - progress->idle;
		stats->instructions += progress->instructions;
		stats->branches += progress->branches;
		stats->loads += progress->loads;
		stats->stores += progress->stores;
		stats->locked += progress->locked;
		stats->fetches += progress->fetches;
		add_walks(progress, stats);
	}
	stats->cycles += ticks / machine->core_ticks;
	stats->nt_stores += core->nt_stores;
	stats->wc_lines += core->wc_lines[0] + core->wc_lines[1];
	stats->flushes += core->flushes;
	for (unsigned source = 0; source < SOURCES; source++)
		stats->walk_reads += core->answers[ANSWERS_WALK_DATA][REQUEST_READ_DATA][source] +
				     core->answers[ANSWERS_WALK_CODE][REQUEST_READ_DATA][source];
	stats->l1d_misses += core->l1d.misses;
	stats->l1i_misses += core->l1i.misses;
	stats->l2_misses += core_l2_misses(core);
	stats->l2_writebacks += core->l2_writebacks;
	stats->l2_prefetches += core->prefetch.into_l2;
	stats->llc_prefetches += core->prefetch.into_llc;
	stats->l1d_prefetches += core->prefetch.into_l1d;
}

static void add_slice(const struct slice *slice, struct machine_statistics *stats)
{
	stats->llc_lookups += slice->lookups;
	stats->llc_misses += slice->misses;
	stats->llc_victims += slice->victims;
	stats->llc_writebacks += slice->writebacks;
	stats->tor_cycles += slice->tor_cycles;
}

static void add_home(const struct home *home, struct machine_statistics *stats)
{
	stats->home_reads += home->reads;
	stats->home_owns += home->owns;
	stats->home_writes += home->writes;
	stats->home_flushes += home->flushes;
	stats->flush_writes += home->flush_writes;
	stats->snoops += home->snoops;
	stats->snoop_writebacks += home->snoop_writebacks;
	stats->tracker_cycles += home->tracker_cycles;
}

static void add_channel(const struct memory_channel *channel, struct machine_statistics *stats)
{
	const struct memory_statistics *memory = memory_statistics(channel);

	stats->cas_reads += memory->cas_reads;
	stats->cas_writes += memory->cas_writes;
	stats->wpq_read_hits += memory->wpq_read_hits;
	stats->wpq_write_hits += memory->wpq_write_hits;
	stats->underfills += memory->underfills;
	stats->rpq_cycles += memory->rpq_cycles;
	stats->wpq_cycles += memory->wpq_cycles;
}

void machine_statistics(const struct machine *machine, struct machine_statistics *stats)
{
	const struct pmu_machine *desc = machine->desc;
	const unsigned homes = desc->sockets * desc->home_agents;

	*stats = (struct machine_statistics){0};
	for (unsigned i = 0; i < machine->core_count; i++)
		add_core(machine, &machine->cores[i], stats);
	for (unsigned i = 0; i < desc->sockets * desc->slices; i++)
		add_slice(&machine->slices[i], stats);
	for (unsigned i = 0; i < homes; i++)
		add_home(&machine->homes[i], stats);
	for (unsigned i = 0; i < homes * desc->channels; i++)
		add_channel(&machine->channels[i], stats);
}

static const char letters[] = {
    [LINE_I] = 'I', [LINE_S] = 'S', [LINE_E] = 'E', [LINE_M] = 'M', [LINE_F] = 'F',
};

static char peek(const uint32_t *words, int slot)
{
	return letters[slot < 0 ? LINE_I : cache_state(words[slot])];
}

char machine_peek(const struct machine *machine, enum machine_level level, unsigned unit,
		  uint64_t address)
{
	uint32_t line = (uint32_t)(address >> LINE_LOG2);
	struct tor_entry entry;

	switch (level) {
	case MACHINE_L1I:
		return peek(machine->cores[unit].l1i.words,
			    l1_find(machine->cores[unit].l1i.words, line));
	case MACHINE_L1D:
		return peek(machine->cores[unit].l1d.words,
			    l1_find(machine->cores[unit].l1d.words, line));
	case MACHINE_L2:
		return peek(machine->cores[unit].l2, l2_find(machine, &machine->cores[unit], line));
	case MACHINE_LLC:
		break;
	}
	tor_locate(machine, &entry, unit, line);
	tor_find(&entry);
	return letters[tor_present(&entry) ? tor_state(&entry) : LINE_I];
}

uint32_t machine_peek_core_valid(const struct machine *machine, unsigned socket, uint64_t address)
{
	struct tor_entry entry;

	tor_locate(machine, &entry, socket, (uint32_t)(address >> LINE_LOG2));
	tor_find(&entry);
	return tor_present(&entry) ? tor_core_valid(machine, &entry) : 0;
}

static uint64_t ran_on(const struct core *core, uint32_t process, uint32_t thread)
{
	uint64_t ticks = 0;

	for (uint32_t i = 0; i < core->users_high; i++) {
		const struct core_user *user = &core->users[i];

		if (user->thread && user->process == process && (!thread || user->thread == thread))
			ticks += accumulators_ticks_run(&core->progress[i]) - user->before;
	}
	return ticks;
}

uint64_t machine_ran(struct machine *machine, uint32_t process, uint32_t thread)
{
	const uint32_t self = lock_thread();
	uint64_t ticks = 0;

	machine_hold(machine, self);
	for (unsigned i = 0; i < machine->core_count; i++)
		ticks += ran_on(&machine->cores[i], process, thread);
	machine_let_go(machine);
	return ticks;
}
