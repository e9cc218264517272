/*
 * Programs that a tool watches: at an overflow that interrupts, the program stands still until the
 * tool lets it go on. On a processor it would go on with frozen monitors while the tool works, for
 * as long as the computer likes; so nothing is missed between an overflow and the next.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/description.h"
#include "device/runs.h"
#include "device/runs_state.h"

#define HOUR_NS UINT64_C(3600000000000)

struct device_watch {
	struct device_runs *runs;
	void (*notify)(struct fuse_pollhandle *handle);
	struct fuse_pollhandle *handle; /* who polls; NULL: nobody does */
	bool unread;
	struct register_file_message message;
};

struct device_watch *device_watch_new(struct device_runs *runs,
				      void (*notify)(struct fuse_pollhandle *handle))
{
	struct device_watch *watch = calloc(1, sizeof(*watch));

	if (watch)
		*watch = (struct device_watch){.runs = runs, .notify = notify};
	return watch;
}

/* -- In the program's process ------------------------------------------------------------------ */

/* By memory alone: the program may close any descriptor. */
void runs_stand(void *arg, const struct emul_interrupt *interrupt)
{
	struct runs_shared *shared = arg;
	const uint64_t number = eventcount_read(&shared->turn) + 1;

	if (!__atomic_load_n(&shared->watched, __ATOMIC_ACQUIRE))
		return;
	shared->interrupt = *interrupt;
	eventcount_advance(&shared->turn);
	while (!eventcount_await(&shared->turn, number, HOUR_NS))
		;
}

/* -- In the serving process; with the lock held ------------------------------------------------ */

static void call(struct device_watch *watch)
{
	struct fuse_pollhandle *handle = watch->handle;

	watch->unread = true;
	watch->handle = NULL;
	if (handle)
		watch->notify(handle);
}

static void go_on(struct device_runs *runs)
{
	runs->standing = false;
	emul_epic_strict_pause(runs->epic);
	eventcount_advance(&runs->shared->turn);
}

static void tell_overflow(struct device_runs *runs, uint64_t number)
{
	const struct emul_interrupt *interrupt = &runs->shared->interrupt;
	const unsigned cpus = machine_cpus(emul_epic_desc(runs->epic));

	runs->standing = true;
	if (!runs->watch) {
		go_on(runs);
		return;
	}
	runs->watch->message = (struct register_file_message){
	    .number = number,
	    .overflowed = interrupt->overflowed,
	    .ip = interrupt->ip,
	    .time_ns = interrupt->time_ns,
	    .cpu = interrupt->socket * cpus + interrupt->core,
	    .thread = interrupt->thread,
	};
	call(runs->watch);
}

static void tell_end(struct device_runs *runs)
{
	struct device_watch *watch = runs->watch;

	emul_epic_on_interrupt(runs->epic, NULL, NULL);
	runs_end(runs);
	runs->watch = NULL;
	if (!watch)
		return;
	watch->message = (struct register_file_message){.result = runs->shared->result};
	call(watch);
}

/* -- Threads of it ----------------------------------------------------------------------------- */

static void *wait_for_end(void *arg)
{
	struct device_runs *runs = arg;

	runs_wait(runs->child);
	__atomic_store_n(&runs->shared->ended, true, __ATOMIC_RELEASE);
	eventcount_advance(&runs->shared->turn);
	return NULL;
}

static void *tell(void *arg)
{
	struct device_runs *runs = arg;
	struct runs_shared *shared = runs->shared;
	uint64_t turn = 0;

	while (!__atomic_load_n(&shared->ended, __ATOMIC_ACQUIRE)) {
		if (!eventcount_await(&shared->turn, turn, HOUR_NS))
			continue;
		pthread_mutex_lock(&runs->lock);
		turn = eventcount_read(&shared->turn);
		if (turn & 1 && !__atomic_load_n(&shared->ended, __ATOMIC_ACQUIRE))
			tell_overflow(runs, turn);
		pthread_mutex_unlock(&runs->lock);
	}
	pthread_mutex_lock(&runs->lock);
	tell_end(runs);
	pthread_mutex_unlock(&runs->lock);
	return NULL;
}

