/* Counts that are known beforehand, and laws that hold whatever runs. */
#include "machine_fixture.h"

#define LLC_LINES 5120u /* of a socket of the small machine: 4 slices, 64 sets, 20 ways */
#define L2_LINES  4096u
#define L1_LINES  512u

static void open_small(struct fixture *fixture, unsigned sockets)
{
	struct pmu_machine desc = small_machine();

	desc.sockets = sockets;
	fixture_up(fixture, &desc);
	enter_all(fixture);
}

static void load_lines(struct fixture *fixture, uint64_t base, unsigned lines)
{
	for (unsigned i = 0; i < lines; i++)
		machine_load(fixture->cores[0], base + i * 64ull, 8, &plain);
}

static void store_lines(struct fixture *fixture, uint64_t base, unsigned lines)
{
	for (unsigned i = 0; i < lines; i++)
		machine_store(fixture->cores[0], base + i * 64ull, 8, &plain);
}

static size_t count_lookups(const struct fixture *fixture, uint32_t qualifiers, unsigned state)
{
	size_t count = 0;

	for (size_t i = 0; i < fixture->count; i++)
		count += fixture->signals[i].id == SIGNAL_LLC_LOOKUP &&
			 fixture->signals[i].qualifiers & qualifiers &&
			 fixture->signals[i].state == state;
	return count;
}

static void sequential_loads(unsigned sockets)
{
	const unsigned lines = 4 * LLC_LINES;
	const uint32_t request_miss = QUALIFIER_LLC_REQUEST_CORE | QUALIFIER_LLC_REQUEST_MISS;
	struct fixture fixture;

	open_small(&fixture, sockets);
	subscribe_to_all(&fixture);
	load_lines(&fixture, 0, lines);
	machine_drain(fixture.machine);
	assert_int_equal(count_lookups(&fixture, QUALIFIER_LLC_LOOKUP_DATA_READ, SIGNAL_STATE_I),
			 lines);
	assert_int_equal(count_signals(&fixture, SIGNAL_LLC_LOOKUP, QUALIFIER_LLC_LOOKUP_DATA_READ),
			 lines);
	assert_int_equal(count_signals(&fixture, SIGNAL_LLC_LOOKUP, QUALIFIER_LLC_LOOKUP_SNOOP),
			 sockets > 1 ? lines : 0);
	assert_int_equal(count_signals(&fixture, SIGNAL_LLC_REQUEST, request_miss), lines);
	assert_int_equal(count_requests(&fixture, REQUEST_READ_DATA), lines);
	assert_int_equal(
	    count_signals(&fixture, SIGNAL_LLC_REQUEST, QUALIFIER_LLC_REQUEST_EVICTION),
	    lines - LLC_LINES);
	assert_int_equal(count_signals(&fixture, SIGNAL_LLC_VICTIM, QUALIFIER_LLC_VICTIM_E),
			 lines - LLC_LINES);
	assert_int_equal(
	    count_signals(&fixture, SIGNAL_HOME_REQUEST, QUALIFIER_HOME_REQUEST_READ_LOCAL), lines);
	assert_int_equal(count_signals(&fixture, SIGNAL_HOME_REQUEST, 0), lines);
	assert_int_equal(count_signals(&fixture, SIGNAL_HOME_MEMORY_READ, 0), lines);
	assert_int_equal(count_signals(&fixture, SIGNAL_DRAM_READ_QUEUE, 0), lines);
	assert_int_equal(count_signals(&fixture, SIGNAL_DRAM_CAS, QUALIFIER_DRAM_CAS_READ), lines);
	assert_int_equal(count_signals(&fixture, SIGNAL_DRAM_CAS, 0), lines);
	fixture_down(&fixture);
}

static void sequential_loads_on_one_socket(void **unused)
{
	(void)unused;
	sequential_loads(1);
}

static void sequential_loads_on_two_sockets(void **unused)
{
	(void)unused;
	sequential_loads(2);
}

