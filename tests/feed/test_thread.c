/* How what an emulator reports is reported to the machine. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "feed/process.h"
#include "feed/syscall.h"
#include "feed/thread.h"
#include "fixture.h"

#define DATA	 0x10000
#define MAKER_US 20000

static struct feed_thread *running_thread(const struct fixture *fixture)
{
	struct feed_thread *thread = aligned_alloc(64, sizeof(*thread));

	assert_non_null(thread);
	feed_thread_init(thread, NULL, 0, UINT64_MAX);
	feed_thread_enter(thread, fixture->machine, fixture->space);
	assert_non_null(thread->core);
	return thread;
}

static void end(struct feed_thread *thread)
{
	feed_thread_leave(thread);
	assert_null(thread->core);
	free(thread);
}

/* What the machine has counted since @before. */
static struct machine_statistics since(const struct fixture *fixture,
				       const struct machine_statistics *before)
{
	struct machine_statistics now;

	machine_statistics(fixture->machine, &now);
	now.instructions -= before->instructions;
	now.loads -= before->loads;
	now.stores -= before->stores;
	now.locked -= before->locked;
	now.nt_stores -= before->nt_stores;
	now.fetches -= before->fetches;
	return now;
}

static void wide_operands_in_pieces(void **state)
{
	static const struct feed_access sixteen = {.size = 16}, ten = {.size = 10};
	const struct fixture *fixture = *state;
	struct feed_thread *thread = running_thread(fixture);
	struct machine_statistics before, now;

	machine_statistics(fixture->machine, &before);
	feed_load_wide(thread, DATA, 8, &sixteen);
	feed_load_wide(thread, DATA + 8, 8, &sixteen);
	/* the next operand begins where this one ended */
	feed_load_wide(thread, DATA + 16, 8, &sixteen);
	feed_load_wide(thread, DATA + 24, 8, &sixteen);
	/* the same one again */
	feed_load_wide(thread, DATA + 16, 8, &sixteen);
	feed_load_wide(thread, DATA + 24, 8, &sixteen);
	/* one that overlaps it */
	feed_load_wide(thread, DATA + 24, 8, &sixteen);
	feed_load_wide(thread, DATA + 32, 8, &sixteen);
	/* reported whole */
	feed_load_wide(thread, DATA, 16, &sixteen);
	/* pieces of unequal size */
	feed_store_wide(thread, DATA, 8, &ten);
	feed_store_wide(thread, DATA + 8, 2, &ten);
	feed_store_wide(thread, DATA + 10, 8, &ten);
	feed_store_wide(thread, DATA + 18, 2, &ten);
	now = since(fixture, &before);
	assert_int_equal(now.loads, 5);
	assert_int_equal(now.stores, 2);
	end(thread);
}

static void locked_told_once(void **state)
{
	static const struct feed_access four = {.size = 4}, sixteen = {.size = 16};
	const struct fixture *fixture = *state;
	struct feed_thread *thread = running_thread(fixture);
	struct machine_statistics before, now;

	machine_statistics(fixture->machine, &before);
	feed_locked(thread, DATA, false, &four);
	feed_locked(thread, DATA, true, &four);
	feed_locked(thread, DATA + 4, true, &four); /* reported as one */
	feed_locked(thread, DATA, false, &sixteen);
	feed_locked(thread, DATA + 8, false, &sixteen);
	feed_locked(thread, DATA, true, &sixteen);
	feed_locked(thread, DATA + 8, true, &sixteen);
	now = since(fixture, &before);
	assert_int_equal(now.locked, 3);
	assert_int_equal(now.loads, 0);
	assert_int_equal(now.stores, 0);
	end(thread);
}

static void make_string(const struct fixture *fixture, struct feed_block *block,
			struct feed_repeat *repeat, const char *bytes, size_t length)
{
	struct feed_decoder decoder;
	struct feed_insn insn;

	feed_decoder_init(&decoder);
	assert_true(feed_decode(&decoder, (const uint8_t *)bytes, length, &insn));
	feed_block_init(block, fixture->machine, 0x1000, &insn, 1);
	feed_repeat_init(repeat, fixture->machine, block, NULL, &insn, 1);
}

