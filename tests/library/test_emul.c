/* Machines by the public API: made, joined, driven by hand, measured. */
#include <pmulab/emul.h>
#include <pmulab/session.h>

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"

#define BASE  0x10000000u
#define LINE  64
#define LINES 1000

static struct pmu_hart *new_hart(struct fixture *fixture, struct pmu_hart *sharer)
{
	const struct pmu_hart_options options = {.size = sizeof(options), .sharer = sharer};
	struct pmu_hart *hart;

	assert_int_equal(pmu_hart_new(&hart, fixture->ctx, fixture->emul, &options), 0);
	return hart;
}

/* Loads so many lines, each of four instructions, once. */
static void load_lines(struct pmu_hart *hart, unsigned lines)
{
	const struct pmu_code code = {
	    .address = 0x400000, .bytes = 16, .instructions = 4, .loads = 1, .branches = 1};

	for (unsigned i = 0; i < lines; i++) {
		assert_int_equal(pmu_hart_execute(hart, &code), 0);
		assert_int_equal(pmu_hart_load(hart, BASE + i * LINE, 8, NULL), 0);
	}
}

static void test_statistics(void **state)
{
	struct fixture *fixture = *state;
	struct pmu_hart *hart = new_hart(fixture, NULL);
	struct pmu_emul_statistics found;

	load_lines(hart, LINES);
	assert_int_equal(pmu_hart_instructions(hart), 4 * LINES);
	assert_true(pmu_hart_time_ns(hart) > 0);
	pmu_hart_free(hart);
	pmu_emul_drain(fixture->emul);
	found = statistics_of(fixture);
	assert_int_equal(found.instructions, 4 * LINES);
	assert_int_equal(found.branches, LINES);
	assert_int_equal(found.loads, LINES);
	assert_int_equal(found.l1d_misses, LINES);
	/* And the line of code. */
	assert_int_equal(found.dram_reads, LINES + 1);
	assert_int_equal(found.dram_writes, 0);
}

static void test_kinds_of_access(void **state)
{
	struct fixture *fixture = *state;
	struct pmu_hart *hart = new_hart(fixture, NULL);
	struct pmu_emul_statistics found;

	assert_int_equal(pmu_hart_store(hart, BASE, 8, NULL), 0);
	assert_int_equal(pmu_hart_locked(hart, BASE + 8, 8, NULL), 0);
	for (unsigned i = 0; i < LINE; i += 8)
		assert_int_equal(pmu_hart_store_non_temporal(hart, 2 * BASE + i, 8), 0);
	/* Across a line's end: two accesses. */
	assert_int_equal(pmu_hart_load(hart, BASE + LINE - 4, 8, NULL), 0);
	pmu_hart_free(hart);
	pmu_emul_drain(fixture->emul);
	found = statistics_of(fixture);
	assert_int_equal(found.stores, 1);
	assert_int_equal(found.locked, 1);
	assert_int_equal(found.loads, 2);
	assert_int_equal(found.write_combined_lines, 1);
}

/* The same chain of misses takes longer where each waits for the one before. */
static void test_dependence(void **state)
{
	const struct pmu_dependence chain = {.address_registers = 1, .loaded_registers = 1};
	struct fixture *fixture = *state;
	double took[2];

	for (unsigned depends = 0; depends < 2; depends++) {
		struct pmu_hart *hart = new_hart(fixture, NULL);
		double start = pmu_hart_time_ns(hart);

		for (unsigned i = 0; i < 64; i++)
			assert_int_equal(
			    pmu_hart_load(hart, BASE + i * 4096, 8, depends ? &chain : NULL), 0);
		pmu_hart_pause(hart);
		took[depends] = pmu_hart_time_ns(hart) - start;
		pmu_hart_free(hart);
	}
	assert_true(took[1] > 3 * took[0]);
}

