#include "errors.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#define CALL(name, ...)                                                                            \
	{                                                                                          \
		SYS_##name, #name,                                                                 \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}

/* From the ERRORS of section 2 of the manual; those that only wrong arguments give are not here. */
static const struct call_errors calls[] = {
    CALL(accept4, EMFILE, ECONNABORTED, EINTR),
    CALL(access, EIO, ENOENT, EACCES),
    CALL(bind, EADDRINUSE, EACCES, ENOMEM),
    CALL(brk, ENOMEM),
    CALL(chdir, EACCES, ENOENT, EIO),
    CALL(clone, EAGAIN, ENOMEM),
    CALL(clone3, EAGAIN, ENOMEM),
    CALL(close, EIO, EINTR),
    CALL(connect, EAGAIN, EINTR, ECONNREFUSED),
    CALL(dup, EMFILE),
    CALL(dup2, EMFILE, EINTR),
    CALL(dup3, EMFILE, EINTR),
    CALL(epoll_create1, EMFILE, ENOMEM),
    CALL(epoll_ctl, ENOMEM, ENOSPC),
    CALL(epoll_wait, EINTR),
    CALL(eventfd2, EMFILE, ENOMEM),
    CALL(execve, ENOMEM, EACCES, ENOENT, EAGAIN),
    CALL(faccessat, EIO, ENOENT, EACCES),
    CALL(faccessat2, EIO, ENOENT, EACCES),
    CALL(fallocate, ENOSPC, EIO, EINTR),
    CALL(fchdir, EACCES, EIO),
    CALL(fchmod, EPERM, EIO, EROFS),
    CALL(fcntl, EMFILE, EAGAIN, ENOMEM),
    CALL(fdatasync, EIO, ENOSPC),
    CALL(flock, EINTR, ENOLCK),
    CALL(fork, EAGAIN, ENOMEM),
    CALL(fstat, EIO, ENOMEM),
    CALL(fsync, EIO, ENOSPC),
    CALL(ftruncate, ENOSPC, EIO, EINTR),
    CALL(getcwd, ENOENT, ENOMEM),
    CALL(getdents64, EIO, ENOENT),
    CALL(getsockopt, ENOMEM),
    CALL(inotify_init1, EMFILE, ENOMEM),
    CALL(inotify_add_watch, ENOSPC, ENOENT),
    CALL(ioctl, EIO, ENOTTY),
    CALL(kill, ESRCH, EPERM),
    CALL(linkat, EEXIST, EIO, ENOSPC),
    CALL(listen, EADDRINUSE),
    CALL(lseek, EIO, ESPIPE),
    CALL(lstat, ENOENT, EACCES, EIO),
    CALL(madvise, ENOMEM, EAGAIN),
    CALL(mbind, ENOMEM),
    CALL(memfd_create, EMFILE, ENOMEM),
    CALL(mkdir, EACCES, ENOSPC, EROFS, EEXIST),
    CALL(mkdirat, EACCES, ENOSPC, EROFS, EEXIST),
    CALL(mlock, ENOMEM),
    CALL(mmap, ENOMEM, EAGAIN),
    CALL(mount, EPERM, ENOMEM, EBUSY),
    CALL(mprotect, ENOMEM),
    CALL(mremap, ENOMEM),
    CALL(munmap, ENOMEM),
    CALL(newfstatat, EIO, ENOENT, EACCES, ENOMEM),
    CALL(open, EIO, EMFILE, EACCES, ENOENT),
    CALL(openat, EIO, EMFILE, EACCES, ENOENT),
    CALL(openat2, EIO, EMFILE, EACCES, ENOENT),
    CALL(perf_event_open, EMFILE, EACCES, ENOENT, EBUSY),
    CALL(pidfd_open, EMFILE, ENOMEM),
    CALL(pidfd_send_signal, ESRCH, EPERM),
    CALL(pipe, EMFILE, ENFILE),
    CALL(pipe2, EMFILE, ENFILE),
    CALL(poll, EINTR, ENOMEM),
    CALL(ppoll, EINTR, ENOMEM),
    CALL(pread64, EIO, EINTR),
    CALL(prlimit64, EPERM),
    CALL(pwrite64, EIO, ENOSPC, EINTR),
    CALL(read, EIO, EINTR),
    CALL(readlink, ENOENT, EACCES, EIO),
    CALL(readlinkat, ENOENT, EACCES, EIO),
    CALL(readv, EIO, EINTR),
    CALL(recvmsg, ECONNRESET, EINTR),
    CALL(recvfrom, ECONNRESET, EINTR),
    CALL(rename, EIO, EACCES, ENOSPC),
    CALL(renameat, EIO, EACCES, ENOSPC),
    CALL(renameat2, EIO, EACCES, ENOSPC),
    CALL(rmdir, EBUSY, EACCES, EIO),
    CALL(sendmsg, EPIPE, ENOBUFS, EINTR),
    CALL(sendto, EPIPE, ENOBUFS, EINTR),
    CALL(setns, EPERM, ENOMEM),
    CALL(setrlimit, EPERM),
    CALL(setsockopt, ENOMEM),
    CALL(socket, EMFILE, ENOBUFS),
    CALL(socketpair, EMFILE, ENOBUFS),
    CALL(splice, EIO, ENOMEM),
    CALL(stat, EIO, ENOENT, EACCES),
    CALL(statfs, EIO, ENOENT),
    CALL(statx, EIO, ENOENT, EACCES),
    CALL(symlink, ENOSPC, EACCES, EEXIST),
    CALL(symlinkat, ENOSPC, EACCES, EEXIST),
    CALL(timer_create, EAGAIN, ENOMEM),
    CALL(timerfd_create, EMFILE, ENOMEM),
    CALL(umount2, EBUSY, EPERM, ENOMEM),
    CALL(unlink, EACCES, EIO, EBUSY),
    CALL(unlinkat, EACCES, EIO, EBUSY),
    CALL(unshare, EPERM, ENOMEM),
    CALL(vfork, EAGAIN, ENOMEM),
    CALL(wait4, EINTR),
    CALL(waitid, EINTR),
    CALL(write, EIO, ENOSPC, EINTR),
    CALL(writev, EIO, ENOSPC, EINTR),
};

#define NAMED(error)                                                                               \
	{                                                                                          \
		error, #error                                                                      \
	}

static const struct {
	int error;
	const char *name;
} names[] = {
    NAMED(EACCES), NAMED(EADDRINUSE),	NAMED(EAGAIN),	NAMED(EBUSY),  NAMED(ECONNABORTED),
    NAMED(EEXIST), NAMED(ECONNREFUSED), NAMED(EINTR),	NAMED(EIO),    NAMED(ECONNRESET),
    NAMED(EMFILE), NAMED(ENFILE),	NAMED(ENOBUFS), NAMED(ENOENT), NAMED(ENOLCK),
    NAMED(ENOMEM), NAMED(ENOSPC),	NAMED(ENOTTY),	NAMED(EPERM),  NAMED(EPIPE),
    NAMED(EROFS),  NAMED(ESPIPE),	NAMED(ESRCH),
};

const struct call_errors *find_call_errors(int number)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].number == number)
			return &calls[i];
	return NULL;
}

int find_error(const char *name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i].name, name))
			return names[i].error;
	return 0;
}

const char *error_name(int error)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].error == error)
			return names[i].name;
	return "?";
}
