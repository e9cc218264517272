/* Interrupts of counters that overflow: waited for by a thread and by another process. */
#include <pmulab/emul.h>

#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/cmocka.h"

#define ROUNDS	  10000
#define SECOND_NS UINT64_C(1000000000)
#define PATIENCE  (20 * SECOND_NS)
#define LOOK_NS	  (SECOND_NS / 100) /* as bus.h says */
#define CORE	  1		    /* whose interrupts */

/* 334291-001 tables 2-2, 2-3, 2-61 to 2-65: the UBox, and home agent 0 at device 18, function 1. */
#define GLOBAL_CTL     0x700
#define GLOBAL_STATUS  0x701
#define UNFREEZE_ALL   (UINT64_C(1) << 29)
#define HA(offset)     (18u << 15 | 1u << 12 | (offset))
#define HA_CTR0	       HA(0xA0)
#define HA_CTL0	       HA(0xD8)
#define HA_STATUS      HA(0xF8)
#define EN	       (1u << 22)
#define OV_EN	       (1u << 20)
#define REQUESTS_READS 0x0301 /* of HA: each line that the LLC has not */

struct fixture {
	struct pmu_ctx *ctx;
	struct pmu_emul *emul;
	struct pmu_bus *bus;
	struct pmu_hart *hart;
	uint64_t line; /* the next that nobody has loaded */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static int set_up(void **state)
{
	static struct fixture fixture;

	fixture = (struct fixture){.line = 0x10000000};
	assert_int_equal(pmu_ctx_new(&fixture.ctx), 0);
	assert_int_equal(pmu_emul_new(&fixture.emul, fixture.ctx, pmu_find_machine("xeon-e5v4-4c")),
			 0);
	assert_int_equal(pmu_emul_set_prefetchers(fixture.emul, fixture.ctx, "none"), 0);
	assert_int_equal(pmu_emul_bus(&fixture.bus, fixture.ctx, fixture.emul), 0);
	*state = &fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	pmu_hart_free(fixture->hart);
	pmu_bus_free(fixture->bus);
	pmu_emul_free(fixture->emul);
	pmu_ctx_free(fixture->ctx);
	return 0;
}

static void write_register(struct fixture *fixture, enum pmu_space space, uint8_t width,
			   uint32_t address, uint64_t value)
{
	const struct pmu_access_op op = {.space = (uint8_t)space,
					 .width = width,
					 .address = address,
					 .value = value,
					 .reg = "register"};

	if (pmu_bus_write(fixture->bus, fixture->ctx, &op))
		fail_msg("%s", pmu_message(fixture->ctx));
}

/* Home agent 0 interrupts the core by the next line that is loaded. */
static void arm(struct fixture *fixture)
{
	write_register(fixture, PMU_SPACE_PCI, 32, HA_CTL0, 0);
	write_register(fixture, PMU_SPACE_PCI, 32, HA_STATUS, 1);
	write_register(fixture, PMU_SPACE_MSR, 64, GLOBAL_STATUS, UINT64_C(1) << 21);
	write_register(fixture, PMU_SPACE_PCI, 64, HA_CTR0, (UINT64_C(1) << 48) - 1);
	write_register(fixture, PMU_SPACE_PCI, 32, HA_CTL0, EN | OV_EN | REQUESTS_READS);
	write_register(fixture, PMU_SPACE_MSR, 32, GLOBAL_CTL, UNFREEZE_ALL | 1u << CORE);
}

/* Overflows so often, each time when the one before was taken note of. */
static void overflow(struct fixture *fixture, unsigned rounds, int taken)
{
	assert_int_equal(pmu_hart_new(&fixture->hart, fixture->ctx, fixture->emul, NULL), 0);
	for (unsigned i = 0; i < rounds; i++) {
		char byte;

		arm(fixture);
		assert_int_equal(pmu_hart_load(fixture->hart, fixture->line, 8, NULL), 0);
		fixture->line += 64;
		assert_int_equal(read(taken, &byte, 1), 1);
	}
}

struct waiter {
	struct pmu_emul *emul;
	unsigned rounds;
	int taken; /* a byte is written for each interrupt */
	int error;
};

/* @return 0, or what went wrong */
static int await_all(const struct waiter *waiter)
{
	struct pmu_ctx *ctx;
	struct pmu_bus *bus;
	uint64_t seen = 0;

	if (pmu_ctx_new(&ctx) || pmu_emul_bus(&bus, ctx, waiter->emul))
		return 1;
	for (unsigned i = 0; i < waiter->rounds; i++) {
		uint64_t count;

		if (pmu_bus_interrupt_wait(bus, ctx, 0, CORE, seen, PATIENCE, &count))
			return 2;
		if (count != seen + 1)
			return 3;
		seen = count;
		if (write(waiter->taken, "", 1) != 1)
			return 4;
	}
	pmu_bus_free(bus);
	pmu_ctx_free(ctx);
	return 0;
}

static void *wait_in_thread(void *arg)
{
	struct waiter *waiter = arg;

	waiter->error = await_all(waiter);
	close(waiter->taken);
	return NULL;
}

/* By looks alone it takes a look each. */
static void test_a_thread_is_woken(void **state)
{
	struct fixture *fixture = *state;
	uint64_t begin = now_ns(), count;
	struct waiter waiter;
	pthread_t thread;
	int taken[2];

	assert_int_equal(pipe(taken), 0);
	waiter = (struct waiter){.emul = fixture->emul, .rounds = ROUNDS, .taken = taken[1]};
	assert_int_equal(pthread_create(&thread, NULL, wait_in_thread, &waiter), 0);
	overflow(fixture, ROUNDS, taken[0]);
	assert_int_equal(pthread_join(thread, NULL), 0);
	close(taken[0]);
	assert_int_equal(waiter.error, 0);
	assert_true(now_ns() - begin < ROUNDS * LOOK_NS / 2);
	assert_int_equal(pmu_bus_interrupts(fixture->bus, fixture->ctx, 0, CORE, &count), 0);
	assert_int_equal(count, ROUNDS);
}

static int wait_elsewhere(const char *name, int taken)
{
	struct waiter waiter = {.rounds = ROUNDS, .taken = taken};
	struct pmu_ctx *ctx;
	int error;

	if (pmu_ctx_new(&ctx) || pmu_emul_attach(&waiter.emul, ctx, name))
		return 10;
	error = await_all(&waiter);
	pmu_emul_free(waiter.emul);
	pmu_ctx_free(ctx);
	return error;
}

static void test_another_process_is_woken(void **state)
{
	struct fixture *fixture = *state;
	uint64_t begin = now_ns();
	int taken[2], status = -1;
	char name[32];
	pid_t pid;

	assert_int_equal(pipe(taken), 0);
	snprintf(name, sizeof(name), "interrupts-%d", (int)getpid());
	assert_int_equal(pmu_emul_offer(fixture->emul, fixture->ctx, name), 0);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		_exit(wait_elsewhere(name, taken[1]));
	close(taken[1]);
	overflow(fixture, ROUNDS, taken[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(taken[0]);
	assert_int_equal(status, 0);
	assert_true(now_ns() - begin < ROUNDS * LOOK_NS / 2);
}

static void test_time_is_over(void **state)
{
	const uint64_t timeout = SECOND_NS / 20;
	struct fixture *fixture = *state;
	uint64_t begin = now_ns(), count = 99;

	assert_int_equal(
	    pmu_bus_interrupt_wait(fixture->bus, fixture->ctx, 0, CORE, 0, timeout, &count), 0);
	assert_int_equal(count, 0);
	assert_true(now_ns() - begin >= timeout);
	/* Another number than was seen, and no time at all. */
	assert_int_equal(
	    pmu_bus_interrupt_wait(fixture->bus, fixture->ctx, 0, CORE, 5, PATIENCE, &count), 0);
	assert_int_equal(count, 0);
	assert_int_equal(pmu_bus_interrupt_wait(fixture->bus, fixture->ctx, 0, CORE, 0, 0, &count),
			 0);
	assert_int_equal(count, 0);
	assert_true(now_ns() - begin < PATIENCE / 2);
}

static void *execute_later(void *arg)
{
	const struct pmu_code code = {.address = 0x400000, .bytes = 20, .instructions = 5};
	struct fixture *fixture = arg;

	nanosleep(&(struct timespec){.tv_nsec = 5 * LOOK_NS}, NULL);
	for (unsigned i = 0; i < 3; i++)
		pmu_hart_execute(fixture->hart, &code);
	return NULL;
}

/* A core's instructions (0xC0) overflow while it waits: nothing but a look finds that. */
static void test_a_look_finds_it(void **state)
{
	struct fixture *fixture = *state;
	uint64_t begin, count;
	pthread_t thread;

	write_register(fixture, PMU_SPACE_MSR, 64, 0x38F, 0);
	write_register(fixture, PMU_SPACE_MSR, 64, 0x186, 0x5300C0);
	write_register(fixture, PMU_SPACE_MSR, 64, 0x4C1, (UINT64_C(1) << 48) - 10);
	write_register(fixture, PMU_SPACE_MSR, 64, 0x38F, 1);
	assert_int_equal(pmu_hart_new(&fixture->hart, fixture->ctx, fixture->emul, NULL), 0);
	begin = now_ns();
	assert_int_equal(pthread_create(&thread, NULL, execute_later, fixture), 0);
	assert_int_equal(
	    pmu_bus_interrupt_wait(fixture->bus, fixture->ctx, 0, 0, 0, PATIENCE, &count), 0);
	assert_int_equal(count, 1);
	assert_true(now_ns() - begin < PATIENCE / 2);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void test_where_there_is_none(void **state)
{
	struct fixture *fixture = *state;
	struct pmu_bus *dry;
	uint64_t count;

	assert_int_equal(pmu_bus_interrupt_wait(fixture->bus, fixture->ctx, 0, 4, 0, 0, &count),
			 PMU_E_RANGE);
	assert_int_equal(pmu_bus_interrupt_wait(fixture->bus, fixture->ctx, 1, 0, 0, 0, &count),
			 PMU_E_RANGE);
	assert_int_equal(pmu_bus_dry_run_on(&dry, fixture->ctx, fixture->bus, NULL, NULL), 0);
	assert_int_equal(pmu_bus_interrupt_wait(dry, fixture->ctx, 0, 0, 0, PATIENCE, &count),
			 PMU_E_UNSUPPORTED);
	pmu_bus_free(dry);
}

#define BENCH_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    BENCH_TEST(test_a_thread_is_woken),	  BENCH_TEST(test_another_process_is_woken),
	    BENCH_TEST(test_time_is_over),	  BENCH_TEST(test_a_look_finds_it),
	    BENCH_TEST(test_where_there_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
