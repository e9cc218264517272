#include "feed/allowed.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "feed/affinity.h"

#define TEXT_BYTES (1u << 18) /* of a file of these; /proc/stat of large computers */
#define PATH_BYTES 256
#define LINE_BYTES 512
#define LIST_BYTES 256
#define WORD_BITS  32
#define NODES_MAX  1024 /* for which Linux has room: as many digits of a set are read */

/* The text that takes the place of the computer's. */
struct text {
	int fd;
	off_t length;
	bool incomplete;
};

static void add(struct text *text, const char *bytes, size_t size)
{
	if (pwrite(text->fd, bytes, size, text->length) != (ssize_t)size)
		text->incomplete = true;
	text->length += (off_t)size;
}

static void add_text(struct text *text, const char *string)
{
	add(text, string, strlen(string));
}

/* As in "0-3,5". */
static void add_list(struct text *text, uint64_t set)
{
	const char *comma = "";

	while (set) {
		unsigned first = (unsigned)__builtin_ctzll(set), last = first;
		char range[LIST_BYTES];

		while (last < 63 && set >> (last + 1) & 1)
			last++;
		if (first == last)
			snprintf(range, sizeof(range), "%s%u", comma, first);
		else
			snprintf(range, sizeof(range), "%s%u-%u", comma, first, last);
		add_text(text, range);
		set = last < 63 ? set >> (last + 1) << (last + 1) : 0;
		comma = ",";
	}
	add_text(text, "\n");
}

/* Hexadecimal words, the highest first; @bits: how many the set has room for. */
static void add_mask(struct text *text, uint64_t set, unsigned bits)
{
	for (unsigned word = (bits + WORD_BITS - 1) / WORD_BITS; word-- > 0;) {
		const unsigned here = (word + 1) * WORD_BITS > bits ? bits % WORD_BITS : WORD_BITS;
		char digits[16];

		snprintf(digits, sizeof(digits), "%08x%s",
			 word < 2 ? (unsigned)(set >> word * WORD_BITS) : 0, word ? "," : "\n");
		add_text(text, digits + 8 - (here + 3) / 4);
	}
}

static unsigned cpu_count(const struct feed_process *process)
{
	return 64 - (unsigned)__builtin_clzll(process->all_cpus);
}

/* @return what follows the beginning of a text, or NULL where that is another */
static const char *behind(const char *text, const char *beginning)
{
	const size_t length = strlen(beginning);

	return strncmp(text, beginning, length) ? NULL : text + length;
}

static size_t line_length(const char *line)
{
	const size_t length = strcspn(line, "\n");

	return length + (line[length] == '\n');
}

/* Times of the machine's CPUs are not modelled; the computer's would be those of others. */
static void add_stat(struct text *text, const struct feed_process *process, const char *from)
{
	bool added = false;

	for (; *from; from += line_length(from)) {
		const char *number = behind(from, "cpu");

		if (number && *number != ' ')
			continue;
		if (!number && !added) {
			for (unsigned cpu = 0; cpu < cpu_count(process); cpu++) {
				char line[LINE_BYTES];

				snprintf(line, sizeof(line), "cpu%u 0 0 0 0 0 0 0 0 0 0\n", cpu);
				add_text(text, line);
			}
			added = true;
		}
		add(text, from, line_length(from));
	}
}

static void add_status(struct text *text, const struct feed_process *process, const char *from,
		       uint32_t tid)
{
	const uint64_t cpus = feed_affinity_of(process, tid), nodes = process->all_nodes;

	for (; *from; from += line_length(from)) {
		if (behind(from, "Cpus_allowed:\t")) {
			add_text(text, "Cpus_allowed:\t");
			add_mask(text, cpus, cpu_count(process));
		} else if (behind(from, "Cpus_allowed_list:\t")) {
			add_text(text, "Cpus_allowed_list:\t");
			add_list(text, cpus);
		} else if (behind(from, "Mems_allowed:\t")) {
			add_text(text, "Mems_allowed:\t");
			add_mask(text, nodes, NODES_MAX);
		} else if (behind(from, "Mems_allowed_list:\t")) {
			add_text(text, "Mems_allowed_list:\t");
			add_list(text, nodes);
		} else {
			add(text, from, line_length(from));
		}
	}
}