/* What one hart has loaded the other finds, if it is in the same address space. */
static void test_address_spaces(void **state)
{
	struct fixture *fixture = *state;
	struct pmu_hart *first = new_hart(fixture, NULL), *same, *other;
	uint64_t reads;

	load_lines(first, LINES);
	pmu_hart_pause(first);
	same = new_hart(fixture, first);
	pmu_hart_free(first);
	reads = statistics_of(fixture).dram_reads;
	load_lines(same, LINES);
	pmu_hart_pause(same);
	assert_int_equal(statistics_of(fixture).dram_reads, reads);
	other = new_hart(fixture, NULL);
	load_lines(other, LINES);
	pmu_hart_free(other);
	pmu_hart_free(same);
	assert_int_equal(statistics_of(fixture).dram_reads, reads + LINES + 1);
}

static void test_ranges(void **state)
{
	struct fixture *fixture = *state;
	struct pmu_hart *hart = new_hart(fixture, NULL);
	struct pmu_code code = {.address = 0x400000, .bytes = 16, .instructions = 4};

	assert_int_equal(pmu_hart_load(hart, BASE, 0, NULL), PMU_E_RANGE);
	assert_int_equal(pmu_hart_load(hart, BASE, 65, NULL), PMU_E_RANGE);
	assert_int_equal(pmu_hart_store(hart, UINT64_C(1) << 47, 1, NULL), PMU_E_RANGE);
	assert_int_equal(pmu_hart_locked(hart, UINT64_MAX, 8, NULL), PMU_E_RANGE);
	assert_int_equal(pmu_hart_store_non_temporal(hart, (UINT64_C(1) << 47) - 4, 8),
			 PMU_E_RANGE);
	code.loads = 5;
	assert_int_equal(pmu_hart_execute(hart, &code), PMU_E_RANGE);
	code = (struct pmu_code){.address = 0x400000, .bytes = 16};
	assert_int_equal(pmu_hart_execute(hart, &code), PMU_E_RANGE);
	pmu_hart_free(hart);
	assert_int_equal(statistics_of(fixture).instructions, 0);
}

/* A caller that was compiled with fewer members, and one with more than there are. */
static void test_sizes(void **state)
{
	struct fixture *fixture = *state;
	struct pmu_hart *hart = new_hart(fixture, NULL);
	struct {
		struct pmu_emul_statistics known;
		uint64_t unknown;
	} large = {.known.size = sizeof(large), .unknown = 1};
	struct pmu_emul_statistics small = {.size = offsetof(struct pmu_emul_statistics, cycles),
					    .cycles = 77};
	struct {
		struct pmu_hart_options known;
		uint64_t unknown;
	} options = {.known.size = sizeof(options), .unknown = 1};

	load_lines(hart, 1);
	pmu_hart_free(hart);
	assert_int_equal(pmu_emul_statistics(fixture->emul, &small), 0);
	assert_int_equal(small.instructions, 4);
	assert_int_equal(small.cycles, 77);
	assert_int_equal(pmu_emul_statistics(fixture->emul, &large.known), 0);
	assert_int_equal(large.known.instructions, 4);
	assert_int_equal(large.unknown, 0);
	small.size = 0;
	assert_int_equal(pmu_emul_statistics(fixture->emul, &small), PMU_E_RANGE);
	assert_int_equal(pmu_hart_new(&hart, fixture->ctx, fixture->emul, &options.known),
			 PMU_E_UNSUPPORTED);
	options.known.size = 0;
	assert_int_equal(pmu_hart_new(&hart, fixture->ctx, fixture->emul, &options.known),
			 PMU_E_RANGE);
}

static void test_time(void **state)
{
	struct fixture *fixture = *state;
	double before = pmu_emul_time_ns(fixture->emul), passed;

	pmu_emul_pass(fixture->emul, 1000000);
	passed = pmu_emul_time_ns(fixture->emul) - before;
	assert_true(passed > 999999 && passed < 1000001);
}

