/* Latencies and overlap against docs/machine.md, "Time", in closed form. */
#include "machine_fixture.h"

#include "machine/address_space.h"
#include "machine/uarch.h"

/* Register 0 is loaded from an address in register 0. */
static const struct machine_insn chase = {.address_registers = 1, .loads_registers = 1};

static struct pmu_machine one_socket(void)
{
	return *pmu_find_machine("xeon-e5v4-4c");
}

/* Pages 0.. on node 0, then pages from 0x1000 on node 1, so that addresses are known. */
static void place_pages(struct fixture *fixture, unsigned pages)
{
	for (unsigned page = 0; page < pages; page++)
		address_space_frame(fixture->space, page, fixture->cores[0]);
	if (fixture->desc.sockets > 1)
		address_space_frame(fixture->space, 0x1000, fixture->cores[fixture->desc.cores]);
}

static uint64_t core_ticks(const struct fixture *fixture)
{
	return machine_ticks_per_second(fixture->machine) / (fixture->desc.core_mhz * 1000000ull);
}

/* Ticks that core 0 needs for one load and whatever it is still waiting for. */
static uint64_t time_load(struct fixture *fixture, uint64_t address)
{
	struct machine_hart *core = fixture->cores[0];
	uint64_t before;

	machine_hart_pause(core);
	machine_hart_resume(core);
	before = machine_hart_time(core);
	machine_load(core, address, 8, &chase);
	machine_hart_pause(core);
	machine_hart_resume(core);
	return machine_hart_time(core) - before;
}

static uint64_t ticks(const struct fixture *fixture, uint64_t core_cycles, uint64_t uclk_cycles)
{
	return core_cycles * core_ticks(fixture) +
	       uclk_cycles * machine_ticks_per_cycle(fixture->machine, PMU_CLOCK_UCLK);
}

/* DRAM cycles in uncore cycles, rounded up. */
static uint64_t dram_uclk(const struct fixture *fixture, uint64_t dclk)
{
	uint64_t uclk_ticks = machine_ticks_per_cycle(fixture->machine, PMU_CLOCK_UCLK);

	return (dclk * machine_ticks_per_cycle(fixture->machine, PMU_CLOCK_DCLK) + uclk_ticks - 1) /
	       uclk_ticks;
}

static uint64_t open_row_uclk(const struct fixture *fixture)
{
	return dram_uclk(fixture, fixture->desc.t_cl + fixture->desc.t_burst);
}

static uint64_t closed_bank_uclk(const struct fixture *fixture)
{
	return dram_uclk(fixture, fixture->desc.t_rcd + fixture->desc.t_cl + fixture->desc.t_burst);
}

/* Ticks of a read of a socket's only memory, of which DRAM takes @dram uncore cycles. */
static uint64_t memory_ticks(const struct fixture *fixture, uint64_t dram)
{
	const struct pmu_machine *desc = &fixture->desc;

	return ticks(fixture, desc->l2.latency,
		     4 * desc->ring_hop + 1 + desc->llc.latency + desc->ha_cycles + dram);
}

static void blocks_cost_their_bottleneck(void **unused)
{
	struct machine_block block;
	struct fixture fixture;
	uint64_t cycle;

	(void)unused;
	fixture_up(&fixture, pmu_find_machine("xeon-e5-2699v4-2s"));
	cycle = core_ticks(&fixture);
	assert_int_equal(cycle, 84); /* of 184.8 GHz */
	machine_block_init(fixture.machine, &block, 0, 32, 8, 0, 0);
	assert_int_equal(block.ticks, 2 * cycle);
	machine_block_init(fixture.machine, &block, 0, 32, 8, 6, 0);
	assert_int_equal(block.ticks, 3 * cycle);
	machine_block_init(fixture.machine, &block, 0, 32, 8, 0, 5);
	assert_int_equal(block.ticks, 5 * cycle);
	machine_block_init(fixture.machine, &block, 0, 4, 1, 0, 0);
	assert_int_equal(block.ticks, cycle / 4);
	fixture_down(&fixture);
}

