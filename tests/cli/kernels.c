/*
 * Kernels of known traffic, one access a line and array: compiled with -DKERNEL=name -DLINES=n
 * -DROUNDS=n, without a C library and without a stack, so that nothing but the loops touches data.
 *
 * ROUNDS 0 is the twin: everything but the loop. Before and after the loop an array of 16 MB is
 * read, which is more than any cache of the small machine holds: nothing modified and nothing of
 * the kernel's arrays is left, so that what a loop adds is its own and all of it.
 */
#include <stdint.h>

#define LINE	    64
#define LINES_MAX   (1 << 18)
#define FLUSH_LINES (1 << 18)

static char a[LINES_MAX * LINE] __attribute__((aligned(4096)));
static char b[LINES_MAX * LINE] __attribute__((aligned(4096)));
static char c[LINES_MAX * LINE] __attribute__((aligned(4096)));
static char flush[FLUSH_LINES * LINE] __attribute__((aligned(4096)));

/* Not constants to the compiler: a kernel and its twin have the same code. */
static volatile long wanted[] = {LINES, ROUNDS};

#define INLINE static inline __attribute__((always_inline))

INLINE uint64_t get(const char *at)
{
	uint64_t value;

	__asm__ volatile("movq (%1), %0" : "=r"(value) : "r"(at));
	return value;
}

INLINE void put(char *at, uint64_t value)
{
	__asm__ volatile("movq %1, (%0)" : : "r"(at), "r"(value) : "memory");
}

INLINE void put_around_caches(char *at, uint64_t value)
{
	for (int byte = 0; byte < LINE; byte += 8)
		__asm__ volatile("movnti %1, (%0)" : : "r"(at + byte), "r"(value) : "memory");
}

INLINE void load(long i)
{
	get(a + i * LINE);
}

INLINE void store(long i)
{
	put(a + i * LINE, 1);
}

INLINE void copy(long i)
{
	put(b + i * LINE, get(a + i * LINE));
}

INLINE void update(long i)
{
	put(a + i * LINE, get(a + i * LINE) + 1);
}

INLINE void triad(long i)
{
	put(c + i * LINE, get(a + i * LINE) + 3 * get(b + i * LINE));
}

INLINE void stream(long i)
{
	put_around_caches(a + i * LINE, 1);
}

/* Every fourth line. */
INLINE void stride(long i)
{
	if (i % 4 == 0)
		get(a + i * LINE);
}

INLINE void flush_caches(void)
{
	for (long i = 0; i < FLUSH_LINES; i++)
		get(flush + i * LINE);
}

__attribute__((noreturn)) void _start(void)
{
	long lines = wanted[0], rounds = wanted[1];

	for (long i = 0; i < lines; i++) {
		put(a + i * LINE, 0);
		put(b + i * LINE, 0);
		put(c + i * LINE, 0);
	}
	for (long i = 0; i < FLUSH_LINES; i++)
		put(flush + i * LINE, 0);
	flush_caches();
	for (long round = 0; round < rounds; round++)
		for (long i = 0; i < lines; i++)
			KERNEL(i);
	flush_caches();
	__asm__ volatile("syscall" : : "a"(231), "D"(0)); /* exit_group */
	__builtin_unreachable();
}
