#include "machine/accumulator.h"

#include "machine/branches.h"
#include "machine/cause.h"
#include "machine/private_near.h"
#include "machine/slice.h"

uint64_t accumulators_ticks_run(const struct machine_progress *progress)
{
	uint64_t time = __atomic_load_n(&progress->time, __ATOMIC_ACQUIRE);
	uint64_t idle = __atomic_load_n(&progress->idle, __ATOMIC_RELAXED);

	return time > idle ? time - idle : 0;
}

/* Of all threads that the core ever had, and so below. */
static uint64_t ticks_run(const struct core *core)
{
	uint32_t users = __atomic_load_n(&core->users_high, __ATOMIC_ACQUIRE);
	uint64_t ticks = 0;

	for (uint32_t i = 0; i < users; i++)
		ticks += accumulators_ticks_run(&core->progress[i]);
	return ticks;
}

struct done {
	uint64_t instructions, branches;
	uint64_t loads, stores, locked, fetches;
	uint64_t split_loads, split_stores, split_locked, buffer_hits;
	uint64_t tlb_second[MACHINE_TLB_USES][2], tlb_walks[MACHINE_TLB_USES][2];
	uint64_t walk_ticks[MACHINE_TLB_USES], walk_reads[2][2], tlb_flushes;
};

static uint64_t read_once(const uint64_t *number)
{
	return __atomic_load_n(number, __ATOMIC_RELAXED);
}

static void add_translations(struct done *done, const struct machine_progress *progress)
{
	for (unsigned use = 0; use < MACHINE_TLB_USES; use++) {
		done->walk_ticks[use] += read_once(&progress->walk_ticks[use]);
		for (unsigned large = 0; large < 2; large++) {
			done->tlb_second[use][large] +=
			    read_once(&progress->tlb_second[use][large]);
			done->tlb_walks[use][large] += read_once(&progress->tlb_walks[use][large]);
		}
	}
	for (unsigned code = 0; code < 2; code++)
		for (unsigned level = 0; level < 2; level++)
			done->walk_reads[code][level] +=
			    read_once(&progress->walk_reads[code][level]);
	done->tlb_flushes += read_once(&progress->tlb_flushes);
}

static struct done add_up(const struct core *core)
{
	uint32_t users = __atomic_load_n(&core->users_high, __ATOMIC_ACQUIRE);
	struct done done = {0};

	for (uint32_t i = 0; i < users; i++) {
		const struct machine_progress *progress = &core->progress[i];

		done.instructions += read_once(&progress->instructions);
		done.branches += read_once(&progress->branches);
		done.loads += read_once(&progress->loads);
		done.stores += read_once(&progress->stores);
		done.locked += read_once(&progress->locked);
		done.fetches += read_once(&progress->fetches);
		done.buffer_hits += read_once(&progress->buffer_hits);
		done.split_loads += read_once(&progress->split_loads);
		done.split_stores += read_once(&progress->split_stores);
		done.split_locked += read_once(&progress->split_locked);
		add_translations(&done, progress);
	}
	return done;
}

/* A number that is another one whenever a core has done something: all that it counts goes up. */
static uint64_t activity(const struct core *core)
{
	uint32_t users = __atomic_load_n(&core->users_high, __ATOMIC_ACQUIRE);
	uint64_t sum = core_l2_misses(core) + core->nt_stores;

	for (uint32_t i = 0; i < users; i++)
		sum += read_once(&core->progress[i].time) +
		       read_once(&core->progress[i].instructions) +
		       read_once(&core->progress[i].loads) + read_once(&core->progress[i].stores) +
		       read_once(&core->progress[i].locked) +
		       read_once(&core->progress[i].fetches) +
		       read_once(&core->progress[i].went[MACHINE_BRANCH_SYSTEM][0]);
	return sum;
}

static uint64_t llc_misses(const struct core *core)
{
	return core_answers(core, REQUEST_READ_DATA, SOURCE_MISS) +
	       core_answers(core, REQUEST_READ_CODE, SOURCE_MISS) +
	       core_answers(core, REQUEST_READ_OWN, SOURCE_MISS) +
	       core_answers(core, REQUEST_OWN, SOURCE_MISS);
}

