#include "feed/ia64/signal.h"

#include "feed/ia64/alat.h"
#include "feed/ia64/space.h"
#include "feed/ia64/sys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* Handlers of the host's signals find the thread they interrupt by nothing else. */
static _Thread_local struct ia64_cpu *current;

#define SIG_BIT(sig) (1ull << ((sig)-1))
#define UNBLOCKABLE  (SIG_BIT(SIGKILL) | SIG_BIT(SIGSTOP))
/* Faults of the program arrive as these: on the host they are never blocked. */
#define SYNCHRONOUS                                                                                \
	(SIG_BIT(SIGSEGV) | SIG_BIT(SIGBUS) | SIG_BIT(SIGILL) | SIG_BIT(SIGFPE) | SIG_BIT(SIGTRAP))
/* glibc's own on the host */
#define HOST_INTERNAL (SIG_BIT(32) | SIG_BIT(33))

/* SIG_DFL and SIG_IGN as the program writes them. */
#define GUEST_DFL 0
#define GUEST_IGN 1

/* -- On the host ------------------------------------------------------------------------------- */

static void queue(struct ia64_cpu *c, const siginfo_t *info)
{
	struct ia64_signals *s = c->signals;
	uint32_t tail = s->tail;

	if (tail - s->head == IA64_QUEUE)
		return;
	s->queue[tail % IA64_QUEUE] = *info;
	__atomic_store_n(&s->tail, tail + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&c->attention, 1, __ATOMIC_RELEASE);
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	int saved = errno;

	if (current) {
		info->si_signo = sig;
		queue(current, info);
#ifdef __x86_64__
		u->uc_mcontext.gregs[REG_RIP] =
		    (greg_t)ia64_host_syscall_rewind((uintptr_t)u->uc_mcontext.gregs[REG_RIP]);
#else
		(void)u;
#endif
	}
	errno = saved;
}

static bool is_write(const ucontext_t *u)
{
#ifdef __x86_64__
	return u->uc_mcontext.gregs[REG_ERR] & 2;
#else
	(void)u;
	return false;
#endif
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	struct ia64_cpu *c = current;

	if (c && info->si_code <= 0) {
		on_signal(sig, info, context);
		return;
	}
	if (c && (sig == SIGSEGV || sig == SIGBUS)) {
		if (c->guarded)
			siglongjmp(c->guard, 1);
		if (c->running) {
			c->signals->host_address = (uintptr_t)info->si_addr;
			c->signals->host_signal = sig;
			c->signals->host_code = info->si_code;
			c->signals->host_write = is_write(context);
			siglongjmp(c->escape, 1);
		}
	}
	signal(sig, SIG_DFL); /* our own: it comes again */
}

static int host_action(int sig, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction sa = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};

	if (handler == on_fault)
		sa.sa_flags |= SA_NODEFER;
	else
		sigfillset(&sa.sa_mask);
	for (int s = 1; s <= IA64_SIGNALS; s++)
		if (SYNCHRONOUS >> (s - 1) & 1)
			sigdelset(&sa.sa_mask, s);
	return sigaction(sig, &sa, NULL) == 0 ? 0 : -errno;
}

static int host_default(int sig, bool ignore)
{
	struct sigaction sa = {.sa_handler = ignore ? SIG_IGN : SIG_DFL};

	return sigaction(sig, &sa, NULL) == 0 ? 0 : -errno;
}

/* The program's mask, less what must reach us. */
static void host_mask(const struct ia64_cpu *c)
{
	uint64_t mask = c->signals->mask & ~(SYNCHRONOUS | HOST_INTERNAL | UNBLOCKABLE);

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof(mask));
}

int ia64_signals_start(struct ia64_process *p)
{
	static const int faults[] = {SIGSEGV, SIGBUS};
	int rc = 0;

	for (int sig = 1; sig <= IA64_SIGNALS; sig++) { /* what was ignored stays so */
		struct sigaction sa;

		if (sigaction(sig, NULL, &sa) == 0 && sa.sa_handler == SIG_IGN)
			p->actions->action[sig].handler = GUEST_IGN;
	}
	for (unsigned i = 0; rc == 0 && i < sizeof(faults) / sizeof(faults[0]); i++)
		rc = host_action(faults[i], on_fault);
	return rc;
}

