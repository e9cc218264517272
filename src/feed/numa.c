#include "feed/numa.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "feed/memory.h"
#include "machine/numa.h"

enum {
	GUEST_MMAP = 9,
	GUEST_MUNMAP = 11,
	GUEST_MREMAP = 25,
	GUEST_MBIND = 237,
	GUEST_SET_MEMPOLICY = 238,
	GUEST_GET_MEMPOLICY = 239,
	GUEST_MIGRATE_PAGES = 256,
	GUEST_MOVE_PAGES = 279,
};

/* Linux's, as in <linux/mempolicy.h>. */
enum { ASKED_DEFAULT, ASKED_PREFERRED, ASKED_BIND, ASKED_INTERLEAVE, ASKED_LOCAL, ASKED_MANY };

#define ASKED_STATIC	0x8000
#define ASKED_RELATIVE	0x4000
#define ASKED_BALANCING 0x2000
#define ASKED_FLAGS	(ASKED_STATIC | ASKED_RELATIVE | ASKED_BALANCING)

/* Of get_mempolicy(). */
#define TELL_NODE    1
#define TELL_AT	     2
#define TELL_ALLOWED 4

/* Of mbind() and move_pages(). */
#define MOVE_STRICT 1
#define MOVE_OWN    2
#define MOVE_ALL    4

#define PAGE_LOG2  12
#define PAGE_BYTES (1u << PAGE_LOG2)
#define LOOK_PAGES 4096 /* at once */
#define NODES_MAX  1024 /* for which a set of Linux's has room */
#define WORD_BITS  64

/* One that asks for a policy, as far as it is valid. */
struct wish {
	struct machine_memory_policy policy;
	uint32_t nodes; /* that were asked for, of the machine's */
};

static unsigned node_count(const struct feed_process *process)
{
	return (unsigned)__builtin_popcount(process->all_nodes);
}

static bool is_about_numa(int64_t number)
{
	switch (number) {
	case GUEST_MBIND:
	case GUEST_SET_MEMPOLICY:
	case GUEST_GET_MEMPOLICY:
	case GUEST_MIGRATE_PAGES:
	case GUEST_MOVE_PAGES:
		return true;
	default:
		return false;
	}
}

static bool is_about_mappings(int64_t number)
{
	return number == GUEST_MMAP || number == GUEST_MUNMAP || number == GUEST_MREMAP;
}

void feed_numa_syscall(struct feed_thread *thread, int64_t number, const uint64_t *arguments)
{
	if (is_about_numa(number) || is_about_mappings(number))
		memcpy(thread->arguments, arguments, sizeof(thread->arguments));
}

/*
 * A set of nodes as Linux takes it. @param bits  one more than are looked at
 * @return 0, -EFAULT, or -EINVAL where there are nodes beyond Linux's
 */
static int read_nodes(uint64_t *nodes, uint64_t address, uint64_t bits, uint64_t guest_base)
{
	*nodes = 0;
	if (!bits || !--bits || !address)
		return 0;
	if (bits > PAGE_BYTES * 8)
		return -EINVAL;
	for (uint64_t word = 0; word * WORD_BITS < bits; word++) {
		const uint64_t left = bits - word * WORD_BITS;
		uint64_t value;

		if (feed_memory_read(&value, guest_base + address + word * sizeof(value),
				     sizeof(value)) != sizeof(value))
			return -EFAULT;
		if (left < WORD_BITS)
			value &= (UINT64_C(1) << left) - 1;
		if (value && word >= NODES_MAX / WORD_BITS)
			return -EINVAL;
		/* Nodes that no machine has: the last bit stands for all of them. */
		*nodes |= word ? (uint64_t) !!value << (WORD_BITS - 1) : value;
	}
	return 0;
}

/* Relative sets count round the nodes that there are. */
static uint32_t fold(uint64_t nodes, unsigned count)
{
	uint32_t folded = 0;

	for (unsigned i = 0; i < WORD_BITS; i++)
		if (nodes >> i & 1)
			folded |= 1u << i % count;
	return folded;
}

