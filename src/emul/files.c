#include "emul/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sysfs/topology.h"

#define PREFIX "pmulab-files-"
#define SYSTEM "sys/devices/system"
#define DEPTH  16 /* of folders in each other, at most */

void emul_files_init(struct emul_files *files, const struct pmu_machine *machine,
		     struct emul_report *report)
{
	int ends[2];

	*files = (struct emul_files){
	    .machine = machine, .report = report, .asked = -1, .lifeline = -1, .lock = -1};
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return;
	files->asked = ends[0];
	files->asking = ends[1];
	/* Programs open it by this path; the end that is kept is never the last. */
	snprintf(report->files.asking, sizeof(report->files.asking), "/proc/%d/fd/%d",
		 (int)getpid(), files->asking);
}

static int open_folder(int folder, const char *name)
{
	return openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Whatever is in it. Links are removed, not followed. */
static void empty_folder(int folder, unsigned depth)
{
	int own = depth ? open_folder(folder, ".") : -1;
	DIR *entries = own < 0 ? NULL : fdopendir(own);
	const struct dirent *entry;

	while (entries && (entry = readdir(entries))) {
		int inner;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (!unlinkat(folder, entry->d_name, 0))
			continue;
		inner = open_folder(folder, entry->d_name);
		if (inner < 0)
			continue;
		empty_folder(inner, depth - 1);
		close(inner);
		unlinkat(folder, entry->d_name, AT_REMOVEDIR);
	}
	if (entries)
		closedir(entries);
	else if (own >= 0)
		close(own);
}

static void remove_folder(const char *path)
{
	int folder = open_folder(AT_FDCWD, path);

	if (folder < 0)
		return;
	empty_folder(folder, DEPTH);
	close(folder);
	rmdir(path);
}

/* Another's, or one that somebody is still to remove: its lock goes with the last of them. */
static bool is_left_behind(int parent, const char *name)
{
	struct stat status;
	int folder, owner;
	bool locked;

	if (sscanf(name, PREFIX "%d", &owner) != 1 ||
	    fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) || !S_ISDIR(status.st_mode) ||
	    status.st_uid != geteuid() || !kill(owner, 0) || errno != ESRCH)
		return false;
	folder = open_folder(parent, name);
	locked = folder < 0 || flock(folder, LOCK_EX | LOCK_NB);
	if (folder >= 0)
		close(folder);
	return !locked;
}

/* What was left where both its owner and its keeper were killed. */
static void remove_left_behind(const char *place)
{
	DIR *entries = opendir(place);
	const struct dirent *entry;

	while (entries && (entry = readdir(entries))) {
		char path[PATH_MAX];

		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0 ||
		    !is_left_behind(dirfd(entries), entry->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/%s", place, entry->d_name);
		remove_folder(path);
	}
	if (entries)
		closedir(entries);
}

/* Nothing that ends other processes is to end it. */
static _Noreturn void keep(const char *folder, int lifeline)
{
	sigset_t all;
	char byte;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	prctl(PR_SET_NAME, "pmulab-keep");
	/* All but the lifeline: nobody is to wait for the end of what it has inherited. */
	if (lifeline > 0)
		syscall(SYS_close_range, 0, lifeline - 1, 0);
	syscall(SYS_close_range, lifeline + 1, ~0U, 0);
	if (chdir("/"))
		_exit(EXIT_FAILURE);
	while (read(lifeline, &byte, 1) < 0 && errno == EINTR)
		;
	remove_folder(folder);
	_exit(EXIT_SUCCESS);
}

/* Before there is a folder. @return 0 or an error as errno has it */
static int start_keeper(struct emul_files *files)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return errno;
	files->keeper = fork();
	if (files->keeper < 0) {
		int errnum = errno;

		close(ends[0]);
		close(ends[1]);
		return errnum;
	}
	if (!files->keeper) {
		close(ends[1]);
		keep(files->folder, ends[0]);
	}
	close(ends[0]);
	files->lifeline = ends[1];
	return 0;
}

static void dismiss_keeper(struct emul_files *files)
{
	if (files->lifeline < 0)
		return;
	close(files->lifeline);
	files->lifeline = -1;
	while (waitpid(files->keeper, NULL, 0) < 0 && errno == EINTR)
		;
}

