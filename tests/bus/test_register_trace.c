/* Recorded traffic: written, read back, and held against what is done. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus/register_trace.h"
#include "support/cmocka.h"

static const char recorded[] = "pmulab-register-trace 2 xeon-e5v4 sockets=2 emulated=0\n"
			       "write 1 0 msr 0xe00 32 0x30100 0 C0_BOX_CTL\n"
			       "read 0 0 pci 0x910a0 64 0x2a 0 HA0_CTR0\n"
			       "read 0 0 pci 0x95000 32 0x0 -3 HA1_ID\n";

static const struct pmu_access_op freeze = {1, 0, PMU_SPACE_MSR, 32, 0xE00, 0x30100, "C0_BOX_CTL"};
static const struct pmu_access_op counter = {0, 0, PMU_SPACE_PCI, 64, 0x910A0, 0, "HA0_CTR0"};
static const struct pmu_access_op absent = {0, 0, PMU_SPACE_PCI, 32, 0x95000, 0, "HA1_ID"};

struct fixture {
	struct pmu_ctx *ctx;
	struct pmu_bus *bus;
	FILE *file;
};

static void replay(struct fixture *fixture, const char *text)
{
	assert_int_equal(pmu_ctx_new(&fixture->ctx), 0);
	fixture->file = fmemopen((void *)text, strlen(text), "r");
	assert_non_null(fixture->file);
	assert_int_equal(pmu_bus_replaying(&fixture->bus, fixture->ctx, fixture->file), 0);
}

static void fixture_down(struct fixture *fixture)
{
	pmu_bus_free(fixture->bus);
	fclose(fixture->file);
	pmu_ctx_free(fixture->ctx);
}

static void test_replays(void **state)
{
	struct pmu_access_op read = counter, failing = absent;
	struct fixture fixture;

	(void)state;
	replay(&fixture, recorded);
	assert_int_equal(pmu_bus_sockets(fixture.bus), 2);
	assert_int_equal(pmu_bus_write(fixture.bus, fixture.ctx, &freeze), 0);
	assert_int_equal(pmu_bus_read(fixture.bus, fixture.ctx, &read), 0);
	assert_int_equal(read.value, 42);
	assert_int_equal(pmu_bus_read(fixture.bus, fixture.ctx, &failing), PMU_E_UNKNOWN);
	/* Nothing is left. */
	assert_int_equal(pmu_bus_read(fixture.bus, fixture.ctx, &read), PMU_E_IO);
	fixture_down(&fixture);
}

static void refuse_write(const struct pmu_access_op *op)
{
	struct fixture fixture;

	replay(&fixture, recorded);
	assert_int_equal(pmu_bus_write(fixture.bus, fixture.ctx, op), PMU_E_IO);
	assert_non_null(strstr(pmu_message(fixture.ctx), "line 2"));
	fixture_down(&fixture);
}

static void test_deviations(void **state)
{
	struct pmu_access_op op = freeze;
	struct fixture fixture;

	(void)state;
	op.value = 0x30000;
	refuse_write(&op);
	op = freeze;
	op.socket = 0;
	refuse_write(&op);
	op = freeze;
	op.core = 1;
	refuse_write(&op);
	op = freeze;
	op.address = 0xE10;
	refuse_write(&op);

	op = freeze;
	replay(&fixture, recorded);
	assert_int_equal(pmu_bus_read(fixture.bus, fixture.ctx, &op), PMU_E_IO);
	fixture_down(&fixture);
}

/* A recording of a replay is the recording. */
static void test_records(void **state)
{
	struct pmu_access_op read = counter, failing = absent;
	struct pmu_bus *recording;
	struct fixture fixture;
	char *text = NULL;
	size_t size = 0;
	FILE *file;

	(void)state;
	replay(&fixture, recorded);
	file = open_memstream(&text, &size);
	assert_int_equal(pmu_bus_register_trace(&recording, fixture.ctx, fixture.bus, file), 0);
	assert_int_equal(pmu_bus_write(recording, fixture.ctx, &freeze), 0);
	assert_int_equal(pmu_bus_read(recording, fixture.ctx, &read), 0);
	assert_int_equal(read.value, 42);
	assert_int_equal(pmu_bus_read(recording, fixture.ctx, &failing), PMU_E_UNKNOWN);
	pmu_bus_free(recording);
	fclose(file);
	assert_string_equal(text, recorded);
	free(text);
	fixture_down(&fixture);
}

static void refuse_file(const char *text, int expected)
{
	FILE *file = fmemopen((void *)text, strlen(text), "r");
	struct pmu_bus *bus;

	assert_int_equal(pmu_bus_replaying(&bus, NULL, file), expected);
	fclose(file);
}

static void test_other_files(void **state)
{
	struct register_trace_line line;

	(void)state;
	refuse_file("hello\n", PMU_E_SYNTAX);
	refuse_file("pmulab-register-trace 3 xeon-e5v4 sockets=2 emulated=0\n", PMU_E_SYNTAX);
	refuse_file("pmulab-register-trace 2 xeon-e5v4 sockets=0 emulated=0\n", PMU_E_SYNTAX);
	refuse_file("pmulab-register-trace 2 i8086 sockets=2 emulated=0\n", PMU_E_UNKNOWN);
	assert_int_equal(register_trace_get_line("write 0 0 msr 0xe00 32 0x1 0", &line),
			 PMU_E_SYNTAX);
	assert_int_equal(register_trace_get_line("erase 0 0 msr 0xe00 32 0x1 0 A", &line),
			 PMU_E_SYNTAX);
	assert_int_equal(register_trace_get_line("write 0 0 io 0xe00 32 0x1 0 A", &line),
			 PMU_E_SYNTAX);
	assert_int_equal(register_trace_get_line("write 0 0 msr 0xe00 16 0x1 0 A", &line),
			 PMU_E_SYNTAX);
	assert_int_equal(register_trace_get_line("write 0 0 msr 0xe00 32 0x1 0 A", &line), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_replays),
	    cmocka_unit_test(test_deviations),
	    cmocka_unit_test(test_records),
	    cmocka_unit_test(test_other_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
