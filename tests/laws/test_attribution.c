/*
 * Attribution, against what the machine itself says that each access has done: the difference of
 * its statistics before and after, which know neither signals nor counters.
 */
#include <string.h>

#include "emul/block.h"
#include "machine/access.h"
#include "pmon/fixture.h"
#include "support/prefetchers.h"
#include "support/random.h"

#define SLICES 4
#define HARTS  4
#define PLACES 16
#define LINES  24000u
#define STEPS  20000
#define BASE   UINT64_C(0x100000)

enum column {
	LOOKUPS,
	VICTIMS,
	TOR_CYCLES,
	HOME_READS,
	HOME_WRITES,
	TRACKER_CYCLES,
	DRAM_READS,
	DRAM_WRITES,
	INSTRUCTIONS,
	COLUMNS
};

/* Counter @counter of each instance of a box counts an event. */
struct programmed {
	const char *box;
	unsigned counter;
	uint32_t control;
};

static const struct programmed programmed[COLUMNS] = {
    [LOOKUPS] = {"cbo", 1, EVENT(0x34, 0x11)},
    [VICTIMS] = {"cbo", 2, EVENT(0x37, 0x0f)},
    [TOR_CYCLES] = {"cbo", 0, EVENT(0x36, 0x08)},
    [HOME_READS] = {"ha", 0, EVENT(0x01, 0x03)},
    [HOME_WRITES] = {"ha", 1, EVENT(0x01, 0x0c)},
    [TRACKER_CYCLES] = {"ha", 2, EVENT(0x04, 0xfc)},
    [DRAM_READS] = {"imc", 0, EVENT(0x04, 0x03)},
    [DRAM_WRITES] = {"imc", 1, EVENT(0x04, 0x0c)},
    [INSTRUCTIONS] = {"core", 0, EVENT(0xc0, 0x00) | 1u << 16},
};

struct side {
	struct pmu_machine desc;
	struct emul *emul;
	struct machine_address_space *space;
	struct machine_hart *harts[HARTS];
	uint32_t contexts[HARTS];
};

static struct side side;

static uint32_t control_address(const struct programmed *event, unsigned instance)
{
	if (!strcmp(event->box, "cbo"))
		return C_CTL(instance, event->counter);
	if (!strcmp(event->box, "ha"))
		return HA(instance, PCI_CTL(event->counter));
	return MC(instance, PCI_CTL(event->counter));
}

static void write_register(unsigned socket, enum pmu_space space, uint32_t address, uint64_t value)
{
	const unsigned width = space == PMU_SPACE_MSR ? 64 : 32;

	assert_int_equal(emul_write(side.emul, AT(socket, space, address, width), value), 0);
}

static unsigned instances_of(const char *box)
{
	if (!strcmp(box, "cbo"))
		return SLICES;
	return !strcmp(box, "ha") ? 1 : !strcmp(box, "imc") ? side.desc.channels : HARTS / 2;
}

static unsigned box_number(const char *name)
{
	const struct pmu_pmu *pmu = pmu_find_pmu(side.desc.pmu);
	unsigned number = 0;

	while (strcmp(pmu->boxes[number].name, name) != 0)
		number++;
	return number;
}

/* IA32_PERFEVTSEL0 and IA32_PERF_GLOBAL_CTRL of each core. */
static void program_core(unsigned socket, unsigned core, uint32_t control)
{
	struct pmon_access access = {
	    .socket = socket, .core = core, .space = PMU_SPACE_MSR, .width = 64, .address = 0x186};

	assert_int_equal(emul_write(side.emul, &access, control | EN), 0);
	access.address = 0x38f;
	assert_int_equal(emul_write(side.emul, &access, 1), 0);
}

