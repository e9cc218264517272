/*
 * usage: fresh HOW PAGES THREADS
 *
 * Threads that begin together each touch all lines of so many pages (at most 512) of one anonymous
 * mapping: HOW is "load", "store", or "both", loads first. "copy": a fork stores to pages that the
 * process has stored to.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE	    4096
#define PAGES_MAX   512
#define THREADS_MAX 8
#define LINE	    64

static volatile char *mapped;
static size_t bytes;
static const char *how;
static pthread_barrier_t begin;

static void store(size_t count)
{
	for (size_t i = 0; i < count; i += LINE)
		mapped[i] = 1;
}

static void *touch(void *unused)
{
	(void)unused;
	pthread_barrier_wait(&begin);
	for (size_t i = 0; i < bytes && strcmp(how, "store") != 0; i += LINE)
		(void)mapped[i];
	if (strcmp(how, "load") != 0)
		store(bytes);
	return NULL;
}

static int store_in_fork(void)
{
	int status;

	store((size_t)PAGE * PAGES_MAX);
	if (!fork()) {
		store(bytes);
		_exit(0);
	}
	return wait(&status) < 0 || status;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS_MAX];
	unsigned count;

	if (argc != 4)
		return 2;
	how = argv[1];
	bytes = PAGE * strtoul(argv[2], NULL, 10);
	count = (unsigned)strtoul(argv[3], NULL, 10);
	/* Whole large pages, wherever it is put. */
	mapped = mmap(NULL, 3 * (size_t)PAGE * PAGES_MAX, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mapped == MAP_FAILED || count < 1 || count > THREADS_MAX)
		return 2;
	mapped += -(size_t)mapped % ((size_t)PAGE * PAGES_MAX);
	if (!strcmp(how, "copy"))
		return store_in_fork();
	pthread_barrier_init(&begin, NULL, count);
	for (unsigned i = 1; i < count; i++)
		pthread_create(&threads[i], NULL, touch, NULL);
	touch(NULL);
	for (unsigned i = 1; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
