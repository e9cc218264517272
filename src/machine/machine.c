#include "machine/machine.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "machine/accumulator.h"
#include "machine/memory.h"
#include "machine/reports.h"
#include "machine/write_combining.h"

#define LOCK_TRIES 20 /* while the holder waits for a processor of the host */

/* Where the parts of the shared block begin, bytes. */
struct layout {
	size_t cores, slices, homes, channels, llc, sharers, size;
};

static size_t place(size_t *end, size_t count, size_t size)
{
	size_t begin = (*end + 127) & ~(size_t)127;

	*end = begin + count * size;
	return begin;
}

static struct layout lay_out(const struct pmu_machine *desc)
{
	const size_t slices = (size_t)desc->sockets * desc->slices;
	const size_t homes = (size_t)desc->sockets * desc->home_agents;
	struct layout layout;
	size_t end = sizeof(struct machine_state);

	layout.cores = place(&end, (size_t)desc->sockets * desc->cores, sizeof(struct core));
	layout.slices = place(&end, slices, sizeof(struct slice));
	layout.homes = place(&end, homes, sizeof(struct home));
	layout.channels = place(&end, homes * desc->channels, sizeof(struct memory_channel));
	layout.llc = place(&end, slices * desc->llc.sets, sizeof(struct llc_set));
	layout.sharers = place(&end, slices * desc->llc.sets, sizeof(struct llc_sharers));
	layout.size = end;
	return layout;
}

size_t machine_state_size(const struct pmu_machine *desc)
{
	return lay_out(desc).size;
}

struct limit {
	const char *what;
	uint64_t value, least, most;
};

static bool is_power_of_two(uint64_t value)
{
	return value && !(value & (value - 1));
}

static int check_limits(struct pmu_ctx *ctx, const struct pmu_machine *desc,
			const struct limit *limits, size_t count)
{
	for (const struct limit *limit = limits; limit < limits + count; limit++)
		if (limit->value < limit->least || limit->value > limit->most)
			return error_set(ctx, PMU_E_UNSUPPORTED,
					 "machine %s: %s must be from %llu to %llu, not %llu",
					 desc->name, limit->what, (unsigned long long)limit->least,
					 (unsigned long long)limit->most,
					 (unsigned long long)limit->value);
	return 0;
}

static int check_memory(struct pmu_ctx *ctx, const struct pmu_machine *desc)
{
	const uint64_t lines = desc->memory_bytes / LINE_BYTES * desc->sockets;
	const uint64_t bank_groups_most =
	    desc->banks < MEMORY_GROUPS_MAX ? desc->banks : MEMORY_GROUPS_MAX;
	const struct limit limits[] = {
	    {"bank groups", desc->bank_groups, 0, bank_groups_most},
	    /* With two gaps, what a calendar takes. */
	    {"t_burst", desc->t_burst, 1, 1u << 5},
	    {"t_ccd_l", desc->t_ccd_l, 0, CALENDAR_USE_MAX},
	    {"t_ras", desc->t_ras, 0, 1u << 14},
	    {"t_rp", desc->t_rp, 0, 1u << 14},
	    /* Line numbers have 31 bits. */
	    {"lines of memory", lines, 1u << (PAGE_LOG2 - LINE_LOG2), 1u << 31},
	    {"lines of memory a set of the LLC", lines / desc->slices / desc->llc.sets, 0,
	     LLC_KEY_MAX - 1},
	};

	if (desc->bank_groups & (desc->bank_groups - 1))
		return error_set(ctx, PMU_E_UNSUPPORTED,
				 "machine %s: bank groups must be a power of two", desc->name);
	return check_limits(ctx, desc, limits, sizeof(limits) / sizeof(limits[0]));
}

static bool has_uarch(const struct pmu_machine *desc)
{
	return strcmp(desc->uarch, "none") != 0;
}

static int check_uarch(struct pmu_ctx *ctx, const struct pmu_machine *desc)
{
	if (!has_uarch(desc) || machine_uarch_find(desc->uarch))
		return 0;
	return error_set(ctx, PMU_E_UNKNOWN,
			 "machine %s: uarch: no core is called %s, but %s; or none", desc->name,
			 desc->uarch, machine_uarch_names);
}

