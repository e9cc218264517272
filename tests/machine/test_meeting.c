/* Cores that want one line at the same time, driven by hand in a written order of time. */
#include "machine_fixture.h"

#include "machine/skew.h"
#include "machine/state.h"

#define LINE_ADDRESS 0x10000ull

static uint64_t locked(struct fixture *fixture, unsigned core)
{
	machine_locked(fixture->cores[core], LINE_ADDRESS, 8, &plain);
	return machine_hart_time(fixture->cores[core]);
}

static uint64_t uclk(const struct fixture *fixture, uint64_t cycles)
{
	return cycles * machine_ticks_per_cycle(fixture->machine, PMU_CLOCK_UCLK);
}

/*
 * All ask at time 0. The first waits for memory; each later one is in the TOR from the moment at
 * which the one before it leaves, for a lookup and the snoop of that one's core. All that comes
 * before and after takes the same time for each.
 */
static void locked_accesses_queue_for_the_line(void **unused)
{
	struct pmu_machine desc = small_machine();
	struct machine_statistics stats;
	struct fixture fixture;
	uint64_t end[4];

	(void)unused;
	desc.cores = 4;
	desc.sockets = 1;
	fixture_up(&fixture, &desc);
	enter_all(&fixture);
	for (unsigned i = 0; i < 4; i++)
		end[i] = locked(&fixture, i);
	for (unsigned i = 1; i < 4; i++)
		assert_int_equal(end[i] - end[i - 1],
				 uclk(&fixture, desc.llc.latency + desc.snoop_cycles));
	machine_statistics(fixture.machine, &stats);
	assert_int_equal(stats.l2_misses, 4);
	assert_int_equal(stats.llc_misses, 1);
	fixture_down(&fixture);
}

/* A hit of one's own needs nobody: without another core's request the line stays. All that it takes
 * is its own time, of which a cycle is that of its block.
 */
static void the_line_stays_until_it_is_wanted(void **unused)
{
	struct pmu_machine desc = small_machine();
	struct machine_statistics stats;
	struct fixture fixture;
	uint64_t end, each;

	(void)unused;
	fixture_up(&fixture, &desc);
	enter_all(&fixture);
	each = machine_ticks_per_cycle(fixture.machine, PMU_CLOCK_CORE) * (desc.locked_cycles - 1);
	end = locked(&fixture, 0);
	for (unsigned i = 1; i <= 100; i++)
		assert_int_equal(locked(&fixture, 0), end + i * each);
	machine_statistics(fixture.machine, &stats);
	assert_int_equal(stats.l2_misses, 1);
	fixture_down(&fixture);
}

/*
 * Across sockets the home agent keeps them apart: the second's entry in the tracker begins when the
 * first's ends, so that it has its data later than the first by the way from agent to slice and
 * back to the agent at least, and by the snoop of the first's slice.
 */
static void sockets_queue_for_the_line(void **unused)
{
	struct pmu_machine desc = small_machine();
	struct fixture fixture;
	uint64_t first, second, apart;

	(void)unused;
	fixture_up(&fixture, &desc);
	enter_all(&fixture);
	first = locked(&fixture, 0);
	second = locked(&fixture, desc.cores);
	apart = desc.llc.latency + desc.snoop_cycles + desc.ring_hop + desc.link_cycles;
	assert_true(second >= first + uclk(&fixture, apart));
	assert_int_equal(machine_peek(fixture.machine, MACHINE_L1D, 0, LINE_ADDRESS), 'I');
	fixture_down(&fixture);
}

/* Instructions of a cycle each. */
static void pass_cycles(struct fixture *fixture, unsigned core, unsigned cycles)
{
	struct machine_block block;

	machine_block_init(fixture->machine, &block, 0x400000, 16, 1, 0, 1);
	for (unsigned i = 0; i < cycles; i++)
		machine_run(fixture->cores[core], &block);
}

