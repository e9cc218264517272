#include "feed/causes.h"

#include <string.h>
#include <unistd.h>

#include "base/lock.h"
#include "feed/maps.h"
#include "feed/memory.h"

enum { GUEST_MMAP = 9, GUEST_MUNMAP = 11, GUEST_MREMAP = 25, GUEST_SHMAT = 30 };

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

static void take(void *arg, const struct feed_map *map)
{
	struct feed_causes *causes = arg;
	const struct feed_asker *asker = &causes->asker;
	uint64_t module;

	/* Anonymous memory is nobody's file; of what the kernel names, only the vDSO is code. */
	if ((!map->inode && strcmp(map->path, "[vdso]")) || causes->span_count == FEED_SPANS_MAX)
		return;
	module = asker->module(asker->arg, map->path, map->major << 32 | map->minor, map->inode);
	if (module)
		causes->spans[causes->span_count++] = (struct feed_span){
		    map->begin, map->end, (module << asker->offset_bits) + map->offset};
}

static void read_spans(struct feed_causes *causes)
{
	causes->changed = false;
	causes->span_count = 0;
	feed_maps_read(take, causes);
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