static void memory_of_one_socket(void **unused)
{
	struct pmu_machine desc = one_socket();
	struct fixture fixture;

	(void)unused;
	fixture_up(&fixture, &desc);
	enter_all(&fixture);
	place_pages(&fixture, 1);
	assert_int_equal(time_load(&fixture, 0),
			 memory_ticks(&fixture, closed_bank_uclk(&fixture)));
	assert_int_equal(time_load(&fixture, 0), 0);
	/* The next line of the first one's channel is in another bank group, the one after it in
	   the row that is open now. */
	assert_int_equal(time_load(&fixture, desc.channels * 64ull),
			 memory_ticks(&fixture, closed_bank_uclk(&fixture)));
	assert_int_equal(time_load(&fixture, 2 * desc.channels * 64ull),
			 memory_ticks(&fixture, open_row_uclk(&fixture)));
	fixture_down(&fixture);
}

/* The snoop of the other socket is slower than a closed bank. */
static void local_memory_of_two_sockets(void **unused)
{
	struct pmu_machine desc = small_machine();
	struct fixture fixture;
	uint64_t snoop, uclk;

	(void)unused;
	fixture_up(&fixture, &desc);
	enter_all(&fixture);
	place_pages(&fixture, 1);
	snoop = 2 * (desc.ring_hop + desc.link_cycles) + 1 + desc.llc.latency;
	assert_true(snoop > desc.ha_cycles + closed_bank_uclk(&fixture));
	uclk = 4 * desc.ring_hop + 1 + desc.llc.latency + snoop;
	assert_int_equal(time_load(&fixture, 0), ticks(&fixture, desc.l2.latency, uclk));
	fixture_down(&fixture);
}

static void remote_memory(void **unused)
{
	struct pmu_machine desc = small_machine();
	struct fixture fixture;
	uint64_t uclk;

	(void)unused;
	fixture_up(&fixture, &desc);
	enter_all(&fixture);
	place_pages(&fixture, 1);
	uclk = 4 * desc.ring_hop + 2 * desc.link_cycles + desc.link_line_cycles + 1 +
	       desc.llc.latency + desc.ha_cycles + closed_bank_uclk(&fixture);
	assert_int_equal(time_load(&fixture, 0x1000000), ticks(&fixture, desc.l2.latency, uclk));
	fixture_down(&fixture);
}

static void load_range(struct fixture *fixture, unsigned first, unsigned lines,
		       const struct machine_insn *insn)
{
	for (unsigned i = 0; i < lines; i++)
		machine_load(fixture->cores[0], (first + i) * 64ull, 8, insn);
}

/* Ticks for loads of lines 0 to @lines - 1 once @resident lines have been walked over. */
static uint64_t time_second_pass(struct fixture *fixture, unsigned resident, unsigned lines,
				 const struct machine_insn *insn)
{
	struct machine_hart *core = fixture->cores[0];
	uint64_t before;

	place_pages(fixture, resident / 64);
	load_range(fixture, 0, resident, &plain);
	machine_hart_pause(core);
	machine_hart_resume(core);
	before = machine_hart_time(core);
	load_range(fixture, 0, lines, insn);
	machine_hart_pause(core);
	machine_hart_resume(core);
	return machine_hart_time(core) - before;
}

static void a_chain_in_l2(void **unused)
{
	struct pmu_machine desc = one_socket();
	struct fixture fixture;

	(void)unused;
	fixture_up(&fixture, &desc);
	enter_all(&fixture);
	assert_int_equal(time_second_pass(&fixture, 1024, 256, &chase),
			 ticks(&fixture, 256 * desc.l2.latency, 0));
	fixture_down(&fixture);
}

/* Ten at a time, where L2 moves lines in no time. */
static void independent_loads_in_l2(void **unused)
{
	struct pmu_machine desc = one_socket();
	struct fixture fixture;

	(void)unused;
	desc.uarch = "none";
	assert_int_equal(desc.fill_buffers, 10);
	fixture_up(&fixture, &desc);
	enter_all(&fixture);
	assert_int_equal(time_second_pass(&fixture, 1024, 250, &plain),
			 ticks(&fixture, 25 * desc.l2.latency, 0));
	fixture_down(&fixture);
}

