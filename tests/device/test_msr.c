/* /dev/cpu/N/msr against the registers behind it; rules are those of the kernel's msr driver. */
#include <errno.h>
#include <string.h>

#include "device/msr.h"
#include "machine/access.h"
#include "support/cmocka.h"
#include "support/prefetchers.h"
#include "support/untranslated.h"

/* 334291-001 table 2-9: CBo 2 has its counter 0 at 0xE28, CBo 0 at 0xE08. */
#define C0_CTR0 0xE08
#define C2_CTR0 0xE28
#define NOWHERE 0x12345

struct fixture {
	struct pmu_ctx *ctx;
	struct device_access device;
};

static int fixture_up(void **state)
{
	static struct fixture fixture;

	fixture = (struct fixture){0};
	assert_int_equal(pmu_ctx_new(&fixture.ctx), 0);
	assert_int_equal(
	    emul_new(&fixture.device.emul, fixture.ctx, untranslated("xeon-e5-2699v4-2s")), 0);
	*state = &fixture;
	return 0;
}

static int fixture_down(void **state)
{
	struct fixture *fixture = *state;

	emul_free(fixture->device.emul);
	pmu_ctx_free(fixture->ctx);
	return 0;
}

static uint64_t read_register(const struct fixture *fixture, unsigned socket, uint32_t address)
{
	const struct pmon_access access = {
	    .socket = socket, .space = PMU_SPACE_MSR, .address = address, .width = 64};
	uint64_t value;

	assert_int_equal(emul_read(fixture->device.emul, &access, &value), 0);
	return value;
}

/* The machine has 22 cores a socket: CPU 21 is of the first, CPU 22 of the second. */
static void every_cpu_of_a_socket_reaches_its_registers(void **state)
{
	struct fixture *fixture = *state;
	uint64_t value = 0x123456789abc;

	assert_int_equal(device_msr_write(&fixture->device, 21, &value, 8, C0_CTR0), 8);
	value = 0x42;
	assert_int_equal(device_msr_write(&fixture->device, 22, &value, 8, C0_CTR0), 8);
	assert_int_equal(read_register(fixture, 0, C0_CTR0), 0x123456789abc);
	assert_int_equal(read_register(fixture, 1, C0_CTR0), 0x42);
	assert_int_equal(device_msr_read(&fixture->device, 0, &value, 8, C0_CTR0), 8);
	assert_int_equal(value, 0x123456789abc);
	assert_int_equal(device_msr_read(&fixture->device, 43, &value, 8, C0_CTR0), 8);
	assert_int_equal(value, 0x42);
}

static void several_in_one_call_are_the_same_register(void **state)
{
	struct fixture *fixture = *state;
	uint64_t values[3] = {1, 2, 3};

	assert_int_equal(device_msr_write(&fixture->device, 0, values, sizeof(values), C2_CTR0),
			 24);
	assert_int_equal(read_register(fixture, 0, C2_CTR0), 3);
	assert_int_equal(device_msr_read(&fixture->device, 0, values, sizeof(values), C2_CTR0), 24);
	for (int i = 0; i < 3; i++)
		assert_int_equal(values[i], 3);
}

static void parts_of_registers_are_invalid(void **state)
{
	struct fixture *fixture = *state;
	uint64_t value = 0;

	assert_int_equal(device_msr_read(&fixture->device, 0, &value, 4, C0_CTR0), -EINVAL);
	assert_int_equal(device_msr_write(&fixture->device, 0, &value, 7, C0_CTR0), -EINVAL);
	assert_int_equal(device_msr_read(&fixture->device, 0, &value, 8, -8), -EINVAL);
	assert_int_equal(device_msr_read(&fixture->device, 0, &value, 8, 0x100000000 + C0_CTR0),
			 -EINVAL);
}

struct refusals {
	unsigned count;
	uint32_t address;
	uint64_t value;
	int error;
};

static void count_refusal(void *arg, const struct pmon_access *access, uint64_t value, int error)
{
	struct refusals *refusals = arg;

	refusals->count++;
	refusals->address = access->address;
	refusals->value = value;
	refusals->error = error;
}

static void what_does_not_answer_is_an_io_error(void **state)
{
	struct fixture *fixture = *state;
	struct refusals refusals = {0};
	uint64_t value = 7;

	fixture->device.refused = count_refusal;
	fixture->device.arg = &refusals;
	assert_int_equal(device_msr_read(&fixture->device, 0, &value, 8, NOWHERE), -EIO);
	assert_int_equal(refusals.count, 0);
	assert_int_equal(device_msr_write(&fixture->device, 0, &value, 8, NOWHERE), -EIO);
	assert_int_equal(refusals.count, 1);
	assert_int_equal(refusals.address, NOWHERE);
	assert_int_equal(refusals.value, 7);
	assert_int_equal(refusals.error, PMU_E_UNKNOWN);
}