/* @return ticks until the second core has written a line that the first one has modified */
static uint64_t take_modified(bool reads_first)
{
	struct pmu_machine desc = small_machine();
	struct fixture fixture;
	uint64_t begin, end;

	fixture_up(&fixture, &desc);
	enter_all(&fixture);
	locked(&fixture, 0);
	pass_cycles(&fixture, 1, 5000);
	begin = machine_hart_time(fixture.cores[1]);
	if (reads_first)
		machine_load(fixture.cores[1], LINE_ADDRESS, 8, &plain);
	machine_store(fixture.cores[1], LINE_ADDRESS, 8, &plain);
	machine_hart_pause(fixture.cores[1]);
	end = machine_hart_time(fixture.cores[1]);
	fixture_down(&fixture);
	return end - begin;
}

/*
 * A handoff: what was read has to be there before it is written, so that the second request is in
 * the TOR after the first, as long as that one: for a lookup and the snoop of the first core.
 */
static void a_handoff_is_two_entries_in_turn(void **unused)
{
	struct pmu_machine desc = small_machine();
	struct fixture fixture;
	uint64_t expected;

	(void)unused;
	fixture_up(&fixture, &desc);
	expected = uclk(&fixture, desc.llc.latency + desc.snoop_cycles);
	fixture_down(&fixture);
	assert_int_equal(take_modified(true) - take_modified(false), expected);
}

/* What a core's own request still holds is no obstacle to that core: it has its own order. */
static void a_core_does_not_wait_for_itself(void **unused)
{
	struct pmu_machine desc = small_machine();
	struct fixture alone, shared;
	uint64_t times[2];

	(void)unused;
	for (unsigned others = 0; others < 2; others++) {
		struct fixture *fixture = others ? &shared : &alone;

		fixture_up(fixture, &desc);
		fixture->cores[0] = machine_hart_enter(fixture->machine, fixture->space, 0);
		if (others)
			fixture->cores[1] = machine_hart_enter(fixture->machine, fixture->space, 0);
		for (uint64_t i = 0; i < 100; i++) {
			machine_store_nt(fixture->cores[0], i * 64, 64);
			machine_locked(fixture->cores[0], i * 64, 8, &plain);
		}
		times[others] = machine_hart_time(fixture->cores[0]);
		fixture_down(fixture);
	}
	assert_int_equal(times[0], times[1]);
}

static uint64_t requests(const struct fixture *fixture)
{
	struct machine_statistics stats;

	machine_statistics(fixture->machine, &stats);
	return stats.l2_misses;
}

/*
 * Two cores write words of a line at the same time. The second's request is behind the first's:
 * until the first has the line, what it reads and writes of its own there waits in the same fill
 * buffer. The other's word, which the program finds written, takes a request.
 */
static void a_line_on_its_way_gathers_accesses(void **unused)
{
	struct pmu_machine desc = small_machine();
	struct fixture fixture;

	(void)unused;
	fixture_up(&fixture, &desc);
	enter_all(&fixture);
	machine_store(fixture.cores[0], LINE_ADDRESS, 8, &plain);
	machine_store(fixture.cores[1], LINE_ADDRESS + 8, 8, &plain);
	assert_int_equal(machine_peek(fixture.machine, MACHINE_L1D, 0, LINE_ADDRESS), 'I');
	machine_load(fixture.cores[0], LINE_ADDRESS, 8, &plain);
	machine_store(fixture.cores[0], LINE_ADDRESS + 16, 8, &plain);
	assert_int_equal(requests(&fixture), 2);
	machine_load(fixture.cores[0], LINE_ADDRESS + 4, 8, &plain);
	assert_int_equal(requests(&fixture), 3);
	fixture_down(&fixture);
}

/* It has come: the other has taken it since. */
static void a_line_that_came_is_asked_for_again(void **unused)
{
	struct pmu_machine desc = small_machine();
	struct fixture fixture;

	(void)unused;
	fixture_up(&fixture, &desc);
	enter_all(&fixture);
	machine_store(fixture.cores[0], LINE_ADDRESS, 8, &plain);
	machine_store(fixture.cores[1], LINE_ADDRESS + 8, 8, &plain);
	machine_hart_pause(fixture.cores[0]);
	machine_hart_resume(fixture.cores[0]);
	machine_load(fixture.cores[0], LINE_ADDRESS, 8, &plain);
	assert_int_equal(requests(&fixture), 3);
	fixture_down(&fixture);
}