/* Counts what it is asked to over a bus of its own. */
static uint64_t count(struct pmu_ctx *ctx, struct pmu_emul *emul, const char *event, unsigned lines)
{
	struct pmu_selection selection;
	struct pmu_session *session;
	const struct pmu_count *counts;
	struct pmu_hart *hart;
	struct pmu_bus *bus;
	uint64_t total = 0;
	size_t rows;

	if (pmu_emul_bus(&bus, ctx, emul) || pmu_event_parse(ctx, NULL, event, &selection) ||
	    pmu_session_new(&session, ctx, bus) || pmu_session_add(session, ctx, &selection) < 0 ||
	    pmu_session_start(session, ctx) || pmu_hart_new(&hart, ctx, emul, NULL))
		return UINT64_MAX;
	load_lines(hart, lines);
	pmu_hart_free(hart);
	pmu_emul_drain(emul);
	if (pmu_session_stop(session, ctx) || pmu_session_read(session, ctx, &counts, &rows))
		return UINT64_MAX;
	for (size_t i = 0; i < rows; i++)
		total += counts[i].count;
	pmu_session_free(session);
	pmu_bus_free(bus);
	return total;
}

static void test_bus(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(count(fixture->ctx, fixture->emul, "xeon-e5v4/imc.CAS_COUNT.RD", LINES),
			 LINES + 1);
	/* The machine is still there when the bus is gone: its line of code is in the LLC. */
	assert_int_equal(statistics_of(fixture).dram_reads, LINES + 1);
}

static int add(struct fixture *fixture, struct pmu_session *session, const char *event)
{
	struct pmu_selection selection;

	if (pmu_event_parse(fixture->ctx, NULL, event, &selection))
		fail_msg("%s", pmu_message(fixture->ctx));
	return pmu_session_add(session, fixture->ctx, &selection);
}

/* Which counter, for how long, and whether at all. */
static void test_counts(void **state)
{
	struct fixture *fixture = *state;
	const struct pmu_count *counts;
	struct pmu_session *session;
	struct pmu_bus *bus;
	double started, took;
	size_t rows;

	assert_int_equal(pmu_emul_bus(&bus, fixture->ctx, fixture->emul), 0);
	assert_int_equal(pmu_session_new(&session, fixture->ctx, bus), 0);
	/* TOR_OCCUPANCY can be counted on counter 0 alone (334291-001 §2.3.4). */
	assert_int_equal(add(fixture, session, "xeon-e5v4/cbo0.TOR_INSERTS.ALL"), 0);
	assert_int_equal(add(fixture, session, "xeon-e5v4/cbo0.TOR_OCCUPANCY.ALL"), 1);
	assert_int_equal(add(fixture, session, "xeon-e5v4/pcu.FREQ_TRANS_CYCLES"), 2);
	assert_int_equal(pmu_session_start(session, fixture->ctx), 0);
	started = pmu_emul_time_ns(fixture->emul);
	pmu_emul_pass(fixture->emul, 50000);
	assert_int_equal(pmu_session_stop(session, fixture->ctx), 0);
	took = pmu_emul_time_ns(fixture->emul) - started;
	pmu_emul_pass(fixture->emul, 70000);
	assert_int_equal(pmu_session_read(session, fixture->ctx, &counts, &rows), 0);
	assert_int_equal(rows, 3);
	assert_true(took > 49999);
	for (size_t i = 0; i < rows; i++) {
		assert_int_equal(counts[i].valid, counts[i].event < 2);
		if (counts[i].event == 1)
			assert_int_equal(counts[i].counter, 0);
		if (counts[i].event == 0)
			assert_in_range(counts[i].counter, 1, 3);
		assert_in_range(counts[i].enabled_ns, (uint64_t)took - 1, (uint64_t)took + 1);
		assert_int_equal(counts[i].running_ns, counts[i].enabled_ns);
	}
	pmu_session_free(session);
	pmu_bus_free(bus);
}

