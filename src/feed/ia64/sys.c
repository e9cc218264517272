#include "feed/ia64/sys.h"

#include "feed/ia64/observer.h"
#include "feed/ia64/process.h"
#include "feed/ia64/signal.h"
#include "feed/ia64/space.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Calls that the host does as they are: their arguments are integers (i), pointers to what has the
 * same layout on both (p), and paths that are looked up in the root first (n). Others have a
 * function. R: a handler with SA_RESTART makes it again.
 */
struct call {
	const char *arguments; /* NULL: function */
	union {
		long host;
		ia64_syscall_fn *function;
	};
	bool restarts;
};

#define FIRST 1024

static int64_t sigaction_call(struct ia64_cpu *c, const uint64_t *a)
{
	return ia64_sys_sigaction(c, (int)a[0], a[1], a[2], a[3]);
}

static int64_t sigprocmask_call(struct ia64_cpu *c, const uint64_t *a)
{
	return ia64_sys_sigprocmask(c, (int)a[0], a[1], a[2], a[3]);
}

static int64_t sigaltstack_call(struct ia64_cpu *c, const uint64_t *a)
{
	return ia64_sys_sigaltstack(c, a[0], a[1]);
}

static int64_t sigsuspend_call(struct ia64_cpu *c, const uint64_t *a)
{
	return ia64_sys_sigsuspend(c, a[0], a[1]);
}

#define SAME(name, text)                                                                           \
	{                                                                                          \
		.arguments = text, .host = SYS_##name                                              \
	}
#define AGAIN(name, text)                                                                          \
	{                                                                                          \
		.arguments = text, .host = SYS_##name, .restarts = true                            \
	}
#define OURS(name)                                                                                 \
	{                                                                                          \
		.function = ia64_sys_##name                                                        \
	}
#define LOCAL(name)                                                                                \
	{                                                                                          \
		.function = name##_call                                                            \
	}
#define OURS_AGAIN(name)                                                                           \
	{                                                                                          \
		.function = ia64_sys_##name, .restarts = true                                      \
	}