/* Misses of the second pass over @lines lines. */
static struct machine_statistics second_pass(unsigned lines)
{
	struct machine_statistics before, after;
	struct fixture fixture;

	open_small(&fixture, 2);
	load_lines(&fixture, 0, lines);
	machine_statistics(fixture.machine, &before);
	load_lines(&fixture, 0, lines);
	machine_statistics(fixture.machine, &after);
	fixture_down(&fixture);
	return (struct machine_statistics){
	    .loads = after.loads - before.loads,
	    .l1d_misses = after.l1d_misses - before.l1d_misses,
	    .l2_misses = after.l2_misses - before.l2_misses,
	    .llc_lookups = after.llc_lookups - before.llc_lookups,
	    .llc_misses = after.llc_misses - before.llc_misses,
	};
}

static void what_fits_does_not_miss(void **unused)
{
	struct machine_statistics stats = second_pass(L1_LINES);

	(void)unused;
	assert_int_equal(stats.loads, L1_LINES);
	assert_int_equal(stats.l1d_misses, 0);
	stats = second_pass(L2_LINES);
	assert_int_equal(stats.l1d_misses, L2_LINES);
	assert_int_equal(stats.l2_misses, 0);
	assert_int_equal(stats.llc_lookups, 0);
	stats = second_pass(LLC_LINES);
	assert_int_equal(stats.l2_misses, LLC_LINES);
	assert_int_equal(stats.llc_lookups, LLC_LINES);
	assert_int_equal(stats.llc_misses, 0);
	/* One line a set too many, and LRU keeps none of what comes next. */
	stats = second_pass(LLC_LINES + 4 * 64);
	assert_int_equal(stats.llc_misses, LLC_LINES + 4 * 64);
}

static void sequential_stores(void **unused)
{
	const unsigned lines = 2 * LLC_LINES;
	struct machine_statistics stats;
	struct fixture fixture;

	(void)unused;
	open_small(&fixture, 2);
	subscribe_to_all(&fixture);
	store_lines(&fixture, 0, lines);
	machine_drain(fixture.machine);
	assert_int_equal(count_requests(&fixture, REQUEST_READ_OWN), lines);
	assert_int_equal(count_requests(&fixture, REQUEST_READ_DATA), 0);
	assert_int_equal(count_signals(&fixture, SIGNAL_LLC_VICTIM, QUALIFIER_LLC_VICTIM_M),
			 lines - LLC_LINES);
	assert_int_equal(count_signals(&fixture, SIGNAL_LLC_VICTIM, 0), lines - LLC_LINES);
	assert_int_equal(count_signals(&fixture, SIGNAL_HOME_MEMORY_WRITE, 0), lines - LLC_LINES);
	assert_int_equal(count_signals(&fixture, SIGNAL_HOME_MEMORY_READ, 0), lines);
	machine_statistics(fixture.machine, &stats);
	assert_int_equal(stats.stores, lines);
	assert_int_equal(stats.cas_writes, lines - LLC_LINES);
	assert_int_equal(stats.cas_reads, lines);
	fixture_down(&fixture);
}

struct kernel_counts {
	uint64_t drd, rfo, invitoe, writes;
};

/* a = b (copy), a += 1 (update), a = b + c (triad), a = b past the caches. */
static void kernel(unsigned loads, bool stores, bool same_array, bool streams,
		   struct kernel_counts *counts)
{
	const unsigned lines = LLC_LINES / 8;
	const uint64_t array = 1 << 20;
	struct machine_statistics stats;
	struct fixture fixture;

