#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define SPINS	      100
#define PATIENCE_NS   5000000u	/* sleep of that length before the owner's life is doubted, */
#define PATIENCE_MOST 80000000u /* and of twice that before it is again, at most of this */
#define NAP_NS	      1000000u
#define NS_PER_SECOND 1000000000u

/* The system call would cost as much as the rest of a register access. */
static _Thread_local uint32_t own_thread; /* 0: not asked for yet */
static bool watches_forks;

/* In the child, where only the thread goes on that forked, under another id. */
static void forget_thread(void)
{
	own_thread = 0;
}

static void watch_forks(void)
{
	watches_forks = !pthread_atfork(NULL, NULL, forget_thread);
}

uint32_t lock_thread(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (own_thread)
		return own_thread;
	pthread_once(&once, watch_forks);
	if (!watches_forks)
		return (uint32_t)gettid();
	own_thread = (uint32_t)gettid();
	return own_thread;
}

/* @return whether the file has any text, as far as there is room */
static bool read_text(const char *path, char *text, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (fd < 0)
		return false;
	length = read(fd, text, room - 1);
	close(fd);
	text[length > 0 ? length : 0] = '\0';
	return length > 0;
}

struct standing {
	char state;	  /* 0: there is no such thread */
	unsigned threads; /* of its process */
};

/* The letter follows the command's name, which may hold anything but ends at the last ')'. */
static struct standing standing_of(uint32_t thread)
{
	struct standing standing = {0};
	char path[32], text[512];
	const char *end;

	snprintf(path, sizeof(path), "/proc/%u/stat", thread);
	if (!read_text(path, text, sizeof(text)))
		return standing;
	end = strrchr(text, ')');
	if (!end || !end[1])
		return standing;
	standing.state = end[2];
	for (unsigned field = 2; field < 20 && end; field++)
		end = strchr(end + 1, ' ');
	if (end)
		standing.threads = (unsigned)strtoull(end + 1, NULL, 10);
	return standing;
}

/* What follows @label at the beginning of a line; NULL where there is no such line. */
static const char *value_of(const char *text, const char *label)
{
	const char *found = strstr(text, label);

	return found ? found + strlen(label) : NULL;
}

uint64_t lock_thread_sleep(uint32_t process, uint32_t thread)
{
	char path[64], text[8192];
	const char *state, *sleeps;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/status", process, thread);
	if (!read_text(path, text, sizeof(text)))
		return LOCK_GONE;
	state = value_of(text, "\nState:\t");
	/* Who waits for a page of a file will go on at once. */
	if (state && (*state == 'R' || *state == 'D'))
		return 0;
	sleeps = value_of(text, "\nvoluntary_ctxt_switches:\t");
	return sleeps ? strtoull(sleeps, NULL, 10) + 1 : LOCK_GONE;
}

bool lock_thread_is_off(uint32_t thread, bool *told)
{
	char path[32], text[64];

	snprintf(path, sizeof(path), "/proc/%u/wchan", thread);
	if (!read_text(path, text, sizeof(text)))
		return true;
	/* 0 where it runs, or where the caller may not know. */
	if (strcmp(text, "0") != 0) {
		*told = true;
		return true;
	}
	return !*told;
}

bool lock_thread_sleeps_deep(uint32_t thread)
{
	return standing_of(thread).state == 'D';
}

/* @return whether the system has the thread, and how it stands, which is unknown without /proc */
static bool find_thread(uint32_t thread, struct standing *standing)
{
	if (kill((pid_t)thread, 0) && errno == ESRCH)
		return false;
	*standing = standing_of(thread);
	return true;
}

static bool is_dead(const struct standing *standing)
{
	return standing->state == 'Z' || standing->state == 'X';
}

bool lock_thread_lives(uint32_t thread)
{
	struct standing standing;

	return find_thread(thread, &standing) && !is_dead(&standing);
}

/*
 * A process is a zombie before the system has woken who waits for it, with a lock that any signal
 * to a group waits for, also one that is only tried.
 */
bool lock_process_has_ended(uint32_t thread)
{
	struct standing standing;
	bool ended =
	    !find_thread(thread, &standing) || (is_dead(&standing) && standing.threads <= 1);

	if (ended)
		kill(0, 0);
	return ended;
}