static bool are_flags_valid(unsigned mode, unsigned flags)
{
	return !(flags & ASKED_STATIC && flags & ASKED_RELATIVE) &&
	       !(flags & ASKED_BALANCING && mode != ASKED_BIND);
}

/* @return 0 or -EINVAL */
static int make_wish(struct wish *wish, const struct feed_process *process, uint64_t asked,
		     uint64_t nodes)
{
	static const uint8_t modes[] = {
	    [ASKED_DEFAULT] = MACHINE_MEMORY_DEFAULT,
	    [ASKED_PREFERRED] = MACHINE_MEMORY_PREFERRED,
	    [ASKED_BIND] = MACHINE_MEMORY_BIND,
	    [ASKED_INTERLEAVE] = MACHINE_MEMORY_INTERLEAVE,
	    [ASKED_LOCAL] = MACHINE_MEMORY_LOCAL,
	    [ASKED_MANY] = MACHINE_MEMORY_BIND,
	};
	const unsigned flags = (unsigned)asked & ASKED_FLAGS;
	unsigned mode = (unsigned)asked & ~(unsigned)ASKED_FLAGS;

	if (mode >= sizeof(modes) || !are_flags_valid(mode, flags))
		return -EINVAL;
	if (!nodes) {
		/* Preferred without a node is local. */
		if (mode == ASKED_PREFERRED)
			mode = ASKED_LOCAL;
		else if (mode != ASKED_DEFAULT && mode != ASKED_LOCAL)
			return -EINVAL;
		if (mode == ASKED_LOCAL && flags)
			return -EINVAL;
		*wish = (struct wish){{modes[mode], 0, (uint16_t)(mode | flags)}, 0};
		return 0;
	}
	if (mode == ASKED_DEFAULT || mode == ASKED_LOCAL)
		return -EINVAL;
	wish->nodes = flags & ASKED_RELATIVE ? fold(nodes, node_count(process))
					     : (uint32_t)nodes & process->all_nodes;
	wish->policy = (struct machine_memory_policy){modes[mode], (uint8_t)wish->nodes,
						      (uint16_t)(mode | flags)};
	return wish->nodes ? 0 : -EINVAL;
}

/* The hart by whose policy the thread places pages; NULL: it has none for the moment. */
static struct machine_hart *hart_of(const struct feed_thread *thread)
{
	return thread->core ? thread->core : thread->placed;
}

static int set_policy(struct feed_process *process, struct feed_thread *thread, uint64_t guest_base)
{
	const uint64_t *a = thread->arguments;
	struct wish wish;
	uint64_t nodes;
	int error = read_nodes(&nodes, a[1], a[2], guest_base);

	if (!error)
		error = make_wish(&wish, process, (uint32_t)a[0], nodes);
	if (error)
		return error;
	thread->memory = wish.policy;
	if (hart_of(thread))
		machine_hart_set_memory(hart_of(thread), wish.policy);
	process->uses_numa = true;
	return 0;
}

/* Which of the pages from @address the system has in memory. @return 0, or -EFAULT for a hole */
static int look(uint8_t *there, uint64_t address, size_t pages)
{
	return syscall(SYS_mincore, address, pages * PAGE_BYTES, there) ? -EFAULT : 0;
}

/*
 * The node of a page, -EFAULT where nothing is mapped, or -ENOENT. A page that was mapped anew is
 * not there for the system: what the machine has of it is of the page before. One that the system
 * has filled is there, though the guest has not touched it yet.
 */
static int node_at(const struct feed_process *process, const struct feed_thread *thread,
		   uint64_t page, uint64_t guest_base)
{
	uint8_t there;
	int node;

	if (look(&there, guest_base + (page << PAGE_LOG2), 1))
		return -EFAULT;
	if (!(there & 1)) {
		machine_pages_forget(process->space, page, 1);
		return -ENOENT;
	}
	node = machine_page_node(process->space, page);
	if (node >= 0)
		return node;
	return hart_of(thread) ? (int)machine_page_touch(hart_of(thread), process->space, page)
			       : -ENOENT;
}

