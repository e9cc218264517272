#include "feed/syscall.h"

enum guest_syscall {
	GUEST_MMAP = 9,
	GUEST_MPROTECT = 10,
	GUEST_MUNMAP = 11,
	GUEST_BRK = 12,
	GUEST_RT_SIGPROCMASK = 14,
	GUEST_MREMAP = 25,
	GUEST_MADVISE = 28,
	GUEST_CLONE = 56,
	GUEST_FORK = 57,
	GUEST_EXIT = 60,
	GUEST_FUTEX = 202,
	GUEST_SET_TID_ADDRESS = 218,
	GUEST_SET_ROBUST_LIST = 273,
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
static bool is_brief(int64_t number, uint64_t a2)
{
	switch (number) {
	case GUEST_MMAP:
	case GUEST_MPROTECT:
	case GUEST_MUNMAP:
	case GUEST_BRK:
	case GUEST_RT_SIGPROCMASK:
	case GUEST_MREMAP:
	case GUEST_MADVISE:
	case GUEST_CLONE:
	case GUEST_FORK:
	case GUEST_EXIT:
	case GUEST_SET_TID_ADDRESS:
	case GUEST_SET_ROBUST_LIST:
	case GUEST_RSEQ:
	case GUEST_CLONE3:
		return true;
	case GUEST_FUTEX:
		return wakes(a2);
	default:
		return false;
	}
}

void feed_syscall(struct feed_thread *thread, int64_t number, const uint64_t *arguments)
{
	if (is_brief(number, arguments[1]))
		feed_thread_pause_briefly(thread);
	else
		feed_thread_pause(thread);
}