/* By number less 1024: arch/ia64/kernel/syscalls/syscall.tbl of Linux. */
static const struct call calls[] = {
    [1] = OURS(exit),
    [2] = AGAIN(read, "ipi"),
    [3] = AGAIN(write, "ipi"),
    [4] = AGAIN(open, "nii"),
    [5] = SAME(close, "i"),
    [6] = SAME(creat, "pi"),
    [7] = SAME(link, "pp"),
    [8] = SAME(unlink, "p"),
    [9] = OURS(execve),
    [10] = SAME(chdir, "p"),
    [11] = SAME(fchdir, "i"),
    [12] = SAME(utimes, "pp"),
    [13] = SAME(mknod, "pii"),
    [14] = SAME(chmod, "pi"),
    [15] = SAME(chown, "pii"),
    [16] = SAME(lseek, "iii"),
    [17] = SAME(getpid, ""),
    [18] = SAME(getppid, ""),
    [21] = SAME(setuid, "i"),
    [22] = SAME(getuid, ""),
    [23] = SAME(geteuid, ""),
    [25] = SAME(access, "ni"),
    [26] = SAME(sync, ""),
    [27] = SAME(fsync, "i"),
    [28] = SAME(fdatasync, "i"),
    [29] = SAME(kill, "ii"),
    [30] = SAME(rename, "pp"),
    [31] = SAME(mkdir, "pi"),
    [32] = SAME(rmdir, "p"),
    [33] = SAME(dup, "i"),
    [34] = OURS(pipe),
    [35] = SAME(times, "p"),
    [36] = OURS(brk),
    [37] = SAME(setgid, "i"),
    [38] = SAME(getgid, ""),
    [39] = SAME(getegid, ""),
    [41] = AGAIN(ioctl, "iip"),
    [42] = AGAIN(fcntl, "iip"),
    [43] = SAME(umask, "i"),
    [44] = SAME(chroot, "p"),
    [46] = SAME(dup2, "ii"),
    [47] = SAME(setreuid, "ii"),
    [48] = SAME(setregid, "ii"),
    [49] = SAME(getresuid, "ppp"),
    [50] = SAME(setresuid, "iii"),
    [51] = SAME(getresgid, "ppp"),
    [52] = SAME(setresgid, "iii"),
    [53] = SAME(getgroups, "ip"),
    [54] = SAME(setgroups, "ip"),
    [55] = SAME(getpgid, "i"),
    [56] = SAME(setpgid, "ii"),
    [57] = SAME(setsid, ""),
    [58] = SAME(getsid, "i"),
    [60] = SAME(setrlimit, "ip"),
    [61] = SAME(getrlimit, "ip"),
    [62] = SAME(getrusage, "ip"),
    [63] = SAME(gettimeofday, "pp"),
    [65] = SAME(select, "ipppp"),
    [66] = SAME(poll, "pii"),
    [67] = SAME(symlink, "pp"),
    [68] = OURS(readlink),
    [73] = SAME(truncate, "pi"),
    [74] = SAME(ftruncate, "ii"),
    [75] = SAME(fchmod, "ii"),
    [76] = SAME(fchown, "iii"),
    [77] = SAME(getpriority, "ii"),
    [78] = SAME(setpriority, "iii"),
    [79] = SAME(statfs, "np"),
    [80] = SAME(fstatfs, "ip"),
    [81] = SAME(gettid, ""),
    [82] = SAME(semget, "iii"),
    [83] = SAME(semop, "ipi"),
    [85] = SAME(msgget, "ii"),
    [86] = SAME(msgsnd, "ipii"),
    [87] = SAME(msgrcv, "ipiii"),
    [94] = SAME(setitimer, "ipp"),
    [95] = SAME(getitimer, "ip"),
    [100] = SAME(lchown, "pii"),
    [102] = AGAIN(wait4, "ipip"),
    [103] = SAME(sysinfo, "p"),
    [104] = OURS(clone),
    [106] = OURS(uname),
    [116] = SAME(personality, "i"),
    [120] = SAME(getdents, "ipi"),
    [121] = AGAIN(flock, "ii"),
    [122] = OURS_AGAIN(readv),
    [123] = OURS_AGAIN(writev),
    [124] = AGAIN(pread64, "ipii"),
    [125] = AGAIN(pwrite64, "ipii"),
    [127] = OURS(mmap),
    [128] = OURS(munmap),
    [129] = SAME(mlock, "pi"),
    [130] = SAME(mlockall, "i"),
    [131] = OURS(mprotect),
    [132] = OURS(mremap),
    [133] = SAME(msync, "pii"),
    [134] = SAME(munlock, "pi"),
    [135] = SAME(munlockall, ""),
    [136] = SAME(sched_getparam, "ip"),
    [137] = SAME(sched_setparam, "ip"),
    [138] = SAME(sched_getscheduler, "i"),
    [139] = SAME(sched_setscheduler, "iip"),
    [140] = SAME(sched_yield, ""),
    [141] = SAME(sched_get_priority_max, "i"),
    [142] = SAME(sched_get_priority_min, "i"),
    [143] = SAME(sched_rr_get_interval, "ip"),
    [144] = SAME(nanosleep, "pp"),
    [146] = OURS(prctl),
    [147] = OURS(getpagesize),
    [148] = OURS(mmap2),
    [152] = LOCAL(sigaltstack),
    [153] = LOCAL(sigaction),
    [154] = SAME(rt_sigpending, "pi"),
    [155] = LOCAL(sigprocmask),
    [156] = SAME(rt_sigqueueinfo, "iip"),
    [158] = LOCAL(sigsuspend),
    [159] = SAME(rt_sigtimedwait, "pppi"),
    [160] = SAME(getcwd, "pi"),
    [163] = AGAIN(sendfile, "iipi"),
    [166] = SAME(socket, "iii"),
    [167] = SAME(bind, "ipi"),
    [168] = AGAIN(connect, "ipi"),
    [169] = SAME(listen, "ii"),
    [170] = AGAIN(accept, "ipp"),
    [171] = SAME(getsockname, "ipp"),
    [172] = SAME(getpeername, "ipp"),
    [173] = SAME(socketpair, "iiip"),
    [175] = AGAIN(sendto, "ipiipi"),
    [177] = AGAIN(recvfrom, "ipiipp"),
    [178] = SAME(shutdown, "ii"),
    [179] = SAME(setsockopt, "iiipi"),
    [180] = SAME(getsockopt, "iiipp"),
    [181] = OURS_AGAIN(sendmsg),
    [182] = OURS_AGAIN(recvmsg),
    [184] = SAME(mincore, "pip"),
    [185] = SAME(madvise, "pii"),
    [186] = OURS(stat),
    [187] = OURS(lstat),
    [188] = OURS(fstat),
    [189] = OURS(clone2),
    [190] = SAME(getdents64, "ipi"),
    [192] = SAME(readahead, "iii"),
    [193] = SAME(setxattr, "pppii"),
    [194] = SAME(lsetxattr, "pppii"),
    [195] = SAME(fsetxattr, "ippii"),
    [196] = SAME(getxattr, "pppi"),
    [197] = SAME(lgetxattr, "pppi"),
    [198] = SAME(fgetxattr, "ippi"),
    [199] = SAME(listxattr, "ppi"),
    [200] = SAME(llistxattr, "ppi"),
    [201] = SAME(flistxattr, "ipi"),
    [202] = SAME(removexattr, "pp"),
    [203] = SAME(lremovexattr, "pp"),
    [204] = SAME(fremovexattr, "ip"),
    [205] = SAME(tkill, "ii"),
    [206] = AGAIN(futex, "piippi"),
    [207] = SAME(sched_setaffinity, "iip"),
    [208] = SAME(sched_getaffinity, "iip"),
    [209] = OURS(set_tid_address),
    [210] = SAME(fadvise64, "iiii"),
    [211] = SAME(tgkill, "iii"),
    [212] = OURS(exit_group),
    [219] = SAME(epoll_create, "i"),
    [220] = OURS(epoll_ctl),
    [221] = OURS(epoll_wait),
    [223] = SAME(semtimedop, "ipip"),
    [224] = SAME(timer_create, "ipp"),
    [225] = SAME(timer_settime, "iipp"),
    [226] = SAME(timer_gettime, "ip"),
    [227] = SAME(timer_getoverrun, "i"),
    [228] = SAME(timer_delete, "i"),
    [229] = SAME(clock_settime, "ip"),
    [230] = SAME(clock_gettime, "ip"),
    [231] = SAME(clock_getres, "ip"),
    [232] = SAME(clock_nanosleep, "iipp"),
    [246] = AGAIN(waitid, "iipip"),
    [253] = SAME(inotify_init, ""),
    [254] = SAME(inotify_add_watch, "ipi"),
    [255] = SAME(inotify_rm_watch, "ii"),
    [257] = AGAIN(openat, "inii"),
    [258] = SAME(mkdirat, "ipi"),
    [259] = SAME(mknodat, "ipii"),
    [260] = SAME(fchownat, "ipiii"),
    [261] = SAME(futimesat, "ipp"),
    [262] = OURS(newfstatat),
    [263] = SAME(unlinkat, "ipi"),
    [264] = SAME(renameat, "ipip"),
    [265] = SAME(linkat, "ipipi"),
    [266] = SAME(symlinkat, "pip"),
    [267] = OURS(readlinkat),
    [268] = SAME(fchmodat, "ipi"),
    [269] = SAME(faccessat, "ini"),
    [270] = OURS(pselect6),
    [271] = SAME(ppoll, "pippi"),
    [274] = SAME(set_robust_list, "pi"),
    [276] = SAME(sync_file_range, "iiii"),
    [279] = SAME(fallocate, "iiii"),
    [280] = SAME(getcpu, "ppp"),
    [281] = OURS(epoll_pwait),
    [282] = SAME(utimensat, "ippi"),
    [285] = SAME(eventfd, "i"),
    [286] = SAME(timerfd_create, "ii"),
    [287] = SAME(timerfd_settime, "iipp"),
    [288] = SAME(timerfd_gettime, "ip"),
    [290] = SAME(eventfd2, "ii"),
    [291] = SAME(epoll_create1, "i"),
    [292] = SAME(dup3, "iii"),
    [293] = SAME(pipe2, "pi"),
    [294] = SAME(inotify_init1, "i"),
    [295] = OURS_AGAIN(preadv),
    [296] = OURS_AGAIN(pwritev),
    [301] = SAME(prlimit64, "iipp"),
    [310] = AGAIN(accept4, "ippi"),
    [314] = SAME(renameat2, "ipipi"),
    [315] = AGAIN(getrandom, "pii"),
    [316] = SAME(memfd_create, "pi"),
    [320] = SAME(membarrier, "ii"),
    [323] = SAME(copy_file_range, "ipipii"),
    [326] = SAME(statx, "iniip"),
};

