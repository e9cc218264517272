/* base/lock.h between threads and processes. */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/lock.h"
#include "support/cmocka.h"

#define ROUNDS 20000

struct shared {
	struct lock lock;
	volatile uint64_t count; /* not atomic: the lock's work */
	volatile uint64_t own_count, ends;
};

static struct shared *map_shared(void)
{
	struct shared *shared =
	    mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(shared != MAP_FAILED);
	return shared;
}

static void *count_up(void *argument)
{
	struct shared *shared = argument;
	uint32_t thread = lock_thread();

	for (int i = 0; i < ROUNDS; i++) {
		lock_acquire(&shared->lock, thread);
		shared->count++;
		lock_release(&shared->lock, thread);
	}
	return NULL;
}

/* The id is kept, but not over a fork: the child's thread has another. */
static void a_child_has_its_own_thread_id(void **unused)
{
	uint32_t own = lock_thread();
	pid_t child;
	int status;

	(void)unused;
	assert_int_equal(own, gettid());
	child = fork();
	if (!child)
		_exit(lock_thread() == own || lock_thread() != (uint32_t)gettid());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(lock_thread(), own);
}

static void one_at_a_time(void **unused)
{
	struct shared *shared = map_shared();
	pthread_t threads[4];
	pid_t child;

	(void)unused;
	child = fork();
	if (!child) {
		count_up(shared);
		_exit(0);
	}
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, count_up, shared), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	waitpid(child, NULL, 0);
	assert_int_equal(shared->count, 5 * ROUNDS);
	assert_int_equal(lock_owner(&shared->lock), 0);
	munmap(shared, sizeof(*shared));
}

static void the_dead_give_way(void **unused)
{
	struct shared *shared = map_shared();
	uint32_t thread = lock_thread();
	pid_t child;

	(void)unused;
	child = fork();
	if (!child) {
		lock_acquire(&shared->lock, lock_thread());
		_exit(0);
	}
	/* First as a zombie, then gone. */
	waitid(P_PID, (id_t)child, NULL, WEXITED | WNOWAIT);
	assert_int_equal(lock_owner(&shared->lock), (uint32_t)child);
	assert_false(lock_thread_lives((uint32_t)child));
	lock_acquire(&shared->lock, thread);
	assert_int_equal(lock_owner(&shared->lock), thread);
	lock_release(&shared->lock, thread);

	waitpid(child, NULL, 0);
	shared->lock.word = (uint32_t)child;
	assert_false(lock_thread_lives((uint32_t)child));
	lock_acquire(&shared->lock, thread);
	assert_int_equal(lock_owner(&shared->lock), thread);
	lock_release(&shared->lock, thread);
	munmap(shared, sizeof(*shared));
}

static void the_living_do_not(void **unused)
{
	struct shared *shared = map_shared();
	uint32_t parent = lock_thread(), thread = parent + 1;

	(void)unused;
	assert_true(lock_thread_lives(parent));
	lock_acquire(&shared->lock, parent);
	assert_false(lock_acquire_within(&shared->lock, thread, 0));
	assert_false(lock_acquire_within(&shared->lock, thread, 20000000));
	assert_int_equal(lock_owner(&shared->lock), parent);
	lock_release(&shared->lock, parent);
	assert_true(lock_acquire_within(&shared->lock, thread, 0));
	lock_release(&shared->lock, thread);
	munmap(shared, sizeof(*shared));
}

static void *bias_and_count(void *argument)
{
	struct shared *shared = argument;
	uint32_t thread = lock_thread();

	lock_acquire(&shared->lock, thread);
	lock_bias(&shared->lock, thread);
	lock_release(&shared->lock, thread);
	return count_up(shared);
}

/* The lock is biased to one that is counting when others come, of this process and of another. */
static void biased_it_excludes(void **unused)
{
	struct shared *shared = map_shared();
	pthread_t threads[3];
	pid_t child;

	(void)unused;
	assert_true(lock_may_bias());
	for (int round = 1; round <= 20; round++) {
		assert_int_equal(pthread_create(&threads[0], NULL, bias_and_count, shared), 0);
		while (!(__atomic_load_n(&shared->lock.word, __ATOMIC_RELAXED) & LOCK_BIASED) &&
		       __atomic_load_n(&shared->count, __ATOMIC_RELAXED) < (uint64_t)ROUNDS * round)
			continue;
		child = fork();
		if (!child) {
			count_up(shared);
			_exit(0);
		}
		for (int i = 1; i < 3; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, count_up, shared), 0);
		for (int i = 0; i < 3; i++)
			pthread_join(threads[i], NULL);
		waitpid(child, NULL, 0);
		assert_int_equal(shared->count, 4 * ROUNDS * round);
	}
	munmap(shared, sizeof(*shared));
}