	open_small(&fixture, 2);
	subscribe_to(&fixture, SIGNAL_LLC_REQUEST);
	for (unsigned i = 0; i < lines; i++) {
		for (unsigned j = 0; j < loads; j++)
			machine_load(fixture.cores[0], (j + !same_array) * array + i * 64ull, 8,
				     &plain);
		if (stores)
			machine_store(fixture.cores[0], i * 64ull, 8, &plain);
		for (unsigned part = 0; streams && part < 4; part++)
			machine_store_nt(fixture.cores[0], i * 64ull + part * 16, 16);
	}
	machine_drain(fixture.machine);
	machine_statistics(fixture.machine, &stats);
	*counts = (struct kernel_counts){
	    .drd = count_requests(&fixture, REQUEST_READ_DATA),
	    .rfo = count_requests(&fixture, REQUEST_READ_OWN),
	    .invitoe = stats.home_owns,
	    .writes = stats.home_writes,
	};
	assert_int_equal(count_requests(&fixture, REQUEST_STREAM), streams ? lines : 0);
	assert_int_equal(count_requests(&fixture, REQUEST_STREAM_PART), 0);
	fixture_down(&fixture);
	counts->drd /= lines;
	counts->rfo /= lines;
	counts->invitoe /= lines;
	counts->writes /= lines;
}

static void kernels_cost_what_they_must(void **unused)
{
	struct kernel_counts copy, update, triad, past;

	(void)unused;
	kernel(1, true, false, false, &copy);
	assert_int_equal(copy.drd, 1);
	assert_int_equal(copy.rfo, 1);
	kernel(1, true, true, false, &update);
	assert_int_equal(update.drd, 1);
	assert_int_equal(update.rfo, 0); /* granted E */
	kernel(2, true, false, false, &triad);
	assert_int_equal(triad.drd, 2);
	assert_int_equal(triad.rfo, 1);
	kernel(1, false, false, true, &past);
	assert_int_equal(past.drd, 1);
	assert_int_equal(past.rfo, 0);
	assert_int_equal(past.invitoe, 1);
	assert_int_equal(past.writes, 1);
}

/* Everything that cores can do, on lines that most of them want. */
static void mixed_traffic(struct fixture *fixture, unsigned steps)
{
	const unsigned cores = fixture->desc.sockets * fixture->desc.cores;
	uint64_t random = 88172645463325252;

	for (unsigned i = 0; i < steps; i++) {
		uint64_t address;
		struct machine_hart *core;
		struct machine_block block;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		core = fixture->cores[random % cores];
		address = (random >> 8) % (random & 64 ? 1 << 14 : 1 << 21);
		machine_block_init(fixture->machine, &block, 1 << 22 | (address & 0x3fff), 8, 3, 1,
				   0);
		machine_run(core, &block);
		switch (random >> 40 & 7) {
		case 0:
		case 1:
		case 2:
			machine_load(
			    core, address, 8,
			    &(struct machine_insn){.address_registers = 1, .loads_registers = 1});
			break;
		case 3:
		case 4:
		case 5:
			machine_store(core, address, 16, &plain);
			break;
		case 6:
			machine_locked(core, address & ~7ull, 8, &plain);
			break;
		default:
			if (random >> 48 & 3)
				machine_store_nt(core, address & ~15ull, 16);
			else
				machine_flush(core, address);
		}
	}
	machine_drain(fixture->machine);
}

static void open_mixed(struct fixture *fixture, unsigned sockets)
{
	open_small(fixture, sockets);
	subscribe_to_all(fixture);
	mixed_traffic(fixture, 60000);
}

/* Of all instances together, until their last change, which must be to 0. */
static uint64_t integral_of_levels(const struct fixture *fixture, enum pmu_signal_id id)
{
	uint64_t sum = 0;

	for (unsigned box = 0; box < 2 * 8; box++) {
		uint64_t level = 0, since = 0;

		for (size_t i = 0; i < fixture->count; i++) {
			const struct signal *s = &fixture->signals[i];

			if (s->id != id || s->socket != box / 8 || s->unit != box % 8)
				continue;
			assert_true(s->time >= since);
			sum += level * (s->time - since);
			level = s->duration;
			since = s->time;
		}
		assert_int_equal(level, 0);
	}
	return sum;
}

