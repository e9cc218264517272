/* Latencies and overlap against docs/machine.md, "Time", in closed form. */
#include "machine_fixture.h"

#include "machine/address_space.h"

/* Register 0 is loaded from an address in register 0. */
static const struct machine_insn chase = {1, 1};

static struct pmu_machine one_socket(void)
{
	return *pmu_find_machine("xeon-e5v4-4c");
}

/* Pages 0.. on node 0, then pages from 0x1000 on node 1, so that addresses are known. */
static void place_pages(struct scene *scene, unsigned pages)
{
	for (unsigned page = 0; page < pages; page++)
		address_space_frame(scene->space, page, 0, 1);
	if (scene->desc.sockets > 1)
		address_space_frame(scene->space, 0x1000, 1, 1);
}

static uint64_t core_ticks(const struct scene *scene)
{
	return machine_ticks_per_second(scene->machine) / (scene->desc.core_mhz * 1000000ull);
}

/* Ticks that core 0 needs for one load and whatever it is still waiting for. */
static uint64_t time_load(struct scene *scene, uint64_t address)
{
	struct machine_hart *core = scene->cores[0];
	uint64_t before;

	machine_hart_pause(core);
	machine_hart_resume(core);
	before = machine_hart_time(core);
	machine_load(core, address, 8, &chase);
	machine_hart_pause(core);
	machine_hart_resume(core);
	return machine_hart_time(core) - before;
}

static uint64_t ticks(const struct scene *scene, uint64_t core_cycles, uint64_t uclk_cycles)
{
	return core_cycles * core_ticks(scene) +
	       uclk_cycles * machine_ticks_per_cycle(scene->machine, PMU_CLOCK_UCLK);
}

/* DRAM cycles in uncore cycles, rounded up. */
static uint64_t dram_uclk(const struct scene *scene, uint64_t dclk)
{
	uint64_t uclk_ticks = machine_ticks_per_cycle(scene->machine, PMU_CLOCK_UCLK);

	return (dclk * machine_ticks_per_cycle(scene->machine, PMU_CLOCK_DCLK) + uclk_ticks - 1) /
	       uclk_ticks;
}

static uint64_t open_row_uclk(const struct scene *scene)
{
	return dram_uclk(scene, scene->desc.t_cl + scene->desc.t_burst);
}

static uint64_t closed_bank_uclk(const struct scene *scene)
{
	return dram_uclk(scene, scene->desc.t_rcd + scene->desc.t_cl + scene->desc.t_burst);
}

/* Ticks of a read of a socket's only memory, of which DRAM takes @dram uncore cycles. */
static uint64_t memory_ticks(const struct scene *scene, uint64_t dram)
{
	const struct pmu_machine *desc = &scene->desc;

	return ticks(scene, desc->l2.latency,
		     4 * desc->ring_hop + 1 + desc->llc.latency + desc->ha_cycles + dram);
}

static void blocks_cost_their_bottleneck(void **unused)
{
	struct machine_block block;
	struct scene scene;
	uint64_t cycle;

	(void)unused;
	open_machine(&scene, pmu_find_machine("xeon-e5-2699v4-2s"));
	cycle = core_ticks(&scene);
	assert_int_equal(cycle, 42); /* of 92.4 GHz */
	machine_block_init(scene.machine, &block, 0, 32, 8, 0, 0);
	assert_int_equal(block.ticks, 2 * cycle);
	machine_block_init(scene.machine, &block, 0, 32, 8, 6, 0);
	assert_int_equal(block.ticks, 3 * cycle);
	machine_block_init(scene.machine, &block, 0, 32, 8, 0, 5);
	assert_int_equal(block.ticks, 5 * cycle);
	machine_block_init(scene.machine, &block, 0, 4, 1, 0, 0);
	assert_int_equal(block.ticks, 11); /* 42 / 4, rounded up */
	close_machine(&scene);
}

static void memory_of_one_socket(void **unused)
{
	struct pmu_machine desc = one_socket();
	struct scene scene;

	(void)unused;
	open_machine(&scene, &desc);
	enter_all(&scene);
	place_pages(&scene, 1);
	assert_int_equal(time_load(&scene, 0), memory_ticks(&scene, closed_bank_uclk(&scene)));
	assert_int_equal(time_load(&scene, 0), 0);
	/* The next line of the first one's channel is in the row that is open now. */
	assert_int_equal(time_load(&scene, desc.channels * 64ull),
			 memory_ticks(&scene, open_row_uclk(&scene)));
	close_machine(&scene);
}

