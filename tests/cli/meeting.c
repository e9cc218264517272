/*
 * usage: meeting KERNEL THREADS COUNT [SKIP [FILE]]: threads that meet in memory. SKIP cores are
 * taken by threads that sleep, between the first thread's and the second's. With a file instead of
 * threads processes that each map it, with "-" those that have inherited shared memory, with "="
 * those that each attach a segment.
 *
 * Lines that threads meet in have a page each, so that no other line's traffic mixes with theirs.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE	    4096
#define THREADS_MAX 64

struct line {
	_Alignas(PAGE) _Atomic long word[8];
};

static struct line meeting[3], sleepers;
#define met	meeting[0]
#define second	meeting[1]
#define arrived meeting[2]
static long shared; /* by whoever holds the lock */
static int threads;
static long count;

static void wait_for(_Atomic long *word, long value)
{
	while (atomic_load_explicit(word, memory_order_acquire) != value)
		continue;
}

/* Each in its turn adds one: a handoff of the line from one to the next. */
static void pingpong(int self)
{
	for (long i = 0; i < count; i++) {
		wait_for(&met.word[0], i * threads + self);
		atomic_store_explicit(&met.word[0], i * threads + self + 1, memory_order_release);
	}
}

/* Words of their own in one line. */
static void false_sharing(int self)
{
	volatile long *word = (volatile long *)&met.word[self % 8];

	for (long i = 0; i < count; i++)
		++*word;
}

static void atomic_add(int self)
{
	(void)self;
	for (long i = 0; i < count; i++)
		atomic_fetch_add_explicit(&met.word[0], 1, memory_order_relaxed);
}

static void spin_lock(int self)
{
	(void)self;
	for (long i = 0; i < count; i++) {
		while (atomic_exchange_explicit(&met.word[0], 1, memory_order_acquire))
			while (atomic_load_explicit(&met.word[0], memory_order_relaxed))
				continue;
		shared++;
		atomic_store_explicit(&met.word[0], 0, memory_order_release);
	}
}

static void ticket_lock(int self)
{
	(void)self;
	for (long i = 0; i < count; i++) {
		long ticket = atomic_fetch_add_explicit(&met.word[0], 1, memory_order_relaxed);

		wait_for(&second.word[0], ticket);
		shared++;
		atomic_store_explicit(&second.word[0], ticket + 1, memory_order_release);
	}
}

static void barrier(int self)
{
	(void)self;
	for (long i = 0; i < count; i++) {
		if (atomic_fetch_add_explicit(&met.word[0], 1, memory_order_acq_rel) ==
		    (i + 1) * threads - 1)
			atomic_store_explicit(&second.word[0], i + 1, memory_order_release);
		else
			wait_for(&second.word[0], i + 1);
	}
}

