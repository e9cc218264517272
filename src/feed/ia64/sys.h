/* Linux/ia64 system calls, done by the host's. */
#ifndef FEED_IA64_SYS_H
#define FEED_IA64_SYS_H

#include "feed/ia64/cpu.h"

/** The call that break asks for: number in r15, arguments in the outputs. False: the thread ended.
 */
bool ia64_syscall(struct ia64_cpu *c);

/* A call's arguments; results are values or negative errno. */
typedef int64_t ia64_syscall_fn(struct ia64_cpu *c, const uint64_t *a);

/* A system call of the host that a signal either prevents or interrupts: -IA64_ERESTART if it was
 * not made. */
#define IA64_ERESTART 512
int64_t ia64_host_syscall(struct ia64_cpu *c, long number, uint64_t a, uint64_t b, uint64_t d,
			  uint64_t e, uint64_t f, uint64_t g);
/** If a host signal came at host instruction `pc` just before a call is made: where to go on. */
uintptr_t ia64_host_syscall_rewind(uintptr_t pc);

/** Guest pointer to host pointer; what is none becomes one that no call accepts. */
static inline uint64_t ia64_pointer(const struct ia64_cpu *c, uint64_t p)
{
	return p ? (uint64_t)(uintptr_t)ia64_host(c, p) : 0;
}

/** Host pointer to the path that a guest pointer leads to, in the root if it is there. */
uint64_t ia64_path(struct ia64_cpu *c, uint64_t p, char *room);

/* By file. */
ia64_syscall_fn ia64_sys_stat, ia64_sys_lstat, ia64_sys_fstat, ia64_sys_newfstatat,
    ia64_sys_readlink, ia64_sys_readlinkat, ia64_sys_uname, ia64_sys_pipe, ia64_sys_readv,
    ia64_sys_writev, ia64_sys_preadv, ia64_sys_pwritev, ia64_sys_sendmsg, ia64_sys_recvmsg,
    ia64_sys_epoll_ctl, ia64_sys_epoll_wait, ia64_sys_epoll_pwait, ia64_sys_execve,
    ia64_sys_getpagesize, ia64_sys_prctl, ia64_sys_pselect6, ia64_sys_semctl;
ia64_syscall_fn ia64_sys_brk, ia64_sys_mmap, ia64_sys_mmap2, ia64_sys_munmap, ia64_sys_mprotect,
    ia64_sys_mremap, ia64_sys_shmat;
ia64_syscall_fn ia64_sys_clone, ia64_sys_clone2, ia64_sys_set_tid_address, ia64_sys_exit,
    ia64_sys_exit_group;

#endif