/* What was asked for to be read does not come to be written. */
static void a_line_to_be_read_gathers_no_writes(void **unused)
{
	struct pmu_machine desc = small_machine();
	struct fixture fixture;

	(void)unused;
	fixture_up(&fixture, &desc);
	enter_all(&fixture);
	machine_load(fixture.cores[0], LINE_ADDRESS, 8, &plain);
	machine_store(fixture.cores[1], LINE_ADDRESS + 8, 8, &plain);
	machine_load(fixture.cores[0], LINE_ADDRESS, 8, &plain);
	assert_int_equal(requests(&fixture), 2);
	machine_store(fixture.cores[0], LINE_ADDRESS, 8, &plain);
	assert_int_equal(requests(&fixture), 3);
	fixture_down(&fixture);
}

/* Two take a line from each other, and meet. */
static void meet(struct fixture *fixture)
{
	enter_all(fixture);
	for (unsigned i = 0; i < 4; i++)
		locked(fixture, i % 2);
}

/* As if each core had a thread of its own: it shows its clock. */
static void show_alone(const struct machine_hart *core)
{
	__atomic_store_n(&skew_of(core)->clock, core->progress->time + 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&skew_of(core)->thread, UINT32_MAX - core->number, __ATOMIC_RELAXED);
}

/* Two that meet come to a look, the second of them so many cycles after the first. */
static void look(struct fixture *fixture, unsigned cycles)
{
	struct machine_hart **cores = fixture->cores;
	uint64_t time = machine_max(cores[0]->progress->time, cores[1]->progress->time);

	for (unsigned i = 0; i < 2; i++) {
		skew_let_others(cores[i]);
		cores[i]->progress->time = time + i * cycles * fixture->machine->core_ticks;
		show_alone(cores[i]);
	}
}

/* Whom the host lets run first does not matter: only the earliest goes on, of two the first. */
static void the_earliest_begins(void **unused)
{
	struct pmu_machine desc = small_machine();
	struct fixture fixture;

	(void)unused;
	fixture_up(&fixture, &desc);
	meet(&fixture);
	for (unsigned cycles = 0; cycles < SKEW_QUANTUM_MEETING; cycles += 10) {
		look(&fixture, cycles);
		assert_false(skew_would_wait(fixture.cores[0]));
		assert_true(skew_would_wait(fixture.cores[1]));
	}
	fixture_down(&fixture);
}

/* Who has begun goes on until it is ahead by the quantum, and nobody begins meanwhile. */
static void a_turn_lasts_for_a_quantum(void **unused)
{
	struct pmu_machine desc = small_machine();
	struct machine_hart *first, *second;
	struct fixture fixture;
	uint64_t begin;

	(void)unused;
	fixture_up(&fixture, &desc);
	meet(&fixture);
	first = fixture.cores[0];
	second = fixture.cores[1];
	look(&fixture, 0);
	begin = first->progress->time;
	skew_keep(first);
	show_alone(first);
	first->progress->time = begin + SKEW_QUANTUM_MEETING * fixture.machine->core_ticks;
	assert_false(skew_would_wait(first));
	assert_true(skew_would_wait(second));
	first->progress->time++;
	assert_true(skew_would_wait(first));
	skew_let_others(first);
	show_alone(first);
	assert_false(skew_would_wait(second));
	fixture_down(&fixture);
}

/* As long as they meet: then it is a share of the time since. */
static void the_quantum_grows_with_the_time_apart(void **unused)
{
	static const unsigned cycles[] = {SKEW_MEETING, 10000, 100000};
	struct pmu_machine desc = small_machine();
	struct machine_hart *first, *second;
	struct fixture fixture;
	uint64_t met, apart;

	(void)unused;
	fixture_up(&fixture, &desc);
	meet(&fixture);
	first = fixture.cores[0];
	second = fixture.cores[1];
	met = skew_of(first)->met_at < skew_of(second)->met_at ? skew_of(first)->met_at
							       : skew_of(second)->met_at;
	for (unsigned i = 0; i < sizeof(cycles) / sizeof(cycles[0]); i++) {
		second->progress->time = met + cycles[i] * fixture.machine->core_ticks;
		apart = cycles[i] * fixture.machine->core_ticks / SKEW_SHARE;
		first->progress->time = second->progress->time - apart;
		show_alone(first);
		assert_false(skew_would_wait(second));
		first->progress->time--;
		show_alone(first);
		assert_true(skew_would_wait(second));
	}
	fixture_down(&fixture);
}