static int check_translation(struct pmu_ctx *ctx, const struct pmu_machine *desc)
{
	if (strcmp(desc->translation, "tlb") && strcmp(desc->translation, "none"))
		return error_set(ctx, PMU_E_UNKNOWN,
				 "machine %s: translation: neither tlb nor none, but %s",
				 desc->name, desc->translation);
	if (strcmp(desc->large_pages, "transparent") && strcmp(desc->large_pages, "none"))
		return error_set(ctx, PMU_E_UNKNOWN,
				 "machine %s: large_pages: neither transparent nor none, but %s",
				 desc->name, desc->large_pages);
	return 0;
}

int machine_check(struct pmu_ctx *ctx, const struct pmu_machine *desc)
{
	const struct limit limits[] = {
	    {"sockets", desc->sockets, 1, SOCKETS_MAX},
	    {"cores", desc->cores, 1, CORES_MAX},
	    {"slices", desc->slices, 1, SLICES_MAX},
	    {"home agents", desc->home_agents, 1, HOMES_MAX},
	    {"channels", desc->channels, 1, HOME_CHANNELS},
	    {"ranks", desc->ranks, 1, MEMORY_BANKS_MAX},
	    {"banks", desc->banks, 1, MEMORY_BANKS_MAX},
	    {"ranks times banks", (uint64_t)desc->ranks * desc->banks, 1, MEMORY_BANKS_MAX},
	    {"bytes of memory a socket", desc->memory_bytes, LINE_BYTES, 1ull << 37},
	    {"L1I sets", desc->l1i.sets, L1_SETS, L1_SETS},
	    {"L1I ways", desc->l1i.ways, L1_WAYS, L1_WAYS},
	    {"L1D sets", desc->l1d.sets, L1_SETS, L1_SETS},
	    {"L1D ways", desc->l1d.ways, L1_WAYS, L1_WAYS},
	    {"L2 sets", desc->l2.sets, L1_SETS, L2_SETS_MAX},
	    {"L2 ways", desc->l2.ways, L2_WAYS, L2_WAYS},
	    {"LLC sets", desc->llc.sets, 1, 1u << 16},
	    {"LLC ways", desc->llc.ways, 1, LLC_WAYS_MAX},
	    {"fill buffers", desc->fill_buffers, 1, FILL_BUFFERS_MAX},
	    {"prefetchers", desc->prefetchers, 0, (1u << PREFETCHERS) - 1},
	    {"superqueue entries", desc->superqueue_entries, 1, SUPERQUEUE_MAX},
	    {"streams", desc->streams, 1, STREAMS_MAX},
	    {"lines of a stream", desc->stream_lines, 1, (1u << (PAGE_LOG2 - LINE_LOG2)) - 1},
	    {"IRQ entries", desc->irq_entries, 1, IRQ_MAX},
	    /* A request and its victim hold one each. */
	    {"TOR entries", desc->tor_entries, 2, TOR_MAX},
	    {"tracker entries", desc->tracker_entries, 1, TRACKER_MAX},
	    {"RPQ entries", desc->rpq_entries, 1, MEMORY_QUEUE_MAX},
	    {"WPQ entries", desc->wpq_entries, 1, MEMORY_QUEUE_MAX},
	    {"issue width", desc->issue_width, 1, 64},
	    {"core clock", desc->core_mhz, 1, 10000},
	    {"uncore clock", desc->uclk_mhz, 1, 10000},
	    {"DRAM clock", desc->dclk_mhz, 1, 10000},
	    {"base clock", desc->bclk_mhz, 1, 1000},
	    {"PCU clock", desc->pclk_mhz, 0, 10000},
	    {"QPI clock", desc->qfclk_mhz, 0, 10000},
	    {"link_line_cycles", desc->link_line_cycles, 0, CALENDAR_USE_MAX},
	};

	int error = check_limits(ctx, desc, limits, sizeof(limits) / sizeof(limits[0]));

	if (!error)
		error = check_uarch(ctx, desc);
	if (!error)
		error = check_translation(ctx, desc);
	if (error)
		return error;
	if (!is_power_of_two(desc->l2.sets) || !is_power_of_two(desc->llc.sets))
		return error_set(ctx, PMU_E_UNSUPPORTED,
				 "machine %s: L2 and LLC sets must be powers of two", desc->name);
	return check_memory(ctx, desc);
}

