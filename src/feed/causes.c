#include "feed/causes.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/lock.h"
#include "feed/memory.h"

enum { GUEST_MMAP = 9, GUEST_MUNMAP = 11, GUEST_MREMAP = 25, GUEST_SHMAT = 30 };

#define READ_BYTES 4096
#define LINE_BYTES (PATH_MAX + 128)

void feed_causes_init(struct feed_causes *causes, const struct feed_asker *asker)
{
	causes->asked = asker != NULL;
	causes->changed = true;
	causes->span_count = 0;
	if (asker)
		causes->asker = *asker;
	else
		memset(&causes->asker, 0, sizeof(causes->asker));
}

/* @return what follows the number; @number is left alone where there is none */
static const char *read_number(const char *text, unsigned base, uint64_t *number)
{
	uint64_t value = 0;

	for (;; text++) {
		unsigned digit = (unsigned)(*text - '0');

		if (digit > 9)
			digit = *text >= 'a' && *text <= 'f' ? (unsigned)(*text - 'a') + 10 : base;
		if (digit >= base)
			break;
		value = value * base + digit;
	}
	*number = value;
	return text;
}

static const char *skip(const char *text, char mark)
{
	while (*text && *text != mark)
		text++;
	return *text ? text + 1 : text;
}

/* "begin-end rights offset major:minor inode   path" */
static void take_line(struct feed_causes *causes, const char *line)
{
	const struct feed_asker *asker = &causes->asker;
	uint64_t begin, end, offset, major, minor, inode, module;
	const char *text = read_number(line, 16, &begin);

	text = read_number(skip(text, '-'), 16, &end);
	text = read_number(skip(skip(text, ' '), ' '), 16, &offset);
	text = read_number(skip(text, ' '), 16, &major);
	text = read_number(skip(text, ':'), 16, &minor);
	text = read_number(skip(text, ' '), 10, &inode);
	while (*text == ' ')
		text++;
	/* Anonymous memory is nobody's file; of what the kernel names, only the vDSO is code. */
	if ((!inode && strcmp(text, "[vdso]")) || causes->span_count == FEED_SPANS_MAX)
		return;
	module = asker->module(asker->arg, text, major << 32 | minor, inode);
	if (module)
		causes->spans[causes->span_count++] =
		    (struct feed_span){begin, end, (module << asker->offset_bits) + offset};
}

static void read_spans(struct feed_causes *causes)
{
	char bytes[READ_BYTES], line[LINE_BYTES];
	size_t used = 0;
	long length;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	causes->changed = false;
	causes->span_count = 0;
	if (fd < 0)
		return;
	while ((length = read(fd, bytes, sizeof(bytes))) > 0) {
		for (long i = 0; i < length; i++) {
			if (bytes[i] != '\n') {
				if (used < sizeof(line) - 1)
					line[used++] = bytes[i];
				continue;
			}
			line[used] = '\0';
			used = 0;
			take_line(causes, line);
		}
	}
	close(fd);
}

static const struct feed_span *find_span(const struct feed_causes *causes, uint64_t address)
{
	for (unsigned i = 0; i < causes->span_count; i++)
		if (address - causes->spans[i].begin <
		    causes->spans[i].end - causes->spans[i].begin)
			return &causes->spans[i];
	return NULL;
}

uint64_t feed_causes_place(struct feed_causes *causes, uint64_t host, uint64_t guest)
{
	const uint64_t offsets = (UINT64_C(1) << causes->asker.offset_bits) - 1;
	const struct feed_span *span;

	if (__atomic_load_n(&causes->changed, __ATOMIC_RELAXED))
		read_spans(causes);
	span = find_span(causes, host);
	return span ? span->place + (host - span->begin) : guest & offsets;
}

void feed_causes_syscall(struct feed_causes *causes, int64_t number)
{
	if (number == GUEST_MMAP || number == GUEST_MUNMAP || number == GUEST_MREMAP ||
	    number == GUEST_SHMAT)
		__atomic_store_n(&causes->changed, true, __ATOMIC_RELAXED);
}

void feed_causes_enter(const struct feed_causes *causes, struct feed_thread *thread)
{
	const struct feed_asker *asker = &causes->asker;
	const uint32_t depth =
	    thread->region_depth < FEED_REGIONS_MAX ? thread->region_depth : FEED_REGIONS_MAX;
	uint32_t region = depth ? thread->regions[depth - 1] : 0;

	if (causes->asked && thread->core)
		machine_in(thread->core,
			   asker->context(asker->arg, (uint32_t)getpid(), lock_thread(), region));
}