static void write_bits(struct fixture *fixture, struct pmu_bus *bus, uint8_t width,
		       uint32_t address, uint64_t value)
{
	const struct pmu_access_op op = {.space = PMU_SPACE_MSR,
					 .width = width,
					 .address = address,
					 .value = value,
					 .reg = "register"};

	if (pmu_bus_write(bus, fixture->ctx, &op))
		fail_msg("%s", pmu_message(fixture->ctx));
}

static void write_msr(struct fixture *fixture, struct pmu_bus *bus, uint32_t address,
		      uint64_t value)
{
	write_bits(fixture, bus, 64, address, value);
}

static void write_narrow(struct fixture *fixture, struct pmu_bus *bus, uint32_t address,
			 uint64_t value)
{
	write_bits(fixture, bus, 32, address, value);
}

/*
 * The UBox's own counter overflows and freezes all (334291-001 §2.1.1.1): what counted until then
 * has no count, and ran up to the last read before.
 */
static void test_counts_that_others_froze(void **state)
{
	struct fixture *fixture = *state;
	const struct pmu_count *counts;
	struct pmu_session *session;
	struct pmu_bus *bus;
	size_t rows;

	assert_int_equal(pmu_emul_bus(&bus, fixture->ctx, fixture->emul), 0);
	assert_int_equal(pmu_session_new(&session, fixture->ctx, bus), 0);
	assert_int_equal(add(fixture, session, "xeon-e5v4/cbo0.CLOCKTICKS"), 0);
	assert_int_equal(pmu_session_start(session, fixture->ctx), 0);
	pmu_emul_pass(fixture->emul, 50000);
	assert_int_equal(pmu_session_read(session, fixture->ctx, &counts, &rows), 0);
	assert_true(counts[0].valid);
	assert_int_equal(counts[0].running_ns, counts[0].enabled_ns);
	write_msr(fixture, bus, 0x704, (UINT64_C(1) << 48) - 1000);
	write_narrow(fixture, bus, 0x703, 1u << 22 | 1u << 20);
	pmu_emul_pass(fixture->emul, 70000);
	assert_int_equal(pmu_session_read(session, fixture->ctx, &counts, &rows), PMU_E_CONFLICT);
	assert_int_equal(rows, 1);
	assert_false(counts[0].valid);
	assert_in_range(counts[0].running_ns, 49999, 50001);
	assert_in_range(counts[0].enabled_ns, 119999, 120001);
	write_narrow(fixture, bus, 0x703, 0);
	pmu_session_free(session);
	pmu_bus_free(bus);
}

/* They leave no line: the trace is its header. */
static void interrupts_through_a_trace(struct fixture *fixture, struct pmu_bus *bus)
{
	FILE *file = tmpfile();
	struct pmu_bus *trace;
	uint64_t count = 7;
	long header;

	assert_int_equal(pmu_bus_register_trace(&trace, fixture->ctx, bus, file), 0);
	header = ftell(file);
	assert_int_equal(pmu_bus_interrupts(trace, fixture->ctx, 0, 0, &count), 0);
	assert_int_equal(count, 1);
	assert_int_equal(pmu_bus_interrupt_wait(trace, fixture->ctx, 0, 0, 0, 0, &count), 0);
	assert_int_equal(count, 1);
	assert_int_equal(pmu_bus_interrupts(trace, fixture->ctx, 0, 4, &count), PMU_E_RANGE);
	assert_int_equal(ftell(file), header);
	pmu_bus_free(trace);
	fclose(file);
}

