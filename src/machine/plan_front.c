#include "machine/plan_front.h"

#include <assert.h>
#include <string.h>

#include "machine/hart.h"
#include "machine/plan_maker.h"

#define FETCHED	   16 /* aligned bytes that the decoders are given in a cycle */
#define BYTE_UNITS (UARCH_CYCLE / FETCHED)

static_assert(UARCH_CYCLE % FETCHED == 0 && FRONT_WINDOW % FETCHED == 0, "bytes are units of time");

struct front_maker {
	struct machine_plan_front *front;
	const struct machine_uarch *uarch;
	uint64_t first; /* window */
	/* The instructions that are decoded in this cycle. */
	uint64_t group[UARCH_CYCLE];
	unsigned members, left;
	/* The aligned bytes that are fetched: instructions that begin there. */
	uint64_t begin;
	uint32_t instructions, prefixes;
};

static struct machine_plan_window *window_at(struct front_maker *maker, uint64_t address)
{
	uint64_t index = address / FRONT_WINDOW - maker->first;

	/* The last instruction's end may be in a window of its own, in which nothing begins. */
	if (index >= maker->front->windows)
		index = maker->front->windows - 1u;
	return &maker->front->window[index];
}

/* The cycle is over: each of the group has taken an equal part of it. */
static void end_group(struct front_maker *maker)
{
	for (unsigned i = 0; i < maker->members; i++)
		window_at(maker, maker->group[i])->decode +=
		    (uint16_t)((i + 1) * UARCH_CYCLE / maker->members -
			       i * UARCH_CYCLE / maker->members);
	maker->members = 0;
	maker->left = maker->uarch->decoders;
}

static void decode(struct front_maker *maker, const struct machine_op *op, uint64_t address,
		   uint32_t slots)
{
	const bool microcoded = slots > maker->uarch->decoder_uops;

	/* It fuses with the jump behind it. */
	if (!slots)
		return;
	if (slots > 1 && maker->members)
		end_group(maker);
	maker->group[maker->members++] = address;
	if (--maker->left == 0 || microcoded || op->branch != MACHINE_BRANCH_NONE)
		end_group(maker);
}

/* What fetch and the search for lengths take of the aligned bytes up to @end. */
static void end_fetched(struct front_maker *maker, uint64_t end)
{
	const uint32_t bytes = (uint32_t)(end - maker->begin), most = maker->uarch->predecode;
	const uint32_t cycles = (maker->instructions + most - 1) / most;
	uint32_t units = bytes * BYTE_UNITS;

	if (cycles > 1 && cycles * UARCH_CYCLE > units)
		units = cycles * UARCH_CYCLE;
	units += maker->prefixes * maker->uarch->length_prefix * UARCH_CYCLE;
	window_at(maker, maker->begin)->fetch += (uint16_t)units;
	maker->begin = end;
	maker->instructions = maker->prefixes = 0;
}

static void fetch(struct front_maker *maker, const struct machine_op *op, uint64_t address)
{
	while (address / FETCHED > maker->begin / FETCHED)
		end_fetched(maker, (maker->begin / FETCHED + 1) * FETCHED);
	maker->instructions++;
	maker->prefixes += op->length_prefix;
}

/* Entries of a window's ways; what is microcoded has a way of its own. */
static uint32_t entries_of(const struct machine_uarch *uarch, const struct machine_op *op,
			   uint32_t slots)
{
	if (slots > uarch->decoder_uops)
		return uarch->dsb_way_uops;
	return slots + op->wide_immediate;
}

static void keep(struct front_maker *maker, const struct machine_op *op, uint64_t address,
		 uint32_t slots)
{
	struct machine_plan_window *window = window_at(maker, address);
	const uint32_t entries = window->entries + entries_of(maker->uarch, op, slots);

	window->entries = (uint8_t)(entries < UINT8_MAX ? entries : UINT8_MAX);
	window->prefixes += op->length_prefix;
	if (slots <= maker->uarch->decoder_uops) {
		window->slots += (uint8_t)slots;
	} else {
		maker->front->microcoded += (uint16_t)slots;
		maker->front->sequences++;
	}
}

/* Bytes of the windows that are the block's. */
static void fill_parts(struct machine_plan_front *front, uint64_t address)
{
	for (unsigned i = 0; i < front->windows; i++)
		front->window[i].parts = UINT32_MAX;
	front->window[0].parts <<= address % FRONT_WINDOW;
}

static void cut_parts(struct machine_plan_front *front, uint64_t last)
{
	front->window[front->windows - 1].parts &=
	    UINT32_MAX >> (FRONT_WINDOW - 1 - last % FRONT_WINDOW);
}

static uint64_t last_of(uint64_t address, const struct machine_op *const *ops, size_t count)
{
	for (size_t i = 0; i + 1 < count; i++)
		address += ops[i]->length;
	return address;
}

size_t plan_front_make(struct machine_plan_front *front, const struct machine_uarch *uarch,
		       uint64_t address, const struct machine_op *const *ops, size_t count)
{
	const uint64_t last = last_of(address, ops, count);
	struct front_maker maker = {.front = front,
				    .uarch = uarch,
				    .first = address / FRONT_WINDOW,
				    .left = uarch->decoders,
				    .begin = address};

	memset(front, 0, offsetof(struct machine_plan_front, window));
	front->last_bytes = count ? ops[count - 1]->length : 0;
	front->windows = (uint16_t)(last / FRONT_WINDOW - maker.first + 1);
	memset(front->window, 0, front->windows * sizeof(front->window[0]));
	fill_parts(front, address);
	cut_parts(front, last);
	for (size_t i = 0; i < count; i++, address += ops[i - 1]->length) {
		const uint32_t slots = plan_slots(uarch, ops, i, count);

		fetch(&maker, ops[i], address);
		decode(&maker, ops[i], address, slots);
		keep(&maker, ops[i], address, slots);
	}
	end_group(&maker);
	for (unsigned i = 0; i < front->windows && uarch->dsb_sets; i++)
		front->window[i].ways = (uint8_t)front_ways(uarch, front->window[i].entries);
	while (address > maker.begin) {
		const uint64_t end = (maker.begin / FETCHED + 1) * FETCHED;

		end_fetched(&maker, end < address ? end : address);
	}
	return offsetof(struct machine_plan_front, window) +
	       front->windows * sizeof(front->window[0]);
}
