#include "feed/mappings.h"

#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "feed/kernel_io.h"
#include "feed/maps.h"
#include "machine/copy.h"
#include "machine/numa.h"

enum {
	GUEST_MMAP = 9,
	GUEST_MPROTECT = 10,
	GUEST_MUNMAP = 11,
	GUEST_BRK = 12,
	GUEST_MREMAP = 25,
	GUEST_MADVISE = 28,
	GUEST_SHMAT = 30,
	GUEST_SHMDT = 67,
	GUEST_PKEY_MPROTECT = 329,
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
	case GUEST_SHMAT:
	case GUEST_SHMDT:
	case GUEST_PKEY_MPROTECT:
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
	machine_range_unshare(process->space, range.first, range.count);
}

/* What has no file is known by its maker. */
static uint64_t file_of(struct feed_process *process, uint64_t flags, int fd)
{
	struct stat status;

	if (flags & MAP_ANONYMOUS)
		return feed_file_number((uint64_t)getpid(), UINT64_MAX - process->shared++);
	if (syscall(SYS_fstat, (long)fd, &status) || !S_ISREG(status.st_mode))
		return MACHINE_NO_FILE;
	return feed_file_number(status.st_dev, status.st_ino);
}

static void share(struct feed_process *process, struct range range, const uint64_t *arguments)
{
	const uint64_t flags = arguments[3];
	const bool is_private = !(flags & MAP_SHARED);
	struct machine_file_range file = {
	    .page = flags & MAP_ANONYMOUS ? 0 : arguments[5] >> PAGE_LOG2,
	    .is_private = is_private,
	};

	if (is_private && (flags & MAP_ANONYMOUS || arguments[2] & PROT_WRITE))
		return;
	file.file = file_of(process, flags, (int)arguments[4]);
	if (file.file != MACHINE_NO_FILE)
		machine_range_share(process->space, range.first, range.count, file);
}

/* A device's number as fstat() has it. */
static uint64_t device_of(const struct feed_map *map)
{
	return (map->minor & 0xff) | (map->major & 0xfff) << 8 | (map->minor & 0xfff00) << 12 |
	       (map->major & 0xfffff000) << 32;
}

struct beginning {
	struct feed_process *process;
	uint64_t guest_base;
};

/* Of the emulator's own the guest sees nothing. */
static void share_begun(void *arg, const struct feed_map *map)
{
	const struct beginning *beginning = arg;
	const struct range range =
	    range_of(map->begin - beginning->guest_base, map->end - map->begin);
	const struct machine_file_range file = {
	    .file = feed_file_number(device_of(map), map->inode),
	    .page = map->offset >> PAGE_LOG2,
	    .is_private = true,
	};

	if (map->inode && map->is_private && !map->writable && map->begin >= beginning->guest_base)
		machine_range_share(beginning->process->space, range.first, range.count, file);
}

void feed_mappings_begin(struct feed_process *process, uint64_t guest_base)
{
	struct beginning beginning = {process, guest_base};

	feed_maps_read(share_begun, &beginning);
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

/* Memory of System V, which has the segment's id for a file. */
static void attach(const struct feed_process *process, uint64_t address, int segment)
{
	const struct machine_file_range file = {
	    .file = feed_file_number(UINT64_MAX, (uint64_t)segment),
	};
	struct shmid_ds status;
	struct range range;

	if (syscall(SYS_shmctl, (long)segment, (long)IPC_STAT, &status))
		return;
	range = range_of(address, status.shm_segsz);
	unmap(process, range);
	machine_range_share(process->space, range.first, range.count, file);
}

/* All of the segment goes. */
static void detach(const struct feed_process *process, uint64_t address)
{
	struct range range = range_of(address, 0);
	struct machine_file_range first, next;

	if (!machine_range_file(process->space, range.first, &first))
		return;
	do
		range.count++;
	while (machine_range_file(process->space, range.first + range.count, &next) &&
	       next.file == first.file && next.page == first.page + range.count);
	unmap(process, range);
}

/* The same pages of a file at another address, or more of them. @return whether it is of one */
static bool move_shared(const struct feed_process *process, uint64_t flags, struct range from,
			struct range to)
{
	struct machine_file_range file;

	if (!machine_range_file(process->space, from.first, &file))
		return false;
	if (flags & MREMAP_FIXED)
		unmap(process, to);
	if (!(flags & MREMAP_DONTUNMAP))
		unmap(process, from);
	machine_range_share(process->space, to.first, to.count, file);
	return true;
}

/* The new place is as the old one was at its begin. */
static void move(const struct feed_process *process, const struct feed_thread *thread,
		 struct range from, struct range to)
{
	struct machine_hart *core = thread->core ? thread->core : thread->placed;
	const bool anonymous = machine_is_anonymous(process->space, from.first);
	const uint64_t flags = thread->arguments[3];

	if (move_shared(process, flags, from, to))
		return;
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

static void protect(const struct feed_process *process, struct range range, uint64_t rights)
{
	machine_pages_protect(process->space, range.first, range.count);
	if (rights & PROT_WRITE)
		machine_range_writable(process->space, range.first, range.count);
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
		share(process, range_of((uint64_t)result, a[1]), a);
		break;
	case GUEST_MPROTECT:
	case GUEST_PKEY_MPROTECT:
		protect(process, range_of(a[0], a[1]), a[2]);
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
	case GUEST_SHMAT:
		attach(process, (uint64_t)result, (int)a[0]);
		break;
	case GUEST_SHMDT:
		detach(process, a[0]);
		break;
	default:
		break;
	}
}