/* One second on an idle machine: the UBox's fixed counter counts the uncore clock, 2.8 GHz. */
static void time_passes_on_an_idle_machine(void **state)
{
	struct fixture *fixture = *state;
	uint64_t value = 1 << 22, before, after;
	const uint64_t mhz = pmu_find_machine("xeon-e5-2699v4-2s")->uclk_mhz;

	/* 334291-001 table 2-3: U_MSR_PMON_UCLK_FIXED_CTL and CTR. */
	assert_int_equal(device_msr_write(&fixture->device, 0, &value, 8, 0x703), 8);
	assert_int_equal(device_msr_read(&fixture->device, 0, &before, 8, 0x704), 8);
	emul_pass(fixture->device.emul, 1000000000);
	assert_int_equal(device_msr_read(&fixture->device, 0, &after, 8, 0x704), 8);
	assert_int_equal(after - before, mhz * 1000000);
}

/* MSR_MISC_FEATURE_CONTROL: one a core; bits 0 to 3 switch a prefetcher off each. */
static void prefetchers_are_switched_by_core(void **state)
{
	/* By the bit that switches it off. */
	static const unsigned bits[] = {MACHINE_PREFETCH_STREAM, MACHINE_PREFETCH_ADJACENT,
					MACHINE_PREFETCH_NEXT, MACHINE_PREFETCH_STRIDE};
	struct fixture *fixture = *state;
	struct machine *machine = emul_machine(fixture->device.emul);
	uint64_t value;

	for (unsigned cpu = 0; cpu < 44; cpu += 21) {
		for (uint64_t off = 0; off < 16; off++) {
			uint32_t on = 0;

			assert_int_equal(device_msr_write(&fixture->device, cpu, &off, 8, 0x1A4),
					 8);
			for (unsigned i = 0; i < 4; i++)
				on |= (uint32_t) !(off >> i & 1) << bits[i];
			assert_int_equal(machine_prefetchers(machine, cpu), on);
			value = 99;
			assert_int_equal(device_msr_read(&fixture->device, cpu, &value, 8, 0x1A4),
					 8);
			assert_int_equal(value, off);
		}
		value = 0x5;
		assert_int_equal(device_msr_write(&fixture->device, cpu, &value, 8, 0x1A4), 8);
	}
	/* What the machine changes by itself shows. */
	machine_set_prefetchers(machine, 42, 1u << MACHINE_PREFETCH_NEXT);
	assert_int_equal(device_msr_read(&fixture->device, 42, &value, 8, 0x1A4), 8);
	assert_int_equal(value, 0xB);
	/* A reserved bit faults, and nothing changes. */
	value = 0x10;
	assert_int_equal(device_msr_write(&fixture->device, 21, &value, 8, 0x1A4), -EIO);
	assert_int_equal(device_msr_read(&fixture->device, 21, &value, 8, 0x1A4), 8);
	assert_int_equal(value, 0x5);
}

static uint64_t read_msr(const struct fixture *fixture, unsigned cpu, off_t address)
{
	uint64_t value;

	assert_int_equal(device_msr_read(&fixture->device, cpu, &value, 8, address), 8);
	return value;
}

/* Package and DRAM energy; 0x606 has the package's unit, 2^-14 J, DRAM's is 2^-16 (335592). */
static void energy_of_an_idle_machine(void **state)
{
	const struct fixture *fixture = *state;
	const struct pmu_power *power = &pmu_find_machine("xeon-e5-2699v4-2s")->power;

	assert_int_equal(read_msr(fixture, 0, 0x606) >> 8 & 0x1F, 14);
	assert_int_equal(read_msr(fixture, 0, 0x611), 0);
	assert_int_equal(read_msr(fixture, 22, 0x619), 0);
	emul_pass(fixture->device.emul, 1000000000);
	for (unsigned cpu = 0; cpu < 44; cpu += 22) {
		assert_int_equal(read_msr(fixture, cpu, 0x611), power->static_mw * 16384ull / 1000);
		/* Two home agents with two channels each. */
		assert_int_equal(read_msr(fixture, cpu, 0x619),
				 4 * power->dram_mw * 65536ull / 1000);
	}
}