/* The snoop of the other socket is slower than a closed bank. */
static void local_memory_of_two_sockets(void **unused)
{
	struct pmu_machine desc = small_machine();
	struct scene scene;
	uint64_t snoop, uclk;

	(void)unused;
	open_machine(&scene, &desc);
	enter_all(&scene);
	place_pages(&scene, 1);
	snoop = 2 * (desc.ring_hop + desc.link_cycles) + 1 + desc.llc.latency;
	assert_true(snoop > desc.ha_cycles + closed_bank_uclk(&scene));
	uclk = 4 * desc.ring_hop + 1 + desc.llc.latency + snoop;
	assert_int_equal(time_load(&scene, 0), ticks(&scene, desc.l2.latency, uclk));
	close_machine(&scene);
}

static void remote_memory(void **unused)
{
	struct pmu_machine desc = small_machine();
	struct scene scene;
	uint64_t uclk;

	(void)unused;
	open_machine(&scene, &desc);
	enter_all(&scene);
	place_pages(&scene, 1);
	uclk = 4 * desc.ring_hop + 2 * desc.link_cycles + desc.link_line_cycles + 1 +
	       desc.llc.latency + desc.ha_cycles + closed_bank_uclk(&scene);
	assert_int_equal(time_load(&scene, 0x1000000), ticks(&scene, desc.l2.latency, uclk));
	close_machine(&scene);
}

static void load_range(struct scene *scene, unsigned first, unsigned lines,
		       const struct machine_insn *insn)
{
	for (unsigned i = 0; i < lines; i++)
		machine_load(scene->cores[0], (first + i) * 64ull, 8, insn);
}

/* Ticks for loads of lines 0 to @lines - 1 once @resident lines have been walked over. */
static uint64_t time_second_pass(struct scene *scene, unsigned resident, unsigned lines,
				 const struct machine_insn *insn)
{
	struct machine_hart *core = scene->cores[0];
	uint64_t before;

	place_pages(scene, resident / 64);
	load_range(scene, 0, resident, &plain);
	machine_hart_pause(core);
	machine_hart_resume(core);
	before = machine_hart_time(core);
	load_range(scene, 0, lines, insn);
	machine_hart_pause(core);
	machine_hart_resume(core);
	return machine_hart_time(core) - before;
}

static void a_chain_in_l2(void **unused)
{
	struct pmu_machine desc = one_socket();
	struct scene scene;

	(void)unused;
	open_machine(&scene, &desc);
	enter_all(&scene);
	assert_int_equal(time_second_pass(&scene, 1024, 256, &chase),
			 ticks(&scene, 256 * desc.l2.latency, 0));
	close_machine(&scene);
}

/* Ten at a time. */
static void independent_loads_in_l2(void **unused)
{
	struct pmu_machine desc = one_socket();
	struct scene scene;

	(void)unused;
	assert_int_equal(desc.fill_buffers, 10);
	open_machine(&scene, &desc);
	enter_all(&scene);
	assert_int_equal(time_second_pass(&scene, 1024, 250, &plain),
			 ticks(&scene, 25 * desc.l2.latency, 0));
	close_machine(&scene);
}

static void a_chain_in_the_llc(void **unused)
{
	struct pmu_machine desc = one_socket();
	struct scene scene;
	uint64_t uclk = desc.ring_hop + 1 + desc.llc.latency + desc.ring_hop;

	(void)unused;
	open_machine(&scene, &desc);
	enter_all(&scene);
	assert_int_equal(time_second_pass(&scene, 8192, 256, &chase),
			 ticks(&scene, 256 * desc.l2.latency, 256 * uclk));
	close_machine(&scene);
}

