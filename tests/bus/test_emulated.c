/* The bus to an emulated machine: it answers as the machine is, and only where something is. */
#include <string.h>

#include "bus/bus.h"
#include "bus/emulated.h"
#include "emul/block.h"
#include "machine/access.h"
#include "support/cmocka.h"

#define EN	      (UINT64_C(1) << 22)
#define OV_EN	      (UINT64_C(1) << 20)
#define CAS_WRITES    0x0C04 /* CAS_COUNT.WR */
#define LINES	      16
#define GLOBAL_CTL    0x700
#define FREEZE_ALL    (UINT64_C(1) << 31)
#define UNFREEZE_ALL  (UINT64_C(1) << 29)
#define GLOBAL_STATUS 0x701
/* 334291-001 table 1-3 and 2-112: channels 0 and 1 are 20:0 and 20:1, 2 and 3 are 21:0 and 21:1. */
#define CHANNEL(n)	 ((20u + (n) / 2) << 15 | ((n) % 2) << 12)
#define COUNTER(n)	 (CHANNEL(n) + 0xA0)
#define CONTROL(n)	 (CHANNEL(n) + 0xD8)
#define FIXED_COUNTER(n) (CHANNEL(n) + 0xD0)
#define FIXED_CONTROL(n) (CHANNEL(n) + 0xF0)

struct fixture {
	struct pmu_ctx *ctx;
	struct pmu_bus *bus;
};

static int fixture_up(void **state)
{
	static struct fixture fixture;

	*state = &fixture;
	assert_int_equal(pmu_ctx_new(&fixture.ctx), 0);
	return pmu_bus_emulated(&fixture.bus, fixture.ctx, pmu_find_machine("xeon-e5v4-4c"));
}

static int fixture_down(void **state)
{
	struct fixture *fixture = *state;

	pmu_bus_free(fixture->bus);
	pmu_ctx_free(fixture->ctx);
	return 0;
}

static int read_op(struct fixture *fixture, enum pmu_space space, uint32_t address, uint8_t width,
		   uint64_t *value)
{
	struct pmu_access_op op = {0, 0, space, width, address, 0, "X"};
	int error = pmu_bus_read(fixture->bus, fixture->ctx, &op);

	*value = op.value;
	return error;
}

/* The machine has four slices, one home agent and its four channels. */
static void test_identity(void **state)
{
	struct fixture *fixture = *state;
	uint64_t value;

	assert_int_equal(read_op(fixture, PMU_SPACE_PCI, 0xF3098, 32, &value), 0);
	assert_int_equal(value, 0xF);
	assert_int_equal(read_op(fixture, PMU_SPACE_PCI, 0x91000, 32, &value), 0);
	assert_int_equal(value, 0x6F308086);
	assert_int_equal(read_op(fixture, PMU_SPACE_PCI, 0x95000, 32, &value), PMU_E_UNKNOWN);
	assert_non_null(strstr(pmu_message(fixture->ctx), "ha1"));
	assert_int_equal(pmu_bus_sockets(fixture->bus), 1);
	assert_true(pmu_bus_is_emulated(fixture->bus));
	assert_non_null(bus_emulated_emul(fixture->bus));
}

static void test_registers_keep_what_is_written(void **state)
{
	struct fixture *fixture = *state;
	struct pmu_access_op op = {0, 0, PMU_SPACE_MSR, 32, 0xE01, 0x137, "C0_MSR_PMON_CTL0"};
	uint64_t value;

	assert_int_equal(pmu_bus_write(fixture->bus, fixture->ctx, &op), 0);
	assert_int_equal(read_op(fixture, PMU_SPACE_MSR, 0xE01, 32, &value), 0);
	assert_int_equal(value, 0x137);
	/* CBo 4 is not there. */
	op.address = 0xE41;
	assert_int_equal(pmu_bus_write(fixture->bus, fixture->ctx, &op), PMU_E_UNKNOWN);
}

/* Table 2-61: counters of PCI boxes are two dwords. */
static void test_halves(void **state)
{
	struct fixture *fixture = *state;
	struct pmu_access_op op = {0, 0, PMU_SPACE_PCI, 64, 0x910A0, 0x123456789ABC, "HA0_CTR0"};
	uint64_t value;

	assert_int_equal(pmu_bus_write(fixture->bus, fixture->ctx, &op), 0);
	assert_int_equal(read_op(fixture, PMU_SPACE_PCI, 0x910A0, 64, &value), 0);
	assert_int_equal(value, 0x123456789ABC);
	assert_int_equal(read_op(fixture, PMU_SPACE_PCI, 0x910A0, 32, &value), 0);
	assert_int_equal(value, 0x56789ABC);
	assert_int_equal(read_op(fixture, PMU_SPACE_PCI, 0x910A4, 32, &value), 0);
	assert_int_equal(value, 0x1234);
}