/* One that is far ahead need not wait for another, until many of its requests go to the LLC. */
static void few_requests_make_no_queues(void **unused)
{
	struct pmu_machine desc = small_machine();
	struct fixture fixture;
	uint64_t ahead;

	(void)unused;
	fixture_up(&fixture, &desc);
	enter_all(&fixture);
	pass_cycles(&fixture, 1, 2 * SKEW_QUANTUM_OUT);
	skew_of(fixture.cores[1])->met_at = 0;
	show_alone(fixture.cores[0]);
	ahead = fixture.cores[1]->progress->time;
	while (fixture.cores[1]->out_requests < SKEW_OUT_REQUESTS) {
		assert_false(skew_would_wait(fixture.cores[1]));
		machine_flush(fixture.cores[1], LINE_ADDRESS);
		fixture.cores[1]->progress->time = ahead;
	}
	assert_true(skew_would_wait(fixture.cores[1]));
	fixture_down(&fixture);
}

/* Whoever begins shares lines with who made it. */
static void who_begins_meets_its_maker(void **unused)
{
	struct pmu_machine desc = small_machine();
	struct machine_hart *maker, *made;
	struct fixture fixture;

	(void)unused;
	fixture_up(&fixture, &desc);
	enter_all(&fixture);
	maker = fixture.cores[0];
	made = fixture.cores[1];
	made->progress->time = maker->progress->time + 10 * fixture.machine->core_ticks;
	show_alone(maker);
	show_alone(made);
	assert_false(skew_would_wait(maker));
	assert_true(skew_would_wait(made));
	fixture_down(&fixture);
}

#define CHANNEL_LINES 4 /* two home agents of two channels */
#define BURST	      10

/* @return ticks that a read takes at cycle 5000, where another core reads @burst lines at 5300 */
static uint64_t read_before(unsigned burst)
{
	struct pmu_machine desc = small_machine();
	struct fixture fixture;
	uint64_t begin, end;

	assert_int_equal(desc.home_agents * desc.channels, CHANNEL_LINES);
	fixture_up(&fixture, &desc);
	enter_all(&fixture);
	pass_cycles(&fixture, 0, 5000);
	pass_cycles(&fixture, 1, 5300);
	for (uint64_t i = 1; i <= burst; i++)
		machine_load(fixture.cores[1], LINE_ADDRESS + i * CHANNEL_LINES * 64, 8, &plain);
	begin = machine_hart_time(fixture.cores[0]);
	end = locked(&fixture, 0);
	fixture_down(&fixture);
	return end - begin;
}

/* The burst keeps the channel's bus busy, but only later: what is read before finds it free. */
static void what_comes_first_does_not_queue(void **unused)
{
	(void)unused;
	assert_int_equal(read_before(BURST), read_before(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(locked_accesses_queue_for_the_line),
	    cmocka_unit_test(the_line_stays_until_it_is_wanted),
	    cmocka_unit_test(sockets_queue_for_the_line),
	    cmocka_unit_test(a_handoff_is_two_entries_in_turn),
	    cmocka_unit_test(a_core_does_not_wait_for_itself),
	    cmocka_unit_test(a_line_on_its_way_gathers_accesses),
	    cmocka_unit_test(a_line_that_came_is_asked_for_again),
	    cmocka_unit_test(a_line_to_be_read_gathers_no_writes),
	    cmocka_unit_test(the_earliest_begins),
	    cmocka_unit_test(a_turn_lasts_for_a_quantum),
	    cmocka_unit_test(the_quantum_grows_with_the_time_apart),
	    cmocka_unit_test(few_requests_make_no_queues),
	    cmocka_unit_test(who_begins_meets_its_maker),
	    cmocka_unit_test(what_comes_first_does_not_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