/* As 32 bits do; of a socket that takes 4 MW. */
static void energy_begins_again(void **state)
{
	static const char text[] = "{\"base\": \"xeon-e5-2699v4-2s\", \"name\": \"hot\","
				   " \"power\": {\"static_mw\": 4000000000}}";
	const struct fixture *fixture = *state;
	struct device_access device = {0};
	struct pmu_machine *machine;
	uint64_t value;

	assert_int_equal(pmu_machine_parse(&machine, fixture->ctx, text, strlen(text), "hot"), 0);
	assert_int_equal(emul_new(&device.emul, fixture->ctx, machine), 0);
	emul_pass(device.emul, 100000000);
	assert_int_equal(device_msr_read(&device, 0, &value, 8, 0x611), 8);
	assert_int_equal(value, (400000ull * 16384) & UINT32_MAX);
	emul_free(device.emul);
	pmu_machine_free(machine);
}

/* Stores to 100,000 lines, and what they take. */
static void energy_of_what_a_core_does(void **state)
{
	static const struct machine_insn plain = {0};
	const struct fixture *fixture = *state;
	const struct pmu_power *power = &pmu_find_machine("xeon-e5-2699v4-2s")->power;
	struct machine *machine = emul_machine(fixture->device.emul);
	struct machine_address_space *space;
	struct machine_statistics stats;
	struct machine_hart *hart;
	double seconds, package, dram;
	uint64_t measured;

	switch_prefetchers_off(machine);
	assert_int_equal(machine_address_space_new(&space, machine), 0);
	hart = machine_hart_enter(machine, space, 0);
	assert_non_null(hart);
	for (uint64_t i = 0; i < 100000; i++)
		machine_store(hart, 0x10000 + i * 64, 8, &plain);
	machine_hart_leave(hart);
	machine_address_space_free(space);
	machine_drain(machine);
	machine_lock(machine);
	machine_statistics(machine, &stats);
	machine_unlock(machine);
	seconds = (double)machine_now(machine) / (double)machine_ticks_per_second(machine);
	package = seconds * 2 * power->static_mw * 1e-3 +
		  (double)stats.cycles / 2.2e9 * power->core_mw * 1e-3 +
		  (double)stats.llc_lookups * power->lookup_pj * 1e-12;
	dram = seconds * 4 * power->dram_mw * 1e-3 +
	       (double)(stats.cas_reads + stats.cas_writes) * power->cas_pj * 1e-12;
	assert_true(stats.llc_lookups >= 200000 && stats.cas_reads == 100000);
	/* The other socket's slices are asked too; each register leaves out a part of a unit. */
	measured = read_msr(fixture, 0, 0x611) + read_msr(fixture, 22, 0x611);
	assert_in_range(measured, (uint64_t)(package * 16384) - 1, (uint64_t)(package * 16384));
	assert_int_equal(read_msr(fixture, 0, 0x619), (uint64_t)(dram * 65536));
	assert_true(read_msr(fixture, 22, 0x619) < read_msr(fixture, 0, 0x619));
}

/* A read of APERF counts as a cycle in APERF and MPERF, and no other access does; 325384. */
static void cpus_work_where_aperf_is_read(void **state)
{
	struct fixture *fixture = *state;
	uint32_t reads[44] = {0};

	assert_int_equal(read_msr(fixture, 3, 0xE8), 0);
	fixture->device.aperf_reads = reads;
	assert_int_equal(read_msr(fixture, 3, 0xE8), 1);
	assert_int_equal(read_msr(fixture, 3, 0x611), 0);
	assert_int_equal(read_msr(fixture, 3, 0x10), 0); /* the time stamp counter */
	assert_int_equal(read_msr(fixture, 3, 0xE7), 1);
	assert_int_equal(read_msr(fixture, 3, 0xE7), 1);
	assert_int_equal(read_msr(fixture, 3, 0xE8), 2);
	assert_int_equal(read_msr(fixture, 3, 0xE7), 2);
	assert_int_equal(read_msr(fixture, 4, 0xE7), 0);
	assert_int_equal(read_msr(fixture, 4, 0xE8), 1);
	assert_int_equal(read_msr(fixture, 3, 0x30A), 0); /* a fixed counter */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(every_cpu_of_a_socket_reaches_its_registers, fixture_up,
					    fixture_down),
	    cmocka_unit_test_setup_teardown(several_in_one_call_are_the_same_register, fixture_up,
					    fixture_down),
	    cmocka_unit_test_setup_teardown(parts_of_registers_are_invalid, fixture_up,
					    fixture_down),
	    cmocka_unit_test_setup_teardown(what_does_not_answer_is_an_io_error, fixture_up,
					    fixture_down),
	    cmocka_unit_test_setup_teardown(prefetchers_are_switched_by_core, fixture_up,
					    fixture_down),
	    cmocka_unit_test_setup_teardown(time_passes_on_an_idle_machine, fixture_up,
					    fixture_down),
	    cmocka_unit_test_setup_teardown(energy_of_an_idle_machine, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(energy_begins_again, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(energy_of_what_a_core_does, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(cpus_work_where_aperf_is_read, fixture_up,
					    fixture_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
