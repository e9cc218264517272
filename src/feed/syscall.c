#include "feed/syscall.h"

#include <sched.h>

enum guest_syscall {
	GUEST_MMAP = 9,
	GUEST_MPROTECT = 10,
	GUEST_MUNMAP = 11,
	GUEST_BRK = 12,
	GUEST_RT_SIGACTION = 13,
	GUEST_RT_SIGPROCMASK = 14,
	GUEST_SCHED_YIELD = 24,
	GUEST_MREMAP = 25,
	GUEST_MADVISE = 28,
	GUEST_GETPID = 39,
	GUEST_CLONE = 56,
	GUEST_FORK = 57,
	GUEST_VFORK = 58,
	GUEST_EXIT = 60,
	GUEST_SIGALTSTACK = 131,
	GUEST_GETTID = 186,
	GUEST_FUTEX = 202,
	GUEST_SCHED_SETAFFINITY = 203,
	GUEST_SCHED_GETAFFINITY = 204,
	GUEST_SET_TID_ADDRESS = 218,
	GUEST_CLOCK_GETTIME = 228,
	GUEST_SET_ROBUST_LIST = 273,
	GUEST_PRLIMIT64 = 302,
	GUEST_RSEQ = 334,
	GUEST_CLONE3 = 435,
};

/* FUTEX_WAKE, FUTEX_REQUEUE, FUTEX_CMP_REQUEUE, FUTEX_WAKE_OP, FUTEX_WAKE_BITSET */
static bool wakes(uint64_t futex_operation)
{
	const uint64_t command = futex_operation & 0x7f,
		       waking = 1 << 1 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 10;

	return command < 32 && waking >> command & 1;
}

/* Whether the call comes back without waiting for anybody; of others that is not known. */
static bool is_brief(const struct feed_process *process, int64_t number, const uint64_t *arguments)
{
	switch (number) {
	case GUEST_CLONE:
		return !process->waits_for_children || !(arguments[0] & CLONE_VFORK);
	case GUEST_MMAP:
	case GUEST_MPROTECT:
	case GUEST_MUNMAP:
	case GUEST_BRK:
	case GUEST_RT_SIGACTION:
	case GUEST_RT_SIGPROCMASK:
	case GUEST_SCHED_YIELD:
	case GUEST_MREMAP:
	case GUEST_MADVISE:
	case GUEST_GETPID:
	case GUEST_FORK:
	case GUEST_VFORK: /* which no emulator has: the child has a copy */
	case GUEST_EXIT:
	case GUEST_SIGALTSTACK:
	case GUEST_GETTID:
	case GUEST_SCHED_SETAFFINITY:
	case GUEST_SCHED_GETAFFINITY:
	case GUEST_SET_TID_ADDRESS:
	case GUEST_CLOCK_GETTIME:
	case GUEST_PRLIMIT64:
	case GUEST_SET_ROBUST_LIST:
	case GUEST_RSEQ:
	case GUEST_CLONE3: /* which no emulator has */
		return true;
	case GUEST_FUTEX:
		return wakes(arguments[1]);
	default:
		return false;
	}
}

/* QEMU has no vfork(): that is fork(). */
static bool forks(int64_t number, const uint64_t *arguments)
{
	return number == GUEST_FORK || number == GUEST_VFORK ||
	       (number == GUEST_CLONE &&
		(!(arguments[0] & CLONE_VM) || arguments[0] & CLONE_VFORK));
}

void feed_syscall(const struct feed_process *process, struct feed_thread *thread, int64_t number,
		  const uint64_t *arguments)
{
	if (is_brief(process, number, arguments))
		feed_thread_pause_briefly(thread);
	else
		feed_thread_pause(thread);
	if (process->threads_seen > 1 && forks(number, arguments))
		feed_thread_halt_others(thread);
}

void feed_syscall_return(struct feed_process *process, struct feed_thread *thread, int64_t result)
{
	feed_thread_release_others(thread);
	feed_process_made(process, thread, result);
	feed_thread_resume(thread);
}
