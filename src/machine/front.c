#include "machine/front.h"

#include <immintrin.h>
#include <string.h>

#include "machine/cache.h"

#define NEVER	    UINT64_MAX
#define GRAINS_LOG2 3
#define GRAINS	    (1u << GRAINS_LOG2)

/* Windows of a block that may be in the table: forget_blocks() looks at so many. */
#define NOTED_MOST 5

static_assert(FRONT_WINDOW == GRAINS * MACHINE_FRONT_GRAIN, "a window has blocks of its own");

/* No window of the set has this number. */
static uint32_t empty(unsigned set)
{
	return ~set;
}

void front_forget(struct machine_hart *core)
{
	struct machine_front *front = &core->front;

	/* No block of such a number has this place. */
	for (uint32_t i = 0; i < MACHINE_FRONT_BLOCKS; i++)
		front->blocks[i] = ~i;
	memset(front->sets, 0, sizeof(front->sets));
	for (unsigned set = 0; set < MACHINE_FRONT_SETS; set++)
		for (unsigned way = 0; way < MACHINE_FRONT_WAYS; way++)
			front->sets[set].numbers[way] = empty(set);
	front->delivered = NEVER;
}

void front_init(struct machine_hart *core)
{
	const struct machine_uarch *uarch = core->machine->uarch;

	if (!uarch)
		return;
	core->front.set_mask = uarch->dsb_sets - 1;
	core->front.each = UARCH_CYCLE / uarch->issue_width;
	core->front.most = uarch->decode_queue * core->front.each;
}

static unsigned set_number(const struct machine_hart *core, uint32_t window)
{
	return window & core->front.set_mask;
}

static inline struct machine_front_set *set_of(struct machine_hart *core, uint32_t number)
{
	return &core->front.sets[set_number(core, number)];
}

static inline void forget_grains(uint32_t *blocks, uint32_t window)
{
	const __m128i number = _mm_set1_epi32((int)window);

	for (unsigned i = 0; i < GRAINS; i += 4) {
		__m128i *four = (__m128i *)(void *)&blocks[i];
		const __m128i grains = _mm_load_si128(four);

		_mm_store_si128(
		    four, _mm_xor_si128(grains, _mm_cmpeq_epi32(_mm_srli_epi32(grains, GRAINS_LOG2),
								number)));
	}
}

/* Those that begin in the window, or in one before it, and may go on in it. */
static void forget_blocks(struct machine_hart *core, uint32_t window)
{
	const uint32_t numbers = UINT32_MAX >> GRAINS_LOG2, places = MACHINE_FRONT_BLOCKS / GRAINS;

	for (unsigned i = 0; i < NOTED_MOST; i++, window--)
		forget_grains(&core->front.blocks[window % places * GRAINS], window & numbers);
}

/* Numbers of a set differ above the bits that are left out. @return bit: way */
static inline unsigned find(const struct machine_front_set *set, uint32_t number)
{
	return cache_match8(set->numbers, number);
}

static void take_out(struct machine_hart *core, struct machine_front_set *set, unsigned way)
{
	const uint32_t number = set->numbers[way];

	if (set->noted >> way & 1)
		forget_blocks(core, number);
	set->noted &= (uint8_t) ~(1u << way);
	set->all_ways -= set->ways[way];
	set->numbers[way] = empty(set_number(core, number));
	set->entries[way] = set->ways[way] = 0;
}

/* The oldest window, which has been used again, is the newest. */
static MACHINE_OUTLINE void keep_window(struct machine_hart *core, struct machine_front_set *set)
{
	const unsigned way = set->first++ % MACHINE_FRONT_WAYS;
	const unsigned last = set->end++ % MACHINE_FRONT_WAYS;

	forget_blocks(core, set->numbers[way]);
	set->noted &= (uint8_t) ~(1u << way);
	if (way == last)
		return;
	set->numbers[last] = set->numbers[way];
	set->parts[last] = set->parts[way];
	set->entries[last] = set->entries[way];
	set->ways[last] = set->ways[way];
	set->numbers[way] = empty(set_number(core, set->numbers[way]));
	set->entries[way] = set->ways[way] = 0;
}

static inline void displace(struct machine_hart *core, struct machine_front_set *set)
{
	unsigned way;

	while (set->noted >> set->first % MACHINE_FRONT_WAYS & 1)
		keep_window(core, set);
	way = set->first++ % MACHINE_FRONT_WAYS;
	if (set->ways[way])
		take_out(core, set, way);
}

