#include "machine/prefetch_l1.h"

#include "machine/prefetcher.h"

#define STEP_MAX   2048 /* bytes */
#define STEPS_SEEN 2	/* in a row make a stride (choice) */

static bool is_same_page(uint64_t a, uint64_t b)
{
	return a >> PAGE_LOG2 == b >> PAGE_LOG2;
}

/* Whether the line before was loaded very recently. */
static bool goes_on(struct machine_strides *strides, uint64_t line)
{
	bool before = false;

	for (unsigned i = 0; i < MACHINE_PREFETCH_RECENT; i++) {
		if (strides->recent[i] == line + 1)
			return false;
		before = before || strides->recent[i] == line;
	}
	strides->recent[strides->next++ % MACHINE_PREFETCH_RECENT] = line + 1;
	return before;
}

/* @return the address that the instruction asks for next, or its present one */
static uint64_t next_address(struct machine_stride *stride, uint64_t address)
{
	const int64_t step = (int64_t)(address - stride->address);

	stride->address = address;
	if (!step)
		return address;
	if (step != stride->step) {
		stride->step = step <= STEP_MAX && step >= -STEP_MAX ? (int32_t)step : 0;
		stride->seen = 1;
		return address;
	}
	stride->seen += stride->seen < STEPS_SEEN;
	return stride->seen == STEPS_SEEN ? address + (uint64_t)step : address;
}

unsigned prefetch_l1(struct machine_strides *strides, uint32_t on, uint64_t address, uint8_t place,
		     uint64_t lines[PREFETCH_L1_MAX])
{
	const uint64_t line = address >> LINE_LOG2;
	unsigned count = 0;

	if (on >> MACHINE_PREFETCH_NEXT & 1 && goes_on(strides, line) &&
	    is_same_page(address, address + LINE_BYTES))
		lines[count++] = line + 1;
	if (on >> MACHINE_PREFETCH_STRIDE & 1) {
		uint64_t next = next_address(&strides->places[place], address);

		if (next >> LINE_LOG2 != line && is_same_page(address, next) &&
		    !(count && lines[0] == next >> LINE_LOG2))
			lines[count++] = next >> LINE_LOG2;
	}
	return count;
}