/*
 * The call itself, so that a signal just before it is not missed: the handler moves a thread that
 * has not entered the kernel yet past the call (ia64_host_syscall_rewind).
 */
#ifdef __x86_64__
__asm__(".text\n"
	".globl ia64_host_call\n"
	".type ia64_host_call, @function\n"
	"ia64_host_call:\n" /* (number, arguments[6], &pending) */
	".cfi_startproc\n"
	"	mov %rdi, %rax\n"
	"	mov %rsi, %r11\n"
	"	mov %rdx, %rcx\n"
	"	mov 0(%r11), %rdi\n"
	"	mov 8(%r11), %rsi\n"
	"	mov 16(%r11), %rdx\n"
	"	mov 24(%r11), %r10\n"
	"	mov 32(%r11), %r8\n"
	"	mov 40(%r11), %r9\n"
	"ia64_host_call_start:\n"
	"	cmpl $0, (%rcx)\n"
	"	jne ia64_host_call_pending\n"
	"	syscall\n"
	"ia64_host_call_end:\n"
	"	ret\n"
	"ia64_host_call_pending:\n"
	"	mov $-512, %rax\n"
	"	ret\n"
	".cfi_endproc\n"
	".size ia64_host_call, .-ia64_host_call\n"
	".globl ia64_host_call_start, ia64_host_call_end, ia64_host_call_pending\n"
	".hidden ia64_host_call, ia64_host_call_start, ia64_host_call_end, "
	"ia64_host_call_pending\n");