static inline bool is_full(const struct machine_front_set *set)
{
	return (uint8_t)(set->end - set->first) == MACHINE_FRONT_WAYS;
}

/* The block decodes its part of a window that the DSB has not, and gets where there is room. */
static MACHINE_OUTLINE void put_new(struct machine_hart *core, struct machine_front_set *set,
				    uint32_t number, const struct machine_plan_window *window)
{
	const struct machine_uarch *uarch = core->machine->uarch;
	const uint32_t ways = window->ways;
	unsigned way;

	if (ways > uarch->dsb_window_ways)
		return;
	while (set->all_ways + ways > uarch->dsb_ways || is_full(set))
		displace(core, set);
	way = set->end++ % MACHINE_FRONT_WAYS;
	set->numbers[way] = number;
	set->parts[way] = window->parts;
	set->entries[way] = window->entries;
	set->ways[way] = (uint8_t)ways;
	set->all_ways += (uint8_t)ways;
}

/*
 * The same of a window of which it has other parts. It has none then where all need too much, or
 * are themselves the oldest of a set in which they need more.
 */
static MACHINE_OUTLINE void put_more(struct machine_hart *core, struct machine_front_set *set,
				     unsigned way, const struct machine_plan_window *window)
{
	const struct machine_uarch *uarch = core->machine->uarch;
	const uint32_t entries = set->entries[way] + window->entries;
	const uint32_t ways = front_ways(uarch, entries);

	if (ways > uarch->dsb_window_ways) {
		take_out(core, set, way);
		return;
	}
	set->all_ways += (uint8_t)(ways - set->ways[way]);
	set->ways[way] = (uint8_t)ways;
	set->entries[way] = (uint8_t)entries;
	set->parts[way] |= window->parts;
	while (set->all_ways > uarch->dsb_ways)
		displace(core, set);
}

void front_drop(struct machine_hart *core, uint64_t address, uint64_t last)
{
	const uint64_t line = 2 * FRONT_WINDOW;

	if (!core->machine->uarch->dsb_sets)
		return;
	for (uint64_t window = address / line * 2; window <= last / line * 2 + 1; window++) {
		struct machine_front_set *set = set_of(core, (uint32_t)window);
		const unsigned found = find(set, (uint32_t)window);

		if (found)
			take_out(core, set, (unsigned)__builtin_ctz(found));
	}
}

/* What the decoders are to deliver: units, and micro-operations. */
struct decoding {
	uint32_t fetch, decode, slots, prefixes;
	bool begins; /* with the block's first byte */
};

static void add(struct decoding *decoding, const struct machine_plan_window *window)
{
	decoding->fetch += window->fetch;
	decoding->decode += window->decode;
	decoding->slots += window->slots;
	decoding->prefixes += window->prefixes;
}

/* The rest of the aligned bytes that a jump leaves, and the begin of those that it goes to. */
static uint32_t bytes_lost(const struct machine_hart *core, const struct machine_plan *plan,
			   bool goes_on)
{
	const uint32_t fetched = UARCH_CYCLE;

	return (uint32_t)(plan->address % fetched) +
	       (goes_on ? (uint32_t)(-core->issue.next % fetched) : 0);
}

/* So many in so many units, evenly. */
static inline void count_rate(struct machine_front_rate *rates, uint32_t slots, uint32_t units)
{
	const uint32_t done = slots * UARCH_CYCLE;
	const unsigned rate =
	    (done >= units) + (done >= 2 * units) + (done >= 3 * units) + (done >= 4 * units);

	rates[rate].units += units;
	rates[rate].slots += slots;
}

/* Of what decoders take longer than issue, the core waits for what the queue does not hold. */
static uint32_t wait_beyond_queue(struct machine_front *front, uint32_t units)
{
	const uint32_t held = units < front->ahead ? units : front->ahead;

	front->ahead -= held;
	return units - held;
}

/* @return units beyond those of issue */
static inline uint32_t decode(struct machine_hart *core, const struct machine_plan *plan,
			      struct decoding *decoding)
{
	const struct machine_uarch *uarch = core->machine->uarch;
	struct machine_front_counts *counts = &core->progress->front;
	struct machine_front *front = &core->front;
	/* Where the block waits for its own values and ports, decoders go on. */
	const uint32_t taken = plan->units - front->each * (plan->slots - decoding->slots);
	const bool goes_on = front->delivered == core->progress->slots;
	uint32_t units = front->each * decoding->slots;