/* Of which the last one moves when all others have. */
static void lines_of_l2_move_one_after_the_other(void **unused)
{
	struct pmu_machine desc = one_socket();
	struct fixture fixture;
	uint64_t line;

	(void)unused;
	fixture_up(&fixture, &desc);
	enter_all(&fixture);
	line = line_ticks(core_ticks(&fixture), machine_uarch_find(desc.uarch)->l2_load);
	assert_int_equal(time_second_pass(&fixture, 1024, 250, &plain),
			 249 * line + ticks(&fixture, desc.l2.latency, 0));
	fixture_down(&fixture);
}

static void a_chain_in_the_llc(void **unused)
{
	struct pmu_machine desc = one_socket();
	struct fixture fixture;
	uint64_t uclk = desc.ring_hop + 1 + desc.llc.latency + desc.ring_hop;

	(void)unused;
	fixture_up(&fixture, &desc);
	enter_all(&fixture);
	assert_int_equal(time_second_pass(&fixture, 8192, 256, &chase),
			 ticks(&fixture, 256 * desc.l2.latency, 256 * uclk));
	fixture_down(&fixture);
}

/* The first field of a node misses, the pointer in the same line hits: the chain holds. */
static void a_hit_waits_for_its_line(void **unused)
{
	static const struct machine_insn value = {.address_registers = 1, .loads_registers = 2};
	static const struct machine_insn pointer = {.address_registers = 1, .loads_registers = 1};
	struct pmu_machine desc = one_socket();
	struct fixture fixture;
	struct machine_hart *core;
	uint64_t before;

	(void)unused;
	fixture_up(&fixture, &desc);
	enter_all(&fixture);
	time_second_pass(&fixture, 1024, 0, &plain);
	core = fixture.cores[0];
	before = machine_hart_time(core);
	for (unsigned i = 0; i < 100; i++) {
		machine_load(core, i * 64ull, 8, &value);
		machine_load(core, i * 64ull + 8, 8, &pointer);
	}
	machine_hart_pause(core);
	machine_hart_resume(core);
	assert_int_equal(machine_hart_time(core) - before,
			 ticks(&fixture, 100 * desc.l2.latency, 0));
	fixture_down(&fixture);
}

/* Instructions issue at the issue width until the window is full; then the load is waited for. */
static void the_reorder_window_fills(void **unused)
{
	struct pmu_machine desc = one_socket();
	struct fixture fixture;
	struct machine_hart *core;
	uint64_t start, latency, issue;

	(void)unused;
	fixture_up(&fixture, &desc);
	enter_all(&fixture);
	place_pages(&fixture, 2);
	address_space_frame(fixture.space, 0x400, fixture.cores[0]);
	step(&fixture, 0); /* the instructions' line is there from now on, and its row open */
	latency = memory_ticks(&fixture, open_row_uclk(&fixture));
	issue = (core_ticks(&fixture) + desc.issue_width - 1) / desc.issue_width;
	assert_true(desc.reorder_window * issue < latency);
	core = fixture.cores[0];
	start = machine_hart_time(core);
	machine_load(core, 0, 8, &plain);
	for (unsigned i = 1; i < desc.reorder_window; i++) {
		step(&fixture, 0);
		assert_int_equal(machine_hart_time(core) - start, i * issue);
	}
	step(&fixture, 0);
	assert_int_equal(machine_hart_time(core) - start, latency);
	fixture_down(&fixture);
}

/* The first lines of the channels come first, all at once. Cores with a store buffer:
 * test_buffers.c. */