/* The first gives the others' items through one slot. */
static void produce(int self)
{
	for (long i = 0; i < count; i++) {
		if (!self) {
			wait_for(&met.word[0], 0);
			atomic_store_explicit(&met.word[0], i + 1, memory_order_release);
		} else if (self == 1) {
			wait_for(&met.word[0], i + 1);
			atomic_store_explicit(&met.word[0], 0, memory_order_release);
		}
	}
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Who waits sleeps in the system, and is woken by who unlocks. */
static void lock_mutex(int self)
{
	for (long i = 0; i < count; i++) {
		pthread_mutex_lock(&mutex);
		for (int j = 0; j < 100 * (self + 1); j++)
			*(volatile long *)&shared += 1;
		pthread_mutex_unlock(&mutex);
	}
}

static int ends[2];

static void make_pipe(void)
{
	if (pipe(ends) || fcntl(ends[0], F_SETPIPE_SZ, PAGE) < 0)
		exit(1);
}

/* The first thread's calls wake a reader and then sleep until all has been read. */
static void pass_pages(int self)
{
	static char pages[THREADS_MAX * PAGE];
	char page[PAGE];
	ssize_t length = 1;

	for (long i = 0; i < count && length > 0; i++)
		length = self ? read(ends[0], page, PAGE)
			      : write(ends[1], pages, (size_t)(threads - 1) * PAGE);
	if (length <= 0)
		exit(1);
}

static long sink[THREADS_MAX][8];

/* MB of its own. */
static void write_own(int self)
{
	size_t bytes = (size_t)count * 1024 * 1024;
	char *memory = malloc(bytes);

	memset(memory, self, bytes);
	sink[self][0] = ((volatile char *)memory)[bytes - 1];
}

static void read_own(int self)
{
	size_t words = (size_t)count * 1024 * 1024 / sizeof(long);
	volatile long *memory = malloc(words * sizeof(long));
	long sum = 0;

	for (size_t i = 0; i < words; i += 8)
		sum += memory[i];
	sink[self][0] = sum;
}

#define LARGE_PAGE    ((size_t)2 << 20)
#define ARRAY_PAGES   6	 /* large ones, of each thread */
#define PAGES_BETWEEN 19 /* a prime: pages come in another order than they lie in */

static char *arrays;

static void make_arrays(void)
{
	const size_t pages = (size_t)threads * ARRAY_PAGES;
	char *memory = mmap(NULL, (pages + 1) * LARGE_PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	arrays = memory + (-(size_t)memory & (LARGE_PAGE - 1));
	for (size_t i = 0; i < pages; i++)
		arrays[i * PAGES_BETWEEN % pages * LARGE_PAGE] = 1;
}

/* An array of its own, which exists already. */
static void scan(int self)
{
	const size_t words = ARRAY_PAGES * LARGE_PAGE / sizeof(long);
	volatile long *array = (volatile long *)(void *)arrays + (size_t)self * words;
	long sum = 0;

	for (long pass = 0; pass < count; pass++)
		for (size_t i = 0; i < words; i += 8)
			sum += array[i];
	sink[self][0] = sum;
}

/* Nothing in common: a few KB of its own, again and again. */
static void apart(int self)
{
	volatile long own[1024];
	long sum = 0;

	memset((void *)own, self, sizeof(own));
	for (long i = 0; i < count; i++)
		sum += own[(i * 7) % 1024]++;
	sink[self][0] = sum;
}

/* The first ends the process, while others sleep or run. */
static void die(int self)
{
	if (!self)
		abort();
	while (self % 2)
		pause();
	wait_for(&met.word[0], 1);
}

static const struct kernel {
	const char *name;
	void (*run)(int self);
	void (*prepare)(void);
} kernels[] = {
    {.name = "pingpong", .run = pingpong},
    {.name = "false", .run = false_sharing},
    {.name = "atomic", .run = atomic_add},
    {.name = "spin", .run = spin_lock},
    {.name = "ticket", .run = ticket_lock},
    {.name = "barrier", .run = barrier},
    {.name = "produce", .run = produce},
    {.name = "read", .run = read_own},
    {.name = "write", .run = write_own},
    {.name = "scan", .run = scan, .prepare = make_arrays},
    {.name = "apart", .run = apart},
    {.name = "mutex", .run = lock_mutex},
    {.name = "die", .run = die},
    {.name = "pages", .run = pass_pages, .prepare = make_pipe},
};

static const struct kernel *kernel;

static void *work(void *argument)
{
	int self = (int)(long)argument;

	atomic_fetch_add(&arrived.word[0], 1);
	wait_for(&arrived.word[0], threads);
	kernel->run(self);
	return NULL;
}

static void attach(void)
{
	static int segment;

	if (!segment)
		segment = shmget(IPC_PRIVATE, sizeof(meeting), IPC_CREAT | 0600);
	else if (shmdt(meeting))
		exit(1);
	if (shmat(segment, meeting, SHM_REMAP) != meeting)
		exit(1);
	/* Of the last that goes. */
	shmctl(segment, IPC_RMID, NULL);
}

static void share(const char *path)
{
	const int fd = *path == '-' ? -1 : open(path, O_RDWR);

	if (*path == '=') {
		attach();
		return;
	}
	if (mmap(meeting, sizeof(meeting), PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_FIXED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0) != meeting)
		exit(1);
}

static void start_processes(const char *path)
{
	if (*path == '/' && (truncate(path, 0) || truncate(path, sizeof(meeting))))
		exit(1);
	share(path);
	for (int i = 1; i < threads; i++) {
		if (fork())
			continue;
		if (*path != '-')
			share(path);
		work((void *)(long)i);
		exit(0);
	}
}

static pthread_mutex_t asleep = PTHREAD_MUTEX_INITIALIZER;

static void *sleep_here(void *unused)
{
	(void)unused;
	atomic_fetch_add(&sleepers.word[0], 1);
	pthread_mutex_lock(&asleep);
	pthread_mutex_unlock(&asleep);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t workers[THREADS_MAX], sleeping[THREADS_MAX];
	int skip = argc > 4 ? atoi(argv[4]) : 0;
	const char *file = argc > 5 ? argv[5] : NULL;

	if (argc < 4)
		return 2;
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
		if (!strcmp(kernels[i].name, argv[1]))
			kernel = &kernels[i];
	threads = atoi(argv[2]);
	count = atol(argv[3]);
	if (!kernel || threads < 1 || threads > THREADS_MAX || skip > THREADS_MAX)
		return 2;
	if (kernel->prepare)
		kernel->prepare();
	pthread_mutex_lock(&asleep);
	for (int i = 0; i < skip; i++)
		pthread_create(&sleeping[i], NULL, sleep_here, NULL);
	while (atomic_load(&sleepers.word[0]) != skip)
		sched_yield();
	if (file)
		start_processes(file);
	for (int i = 1; i < threads && !file; i++)
		pthread_create(&workers[i], NULL, work, (void *)(long)i);
	work(NULL);
	for (int i = 1; i < threads && !file; i++)
		pthread_join(workers[i], NULL);
	while (file && wait(NULL) > 0)
		continue;
	pthread_mutex_unlock(&asleep);
	for (int i = 0; i < skip; i++)
		pthread_join(sleeping[i], NULL);
	return 0;
}
