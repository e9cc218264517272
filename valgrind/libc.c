/*
 * The functions of the C library that the layers call when they join a machine, on those of
 * Valgrind: its tools have no C library. Whatever else is called does not link.
 */
#include <stdarg.h>
#include <stddef.h>

#include "own.h"
#include "pub_tool_basics.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"
#include "valgrind.h"

#define OWN   "pmulab"
#define EOWN  4095 /* a system call's results from here down to -1 are errors */
#define ARENA 0	   /* that of VG_(malloc)() */

/* Valgrind's own; no header that it installs declares them. */
void *VG_(arena_memalign)(Int arena, const HChar *name, SizeT alignment, SizeT size);

static int last_error;

int *__errno_location(void)
{
	return &last_error;
}

static long system_call(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	if (result >= -EOWN && result < 0) {
		last_error = (int)-result;
		return -1;
	}
	return result;
}

long syscall(long number, ...)
{
	long a[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	return system_call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

void *malloc(size_t size)
{
	return VG_(malloc)(OWN, size);
}

void *calloc(size_t count, size_t size)
{
	return VG_(calloc)(OWN, count, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return VG_(arena_memalign)(ARENA, OWN, alignment, size);
}

void free(void *memory)
{
	VG_(free)(memory);
}

int memcmp(const void *a, const void *b, size_t size)
{
	return VG_(memcmp)(a, b, size);
}

size_t strlen(const char *text)
{
	return VG_(strlen)(text);
}

int strcmp(const char *a, const char *b)
{
	return VG_(strcmp)(a, b);
}

size_t strcspn(const char *text, const char *others)
{
	return VG_(strcspn)(text, others);
}

int strncmp(const char *a, const char *b, size_t size)
{
	return VG_(strncmp)(a, b, size);
}

int strcasecmp(const char *a, const char *b)
{
	return VG_(strcasecmp)(a, b);
}

char *strstr(const char *text, const char *part)
{
	return VG_(strstr)(text, part);
}

/* Of decimal numbers: the layers have no others to read here. */
unsigned long long strtoull(const char *text, char **end, int base)
{
	(void)base;
	return VG_(strtoull10)(text, end);
}

void *memchr(const void *bytes, int character, size_t size)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < size; i++)
		if (at[i] == (unsigned char)character)
			return (void *)(at + i);
	return NULL;
}

char *strchr(const char *text, int character)
{
	return VG_(strchr)(text, (HChar)character);
}

char *strrchr(const char *text, int character)
{
	return VG_(strrchr)(text, (HChar)character);
}

char *strerror(int error)
{
	static char text[32];

	VG_(snprintf)(text, sizeof(text), "error %d", error);
	return text;
}

int vsnprintf(char *text, size_t size, const char *format, va_list list)
{
	return (int)VG_(vsnprintf)(text, (Int)size, format, list);
}

int snprintf(char *text, size_t size, const char *format, ...)
{
	va_list list;
	int length;

	va_start(list, format);
	length = vsnprintf(text, size, format, list);
	va_end(list);
	return length;
}

int sprintf(char *text, const char *format, ...)
{
	va_list list;
	int length;

	va_start(list, format);
	length = (int)VG_(vsprintf)(text, format, list);
	va_end(list);
	return length;
}

int open(const char *path, int flags, ...)
{
	return (int)system_call(__NR_open, (long)path, flags, 0, 0, 0, 0);
}

int open64(const char *path, int flags, ...)
{
	return open(path, flags);
}

int close(int fd)
{
	return (int)system_call(__NR_close, fd, 0, 0, 0, 0, 0);
}

long read(int fd, void *bytes, size_t size)
{
	return system_call(__NR_read, fd, (long)bytes, (long)size, 0, 0, 0);
}

long write(int fd, const void *bytes, size_t size)
{
	return system_call(__NR_write, fd, (long)bytes, (long)size, 0, 0, 0);
}

long pwrite(int fd, const void *bytes, size_t size, long offset)
{
	return system_call(__NR_pwrite64, fd, (long)bytes, (long)size, offset, 0, 0);
}

long pwrite64(int fd, const void *bytes, size_t size, long offset)
{
	return pwrite(fd, bytes, size, offset);
}

long pread(int fd, void *bytes, size_t size, long offset)
{
	return system_call(__NR_pread64, fd, (long)bytes, (long)size, offset, 0, 0);
}

long pread64(int fd, void *bytes, size_t size, long offset)
{
	return pread(fd, bytes, size, offset);
}

int fstat64(int fd, void *status)
{
	return (int)system_call(__NR_fstat, fd, (long)status, 0, 0, 0, 0);
}

int fstatat64(int directory, const char *path, void *status, int flags)
{
	return (int)system_call(__NR_newfstatat, directory, (long)path, (long)status, flags, 0, 0);
}

int fgetxattr(int fd, const char *name, void *value, size_t size)
{
	return (int)system_call(__NR_fgetxattr, fd, (long)name, (long)value, (long)size, 0, 0);
}

int stat64(const char *path, void *status)
{
	return (int)system_call(__NR_stat, (long)path, (long)status, 0, 0, 0, 0);
}

int access(const char *path, int mode)
{
	return (int)system_call(__NR_access, (long)path, mode, 0, 0, 0, 0);
}

long readlink(const char *path, char *text, size_t size)
{
	return system_call(__NR_readlink, (long)path, (long)text, (long)size, 0, 0, 0);
}

int ftruncate64(int fd, long size)
{
	return (int)system_call(__NR_ftruncate, fd, size, 0, 0, 0, 0);
}

int memfd_create(const char *name, unsigned flags)
{
	return (int)system_call(319, (long)name, flags, 0, 0, 0, 0);
}

int kill(int pid, int signal)
{
	return (int)system_call(__NR_kill, pid, signal, 0, 0, 0, 0);
}

int getpid(void)
{
	return (int)system_call(__NR_getpid, 0, 0, 0, 0, 0, 0);
}

unsigned geteuid(void)
{
	return (unsigned)system_call(__NR_geteuid, 0, 0, 0, 0, 0, 0);
}

unsigned getegid(void)
{
	return (unsigned)system_call(__NR_getegid, 0, 0, 0, 0, 0, 0);
}

int prctl(int option, ...)
{
	return (int)system_call(__NR_prctl, option, 0, 0, 0, 0, 0);
}

int gettid(void)
{
	return (int)system_call(__NR_gettid, 0, 0, 0, 0, 0, 0);
}

int sched_yield(void)
{
	return (int)system_call(__NR_sched_yield, 0, 0, 0, 0, 0, 0);
}

/* No thread keeps anything of its own: see tool.c. */
int pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void))
{
	(void)before, (void)parent, (void)child;
	return 1;
}

