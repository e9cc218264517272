/*
 * Translation of addresses on cores that take time for it: first-level TLBs for data and code, for
 * pages of 4 KB and for large ones; a second level of both; walks through page tables, whose reads
 * go to L1D and beyond.
 *
 * Sets displace the page whose use was seen least recently. A use of a line that the L0 filter
 * knows is not seen, which costs nothing. Each line that it knows is of a page that the first level
 * has; after each miss it forgets those of the page that the set would displace next, whose uses
 * are seen from then on.
 */
#ifndef MACHINE_TLB_H
#define MACHINE_TLB_H

#include "machine/state.h"

#define LARGE_PAGE_LOG2 9 /* pages of a large one */

/** For a hart that is zeroed. */
void tlb_init(struct machine_hart *core);
/** Nothing is known any more: as the system flushes the TLBs. */
void tlb_flush(struct machine_hart *core);
/** Drops what its address space has not any more. @return whether something was unmapped */
bool tlb_settle(struct machine_hart *core);

/** A use of another page than the one used last. @param registers  that form the address */
void tlb_look(struct machine_hart *core, uint64_t page, enum tlb_use use, uint32_t registers);

/** The L0 filter knows a line of the page used last. */
static inline void tlb_note(struct machine_hart *core, bool code, uint64_t line)
{
	*core->tlbs.lines[code] |= UINT64_C(1) << (line >> core->tlbs.line_shift[code]) % 64;
}

/** What waits for the translation has been asked for. @return when it was there; 0: at once */
static inline uint64_t tlb_end(struct machine_hart *core)
{
	if (__builtin_expect(!(core->scoreboard & MACHINE_TRANSLATION), 1))
		return 0;
	core->scoreboard &= ~MACHINE_TRANSLATION;
	return core->arrival[MACHINE_TRANSLATION_REGISTER];
}

#endif