static void program(unsigned column)
{
	const struct programmed *event = &programmed[column];
	const bool is_core = column == INSTRUCTIONS;

	for (unsigned socket = 0; socket < 2; socket++)
		for (unsigned i = 0; i < instances_of(event->box); i++) {
			const struct pmon_counter_ref ref = {
			    .socket = socket,
			    .instance = i,
			    .counter = event->counter,
			    .box = box_number(event->box),
			};

			if (is_core)
				program_core(socket, i, event->control);
			else
				write_register(socket,
					       strcmp(event->box, "cbo") ? PMU_SPACE_PCI
									 : PMU_SPACE_MSR,
					       control_address(event, i), event->control | EN);
			assert_int_equal(emul_attribute(side.emul, 0, &ref, column), 0);
		}
}

static int open_side(void **unused)
{
	(void)unused;
	side.desc = *pmu_find_machine("xeon-e5-2699v4-2s");
	side.desc.cores = HARTS / 2;
	side.desc.slices = SLICES;
	side.desc.llc.sets = 64;
	side.desc.memory_bytes = 1 << 28;
	side.desc.home_agents = 1;
	side.desc.translation = "none";
	assert_int_equal(emul_new(&side.emul, NULL, &side.desc), 0);
	switch_prefetchers_off(emul_machine(side.emul));
	assert_int_equal(emul_attribution_new(side.emul, NULL, COLUMNS), 0);
	for (unsigned socket = 0; socket < 2; socket++)
		for (unsigned n = 0; n < SLICES; n++)
			write_register(socket, PMU_SPACE_MSR, C_FILTER0(n), 0x3fu << 17);
	for (unsigned column = 0; column < COLUMNS; column++)
		program(column);
	for (unsigned socket = 0; socket < 2; socket++)
		write_register(socket, PMU_SPACE_MSR, GLOBAL_CTL, UNFRZ_ALL);
	assert_int_equal(machine_address_space_new(&side.space, emul_machine(side.emul)), 0);
	for (unsigned i = 0; i < HARTS; i++) {
		side.harts[i] = machine_hart_enter(emul_machine(side.emul), side.space, 0);
		assert_non_null(side.harts[i]);
		side.contexts[i] = attribution_context(emul_attribution(side.emul), 1, 10 + i, 0);
		machine_in(side.harts[i], side.contexts[i]);
		machine_hart_pause(side.harts[i]);
	}
	return 0;
}

static int close_side(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < HARTS; i++)
		machine_hart_leave(side.harts[i]);
	machine_address_space_free(side.space);
	emul_free(side.emul);
	return 0;
}

static uint64_t counted_at(unsigned hart, uint64_t place, enum column column)
{
	const struct attribution_table *table = emul_attribution(side.emul)->table;

	for (uint32_t i = ATTRIBUTION_FIRST; i < attribution_entries(table); i++) {
		const struct attribution_entry *entry = attribution_entry(table, i);

		if (entry->place == place && entry->context == side.contexts[hart])
			return entry->counts[column];
	}
	return 0;
}

/* Of all places. */
static uint64_t counted(enum column column)
{
	const struct attribution_table *table = emul_attribution(side.emul)->table;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < attribution_entries(table); i++)
		sum += attribution_entry(table, i)->counts[column];
	return sum;
}

static void load(unsigned hart, uint64_t place, uint64_t address)
{
	static const struct machine_insn plain = {0};

	machine_at(side.harts[hart], place);
	machine_load(side.harts[hart], address, 8, &plain);
}

static void store(unsigned hart, uint64_t place, uint64_t address)
{
	static const struct machine_insn plain = {0};

	machine_at(side.harts[hart], place);
	machine_store(side.harts[hart], address, 8, &plain);
}

/* Lines that nobody has: each is looked up, asked for and read from DRAM once. */
static void test_cold_lines(void **unused)
{
	(void)unused;
	machine_hart_resume(side.harts[0]);
	for (unsigned i = 0; i < 1000; i++)
		load(0, 7, BASE + 64 * i);
	for (unsigned i = 1000; i < 1300; i++)
		load(0, 8, BASE + 64 * i);
	machine_hart_pause(side.harts[0]);
	/* In the LLC of each socket: the home agent snoops the other one. */
	assert_int_equal(counted_at(0, 7, LOOKUPS), 2 * 1000);
	assert_int_equal(counted_at(0, 7, HOME_READS), 1000);
	assert_int_equal(counted_at(0, 7, DRAM_READS), 1000);
	assert_int_equal(counted_at(0, 8, LOOKUPS), 2 * 300);
	assert_int_equal(counted_at(0, 8, HOME_READS), 300);
	assert_int_equal(counted_at(0, 8, DRAM_READS), 300);
	assert_int_equal(counted(LOOKUPS), 2 * 1300);
	assert_int_equal(counted(DRAM_WRITES), 0);
}