/* A counter 10 below its end, of instructions (0xC0) in all modes, with interrupt. */
static void test_interrupts(void **state)
{
	const struct pmu_code code = {.address = 0x400000, .bytes = 20, .instructions = 5};
	struct fixture *fixture = *state;
	struct pmu_hart *hart = new_hart(fixture, NULL);
	struct pmu_bus *bus, *dry;
	uint64_t count;

	assert_int_equal(pmu_emul_bus(&bus, fixture->ctx, fixture->emul), 0);
	write_msr(fixture, bus, 0x38F, 0);
	write_msr(fixture, bus, 0x186, 0x5300C0);
	write_msr(fixture, bus, 0x4C1, (UINT64_C(1) << 48) - 10);
	write_msr(fixture, bus, 0x38F, 1);
	for (unsigned blocks = 1; blocks <= 3; blocks++) {
		pmu_hart_execute(hart, &code);
		pmu_hart_pause(hart);
		assert_int_equal(pmu_bus_interrupts(bus, fixture->ctx, 0, 0, &count), 0);
		assert_int_equal(count, blocks >= 2);
	}
	assert_int_equal(pmu_bus_interrupts(bus, fixture->ctx, 0, 1, &count), 0);
	assert_int_equal(count, 0);
	assert_int_equal(pmu_bus_interrupts(bus, fixture->ctx, 0, 4, &count), PMU_E_RANGE);
	assert_int_equal(pmu_bus_dry_run_on(&dry, fixture->ctx, bus, NULL, NULL), 0);
	assert_int_equal(pmu_bus_interrupts(dry, fixture->ctx, 0, 0, &count), PMU_E_UNSUPPORTED);
	interrupts_through_a_trace(fixture, bus);
	pmu_bus_free(dry);
	pmu_hart_free(hart);
	pmu_bus_free(bus);
}

/* In another process. @return 0, or what went wrong */
static int work_elsewhere(const char *name)
{
	struct pmu_emul *emul;
	struct pmu_ctx *ctx;
	uint64_t found;

	if (pmu_ctx_new(&ctx) || pmu_emul_attach(&emul, ctx, name))
		return 1;
	if (strcmp(pmu_machine_name(pmu_emul_machine(emul)), "untranslated"))
		return 2;
	if (pmu_emul_offer(emul, ctx, "another") != PMU_E_STATE)
		return 3;
	found = count(ctx, emul, "xeon-e5v4/imc.CAS_COUNT.RD", LINES);
	pmu_emul_free(emul);
	pmu_ctx_free(ctx);
	return found == LINES + 1 ? 0 : 4;
}

static void test_attach(void **state)
{
	struct fixture *fixture = *state;
	struct pmu_emul *nothing;
	char name[32];
	int status = -1;
	pid_t pid;

	snprintf(name, sizeof(name), "test-%d", (int)getpid());
	assert_int_equal(pmu_emul_attach(&nothing, fixture->ctx, name), PMU_E_UNKNOWN);
	assert_int_equal(pmu_emul_offer(fixture->emul, fixture->ctx, "a b"), PMU_E_RANGE);
	assert_int_equal(pmu_emul_offer(fixture->emul, fixture->ctx, name), 0);
	assert_int_equal(pmu_emul_offer(fixture->emul, fixture->ctx, name), PMU_E_STATE);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		_exit(work_elsewhere(name));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(statistics_of(fixture).dram_reads, LINES + 1);
}

/* Of 32 pages of lines in order: what demand misses, and what is read of memory. */
static void read_pages(struct fixture *fixture, uint64_t *misses, uint64_t *reads)
{
	const struct pmu_emul_statistics before = statistics_of(fixture);
	struct pmu_hart *hart = new_hart(fixture, NULL);

	load_lines(hart, 32 * 64);
	pmu_hart_free(hart);
	pmu_emul_drain(fixture->emul);
	*misses = statistics_of(fixture).l2_misses - before.l2_misses;
	*reads = statistics_of(fixture).dram_reads - before.dram_reads;
}