static void boxes_tell_the_same_story(unsigned sockets)
{
	struct machine_statistics stats;
	struct fixture fixture;

	open_mixed(&fixture, sockets);
	machine_statistics(fixture.machine, &stats);

	assert_int_equal(sum_durations(&fixture, SIGNAL_LLC_REQUEST), stats.tor_cycles);
	assert_int_equal(sum_durations(&fixture, SIGNAL_HOME_REQUEST), stats.tracker_cycles);
	assert_int_equal(sum_durations(&fixture, SIGNAL_DRAM_READ_QUEUE), stats.rpq_cycles);
	assert_int_equal(integral_of_levels(&fixture, SIGNAL_DRAM_WRITE_QUEUE), stats.wpq_cycles);

	assert_int_equal(count_signals(&fixture, SIGNAL_LLC_LOOKUP, 0), stats.llc_lookups);
	assert_int_equal(count_signals(&fixture, SIGNAL_LLC_INGRESS, 0), stats.llc_lookups);
	assert_int_equal(count_signals(&fixture, SIGNAL_LLC_REQUEST, 0),
			 stats.llc_lookups + stats.llc_victims);
	assert_int_equal(stats.llc_lookups, stats.l2_misses + stats.l2_writebacks + stats.wc_lines +
						stats.flushes + stats.snoops);
	assert_int_equal(stats.llc_misses, stats.home_reads);
	assert_int_equal(stats.home_writes, stats.llc_writebacks + stats.wc_lines);
	assert_int_equal(stats.flushes, stats.home_flushes);
	assert_int_equal(stats.snoops,
			 sockets > 1 ? stats.home_reads + stats.home_owns + stats.home_flushes : 0);
	assert_int_equal(count_signals(&fixture, SIGNAL_HOME_REQUEST, 0),
			 stats.home_reads + stats.home_owns + stats.home_writes +
			     stats.home_flushes);
	assert_int_equal(count_signals(&fixture, SIGNAL_HOME_REGION, 0),
			 stats.home_reads + stats.home_owns + stats.home_writes +
			     stats.home_flushes);
	assert_int_equal(count_signals(&fixture, SIGNAL_HOME_RESPONSE, 0), stats.snoops);
	assert_int_equal(stats.cas_reads + stats.wpq_read_hits,
			 stats.home_reads + stats.underfills);
	assert_int_equal(stats.cas_writes + stats.wpq_write_hits,
			 stats.home_writes + stats.flush_writes + stats.snoop_writebacks);
	/* The traffic was worth it. */
	assert_true(stats.llc_victims > 1000 && stats.wc_lines > 1000 && stats.home_owns > 1000);
	assert_true(stats.flushes > 1000 && stats.flush_writes > 100);
	assert_true(sockets == 1 || stats.snoop_writebacks > 100);
	fixture_down(&fixture);
}

static void one_socket_tells_the_same_story(void **unused)
{
	(void)unused;
	boxes_tell_the_same_story(1);
}

static void two_sockets_tell_the_same_story(void **unused)
{
	(void)unused;
	boxes_tell_the_same_story(2);
}

struct edge {
	uint64_t key; /* box, then time, ends before beginnings */
	int change;
};

static int compare_edges(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->change - y->change;
}

/* The most spans of a signal with @qualifiers that are open at once in one box. */
static int highest_occupancy(const struct fixture *fixture, enum pmu_signal_id id,
			     uint32_t qualifiers)
{
	struct edge *edges = malloc(2 * fixture->count * sizeof(*edges));
	int open = 0, most = 0;
	size_t count = 0;

	assert_non_null(edges);
	for (size_t i = 0; i < fixture->count; i++) {
		const struct signal *s = &fixture->signals[i];
		uint64_t box = (uint64_t)(s->socket * 32 + s->unit) << 48;

		if (s->id != id || (qualifiers && !(s->qualifiers & qualifiers)) || !s->duration)
			continue;
		edges[count++] = (struct edge){box | s->time, 1};
		edges[count++] = (struct edge){box | (s->time + s->duration), -1};
	}
	qsort(edges, count, sizeof(*edges), compare_edges);
	for (size_t i = 0; i < count; i++) {
		open += edges[i].change;
		most = open > most ? open : most;
	}
	free(edges);
	return most;
}