/* Loads by where their line was; what is in no other is in L1. */
struct loads {
	uint64_t l1, buffer, l2, llc[SOURCE_SNOOPS];
	uint64_t local, remote, modified[2], forwarded[2]; /* of memory here, or there */
};

static void add_miss(struct loads *loads, unsigned source, uint64_t count)
{
	const unsigned response = (source - SOURCE_MISS) / 2;
	const bool remote = (source - SOURCE_MISS) % 2;

	/* To readers: of modified lines the other socket sends memory the data too. */
	if (response == SNOOP_RSP_S_WB)
		loads->modified[remote] += count;
	else if (response == SNOOP_RSP_S_FWD)
		loads->forwarded[remote] += count;
	else if (remote)
		loads->remote += count;
	else
		loads->local += count;
}

static struct loads find_loads(const struct core *core, const struct done *done)
{
	const uint64_t *answers = core->answers[ANSWERS_DEMAND][REQUEST_READ_DATA];
	struct loads loads = {
	    .buffer = done->buffer_hits,
	    .l2 = core->l2_hits[REQUEST_READ_DATA] - core->l1d_prefetch_hits -
		  done->walk_reads[0][1] - done->walk_reads[1][1],
	};
	uint64_t sum = loads.buffer + loads.l2;

	for (unsigned source = 0; source < SOURCES; source++) {
		sum += answers[source];
		if (source < SOURCE_MISS)
			loads.llc[source_snoop(source)] += answers[source];
		else
			add_miss(&loads, source, answers[source]);
	}
	/* The thread may be between a load and its count. */
	loads.l1 = done->loads > sum ? done->loads - sum : 0;
	return loads;
}

/* Ticks that answers to L1 took, or to L2's own prefetches. */
static uint64_t outstanding(const struct machine *machine, unsigned core, bool prefetched,
			    enum signal_request request)
{
	return machine->cores[core].outstanding[prefetched][request] * machine->uclk_ticks;
}

/* Core cycles that requests were beyond L2, added up, and that L1D's were beyond L1D. */
struct waits {
	uint64_t data, code, own, prefetched, l1d;
};

static struct waits find_waits(const struct machine *machine, unsigned number,
			       uint64_t l1d_requests)
{
	const uint64_t data = outstanding(machine, number, false, REQUEST_READ_DATA);
	const uint64_t own = outstanding(machine, number, false, REQUEST_READ_OWN) +
			     outstanding(machine, number, false, REQUEST_OWN);
	const uint64_t prefetched = outstanding(machine, number, true, REQUEST_READ_DATA) +
				    outstanding(machine, number, true, REQUEST_PREFETCH_DATA);
	const uint64_t code = outstanding(machine, number, false, REQUEST_READ_CODE);
	const uint64_t l2 = l1d_requests * private_l2_ticks(machine);

	return (struct waits){
	    .data = data / machine->core_ticks,
	    .code = code / machine->core_ticks,
	    .own = own / machine->core_ticks,
	    .prefetched = prefetched / machine->core_ticks,
	    .l1d = (data + own + l2 + machine->cores[number].late) / machine->core_ticks,
	};
}

void accumulators_tell_level(const struct machine *machine, unsigned core,
			     const struct accumulator_sum *sum, unsigned least, bool rise,
			     uint64_t *reported)
{
	const struct signal signal = {
	    .id = (uint16_t)sum->id,
	    .socket = (uint8_t)machine_socket(machine, core),
	    .unit = (uint8_t)(core % machine->desc->cores),
	    .qualifiers = sum->qualifiers,
	    .least = (uint8_t)least,
	    .rise = rise,
	    .duration = sum->amount - *reported,
	};

	/* Less than was reported: a block that is left early, or a clock that is being moved. */
	if (sum->amount <= *reported)
		return;
	*reported = sum->amount;
	signal_emit_sum(&machine->port, &signal);
}

void accumulators_tell(const struct machine *machine, unsigned core,
		       const struct accumulator_sum *sums, uint64_t *reported, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		accumulators_tell_level(machine, core, &sums[i], 0, false, &reported[i]);
}

