#include "feed/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "feed/allowed.h"
#include "feed/memory.h"
#include "feed/path.h"

#define NONE	   (-1)
#define POINTER(n) (1u << (n))
#define LINK_BYTES 64

/* What the system is not asked for again: nothing is made, and nothing emptied. */
#define FLAGS_DROPPED ((uint64_t)(O_CREAT | O_EXCL | O_TRUNC))

enum { GUEST_GETCWD = 79 };

/* A system call that names a file, and what its arguments are. */
struct path_call {
	int16_t number; /* those of x86-64, this computer's too */
	int8_t folder;	/* the descriptor at which the path begins; NONE: the working folder */
	int8_t path;
	int8_t flags;	  /* of opening; NONE: it opens nothing */
	uint8_t pointers; /* other addresses, one a bit */
};

static const struct path_call path_calls[] = {
    {2 /* open */, NONE, 0, 1, 0},
    {4 /* stat */, NONE, 0, NONE, POINTER(1)},
    {6 /* lstat */, NONE, 0, NONE, POINTER(1)},
    {21 /* access */, NONE, 0, NONE, 0},
    {80 /* chdir */, NONE, 0, NONE, 0},
    {89 /* readlink */, NONE, 0, NONE, POINTER(1)},
    {191 /* getxattr */, NONE, 0, NONE, POINTER(1) | POINTER(2)},
    {192 /* lgetxattr */, NONE, 0, NONE, POINTER(1) | POINTER(2)},
    {194 /* listxattr */, NONE, 0, NONE, POINTER(1)},
    {195 /* llistxattr */, NONE, 0, NONE, POINTER(1)},
    {257 /* openat */, 0, 1, 2, 0},
    {262 /* newfstatat */, 0, 1, NONE, POINTER(2)},
    {267 /* readlinkat */, 0, 1, NONE, POINTER(2)},
    {269 /* faccessat */, 0, 1, NONE, 0},
    {332 /* statx */, 0, 1, NONE, POINTER(4)},
    {439 /* faccessat2 */, 0, 1, NONE, 0},
};

static const struct path_call *find_call(int64_t number)
{
	for (size_t i = 0; i < sizeof(path_calls) / sizeof(path_calls[0]); i++)
		if (path_calls[i].number == number)
			return &path_calls[i];
	return NULL;
}

void feed_files_syscall(struct feed_thread *thread, int64_t number, const uint64_t *arguments)
{
	if (find_call(number) || number == GUEST_GETCWD)
		memcpy(thread->arguments, arguments, sizeof(thread->arguments));
}

/* Where a path that a call names begins. @return whether that can be told */
static bool read_folder(char folder[FEED_PATH_BYTES], const struct path_call *call,
			const uint64_t *arguments)
{
	int fd = call->folder == NONE ? AT_FDCWD : (int)arguments[call->folder];
	char link[LINK_BYTES] = "/proc/self/cwd";
	ssize_t length;

	if (fd != AT_FDCWD)
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, folder, FEED_PATH_BYTES - 1);
	if (length <= 0)
		return false;
	folder[length] = '\0';
	return *folder == '/';
}

/*
 * Where the result shows that the system has read the path it can be looked at where it is: most
 * are none of the machine's, and a copy takes longer than the call.
 */
static bool has_read_path(int64_t result)
{
	return result >= 0 || result == -ENOENT || result == -ENOTDIR || result == -EACCES;
}

/* @return whether a call names a file of the machine's: its path */
static bool read_path(char joined[FEED_PATH_BYTES], const struct path_call *call,
		      const uint64_t *arguments, int64_t result, uint64_t guest_base)
{
	const uint64_t address = guest_base + arguments[call->path];
	const char *path = (const char *)(uintptr_t)address;
	char copy[FEED_PATH_BYTES], folder[FEED_PATH_BYTES] = "/";

	if (!has_read_path(result)) {
		if (!feed_memory_text(copy, sizeof(copy), address))
			return false;
		path = copy;
	}
	return feed_path_may_be_machine(path) &&
	       (*path == '/' || read_folder(folder, call, arguments)) &&
	       feed_path_join(joined, folder, path) && feed_path_is_machine(joined);
}