static void a_revoked_bias_is_over(void **unused)
{
	struct shared *shared = map_shared();
	uint32_t thread = lock_thread();

	(void)unused;
	lock_acquire(&shared->lock, thread);
	lock_bias(&shared->lock, thread);
	assert_int_equal(lock_owner(&shared->lock), thread);
	lock_release(&shared->lock, thread);
	assert_true(lock_biased_to(&shared->lock, thread));
	lock_acquire(&shared->lock, thread);
	assert_int_equal(shared->lock.inside, thread);
	lock_revoke(&shared->lock, thread);
	assert_int_equal(shared->lock.inside, 0);
	lock_release(&shared->lock, thread);
	assert_int_equal(shared->lock.word, 0);
	munmap(shared, sizeof(*shared));
}

/* The one that it is biased to died inside, or outside: it is taken all the same. */
static void a_bias_to_the_dead_gives_way(void **unused)
{
	uint32_t thread = lock_thread();

	(void)unused;
	for (int inside = 0; inside < 2; inside++) {
		struct shared *shared = map_shared();
		pid_t child = fork();

		if (!child) {
			uint32_t own = lock_thread();

			lock_may_bias();
			lock_acquire(&shared->lock, own);
			lock_bias(&shared->lock, own);
			if (!inside)
				lock_release(&shared->lock, own);
			_exit(0);
		}
		waitpid(child, NULL, 0);
		assert_true(shared->lock.word & LOCK_BIASED);
		lock_acquire(&shared->lock, thread);
		assert_int_equal(lock_owner(&shared->lock), thread);
		lock_release(&shared->lock, thread);
		assert_int_equal(shared->lock.word, 0);
		munmap(shared, sizeof(*shared));
	}
}

#define STOPS	    300
#define PATIENCE_NS 20000000 /* longer than what a lock doubts its owner's life after */

/* Counts under a lock that is biased to it, until it is reported to end. */
static void count_biased(struct shared *shared)
{
	uint32_t own = lock_thread();

	lock_may_bias();
	lock_acquire(&shared->lock, own);
	lock_bias(&shared->lock, own);
	while (!shared->ends) {
		shared->count++;
		shared->own_count++;
		lock_release(&shared->lock, own);
		lock_acquire(&shared->lock, own);
		if (!(shared->own_count % 64))
			lock_bias(&shared->lock, own);
	}
	lock_release(&shared->lock, own);
}

/* Inside, it keeps the lock, and who waits does so no longer than it wants to; outside it does not.
 */
static void the_stopped_are_waited_for_as_long_as_wanted(void **unused)
{
	uint32_t thread = lock_thread();

	(void)unused;
	alarm(100);
	for (int inside = 0; inside < 2; inside++) {
		struct shared *shared = map_shared();
		pid_t child = fork();
		int status;

		if (!child) {
			uint32_t own = lock_thread();

			lock_may_bias();
			lock_acquire(&shared->lock, own);
			lock_bias(&shared->lock, own);
			if (!inside)
				lock_release(&shared->lock, own);
			raise(SIGSTOP);
			if (inside)
				lock_release(&shared->lock, own);
			_exit(0);
		}
		assert_int_equal(waitpid(child, &status, WUNTRACED), child);
		assert_true(WIFSTOPPED(status));
		assert_int_equal(lock_acquire_within(&shared->lock, thread,
						     inside ? PATIENCE_NS : UINT64_C(60000000000)),
				 !inside);
		assert_int_equal(shared->lock.inside, inside ? (uint32_t)child : 0);
		if (!inside)
			lock_release(&shared->lock, thread);
		kill(child, SIGCONT);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
		assert_true(lock_acquire_within(&shared->lock, thread, 0));
		lock_release(&shared->lock, thread);
		munmap(shared, sizeof(*shared));
	}
	alarm(0);
}

/* Wherever it is stopped: nobody else is in at the same time, and nothing is lost. */
static void the_stopped_exclude(void **unused)
{
	struct shared *shared = map_shared();
	uint32_t thread = lock_thread();
	unsigned taken = 0;
	pid_t child = fork();
	int status;

	(void)unused;
	if (!child) {
		count_biased(shared);
		_exit(0);
	}
	alarm(100);
	for (int i = 0; i < STOPS; i++) {
		usleep((useconds_t)(i % 7) * 100);
		kill(child, SIGSTOP);
		waitpid(child, &status, WUNTRACED);
		if (lock_acquire_within(&shared->lock, thread, PATIENCE_NS)) {
			assert_int_equal(shared->lock.inside, 0);
			shared->count++;
			taken++;
			lock_release(&shared->lock, thread);
		}
		kill(child, SIGCONT);
	}
	shared->ends = 1;
	waitpid(child, &status, 0);
	alarm(0);
	assert_int_equal(shared->count, shared->own_count + taken);
	lock_acquire(&shared->lock, thread);
	lock_release(&shared->lock, thread);
	munmap(shared, sizeof(*shared));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_child_has_its_own_thread_id),
	    cmocka_unit_test(one_at_a_time),
	    cmocka_unit_test(the_dead_give_way),
	    cmocka_unit_test(the_living_do_not),
	    cmocka_unit_test(biased_it_excludes),
	    cmocka_unit_test(a_revoked_bias_is_over),
	    cmocka_unit_test(a_bias_to_the_dead_gives_way),
	    cmocka_unit_test(the_stopped_are_waited_for_as_long_as_wanted),
	    cmocka_unit_test(the_stopped_exclude),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
