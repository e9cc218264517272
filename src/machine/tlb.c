#include "machine/tlb.h"

#include <string.h>

#include "machine/address_space.h"
#include "machine/look.h"
#include "machine/mshr.h"
#include "machine/waits.h"

#define NO_PAGE	   UINT64_MAX
#define LARGE	   (UINT64_C(1) << 62) /* of large pages in the second level */
#define DIGIT_LOG2 9		       /* of a page table's index */
#define FLUSH_MOST 33		       /* more pages that go at once, and Linux flushes all */

enum level { LEVEL_PTE, LEVEL_PDE, LEVEL_PDPTE, LEVEL_PML4E };

static_assert(sizeof(((struct machine_tlbs *)0)->upper) ==
		  LEVEL_PML4E * sizeof(struct machine_walk_cache),
	      "a cache for each level but the last");

static void init_first(struct machine_tlb *tlb, uint32_t entries, uint32_t ways)
{
	tlb->set_mask = entries / ways - 1;
	tlb->ways = ways;
}

static void clear(struct machine_tlbs *tlbs)
{
	for (unsigned code = 0; code < 2; code++) {
		tlbs->recent[code] = NO_PAGE;
		tlbs->lines[code] = &tlbs->no_lines;
		tlbs->line_shift[code] = 0;
		memset(tlbs->small[code].pages, 0xff, sizeof(tlbs->small[code].pages));
		memset(tlbs->large[code].pages, 0xff, sizeof(tlbs->large[code].pages));
	}
	memset(tlbs->second, 0xff, sizeof(tlbs->second));
	for (unsigned level = 0; level < LEVEL_PML4E; level++)
		memset(tlbs->upper[level].entries, 0xff, sizeof(tlbs->upper[level].entries));
}

void tlb_init(struct machine_hart *core)
{
	const struct machine_uarch *uarch = core->machine->uarch;
	struct machine_tlbs *tlbs = &core->tlbs;
	const uint64_t cycle = core->machine->core_ticks;

	clear(tlbs);
	tlbs->on = core->machine->translates;
	if (!tlbs->on)
		return;
	init_first(&tlbs->small[0], uarch->dtlb_entries, uarch->dtlb_ways);
	init_first(&tlbs->small[1], uarch->itlb_entries, uarch->itlb_ways);
	init_first(&tlbs->large[0], uarch->dtlb_large, uarch->dtlb_large_ways);
	init_first(&tlbs->large[1], uarch->itlb_large, uarch->itlb_large);
	tlbs->second_mask = uarch->stlb_entries / uarch->stlb_ways - 1;
	tlbs->second_ways = uarch->stlb_ways;
	tlbs->upper[LEVEL_PDE - 1].count = uarch->pde_cache;
	tlbs->upper[LEVEL_PDPTE - 1].count = uarch->pdpte_cache;
	tlbs->upper[LEVEL_PML4E - 1].count = uarch->pml4e_cache;
	tlbs->walkers = uarch->walkers;
	tlbs->second_ticks = uarch->stlb * cycle;
	tlbs->walk_ticks = uarch->walk * cycle;
	tlbs->read_ticks = uarch->load * cycle;
	tlbs->load_ticks = uarch->load_simple * cycle;
}

/* Drops the lines of a page from the L0 filter; each bit is a line. */
static void forget_small(struct machine_l0 *filter, uint64_t page, uint64_t bits)
{
	const uint64_t first = page * PAGE_LINES;
	struct machine_l0 *known = &filter[first % MACHINE_L0_LINES];

	for (; bits; bits &= bits - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(bits);

		if (known[i].line == first + i)
			known[i].line = UINT64_MAX;
	}
}

/* Each bit is 16 entries of the filter. */
static void forget_large(struct machine_l0 *filter, uint64_t page, uint64_t bits)
{
	for (; bits; bits &= bits - 1) {
		struct machine_l0 *known = &filter[__builtin_ctzll(bits) * 16];

		for (unsigned i = 0; i < 16; i++)
			if (known[i].line >> (PAGE_LOG2 - LINE_LOG2 + LARGE_PAGE_LOG2) == page)
				known[i].line = UINT64_MAX;
	}
}