int ia64_signals_thread(struct ia64_cpu *c)
{
	uint64_t mask = 0;

	current = c;
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, NULL, &mask, sizeof(mask));
	if (!c->signals->mask)
		c->signals->mask = mask;
	if (!c->signals->alternate.sp)
		c->signals->alternate.flags = SS_DISABLE;
	host_mask(c);
	return 0;
}

void ia64_signals_thread_end(struct ia64_cpu *c)
{
	uint64_t all = ~0ull;

	(void)c;
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof(all));
	current = NULL;
}

/* -- Delivery ---------------------------------------------------------------------------------- */

/* The signal's own end, as the host shows it. */
static void die(int sig)
{
	uint64_t mask = ~SIG_BIT(sig);

	host_default(sig, false);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof(mask));
	kill(getpid(), sig);
	_exit(128 + sig);
}

static bool ignored_by_default(int sig)
{
	return sig == SIGCHLD || sig == SIGCONT || sig == SIGURG || sig == SIGWINCH;
}

/* Calls that a handler without SA_RESTART, or any handler, makes return EINTR are told apart by the
 * system calls; here the break is simply done again. */
static void restart_syscall(struct ia64_cpu *c, const struct ia64_sigaction *act)
{
	struct ia64_signals *s = c->signals;

	if (s->in_syscall && s->restart && act->flags & SA_RESTART)
		c->ip = c->break_ip;
	s->in_syscall = false;
}

static void handle(struct ia64_cpu *c, siginfo_t *info)
{
	struct ia64_signals *s = c->signals;
	struct ia64_sigaction act = c->process->actions->action[info->si_signo];
	uint64_t mask = s->suspended ? s->suspended_mask : s->mask;

	restart_syscall(c, &act);
	if (act.flags & SA_RESETHAND)
		c->process->actions->action[info->si_signo].handler = GUEST_DFL;
	if (ia64_frame_push(c, &act, info, mask) != 0)
		die(SIGSEGV);
	s->suspended = false;
	s->mask |= act.mask;
	if (!(act.flags & SA_NODEFER))
		s->mask |= SIG_BIT(info->si_signo);
	host_mask(c);
}

static void deliver(struct ia64_cpu *c, siginfo_t *info)
{
	uint64_t handler = c->process->actions->action[info->si_signo].handler;

	if (handler == GUEST_IGN || (handler == GUEST_DFL && ignored_by_default(info->si_signo)))
		return;
	if (handler == GUEST_DFL)
		die(info->si_signo);
	handle(c, info);
}

void ia64_signals_deliver(struct ia64_cpu *c)
{
	struct ia64_signals *s = c->signals;
	uint32_t end = __atomic_load_n(&s->tail, __ATOMIC_ACQUIRE);

	for (uint32_t n = end - s->head; n > 0; n--) {
		siginfo_t info = s->queue[s->head % IA64_QUEUE];

		s->head++;
		if (s->mask &
		    SIG_BIT(info.si_signo)) /* later: only of what the host cannot block */
			queue(c, &info);
		else
			deliver(c, &info);
	}
	if (s->suspended && !s->in_syscall) {
		s->mask = s->suspended_mask;
		s->suspended = false;
		host_mask(c);
	}
}

void ia64_signals_force(struct ia64_cpu *c, siginfo_t *info)
{
	struct ia64_sigaction *act = &c->process->actions->action[info->si_signo];

	if (c->signals->mask & SIG_BIT(info->si_signo) || act->handler == GUEST_IGN ||
	    act->handler == GUEST_DFL)
		die(info->si_signo);
	c->signals->in_syscall = false;
	handle(c, info);
}

/* -- What the processor stopped at ------------------------------------------------------------- */

/* Linux's siginfo of ia64 has these after si_addr. */
static void set_details(siginfo_t *info, uint32_t imm, uint32_t flags, uint64_t isr)
{
	char *at = (char *)info + 24;

	memcpy(at, &imm, 4);
	memcpy(at + 4, &flags, 4);
	memcpy(at + 8, &isr, 8);
}

