#include "sample/output.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/eventcount.h"
#include "base/lock.h"

#define RING_BYTES  (4u << 20)
#define WAKE_BYTES  (RING_BYTES / 4) /* that let the writing thread begin */
#define PATIENCE_NS 100000000u

/* What both processes see. */
struct ring {
	struct lock lock;      /* of those that put */
	uint64_t put, written; /* bytes so far */
	struct eventcount full, empty;
	char bytes[RING_BYTES];
};

struct sample_output {
	struct ring *ring;
	int descriptor, error; /* error: of write(), positive */
	bool ending;
	pthread_t thread;
	sem_t began;
	bool running;
};

static void write_out(struct sample_output *output, const char *bytes, size_t count)
{
	while (count && !output->error) {
		ssize_t done = write(output->descriptor, bytes, count);

		if (done < 0 && errno != EINTR)
			output->error = errno;
		if (done > 0) {
			bytes += done;
			count -= (size_t)done;
		}
	}
}

/* After an error it goes on without writing, so that nobody waits for room for ever. */
static void *drain(void *arg)
{
	struct sample_output *output = arg;
	struct ring *ring = output->ring;

	sem_post(&output->began);
	for (;;) {
		uint64_t seen = eventcount_read(&ring->full);
		bool ending = __atomic_load_n(&output->ending, __ATOMIC_ACQUIRE);
		uint64_t put = __atomic_load_n(&ring->put, __ATOMIC_ACQUIRE);
		size_t at = ring->written % RING_BYTES, count = put - ring->written;

		if (!count && ending)
			return NULL;
		if (count < WAKE_BYTES && !ending) {
			eventcount_await(&ring->full, seen, UINT64_MAX);
			continue;
		}
		if (count > RING_BYTES - at)
			count = RING_BYTES - at;
		write_out(output, ring->bytes + at, count);
		__atomic_store_n(&ring->written, ring->written + count, __ATOMIC_RELEASE);
		eventcount_advance(&ring->empty);
	}
}

/*
 * Signals are the other threads'. A process is made next, which inherits the locks of a thread that
 * is being set up; once it drains it takes none.
 */
static int start(struct sample_output *output)
{
	sigset_t all, before;
	int error;

	sem_init(&output->began, 0, 0);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&output->thread, NULL, drain, output);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	output->running = !error;
	while (output->running && sem_wait(&output->began))
		continue;
	return -error;
}

int sample_output_new(struct sample_output **out, int descriptor)
{
	struct sample_output *output = calloc(1, sizeof(*output));
	int error;

	if (!output)
		return -ENOMEM;
	output->descriptor = descriptor;
	output->ring = mmap(NULL, sizeof(*output->ring), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (output->ring == MAP_FAILED) {
		free(output);
		return -ENOMEM;
	}
	error = start(output);
	if (error)
		sample_output_free(output);
	else
		*out = output;
	return error;
}

void sample_output_put(struct sample_output *output, const void *bytes, size_t count)
{
	struct ring *ring = output->ring;
	size_t at, first;

	lock_acquire(&ring->lock, lock_thread());
	for (;;) {
		uint64_t seen = eventcount_read(&ring->empty);
		uint64_t written = __atomic_load_n(&ring->written, __ATOMIC_ACQUIRE);

		if (ring->put - written + count <= RING_BYTES)
			break;
		eventcount_await(&ring->empty, seen, PATIENCE_NS);
	}
	at = ring->put % RING_BYTES;
	first = count < RING_BYTES - at ? count : RING_BYTES - at;
	memcpy(ring->bytes + at, bytes, first);
	memcpy(ring->bytes, (const char *)bytes + first, count - first);
	__atomic_store_n(&ring->put, ring->put + count, __ATOMIC_RELEASE);
	if (ring->put - __atomic_load_n(&ring->written, __ATOMIC_RELAXED) >= WAKE_BYTES)
		eventcount_advance(&ring->full);
	lock_release(&ring->lock, lock_thread());
}

int64_t sample_output_end(struct sample_output *output)
{
	if (output->running) {
		__atomic_store_n(&output->ending, true, __ATOMIC_RELEASE);
		eventcount_advance(&output->ring->full);
		pthread_join(output->thread, NULL);
		output->running = false;
	}
	return output->error ? -output->error : (int64_t)output->ring->written;
}

void sample_output_free(struct sample_output *output)
{
	if (!output)
		return;
	sample_output_end(output);
	munmap(output->ring, sizeof(*output->ring));
	free(output);
}