static_assert(MACHINE_L0_LINES == 64 * 16, "a bit each for 16 lines of the filter");

static struct machine_tlb_page *set_of(struct machine_tlb *tlb, uint64_t page)
{
	return &tlb->pages[(page & tlb->set_mask) * tlb->ways];
}

/* The set's entry @way becomes the last used. */
static void use_first(struct machine_hart *core, bool code, bool large,
		      struct machine_tlb_page *set, unsigned way)
{
	struct machine_tlbs *tlbs = &core->tlbs;
	const struct machine_tlb_page used = set[way];

	for (; way; way--)
		set[way] = set[way - 1];
	set[0] = used;
	tlbs->lines[code] = &set[0].lines;
	tlbs->line_shift[code] = large ? 4 : 0;
}

/* The filter knows no line of the page any more. */
static void forget_page(struct machine_hart *core, bool code, bool large,
			struct machine_tlb_page *entry)
{
	if (entry->page == NO_PAGE || !entry->lines)
		return;
	if (large)
		forget_large(code ? core->code : core->data, entry->page, entry->lines);
	else
		forget_small(code ? core->code : core->data, entry->page, entry->lines);
	entry->lines = 0;
}

/* @param page  in its own size. @return whether the first level has it */
static bool find_first(struct machine_hart *core, bool code, bool large, uint64_t page)
{
	struct machine_tlb *tlb = large ? &core->tlbs.large[code] : &core->tlbs.small[code];
	struct machine_tlb_page *set = set_of(tlb, page);

	for (unsigned way = 0; way < tlb->ways; way++)
		if (set[way].page == page) {
			use_first(core, code, large, set, way);
			return true;
		}
	return false;
}

static void fill_first(struct machine_hart *core, bool code, bool large, uint64_t page)
{
	struct machine_tlb *tlb = large ? &core->tlbs.large[code] : &core->tlbs.small[code];
	struct machine_tlb_page *set = set_of(tlb, page);

	struct machine_tlb_page *last = &set[tlb->ways - 1];

	forget_page(core, code, large, last);
	*last = (struct machine_tlb_page){.page = page};
	use_first(core, code, large, set, tlb->ways - 1);
	/* The next one to go: if it is used until then, that is seen. */
	if (tlb->ways > 1)
		forget_page(core, code, large, last);
}

/* Entries from the last used one on. @return whether one is @wanted, which is the first then */
static bool use_of(uint64_t *entries, unsigned count, uint64_t wanted)
{
	unsigned i = 0;

	while (i < count && entries[i] != wanted)
		i++;
	if (i == count)
		return false;
	for (; i; i--)
		entries[i] = entries[i - 1];
	entries[0] = wanted;
	return true;
}

/* In place of the one used least recently. */
static void add_to(uint64_t *entries, unsigned count, uint64_t added)
{
	for (unsigned i = count - 1; i; i--)
		entries[i] = entries[i - 1];
	entries[0] = added;
}

static uint64_t *second_set(struct machine_tlbs *tlbs, uint64_t page)
{
	return &tlbs->second[(page & tlbs->second_mask) * tlbs->second_ways];
}

static uint64_t second_key(uint64_t page, bool large)
{
	return large ? page | LARGE : page;
}

static bool second_takes(const struct machine_hart *core, bool large)
{
	return !large || core->machine->uarch->stlb_sizes > 1;
}

static bool find_second(struct machine_hart *core, bool large, uint64_t page)
{
	struct machine_tlbs *tlbs = &core->tlbs;

	return second_takes(core, large) &&
	       use_of(second_set(tlbs, page), tlbs->second_ways, second_key(page, large));
}

static void fill_second(struct machine_hart *core, bool large, uint64_t page)
{
	struct machine_tlbs *tlbs = &core->tlbs;

	if (second_takes(core, large))
		add_to(second_set(tlbs, page), tlbs->second_ways, second_key(page, large));
}

/* A line that L1D has may be on its way to it for a walk. */
static uint64_t arrival_of(const struct machine_tlbs *tlbs, uint32_t line)
{
	uint64_t end = 0;

	for (unsigned i = 0; i < 2; i++)
		if (tlbs->read_lines[i] == line)
			end = machine_max(end, tlbs->read_ends[i]);
	return end;
}

