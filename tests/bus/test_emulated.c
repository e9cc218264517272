/* The bus to an emulated machine: it answers as the machine is, and only where something is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bus/bus.h"
#include "bus/emulated.h"

struct bench {
	struct pmu_ctx *ctx;
	struct pmu_bus *bus;
};

static int setup(void **fixture)
{
	static struct bench bench;

	*fixture = &bench;
	assert_int_equal(pmu_ctx_new(&bench.ctx), 0);
	return pmu_bus_emulated(&bench.bus, bench.ctx, pmu_find_machine("xeon-e5v4-4c"));
}

static int teardown(void **fixture)
{
	struct bench *bench = *fixture;

	pmu_bus_free(bench->bus);
	pmu_ctx_free(bench->ctx);
	return 0;
}

static int read_op(struct bench *bench, enum pmu_space space, uint32_t address, uint8_t width,
		   uint64_t *value)
{
	struct pmu_access_op op = {0, 0, space, width, address, 0, "X"};
	int error = pmu_bus_read(bench->bus, bench->ctx, &op);

	*value = op.value;
	return error;
}

/* The machine has four slices, one home agent and its four channels. */
static void test_identity(void **fixture)
{
	struct bench *bench = *fixture;
	uint64_t value;

	assert_int_equal(read_op(bench, PMU_SPACE_PCI, 0xF3098, 32, &value), 0);
	assert_int_equal(value, 0xF);
	assert_int_equal(read_op(bench, PMU_SPACE_PCI, 0x91000, 32, &value), 0);
	assert_int_equal(value, 0x6F308086);
	assert_int_equal(read_op(bench, PMU_SPACE_PCI, 0x95000, 32, &value), PMU_E_UNKNOWN);
	assert_non_null(strstr(pmu_message(bench->ctx), "ha1"));
	assert_int_equal(pmu_bus_sockets(bench->bus), 1);
	assert_true(pmu_bus_is_emulated(bench->bus));
	assert_non_null(bus_emulated_emul(bench->bus));
}

static void test_registers_keep_what_is_written(void **fixture)
{
	struct bench *bench = *fixture;
	struct pmu_access_op op = {0, 0, PMU_SPACE_MSR, 32, 0xE01, 0x137, "C0_MSR_PMON_CTL0"};
	uint64_t value;

	assert_int_equal(pmu_bus_write(bench->bus, bench->ctx, &op), 0);
	assert_int_equal(read_op(bench, PMU_SPACE_MSR, 0xE01, 32, &value), 0);
	assert_int_equal(value, 0x137);
	/* CBo 4 is not there. */
	op.address = 0xE41;
	assert_int_equal(pmu_bus_write(bench->bus, bench->ctx, &op), PMU_E_UNKNOWN);
}

/* Table 2-61: counters of PCI boxes are two dwords. */
static void test_halves(void **fixture)
{
	struct bench *bench = *fixture;
	struct pmu_access_op op = {0, 0, PMU_SPACE_PCI, 64, 0x910A0, 0x123456789ABC, "HA0_CTR0"};
	uint64_t value;

	assert_int_equal(pmu_bus_write(bench->bus, bench->ctx, &op), 0);
	assert_int_equal(read_op(bench, PMU_SPACE_PCI, 0x910A0, 64, &value), 0);
	assert_int_equal(value, 0x123456789ABC);
	assert_int_equal(read_op(bench, PMU_SPACE_PCI, 0x910A0, 32, &value), 0);
	assert_int_equal(value, 0x56789ABC);
	assert_int_equal(read_op(bench, PMU_SPACE_PCI, 0x910A4, 32, &value), 0);
	assert_int_equal(value, 0x1234);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_identity),
	    cmocka_unit_test(test_registers_keep_what_is_written),
	    cmocka_unit_test(test_halves),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