/* Reads of page tables that the LLC answered, from what it had, or memory for it. */
static uint64_t walk_answers(const struct core *core, unsigned whom, bool missed)
{
	const uint64_t *answers = core->answers[whom][REQUEST_READ_DATA];
	uint64_t sum = 0;

	for (unsigned source = missed ? SOURCE_MISS : 0; source < (missed ? SOURCES : SOURCE_MISS);
	     source++)
		sum += answers[source];
	return sum;
}

#define TLB_SUMS(what, use)                                                                        \
	{SIGNAL_CORE_TLB_##what, done.tlb_second[use][0],                                          \
	 QUALIFIER_CORE_TLB_##what##_SECOND_SMALL},                                                \
	    {SIGNAL_CORE_TLB_##what, done.tlb_second[use][1],                                      \
	     QUALIFIER_CORE_TLB_##what##_SECOND_LARGE},                                            \
	    {SIGNAL_CORE_TLB_##what, done.tlb_walks[use][0],                                       \
	     QUALIFIER_CORE_TLB_##what##_WALK_SMALL},                                              \
	    {SIGNAL_CORE_TLB_##what, done.tlb_walks[use][1],                                       \
	     QUALIFIER_CORE_TLB_##what##_WALK_LARGE},                                              \
	{                                                                                          \
		SIGNAL_CORE_WALK_CYCLES, done.walk_ticks[use] / machine->core_ticks,               \
		    QUALIFIER_CORE_WALK_CYCLES_##what                                              \
	}
#define TLB_DATA_SUM(found, large, what)                                                           \
	{                                                                                          \
		SIGNAL_CORE_TLB_DATA,                                                              \
		    done.tlb_##found[TLB_LOAD][large] + done.tlb_##found[TLB_STORE][large],        \
		    QUALIFIER_CORE_TLB_DATA_##what                                                 \
	}
#define WALK_SUMS(what, code)                                                                      \
	{SIGNAL_CORE_WALK_READ, done.walk_reads[code][0], QUALIFIER_CORE_WALK_READ_##what##_L1},   \
	    {SIGNAL_CORE_WALK_READ, done.walk_reads[code][1],                                      \
	     QUALIFIER_CORE_WALK_READ_##what##_L2},                                                \
	    {SIGNAL_CORE_WALK_READ, walk_answers(core, ANSWERS_WALK_DATA + (code), false),         \
	     QUALIFIER_CORE_WALK_READ_##what##_LLC},                                               \
	{                                                                                          \
		SIGNAL_CORE_WALK_READ, walk_answers(core, ANSWERS_WALK_DATA + (code), true),       \
		    QUALIFIER_CORE_WALK_READ_##what##_MEMORY                                       \
	}

/* What L2 is asked for, what it takes of L1D and of the LLC, and what it writes back. */
static uint64_t l2_transactions(const struct core *core, uint64_t requests)
{
	return requests + core->l1_writebacks[0] + core->l1_writebacks[1] + core->l2_fills[LINE_S] +
	       core->l2_fills[LINE_E] + core->l2_victims[LINE_M] - core->l2_dropped;
}

static void tell_core(const struct machine *machine, unsigned number, uint64_t ticks)
{
	struct core *core = &machine->cores[number];
	const struct done done = add_up(core);
	const uint64_t locked = done.locked - done.split_locked, l1i_misses = core->l1i.misses;
	const uint64_t data_misses = core_misses(core, REQUEST_READ_DATA);
	const uint64_t code_misses = core_misses(core, REQUEST_READ_CODE);
	const uint64_t data = core->l2_hits[REQUEST_READ_DATA] + data_misses;
	const uint64_t own_hits = core->l2_hits[REQUEST_READ_OWN] + core->l2_hits[REQUEST_OWN];
	const uint64_t own_misses =
	    core_misses(core, REQUEST_READ_OWN) + core_misses(core, REQUEST_OWN);
	const uint64_t own = own_hits + own_misses;
	const struct loads loads = find_loads(core, &done);
	const struct waits waits = find_waits(machine, number, data + own);
	const uint64_t dropped = core->l2_dropped;
	const uint64_t code = core->l2_hits[REQUEST_READ_CODE] + code_misses;
	uint64_t prefetches = 0, prefetched;

	for (unsigned i = 0; i < REQUEST_COUNT; i++)
		prefetches += core_prefetches(core, i);
	prefetched = core->l2_prefetch_hits + prefetches;

	const struct accumulator_sum sums[ACCUMULATORS] = {
	    /* The core never leaves its nominal frequency. */
	    {SIGNAL_CORE_REFERENCE_CYCLES, ticks / machine->core_ticks, 0},
	    {SIGNAL_CORE_BASE_CYCLES, ticks / machine->bclk_ticks, 0},
	    {SIGNAL_CORE_RETIRED, done.instructions, 0},
	    {SIGNAL_CORE_BRANCHES, done.branches, 0},
	    {SIGNAL_CORE_LLC_REFERENCE, core_l2_misses(core), 0},
	    {SIGNAL_CORE_LLC_MISS, llc_misses(core), 0},
	    {SIGNAL_CORE_LOADS, done.loads - done.split_loads, QUALIFIER_CORE_LOADS_PLAIN},
	    {SIGNAL_CORE_LOADS, locked, QUALIFIER_CORE_LOADS_LOCKED},
	    {SIGNAL_CORE_STORES, done.stores - done.split_stores, QUALIFIER_CORE_STORES_PLAIN},
	    {SIGNAL_CORE_STORES, locked, QUALIFIER_CORE_STORES_LOCKED},
	    {SIGNAL_CORE_STORES, core->nt_stores, QUALIFIER_CORE_STORES_STREAMING},
	    {SIGNAL_CORE_SPLIT, done.split_loads + done.split_locked, QUALIFIER_CORE_SPLIT_LOAD},
	    {SIGNAL_CORE_SPLIT, done.split_stores + done.split_locked, QUALIFIER_CORE_SPLIT_STORE},
	    {SIGNAL_CORE_FETCH, done.fetches - l1i_misses, QUALIFIER_CORE_FETCH_HIT},
	    {SIGNAL_CORE_FETCH, l1i_misses, QUALIFIER_CORE_FETCH_MISS},
	    {SIGNAL_CORE_L1_FILL, data + own - core->upgrades, 0},
	    {SIGNAL_CORE_L1_WRITEBACK, core->l1_writebacks[1], QUALIFIER_CORE_L1_WRITEBACK_HIT},
	    {SIGNAL_CORE_L1_WRITEBACK, core->l1_writebacks[0], QUALIFIER_CORE_L1_WRITEBACK_MISS},
	    {SIGNAL_CORE_L2_REQUEST, core->l2_hits[REQUEST_READ_DATA],
	     QUALIFIER_CORE_L2_REQUEST_DATA_HIT},
	    {SIGNAL_CORE_L2_REQUEST, data_misses, QUALIFIER_CORE_L2_REQUEST_DATA_MISS},
	    {SIGNAL_CORE_L2_REQUEST, own_hits, QUALIFIER_CORE_L2_REQUEST_OWN_HIT},
	    {SIGNAL_CORE_L2_REQUEST, own_misses, QUALIFIER_CORE_L2_REQUEST_OWN_MISS},
	    {SIGNAL_CORE_L2_REQUEST, core->l2_hits[REQUEST_READ_CODE],
	     QUALIFIER_CORE_L2_REQUEST_CODE_HIT},
	    {SIGNAL_CORE_L2_REQUEST, code_misses, QUALIFIER_CORE_L2_REQUEST_CODE_MISS},
	    {SIGNAL_CORE_L2_REQUEST, core->l2_prefetch_hits,
	     QUALIFIER_CORE_L2_REQUEST_PREFETCH_HIT},
	    {SIGNAL_CORE_L2_REQUEST, prefetches, QUALIFIER_CORE_L2_REQUEST_PREFETCH_MISS},
	    {SIGNAL_CORE_L2_FILL, core->l2_fills[LINE_S], QUALIFIER_CORE_L2_FILL_S},
	    {SIGNAL_CORE_L2_FILL, core->l2_fills[LINE_E], QUALIFIER_CORE_L2_FILL_E},
	    {SIGNAL_CORE_L2_FILL, core->l2_fills[LINE_M], QUALIFIER_CORE_L2_FILL_M},
	    {SIGNAL_CORE_L2_VICTIM, core->l2_victims[LINE_S] + core->l2_victims[LINE_E],
	     QUALIFIER_CORE_L2_VICTIM_CLEAN},
	    {SIGNAL_CORE_L2_VICTIM, core->l2_victims[LINE_M] - dropped,
	     QUALIFIER_CORE_L2_VICTIM_WRITTEN_BACK},
	    {SIGNAL_CORE_L2_VICTIM, dropped, QUALIFIER_CORE_L2_VICTIM_DROPPED},
	    {SIGNAL_CORE_L2_TRANSACTION, l2_transactions(core, data + own + code + prefetched), 0},
	    {SIGNAL_CORE_OFFCORE, data_misses, QUALIFIER_CORE_OFFCORE_DATA},
	    {SIGNAL_CORE_OFFCORE, core_prefetches(core, REQUEST_READ_DATA),
	     QUALIFIER_CORE_OFFCORE_PREFETCH_DATA},
	    {SIGNAL_CORE_OFFCORE, core_prefetches(core, REQUEST_PREFETCH_DATA),
	     QUALIFIER_CORE_OFFCORE_LLC_PREFETCH_DATA},
	    {SIGNAL_CORE_OFFCORE, own_misses, QUALIFIER_CORE_OFFCORE_OWN},
	    {SIGNAL_CORE_OFFCORE, core_prefetches(core, REQUEST_READ_OWN),
	     QUALIFIER_CORE_OFFCORE_PREFETCH_OWN},
	    {SIGNAL_CORE_OFFCORE, core_prefetches(core, REQUEST_PREFETCH_OWN),
	     QUALIFIER_CORE_OFFCORE_LLC_PREFETCH_OWN},
	    {SIGNAL_CORE_OFFCORE, code_misses, QUALIFIER_CORE_OFFCORE_CODE},
	    {SIGNAL_CORE_OFFCORE, core_prefetches(core, REQUEST_READ_CODE),
	     QUALIFIER_CORE_OFFCORE_PREFETCH_CODE},
	    {SIGNAL_CORE_OFFCORE, core_prefetches(core, REQUEST_PREFETCH_CODE),
	     QUALIFIER_CORE_OFFCORE_LLC_PREFETCH_CODE},
	    {SIGNAL_CORE_OFFCORE, core->l2_writebacks, QUALIFIER_CORE_OFFCORE_WRITEBACK},
	    {SIGNAL_CORE_OFFCORE, core->wc_lines[0] + core->wc_lines[1],
	     QUALIFIER_CORE_OFFCORE_STREAMING},
	    {SIGNAL_CORE_OFFCORE_WAIT, waits.data, QUALIFIER_CORE_OFFCORE_WAIT_DATA},
	    {SIGNAL_CORE_OFFCORE_WAIT, waits.own, QUALIFIER_CORE_OFFCORE_WAIT_OWN},
	    {SIGNAL_CORE_OFFCORE_WAIT, waits.code, QUALIFIER_CORE_OFFCORE_WAIT_CODE},
	    {SIGNAL_CORE_OFFCORE_WAIT, waits.prefetched, QUALIFIER_CORE_OFFCORE_WAIT_PREFETCH_DATA},
	    {SIGNAL_CORE_L1_WAIT, waits.l1d, 0},
	    {SIGNAL_CORE_LOAD_SOURCE, loads.l1, QUALIFIER_CORE_LOAD_SOURCE_L1},
	    {SIGNAL_CORE_LOAD_SOURCE, loads.buffer, QUALIFIER_CORE_LOAD_SOURCE_BUFFER},
	    {SIGNAL_CORE_LOAD_SOURCE, loads.l2, QUALIFIER_CORE_LOAD_SOURCE_L2},
	    {SIGNAL_CORE_LOAD_SOURCE, loads.llc[SOURCE_LLC], QUALIFIER_CORE_LOAD_SOURCE_LLC},
	    {SIGNAL_CORE_LOAD_SOURCE, loads.llc[SOURCE_LLC_GONE],
	     QUALIFIER_CORE_LOAD_SOURCE_LLC_GONE},
	    {SIGNAL_CORE_LOAD_SOURCE, loads.llc[SOURCE_LLC_CLEAN],
	     QUALIFIER_CORE_LOAD_SOURCE_LLC_CLEAN},
	    {SIGNAL_CORE_LOAD_SOURCE, loads.llc[SOURCE_LLC_MODIFIED],
	     QUALIFIER_CORE_LOAD_SOURCE_LLC_MODIFIED},
	    {SIGNAL_CORE_LOAD_SOURCE, loads.local, QUALIFIER_CORE_LOAD_SOURCE_LOCAL},
	    {SIGNAL_CORE_LOAD_SOURCE, loads.remote, QUALIFIER_CORE_LOAD_SOURCE_REMOTE},
	    {SIGNAL_CORE_LOAD_SOURCE, loads.modified[0],
	     QUALIFIER_CORE_LOAD_SOURCE_REMOTE_MODIFIED | QUALIFIER_CORE_LOAD_SOURCE_MODIFIED_HERE},
	    {SIGNAL_CORE_LOAD_SOURCE, loads.modified[1],
	     QUALIFIER_CORE_LOAD_SOURCE_REMOTE_MODIFIED |
		 QUALIFIER_CORE_LOAD_SOURCE_MODIFIED_THERE},
	    {SIGNAL_CORE_LOAD_SOURCE, loads.forwarded[0],
	     QUALIFIER_CORE_LOAD_SOURCE_REMOTE_FORWARDED |
		 QUALIFIER_CORE_LOAD_SOURCE_FORWARDED_HERE},
	    {SIGNAL_CORE_LOAD_SOURCE, loads.forwarded[1],
	     QUALIFIER_CORE_LOAD_SOURCE_REMOTE_FORWARDED |
		 QUALIFIER_CORE_LOAD_SOURCE_FORWARDED_THERE},
	    TLB_SUMS(LOAD, TLB_LOAD),
	    TLB_SUMS(STORE, TLB_STORE),
	    TLB_DATA_SUM(second, 0, SECOND_SMALL),
	    TLB_DATA_SUM(second, 1, SECOND_LARGE),
	    TLB_DATA_SUM(walks, 0, WALK_SMALL),
	    TLB_DATA_SUM(walks, 1, WALK_LARGE),
	    TLB_SUMS(FETCH, TLB_FETCH),
	    WALK_SUMS(DATA, 0),
	    WALK_SUMS(CODE, 1),
	    {SIGNAL_CORE_TLB_FLUSH, done.tlb_flushes, QUALIFIER_CORE_TLB_FLUSH_ALL},
	    /* Behind what who counts the other cycles takes off. */
	    {SIGNAL_CORE_CYCLES, ticks / machine->core_ticks, 0},
	};

	accumulators_tell(machine, number, sums, core->reported, ACCUMULATORS);
}

void accumulators_report(const struct machine *machine, unsigned core)
{
	struct core *state = &machine->cores[core];
	uint64_t now = activity(state), ticks;

	/* Most cores of most machines do nothing. */
	if (now == state->reported_at)
		return;
	state->reported_at = now;
	/* The core may run meanwhile. Of no cycle that is told here, what is in it may be told
	 * later: who counts the others would take it off too late. */
	ticks = ticks_run(state);
	accumulators_tell_responses(machine, core);
	if (machine->uarch) {
		/* First: what counters do with the rest may end who takes them. */
		branches_report(machine, core);
		accumulators_tell_pipe(machine, core);
		accumulators_tell_front(machine, core);
	}
	accumulators_tell_cycles(machine, core);
	tell_core(machine, core, ticks);
}

void accumulators_account(struct machine_hart *core)
{
	const struct signal_port *port = &core->machine->port;

	if (!core->block || !cause_is_asked(port))
		return;
	cause_begin(port, port->cause_of(port->asker, core->context, core->block));
	accumulators_report(core->machine, core->number);
	cause_end(port, 0);
}