static void queues_hold_what_they_can(void **unused)
{
	struct pmu_machine desc = small_machine();
	struct fixture fixture;

	(void)unused;
	desc.tor_entries = 3;
	desc.irq_entries = 2;
	desc.tracker_entries = 4;
	fixture_up(&fixture, &desc);
	enter_all(&fixture);
	subscribe_to_all(&fixture);
	mixed_traffic(&fixture, 60000);
	assert_int_equal(highest_occupancy(&fixture, SIGNAL_LLC_REQUEST, 0), 3);
	assert_int_equal(
	    highest_occupancy(&fixture, SIGNAL_LLC_INGRESS, QUALIFIER_LLC_INGRESS_CORE), 2);
	assert_int_equal(highest_occupancy(&fixture, SIGNAL_HOME_REQUEST, 0), 4);
	assert_int_equal(highest_occupancy(&fixture, SIGNAL_HOME_FULL, 0), 1);
	fixture_down(&fixture);
}

/* A tracker is full exactly as long as all its entries are taken. */
static void a_full_tracker_says_so(void **unused)
{
	struct pmu_machine desc = small_machine();
	struct fixture fixture;

	(void)unused;
	desc.tracker_entries = 1;
	fixture_up(&fixture, &desc);
	enter_all(&fixture);
	subscribe_to_all(&fixture);
	mixed_traffic(&fixture, 10000);
	assert_int_equal(sum_durations(&fixture, SIGNAL_HOME_FULL),
			 sum_durations(&fixture, SIGNAL_HOME_REQUEST));
	fixture_down(&fixture);
}

static uint64_t hash_of_run(bool subscribed, uint64_t *end)
{
	uint64_t hash = 14695981039346656037u;
	struct fixture fixture;

	open_small(&fixture, 2);
	if (subscribed)
		subscribe_to_all(&fixture);
	mixed_traffic(&fixture, 20000);
	for (size_t i = 0; i < fixture.count; i++) {
		const struct signal *s = &fixture.signals[i];
		const uint64_t words[] = {s->id,    s->socket,	 s->unit,    s->qualifiers,
					  s->time,  s->duration, s->address, s->request,
					  s->state, s->node,	 s->core,    s->thread,
					  s->rank,  s->bank};

		for (size_t j = 0; j < sizeof(words) / sizeof(words[0]); j++)
			hash = (hash ^ words[j]) * 1099511628211u;
	}
	*end = machine_now(fixture.machine);
	fixture_down(&fixture);
	return hash;
}

static void runs_repeat_themselves(void **unused)
{
	uint64_t ends[3];

	(void)unused;
	assert_int_equal(hash_of_run(true, &ends[0]), hash_of_run(true, &ends[1]));
	hash_of_run(false, &ends[2]);
	assert_int_equal(ends[0], ends[1]);
	assert_int_equal(ends[0], ends[2]); /* subscribing changes nothing */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sequential_loads_on_one_socket),
	    cmocka_unit_test(sequential_loads_on_two_sockets),
	    cmocka_unit_test(what_fits_does_not_miss),
	    cmocka_unit_test(sequential_stores),
	    cmocka_unit_test(kernels_cost_what_they_must),
	    cmocka_unit_test(one_socket_tells_the_same_story),
	    cmocka_unit_test(two_sockets_tell_the_same_story),
	    cmocka_unit_test(queues_hold_what_they_can),
	    cmocka_unit_test(a_full_tracker_says_so),
	    cmocka_unit_test(runs_repeat_themselves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
