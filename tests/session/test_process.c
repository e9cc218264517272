/* A program's own counts, by the kernel: page faults are known, hardware counts where there are
 * any. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pmulab/process.h"
#include "support/cmocka.h"

#define UNUSED	   __attribute__((unused))
#define PAGES	   20000
#define PAGE_BYTES 4096
#define LOOPS	   1000000
#define CHILD	   "--touch"

static void touch_pages(void)
{
	volatile char *pages = mmap(NULL, (size_t)PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise((void *)pages, (size_t)PAGES * PAGE_BYTES, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < PAGES; i++)
		pages[i * PAGE_BYTES] = 1;
	for (volatile int i = 0; i < LOOPS; i++)
		;
}

/* The counted program: a child touches pages of its own, and counts too. */
static int touch(void)
{
	int status;
	pid_t pid = fork();

	touch_pages();
	if (pid == 0)
		_exit(0);
	return waitpid(pid, &status, 0) == pid ? status : 1;
}

/* Runs this program counted. */
static void count(struct pmu_process *process, struct pmu_ctx *ctx,
		  struct pmu_process_count *counts)
{
	int go[2], status;
	char byte = 0;
	pid_t pid;

	assert_int_equal(pipe(go), 0);
	pid = fork();
	if (pid == 0) {
		close(go[1]);
		if (read(go[0], &byte, 1) == 1)
			execl("/proc/self/exe", "touch", CHILD, NULL);
		_exit(127);
	}
	close(go[0]);
	assert_int_equal(pmu_process_start(process, ctx, pid), 0);
	assert_int_equal(write(go[1], &byte, 1), 1);
	close(go[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_int_equal(pmu_process_read(process, ctx, counts), 0);
}

static void test_counts(void **state UNUSED)
{
	struct pmu_process_count counts[4];
	struct pmu_process *process;
	struct pmu_ctx *ctx;

	assert_int_equal(pmu_ctx_new(&ctx), 0);
	assert_int_equal(pmu_process_new(&process, ctx), 0);
	assert_int_equal(pmu_process_add(process, ctx, "PAGE-FAULTS"), 0);
	assert_int_equal(pmu_process_add(process, ctx, "TASK-CLOCK"), 1);
	assert_int_equal(pmu_process_add(process, ctx, "INSTRUCTIONS:u"), 2);
	assert_int_equal(pmu_process_add(process, ctx, "BRANCHES:u"), 3);
	count(process, ctx, counts);

	assert_int_equal(counts[0].state, PMU_PROCESS_COUNTED);
	/* Each page once in both processes; the loader, libraries and sanitizer need some more. */
	assert_in_range(counts[0].counted, 2 * PAGES, 3 * PAGES);
	assert_true(pmu_process_estimate(&counts[0]) >= 2 * PAGES);
	assert_int_equal(counts[1].state, PMU_PROCESS_COUNTED);
	assert_string_equal(counts[0].unit, "");
	assert_string_equal(counts[1].unit, "ns");
	assert_true(counts[1].counted > 0); /* nanoseconds */
	if (counts[2].state == PMU_PROCESS_UNSUPPORTED) {
		print_message("this computer counts no instructions: that part is skipped\n");
	} else {
		/* The loop has at least two instructions and one branch a owner, in both. */
		assert_true(pmu_process_estimate(&counts[2]) > 2 * 2 * LOOPS);
		assert_true(pmu_process_estimate(&counts[3]) > 2 * LOOPS);
	}
	pmu_process_free(process);
	pmu_ctx_free(ctx);
}

static void test_names(void **state UNUSED)
{
	struct pmu_process *process;
	struct pmu_ctx *ctx;

	assert_int_equal(pmu_ctx_new(&ctx), 0);
	assert_int_equal(pmu_process_new(&process, ctx), 0);
	assert_int_equal(pmu_process_add(process, ctx, "PERF_COUNT_SW_PAGE_FAULTZ"), PMU_E_UNKNOWN);
	assert_non_null(strstr(pmu_message(ctx), "did you mean PERF_COUNT_SW_PAGE_FAULTS"));
	assert_int_equal(pmu_process_add(process, ctx, "PAGE-FAULTS:nonsense=1"), PMU_E_SYNTAX);
	assert_int_equal(pmu_process_events(process), 0);
	pmu_process_free(process);
	pmu_process_free(NULL);
	pmu_ctx_free(ctx);
}

static void test_estimate(void **state UNUSED)
{
	struct pmu_process_count whole = {.counted = 1000, .enabled_ns = 50, .running_ns = 50};
	struct pmu_process_count quarter = {.counted = 1000, .enabled_ns = 80, .running_ns = 20};
	struct pmu_process_count never = {.enabled_ns = 80};

	assert_true(pmu_process_estimate(&whole) == 1000);
	assert_true(pmu_process_estimate(&quarter) == 4000);
	assert_true(pmu_process_estimate(&never) == 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_counts),
	    cmocka_unit_test(test_names),
	    cmocka_unit_test(test_estimate),
	};

	if (argc == 2 && !strcmp(argv[1], CHILD))
		return touch();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
