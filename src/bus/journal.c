#include "bus/journal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "bus/bus.h"
#include "bus/register_trace.h"

#define VERSION	      1
#define BOOT_ID	      "/proc/sys/kernel/random/boot_id"
#define OWN_STAT      "/proc/self/stat"
#define SMALL_FILE    4096
#define WRITES_MAX    1000000 /* more than any computer has registers that count */
#define START_TIME_AT 20 /* fields behind the command's name in proc/PID/stat: the 22nd of all */

int journal_boot(struct pmu_ctx *ctx, char boot[JOURNAL_BOOT_MAX])
{
	char *text;
	int error = file_read(ctx, BOOT_ID, SMALL_FILE, &text, NULL);

	if (error)
		return PMU_E_IO;
	text[strcspn(text, "\n")] = '\0';
	snprintf(boot, JOURNAL_BOOT_MAX, "%s", text);
	free(text);
	return 0;
}

static int read_owner(struct journal *journal, struct pmu_ctx *ctx)
{
	char *text, *at;
	int error = file_read(ctx, OWN_STAT, SMALL_FILE, &text, NULL);

	if (error)
		return PMU_E_IO;
	/* The command's name may hold anything; it ends at the last ')'. */
	at = strrchr(text, ')');
	for (int i = 0; at && i < START_TIME_AT; i++)
		at = strchr(at + 1, ' ');
	journal->owner = getpid();
	journal->owner_start = at ? strtoull(at, NULL, 10) : 0;
	free(text);
	return 0;
}

int journal_describe(struct journal *journal, struct pmu_ctx *ctx, const struct pmu_host *host,
		     const struct pmu_pmu *pmu)
{
	char path[HOST_PATH_MAX];
	struct stat status;
	int error;

	*journal = (struct journal){.pmu = pmu};
	if (!realpath(*host->root ? host->root : "/", journal->root))
		return error_set(ctx, PMU_E_IO, "%s: %s", host->root, strerror(errno));
	if (strchr(journal->root, '\n'))
		return error_set(ctx, PMU_E_UNSUPPORTED, "the name of the root contains a newline");
	if (!stat(host_path(host, path, "/dev/cpu/%u/msr", host->cpus[0].number), &status)) {
		journal->device = status.st_dev;
		journal->inode = status.st_ino;
	}
	error = journal_boot(ctx, journal->boot);
	return error ? error : read_owner(journal, ctx);
}

bool journal_same_registers(const struct journal *a, const struct journal *b)
{
	return !strcmp(a->root, b->root) && a->device == b->device && a->inode == b->inode;
}

int journal_put(FILE *file, const struct journal *journal)
{
	int error = fprintf(file,
			    "pmulab-journal %d %s\nboot %s\nowner %d %llu\n"
			    "device %jx:%jx\nroot %s\n",
			    VERSION, journal->pmu->name, journal->boot, (int)journal->owner,
			    journal->owner_start, (uintmax_t)journal->device,
			    (uintmax_t)journal->inode, journal->root) < 0;

	for (size_t i = 0; i < journal->count && !error; i++)
		error = register_trace_put_line(file, true, &journal->writes[i], 0);
	return error || fprintf(file, "end %zu\n", journal->count) < 0 ? PMU_E_IO : 0;
}

/* Lines of a text, one after the other. */
struct lines {
	char *next;
	unsigned number;
};

/* @return the line without its end; NULL: there is none, or it has no end */
static char *next_line(struct lines *lines)
{
	char *line = lines->next, *end = strchr(line, '\n');

	lines->number++;
	if (!end)
		return NULL;
	*end = '\0';
	lines->next = end + 1;
	return line;
}

static int no_journal(struct pmu_ctx *ctx, const struct lines *lines)
{
	return error_set(ctx, PMU_E_SYNTAX, "line %u is not a line of a journal", lines->number);
}

