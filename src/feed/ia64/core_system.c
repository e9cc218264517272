#include "feed/ia64/core_system.h"

#include "feed/ia64/process.h"
#include "feed/ia64/space.h"
#include "feed/ia64/sys.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Numbers less 1024: arch/ia64/kernel/syscalls/syscall.tbl of Linux. */
enum {
	READ = 2,
	WRITE = 3,
	FCNTL = 42,
	SELECT = 65,
	POLL = 66,
	SEMOP = 83,
	MSGSND = 86,
	MSGRCV = 87,
	WAIT4 = 102,
	FLOCK = 121,
	READV = 122,
	WRITEV = 123,
	NANOSLEEP = 144,
	SIGSUSPEND = 158,
	SIGTIMEDWAIT = 159,
	SENDFILE = 163,
	CONNECT = 168,
	ACCEPT = 170,
	SENDTO = 175,
	RECVFROM = 177,
	SENDMSG = 181,
	RECVMSG = 182,
	FUTEX = 206,
	EPOLL_WAIT = 221,
	SEMTIMEDOP = 223,
	CLOCK_NANOSLEEP = 232,
	WAITID = 246,
	PSELECT6 = 270,
	PPOLL = 271,
	EPOLL_PWAIT = 281,
	ACCEPT4 = 310,
};

#define FIRST	   1024
#define AT_ONCE	   4096 /* bytes that a pipe takes where it takes any */
#define NS_A_SEC   1000000000ll
#define LOCK_WAITS 7 /* F_SETLKW */

/* Whether a descriptor's transfer waits for somebody else. */
static bool transfer_waits(int fd, short event, uint64_t bytes)
{
	struct pollfd poll_fd = {.fd = fd, .events = event};
	struct stat status;

	if (fstat(fd, &status) || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))
		return false;
	return (event == POLLOUT && bytes > AT_ONCE) || poll(&poll_fd, 1, 0) != 1;
}

static bool waits(unsigned number, const uint64_t *a)
{
	switch (number) {
	case READ:
	case READV:
		return transfer_waits((int)a[0], POLLIN, 0);
	case WRITE:
		return transfer_waits((int)a[0], POLLOUT, a[2]);
	case WRITEV:
		return transfer_waits((int)a[0], POLLOUT, AT_ONCE + 1);
	case FCNTL:
		return a[1] == LOCK_WAITS;
	case SELECT:
	case POLL:
	case SEMOP:
	case MSGSND:
	case MSGRCV:
	case WAIT4:
	case FLOCK:
	case NANOSLEEP:
	case SIGSUSPEND:
	case SIGTIMEDWAIT:
	case SENDFILE:
	case CONNECT:
	case ACCEPT:
	case SENDTO:
	case RECVFROM:
	case SENDMSG:
	case RECVMSG:
	case FUTEX:
	case EPOLL_WAIT:
	case SEMTIMEDOP:
	case CLOCK_NANOSLEEP:
	case WAITID:
	case PSELECT6:
	case PPOLL:
	case EPOLL_PWAIT:
	case ACCEPT4:
		return true;
	default:
		return false;
	}
}

/* -- Time ---------------------------------------------------------------------------------------
 */

static int64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * NS_A_SEC + now.tv_nsec;
}

/*
 * Nanoseconds that a timeout leaves.
 * @param clock  whose time it is; -1: it is a duration
 * @return 0, -EFAULT, -EINVAL
 */
static int read_timeout(struct ia64_cpu *c, uint64_t address, int clock, int64_t *ns)
{
	struct timespec given;

	if (ia64_copy_in(c, &given, address, sizeof(given)))
		return -EFAULT;
	if (given.tv_sec < 0 || given.tv_nsec < 0 || given.tv_nsec >= NS_A_SEC)
		return -EINVAL;
	/* Longer ones never end: 31 years. */
	*ns = (given.tv_sec < NS_A_SEC ? given.tv_sec : NS_A_SEC) * NS_A_SEC + given.tv_nsec;
	if (clock >= 0)
		*ns -= now_ns(clock);
	*ns = *ns > 0 ? *ns : 0;
	return 0;
}

static bool sleep_in_turn(struct core_turns *turns, struct core_turn *turn, struct ia64_cpu *c,
			  uint64_t number, const uint64_t *a, int64_t *result)
{
	const bool absolute = number == CLOCK_NANOSLEEP && a[1] & TIMER_ABSTIME;
	int64_t ns;

	if (read_timeout(c, a[number == NANOSLEEP ? 0 : 2], absolute ? (int)a[0] : -1, &ns))
		return false; /* the host says what is wrong */
	*result = 0;
	return core_turns_sleep(turns, turn, epic_cycles(turn->core, (uint64_t)ns));
}