static void force(struct ia64_cpu *c, int sig, int code, uint64_t address)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_signo = sig;
	info.si_code = code;
	info.si_addr = (void *)(uintptr_t)address;
	set_details(&info, 0, 1, c->fault_isr);
	ia64_signals_force(c, &info);
}

static int fp_code(uint32_t isr, bool trap)
{
	if (!trap)
		return isr & 0x11 ? FPE_FLTINV : isr & 0x22 ? FPE_FLTUND : FPE_FLTDIV;
	return isr & 0x880 ? FPE_FLTOVF : isr & 0x1100 ? FPE_FLTUND : FPE_FLTRES;
}

void ia64_signals_fault(struct ia64_cpu *c)
{
	switch (c->fault) {
	case IA64_FAULT_DATA:
	case IA64_FAULT_FETCH:
		if (c->fault == IA64_FAULT_DATA && c->signals->host_signal == SIGBUS) {
			c->signals->host_signal = 0;
			force(c, SIGBUS, BUS_ADRERR, c->fault_address);
			return;
		}
		force(c, SIGSEGV, c->fault_denied ? SEGV_ACCERR : SEGV_MAPERR, c->fault_address);
		return;
	case IA64_FAULT_UNALIGNED:
		force(c, SIGBUS, BUS_ADRALN, c->fault_address);
		return;
	case IA64_FAULT_FP:
		force(c, SIGFPE, fp_code(c->fault_isr, c->stop == IA64_STOP_TRAP), c->ip);
		return;
	case IA64_FAULT_NAT:
	case IA64_FAULT_UNSUPPORTED:
		force(c, SIGILL, ILL_ILLOPN, c->ip);
		return;
	case IA64_FAULT_ILLEGAL:
		force(c, SIGILL, ILL_ILLOPC, c->ip);
		return;
	default:
		force(c, SIGILL, SI_KERNEL, 0);
		return;
	}
}

#define ILL_BREAK_CODE	9 /* __ILL_BREAK */
#define ILL_BNDMOD_CODE 10

void ia64_signals_break(struct ia64_cpu *c, uint64_t number)
{
	static const struct {
		int signal, code;
	} low[] = {
	    {SIGILL, ILL_ILLOPC}, /* 0: also what break.b shows */
	    {SIGFPE, FPE_INTDIV},  {SIGFPE, FPE_INTOVF},
	    {SIGFPE, FPE_FLTSUB},  {SIGSEGV, SEGV_MAPERR},
	    {SIGSEGV, BUS_ADRALN}, {SIGFPE, 9}, /* __FPE_DECOVF, and the following ones */
	    {SIGFPE, 10},	   {SIGFPE, 11},
	    {SIGFPE, 12},	   {SIGFPE, 13},
	    {SIGSEGV, 3}, /* __SEGV_PSTKOVF */
	};
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_addr = (void *)(uintptr_t)c->ip;
	set_details(&info, number, 0, 0);
	if (number < sizeof(low) / sizeof(low[0])) {
		info.si_signo = low[number].signal;
		info.si_code = low[number].code;
	} else if (number < 0x80000) {
		info.si_signo = SIGILL;
		info.si_code = number >> 12 == 0x3F ? ILL_BNDMOD_CODE : ILL_BREAK_CODE;
	} else {
		info.si_signo = SIGTRAP;
		info.si_code = TRAP_BRKPT;
	}
	ia64_signals_force(c, &info);
}

/* -- System calls ------------------------------------------------------------------------------ */

static int host_install(int sig, uint64_t handler)
{
	if (SYNCHRONOUS >> (sig - 1) & 1 && (sig == SIGSEGV || sig == SIGBUS))
		return 0; /* ours all the time */
	if (HOST_INTERNAL >> (sig - 1) & 1)
		return 0;
	if (handler == GUEST_DFL || handler == GUEST_IGN)
		return host_default(sig, handler == GUEST_IGN);
	return host_action(sig, on_signal);
}

