#include "bus/journal_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

const char *journal_folder_name(char path[PATH_MAX])
{
	const char *given = getenv("PMULAB_RUNTIME_DIR"), *user = getenv("XDG_RUNTIME_DIR");

	if (given)
		snprintf(path, PATH_MAX, "%s", given);
	else if (geteuid() == 0)
		strcpy(path, "/run/pmulab");
	else
		snprintf(path, PATH_MAX, "%s/pmulab", user ? user : "");
	return path;
}

static int cannot(struct pmu_ctx *ctx, const char *path, const char *why)
{
	return error_set(ctx, PMU_E_IO, "cannot keep a journal in %s: %s", path, why);
}

int journal_folder_open(struct pmu_ctx *ctx, bool make)
{
	char path[PATH_MAX];
	struct stat status;
	int fd;

	journal_folder_name(path);
	if (*path != '/' || !strcmp(path, "/pmulab"))
		return error_set(ctx, PMU_E_UNKNOWN,
				 "cannot keep a journal: XDG_RUNTIME_DIR is not set");
	if (make && mkdir(path, 0700) && errno != EEXIST)
		return cannot(ctx, path, strerror(errno));
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return PMU_E_UNKNOWN;
	if (fd < 0)
		return cannot(ctx, path, strerror(errno));
	if (!fstat(fd, &status) && status.st_uid == geteuid() && !(status.st_mode & 022))
		return fd;
	close(fd);
	return error_set(
	    ctx, PMU_E_RIGHTS,
	    "%s belongs to another user, or others may write to it: pmulab keeps no journals there",
	    path);
}

void journal_leave(struct journal_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	if (file->folder >= 0)
		close(file->folder);
	file->fd = file->folder = -1;
}

void journal_fail(struct journal_file *file)
{
	char failed[JOURNAL_NAME_MAX + sizeof(JOURNAL_FAILED)];

	snprintf(failed, sizeof(failed), "%s" JOURNAL_FAILED, file->name);
	/* Where it keeps its name, it is restored all the same. */
	if (file->folder >= 0)
		(void)!renameat(file->folder, file->name, file->folder, failed);
	journal_leave(file);
}

int journal_remove(struct journal_file *file)
{
	int errnum = file->folder >= 0 && unlinkat(file->folder, file->name, 0) ? errno : 0;

	journal_leave(file);
	errno = errnum;
	return errnum ? PMU_E_IO : 0;
}

static int fill(int fd, const struct journal *journal)
{
	/* The descriptor with the lock stays when the stream is closed. */
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	FILE *stream = copy < 0 ? NULL : fdopen(copy, "w");
	int error;

	if (!stream) {
		if (copy >= 0)
			close(copy);
		return PMU_E_IO;
	}
	error = journal_put(stream, journal);
	if (fflush(stream) || fsync(copy))
		error = PMU_E_IO;
	fclose(stream);
	return error;
}

int journal_write(struct journal_file *file, struct pmu_ctx *ctx, const struct journal *journal)
{
	char unfinished[JOURNAL_NAME_MAX + sizeof(JOURNAL_UNFINISHED)], path[PATH_MAX];
	int errnum;

	file->fd = -1;
	file->folder = journal_folder_open(ctx, true);
	if (file->folder < 0)
		return file->folder;
	snprintf(file->name, sizeof(file->name), "%d-%llu", (int)journal->owner,
		 journal->owner_start);
	snprintf(unfinished, sizeof(unfinished), "%s" JOURNAL_UNFINISHED, file->name);
	file->fd = openat(file->folder, unfinished,
			  O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (file->fd >= 0 && !flock(file->fd, LOCK_EX | LOCK_NB) && !fill(file->fd, journal) &&
	    !renameat(file->folder, unfinished, file->folder, file->name)) {
		/* Where it cannot be made sure that the name stays, the file is there all the same.
		 */
		(void)!fsync(file->folder);
		return 0;
	}
	errnum = errno;
	unlinkat(file->folder, unfinished, 0);
	journal_leave(file);
	return cannot(ctx, journal_folder_name(path), strerror(errnum));
}