/* @return whether it slept to the end without being woken */
static bool sleep_on(struct lock *lock, uint32_t word, uint64_t ns)
{
	struct timespec timeout = {
	    .tv_sec = (time_t)(ns / NS_PER_SECOND),
	    .tv_nsec = (long)(ns % NS_PER_SECOND),
	};

	return syscall(SYS_futex, &lock->word, FUTEX_WAIT, word, &timeout, NULL, 0) &&
	       errno == ETIMEDOUT;
}

static bool exchange(struct lock *lock, uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&lock->word, &from, to, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static bool spin(struct lock *lock, uint32_t thread)
{
	for (int i = 0; i < SPINS; i++) {
		if (!__atomic_load_n(&lock->word, __ATOMIC_RELAXED) && exchange(lock, 0, thread))
			return true;
		__builtin_ia32_pause();
	}
	return false;
}

/* Wakes whoever sleeps on a word that is not theirs to wait for any more. */
static void wake_all(struct lock *lock)
{
	syscall(SYS_futex, &lock->word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/*
 * Once the word is ours: the thread that the lock is biased to may still be inside, for some
 * microseconds, or for as long as it is stopped. @return whether it has left, or died; else the
 * lock is as it was
 */
static bool wait_for_biased(struct lock *lock, uint32_t word, uint64_t deadline)
{
	uint64_t begin = clock_ns();
	uint32_t inside;

	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
	while ((inside = __atomic_load_n(&lock->inside, __ATOMIC_ACQUIRE))) {
		uint64_t now = clock_ns();

		if (now >= deadline) {
			__atomic_store_n(&lock->word, word, __ATOMIC_RELEASE);
			wake_all(lock);
			return false;
		}
		if (now - begin <= PATIENCE_NS) {
			sched_yield();
		} else if (lock_thread_lives(inside)) {
			nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
		} else {
			__atomic_store_n(&lock->inside, 0, __ATOMIC_RELAXED);
			return true;
		}
	}
	return true;
}

bool lock_acquire_within(struct lock *lock, uint32_t thread, uint64_t ns)
{
	uint64_t deadline, patience = PATIENCE_NS;

	if (exchange(lock, 0, thread) || spin(lock, thread))
		return true;
	deadline = ns == UINT64_MAX ? UINT64_MAX : clock_ns() + ns;
	for (;;) {
		uint32_t word = __atomic_load_n(&lock->word, __ATOMIC_RELAXED);
		uint64_t nap = patience;

		if (!word) {
			if (exchange(lock, 0, thread | LOCK_WAITED))
				return true;
			continue;
		}
		if (word & LOCK_BIASED) {
			if (!exchange(lock, word, thread | LOCK_WAITED))
				continue;
			return wait_for_biased(lock, word, deadline);
		}
		if (!(word & LOCK_WAITED)) {
			if (!exchange(lock, word, word | LOCK_WAITED))
				continue;
			word |= LOCK_WAITED;
		}
		if (deadline != UINT64_MAX) {
			uint64_t now = clock_ns();

			if (now >= deadline)
				return false;
			if (nap > deadline - now)
				nap = deadline - now;
		}
		if (!sleep_on(lock, word, nap))
			continue;
		if (!lock_thread_lives(word & ~LOCK_WAITED) &&
		    exchange(lock, word, thread | LOCK_WAITED))
			return true;
		patience = patience < PATIENCE_MOST ? 2 * patience : patience;
	}
}

void lock_acquire_fully(struct lock *lock, uint32_t thread)
{
	if (!exchange(lock, 0, thread))
		lock_acquire_within(lock, thread, UINT64_MAX);
}

void lock_release_fully(struct lock *lock)
{
	if (__atomic_exchange_n(&lock->word, 0, __ATOMIC_RELEASE) & LOCK_WAITED)
		syscall(SYS_futex, &lock->word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

bool lock_may_bias(void)
{
	return !syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0);
}

void lock_bias(struct lock *lock, uint32_t thread)
{
	if (lock->inside == thread)
		return;
	/* Who sleeps must not sleep on: the lock is released by hand, and taken anew. */
	if (!exchange(lock, thread, thread | LOCK_BIASED))
		return;
	__atomic_store_n(&lock->inside, thread, __ATOMIC_RELAXED);
}

void lock_revoke(struct lock *lock, uint32_t thread)
{
	if (lock->inside != thread)
		return;
	/* Fails where somebody has taken it away and waits for us to leave. */
	if (exchange(lock, thread | LOCK_BIASED, thread))
		__atomic_store_n(&lock->inside, 0, __ATOMIC_RELEASE);
}