/* As the system touches a page whose node is asked for. */
static int touched_node_at(const struct feed_process *process, const struct feed_thread *thread,
			   uint64_t page, uint64_t guest_base)
{
	const int node = node_at(process, thread, page, guest_base);

	if (node != -ENOENT || !hart_of(thread))
		return node;
	return (int)machine_page_touch(hart_of(thread), process->space, page);
}

static int tell_nodes(uint64_t address, uint64_t bits, uint64_t nodes, uint64_t guest_base)
{
	uint64_t bytes = (bits - 1 + WORD_BITS - 1) / WORD_BITS * sizeof(nodes);
	uint64_t none = 0;

	if (bytes > PAGE_BYTES)
		return -EINVAL;
	for (uint64_t at = 0; at < bytes; at += sizeof(nodes))
		if (!feed_memory_write(guest_base + address + at, at ? &none : &nodes,
				       sizeof(nodes)))
			return -EFAULT;
	return 0;
}

/* What of the policy is said to be its mode. */
static int tell_mode(int *mode, const struct feed_process *process,
		     const struct feed_thread *thread, struct machine_memory_policy policy,
		     uint64_t guest_base)
{
	const uint64_t *a = thread->arguments;

	*mode = policy.asked;
	if (!(a[4] & TELL_NODE))
		return 0;
	if (a[4] & TELL_AT) {
		*mode = touched_node_at(process, thread, a[3] >> PAGE_LOG2, guest_base);
		return *mode < 0 ? -EFAULT : 0;
	}
	if (policy.mode != MACHINE_MEMORY_INTERLEAVE || !hart_of(thread))
		return -EINVAL;
	*mode = (int)machine_hart_next_node(hart_of(thread));
	return 0;
}

static int get_policy(const struct feed_process *process, const struct feed_thread *thread,
		      uint64_t guest_base)
{
	const uint64_t *a = thread->arguments, flags = a[4];
	struct machine_memory_policy policy = thread->memory;
	int mode = ASKED_DEFAULT, error = 0;
	uint8_t there;

	if (flags & ~(uint64_t)(TELL_NODE | TELL_AT | TELL_ALLOWED) ||
	    (a[1] && a[2] < node_count(process)) ||
	    (flags & TELL_ALLOWED && flags & (TELL_NODE | TELL_AT)) ||
	    (!(flags & (TELL_AT | TELL_ALLOWED)) && a[3]))
		return -EINVAL;
	if (flags & TELL_AT) {
		if (look(&there, guest_base + a[3] / PAGE_BYTES * PAGE_BYTES, 1))
			return -EFAULT;
		policy = machine_range_at(process->space, a[3] >> PAGE_LOG2);
	}
	if (!(flags & TELL_ALLOWED))
		error = tell_mode(&mode, process, thread, policy, guest_base);
	if (!error && a[0] && !feed_memory_write(guest_base + a[0], &mode, sizeof(mode)))
		error = -EFAULT;
	if (!error && a[1])
		error =
		    tell_nodes(a[1], a[2], flags & TELL_ALLOWED ? process->all_nodes : policy.nodes,
			       guest_base);
	return error;
}

/* What becomes of the pages of a range that has got a policy. */
struct rebinding {
	const struct feed_process *process;
	struct machine_memory_policy policy;
	bool moves;
	bool misplaced; /* a page is left where it should not be */
};

static unsigned target_of(const struct rebinding *rebinding, uint64_t page)
{
	uint32_t nodes = rebinding->policy.nodes;

	if (rebinding->policy.mode == MACHINE_MEMORY_INTERLEAVE)
		for (unsigned i = (unsigned)(page % (unsigned)__builtin_popcount(nodes)); i; i--)
			nodes &= nodes - 1;
	return (unsigned)__builtin_ctz(nodes);
}