static uint64_t least_common_multiple(uint64_t a, uint64_t b)
{
	uint64_t x = a, y = b;

	while (y) {
		uint64_t rest = x % y;

		x = y;
		y = rest;
	}
	return a / x * b;
}

static void set_clocks(struct machine *machine)
{
	const struct pmu_machine *desc = machine->desc;
	/* With plans a tick is no more than what one micro-operation takes. */
	uint64_t parts = machine->uarch ? machine->uarch->issue_width : 1;
	uint64_t core = least_common_multiple(desc->core_mhz * parts, desc->bclk_mhz);
	uint64_t mhz =
	    least_common_multiple(core, least_common_multiple(desc->uclk_mhz, desc->dclk_mhz));

	machine->core_ticks = mhz / desc->core_mhz;
	machine->uclk_ticks = mhz / desc->uclk_mhz;
	machine->dclk_ticks = mhz / desc->dclk_mhz;
	machine->bclk_ticks = mhz / desc->bclk_mhz;
	machine->ticks_per_second = mhz * 1000000;
}

/* @param bytes  a cycle; 0: no limit. @return ticks a line, the nearest */
static uint32_t ticks_a_line(const struct machine *machine, uint32_t bytes)
{
	return bytes ? (uint32_t)((LINE_BYTES * machine->core_ticks + bytes / 2) / bytes) : 0;
}

static void set_l2_moves(struct machine *machine)
{
	const struct machine_uarch *uarch = machine->uarch;

	if (!uarch)
		return;
	machine->l2_moves = (struct l2_moves){
	    .load = ticks_a_line(machine, uarch->l2_load),
	    .own = ticks_a_line(machine, uarch->l2_own),
	    .write = ticks_a_line(machine, uarch->l2_write),
	    .fill = ticks_a_line(machine, uarch->l2_fill),
	    .evict = ticks_a_line(machine, uarch->l2_evict),
	};
}

static size_t channel_count(const struct pmu_machine *desc)
{
	return (size_t)desc->sockets * desc->home_agents * desc->channels;
}

static void set_views(struct machine *machine)
{
	const struct pmu_machine *desc = machine->desc;

	for (size_t i = 0; i < channel_count(desc); i++) {
		size_t home = i / desc->channels;

		machine->views[i] = (struct memory_view){
		    .desc = desc,
		    .socket = (uint8_t)(home / desc->home_agents),
		    .unit = (uint8_t)(i % ((size_t)desc->home_agents * desc->channels)),
		};
	}
}

int machine_open(struct machine **result, struct pmu_ctx *ctx, const struct pmu_machine *desc,
		 void *state, bool fresh)
{
	const struct layout layout = lay_out(desc);
	const size_t sets = (size_t)desc->llc.sets * desc->slices;
	struct machine *machine;
	char *base = state;
	int error = machine_check(ctx, desc);

	if (error)
		return error;
	machine = calloc(1, sizeof(*machine));
	if (!machine)
		goto no_memory;
	machine->views = calloc(channel_count(desc), sizeof(*machine->views));
	if (!machine->views)
		goto free_machine;
	*machine->desc = *desc;
	machine->uarch = has_uarch(desc) ? machine_uarch_find(desc->uarch) : NULL;
	machine->translates = machine->uarch && strcmp(desc->translation, "tlb") == 0;
	machine->large_pages = machine->translates && strcmp(desc->large_pages, "none");
	machine->state = state;
	machine->cores = (struct core *)(base + layout.cores);
	machine->slices = (struct slice *)(base + layout.slices);
	machine->homes = (struct home *)(base + layout.homes);
	machine->channels = (struct memory_channel *)(base + layout.channels);
	machine->llc[0].slices = machine->slices;
	machine->llc[0].sets = (struct llc_set *)(base + layout.llc);
	machine->llc[1].slices = machine->slices + desc->slices;
	machine->llc[0].sharers = (struct llc_sharers *)(base + layout.sharers);
	machine->llc[1].sets = machine->llc[0].sets + sets;
	machine->llc[1].sharers = machine->llc[0].sharers + sets;
	machine->core_count = desc->sockets * desc->cores;
	machine->lines_per_node = (uint32_t)(desc->memory_bytes / LINE_BYTES);
	machine->l2_sets_log2 = (uint32_t)__builtin_ctz(desc->l2.sets);
	machine->llc_sets_log2 = (uint32_t)__builtin_ctz(desc->llc.sets);
	machine->per_slice = divisor_of(desc->slices);
	machine->per_channel = divisor_of(desc->channels);
	set_clocks(machine);
	set_l2_moves(machine);
	machine->per_uclk = time_divisor_of(machine->uclk_ticks);
	machine->per_dclk = time_divisor_of(machine->dclk_ticks);
	set_views(machine);
	machine->may_bias = lock_may_bias();
	if (fresh)
		for (size_t i = 0; i < channel_count(desc); i++)
			memory_init(&machine->channels[i], desc);
	for (unsigned i = 0; fresh && i < machine->core_count; i++)
		machine_set_prefetchers(machine, i, desc->prefetchers);
	machine_connect(machine, NULL);
	*result = machine;
	return 0;

free_machine:
	free(machine);
no_memory:
	return error_set(ctx, PMU_E_NOMEM, "no memory for a machine");
}

