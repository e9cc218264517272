/* System calls about files whose structures differ, or which name the program itself. */
#include "feed/ia64/process.h"
#include "feed/ia64/root.h"
#include "feed/ia64/space.h"
#include "feed/ia64/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Linux/ia64's struct stat. */
struct guest_stat {
	uint64_t dev, ino, nlink;
	uint32_t mode, uid, gid, pad;
	uint64_t rdev, size;
	uint64_t atime, atime_nsec, mtime, mtime_nsec, ctime, ctime_nsec;
	uint64_t blksize;
	int64_t blocks;
	uint64_t unused[3];
};

_Static_assert(sizeof(struct guest_stat) == 144, "as the kernel has it");

static int64_t put_stat(struct ia64_cpu *c, uint64_t to, int rc, const struct stat *st)
{
	struct guest_stat g = {
	    .dev = st->st_dev,
	    .ino = st->st_ino,
	    .nlink = st->st_nlink,
	    .mode = st->st_mode,
	    .uid = st->st_uid,
	    .gid = st->st_gid,
	    .rdev = st->st_rdev,
	    .size = (uint64_t)st->st_size,
	    .atime = (uint64_t)st->st_atim.tv_sec,
	    .atime_nsec = (uint64_t)st->st_atim.tv_nsec,
	    .mtime = (uint64_t)st->st_mtim.tv_sec,
	    .mtime_nsec = (uint64_t)st->st_mtim.tv_nsec,
	    .ctime = (uint64_t)st->st_ctim.tv_sec,
	    .ctime_nsec = (uint64_t)st->st_ctim.tv_nsec,
	    .blksize = (uint64_t)st->st_blksize,
	    .blocks = st->st_blocks,
	};

	return rc != 0 ? -errno : ia64_copy_out(c, to, &g, sizeof(g));
}

/* A path that fits, or negative errno. */
static int64_t get_path(struct ia64_cpu *c, char *path, uint64_t from)
{
	for (size_t i = 0; i < PATH_MAX; i++) {
		if (ia64_copy_in(c, path + i, from + i, 1) != 0)
			return -EFAULT;
		if (!path[i])
			return 0;
	}
	return -ENAMETOOLONG;
}

uint64_t ia64_path(struct ia64_cpu *c, uint64_t p, char *room)
{
	char path[PATH_MAX];
	const char *found;

	/* What is no path is for the host to refuse. */
	if (!c->process->root || get_path(c, path, p) != 0)
		return ia64_pointer(c, p);
	found = ia64_rooted(c->process->root, path, room);
	return found == path ? ia64_pointer(c, p) : (uint64_t)(uintptr_t)found;
}

/* The raw call: the library would look at the path itself. */
static int64_t stat_at(struct ia64_cpu *c, int fd, uint64_t path, uint64_t to, int flags)
{
	struct stat st;
	char room[PATH_MAX];
	long rc = syscall(SYS_newfstatat, fd, ia64_path(c, path, room), &st, flags);

	return put_stat(c, to, (int)rc, &st);
}

int64_t ia64_sys_stat(struct ia64_cpu *c, const uint64_t *a)
{
	return stat_at(c, AT_FDCWD, a[0], a[1], 0);
}

int64_t ia64_sys_lstat(struct ia64_cpu *c, const uint64_t *a)
{
	return stat_at(c, AT_FDCWD, a[0], a[1], AT_SYMLINK_NOFOLLOW);
}

int64_t ia64_sys_newfstatat(struct ia64_cpu *c, const uint64_t *a)
{
	return stat_at(c, (int)a[0], a[1], a[2], (int)a[3]);
}

int64_t ia64_sys_fstat(struct ia64_cpu *c, const uint64_t *a)
{
	struct stat st;
	int rc = fstat((int)a[0], &st);

	return put_stat(c, a[1], rc, &st);
}

static bool is_own_program(const char *path)
{
	char own[64];

	snprintf(own, sizeof(own), "/proc/%d/exe", (int)getpid());
	return strcmp(path, "/proc/self/exe") == 0 || strcmp(path, own) == 0;
}

static int64_t read_link(struct ia64_cpu *c, int fd, uint64_t path_at, uint64_t to, uint64_t size)
{
	char path[PATH_MAX], target[PATH_MAX];
	int64_t rc = get_path(c, path, path_at);
	size_t length;

	if (rc != 0)
		return rc;
	if (!is_own_program(path)) {
		rc = syscall(SYS_readlinkat, fd, path, ia64_pointer(c, to), size);
		return rc < 0 ? -errno : rc;
	}
	if (!realpath(c->process->path, target))
		return -errno;
	length = strlen(target);
	length = length < size ? length : size;
	rc = ia64_copy_out(c, to, target, length);
	return rc ? rc : (int64_t)length;
}