static void rebind_page(struct rebinding *rebinding, uint64_t page, bool there)
{
	struct machine_address_space *space = rebinding->process->space;
	const int node = machine_page_node(space, page);

	if (node < 0)
		return;
	if (!there)
		machine_pages_forget(space, page, 1);
	else if (!rebinding->policy.nodes || rebinding->policy.nodes >> node & 1)
		return;
	else if (rebinding->moves)
		machine_page_move(space, page, target_of(rebinding, page));
	else
		rebinding->misplaced = true;
}

/* @return 0, or -EFAULT where not all of it is mapped */
static int rebind(struct rebinding *rebinding, uint64_t first, uint64_t count, uint64_t guest_base)
{
	uint8_t there[LOOK_PAGES];

	for (uint64_t done = 0; done < count; done += LOOK_PAGES) {
		const size_t now = count - done < LOOK_PAGES ? (size_t)(count - done) : LOOK_PAGES;

		if (look(there, guest_base + ((first + done) << PAGE_LOG2), now))
			return -EFAULT;
		for (size_t i = 0; i < now; i++)
			rebind_page(rebinding, first + done + i, there[i] & 1);
	}
	return 0;
}

static int bind_range(struct feed_process *process, const struct feed_thread *thread,
		      uint64_t guest_base)
{
	const uint64_t *a = thread->arguments, flags = a[5];
	const uint64_t first = a[0] >> PAGE_LOG2, count = (a[1] + PAGE_BYTES - 1) >> PAGE_LOG2;
	struct rebinding rebinding = {.process = process, .moves = flags & (MOVE_OWN | MOVE_ALL)};
	struct wish wish;
	uint64_t nodes;
	int error = read_nodes(&nodes, a[3], a[4], guest_base);

	if (flags & ~(uint64_t)(MOVE_STRICT | MOVE_OWN | MOVE_ALL) || a[0] % PAGE_BYTES ||
	    first + count < first)
		return -EINVAL;
	if (!error)
		error = make_wish(&wish, process, (uint32_t)a[2], nodes);
	if (error || !count)
		return error;
	rebinding.policy = wish.policy;
	process->uses_numa = true;
	error = rebind(&rebinding, first, count, guest_base);
	if (error)
		return error;
	if (!machine_range_set(process->space, first, count, wish.policy))
		return -ENOMEM;
	return flags & MOVE_STRICT && rebinding.misplaced ? -EIO : 0;
}

static bool is_own(const struct feed_process *process, uint64_t pid)
{
	if (!pid || pid == (uint64_t)getpid())
		return true;
	for (unsigned i = 0; i < process->threads_seen; i++)
		if (process->threads[i].tid == pid)
			return true;
	return false;
}

/* @return where the page is then, or a negative error, as the status of a page */
static int move_page(const struct feed_process *process, const struct feed_thread *thread,
		     uint64_t page, int target, uint64_t guest_base)
{
	const int node = node_at(process, thread, page, guest_base);

	if (node < 0 || target < 0)
		return node;
	machine_page_move(process->space, page, (unsigned)target);
	return target;
}

static int move_pages(const struct feed_process *process, const struct feed_thread *thread,
		      uint64_t guest_base)
{
	const uint64_t *a = thread->arguments;
	const unsigned nodes = node_count(process);

	if (a[5] & ~(uint64_t)(MOVE_OWN | MOVE_ALL))
		return -EINVAL;
	if (!is_own(process, a[0]))
		return -ESRCH;
	for (uint64_t i = 0; i < a[1]; i++) {
		int target = -1, status;
		uint64_t address;

		if (feed_memory_read(&address, guest_base + a[2] + i * sizeof(address),
				     sizeof(address)) != sizeof(address) ||
		    (a[3] && feed_memory_read(&target, guest_base + a[3] + i * sizeof(target),
					      sizeof(target)) != sizeof(target)))
			return -EFAULT;
		if (a[3] && (unsigned)target >= nodes)
			return -ENODEV;
		status = move_page(process, thread, address >> PAGE_LOG2, target, guest_base);
		if (!feed_memory_write(guest_base + a[4] + i * sizeof(status), &status,
				       sizeof(status)))
			return -EFAULT;
	}
	return 0;
}