/* rep movsb of 100 bytes from the 30th of a piece: it lies in pieces 0 to 4 (30 + 100 > 128). */
static void fast_string(void **state)
{
	const struct fixture *fixture = *state;
	struct feed_thread *thread = running_thread(fixture);
	struct feed_block *block = malloc(sizeof(*block) + sizeof(struct feed_access));
	struct machine_statistics before, now;
	struct feed_repeat repeat;

	make_string(fixture, block, &repeat, "\xf3\xa4", 2);
	machine_statistics(fixture->machine, &before);
	for (unsigned i = 0; i < 100; i++) {
		feed_run_repeating(thread, &repeat);
		feed_string(thread, DATA + 30 + i, false, &repeat);
		feed_string(thread, DATA + 4096 + i, true, &repeat);
	}
	feed_run_repeating(thread, &repeat); /* finds the count to be 0 */
	now = since(fixture, &before);
	assert_int_equal(now.instructions, 1);
	assert_int_equal(now.loads, 5);
	assert_int_equal(now.stores, 2); /* what it wrote of the second line is open */
	assert_int_equal(now.fetches, 1);
	machine_run(thread->core, &repeat.first);
	now = since(fixture, &before);
	assert_int_equal(now.stores, 4);
	free(block);
	end(thread);
}

/* The same instruction after another block is a new one, however near. */
static void repeated_anew(void **state)
{
	static const struct feed_access one = {.size = 1};
	const struct fixture *fixture = *state;
	struct feed_thread *thread = running_thread(fixture);
	struct feed_block *block = malloc(sizeof(*block) + sizeof(struct feed_access));
	struct machine_block other;
	struct machine_statistics before, now;
	struct feed_repeat repeat;

	make_string(fixture, block, &repeat, "\xf2\xae", 2); /* repne scasb */
	machine_block_init(fixture->machine, &other, 0x2000, 3, 1, 0, 0);
	machine_statistics(fixture->machine, &before);
	for (unsigned run = 0; run < 3; run++) {
		for (unsigned i = 0; i < 7; i++) {
			feed_run_repeating(thread, &repeat);
			feed_load(thread, DATA + i, &one);
		}
		machine_run(thread->core, &other);
	}
	now = since(fixture, &before);
	assert_int_equal(now.instructions, 3 + 3);
	assert_int_equal(now.loads, 3 * 7);
	free(block);
	end(thread);
}

/* A clock never runs back: not over a system call, nor from a thread to the one that it makes. */
static void time_goes_on(void **state)
{
	const struct fixture *fixture = *state;
	struct feed_thread *thread = running_thread(fixture);
	struct machine_block work;
	uint64_t worked;

	machine_block_init(fixture->machine, &work, 0x2000, 64, 1000, 0, 0);
	machine_run(thread->core, &work);
	worked = machine_hart_time(thread->core);
	feed_thread_pause(thread);
	assert_int_equal(thread->not_before, worked);
	feed_thread_pause(thread);
	feed_thread_resume(thread);
	assert_true(machine_hart_time(thread->core) >= worked);
	feed_thread_leave(thread);
	feed_thread_leave(thread);
	feed_thread_enter(thread, fixture->machine, fixture->space);
	assert_true(machine_hart_time(thread->core) >= worked);
	end(thread);
}

static void process_ends(void **state)
{
	const struct fixture *fixture = *state;
	struct feed_process process;
	struct feed_thread *thread;

	assert_int_equal(feed_process_init(&process, fixture->ctx, fixture->machine), 0);
	assert_int_equal(feed_process_begin(&process, fixture->ctx, FEED_THREADS_MAX, NULL),
			 PMU_E_RANGE);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(feed_process_begin(&process, fixture->ctx, i, NULL), 0);
	for (unsigned i = 0; i < 2; i++)
		feed_thread_enter(&process.threads[i], process.machine, process.space);
	feed_thread_pause(&process.threads[1]);
	feed_process_end(&process);
	/* What comes back from a system call now does no harm. */
	thread = &process.threads[1];
	assert_null(thread->core);
	feed_thread_resume(thread);
	assert_null(thread->core);
	feed_process_fini(&process);
}