/* -- Futexes ------------------------------------------------------------------------------------
 */

/* Sleeps until the thread is blocked no more. @return 0, -ETIMEDOUT, -EINTR, -IA64_ERESTART */
static int64_t sleep_blocked(struct core_turns *turns, struct core_turn *turn, struct ia64_cpu *c,
			     int64_t ns)
{
	for (;;) {
		struct timespec left = {ns / NS_A_SEC, ns % NS_A_SEC};
		int64_t rc = ia64_host_syscall(c, SYS_futex, (uint64_t)(uintptr_t)&turn->awake,
					       FUTEX_WAIT_PRIVATE, 0,
					       ns < 0 ? 0 : (uint64_t)(uintptr_t)&left, 0, 0);
		const bool stopped = rc == -EINTR || rc == -IA64_ERESTART;

		if (!stopped && rc != -ETIMEDOUT &&
		    !__atomic_load_n(&turn->awake, __ATOMIC_ACQUIRE))
			continue;
		switch (core_turns_unblock(turns, turn, rc == -ETIMEDOUT)) {
		case CORE_WOKEN:
			return 0;
		case CORE_TIMED_OUT:
			return -ETIMEDOUT;
		case CORE_INTERRUPTED:
			return rc;
		default:
			break;
		}
	}
}

static int64_t futex_wait(struct core_turns *turns, struct core_turn *turn, struct ia64_cpu *c,
			  const uint64_t *a, uint32_t bits)
{
	const unsigned operation = a[1] & FUTEX_CMD_MASK;
	int clock = a[1] & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
	struct core_wait wait = {a[0], bits, UINT64_MAX, NULL, (uint32_t)a[2]};
	int64_t ns = -1;
	uint32_t value;
	int error = 0;

	if (!bits || a[0] % sizeof(value))
		return -EINVAL;
	if (ia64_copy_in(c, &value, a[0], sizeof(value)))
		return -EFAULT;
	if (a[3])
		error = read_timeout(c, a[3], operation == FUTEX_WAIT_BITSET ? clock : -1, &ns);
	if (error)
		return error;
	if (ns >= 0)
		wait.deadline = *turn->clock + epic_cycles(turn->core, (uint64_t)ns);
	wait.word = ia64_host(c, a[0]);
	return core_turns_block(turns, turn, &wait) ? sleep_blocked(turns, turn, c, ns) : -EAGAIN;
}

/* FUTEX_WAKE_OP: changes a second word, and wakes its threads where it held what is asked. */
static int64_t wake_and_change(struct core_turns *turns, struct ia64_cpu *c, const uint64_t *a)
{
	const uint32_t what = (uint32_t)a[5];
	uint32_t operand = what >> 12 & 0xFFF, than = what & 0xFFF, old, changed;
	int64_t signed_old, signed_than;
	unsigned woken;
	bool holds;

	if (what >> 28 & FUTEX_OP_OPARG_SHIFT)
		operand = 1u << (operand & 31);
	if (ia64_copy_in(c, &old, a[4], sizeof(old)))
		return -EFAULT;
	switch (what >> 28 & 7) {
	case FUTEX_OP_SET:
		changed = operand;
		break;
	case FUTEX_OP_ADD:
		changed = old + operand;
		break;
	case FUTEX_OP_OR:
		changed = old | operand;
		break;
	case FUTEX_OP_ANDN:
		changed = old & ~operand;
		break;
	case FUTEX_OP_XOR:
		changed = old ^ operand;
		break;
	default:
		return -ENOSYS;
	}
	if (ia64_copy_out(c, a[4], &changed, sizeof(changed)))
		return -EFAULT;
	signed_old = (int32_t)old;
	signed_than = than & 0x800 ? (int64_t)than - 0x1000 : than;
	switch (what >> 24 & 15) {
	case FUTEX_OP_CMP_EQ:
		holds = signed_old == signed_than;
		break;
	case FUTEX_OP_CMP_NE:
		holds = signed_old != signed_than;
		break;
	case FUTEX_OP_CMP_LT:
		holds = signed_old < signed_than;
		break;
	case FUTEX_OP_CMP_LE:
		holds = signed_old <= signed_than;
		break;
	case FUTEX_OP_CMP_GT:
		holds = signed_old > signed_than;
		break;
	case FUTEX_OP_CMP_GE:
		holds = signed_old >= signed_than;
		break;
	default:
		return -ENOSYS;
	}
	woken = core_turns_wake(turns, a[0], a[2], UINT32_MAX);
	return woken + (holds ? core_turns_wake(turns, a[4], a[3], UINT32_MAX) : 0);
}

