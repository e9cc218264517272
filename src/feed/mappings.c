#include "feed/mappings.h"

#include <string.h>
#include <sys/mman.h>

#include "machine/numa.h"

enum {
	GUEST_MMAP = 9,
	GUEST_MPROTECT = 10,
	GUEST_MUNMAP = 11,
	GUEST_BRK = 12,
	GUEST_MREMAP = 25,
	GUEST_MADVISE = 28,
};

#define PAGE_LOG2  12
#define PAGE_BYTES (1u << PAGE_LOG2)

/* Of pages. */
struct range {
	uint64_t first, count;
};

static bool is_about_mappings(int64_t number)
{
	switch (number) {
	case GUEST_MMAP:
	case GUEST_MPROTECT:
	case GUEST_MUNMAP:
	case GUEST_BRK:
	case GUEST_MREMAP:
	case GUEST_MADVISE:
		return true;
	default:
		return false;
	}
}

void feed_mappings_syscall(struct feed_thread *thread, int64_t number, const uint64_t *arguments)
{
	if (is_about_mappings(number))
		memcpy(thread->arguments, arguments, sizeof(thread->arguments));
}

static struct range range_of(uint64_t address, uint64_t bytes)
{
	return (struct range){address >> PAGE_LOG2, (bytes + PAGE_BYTES - 1) >> PAGE_LOG2};
}

static void unmap(const struct feed_process *process, struct range range)
{
	machine_pages_unmap(process->space, range.first, range.count);
	machine_range_anonymous(process->space, range.first, range.count, false);
}

static void map(const struct feed_process *process, struct range range, uint64_t flags)
{
	if (flags & MAP_FIXED)
		unmap(process, range);
	if (flags & MAP_ANONYMOUS && flags & MAP_PRIVATE)
		machine_range_anonymous(process->space, range.first, range.count, true);
}

static void resize(const struct feed_process *process, struct range range, uint64_t count,
		   bool anonymous)
{
	if (count < range.count)
		unmap(process, (struct range){range.first + count, range.count - count});
	else if (anonymous)
		machine_range_anonymous(process->space, range.first, count, true);
}

/* The new place is as the old one was at its begin. */
static void move(const struct feed_process *process, const struct feed_thread *thread,
		 struct range from, struct range to)
{
	struct machine_hart *core = thread->core ? thread->core : thread->placed;
	const bool anonymous = machine_is_anonymous(process->space, from.first);
	const uint64_t flags = thread->arguments[3];

	if (to.first == from.first) {
		resize(process, from, to.count, anonymous);
		return;
	}
	if (flags & MREMAP_FIXED)
		unmap(process, to);
	if (anonymous)
		machine_range_anonymous(process->space, to.first, to.count, true);
	if (core)
		machine_pages_move(core, process->space, from.first,
				   from.count < to.count ? from.count : to.count, to.first);
	if (!(flags & MREMAP_DONTUNMAP))
		unmap(process, from);
}

static void move_break(struct feed_process *process, uint64_t to)
{
	const uint64_t from = process->data_end;

	process->data_end = to;
	if (from && to > from)
		map(process, range_of(from, to - from), MAP_ANONYMOUS | MAP_PRIVATE);
	else if (from && to < from)
		unmap(process, range_of(to + PAGE_BYTES - 1, from - to));
}

static void advise(const struct feed_process *process, struct range range, uint64_t advice)
{
	if (advice == MADV_DONTNEED || advice == MADV_FREE)
		machine_pages_unmap(process->space, range.first, range.count);
	else if (advice == MADV_NOHUGEPAGE)
		machine_range_anonymous(process->space, range.first, range.count, false);
}

void feed_mappings_return(struct feed_process *process, const struct feed_thread *thread,
			  int64_t number, int64_t result)
{
	const uint64_t *a = thread->arguments;

	if (result < 0 && result > -(int64_t)PAGE_BYTES)
		return;
	switch (number) {
	case GUEST_MMAP:
		map(process, range_of((uint64_t)result, a[1]), a[3]);
		break;
	case GUEST_MPROTECT:
		machine_pages_protect(process->space, range_of(a[0], a[1]).first,
				      range_of(a[0], a[1]).count);
		break;
	case GUEST_MUNMAP:
		unmap(process, range_of(a[0], a[1]));
		break;
	case GUEST_BRK:
		move_break(process, (uint64_t)result);
		break;
	case GUEST_MREMAP:
		move(process, thread, range_of(a[0], a[1]), range_of((uint64_t)result, a[2]));
		break;
	case GUEST_MADVISE:
		advise(process, range_of(a[0], a[1]), a[2]);
		break;
	default:
		break;
	}
}
