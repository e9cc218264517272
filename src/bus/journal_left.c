/* Journals that killed measurements have left. */
#include "pmulab/journal.h"

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
#include "bus/bus.h"
#include "bus/hardware.h"
#include "bus/journal_files.h"

#define JOURNAL_BYTES_MAX (64u << 20)

struct pmu_journal {
	struct journal_file file;
	struct journal content;
	int error;
	char path[PATH_MAX + JOURNAL_NAME_MAX];
};

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

static int read_content(struct pmu_journal *journal, struct pmu_ctx *ctx)
{
	const struct journal_file *file = &journal->file;
	char *text;
	size_t length;
	int error;

	if (!is_trusted(file->fd))
		return error_set(ctx, PMU_E_RIGHTS, "others may have written it");
	error = file_read_open(ctx, file->fd, file->name, JOURNAL_BYTES_MAX, &text, &length);
	if (error)
		return error;
	error = strlen(text) == length ? journal_get(&journal->content, ctx, text)
				       : error_set(ctx, PMU_E_SYNTAX, "it is not text");
	free(text);
	return error;
}

struct visit {
	struct pmu_ctx *ctx;
	char boot[JOURNAL_BOOT_MAX];
	int (*each)(void *arg, struct pmu_journal *journal);
	void *arg;
};

static int visit_journal(const struct visit *visit, struct pmu_journal *journal)
{
	char folder[PATH_MAX];
	int result = 0;

	journal->error = read_content(journal, visit->ctx);
	journal->content.failed = ends_with(journal->file.name, JOURNAL_FAILED);
	snprintf(journal->path, sizeof(journal->path), "%s/%s", journal_folder_name(folder),
		 journal->file.name);
	if (!journal->error && strcmp(journal->content.boot, visit->boot))
		journal_remove(&journal->file);
	else
		result = visit->each(visit->arg, journal);
	journal_fini(&journal->content);
	journal_leave(&journal->file);
	return result;
}

static int visit_name(const struct visit *visit, int folder, const char *name)
{
	struct pmu_journal journal = {.file = {.folder = fcntl(folder, F_DUPFD_CLOEXEC, 0)}};
	struct journal_file *file = &journal.file;

	snprintf(file->name, sizeof(file->name), "%s", name);
	file->fd = openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	/* Its owner lives, or another run is restoring. */
	if (file->fd < 0 || flock(file->fd, LOCK_EX | LOCK_NB)) {
		journal_leave(file);
		return 0;
	}
	/* Its owner was killed before it wrote to any register. */
	if (ends_with(name, JOURNAL_UNFINISHED)) {
		journal_remove(file);
		return 0;
	}
	return visit_journal(visit, &journal);
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

int pmu_journals(struct pmu_ctx *ctx, int (*each)(void *arg, struct pmu_journal *journal),
		 void *arg)
{
	struct visit visit = {.ctx = ctx, .each = each, .arg = arg};
	int error, fd = journal_folder_open(ctx, false);
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

const char *pmu_journal_path(const struct pmu_journal *journal)
{
	return journal->path;
}

int pmu_journal_error(const struct pmu_journal *journal)
{
	return journal->error;
}

pid_t pmu_journal_process(const struct pmu_journal *journal)
{
	return journal->content.owner;
}

bool pmu_journal_failed(const struct pmu_journal *journal)
{
	return journal->content.failed;
}

const struct pmu_pmu *pmu_journal_pmu(const struct pmu_journal *journal)
{
	return journal->content.pmu;
}

size_t pmu_journal_writes(const struct pmu_journal *journal)
{
	return journal->content.count;
}

const struct pmu_access_op *pmu_journal_write(const struct pmu_journal *journal, size_t index)
{
	return index < journal->content.count ? &journal->content.writes[index] : NULL;
}

/* @return 1, 0, or an error of journal_describe() */
static int is_of(const struct pmu_journal *journal, struct pmu_ctx *ctx, struct pmu_bus *bus)
{
	const struct pmu_host *host = bus_hardware_host(bus_untraced(bus));
	struct journal here;
	int error;

	if (journal->error || !host)
		return 0;
	error = journal_describe(&here, ctx, host, journal->content.pmu);
	return error ? error : journal_same_registers(&journal->content, &here);
}

bool pmu_journal_is_of(const struct pmu_journal *journal, struct pmu_bus *bus)
{
	return is_of(journal, NULL, bus) == 1;
}

static int restore_through(struct pmu_journal *journal, struct pmu_ctx *ctx, struct pmu_bus *bus)
{
	const struct journal *content = &journal->content;
	int same = is_of(journal, ctx, bus), error;

	if (same < 0)
		return same;
	if (!same)
		return error_set(ctx, PMU_E_STATE,
				 "is of registers that are not there any more, of an emulated "
				 "machine perhaps");
	for (size_t i = 0; i < content->count; i++)
		if (content->writes[i].socket >= pmu_bus_sockets(bus))
			return error_set(ctx, PMU_E_UNKNOWN, "is of sockets that are not there");
	error = bus_write_all(bus, ctx, content->writes, content->count);
	if (!error && journal_remove(&journal->file))
		error = error_set(ctx, PMU_E_IO, "is restored, and cannot be removed");
	return error;
}

int pmu_journal_restore(struct pmu_journal *journal, struct pmu_ctx *ctx)
{
	struct pmu_host_options options = {.size = sizeof(options), .root = journal->content.root};
	struct pmu_bus *bus;
	int error;

	if (journal->error)
		return error_set(ctx, journal->error, "%s is not a journal", journal->path);
	options.pmu = journal->content.pmu->name;
	error = pmu_bus_host(&bus, ctx, &options);
	if (error)
		return error;
	error = restore_through(journal, ctx, bus);
	pmu_bus_free(bus);
	return error;
}

int pmu_journal_remove(struct pmu_journal *journal, struct pmu_ctx *ctx)
{
	return journal_remove(&journal->file) ? error_set(ctx, PMU_E_IO, "%s cannot be removed: %s",
							  journal->path, strerror(errno))
					      : 0;
}
