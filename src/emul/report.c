#include "emul/report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_SECONDS 10

static const char *end_of(const char *path, size_t most)
{
	size_t length = strlen(path);

	return length > most ? path + length - most : path;
}

static uint32_t *count(uint32_t *times)
{
	__atomic_fetch_add(times, 1, __ATOMIC_RELAXED);
	return times;
}

/* Two processes that name one program at once name it twice. */
uint32_t *emul_report_native(struct emul_report *report, const char *path, const char *why)
{
	struct emul_native *native;
	uint32_t used;

	if (!report)
		return NULL;
	path = end_of(path, sizeof(native->path) - 1);
	used = __atomic_load_n(&report->native_count, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < used && i < EMUL_NATIVES_MAX; i++) {
		native = &report->natives[i];
		if (__atomic_load_n(&native->named, __ATOMIC_ACQUIRE) &&
		    !strcmp(native->path, path) && !strcmp(native->why, why))
			return count(&native->times);
	}
	used = __atomic_fetch_add(&report->native_count, 1, __ATOMIC_RELAXED);
	if (used >= EMUL_NATIVES_MAX)
		return count(&report->more);
	native = &report->natives[used];
	snprintf(native->path, sizeof(native->path), "%s", path);
	snprintf(native->why, sizeof(native->why), "%s", why);
	__atomic_store_n(&native->named, 1, __ATOMIC_RELEASE);
	return count(&native->times);
}

void emul_native_failed(uint32_t *counted)
{
	if (counted)
		__atomic_fetch_sub(counted, 1, __ATOMIC_RELAXED);
}

void emul_report_made(struct emul_report *report, int errnum)
{
	report->files.errnum = errnum;
	__atomic_store_n(&report->files.state, errnum ? EMUL_FILES_FAILED : EMUL_FILES_MADE,
			 __ATOMIC_RELEASE);
	syscall(SYS_futex, &report->files.state, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* @return 0, or an error as errno has it: who would make it has ended, or does not answer */
static int ask(struct emul_report *report)
{
	const struct timespec second = {.tv_sec = 1};
	int fd = open(report->files.asking, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	bool asked = fd >= 0 && write(fd, "?", 1) == 1;

	if (fd >= 0)
		close(fd);
	for (int i = 0; asked && i < PATIENCE_SECONDS; i++) {
		if (__atomic_load_n(&report->files.state, __ATOMIC_ACQUIRE))
			return 0;
		syscall(SYS_futex, &report->files.state, FUTEX_WAIT, EMUL_FILES_NONE, &second, NULL,
			0);
	}
	return EIO;
}

const char *emul_report_made_folder(const struct emul_report *report)
{
	if (!report || __atomic_load_n(&report->files.state, __ATOMIC_ACQUIRE) != EMUL_FILES_MADE)
		return NULL;
	return report->files.folder;
}

const char *emul_report_folder(struct emul_report *report, int *errnum)
{
	*errnum = 0;
	if (!report || !*report->files.asking)
		return NULL;
	if (!__atomic_load_n(&report->files.state, __ATOMIC_ACQUIRE))
		*errnum = ask(report);
	if (!*errnum)
		*errnum = report->files.errnum;
	return *errnum ? NULL : report->files.folder;
}
