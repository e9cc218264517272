/*
 * What comes before and after the look-up (look.h) of an access that the L0 filter does not know:
 * translation, and what the filter is to know then. Inline, for who accesses.
 */
#ifndef MACHINE_TRANSLATE_H
#define MACHINE_TRANSLATE_H

#include "machine/address_space.h"
#include "machine/fill.h"
#include "machine/look.h"
#include "machine/tlb.h"

static inline uint64_t page_of(uint64_t line)
{
	return line >> (PAGE_LOG2 - LINE_LOG2);
}

static inline uint32_t frame_tag(uint64_t line)
{
	return (uint32_t)(page_of(line) >> MACHINE_FRAMES_LOG2);
}

static inline struct machine_translation *frame_entry(struct machine_hart *core, uint64_t line)
{
	return &core->frames[page_of(line) & ((1u << MACHINE_FRAMES_LOG2) - 1)];
}

static inline uint32_t frame_line(const struct machine_translation *entry, uint64_t line)
{
	return entry->frame << (PAGE_LOG2 - LINE_LOG2) |
	       (line & ((1u << (PAGE_LOG2 - LINE_LOG2)) - 1));
}

/* Whether the page of a line was used last, so that the TLBs see nothing new. */
static inline bool is_translated(const struct machine_hart *core, uint64_t line, bool code)
{
	return !core->tlbs.on || core->tlbs.recent[code] == page_of(line);
}

/* What is inherited is looked for each time: another thread's store can give it another frame. */
static inline void find_frame(struct machine_hart *core, struct machine_translation *entry,
			      uint64_t line, bool writes)
{
	struct address_fill fill = {0};
	const uint32_t frame =
	    address_space_access(core->space, page_of(line), core, writes, &fill);

	if (__builtin_expect(fill.count, 0))
		fill_frames(core, page_of(line), &fill);
	entry->frame = frame & ~ADDRESS_INHERITED;
	entry->tag = frame & ADDRESS_INHERITED ? UINT32_MAX : frame_tag(line);
}

/*
 * Physical line of a virtual one, which is accessed now. Where the translation takes time, what is
 * accessed waits for MACHINE_TRANSLATION; tlb_end() is to follow.
 * @param registers  that form the address
 */
static inline uint32_t translate(struct machine_hart *core, uint64_t line, enum tlb_use use,
				 uint32_t registers)
{
	struct machine_translation *entry = frame_entry(core, line);

	if (entry->tag != frame_tag(line))
		find_frame(core, entry, line, use == TLB_STORE);
	if (!is_translated(core, line, use == TLB_FETCH))
		tlb_look(core, page_of(line), use, registers);
	return frame_line(entry, line);
}

/* What the filter of data or code is to know of a line that L1 has, and whose page was used last.
 */
static inline void note(struct machine_hart *core, bool code, uint64_t line, uint32_t physical,
			int slot)
{
	struct machine_l0 *filter = code ? core->code : core->data;
	const struct plru_use use = plru_use((unsigned)slot % L1_WAYS);

	tlb_note(core, code, line);

	filter[line % MACHINE_L0_LINES] = (struct machine_l0){
	    .line = line,
	    .shared = l1_tag(physical) | LINE_S,
	    .slot = (uint16_t)slot,
	    .plru_kept = use.kept,
	    .plru_on = use.on,
	};
}

/* A load that missed L1: its line comes at @found.end. */
static MACHINE_INLINE void finish_load(struct machine_hart *core, uint64_t line, uint32_t physical,
				       struct machine_insn insn, struct found found)
{
	if (insn.decides)
		core->issue.decided = machine_max(core->issue.decided, found.end);
	note(core, false, line, physical, found.slot);
	mshr_add_load(core, line, insn.loads_registers, found.end,
		      found.level == PRIVATE_L2 ? MISS_NEAR : MISS_FAR);
	core->progress->loads++;
}

/* @param request  REQUEST_READ_OWN; REQUEST_OWN where all of the line is written */
static inline __attribute__((always_inline)) struct found
own_line(struct machine_hart *core, uint64_t line, enum signal_request request, uint32_t registers)
{
	uint32_t physical = translate(core, line, TLB_STORE, registers);
	struct found found =
	    get(core, core->l1d, request, physical, registers | MACHINE_TRANSLATION);

	found = check_prefetched(core, line, found);
	if (found.slot >= 0)
		note(core, false, line, physical, found.slot);
	return found;
}

#endif