static const char *behind_spaces(const char *text)
{
	while (*text == ' ')
		text++;
	return text;
}

/* Of the machine's devices there is none; what a tool sends to itself goes through lo. */
static void add_net_devices(struct text *text, const char *from)
{
	for (unsigned line = 0; *from; from += line_length(from), line++)
		if (line < 2 || behind(behind_spaces(from), "lo:"))
			add(text, from, line_length(from));
}

/* /proc/PID/net/dev, whose heading has two lines, and that of a thread */
static bool is_net_devices(const char *path)
{
	const size_t length = strlen(path), end = strlen("/net/dev");

	return behind(path, "/proc/") && length > end && !strcmp(path + length - end, "/net/dev");
}

/* @return what follows a decimal number, or NULL */
static const char *read_number(const char *text, uint32_t *number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return NULL;
	*number = (uint32_t)strtoull(text, &end, 10);
	return end;
}

/* /proc/PID/status and /proc/PID/task/TID/status */
static bool is_status(const char *path, uint32_t *tid)
{
	const char *rest = behind(path, "/proc/");

	rest = rest ? read_number(rest, tid) : NULL;
	if (rest && behind(rest, "/task/"))
		rest = read_number(rest + strlen("/task/"), tid);
	return rest && !strcmp(rest, "/status");
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_cpuset_of(const char *name, const char *what)
{
	const char *rest = behind(name, "cpuset.");

	if (rest && behind(rest, "effective_"))
		rest += strlen("effective_");
	rest = rest ? behind(rest, what) : NULL;
	return rest && (!*rest || !strcmp(rest, ".effective"));
}

bool feed_allowed_is_asked(const char *path)
{
	const char *name = name_of(path);

	return !strcmp(name, "status") || !strcmp(name, "stat") || !strcmp(name, "dev") ||
	       is_cpuset_of(name, "cpus") || is_cpuset_of(name, "mems");
}

/* @return whether the file is one of these: its text is added */
static bool add_file(struct text *text, const struct feed_process *process, const char *path,
		     const char *from)
{
	const bool is_group = behind(path, "/sys/fs/cgroup/");
	const char *name = name_of(path);
	uint32_t tid;

	if (!strcmp(path, "/proc/stat"))
		add_stat(text, process, from);
	else if (is_status(path, &tid))
		add_status(text, process, from, tid);
	/* A program that is measured does use the computer's. */
	else if (!process->files.folder && is_net_devices(path))
		add_net_devices(text, from);
	/* A group without a set of its own has an empty one. */
	else if (is_group && *from > ' ' && is_cpuset_of(name, "cpus"))
		add_list(text, process->all_cpus);
	else if (is_group && *from > ' ' && is_cpuset_of(name, "mems"))
		add_list(text, process->all_nodes);
	else
		return false;
	return !text->incomplete;
}

/* @return the file's text, to be freed; NULL where it is too long, or cannot be read */
static char *read_text(int fd)
{
	char *text = malloc(TEXT_BYTES);
	size_t used = 0;
	ssize_t length = text ? 1 : -1;

	while (length > 0 && used < TEXT_BYTES - 1) {
		length = pread(fd, text + used, TEXT_BYTES - 1 - used, (off_t)used);
		used += length > 0 ? (size_t)length : 0;
	}
	if (text && !length) {
		text[used] = '\0';
		return text;
	}
	free(text);
	return NULL;
}

void feed_allowed_open(const struct feed_process *process, int fd, bool closes_on_exec)
{
	char link[64], path[PATH_BYTES], *from;
	struct text text = {.fd = -1};
	ssize_t length;

	/* The name that was asked for may be a link, or begin anywhere. */
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	if (length <= 0)
		return;
	path[length] = '\0';
	if (!behind(path, "/proc/") && !behind(path, "/sys/"))
		return;
	from = read_text(fd);
	if (from)
		text.fd = memfd_create(name_of(path), MFD_CLOEXEC);
	if (text.fd >= 0 && add_file(&text, process, path, from))
		syscall(SYS_dup3, text.fd, fd, closes_on_exec ? O_CLOEXEC : 0);
	if (text.fd >= 0)
		close(text.fd);
	free(from);
}