int64_t ia64_host_call(long number, const uint64_t *arguments, const uint32_t *pending);
extern const char ia64_host_call_start[], ia64_host_call_end[], ia64_host_call_pending[];

uintptr_t ia64_host_syscall_rewind(uintptr_t pc)
{
	if (pc >= (uintptr_t)ia64_host_call_start && pc < (uintptr_t)ia64_host_call_end)
		return (uintptr_t)ia64_host_call_pending;
	return pc;
}
#else
static int64_t ia64_host_call(long number, const uint64_t *a, const uint32_t *pending)
{
	long rc;

	if (*pending)
		return -IA64_ERESTART;
	rc = syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	return rc == -1 ? -errno : rc;
}

uintptr_t ia64_host_syscall_rewind(uintptr_t pc)
{
	return pc;
}
#endif

int64_t ia64_host_syscall(struct ia64_cpu *c, long number, uint64_t a, uint64_t b, uint64_t d,
			  uint64_t e, uint64_t f, uint64_t g)
{
	const uint64_t arguments[6] = {a, b, d, e, f, g};

	return ia64_host_call(number, arguments, &c->attention);
}

static int64_t same(struct ia64_cpu *c, const struct call *call, const uint64_t *a)
{
	uint64_t host[6] = {0};
	char room[PATH_MAX]; /* a call has one path to look up at most */

	for (unsigned i = 0; call->arguments[i]; i++)
		host[i] = call->arguments[i] == 'i'   ? a[i]
			  : call->arguments[i] == 'n' ? ia64_path(c, a[i], room)
						      : ia64_pointer(c, a[i]);
	return ia64_host_call(call->host, host, &c->attention);
}

static const struct call *find(uint64_t number)
{
	const struct call *call;

	if (number < FIRST || number - FIRST >= sizeof(calls) / sizeof(calls[0]))
		return NULL;
	call = &calls[number - FIRST];
	return call->arguments || call->function ? call : NULL;
}

static bool observed(struct ia64_cpu *c, const uint64_t *a, int64_t *result)
{
	const struct ia64_observer *w = c->process->observer;

	return w && w->syscall && w->syscall(c->observer_own, c, c->gr[15], a, result);
}

/* Attention may be for something else than a signal: then the call is simply made. */
static int64_t make(struct ia64_cpu *c, const struct call *call, const uint64_t *a)
{
	int64_t result;

	do {
		if (!observed(c, a, &result))
			result = call->arguments ? same(c, call, a) : call->function(c, a);
		if (result != -IA64_ERESTART || c->signals->head != c->signals->tail)
			break;
		__atomic_store_n(&c->attention, 0, __ATOMIC_RELEASE);
	} while (c->signals->head == c->signals->tail);
	return result;
}

static void give(struct ia64_cpu *c, int64_t result)
{
	bool failed = result < 0 && result >= -4095;

	c->gr[8] = failed ? (uint64_t)-result : (uint64_t)result;
	c->gr[10] = failed ? ~0ull : 0;
	c->nat[8] = c->nat[10] = 0;
}

#define NUMBER_SIGRETURN 1181

bool ia64_syscall(struct ia64_cpu *c)
{
	struct ia64_signals *s = c->signals;
	const struct call *call = find(c->gr[15]);
	uint64_t a[8];
	int64_t result;

	if (c->gr[15] == NUMBER_SIGRETURN) {
		ia64_sys_sigreturn(c);
		return true;
	}
	s->in_syscall = false;
	memset(a, 0, sizeof(a));
	for (unsigned i = 0; i < 8 && c->sol + i < c->sof; i++)
		a[i] = c->gr[32 + c->sol + i];
	c->thread_ended = false;
	result = call ? make(c, call, a) : -ENOSYS;
	if (c->thread_ended)
		return false;
	if (result == -IA64_ERESTART) { /* a signal came first: it is made after it */
		c->ip = c->break_ip;
		return true;
	}
	give(c, result);
	if (result == -EINTR) {
		s->in_syscall = true;
		s->restart = call->restarts;
	}
	return true;
}