/* @return the number of the core that a thread gets which is placed now */
static unsigned next_core(const struct fixture *fixture)
{
	struct machine_hart *placed = machine_hart_place(fixture->machine, 0);
	unsigned number;

	assert_non_null(placed);
	number = placed->number;
	machine_hart_leave(placed);
	return number;
}

/* The system may refuse to make a thread or a process after the emulator has placed it. */
static void what_is_not_made_has_no_place(void **state)
{
	const struct fixture *fixture = *state;
	struct feed_process process;
	struct feed_thread *maker;

	assert_int_equal(feed_process_init(&process, fixture->ctx, fixture->machine), 0);
	maker = &process.threads[0];
	assert_int_equal(feed_process_begin(&process, fixture->ctx, 0, NULL), 0);
	feed_thread_enter(maker, process.machine, process.space);
	feed_thread_pause(maker);

	assert_int_equal(feed_process_begin(&process, fixture->ctx, 1, maker), 0);
	assert_int_equal(next_core(fixture), 2);
	feed_syscall_return(&process, maker, -1);
	assert_int_equal(next_core(fixture), 1);

	feed_thread_pause(maker);
	feed_process_forks(&process, maker);
	assert_int_equal(next_core(fixture), 2);
	feed_syscall_return(&process, maker, -1);
	assert_int_equal(next_core(fixture), 1);
	feed_process_end(&process);
	feed_process_fini(&process);
}

/* Of a process that is made, the child has the place, as long as it lives. */
static void what_is_made_has_its_place(void **state)
{
	const struct fixture *fixture = *state;
	struct feed_process process;
	struct feed_thread *maker;
	pid_t child;

	assert_int_equal(feed_process_init(&process, fixture->ctx, fixture->machine), 0);
	maker = &process.threads[0];
	assert_int_equal(feed_process_begin(&process, fixture->ctx, 0, NULL), 0);
	feed_thread_enter(maker, process.machine, process.space);
	feed_thread_pause(maker);
	feed_process_forks(&process, maker);
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	feed_syscall_return(&process, maker, child);
	assert_int_equal(next_core(fixture), 2);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(next_core(fixture), 1);
	feed_process_end(&process);
	feed_process_fini(&process);
}

struct beginner {
	const struct fixture *fixture;
	struct feed_thread *thread;
};

static void *begin(void *arg)
{
	const struct beginner *beginner = arg;

	feed_thread_enter(beginner->thread, beginner->fixture->machine, beginner->fixture->space);
	return NULL;
}

/* It runs before its maker has done with it. */
static void who_begins_waits_for_its_maker(void **state)
{
	struct feed_thread *thread = aligned_alloc(64, sizeof(*thread));
	struct beginner beginner = {*state, thread};
	pthread_t host;

	assert_non_null(thread);
	feed_thread_init(thread, NULL, 0, UINT64_MAX);
	assert_false(atomic_flag_test_and_set(&thread->claimed));
	assert_int_equal(pthread_create(&host, NULL, begin, &beginner), 0);
	usleep(MAKER_US);
	assert_null(thread->core);
	atomic_flag_clear(&thread->claimed);
	assert_int_equal(pthread_join(host, NULL), 0);
	assert_non_null(thread->core);
	end(thread);
}

static void nothing_begins_behind_its_process(void **state)
{
	const struct fixture *fixture = *state;
	struct feed_thread *thread = aligned_alloc(64, sizeof(*thread));

	assert_non_null(thread);
	feed_thread_init(thread, NULL, 0, UINT64_MAX);
	feed_thread_end(thread);
	feed_thread_enter(thread, fixture->machine, fixture->space);
	assert_null(thread->core);
	free(thread);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(wide_operands_in_pieces),
	    cmocka_unit_test(locked_told_once),
	    cmocka_unit_test(fast_string),
	    cmocka_unit_test(repeated_anew),
	    cmocka_unit_test(time_goes_on),
	    cmocka_unit_test(process_ends),
	    cmocka_unit_test(what_is_not_made_has_no_place),
	    cmocka_unit_test(what_is_made_has_its_place),
	    cmocka_unit_test(who_begins_waits_for_its_maker),
	    cmocka_unit_test(nothing_begins_behind_its_process),
	};

	return cmocka_run_group_tests(tests, fixture_up, fixture_down);
}