/* What is written to DRAM while another reads, or nobody runs any more, is the writer's. */
static void test_writes_are_of_who_wrote(void **unused)
{
	(void)unused;
	machine_hart_resume(side.harts[0]);
	machine_at(side.harts[0], 1);
	for (unsigned i = 0; i < 500; i++)
		for (unsigned part = 0; part < 64; part += 8)
			machine_store_nt(side.harts[0], BASE + 64 * i + part, 8);
	machine_hart_pause(side.harts[0]);
	machine_hart_resume(side.harts[1]);
	for (unsigned i = 0; i < 900; i++)
		load(1, 2, BASE + 64 * (10000 + i));
	machine_hart_pause(side.harts[1]);
	machine_drain(emul_machine(side.emul));
	assert_int_equal(counted_at(0, 1, DRAM_WRITES), 500);
	assert_int_equal(counted_at(0, 1, DRAM_READS), 0);
	assert_int_equal(counted_at(1, 2, DRAM_WRITES), 0);
	assert_int_equal(counted_at(1, 2, DRAM_READS), 900);
	assert_int_equal(counted(DRAM_WRITES), 500);
}

/* A line that is half written stays in its buffer until the thread ends. */
static void test_buffers_are_of_who_wrote(void **unused)
{
	struct machine_hart *hart = side.harts[0];

	(void)unused;
	machine_hart_resume(hart);
	machine_at(hart, 3);
	machine_store_nt(hart, BASE, 8);
	load(0, 4, BASE + 4096);
	machine_hart_leave(hart);
	side.harts[0] = machine_hart_enter(emul_machine(side.emul), side.space, 0);
	assert_non_null(side.harts[0]);
	machine_drain(emul_machine(side.emul));
	assert_int_equal(counted_at(0, 3, DRAM_WRITES), 1);
	assert_int_equal(counted_at(0, 3, DRAM_READS), 1); /* the underfill */
	assert_int_equal(counted_at(0, 4, DRAM_WRITES), 0);
}

/* Code that is fetched: each line of a block is that of its own bytes. */
static void test_fetches(void **unused)
{
	struct machine_block block;

	(void)unused;
	machine_block_init(emul_machine(side.emul), &block, BASE + 32, 64 + 40, 20, 0, 0);
	machine_hart_resume(side.harts[0]);
	machine_at(side.harts[0], 1000);
	machine_run(side.harts[0], &block);
	machine_hart_pause(side.harts[0]);
	assert_int_equal(counted_at(0, 1000, HOME_READS), 1);
	assert_int_equal(counted_at(0, 1032, HOME_READS), 1);
	assert_int_equal(counted_at(0, 1096, HOME_READS), 1);
	assert_int_equal(counted(HOME_READS), 3);
}

/* Instructions are those of the blocks that execute them, whichever thread comes between. */
static void test_blocks(void **unused)
{
	struct machine_block block;

	(void)unused;
	machine_block_init(emul_machine(side.emul), &block, BASE, 40, 10, 0, 0);
	for (unsigned round = 0; round < 50; round++)
		for (unsigned hart = 0; hart < HARTS; hart++) {
			machine_hart_resume(side.harts[hart]);
			for (unsigned i = 0; i <= hart; i++) {
				for (unsigned twice = 0; twice < 2; twice++) {
					machine_at_block(side.harts[hart], 100 + i);
					machine_run(side.harts[hart], &block);
				}
			}
			machine_hart_pause(side.harts[hart]);
		}
	for (unsigned hart = 0; hart < HARTS; hart++)
		for (unsigned i = 0; i < HARTS; i++)
			assert_int_equal(counted_at(hart, 100 + i, INSTRUCTIONS),
					 i <= hart ? 1000 : 0);
	assert_int_equal(counted(INSTRUCTIONS), 1000 * (1 + 2 + 3 + 4));
}

