#include "feed/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "feed/memory.h"

enum { GUEST_EXECVE = 59, GUEST_EXECVEAT = 322 };

bool feed_is_exec(int64_t number)
{
	return number == GUEST_EXECVE || number == GUEST_EXECVEAT;
}

/* @return whether @path, of the kernel's for a descriptor, is that of the file that it stands for
 */
static bool read_link(const char *link, char *path)
{
	struct stat opened, named;
	ssize_t length = readlink(link, path, PATH_MAX - 1);

	if (length <= 0)
		return false;
	path[length] = '\0';
	return !stat(link, &opened) && !stat(path, &named) && opened.st_dev == named.st_dev &&
	       opened.st_ino == named.st_ino;
}

static bool names_own(const char *path, const char *what)
{
	char numbered[64];

	snprintf(numbered, sizeof(numbered), "/proc/%d/%s", (int)getpid(), what);
	return !strncmp(path, numbered, strlen(numbered)) ||
	       (!strncmp(path, "/proc/self/", 11) && !strncmp(path + 11, what, strlen(what))) ||
	       (!strncmp(path, "/proc/thread-self/", 18) &&
		!strncmp(path + 18, what, strlen(what)));
}

/*
 * Descriptors that are closed on execve are closed before the emulator opens the program: names
 * that stand for them are replaced by those of their files. @return whether that is possible
 */
static bool resolve(char *path, const char *itself)
{
	char real[PATH_MAX];

	if (itself && names_own(path, "exe")) {
		snprintf(path, PATH_MAX, "%s", itself);
		return true;
	}
	if (strncmp(path, "/dev/fd/", 8) && !names_own(path, "fd/"))
		return true;
	if (!read_link(path, real))
		return false;
	snprintf(path, PATH_MAX, "%s", real);
	return true;
}

/* Of execveat(): what a folder and a path, which may be empty, make. */
static bool join(char *path, int folder, int flags)
{
	char link[64], joined[PATH_MAX];
	struct stat status;
	size_t length;

	if (flags & ~(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) ||
	    (flags & AT_SYMLINK_NOFOLLOW && !fstatat(folder, path, &status, flags) &&
	     S_ISLNK(status.st_mode)))
		return false;
	if (*path == '/' || (*path && folder == AT_FDCWD))
		return true;
	if (!*path && !(flags & AT_EMPTY_PATH))
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", folder);
	if (!read_link(link, joined))
		return false;
	length = strlen(joined);
	if (length + 1 + strlen(path) >= PATH_MAX)
		return false;
	if (*path)
		snprintf(joined + length, sizeof(joined) - length, "/%s", path);
	snprintf(path, PATH_MAX, "%s", joined);
	return true;
}

static enum feed_exec_fate natively(struct feed_exec *exec, const char *why)
{
	exec->why = why;
	return FEED_EXEC_NATIVE;
}

static enum feed_exec_fate fate_of(struct feed_exec *exec, const struct executable *file)
{
	if (file->kind == EXECUTABLE_FOREIGN)
		return natively(exec,
				file->is_64_bit ? "for another processor" : "not a 64-bit program");
	if (file->kind == EXECUTABLE_OTHER && file->errnum)
		return natively(exec, "the file cannot be read");
	if (file->kind != EXECUTABLE_PROGRAM || file->lacks_loader)
		return FEED_EXEC_FAILS;
	if (file->raises_rights)
		return natively(exec, "runs with rights of its file");
	return FEED_EXEC_EMULATED;
}

static enum feed_exec_fate follow(struct feed_exec *exec)
{
	exec->program = exec->path;
	for (exec->scripts = 0; exec->scripts <= EXECUTABLE_SCRIPTS; exec->scripts++) {
		struct executable *file = &exec->files[exec->scripts];

		if (access(exec->program, X_OK))
			return FEED_EXEC_FAILS;
		executable_read(file, exec->program);
		if (file->kind != EXECUTABLE_SCRIPT)
			return fate_of(exec, file);
		exec->program = file->interpreter;
	}
	return FEED_EXEC_FAILS;
}

void feed_exec_read(struct feed_exec *exec, int64_t number, const uint64_t *arguments,
		    uint64_t guest_base, const char *itself)
{
	bool is_at = number == GUEST_EXECVEAT;

	exec->fate = FEED_EXEC_FAILS;
	exec->why = NULL;
	exec->argv = arguments[is_at + 1];
	exec->envp = arguments[is_at + 2];
	if (!feed_memory_text(exec->path, sizeof(exec->path), guest_base + arguments[is_at]))
		return;
	if (is_at && !join(exec->path, (int)arguments[0], (int)arguments[4]))
		return;
	if (!resolve(exec->path, itself))
		exec->fate = natively(exec, "a file without a name");
	else
		exec->fate = follow(exec);
}

void feed_exec_hand_on(struct feed_process *process, struct feed_thread *thread)
{
	for (unsigned i = 0; i < process->threads_seen; i++)
		if (&process->threads[i] != thread)
			feed_thread_leave(&process->threads[i]);
	feed_process_keep_times(process);
	feed_thread_exec(thread);
}