int64_t ia64_sys_readlink(struct ia64_cpu *c, const uint64_t *a)
{
	return read_link(c, AT_FDCWD, a[0], a[1], a[2]);
}

int64_t ia64_sys_readlinkat(struct ia64_cpu *c, const uint64_t *a)
{
	return read_link(c, (int)a[0], a[1], a[2], a[3]);
}

int64_t ia64_sys_uname(struct ia64_cpu *c, const uint64_t *a)
{
	struct utsname name;

	if (uname(&name) != 0)
		return -errno;
	snprintf(name.machine, sizeof(name.machine), "ia64");
	return ia64_copy_out(c, a[0], &name, sizeof(name));
}

/* Both descriptors come in registers. */
int64_t ia64_sys_pipe(struct ia64_cpu *c, const uint64_t *a)
{
	int fd[2];

	(void)a;
	if (pipe(fd) != 0)
		return -errno;
	c->gr[9] = (uint64_t)fd[1];
	return fd[0];
}

/* Vectors of guest addresses to such of the host. */
static int64_t get_vector(struct ia64_cpu *c, struct iovec *to, uint64_t from, uint64_t count)
{
	if (count > IOV_MAX)
		return -EINVAL;
	if (ia64_copy_in(c, to, from, count * sizeof(*to)) != 0)
		return -EFAULT;
	for (uint64_t i = 0; i < count; i++)
		to[i].iov_base =
		    (void *)(uintptr_t)ia64_pointer(c, (uint64_t)(uintptr_t)to[i].iov_base);
	return 0;
}

static int64_t vectored(struct ia64_cpu *c, long host, const uint64_t *a)
{
	struct iovec vector[IOV_MAX];
	int64_t rc = get_vector(c, vector, a[1], a[2]);

	return rc ? rc
		  : ia64_host_syscall(c, host, a[0], (uint64_t)(uintptr_t)vector, a[2], a[3], a[4],
				      0);
}

int64_t ia64_sys_readv(struct ia64_cpu *c, const uint64_t *a)
{
	return vectored(c, SYS_readv, a);
}

int64_t ia64_sys_writev(struct ia64_cpu *c, const uint64_t *a)
{
	return vectored(c, SYS_writev, a);
}

int64_t ia64_sys_preadv(struct ia64_cpu *c, const uint64_t *a)
{
	return vectored(c, SYS_preadv, a);
}

int64_t ia64_sys_pwritev(struct ia64_cpu *c, const uint64_t *a)
{
	return vectored(c, SYS_pwritev, a);
}

static int64_t message(struct ia64_cpu *c, long host, const uint64_t *a)
{
	struct iovec vector[IOV_MAX];
	struct msghdr guest, m;
	int64_t rc;

	if (ia64_copy_in(c, &guest, a[1], sizeof(guest)) != 0)
		return -EFAULT;
	rc = get_vector(c, vector, (uint64_t)(uintptr_t)guest.msg_iov, guest.msg_iovlen);
	if (rc != 0)
		return rc;
	m = guest;
	m.msg_iov = vector;
	m.msg_name = (void *)(uintptr_t)ia64_pointer(c, (uint64_t)(uintptr_t)guest.msg_name);
	m.msg_control = (void *)(uintptr_t)ia64_pointer(c, (uint64_t)(uintptr_t)guest.msg_control);
	rc = ia64_host_syscall(c, host, a[0], (uint64_t)(uintptr_t)&m, a[2], 0, 0, 0);
	if (rc < 0 || host != SYS_recvmsg)
		return rc;
	guest.msg_namelen = m.msg_namelen;
	guest.msg_controllen = m.msg_controllen;
	guest.msg_flags = m.msg_flags;
	return ia64_copy_out(c, a[1], &guest, sizeof(guest)) ? -EFAULT : rc;
}

int64_t ia64_sys_sendmsg(struct ia64_cpu *c, const uint64_t *a)
{
	return message(c, SYS_sendmsg, a);
}

int64_t ia64_sys_recvmsg(struct ia64_cpu *c, const uint64_t *a)
{
	return message(c, SYS_recvmsg, a);
}

/* On x86-64 the structure is packed. */
struct guest_epoll {
	uint32_t events, pad;
	uint64_t data;
};