/* Whether the whole line is of that form: sscanf() alone would not see what follows. */
#define IS_WHOLE(line, count, ...)                                                                 \
	(length = 0, sscanf(line, __VA_ARGS__, &length) == (count) && length && !(line)[length])

static int get_head(struct journal *journal, struct pmu_ctx *ctx, struct lines *lines)
{
	char pmu[REGISTER_TRACE_NAME_MAX], *line = next_line(lines);
	uintmax_t device, inode;
	unsigned version;
	int length;

	if (!line || !IS_WHOLE(line, 2, "pmulab-journal %u %63s%n", &version, pmu) ||
	    version != VERSION)
		return no_journal(ctx, lines);
	journal->pmu = pmu_find_pmu(pmu);
	if (!journal->pmu)
		return error_set(ctx, PMU_E_UNKNOWN, "the catalog has no PMU of that name");
	line = next_line(lines);
	if (!line || !IS_WHOLE(line, 1, "boot %39[0-9a-f-]%n", journal->boot))
		return no_journal(ctx, lines);
	line = next_line(lines);
	if (!line || !IS_WHOLE(line, 2, "owner %d %llu%n", &journal->owner, &journal->owner_start))
		return no_journal(ctx, lines);
	line = next_line(lines);
	if (!line || !IS_WHOLE(line, 2, "device %jx:%jx%n", &device, &inode))
		return no_journal(ctx, lines);
	journal->device = (dev_t)device;
	journal->inode = (ino_t)inode;
	line = next_line(lines);
	if (!line || strncmp(line, "root /", strlen("root /")) || strlen(line + 5) >= PATH_MAX)
		return no_journal(ctx, lines);
	strcpy(journal->root, line + strlen("root "));
	return 0;
}

static int get_write(struct journal *journal, struct pmu_ctx *ctx, const struct lines *lines,
		     const char *text)
{
	struct register_trace_line line;
	struct bus_register_ref ref;

	if (register_trace_get_line(text, &line) || !line.write || line.result)
		return no_journal(ctx, lines);
	if (!bus_find(journal->pmu, &line.op, &ref) || strcmp(ref.reg->name, line.name) ||
	    !bus_may_write(&ref) || line.op.value & ~pmu_mask(line.op.width - 1u, 0))
		return error_set(ctx, PMU_E_UNKNOWN,
				 "line %u writes to an address that is no writable register of %s",
				 lines->number, journal->pmu->name);
	line.op.reg = ref.reg->name;
	journal->writes[journal->count++] = line.op;
	return 0;
}

static size_t count_lines(const char *text)
{
	size_t count = 0;

	for (; (text = strchr(text, '\n')); text++)
		count++;
	return count;
}

static int get_writes(struct journal *journal, struct pmu_ctx *ctx, struct lines *lines)
{
	size_t most = count_lines(lines->next), said;
	char *line;
	int length, error = 0;

	if (most > WRITES_MAX)
		return no_journal(ctx, lines);
	journal->writes = calloc(most + 1, sizeof(*journal->writes));
	if (!journal->writes)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for a journal");
	while (!error && (line = next_line(lines)) && strncmp(line, "end", 3))
		error = get_write(journal, ctx, lines, line);
	if (error)
		return error;
	/* One that was cut restores half of the registers: none then. */
	if (!line || !IS_WHOLE(line, 1, "end %zu%n", &said) || said != journal->count ||
	    *lines->next)
		return no_journal(ctx, lines);
	return 0;
}

int journal_get(struct journal *journal, struct pmu_ctx *ctx, char *text)
{
	struct lines lines = {.next = text};
	int error;

	*journal = (struct journal){0};
	error = get_head(journal, ctx, &lines);
	if (!error)
		error = get_writes(journal, ctx, &lines);
	if (error)
		journal_fini(journal);
	return error;
}

void journal_fini(struct journal *journal)
{
	free(journal->writes);
	journal->writes = NULL;
	journal->count = 0;
}
