#include "device/namespace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

/* Any folder that is always there: covered only until everything has its place. */
#define STAGE	  "/tmp"
#define OLD_DEV	  ".real" /* in a new /dev: the computer's own */
#define FUSE_TYPE "fuse.pmulab"

#define KILL_ROUNDS   2000
#define KILL_PAUSE_NS 1000000

/* What to do where the computer has not what is to be covered. */
enum absent {
	ABSENT_COVER_PARENT, /* /proc/bus by one with only pci */
	ABSENT_MAKE_DEV,
	ABSENT_LEAVE,
};

static const struct mount_point {
	const char *path; /* from the root */
	enum absent absent;
} mount_points[] = {
    {"dev/cpu", ABSENT_MAKE_DEV},
    {"proc/bus/pci", ABSENT_COVER_PARENT},
    {"proc/cpuinfo", ABSENT_LEAVE},
    {"proc/stat", ABSENT_LEAVE},
    {"proc/interrupts", ABSENT_LEAVE},
    {"sys/bus/pci", ABSENT_COVER_PARENT},
    {"proc/meminfo", ABSENT_LEAVE},
    {"proc/partitions", ABSENT_LEAVE},
    {"proc/diskstats", ABSENT_LEAVE},
    {"sys/block", ABSENT_LEAVE},
    {"sys/class/block", ABSENT_LEAVE},
    {"sys/class/net", ABSENT_LEAVE},
    {"sys/bus/event_source", ABSENT_COVER_PARENT},
    {"proc/sys/kernel/perf_event_paranoid", ABSENT_LEAVE},
    {"sys/devices/system/cpu", ABSENT_COVER_PARENT},
    {"sys/devices/system/node", ABSENT_COVER_PARENT},
    {"proc/sys/kernel/nmi_watchdog", ABSENT_LEAVE},
};
#define MOUNT_COUNT (sizeof(mount_points) / sizeof(mount_points[0]))

int namespace_open_fuse(struct pmu_ctx *ctx)
{
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	if (errno == EACCES || errno == EPERM)
		return error_set(ctx, PMU_E_RIGHTS,
				 "/dev/fuse may not be opened: device files need root (sudo), and "
				 "in a container --device /dev/fuse");
	/* No file, and a file without its driver. */
	if (errno == ENOENT || errno == ENODEV || errno == ENXIO)
		return error_set(ctx, PMU_E_IO,
				 "/dev/fuse is not there (%s): device files need it; load the "
				 "module with modprobe fuse, or start the container with --device "
				 "/dev/fuse",
				 strerror(errno));
	return error_set(ctx, PMU_E_IO, "cannot open /dev/fuse: %s", strerror(errno));
}

int namespace_enter(struct pmu_ctx *ctx, int fuse)
{
	char options[96];

	if (unshare(CLONE_NEWNS))
		return error_set(ctx, PMU_E_RIGHTS,
				 "no mount namespace (%s): device files need root (sudo), and in "
				 "a container --cap-add SYS_ADMIN",
				 strerror(errno));
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return error_set(ctx, PMU_E_RIGHTS,
				 "the root folder cannot be kept to this namespace (%s); in a "
				 "chroot, bind its folder onto itself before: mount --bind DIR DIR",
				 strerror(errno));
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=%u,group_id=%u,allow_other,default_permissions",
		 fuse, geteuid(), getegid());
	if (mount("pmulab", STAGE, FUSE_TYPE, MS_NOSUID | MS_NODEV, options))
		return error_set(ctx, PMU_E_RIGHTS,
				 "a FUSE file system cannot be mounted (%s): device files need "
				 "root (sudo), and in a container --cap-add SYS_ADMIN",
				 strerror(errno));
	return 0;
}