	front->delivered = core->progress->slots + plan->slots;
	if (decoding->begins && core->issue.next != plan->address)
		decoding->fetch += bytes_lost(core, plan, goes_on);
	units = units > decoding->fetch ? units : decoding->fetch;
	units = units > decoding->decode ? units : decoding->decode;
	counts->prefixes += decoding->prefixes;
	count_rate(counts->decoding, decoding->slots, units);
	if (!goes_on) {
		counts->switched += uarch->dsb_switch * UARCH_CYCLE;
		units += uarch->dsb_switch * UARCH_CYCLE;
	}
	return units > taken ? units - taken : 0;
}

bool front_loops(const struct machine_hart *core, const struct machine_plan *plan)
{
	return plan->special & PLAN_LOOPS && core->issue.next == plan->address + plan->bytes;
}

/* What is issued while the core waits comes evenly. @return @wait */
static uint32_t count_wait(struct machine_hart *core, uint32_t slots, uint32_t wait)
{
	if (wait)
		count_rate(core->progress->front.late, slots, slots * core->front.each + wait);
	return wait;
}

static inline bool has_parts(const struct machine_front_set *set,
			     const struct machine_plan_window *window, unsigned found)
{
	return found && !(window->parts & ~set->parts[__builtin_ctz(found)]);
}

/* @return how many windows of the block, from its first one on, the DSB has; they are used again */
static inline unsigned find_kept(struct machine_hart *core, const struct machine_plan_front *block,
				 uint32_t first)
{
	unsigned i;

	for (i = 0; i < block->windows; i++) {
		struct machine_front_set *set = set_of(core, first + i);
		const unsigned found = find(set, first + i);

		if (!has_parts(set, &block->window[i], found))
			break;
		set->noted |= (uint8_t)(found & -found);
	}
	return i;
}

static inline void note(struct machine_front *front, uint64_t address)
{
	const uint64_t grain = address / MACHINE_FRONT_GRAIN;

	front->blocks[grain % MACHINE_FRONT_BLOCKS] = (uint32_t)grain;
}

/* Adds to @decoding what the DSB has not of the block from window @i on; it gets that. */
static inline void decode_rest(struct machine_hart *core, const struct machine_plan_front *block,
			       uint32_t first, unsigned i, struct decoding *decoding)
{
	decoding->begins = i == 0;
	for (; i < block->windows; i++) {
		struct machine_front_set *set = set_of(core, first + i);
		const struct machine_plan_window *window = &block->window[i];
		const unsigned found = find(set, first + i);

		if (has_parts(set, window, found))
			continue;
		add(decoding, window);
		if (found)
			put_more(core, set, (unsigned)__builtin_ctz(found), window);
		else
			put_new(core, set, first + i, window);
	}
}

uint32_t front_deliver(struct machine_hart *core, const struct machine_plan *plan)
{
	const struct machine_plan_front *block = machine_plan_front(plan);
	const uint32_t first = (uint32_t)(plan->address / FRONT_WINDOW);
	struct decoding decoding = {.begins = true};
	unsigned kept;
	uint32_t units;

	if (front_loops(core, plan))
		return 0;
	if (core->machine->uarch->dsb_sets) {
		kept = find_kept(core, block, first);
		if (kept == block->windows) {
			if (kept <= NOTED_MOST)
				note(&core->front, plan->address);
			return 0;
		}
		decode_rest(core, block, first, kept, &decoding);
	} else {
		for (unsigned i = 0; i < block->windows; i++)
			add(&decoding, &block->window[i]);
	}
	units = decode(core, plan, &decoding);
	return count_wait(core, plan->slots, wait_beyond_queue(&core->front, units));
}

uint32_t front_sequence(struct machine_hart *core, const struct machine_plan *plan)
{
	const struct machine_plan_front *block = machine_plan_front(plan);
	struct machine_front_counts *counts = &core->progress->front;
	const uint32_t each = core->machine->uarch->microcode_switch * UARCH_CYCLE;
	const bool decoded = core->front.delivered == core->progress->slots + plan->slots;

	counts->sequenced[decoded] += block->microcoded;
	counts->sequences[decoded] += block->sequences;
	return count_wait(core, 0, wait_beyond_queue(&core->front, block->sequences * each));
}