static void stores_do_not_wait_but_for_buffers(void **unused)
{
	struct pmu_machine desc = one_socket();
	struct fixture fixture;
	struct machine_hart *core;

	(void)unused;
	desc.uarch = "none";
	fixture_up(&fixture, &desc);
	enter_all(&fixture);
	place_pages(&fixture, 1);
	core = fixture.cores[0];
	for (unsigned i = 0; i < desc.fill_buffers; i++)
		machine_store(core, i * 64, 8, &plain);
	assert_int_equal(machine_hart_time(core), 0);
	machine_store(core, desc.fill_buffers * 64, 8, &plain);
	assert_int_equal(machine_hart_time(core),
			 memory_ticks(&fixture, closed_bank_uclk(&fixture)));
	fixture_down(&fixture);
}

/* Beyond the cycle that its store has in a block. */
static uint64_t locked_ticks(const struct fixture *fixture)
{
	return (fixture->desc.locked_cycles - 1) * core_ticks(fixture);
}

static void a_locked_access_waits(void **unused)
{
	struct pmu_machine desc = one_socket();
	struct fixture fixture;

	(void)unused;
	fixture_up(&fixture, &desc);
	enter_all(&fixture);
	place_pages(&fixture, 1);
	machine_locked(fixture.cores[0], 0, 8, &plain);
	assert_int_equal(machine_hart_time(fixture.cores[0]),
			 memory_ticks(&fixture, closed_bank_uclk(&fixture)) +
			     locked_ticks(&fixture));
	fixture_down(&fixture);
}

/* @return the clock after a store that misses and, on a line that is there, a locked access */
static uint64_t time_stored(bool then_locked)
{
	struct pmu_machine desc = one_socket();
	struct fixture fixture;
	uint64_t end;

	fixture_up(&fixture, &desc);
	enter_all(&fixture);
	place_pages(&fixture, 1);
	machine_store(fixture.cores[0], 0, 8, &plain);
	machine_hart_pause(fixture.cores[0]);
	machine_hart_resume(fixture.cores[0]);
	machine_store(fixture.cores[0], 64, 8, &plain);
	if (then_locked)
		machine_locked(fixture.cores[0], 0, 8, &plain);
	else
		machine_hart_pause(fixture.cores[0]);
	end = machine_hart_time(fixture.cores[0]);
	if (then_locked)
		end -= locked_ticks(&fixture);
	fixture_down(&fixture);
	return end;
}

static void a_locked_access_drains_the_stores(void **unused)
{
	(void)unused;
	assert_int_equal(time_stored(true), time_stored(false));
}

/* The time of a pause is no cycle of the core. */
static void pauses_are_not_counted(void **unused)
{
	struct pmu_machine desc = one_socket();
	struct machine_statistics stats;
	struct fixture fixture;
	uint64_t worked;

	(void)unused;
	fixture_up(&fixture, &desc);
	enter_all(&fixture);
	place_pages(&fixture, 1);
	for (unsigned i = 0; i < 4; i++)
		machine_hart_pause(fixture.cores[i]);
	machine_hart_resume(fixture.cores[0]);
	worked = time_load(&fixture, 0);
	assert_int_equal(worked, memory_ticks(&fixture, closed_bank_uclk(&fixture)));
	machine_hart_resume(fixture.cores[1]);
	assert_int_equal(machine_hart_time(fixture.cores[1]), worked);
	machine_statistics(fixture.machine, &stats);
	assert_int_equal(stats.cycles, worked / core_ticks(&fixture));
	fixture_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(blocks_cost_their_bottleneck),
	    cmocka_unit_test(memory_of_one_socket),
	    cmocka_unit_test(local_memory_of_two_sockets),
	    cmocka_unit_test(remote_memory),
	    cmocka_unit_test(a_chain_in_l2),
	    cmocka_unit_test(independent_loads_in_l2),
	    cmocka_unit_test(lines_of_l2_move_one_after_the_other),
	    cmocka_unit_test(a_chain_in_the_llc),
	    cmocka_unit_test(a_hit_waits_for_its_line),
	    cmocka_unit_test(the_reorder_window_fills),
	    cmocka_unit_test(stores_do_not_wait_but_for_buffers),
	    cmocka_unit_test(a_locked_access_waits),
	    cmocka_unit_test(a_locked_access_drains_the_stores),
	    cmocka_unit_test(pauses_are_not_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
