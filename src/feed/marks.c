/*
 * Marks of regions: pmulab/region.h. A mark is an instruction that does nothing, with an operand
 * that compilers do not write: an address relative to the instruction's own. There stands a text
 * that begins with WORD and says what kind of mark it is.
 */
#include <string.h>

#include "feed/causes.h"
#include "feed/memory.h"

#define WORD "pmulab region "

/* nopl disp32(%rip) */
static const uint8_t insn_head[] = {0x0f, 0x1f, 0x05};

/* A text that ends with its buffer or a page that is not there is cut. */
static void read_text(char *text, size_t size, uint64_t address)
{
	size_t room = 4096 - address % 4096, length = size - 1;

	if (room >= length)
		length = feed_memory_read(text, address, length);
	else if ((room = feed_memory_read(text, address, room)))
		length = room + feed_memory_read(text + room, address + room, length - room);
	else
		length = 0;
	text[length] = '\0';
}

static enum feed_mark_kind kind_of(char letter)
{
	switch (letter) {
	case '+':
		return FEED_MARK_BEGIN;
	case '-':
		return FEED_MARK_END;
	case '>':
		return FEED_MARK_BEGIN_NAMED;
	case '<':
		return FEED_MARK_END_NAMED;
	default:
		return FEED_MARK_NONE;
	}
}

enum feed_mark_kind feed_mark_read(struct feed_mark *mark, const uint8_t *bytes, uint64_t address,
				   uint64_t guest_base)
{
	char text[sizeof(WORD) + FEED_REGION_BYTES];
	int32_t displacement;

	mark->kind = FEED_MARK_NONE;
	if (memcmp(bytes, insn_head, sizeof(insn_head)))
		return FEED_MARK_NONE;
	memcpy(&displacement, bytes + sizeof(insn_head), sizeof(displacement));
	read_text(text, sizeof(text),
		  guest_base + address + FEED_MARK_INSN_BYTES + (uint64_t)(int64_t)displacement);
	if (strncmp(text, WORD, strlen(WORD)))
		return FEED_MARK_NONE;
	mark->kind = kind_of(text[strlen(WORD)]);
	if (mark->kind == FEED_MARK_NONE)
		return FEED_MARK_NONE;
	memset(mark->name, 0, sizeof(mark->name));
	memcpy(mark->name, text + strlen(WORD) + 1,
	       strlen(text + strlen(WORD) + 1) < sizeof(mark->name)
		   ? strlen(text + strlen(WORD) + 1)
		   : sizeof(mark->name) - 1);
	return mark->kind;
}

enum feed_mark_kind feed_mark_before(struct feed_mark *mark, uint64_t address, uint64_t guest_base)
{
	uint8_t bytes[FEED_MARK_INSN_BYTES];
	const uint64_t before = address - sizeof(bytes);

	mark->kind = FEED_MARK_NONE;
	if (feed_memory_read(bytes, guest_base + before, sizeof(bytes)) != sizeof(bytes))
		return FEED_MARK_NONE;
	return feed_mark_read(mark, bytes, before, guest_base);
}

static void begin_region(struct feed_thread *thread, uint32_t region)
{
	if (thread->region_depth < FEED_REGIONS_MAX)
		thread->regions[thread->region_depth] = region;
	thread->region_depth++;
}

/* The innermost of that name; those that began in it go on. */
static void end_region(struct feed_thread *thread, uint32_t region)
{
	uint32_t depth = thread->region_depth;

	if (depth > FEED_REGIONS_MAX) {
		thread->region_depth--;
		return;
	}
	while (depth && thread->regions[depth - 1] != region)
		depth--;
	if (!depth)
		return;
	memmove(&thread->regions[depth - 1], &thread->regions[depth],
		(thread->region_depth - depth) * sizeof(thread->regions[0]));
	thread->region_depth--;
}

void feed_causes_mark(const struct feed_causes *causes, struct feed_thread *thread,
		      const struct feed_mark *mark, uint64_t name)
{
	const struct feed_asker *asker = &causes->asker;
	const bool begins = mark->kind == FEED_MARK_BEGIN || mark->kind == FEED_MARK_BEGIN_NAMED;
	const bool named = mark->kind == FEED_MARK_BEGIN_NAMED || mark->kind == FEED_MARK_END_NAMED;
	char text[FEED_REGION_BYTES];
	uint32_t region;

	if (named)
		read_text(text, sizeof(text), name);
	region = asker->region(asker->arg, named ? text : mark->name);
	if (begins)
		begin_region(thread, region);
	else
		end_region(thread, region);
	/* What the block did up to here was done in the region before. */
	machine_end_block(thread->core);
	feed_causes_enter(causes, thread);
}