void machine_close(struct machine *machine)
{
	if (!machine)
		return;
	free(machine->views);
	free(machine);
}

void machine_defer_waits(struct machine *machine, void (*defer)(void))
{
	machine->defer = defer;
}

void machine_set_rest(struct machine *machine, void (*rest)(bool rests))
{
	machine->halt.rest = rest;
}

void machine_forked(struct machine *machine)
{
	machine->halt.by = machine->halt.resting = 0;
}

void machine_connect(struct machine *machine, const struct signal_port *port)
{
	static const uint8_t none[SIGNAL_COUNT];
	static const uint32_t nobody = 0;

	machine->port = port ? *port : (struct signal_port){.enabled = none, .needed = &nobody};
	for (size_t i = 0; i < channel_count(machine->desc); i++)
		machine->views[i].port = &machine->port;
}

void machine_take_turns(struct machine *machine)
{
	__atomic_store_n(&machine->state->turns.enabled, 1, __ATOMIC_RELAXED);
}

void machine_lock(struct machine *machine)
{
	machine_hold(machine, lock_thread());
}

bool machine_lock_within(struct machine *machine, uint64_t ns)
{
	struct lock *lock = &machine->state->lock;
	const uint32_t thread = lock_thread();

	for (int i = 0; i < LOCK_TRIES; i++) {
		uint32_t owner = lock_owner(lock);

		if (lock_acquire_within(lock, thread, ns)) {
			machine->holder = thread;
			return true;
		}
		/* Who has, or waits for, a processor of the host is not stopped: the host is busy.
		 */
		if (owner == lock_owner(lock) && lock_thread_sleep(owner, owner))
			return false;
	}
	return false;
}

void machine_unlock(struct machine *machine)
{
	machine_let_go(machine);
}

uint64_t machine_ticks_per_cycle(const struct machine *machine, enum pmu_clock clock)
{
	switch (clock) {
	case PMU_CLOCK_CORE:
		return machine->core_ticks;
	case PMU_CLOCK_DCLK:
		return machine->dclk_ticks;
	default:
		return machine->uclk_ticks;
	}
}

uint64_t machine_ticks_per_second(const struct machine *machine)
{
	return machine->ticks_per_second;
}

uint64_t machine_now(const struct machine *machine)
{
	/* Before the horizon, which holds the clocks of cores that are occupied no more. */
	uint64_t occupied = __atomic_load_n(&machine->state->occupied, __ATOMIC_ACQUIRE);
	uint64_t now = __atomic_load_n(&machine->state->horizon, __ATOMIC_RELAXED);

	for (; occupied; occupied &= occupied - 1)
		now = machine_max(now, core_clock(&machine->cores[__builtin_ctzll(occupied)]));
	return now;
}

void machine_occupy(struct machine *machine, unsigned core)
{
	__atomic_fetch_or(&machine->state->occupied, UINT64_C(1) << core, __ATOMIC_RELEASE);
	machine->state->sockets |= 1u << machine_socket(machine, core);
}