/* @return 1, 0, or -1 where nobody can tell */
static int is_there(const char *path)
{
	struct stat status;

	if (!lstat(path, &status))
		return 1;
	return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
}

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/* Calls @act for each entry of a folder until one fails, and closes it. @return 0 or -1, errno */
static int each_entry(DIR *folder, int (*act)(const char *name))
{
	const struct dirent *entry = NULL;
	int error;

	if (!folder)
		return -1;
	do {
		errno = 0;
		entry = readdir(folder);
	} while (entry && (is_dots(entry->d_name) || !act(entry->d_name)));
	error = errno;
	closedir(folder);
	errno = error;
	return error ? -1 : 0;
}

/* Links lead to the entries of the computer's own /dev, which is laid out beside them. */
static int link_device(const char *name)
{
	char target[PATH_MAX], path[PATH_MAX];

	snprintf(target, sizeof(target), OLD_DEV "/%s", name);
	snprintf(path, sizeof(path), STAGE "/%s", name);
	return symlink(target, path);
}

/* /dev is shared with everybody: a folder that it has not can only be in another /dev. */
static int make_dev(void)
{
	if (mount("pmulab", STAGE, "tmpfs", MS_NOSUID, "mode=755"))
		return -1;
	if (mkdir(STAGE "/" OLD_DEV, 0755) || mkdir(STAGE "/cpu", 0755) ||
	    mount("/dev", STAGE "/" OLD_DEV, NULL, MS_BIND | MS_REC, NULL) ||
	    each_entry(opendir(STAGE "/" OLD_DEV), link_device) ||
	    mount(STAGE, "/dev", NULL, MS_BIND | MS_REC, NULL)) {
		umount2(STAGE, MNT_DETACH);
		return -1;
	}
	return umount2(STAGE, MNT_DETACH);
}

static int link_pmu(const char *name)
{
	char target[PATH_MAX], path[PATH_MAX];

	snprintf(target, sizeof(target), "../bus/event_source/devices/%s", name);
	snprintf(path, sizeof(path), STAGE "/%s", name);
	return symlink(target, path);
}

/* What is no PMU of the computer's, as it is. */
static int keep_device(const char *name)
{
	char from[PATH_MAX], to[PATH_MAX];
	int is_pmu;

	snprintf(to, sizeof(to), "/sys/bus/event_source/devices/%s", name);
	is_pmu = is_there(to);
	if (is_pmu)
		return is_pmu > 0 ? 0 : -1;
	snprintf(from, sizeof(from), "/sys/devices/%s", name);
	snprintf(to, sizeof(to), STAGE "/%s", name);
	return mkdir(to, 0755) || mount(from, to, NULL, MS_BIND | MS_REC, NULL);
}

/* libpfm4, and with it PAPI, looks for the kernel's PMUs in /sys/devices, where none can be added:
 * it is laid out anew. */
static int make_sys_devices(struct pmu_ctx *ctx)
{
	DIR *pmus = opendir(STAGE "/sys/bus/event_source/devices");
	int error = 0;

	if (!pmus || mount("pmulab", STAGE, "tmpfs", MS_NOSUID, "mode=755")) {
		error = errno;
		if (pmus)
			closedir(pmus);
	} else {
		if (each_entry(pmus, link_pmu) ||
		    each_entry(opendir("/sys/devices"), keep_device) ||
		    mount(STAGE, "/sys/devices", NULL, MS_BIND | MS_REC, NULL))
			error = errno;
		if (umount2(STAGE, MNT_DETACH) && !error)
			error = errno;
	}
	return error ? error_set(ctx, PMU_E_IO, "cannot lay out /sys/devices: %s", strerror(error))
		     : 0;
}

static int show(struct pmu_ctx *ctx, const struct mount_point *point)
{
	char from[PATH_MAX], to[PATH_MAX];
	int there;

	snprintf(to, sizeof(to), "/%s", point->path);
	snprintf(from, sizeof(from), STAGE "/%s", point->path);
	there = is_there(to);
	if (there < 0)
		return error_set(ctx, PMU_E_IO, "cannot look at %s: %s", to, strerror(errno));
	if (!there) {
		if (point->absent == ABSENT_LEAVE)
			return 0;
		if (point->absent == ABSENT_MAKE_DEV && make_dev())
			return error_set(ctx, PMU_E_IO, "cannot make a /dev with %s: %s", to,
					 strerror(errno));
		if (point->absent == ABSENT_COVER_PARENT) {
			*strrchr(from, '/') = '\0';
			*strrchr(to, '/') = '\0';
		}
	}
	if (mount(from, to, NULL, MS_BIND, NULL))
		return error_set(ctx, PMU_E_IO, "cannot mount the machine's files over %s: %s", to,
				 strerror(errno));
	return 0;
}