/* A walk reads a line of a page table at @now. @return the tick at which it has it */
static uint64_t read_table(struct machine_hart *core, uint32_t line, uint64_t now, bool code)
{
	const uint64_t touched = core->touched, touched_size = core->touched_size;
	struct machine_tlbs *tlbs = &core->tlbs;
	struct found found;

	core->scoreboard |= MACHINE_TRANSLATION;
	core->arrival[MACHINE_TRANSLATION_REGISTER] = now;
	/* No address of a program's. */
	touch(core, UINT64_C(1) << 63 | (uint64_t)line << LINE_LOG2, sizeof(uint64_t));
	core->answers = core->core->answers[ANSWERS_WALK_DATA + code][0];
	found = get(core, core->l1d, REQUEST_READ_DATA, line, MACHINE_TRANSLATION);
	core->answers = core->core->answers[ANSWERS_DEMAND][0];
	touch(core, touched, (uint32_t)touched_size);
	core->scoreboard &= ~MACHINE_TRANSLATION;
	if (found.level == PRIVATE_L1) {
		core->progress->walk_reads[code][0]++;
		return machine_max(now + tlbs->read_ticks, arrival_of(tlbs, line));
	}
	/* L1D's misses are those of accesses. */
	core->l1d->misses--;
	core->progress->walk_reads[code][1] += found.level == PRIVATE_L2;
	tlbs->read_lines[tlbs->next_read % 2] = line;
	tlbs->read_ends[tlbs->next_read++ % 2] = found.end;
	return found.end;
}

static uint64_t entry_of(uint64_t page, unsigned level)
{
	return page >> level * DIGIT_LOG2;
}

/* The deepest level whose table the walk knows without a read. */
static unsigned first_level(struct machine_tlbs *tlbs, uint64_t page, unsigned leaf)
{
	unsigned level = leaf;

	while (level < LEVEL_PML4E && !use_of(tlbs->upper[level].entries, tlbs->upper[level].count,
					      entry_of(page, level + 1)))
		level++;
	return level;
}

/* Reads the tables from @level down to @leaf. @return the tick at which it is done */
static uint64_t read_tables(struct machine_hart *core, uint64_t page, unsigned level, unsigned leaf,
			    uint64_t now, bool code)
{
	for (;; level--) {
		const int64_t line = address_space_table_line(core->space, page, level);

		/* Without memory for the tables of the host, there is none. */
		if (line >= 0)
			now = read_table(core, (uint32_t)line, now, code);
		if (level == leaf)
			return now;
		add_to(core->tlbs.upper[level - 1].entries, core->tlbs.upper[level - 1].count,
		       entry_of(page, level));
	}
}

static uint64_t walk(struct machine_hart *core, uint64_t page, bool large, enum tlb_use use,
		     uint64_t now)
{
	struct machine_tlbs *tlbs = &core->tlbs;
	const unsigned leaf = large ? LEVEL_PDE : LEVEL_PTE;
	const unsigned walker = tlbs->walkers > 1 && tlbs->walker_free[1] < tlbs->walker_free[0];
	const uint64_t begin = machine_max(now, tlbs->walker_free[walker]);
	const uint64_t end = read_tables(core, page, first_level(tlbs, page, leaf), leaf,
					 begin + tlbs->walk_ticks, use == TLB_FETCH);

	tlbs->walker_free[walker] = end;
	core->progress->tlb_walks[use][large]++;
	core->progress->walk_ticks[use] += end - begin;
	if (core->tracked)
		waits_note_walk(core, use, begin, end);
	return end;
}

/* The first level has it not. @return the tick at which its translation is there */
static uint64_t find_beyond(struct machine_hart *core, uint64_t page, bool large, enum tlb_use use,
			    uint64_t now)
{
	const uint64_t own_page = large ? page >> LARGE_PAGE_LOG2 : page;
	const uint64_t looked = now + core->tlbs.second_ticks;

	if (find_second(core, large, own_page)) {
		core->progress->tlb_second[use][large]++;
		return looked;
	}
	fill_second(core, large, own_page);
	return walk(core, page, large, use, looked);
}