static int64_t requeue(struct core_turns *turns, struct ia64_cpu *c, const uint64_t *a)
{
	unsigned woken, moved;
	uint32_t value;

	if (ia64_copy_in(c, &value, a[0], sizeof(value)))
		return -EFAULT;
	if ((a[1] & FUTEX_CMD_MASK) == FUTEX_CMP_REQUEUE && value != (uint32_t)a[5])
		return -EAGAIN;
	woken = core_turns_wake(turns, a[0], a[2], UINT32_MAX);
	moved = core_turns_move(turns, a[0], a[4], a[3]);
	return (a[1] & FUTEX_CMD_MASK) == FUTEX_CMP_REQUEUE ? woken + moved : woken;
}

static int64_t wake_on_host(struct ia64_cpu *c, uint64_t address, uint64_t operation, uint64_t most,
			    uint32_t bits)
{
	long woken =
	    syscall(SYS_futex, ia64_pointer(c, address), operation, most, NULL, NULL, bits);

	return woken > 0 ? woken : 0;
}

/* Threads of cores first, then those that the host alone knows. */
static int64_t wake(struct core_turns *turns, struct ia64_cpu *c, const uint64_t *a, uint32_t bits)
{
	const uint64_t most = (uint32_t)a[2];
	uint64_t woken = core_turns_wake(turns, a[0], most, bits);

	if (turns->others && woken < most)
		woken += (uint64_t)wake_on_host(c, a[0], a[1], most - woken, bits);
	return (int64_t)woken;
}

/* Where a call knows threads of one kind only: those of the other look again for what they wait. */
static void wake_others(struct core_turns *turns, struct ia64_cpu *c, const uint64_t *a)
{
	const uint64_t operation = FUTEX_WAKE | (a[1] & FUTEX_PRIVATE_FLAG);

	if (!turns->others)
		return;
	wake_on_host(c, a[0], operation, INT_MAX, 0);
	wake_on_host(c, a[4], operation, INT_MAX, 0);
}

/* @return whether it is done */
static bool futex_without_core(struct core_turns *turns, struct ia64_cpu *c, const uint64_t *a,
			       int64_t *result)
{
	switch (a[1] & FUTEX_CMD_MASK) {
	case FUTEX_WAKE:
		*result = wake(turns, c, a, UINT32_MAX);
		return true;
	case FUTEX_WAKE_BITSET:
		*result = wake(turns, c, a, (uint32_t)a[5]);
		return true;
	case FUTEX_WAKE_OP:
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
		core_turns_wake(turns, a[0], INT_MAX, UINT32_MAX);
		core_turns_wake(turns, a[4], INT_MAX, UINT32_MAX);
		return false;
	default:
		return false;
	}
}

/* @return whether it is one between threads of this process, and done */
static bool futex(struct core_turns *turns, struct core_turn *turn, struct ia64_cpu *c,
		  const uint64_t *a, int64_t *result)
{
	/* Other processes may wait on the same memory. */
	if (c->process->forked && !(a[1] & FUTEX_PRIVATE_FLAG))
		return false;
	switch (a[1] & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
		*result = futex_wait(turns, turn, c, a, UINT32_MAX);
		return true;
	case FUTEX_WAIT_BITSET:
		*result = futex_wait(turns, turn, c, a, (uint32_t)a[5]);
		return true;
	case FUTEX_WAKE:
		*result = wake(turns, c, a, UINT32_MAX);
		return true;
	case FUTEX_WAKE_BITSET:
		*result = wake(turns, c, a, (uint32_t)a[5]);
		return true;
	case FUTEX_WAKE_OP:
		wake_others(turns, c, a);
		*result = wake_and_change(turns, c, a);
		return true;
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
		wake_others(turns, c, a);
		*result = requeue(turns, c, a);
		return true;
	default: /* of locks with priorities, which the host has alone */
		return false;
	}
}

bool core_system_call(struct core_turns *turns, struct core_turn *turn, struct ia64_cpu *c,
		      uint64_t number, const uint64_t *a, int64_t *result)
{
	number -= FIRST;
	if (!turns->several)
		return false;
	if (!turn->core)
		return number == FUTEX && futex_without_core(turns, c, a, result);
	/* A call that a signal came before is made once more. */
	core_turns_take(turns, turn);
	if (number == FUTEX && futex(turns, turn, c, a, result))
		return true;
	if ((number == NANOSLEEP || number == CLOCK_NANOSLEEP) &&
	    sleep_in_turn(turns, turn, c, number, a, result))
		return true;
	if (waits((unsigned)number, a))
		core_turns_leave(turns, turn);
	return false;
}
