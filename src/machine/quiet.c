/* The way of a miss while nobody needs its signals one by one: see totals.h. */
#define MACHINE_EMITS 0
#define MACHINE_PATH  static MACHINE_INLINE

#define dram_init	  dram_init_quiet
#define dram_read	  dram_read_quiet
#define dram_read_late	  dram_read_late_quiet
#define dram_refresh	  dram_refresh_quiet
#define dram_write	  dram_write_quiet
#define home_flush	  home_flush_quiet
#define home_own	  home_own_quiet
#define home_read	  home_read_quiet
#define home_write	  home_write_quiet
#define memory_advance	  memory_advance_quiet
#define memory_drain	  memory_drain_quiet
#define memory_init	  memory_init_quiet
#define memory_read	  memory_read_quiet
#define memory_statistics memory_statistics_quiet
#define memory_write	  memory_write_quiet
#define miss_get	  miss_get_quiet
#define miss_prefetch	  miss_prefetch_quiet
#define slice_has	  slice_has_quiet
#define slice_flush	  slice_flush_quiet
#define slice_hit	  slice_hit_quiet
#define slice_miss	  slice_miss_quiet
#define slice_own	  slice_own_quiet
#define slice_prefetch	  slice_prefetch_quiet
#define slice_read	  slice_read_quiet
#define slice_snoop	  slice_snoop_quiet
#define slice_write	  slice_write_quiet

#include "memory_dram.c"

#include "memory.c"

#include "slice.c"

#include "home.c"

#include "miss.c"

#include "machine/translate.h"

void miss_load(struct machine_hart *core, uint64_t line, uint32_t physical,
	       struct machine_insn insn)
{
	struct machine *machine = core->machine;
	const struct miss miss = {
	    .want = {machine, core->core, core->l1d, physical, REQUEST_READ_DATA},
	    .issued = mshr_issue(core, insn.address_registers),
	    .held = true,
	    .absent = true,
	};
	const uint64_t cycle = cycle_sent(core, miss.issued);
	struct slice_answer answer;
	struct tor_entry entry;
	struct found found;

	tor_locate(machine, &entry, core->socket, physical);
	machine->holder = core->thread;
	core->l1d->misses++;
	if (is_near(core, physical)) {
		place_near(core, &entry, physical, entry.index);
		answer =
		    slice_read(machine, &entry, core->number_in_socket, REQUEST_READ_DATA, cycle);
	} else {
		entry.held = core->core;
		entry.shared = entry.near = false;
		answer =
		    slice_read(machine, &entry, core->number_in_socket, REQUEST_READ_DATA, cycle);
	}
	found = let_go_alone(core, receive(core, &miss, answer));
	finish_load(core, line, physical, insn, found);
}