void tlb_look(struct machine_hart *core, uint64_t page, enum tlb_use use, uint32_t registers)
{
	const bool code = use == TLB_FETCH;
	const uint64_t large_page = page >> LARGE_PAGE_LOG2;
	struct machine_tlb *small = &core->tlbs.small[code];
	uint64_t ready;
	bool large;

	core->tlbs.recent[code] = page;
	/* Most pages are the last used ones of their sets: nothing changes there. */
	if (set_of(small, page)->page == page) {
		core->tlbs.lines[code] = &set_of(small, page)->lines;
		core->tlbs.line_shift[code] = 0;
		return;
	}
	if (find_first(core, code, false, page) ||
	    (core->space->has_large && find_first(core, code, true, large_page)))
		return;
	large = address_space_is_large(core->space, page);
	ready = find_beyond(core, page, large, use,
			    machine_max(core->progress->time, mshr_last_arrival(core, registers)));
	fill_first(core, code, large, large ? large_page : page);
	core->scoreboard |= MACHINE_TRANSLATION;
	core->arrival[MACHINE_TRANSLATION_REGISTER] = ready;
}

void tlb_flush(struct machine_hart *core)
{
	if (!core->tlbs.on)
		return;
	clear(&core->tlbs);
	core->progress->tlb_flushes++;
}

/* The entry at @at goes, of a set of so many. */
static void drop_page(struct machine_tlb_page *set, unsigned ways, unsigned at)
{
	for (; at + 1 < ways; at++)
		set[at] = set[at + 1];
	set[ways - 1] = (struct machine_tlb_page){.page = NO_PAGE};
}

static void drop_first(struct machine_tlb *tlb, uint64_t page)
{
	struct machine_tlb_page *set = set_of(tlb, page);

	for (unsigned way = 0; way < tlb->ways; way++)
		if (set[way].page == page)
			drop_page(set, tlb->ways, way);
}

static void drop_second(struct machine_tlbs *tlbs, uint64_t page, bool large)
{
	uint64_t *set = second_set(tlbs, page);

	if (!use_of(set, tlbs->second_ways, second_key(page, large)))
		return;
	memmove(set, set + 1, (tlbs->second_ways - 1) * sizeof(*set));
	set[tlbs->second_ways - 1] = NO_PAGE;
}

/* As INVLPG does, which forgets all upper entries. The L0 filter is to forget its lines. */
static void drop(struct machine_tlbs *tlbs, uint64_t page)
{
	const uint64_t large_page = page >> LARGE_PAGE_LOG2;

	for (unsigned code = 0; code < 2; code++) {
		drop_first(&tlbs->small[code], page);
		drop_first(&tlbs->large[code], large_page);
		tlbs->recent[code] = NO_PAGE;
		tlbs->lines[code] = &tlbs->no_lines;
	}
	drop_second(tlbs, page, false);
	drop_second(tlbs, large_page, true);
	for (unsigned level = 0; level < LEVEL_PML4E; level++)
		memset(tlbs->upper[level].entries, 0xff, sizeof(tlbs->upper[level].entries));
}

/* @return false where the system flushes all instead */
static bool drop_range(struct machine_tlbs *tlbs, struct address_unmapped range)
{
	if (range.count > FLUSH_MOST)
		return false;
	for (uint64_t i = 0; i < range.count; i++)
		drop(tlbs, range.first + i);
	return true;
}

static bool drop_unmapped(struct machine_hart *core, uint64_t from, uint64_t to)
{
	if (to - from > ADDRESS_UNMAPPED)
		return false;
	for (; from != to; from++)
		if (!drop_range(&core->tlbs, core->space->unmapped[from % ADDRESS_UNMAPPED]))
			return false;
	return true;
}

bool tlb_settle(struct machine_hart *core)
{
	struct machine_tlbs *tlbs = &core->tlbs;
	const uint64_t known = tlbs->unmapped;

	if (!tlbs->on || known == __atomic_load_n(&core->space->unmapped_count, __ATOMIC_ACQUIRE))
		return false;
	machine_hold(core->machine, core->thread);
	tlbs->unmapped = core->space->unmapped_count;
	if (!drop_unmapped(core, known, tlbs->unmapped))
		tlb_flush(core);
	machine_let_go(core->machine);
	return true;
}