void runs_join(struct device_runs *runs)
{
	if (!runs->has_threads)
		return;
	pthread_join(runs->waits, NULL);
	pthread_join(runs->tells, NULL);
	runs->has_threads = false;
}

/* Without its threads it cannot be watched. @return -EAGAIN */
static int give_up(struct device_runs *runs)
{
	if (runs->child > 0) {
		kill(runs->child, SIGKILL);
		runs_wait(runs->child);
	}
	pthread_mutex_lock(&runs->lock);
	runs->watch = NULL;
	runs_end(runs);
	pthread_mutex_unlock(&runs->lock);
	return -EAGAIN;
}

static int start_threads(struct device_runs *runs)
{
	if (pthread_create(&runs->waits, NULL, wait_for_end, runs))
		return give_up(runs);
	if (pthread_create(&runs->tells, NULL, tell, runs)) {
		kill(runs->child, SIGKILL);
		pthread_join(runs->waits, NULL);
		runs->child = 0;
		return give_up(runs);
	}
	runs->has_threads = true;
	return 0;
}

static int start(struct device_watch *watch, const struct runs_asked *asked)
{
	struct device_runs *runs = watch->runs;

	if (!runs_begin(runs))
		return -EBUSY;
	runs_join(runs);
	runs->shared->turn = (struct eventcount){0};
	runs->shared->ended = false;
	runs->shared->watched = true;
	pthread_mutex_lock(&runs->lock);
	watch->unread = false;
	runs->watch = watch;
	pthread_mutex_unlock(&runs->lock);
	runs->child = runs_fork(runs, asked);
	return runs->child > 0 ? start_threads(runs) : give_up(runs);
}

/* -- The descriptor ---------------------------------------------------------------------------- */

void device_watch_free(struct device_watch *watch)
{
	struct device_runs *runs = watch->runs;

	pthread_mutex_lock(&runs->lock);
	if (runs->watch == watch) {
		runs->watch = NULL;
		__atomic_store_n(&runs->shared->watched, false, __ATOMIC_RELEASE);
		if (runs->standing)
			go_on(runs);
	}
	if (watch->handle)
		watch->notify(watch->handle);
	pthread_mutex_unlock(&runs->lock);
	free(watch);
}

/* @return 0; -EINVAL: the program does not stand still there */
static int let_go_on(struct device_watch *watch, uint64_t number)
{
	struct device_runs *runs = watch->runs;
	int error = -EINVAL;

	pthread_mutex_lock(&runs->lock);
	if (runs->watch == watch && runs->standing && number == watch->message.number) {
		watch->unread = false;
		go_on(runs);
		error = 0;
	}
	pthread_mutex_unlock(&runs->lock);
	return error;
}

ssize_t device_watch_write(struct device_watch *watch, pid_t thread, const char *buffer,
			   size_t size)
{
	struct runs_asked asked;
	uint64_t number;
	int error;

	/* No request is so short. */
	if (size == sizeof(number)) {
		memcpy(&number, buffer, size);
		error = let_go_on(watch, number);
		return error ? error : (ssize_t)size;
	}
	error = runs_parse(&asked, thread, buffer, size);
	if (!error)
		error = start(watch, &asked);
	runs_asked_free(&asked);
	return error ? error : (ssize_t)size;
}

ssize_t device_watch_read(struct device_watch *watch, void *buffer, size_t size)
{
	ssize_t bytes = -EAGAIN;

	if (size < sizeof(watch->message))
		return -EINVAL;
	pthread_mutex_lock(&watch->runs->lock);
	if (watch->unread) {
		memcpy(buffer, &watch->message, sizeof(watch->message));
		watch->unread = false;
		bytes = sizeof(watch->message);
	}
	pthread_mutex_unlock(&watch->runs->lock);
	return bytes;
}

bool device_watch_poll(struct device_watch *watch, struct fuse_pollhandle *handle)
{
	struct fuse_pollhandle *before = NULL;
	bool unread;

	pthread_mutex_lock(&watch->runs->lock);
	unread = watch->unread;
	if (handle) {
		before = watch->handle;
		watch->handle = handle;
	}
	/* Each poll that waits has a handle, and a later one stands for those before. */
	if (before)
		watch->notify(before);
	pthread_mutex_unlock(&watch->runs->lock);
	return unread;
}