/* Nodes go to those of the other set by their rank; what is in both stays where sizes differ. */
static void make_targets(uint8_t *targets, unsigned count, uint32_t from, uint32_t to)
{
	const unsigned from_count = (unsigned)__builtin_popcount(from),
		       to_count = (unsigned)__builtin_popcount(to);
	unsigned rank = 0;

	for (unsigned node = 0; node < count; node++) {
		uint32_t rest = to;

		targets[node] = (uint8_t)node;
		if (!(from >> node & 1))
			continue;
		for (unsigned i = rank++ % to_count; i; i--)
			rest &= rest - 1;
		if (from_count == to_count || !(to >> node & 1))
			targets[node] = (uint8_t)__builtin_ctz(rest);
	}
}

static int migrate_pages(const struct feed_process *process, const struct feed_thread *thread,
			 uint64_t guest_base)
{
	const uint64_t *a = thread->arguments;
	uint8_t targets[WORD_BITS];
	uint64_t from, to;
	int error = read_nodes(&from, a[2], a[1], guest_base);

	if (!error)
		error = read_nodes(&to, a[3], a[1], guest_base);
	if (error)
		return error;
	if (!is_own(process, a[0]))
		return -ESRCH;
	from &= process->all_nodes;
	to &= process->all_nodes;
	if (!to)
		return -EINVAL;
	make_targets(targets, node_count(process), (uint32_t)from, (uint32_t)to);
	machine_pages_migrate(process->space, targets);
	return 0;
}

/* What it grows by is placed anew; what is there goes along, with its policy. */
static void follow_move(const struct feed_process *process, const struct feed_thread *thread,
			uint64_t first, uint64_t length, uint64_t target)
{
	const uint64_t *a = thread->arguments;
	const uint64_t target_length = (a[2] + PAGE_BYTES - 1) >> PAGE_LOG2;
	const uint64_t kept = target == first ? length : 0;

	if (a[3] & MREMAP_DONTUNMAP)
		machine_range_set(process->space, target, target_length,
				  machine_range_at(process->space, first));
	else
		machine_range_move(process->space, first, length, target, target_length);
	if (target_length > kept)
		machine_pages_forget(process->space, target + kept, target_length - kept);
}

/* Pages that are mapped anew are placed anew, by the policies of those who ask for any. */
static void follow_mapping(struct feed_process *process, const struct feed_thread *thread,
			   int64_t number, int64_t result)
{
	const struct machine_memory_policy none = {0};
	const uint64_t *a = thread->arguments;
	const uint64_t length = (a[1] + PAGE_BYTES - 1) >> PAGE_LOG2;
	const uint64_t first = (number == GUEST_MMAP ? (uint64_t)result : a[0]) >> PAGE_LOG2;

	if (!process->uses_numa || (result < 0 && result > -(int64_t)PAGE_BYTES) || !length)
		return;
	if (number == GUEST_MREMAP) {
		follow_move(process, thread, first, length, (uint64_t)result >> PAGE_LOG2);
		return;
	}
	machine_range_set(process->space, first, length, none);
	machine_pages_forget(process->space, first, length);
}

int64_t feed_numa_return(struct feed_process *process, struct feed_thread *thread, int64_t number,
			 int64_t result, uint64_t guest_base)
{
	if (!process->answers)
		return result;
	switch (number) {
	case GUEST_SET_MEMPOLICY:
		return set_policy(process, thread, guest_base);
	case GUEST_GET_MEMPOLICY:
		return get_policy(process, thread, guest_base);
	case GUEST_MBIND:
		return bind_range(process, thread, guest_base);
	case GUEST_MOVE_PAGES:
		return move_pages(process, thread, guest_base);
	case GUEST_MIGRATE_PAGES:
		return migrate_pages(process, thread, guest_base);
	case GUEST_MMAP:
	case GUEST_MUNMAP:
	case GUEST_MREMAP:
		follow_mapping(process, thread, number, result);
		return result;
	default:
		return result;
	}
}