/* The same call for another path. @return as the system has it: a negative error */
static int64_t call_again(const struct path_call *call, const uint64_t *arguments, const char *path,
			  uint64_t guest_base)
{
	uint64_t a[FEED_ARGUMENTS];
	long result;

	for (unsigned i = 0; i < FEED_ARGUMENTS; i++)
		a[i] =
		    arguments[i] + (call->pointers & POINTER(i) && arguments[i] ? guest_base : 0);
	a[call->path] = (uint64_t)(uintptr_t)path;
	if (call->flags != NONE) {
		if ((a[call->flags] & O_ACCMODE) != O_RDONLY)
			return access(path, F_OK) ? -errno : -EACCES;
		a[call->flags] &= ~FLAGS_DROPPED;
	}
	result = syscall(call->number, a[0], a[1], a[2], a[3], a[4]);
	return result < 0 ? -errno : result;
}

/* A descriptor that the guest has got already gets the file. */
static int64_t replace(int64_t got, int64_t file, bool closes_on_exec)
{
	if (got < 0)
		return file;
	if (file >= 0) {
		syscall(SYS_dup3, file, got, closes_on_exec ? O_CLOEXEC : 0);
		close((int)file);
		return got;
	}
	close((int)got);
	return file;
}

static int64_t answer(const struct feed_process *process, const struct path_call *call,
		      const uint64_t *arguments, const char *path, int64_t result,
		      uint64_t guest_base)
{
	char file[FEED_FOLDER_BYTES + FEED_PATH_BYTES];
	int errnum = 0;
	const char *folder = process->files.folder(process->files.arg, &errnum);
	int64_t again = -errnum;

	if (!folder && !errnum)
		return result;
	if (folder) {
		snprintf(file, sizeof(file), "%s%s", folder, path);
		again = call_again(call, arguments, file, guest_base);
	}
	if (call->flags == NONE)
		return again;
	return replace(result, again, arguments[call->flags] & O_CLOEXEC);
}

/* The folder of the files is none of the machine's. */
static int64_t correct_folder(const struct feed_process *process, uint64_t at, int64_t result)
{
	const char *folder = process->files.made_folder(process->files.arg);
	size_t length = folder ? strlen(folder) : 0;
	char path[FEED_FOLDER_BYTES + FEED_PATH_BYTES];

	if (!folder || result <= (int64_t)length || result > (int64_t)sizeof(path) ||
	    feed_memory_read(path, at, (size_t)result) != (size_t)result ||
	    memcmp(path, folder, length) || path[length] != '/')
		return result;
	feed_memory_write(at, path + length, (size_t)result - length);
	return result - (int64_t)length;
}

int64_t feed_files_return(const struct feed_process *process, const struct feed_thread *thread,
			  int64_t number, int64_t result, uint64_t guest_base)
{
	const struct path_call *call = find_call(number);
	const uint64_t *arguments = thread->arguments;
	char path[FEED_PATH_BYTES];

	if (number == GUEST_GETCWD && result > 0 && process->files.folder)
		return correct_folder(process, guest_base + arguments[0], result);
	/* An interrupted call comes again. */
	if (!call || result < -FEED_ERRNO_MAX)
		return result;
	if (process->files.folder && read_path(path, call, arguments, result, guest_base))
		return answer(process, call, arguments, path, result, guest_base);
	if (call->flags != NONE && result >= 0 &&
	    feed_allowed_is_asked((const char *)(uintptr_t)(guest_base + arguments[call->path])))
		feed_allowed_open(process, (int)result, arguments[call->flags] & O_CLOEXEC);
	return result;
}