static uint64_t read_whole(struct fixture *fixture, enum pmu_space space, uint32_t address,
			   uint8_t width)
{
	uint64_t value;

	assert_int_equal(read_op(fixture, space, address, width, &value), 0);
	return value;
}

static void write_op(struct fixture *fixture, enum pmu_space space, uint32_t address, uint8_t width,
		     uint64_t value)
{
	struct pmu_access_op op = {0, 0, space, width, address, value, "X"};

	assert_int_equal(pmu_bus_write(fixture->bus, fixture->ctx, &op), 0);
}

/* A thread begins at DRAM cycle @begin, stores @lines whole lines past the caches, and ends. */
static void store_lines(struct fixture *fixture, uint64_t begin, unsigned lines)
{
	struct machine *machine = emul_machine(bus_emulated_emul(fixture->bus));
	struct machine_address_space *space;
	struct machine_hart *hart;

	assert_int_equal(machine_address_space_new(&space, machine), 0);
	hart = machine_hart_enter(machine, space,
				  begin * machine_ticks_per_cycle(machine, PMU_CLOCK_DCLK));
	for (unsigned i = 0; i < lines; i++)
		machine_store_nt(hart, 0x10000 + 64 * i, 64);
	machine_hart_leave(hart);
	machine_address_space_free(space);
}

static void pass_to(struct fixture *fixture, uint64_t cycle)
{
	store_lines(fixture, cycle, 0);
}

static uint64_t sum_of_writes(struct fixture *fixture)
{
	uint64_t sum = 0;

	for (unsigned channel = 0; channel < 4; channel++)
		sum += read_whole(fixture, PMU_SPACE_PCI, COUNTER(channel), 64);
	return sum;
}

/* The write queues empty while nothing comes: nobody asks for it, and before nobody looks. */
static void test_a_freeze_comes_after_what_idle_channels_did(void **state)
{
	struct fixture *fixture = *state;

	for (unsigned channel = 0; channel < 4; channel++)
		write_op(fixture, PMU_SPACE_PCI, CONTROL(channel), 32, EN | CAS_WRITES);
	store_lines(fixture, 1000, LINES);
	pass_to(fixture, 100000);
	write_op(fixture, PMU_SPACE_MSR, GLOBAL_CTL, 32, FREEZE_ALL);
	assert_int_equal(sum_of_writes(fixture), LINES);
	/* Frozen, the same counts nothing. */
	store_lines(fixture, 200000, LINES);
	pass_to(fixture, 300000);
	write_op(fixture, PMU_SPACE_MSR, GLOBAL_CTL, 32, UNFREEZE_ALL);
	pass_to(fixture, 400000);
	assert_int_equal(sum_of_writes(fixture), LINES);
}

/* A write of channel 2 freezes all: the first access afterwards finds that, wherever it goes. */
static void test_an_access_finds_the_overflow_of_another_box(void **state)
{
	struct fixture *fixture = *state;
	uint64_t cycles;

	write_op(fixture, PMU_SPACE_PCI, COUNTER(2), 64, (UINT64_C(1) << 48) - 1);
	write_op(fixture, PMU_SPACE_PCI, CONTROL(2), 32, EN | OV_EN | CAS_WRITES);
	write_op(fixture, PMU_SPACE_PCI, FIXED_CONTROL(3), 32, EN);
	store_lines(fixture, 1000, LINES);
	pass_to(fixture, 100000);
	cycles = read_whole(fixture, PMU_SPACE_PCI, FIXED_COUNTER(3), 64);
	assert_in_range(cycles, 1000, 99999);
	assert_int_not_equal(read_whole(fixture, PMU_SPACE_MSR, GLOBAL_STATUS, 64), 0);
	pass_to(fixture, 200000);
	assert_int_equal(read_whole(fixture, PMU_SPACE_PCI, FIXED_COUNTER(3), 64), cycles);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_identity, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(test_registers_keep_what_is_written, fixture_up,
					    fixture_down),
	    cmocka_unit_test_setup_teardown(test_halves, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(test_a_freeze_comes_after_what_idle_channels_did,
					    fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(test_an_access_finds_the_overflow_of_another_box,
					    fixture_up, fixture_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