/* The first field of a node misses, the pointer in the same line hits: the chain holds. */
static void a_hit_waits_for_its_line(void **unused)
{
	static const struct machine_insn value = {1, 2}, pointer = {1, 1};
	struct pmu_machine desc = one_socket();
	struct scene scene;
	struct machine_hart *core;
	uint64_t before;

	(void)unused;
	open_machine(&scene, &desc);
	enter_all(&scene);
	time_second_pass(&scene, 1024, 0, &plain);
	core = scene.cores[0];
	before = machine_hart_time(core);
	for (unsigned i = 0; i < 100; i++) {
		machine_load(core, i * 64ull, 8, &value);
		machine_load(core, i * 64ull + 8, 8, &pointer);
	}
	machine_hart_pause(core);
	machine_hart_resume(core);
	assert_int_equal(machine_hart_time(core) - before, ticks(&scene, 100 * desc.l2.latency, 0));
	close_machine(&scene);
}

/* Instructions issue at the issue width until the window is full; then the load is waited for. */
static void the_reorder_window_fills(void **unused)
{
	struct pmu_machine desc = one_socket();
	struct scene scene;
	struct machine_hart *core;
	uint64_t start, latency, issue;

	(void)unused;
	open_machine(&scene, &desc);
	enter_all(&scene);
	place_pages(&scene, 2);
	address_space_frame(scene.space, 0x400, 0, 1);
	step(&scene, 0); /* the instructions' line is there from now on, and its row open */
	latency = memory_ticks(&scene, open_row_uclk(&scene));
	issue = (core_ticks(&scene) + desc.issue_width - 1) / desc.issue_width;
	assert_true(desc.reorder_window * issue < latency);
	core = scene.cores[0];
	start = machine_hart_time(core);
	machine_load(core, 0, 8, &plain);
	for (unsigned i = 1; i < desc.reorder_window; i++) {
		step(&scene, 0);
		assert_int_equal(machine_hart_time(core) - start, i * issue);
	}
	step(&scene, 0);
	assert_int_equal(machine_hart_time(core) - start, latency);
	close_machine(&scene);
}

/* The first lines of the channels come first, all at once. */
static void stores_do_not_wait_but_for_buffers(void **unused)
{
	struct pmu_machine desc = one_socket();
	struct scene scene;
	struct machine_hart *core;

	(void)unused;
	open_machine(&scene, &desc);
	enter_all(&scene);
	place_pages(&scene, 1);
	core = scene.cores[0];
	for (unsigned i = 0; i < desc.fill_buffers; i++)
		machine_store(core, i * 64, 8, &plain);
	assert_int_equal(machine_hart_time(core), 0);
	machine_store(core, desc.fill_buffers * 64, 8, &plain);
	assert_int_equal(machine_hart_time(core), memory_ticks(&scene, closed_bank_uclk(&scene)));
	close_machine(&scene);
}

static void a_locked_access_waits(void **unused)
{
	struct pmu_machine desc = one_socket();
	struct scene scene;

	(void)unused;
	open_machine(&scene, &desc);
	enter_all(&scene);
	place_pages(&scene, 1);
	machine_locked(scene.cores[0], 0, 8, &plain);
	assert_int_equal(machine_hart_time(scene.cores[0]),
			 memory_ticks(&scene, closed_bank_uclk(&scene)));
	close_machine(&scene);
}

/* The time of a pause is no cycle of the core. */
static void pauses_are_not_counted(void **unused)
{
	struct pmu_machine desc = one_socket();
	struct machine_statistics stats;
	struct scene scene;
	uint64_t worked;

	(void)unused;
	open_machine(&scene, &desc);
	enter_all(&scene);
	place_pages(&scene, 1);
	for (unsigned i = 0; i < 4; i++)
		machine_hart_pause(scene.cores[i]);
	machine_hart_resume(scene.cores[0]);
	worked = time_load(&scene, 0);
	assert_int_equal(worked, memory_ticks(&scene, closed_bank_uclk(&scene)));
	machine_hart_resume(scene.cores[1]);
	assert_int_equal(machine_hart_time(scene.cores[1]), worked);
	machine_statistics(scene.machine, &stats);
	assert_int_equal(stats.cycles, worked / core_ticks(&scene));
	close_machine(&scene);
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
	    cmocka_unit_test(a_chain_in_the_llc),
	    cmocka_unit_test(a_hit_waits_for_its_line),
	    cmocka_unit_test(the_reorder_window_fills),
	    cmocka_unit_test(stores_do_not_wait_but_for_buffers),
	    cmocka_unit_test(a_locked_access_waits),
	    cmocka_unit_test(pauses_are_not_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