static int uncover_stage(struct pmu_ctx *ctx)
{
	if (umount2(STAGE, MNT_DETACH))
		return error_set(ctx, PMU_E_IO, "cannot uncover " STAGE ": %s", strerror(errno));
	return 0;
}

int namespace_show(struct pmu_ctx *ctx)
{
	int error = make_sys_devices(ctx);

	for (size_t i = 0; i < MOUNT_COUNT && !error; i++)
		error = show(ctx, &mount_points[i]);
	return error ? error : uncover_stage(ctx);
}

int namespace_show_registers(struct pmu_ctx *ctx)
{
	static const struct mount_point registers = {"dev/cpu", ABSENT_MAKE_DEV};
	int error = show(ctx, &registers);

	return error ? error : uncover_stage(ctx);
}

int namespace_open(struct pmu_ctx *ctx)
{
	int fd = open("/proc/thread-self/ns/mnt", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? error_set(ctx, PMU_E_IO, "cannot open the mount namespace: %s",
				  strerror(errno))
		      : fd;
}

static bool is_same(const struct stat *one, const struct stat *other)
{
	return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

static bool is_here(int fd)
{
	struct stat own, other;

	return !stat("/proc/thread-self/ns/mnt", &own) && !fstat(fd, &other) &&
	       is_same(&own, &other);
}

int namespace_join(struct pmu_ctx *ctx, int fd)
{
	char *folder;
	int error = 0;

	if (is_here(fd))
		return 0;
	folder = getcwd(NULL, 0);
	if (setns(fd, CLONE_NEWNS))
		error = error_set(ctx, PMU_E_RIGHTS,
				  "cannot enter the machine's mount namespace (%s): that needs "
				  "root (sudo)",
				  strerror(errno));
	else if (folder && chdir(folder))
		error = error_set(ctx, PMU_E_IO, "cannot stay in %s: %s", folder, strerror(errno));
	free(folder);
	return error;
}

/* Where the file of a process, a link of the kernel's, leads to. */
static int look_at(pid_t pid, const char *file, struct stat *status)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	return stat(path, status);
}

/* By a descriptor that is opened first: the number may be another process's by then. */
static bool kill_inside(pid_t pid, const struct stat *namespace, const struct stat *own)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct stat other, program;
	bool found = !look_at(pid, "ns/mnt", &other) && is_same(&other, namespace) &&
		     /* Whose program nobody can tell may be this one's. */
		     !look_at(pid, "exe", &program) && !is_same(&program, own);

	if (found && fd >= 0)
		syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
	else if (found)
		kill(pid, SIGKILL);
	if (fd >= 0)
		close(fd);
	return found;
}

static bool kill_all_inside(const struct stat *namespace, const struct stat *own)
{
	DIR *folder = opendir("/proc");
	const struct dirent *entry;
	bool found = false;

	while (folder && (entry = readdir(folder))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0 && pid != getpid() && kill_inside(pid, namespace, own))
			found = true;
	}
	if (folder)
		closedir(folder);
	return found;
}

void namespace_kill(int fd)
{
	struct stat namespace, own;

	if (fd < 0 || fstat(fd, &namespace) || stat("/proc/self/exe", &own))
		return;
	/* What a process started before it died is found the next time; so is who takes long. */
	for (int round = 0; round < KILL_ROUNDS && kill_all_inside(&namespace, &own); round++)
		nanosleep(&(struct timespec){.tv_nsec = KILL_PAUSE_NS}, NULL);
}