int64_t ia64_sys_epoll_ctl(struct ia64_cpu *c, const uint64_t *a)
{
	struct guest_epoll guest = {0};
	struct epoll_event event;

	if (a[3] && ia64_copy_in(c, &guest, a[3], sizeof(guest)) != 0)
		return -EFAULT;
	event.events = guest.events;
	event.data.u64 = guest.data;
	return epoll_ctl((int)a[0], (int)a[1], (int)a[2], a[3] ? &event : NULL) ? -errno : 0;
}

#define EVENTS_AT_ONCE 256

int64_t ia64_sys_epoll_pwait(struct ia64_cpu *c, const uint64_t *a)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	uint64_t most = a[2] < EVENTS_AT_ONCE ? a[2] : EVENTS_AT_ONCE;
	int64_t n = ia64_host_syscall(c, SYS_epoll_pwait, a[0], (uint64_t)(uintptr_t)events,
				      (int)a[2] <= 0 ? a[2] : most, a[3], ia64_pointer(c, a[4]), 8);

	for (int64_t i = 0; i < n; i++) {
		struct guest_epoll guest = {.events = events[i].events, .data = events[i].data.u64};

		if (ia64_copy_out(c, a[1] + (uint64_t)i * sizeof(guest), &guest, sizeof(guest)))
			return -EFAULT;
	}
	return n;
}

int64_t ia64_sys_epoll_wait(struct ia64_cpu *c, const uint64_t *a)
{
	const uint64_t b[5] = {a[0], a[1], a[2], a[3], 0};

	return ia64_sys_epoll_pwait(c, b);
}

/* The last argument is a structure with a pointer. */
int64_t ia64_sys_pselect6(struct ia64_cpu *c, const uint64_t *a)
{
	uint64_t mask[2];

	if (a[5]) {
		if (ia64_copy_in(c, mask, a[5], sizeof(mask)) != 0)
			return -EFAULT;
		mask[0] = ia64_pointer(c, mask[0]);
	}
	return ia64_host_syscall(c, SYS_pselect6, a[0], ia64_pointer(c, a[1]),
				 ia64_pointer(c, a[2]), ia64_pointer(c, a[3]),
				 ia64_pointer(c, a[4]), a[5] ? (uint64_t)(uintptr_t)mask : 0);
}

/* Strings of a NULL-ended vector, as the host's. */
static char **get_strings(struct ia64_cpu *c, uint64_t from)
{
	size_t n = 0;
	uint64_t p = 1;
	char **strings;

	while (from && p && ia64_copy_in(c, &p, from + 8 * n, 8) == 0)
		n++;
	strings = calloc(n + 1, sizeof(*strings));
	for (size_t i = 0; strings && i + 1 < n + (p != 0); i++) {
		if (ia64_copy_in(c, &p, from + 8 * i, 8) != 0)
			break;
		strings[i] = ia64_host(c, p);
	}
	return strings;
}

/* The new program runs natively: an IA-64 one only where the host knows how. */
int64_t ia64_sys_execve(struct ia64_cpu *c, const uint64_t *a)
{
	char **argv = get_strings(c, a[1]), **envp = get_strings(c, a[2]);
	int64_t rc = -ENOMEM;

	if (argv && envp) {
		syscall(SYS_execve, ia64_pointer(c, a[0]), argv, envp);
		rc = -errno;
	}
	free(argv);
	free(envp);
	return rc;
}

int64_t ia64_sys_getpagesize(struct ia64_cpu *c, const uint64_t *a)
{
	(void)c;
	(void)a;
	return IA64_PAGE;
}

/* What to do about unaligned accesses, and about software assists of floating point: kept, read
 * back. Only pointers of the options that programs use are known to be such. */
int64_t ia64_sys_prctl(struct ia64_cpu *c, const uint64_t *a)
{
	uint32_t value;
	long rc;

	switch ((int)a[0]) {
	case PR_SET_UNALIGN:
		c->process->unaligned = (uint32_t)a[1];
		ia64_process_realign(c->process);
		return 0;
	case PR_GET_UNALIGN:
		value = c->process->unaligned;
		return ia64_copy_out(c, a[1], &value, sizeof(value));
	case PR_SET_NAME:
	case PR_GET_NAME:
	case PR_GET_PDEATHSIG:
		rc = prctl((int)a[0], ia64_pointer(c, a[1]));
		return rc < 0 ? -errno : rc;
	case PR_SET_PDEATHSIG:
	case PR_GET_DUMPABLE:
	case PR_SET_DUMPABLE:
	case PR_SET_NO_NEW_PRIVS:
	case PR_GET_NO_NEW_PRIVS:
		rc = prctl((int)a[0], a[1], a[2], a[3], a[4]);
		return rc < 0 ? -errno : rc;
	default:
		return -EINVAL;
	}
}