/* By name for all cores, by register for one; each hart has pages of its own. */
static void test_prefetchers(void **state)
{
	struct fixture *fixture = *state;
	struct pmu_access_op op = {0, 0, PMU_SPACE_MSR, 64, 0x1A4, 0, "MSR_MISC_FEATURE_CONTROL"};
	struct pmu_bus *bus;
	uint64_t misses, reads;

	assert_int_equal(pmu_emul_bus(&bus, fixture->ctx, fixture->emul), 0);
	assert_int_equal(pmu_emul_set_prefetchers(fixture->emul, fixture->ctx, "none"), 0);
	assert_int_equal(pmu_bus_read(bus, fixture->ctx, &op), 0);
	assert_int_equal(op.value, 0xF);
	read_pages(fixture, &misses, &reads);
	assert_int_equal(misses, 32 * 64 + 1);
	assert_int_equal(reads, 32 * 64 + 1);
	assert_int_equal(pmu_emul_set_prefetchers(fixture->emul, fixture->ctx, "streamer"), 0);
	assert_int_equal(pmu_bus_read(bus, fixture->ctx, &op), 0);
	assert_int_equal(op.value, 0xE);
	read_pages(fixture, &misses, &reads);
	/* Three lines of each page make the stream. */
	assert_true(misses < 32 * 8);
	assert_true(reads >= 32 * 64 && reads <= 32 * 64 + 2);
	op.value = 0xF;
	assert_int_equal(pmu_bus_write(bus, fixture->ctx, &op), 0);
	read_pages(fixture, &misses, &reads);
	assert_int_equal(misses, 32 * 64 + 1);
	assert_int_equal(
	    pmu_emul_set_prefetchers(fixture->emul, fixture->ctx, "stride,next-line,adjacent"), 0);
	assert_int_equal(pmu_bus_read(bus, fixture->ctx, &op), 0);
	assert_int_equal(op.value, 0x1);
	assert_int_equal(pmu_emul_set_prefetchers(fixture->emul, fixture->ctx, "all"), 0);
	assert_int_equal(pmu_bus_read(bus, fixture->ctx, &op), 0);
	assert_int_equal(op.value, 0);
	for (size_t i = 0; i < 6; i++) {
		static const char *const wrong[] = {"",	       "stream",   "streamer,",
						    ",stride", "all,none", "next"};

		assert_int_equal(pmu_emul_set_prefetchers(fixture->emul, fixture->ctx, wrong[i]),
				 PMU_E_RANGE);
		assert_non_null(strstr(pmu_message(fixture->ctx), "valid: all, none"));
	}
	pmu_bus_free(bus);
}

static void test_words(void **state)
{
	char text[32];

	(void)state;
	snprintf(text, sizeof(text), "%d.%d.%d", PMU_VERSION_MAJOR, PMU_VERSION_MINOR,
		 PMU_VERSION_PATCH);
	assert_string_equal(pmu_version(), text);
	for (int error = PMU_E_BUSY; error <= 0; error++) {
		assert_string_not_equal(pmu_strerror(error), pmu_strerror(1));
		for (int other = PMU_E_BUSY; other < error; other++)
			assert_string_not_equal(pmu_strerror(error), pmu_strerror(other));
	}
	assert_string_equal(pmu_strerror(-1000), pmu_strerror(1));
}

#define MACHINE_TEST(f) cmocka_unit_test_setup_teardown(f, fixture_up, fixture_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    MACHINE_TEST(test_statistics),  MACHINE_TEST(test_kinds_of_access),
	    MACHINE_TEST(test_dependence),  MACHINE_TEST(test_address_spaces),
	    MACHINE_TEST(test_ranges),	    MACHINE_TEST(test_sizes),
	    MACHINE_TEST(test_time),	    MACHINE_TEST(test_bus),
	    MACHINE_TEST(test_counts),	    MACHINE_TEST(test_counts_that_others_froze),
	    MACHINE_TEST(test_interrupts),  MACHINE_TEST(test_attach),
	    MACHINE_TEST(test_prefetchers), cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