int64_t ia64_sys_sigaction(struct ia64_cpu *c, int sig, uint64_t act, uint64_t old, uint64_t size)
{
	struct ia64_process *p = c->process;
	struct ia64_sigaction new, was;
	int rc = 0;

	if (size != 8 || sig < 1 || sig > IA64_SIGNALS ||
	    (act && (sig == SIGKILL || sig == SIGSTOP)))
		return -EINVAL;
	if (act && ia64_copy_in(c, &new, act, sizeof(new)) != 0)
		return -EFAULT;
	pthread_mutex_lock(&p->lock);
	was = p->actions->action[sig];
	if (act) {
		new.mask &= ~UNBLOCKABLE;
		p->actions->action[sig] = new;
		rc = host_install(sig, new.handler);
	}
	pthread_mutex_unlock(&p->lock);
	if (rc == 0 && old)
		rc = ia64_copy_out(c, old, &was, sizeof(was));
	return rc;
}

int64_t ia64_sys_sigprocmask(struct ia64_cpu *c, int how, uint64_t set, uint64_t old, uint64_t size)
{
	struct ia64_signals *s = c->signals;
	uint64_t was = s->mask, bits;

	if (size != 8)
		return -EINVAL;
	if (set) {
		if (ia64_copy_in(c, &bits, set, sizeof(bits)) != 0)
			return -EFAULT;
		bits &= ~UNBLOCKABLE;
		switch (how) {
		case SIG_BLOCK:
			s->mask |= bits;
			break;
		case SIG_UNBLOCK:
			s->mask &= ~bits;
			break;
		case SIG_SETMASK:
			s->mask = bits;
			break;
		default:
			return -EINVAL;
		}
		host_mask(c);
	}
	return old ? ia64_copy_out(c, old, &was, sizeof(was)) : 0;
}

static bool on_alternate(const struct ia64_cpu *c)
{
	const struct ia64_sigaltstack *a = &c->signals->alternate;

	return !(a->flags & SS_DISABLE) && c->gr[12] - a->sp < a->size;
}

/* Room for a frame and a few more calls. Linux/ia64 asks for 131027. */
#define SMALLEST_STACK 16384

int64_t ia64_sys_sigaltstack(struct ia64_cpu *c, uint64_t set, uint64_t old)
{
	struct ia64_sigaltstack new, was = c->signals->alternate;

	if (on_alternate(c))
		was.flags |= SS_ONSTACK;
	if (set) {
		if (ia64_copy_in(c, &new, set, sizeof(new)) != 0)
			return -EFAULT;
		if (on_alternate(c))
			return -EPERM;
		if (new.flags & ~(SS_DISABLE | SS_ONSTACK))
			return -EINVAL;
		if (new.flags & SS_DISABLE)
			new.sp = new.size = 0;
		else if (new.size < SMALLEST_STACK)
			return -ENOMEM;
		new.flags &= SS_DISABLE;
		c->signals->alternate = new;
	}
	return old ? ia64_copy_out(c, old, &was, sizeof(was)) : 0;
}

int64_t ia64_sys_sigsuspend(struct ia64_cpu *c, uint64_t set, uint64_t size)
{
	struct ia64_signals *s = c->signals;
	uint64_t mask;

	if (size != 8)
		return -EINVAL;
	if (ia64_copy_in(c, &mask, set, sizeof(mask)) != 0)
		return -EFAULT;
	s->suspended_mask = s->mask;
	s->suspended = true;
	s->mask = mask & ~UNBLOCKABLE;
	mask = s->mask & ~(SYNCHRONOUS | HOST_INTERNAL);
	ia64_host_syscall(c, SYS_rt_sigsuspend, (uintptr_t)&mask, sizeof(mask), 0, 0, 0, 0);
	host_mask(c);
	return -EINTR;
}

void ia64_sys_sigreturn(struct ia64_cpu *c)
{
	struct ia64_sigaltstack alternate;
	uint64_t mask;

	c->signals->in_syscall = false;
	if (!ia64_frame_pop(c, &mask, &alternate)) {
		force(c, SIGSEGV, SI_KERNEL, c->gr[12]);
		return;
	}
	c->signals->mask = mask & ~UNBLOCKABLE;
	if (!on_alternate(c)) {
		alternate.flags &= SS_DISABLE;
		c->signals->alternate = alternate;
	}
	host_mask(c);
}