int pthread_once(int *once, void (*first)(void))
{
	if (!*once)
		first();
	*once = 1;
	return 0;
}

int sched_getaffinity(int pid, size_t size, void *set)
{
	return system_call(__NR_sched_getaffinity, pid, (long)size, (long)set, 0, 0, 0) < 0 ? -1
											    : 0;
}

int __sched_cpucount(size_t size, const unsigned char *set)
{
	int count = 0;

	for (size_t i = 0; i < size; i++)
		count += __builtin_popcount(set[i]);
	return count;
}

int nanosleep(const void *time, void *left)
{
	return (int)system_call(__NR_nanosleep, (long)time, (long)left, 0, 0, 0, 0);
}

int clock_gettime(int clock, void *time)
{
	return (int)system_call(__NR_clock_gettime, clock, (long)time, 0, 0, 0, 0);
}

void *mmap64(void *address, size_t size, int protection, int flags, int fd, long offset)
{
	(void)address, (void)protection;
	return flags & VKI_MAP_SHARED ? own_map_shared(fd, size, offset) : own_map(size);
}

int munmap(void *address, size_t size)
{
	own_unmap(address, size);
	return 0;
}

void __assert_fail(const char *what, const char *file, unsigned line, const char *function)
{
	VG_(assert_fail)(True, what, file, (Int)line, function, "");
}

void __stack_chk_fail(void)
{
	VG_(tool_panic)("a stack was overrun");
}
