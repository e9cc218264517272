#include "machine/fill.h"

#include "machine/look.h"
#include "machine/mshr.h"

#define PIECES (LINE_BYTES / MACHINE_STRING_BYTES)

/* @param line  virtual, of the system; and the physical one */
static void load_line(struct machine_hart *core, uint64_t line, uint32_t physical)
{
	struct found found;

	touch(core, line << LINE_LOG2, LINE_BYTES);
	found = check_prefetched(core, line, get(core, core->l1d, REQUEST_READ_DATA, physical, 0));
	if (found.level != PRIVATE_L1 && found.slot >= 0)
		mshr_add_load(core, line, 0, found.end,
			      found.level == PRIVATE_L2 ? MISS_NEAR : MISS_FAR);
	core->progress->loads += PIECES;
}

/* @param line  virtual, of the program; and the physical one. All of it is written */
static void store_line(struct machine_hart *core, uint64_t line, uint32_t physical)
{
	struct found found;

	touch(core, line << LINE_LOG2, LINE_BYTES);
	found = check_prefetched(core, line, get(core, core->l1d, REQUEST_OWN, physical, 0));
	if (found.level != PRIVATE_L1 && found.slot >= 0)
		mshr_add_store(core, line, found.end);
	core->progress->stores += PIECES;
}

void fill_frames(struct machine_hart *core, uint64_t page, const struct address_fill *fill)
{
	const uint64_t touched = core->touched;
	const uint32_t size = core->touched_size;

	page -= page % fill->count;
	for (uint32_t i = 0; i < fill->count * PAGE_LINES; i++) {
		const uint32_t from = fill->from * PAGE_LINES + i;

		if (fill->copies)
			load_line(core, ADDRESS_SYSTEM_PAGE * PAGE_LINES + from, from);
		store_line(core, page * PAGE_LINES + i, fill->first * PAGE_LINES + i);
		core->progress->time += PIECES * core->machine->core_ticks;
	}
	touch(core, touched, size);
}