/* @return 0 or an error as errno has it */
static int write_file(int folder, const struct device_node *node)
{
	int fd = openat(folder, node->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
	ssize_t written = fd < 0 ? -1 : write(fd, node->text, node->length);
	int errnum = written == (ssize_t)node->length ? 0 : written < 0 ? errno : ENOSPC;

	if (fd >= 0)
		close(fd);
	return errnum;
}

static int write_folder(int folder, const struct device_tree *tree, uint32_t index);

static int write_node(int folder, const struct device_tree *tree, uint32_t index)
{
	const struct device_node *node = &tree->nodes[index];
	int inner, errnum;

	if (node->kind == DEVICE_TEXT)
		return write_file(folder, node);
	if (node->kind == DEVICE_LINK)
		return symlinkat(node->text, folder, node->name) ? errno : 0;
	if (mkdirat(folder, node->name, 0755))
		return errno;
	inner = open_folder(folder, node->name);
	if (inner < 0)
		return errno;
	errnum = write_folder(inner, tree, index);
	close(inner);
	return errnum;
}

static int write_folder(int folder, const struct device_tree *tree, uint32_t index)
{
	uint32_t child = tree->nodes[index].first_child;
	int errnum = 0;

	for (; child != DEVICE_NONE && !errnum; child = tree->nodes[child].next)
		errnum = write_node(folder, tree, child);
	return errnum;
}

/* What else the computer has there leads to it. */
static void add_others(struct device_tree *tree)
{
	DIR *entries = opendir("/" SYSTEM);
	const struct dirent *entry;

	while (entries && (entry = readdir(entries))) {
		char target[sizeof("/" SYSTEM "/") + sizeof(entry->d_name)];

		if (*entry->d_name == '.' || !strcmp(entry->d_name, "cpu") ||
		    !strcmp(entry->d_name, "node"))
			continue;
		snprintf(target, sizeof(target), "/" SYSTEM "/%s", entry->d_name);
		tree_link(tree, target, SYSTEM "/%s", entry->d_name);
	}
	if (entries)
		closedir(entries);
}

static int write_files(int folder, const struct pmu_machine *machine)
{
	struct device_tree tree;
	int errnum;

	tree_init(&tree);
	cpuinfo_add_files(&tree, machine);
	topology_add_files(&tree, machine);
	add_others(&tree);
	errnum = tree.incomplete ? ENOMEM : write_folder(folder, &tree, DEVICE_ROOT);
	tree_fini(&tree);
	return errnum;
}

static int make_folder(struct emul_files *files)
{
	int errnum = start_keeper(files);

	if (errnum)
		return errnum;
	if (mkdir(files->folder, 0700))
		return errno;
	files->lock = open_folder(AT_FDCWD, files->folder);
	if (files->lock < 0 || flock(files->lock, LOCK_SH))
		return errno;
	errnum = write_files(files->lock, files->machine);
	/* Programs may have become other users. */
	return !errnum && fchmod(files->lock, 0755) ? errno : errnum;
}

static void forget_folder(struct emul_files *files)
{
	dismiss_keeper(files);
	if (files->lock >= 0)
		close(files->lock);
	files->lock = -1;
}

static int make_in(struct emul_files *files, const char *place)
{
	unsigned number;
	int errnum;

	remove_left_behind(place);
	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return errno;
	if (snprintf(files->folder, sizeof(files->folder), "%s/" PREFIX "%d-%08x", place,
		     (int)getpid(), number) >= (int)sizeof(files->folder))
		return ENAMETOOLONG;
	errnum = make_folder(files);
	if (errnum)
		forget_folder(files);
	return errnum;
}

void emul_files_make(struct emul_files *files)
{
	const char *const places[] = {"/dev/shm", getenv("TMPDIR"), "/tmp"};
	char bytes[64];
	int errnum = ENOENT;

	/* Others may ask at the same time. */
	while (read(files->asked, bytes, sizeof(bytes)) > 0)
		;
	if (files->report->files.state != EMUL_FILES_NONE)
		return;
	for (size_t i = 0; errnum && i < sizeof(places) / sizeof(places[0]); i++)
		if (places[i] && *places[i] == '/')
			errnum = make_in(files, places[i]);
	memcpy(files->report->files.folder, files->folder, sizeof(files->folder));
	emul_report_made(files->report, errnum);
}

void emul_files_fini(struct emul_files *files)
{
	const bool made = files->lock >= 0;

	if (files->asked >= 0) {
		close(files->asked);
		close(files->asking);
	}
	forget_folder(files);
	/* Where the keeper was killed. */
	if (made)
		remove_folder(files->folder);
}
