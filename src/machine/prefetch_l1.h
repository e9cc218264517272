/*
 * The prefetchers of L1D (Intel 248966, data prefetch to L1): for a load whose line is new to the
 * L0 filter, the lines to ask for. They stay in the load's page of 4 KB, and ask for nothing while
 * many misses are outstanding.
 */
#ifndef MACHINE_PREFETCH_L1_H
#define MACHINE_PREFETCH_L1_H

#include "machine/prefetcher.h"
#include "machine/scan.h"
#include "machine/state.h"

#define PREFETCH_L1_MAX	       2
#define PREFETCH_L1_STEP_MAX   2048 /* bytes */
#define PREFETCH_L1_STEPS_SEEN 2    /* in a row make a stride (choice) */

/* Whether the line before was loaded very recently, and this one was not. */
static inline bool prefetch_l1_goes_on(struct machine_strides *strides, uint64_t line)
{
	bool before;

	if (scan_has(strides->recent, line + 1))
		return false;
	before = scan_has(strides->recent, line);
	strides->recent[strides->next++ % MACHINE_PREFETCH_RECENT] = line + 1;
	return before;
}

/* @return the address that the instruction asks for next, or its present one */
static inline uint64_t prefetch_l1_next(struct machine_stride *stride, uint64_t address)
{
	const int64_t step = (int64_t)(address - stride->address);

	stride->address = address;
	if (!step)
		return address;
	if (step != stride->step) {
		stride->step = step <= PREFETCH_L1_STEP_MAX && step >= -PREFETCH_L1_STEP_MAX
				   ? (int32_t)step
				   : 0;
		stride->seen = 1;
		return address;
	}
	if (++stride->seen < PREFETCH_L1_STEPS_SEEN)
		return address;
	stride->seen = PREFETCH_L1_STEPS_SEEN;
	return address + (uint64_t)step;
}

/**
 * A load of @address by the instruction at @place.
 * @param on     bit: enum machine_prefetcher
 * @param lines  receives virtual lines
 * @return their number
 */
static inline unsigned prefetch_l1(struct machine_strides *strides, uint32_t on, uint64_t address,
				   uint8_t place, uint64_t lines[PREFETCH_L1_MAX])
{
	const uint64_t line = address >> LINE_LOG2;
	unsigned count = 0;

	if (on >> MACHINE_PREFETCH_NEXT & 1 && prefetch_l1_goes_on(strides, line) &&
	    (line + 1) % PAGE_LINES)
		lines[count++] = line + 1;
	if (on >> MACHINE_PREFETCH_STRIDE & 1) {
		uint64_t next = prefetch_l1_next(&strides->places[place], address) >> LINE_LOG2;

		if (next != line && next / PAGE_LINES == line / PAGE_LINES &&
		    !(count && lines[0] == next))
			lines[count++] = next;
	}
	return count;
}

#endif
