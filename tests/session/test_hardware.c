/*
 * The same session over the machine's device files, in the place of the computer's, and in process:
 * the same counts to the last one, and no rule of the manual broken. Skipped without root and
 * /dev/fuse.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bus/emulated.h"
#include "bus/hardware.h"
#include "device/server.h"
#include "machine/access.h"
#include "pmulab/session.h"
#include "support/cmocka.h"
#include "support/prefetchers.h"
#include "support/untranslated.h"

#define MACHINE	   "xeon-e5-2699v4-2s"
#define LINE_BYTES 64
#define LINES	   20000
#define BASE	   0x10000000u /* virtual, of the lines that are touched */
#define COUNTS_MAX 1024
#define SKIPPED	   77

static const char *const events[] = {
    "cbo.LLC_LOOKUP.DATA_READ:state=any",
    "cbo.TOR_INSERTS.MISS_OPCODE:opc=DRd",
    "cbo.TOR_OCCUPANCY.MISS_OPCODE:opc=DRd",
    "ha.REQUESTS.READS",
    "ha.CLOCKTICKS",
    "imc.CAS_COUNT.RD",
    "imc.clock",
    "ubox.clock",
    "sbo.CLOCKTICKS",
    "core.INST_RETIRED.ANY",
};
#define EVENTS (sizeof(events) / sizeof(events[0]))

struct counts {
	struct pmu_count counts[COUNTS_MAX];
	size_t count;
};

static void violated(void *arg, const struct pmon_violation *violation)
{
	++*(unsigned *)arg;
	print_error("%s = 0x%llX: %s (%s)\n", violation->reg, (unsigned long long)violation->value,
		    violation->rule, violation->source);
}

/* Loads every second line once. */
static void load_lines(struct machine *machine, unsigned core_number, unsigned first)
{
	const struct machine_insn insn = {0};
	struct machine_address_space *space;
	struct machine_block block;
	struct machine_hart *core;

	assert_int_equal(machine_address_space_new(&space, machine), 0);
	core = machine_hart_enter(machine, space, core_number);
	machine_block_init(machine, &block, 0x400000, 16, 4, 1, 0);
	for (unsigned i = first; i < LINES; i += 2) {
		machine_run(core, &block);
		machine_load(core, BASE + i * LINE_BYTES, 8, &insn);
	}
	machine_hart_leave(core);
	machine_address_space_free(space);
}

static void measure(struct pmu_ctx *ctx, struct pmu_bus *bus, struct emul *emul, struct counts *out)
{
	struct machine *machine = emul_machine(emul);
	const struct pmu_count *counts;
	struct pmu_session *session;

	if (pmu_session_new(&session, ctx, bus))
		fail_msg("%s", pmu_message(ctx));
	for (size_t i = 0; i < EVENTS; i++) {
		struct pmu_selection selection;

		assert_int_equal(pmu_event_parse(ctx, pmu_bus_pmu(bus), events[i], &selection), 0);
		if (pmu_session_add(session, ctx, &selection) != (int)i)
			fail_msg("%s", pmu_message(ctx));
	}
	switch_prefetchers_off(machine);
	if (pmu_session_start(session, ctx))
		fail_msg("%s", pmu_message(ctx));
	load_lines(machine, 0, 0);
	load_lines(machine, emul_desc(emul)->cores, 1); /* of the other socket */
	machine_drain(machine);
	if (pmu_session_stop(session, ctx) || pmu_session_read(session, ctx, &counts, &out->count))
		fail_msg("%s", pmu_message(ctx));
	assert_in_range(out->count, EVENTS, COUNTS_MAX);
	memcpy(out->counts, counts, out->count * sizeof(*counts));
	assert_int_equal(pmu_session_end(session, ctx), 0);
	pmu_session_free(session);
}

static uint64_t total(const struct counts *counts, unsigned event)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < counts->count; i++)
		if (counts->counts[i].event == event)
			sum += counts->counts[i].count;
	return sum;
}

static void measure_in_process(struct pmu_ctx *ctx, struct counts *counts)
{
	struct pmu_bus *bus;

	assert_int_equal(pmu_bus_emulated(&bus, ctx, untranslated(MACHINE)), 0);
	measure(ctx, bus, bus_emulated_emul(bus), counts);
	pmu_bus_free(bus);
}

/* In the process that serves the files, where they were found. */
static int tell_violations(void *arg, int result)
{
	const unsigned *count = arg;

	return result + (int)*count;
}

static void measure_through_files(struct pmu_ctx *ctx, struct counts *counts)
{
	unsigned violations = 0;
	const struct device_options options = {
	    .machine = untranslated(MACHINE),
	    .violated = violated,
	    .finished = tell_violations,
	    .arg = &violations,
	};
	struct device_server *server;
	struct pmu_bus *bus;
	int reported;

	if (device_server_new(&server, ctx, &options))
		fail_msg("%s", pmu_message(ctx));
	if (pmu_bus_host(&bus, ctx, NULL))
		fail_msg("%s", pmu_message(ctx));
	assert_int_equal(pmu_bus_sockets(bus), 2);
	assert_non_null(bus_hardware_host(bus));
	measure(ctx, bus, device_server_emul(server), counts);
	pmu_bus_free(bus);
	if (device_server_finish(server, ctx, 0, &reported))
		fail_msg("%s", pmu_message(ctx));
	assert_int_equal(reported, 0);
	device_server_free(server);
}

static void test_same_counts(void **state)
{
	static struct counts inside, through;
	struct pmu_ctx *ctx;

	(void)state;
	assert_int_equal(pmu_ctx_new(&ctx), 0);
	measure_in_process(ctx, &inside);
	measure_through_files(ctx, &through);
	assert_int_equal(through.count, inside.count);
	for (size_t i = 0; i < inside.count; i++) {
		assert_int_equal(through.counts[i].event, inside.counts[i].event);
		assert_int_equal(through.counts[i].socket, inside.counts[i].socket);
		assert_int_equal(through.counts[i].instance, inside.counts[i].instance);
		assert_int_equal(through.counts[i].count, inside.counts[i].count);
	}
	/* Each line once: one DRd, one read at home; the loop is a line of code in two spaces. */
	assert_int_equal(total(&through, 1), LINES);
	assert_int_equal(total(&through, 3), LINES + 2);
	pmu_ctx_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_counts)};

	if (geteuid() != 0 || access("/dev/fuse", R_OK | W_OK) ||
	    system("unshare --mount true 2>/dev/null")) {
		puts("skipped: needs root, /dev/fuse and mount namespaces");
		return SKIPPED;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