void machine_vacate(struct machine *machine, unsigned core)
{
	struct machine_state *state = machine->state;
	uint64_t horizon = machine_max(state->horizon, core_clock(&machine->cores[core]));

	__atomic_store_n(&state->horizon, horizon, __ATOMIC_RELAXED);
	__atomic_fetch_and(&state->occupied, ~(UINT64_C(1) << core), __ATOMIC_RELEASE);
}

/* The tick from which on every slice and home agent is idle. */
static uint64_t uncore_idle(const struct machine *machine)
{
	const struct pmu_machine *desc = machine->desc;
	uint64_t cycle = 0;

	for (unsigned i = 0; i < desc->sockets * desc->slices; i++)
		for (unsigned j = 0; j < desc->tor_entries; j++)
			cycle = machine_max(cycle, machine->slices[i].tor[j]);
	for (unsigned i = 0; i < desc->sockets * desc->home_agents; i++)
		for (unsigned j = 0; j < desc->tracker_entries; j++)
			cycle = machine_max(cycle, machine->homes[i].tracker[j]);
	return cycle * machine->uclk_ticks;
}

static uint64_t drain_memory(struct machine *machine, uint64_t now)
{
	const uint64_t cycle = (now + machine->dclk_ticks - 1) / machine->dclk_ticks;
	uint64_t idle = cycle;

	for (size_t i = 0; i < channel_count(machine->desc); i++)
		idle = machine_max(idle,
				   memory_drain(&machine->channels[i], &machine->views[i], cycle));
	return idle * machine->dclk_ticks;
}

void machine_drain(struct machine *machine)
{
	uint64_t now;

	machine_lock(machine);
	now = machine_now(machine);
	for (unsigned i = 0; i < machine->core_count; i++)
		now = machine_max(now, wc_drain(machine, i, now));
	now = machine_max(now, uncore_idle(machine));
	machine->state->horizon = drain_memory(machine, now);
	machine_unlock(machine);
}

void machine_catch_up_channels(struct machine *machine, unsigned socket, uint32_t units)
{
	const unsigned count = machine->desc->home_agents * machine->desc->channels;
	const uint64_t cycle = machine_now(machine) / machine->dclk_ticks;

	for (; units; units &= units - 1) {
		unsigned unit = (unsigned)__builtin_ctz(units), i = socket * count + unit;

		if (unit >= count)
			return;
		memory_advance(&machine->channels[i], &machine->views[i], cycle);
		reports_channel(machine, socket, unit);
	}
}

void machine_catch_up_cores(const struct machine *machine, unsigned socket, uint32_t units)
{
	const unsigned count = machine->desc->cores;

	for (; units; units &= units - 1) {
		unsigned unit = (unsigned)__builtin_ctz(units);

		if (unit >= count)
			return;
		accumulators_report(machine, socket * count + unit);
	}
}

uint64_t machine_all_cores(const struct machine *machine)
{
	return UINT64_MAX >> (64 - machine->core_count);
}

unsigned machine_socket_of(const struct machine *machine, unsigned core)
{
	return core / machine->desc->cores;
}

void machine_pin(struct machine *machine, uint64_t cpus)
{
	machine->state->cpus = cpus;
}

uint64_t machine_pinned(const struct machine *machine)
{
	return machine->state->cpus ? machine->state->cpus : machine_all_cores(machine);
}

void machine_set_clock(struct machine *machine, uint64_t power_on_ns)
{
	machine->state->power_on_ns = power_on_ns;
}

void machine_keep_times(struct machine *machine, uint32_t process, struct machine_times times)
{
	machine_hold(machine, lock_thread());
	kept_times_put(&machine->state->kept_times, process, times);
	machine_let_go(machine);
}

bool machine_take_times(struct machine *machine, uint32_t process, struct machine_times *times)
{
	bool found;

	machine_hold(machine, lock_thread());
	found = kept_times_take(&machine->state->kept_times, process, times);
	machine_let_go(machine);
	return found;
}

void machine_set_kernel_io(struct machine *machine)
{
	machine->state->page_cache.on = true;
}

bool machine_has_kernel_io(const struct machine *machine)
{
	return machine->state->page_cache.on;
}

uint64_t machine_clock(const struct machine *machine)
{
	return machine->state->power_on_ns;
}