static void take_statistics(uint64_t numbers[COLUMNS])
{
	struct machine_statistics stats;

	machine_statistics(emul_machine(side.emul), &stats);
	memset(numbers, 0, COLUMNS * sizeof(numbers[0]));
	numbers[LOOKUPS] = stats.llc_lookups;
	numbers[VICTIMS] = stats.llc_victims;
	numbers[TOR_CYCLES] = stats.tor_cycles;
	numbers[HOME_READS] = stats.home_reads;
	numbers[HOME_WRITES] = stats.home_writes;
	numbers[TRACKER_CYCLES] = stats.tracker_cycles;
}

static void check_each_access(uint32_t prefetchers)
{
	static uint64_t done[HARTS][PLACES][COLUMNS];
	uint64_t before[COLUMNS], after[COLUMNS], random = 4711, cursor[HARTS] = {0};

	for (unsigned i = 0; i < HARTS; i++)
		machine_set_prefetchers(emul_machine(side.emul), i, prefetchers);
	memset(done, 0, sizeof(done));
	take_statistics(before);
	for (unsigned step = 0; step < STEPS; step++) {
		const uint64_t drawn = next_random(&random);
		const unsigned hart = drawn >> 16 & (HARTS - 1), place = drawn >> 20 & (PLACES - 1);
		/* Anywhere, or on through pages. */
		const uint64_t line =
		    drawn >> 61 & 1 ? (drawn >> 24) % LINES : LINES * (1 + hart) + cursor[hart]++;
		const uint64_t address = BASE + line * 64;

		machine_hart_resume(side.harts[hart]);
		if (drawn >> 60 & 1)
			store(hart, place, address);
		else
			load(hart, place, address);
		machine_hart_pause(side.harts[hart]);
		take_statistics(after);
		for (unsigned k = 0; k < COLUMNS; k++)
			done[hart][place][k] += after[k] - before[k];
		memcpy(before, after, sizeof(before));
	}
	machine_drain(emul_machine(side.emul));
	for (unsigned hart = 0; hart < HARTS; hart++)
		for (unsigned place = 0; place < PLACES; place++)
			for (unsigned k = LOOKUPS; k <= TRACKER_CYCLES; k++)
				assert_int_equal(counted_at(hart, place, (enum column)k),
						 done[hart][place][k]);
	assert_true(done[3][7][VICTIMS] && done[3][7][HOME_WRITES] && done[1][2][LOOKUPS]);
}

static void test_each_access(void **unused)
{
	(void)unused;
	check_each_access(0);
}

/* A prefetch is of the access that triggers it. */
static void test_prefetches(void **unused)
{
	struct machine_statistics stats;

	(void)unused;
	check_each_access(UINT32_MAX);
	machine_statistics(emul_machine(side.emul), &stats);
	assert_true(stats.l2_prefetches > 0);
}

/* As many as that have no room are counted together. */
static void test_more_places_than_room(void **unused)
{
	struct attribution *view = emul_attribution(side.emul);
	const unsigned room = 1u << 20;

	(void)unused;
	for (uint64_t place = 0; place < room + 100; place++) {
		view->cause = attribution_cause(view, 1, place);
		attribution_add(view, LOOKUPS, 1);
	}
	view->cause = 0;
	assert_int_equal(attribution_entries(view->table), room);
	assert_int_equal(attribution_entry(view->table, ATTRIBUTION_REST)->counts[LOOKUPS],
			 100 + ATTRIBUTION_FIRST);
	assert_int_equal(counted(LOOKUPS), room + 100);
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, open_side, close_side)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    EACH(test_cold_lines),
	    EACH(test_writes_are_of_who_wrote),
	    EACH(test_buffers_are_of_who_wrote),
	    EACH(test_fetches),
	    EACH(test_blocks),
	    EACH(test_each_access),
	    EACH(test_prefetches),
	    EACH(test_more_places_than_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
