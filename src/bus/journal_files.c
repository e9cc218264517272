#include "bus/journal_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"

#define JOURNAL_BYTES_MAX (64u << 20)
/* Behind the name of one that is being written; of one that could not be restored. */
#define UNFINISHED ".new"
#define FAILED	   ".failed"

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

/* @return a descriptor, or an error; PMU_E_UNKNOWN: there is no such folder */
static int open_folder(struct pmu_ctx *ctx, bool make)
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
	char failed[JOURNAL_NAME_MAX + sizeof(FAILED)];

	snprintf(failed, sizeof(failed), "%s" FAILED, file->name);
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
	char unfinished[JOURNAL_NAME_MAX + sizeof(UNFINISHED)], path[PATH_MAX];
	int errnum;

	file->fd = -1;
	file->folder = open_folder(ctx, true);
	if (file->folder < 0)
		return file->folder;
	snprintf(file->name, sizeof(file->name), "%d-%llu", (int)journal->owner,
		 journal->owner_start);
	snprintf(unfinished, sizeof(unfinished), "%s" UNFINISHED, file->name);
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

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), most = strlen(end);

	return length > most && !strcmp(name + length - most, end);
}

/* Only a file of the folder's owner, that nobody else could have written or can change. */
static bool is_trusted(int fd)
{
	struct stat status;

	return !fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
	       !(status.st_mode & 077) && status.st_nlink == 1;
}

static int read_journal(struct pmu_ctx *ctx, const struct journal_file *file,
			struct journal *journal)
{
	char *text;
	size_t length;
	int error;

	if (!is_trusted(file->fd))
		return error_set(ctx, PMU_E_RIGHTS, "others may have written it");
	error = file_read_open(ctx, file->fd, file->name, JOURNAL_BYTES_MAX, &text, &length);
	if (error)
		return error;
	error = strlen(text) == length ? journal_get(journal, ctx, text)
				       : error_set(ctx, PMU_E_SYNTAX, "it is not text");
	free(text);
	return error;
}

struct visit {
	struct pmu_ctx *ctx;
	char boot[JOURNAL_BOOT_MAX];
	int (*each)(void *arg, struct journal_file *file, const struct journal *journal, int error);
	void *arg;
};

static int visit_journal(const struct visit *visit, struct journal_file *file)
{
	struct journal journal = {0};
	int error = read_journal(visit->ctx, file, &journal), result = 0;

	journal.failed = ends_with(file->name, FAILED);
	if (!error && strcmp(journal.boot, visit->boot))
		journal_remove(file);
	else
		result = visit->each(visit->arg, file, &journal, error);
	journal_fini(&journal);
	journal_leave(file);
	return result;
}

static int visit_name(const struct visit *visit, int folder, const char *name)
{
	struct journal_file file = {.folder = fcntl(folder, F_DUPFD_CLOEXEC, 0)};

	snprintf(file.name, sizeof(file.name), "%s", name);
	file.fd = openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	/* Its owner lives, or another run is restoring. */
	if (file.fd < 0 || flock(file.fd, LOCK_EX | LOCK_NB)) {
		journal_leave(&file);
		return 0;
	}
	/* Its owner was killed before it wrote to any register. */
	if (ends_with(name, UNFINISHED)) {
		journal_remove(&file);
		return 0;
	}
	return visit_journal(visit, &file);
}

struct listed {
	char name[JOURNAL_NAME_MAX];
	struct timespec written;
};

/* The youngest first: it found what those before it had written. */
static int by_age(const void *a, const void *b)
{
	const struct timespec *one = &((const struct listed *)a)->written;
	const struct timespec *other = &((const struct listed *)b)->written;

	if (one->tv_sec != other->tv_sec)
		return one->tv_sec < other->tv_sec ? 1 : -1;
	return (one->tv_nsec < other->tv_nsec) - (one->tv_nsec > other->tv_nsec);
}

static int list_folder(struct pmu_ctx *ctx, DIR *folder, struct listed **list, size_t *count)
{
	struct dirent *entry;

	while ((entry = readdir(folder))) {
		struct stat status;
		struct listed *grown;

		if (*entry->d_name == '.' || strlen(entry->d_name) >= JOURNAL_NAME_MAX ||
		    fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW))
			continue;
		grown = realloc(*list, (*count + 1) * sizeof(**list));
		if (!grown)
			return error_set(ctx, PMU_E_NOMEM, "out of memory for %zu journals",
					 *count + 1);
		*list = grown;
		strcpy(grown[*count].name, entry->d_name);
		grown[(*count)++].written = status.st_mtim;
	}
	return 0;
}

int journal_each_left(struct pmu_ctx *ctx,
		      int (*each)(void *arg, struct journal_file *file,
				  const struct journal *journal, int error),
		      void *arg)
{
	struct visit visit = {.ctx = ctx, .each = each, .arg = arg};
	int error, fd = open_folder(ctx, false);
	struct listed *list = NULL;
	size_t count = 0;
	DIR *folder;

	if (fd < 0)
		return fd == PMU_E_UNKNOWN ? 0 : fd;
	error = journal_boot(ctx, visit.boot);
	folder = error ? NULL : fdopendir(fd);
	if (!folder) {
		close(fd);
		return error ? error : error_set(ctx, PMU_E_IO, "%s", strerror(errno));
	}
	error = list_folder(ctx, folder, &list, &count);
	if (count)
		qsort(list, count, sizeof(*list), by_age);
	for (size_t i = 0; i < count && !error; i++)
		error = visit_name(&visit, fd, list[i].name);
	free(list);
	closedir(folder);
	return error;
}
