#include "emul/report.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

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
