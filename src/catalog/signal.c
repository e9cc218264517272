#include "catalog/signal.h"

#include <string.h>

/* Readers may know a time that lies before that of a span that was emitted. */
#define MARGIN 4096

/* Entries keep their order: the oldest comes first. */
static void grow(struct signal_spans *spans)
{
	struct signal_span old[SIGNAL_SPANS / 2];
	uint32_t count = spans->mask + 1, first = count - (spans->next & spans->mask);

	memcpy(old, spans->ring, count * sizeof(old[0]));
	memcpy(spans->ring, old + count - first, first * sizeof(old[0]));
	memcpy(spans->ring + first, old, (count - first) * sizeof(old[0]));
	memset(spans->ring + count, 0, count * sizeof(old[0]));
	spans->next = count;
	spans->mask = 2 * count - 1;
}

/* The value of which @word has the bit. */
static uint8_t value_of(uint64_t word, unsigned first, unsigned count)
{
	return (uint8_t)__builtin_ctzll(word >> first & ((1ull << count) - 1));
}

static void tell(const struct signal_port *port,
		 void (*whom)(void *subscriber, const struct signal *signal), uint64_t where,
		 uint64_t word, uint64_t time, uint64_t duration, uint64_t rest)
{
	const struct signal signal = {
	    .id = (uint16_t)where,
	    .socket = (uint8_t)(where >> 16),
	    .unit = (uint8_t)(where >> 24),
	    .qualifiers = (uint32_t)word & ((1u << SIGNAL_WORD_REQUEST) - 1),
	    .time = time,
	    .duration = duration,
	    .address = rest >> 24 << 6,
	    .request = value_of(word, SIGNAL_WORD_REQUEST, SIGNAL_WORD_STATE - SIGNAL_WORD_REQUEST),
	    .state = value_of(word, SIGNAL_WORD_STATE, SIGNAL_WORD_NODE - SIGNAL_WORD_STATE),
	    .node = value_of(word, SIGNAL_WORD_NODE, SIGNAL_WORD_RANK - SIGNAL_WORD_NODE),
	    .core = (uint8_t)rest,
	    .thread = (uint8_t)(rest >> 8),
	    .rank = value_of(word, SIGNAL_WORD_RANK, SIGNAL_WORD_ALWAYS - SIGNAL_WORD_RANK),
	    .bank = (uint8_t)(rest >> 16),
	};

	whom(port->subscriber, &signal);
}

/* Beyond what signal_emit() puts into it. */
#define AT_BRINK (1ull << 32)

#define OUTLINE static __attribute__((noinline)) void

OUTLINE pass_on(const struct signal_port *port, uint64_t where, uint64_t word, uint64_t time,
		uint64_t duration, uint64_t rest)
{
	tell(port, port->emit, where, word, time, duration, rest);
}

OUTLINE look(const struct signal_port *port, uint64_t where, uint64_t word, uint64_t time,
	     uint64_t duration, uint64_t rest)
{
	tell(port, port->look, where, word, time, duration, rest);
}

static const struct signal_taps *taps_of(const struct signal_port *port, uint64_t where)
{
	const uint32_t socket = (uint8_t)(where >> 16), unit = (uint8_t)(where >> 24);

	return &port->taps[(socket * SIGNAL_UNITS + unit % SIGNAL_UNITS) * SIGNAL_COUNT +
			   (uint16_t)where];
}

/* @return whether the sum is at its brink */
static inline bool add(const struct signal_port *port, const struct signal_tap *tap,
		       uint64_t amount)
{
	uint64_t *sum = (uint64_t *)(void *)(port->sums + tap->sum);

	*sum += amount;
	return *sum >= tap->brink;
}

static inline bool wants(const struct signal_tap *tap, uint64_t word)
{
	return (word & tap->care) == tap->value && word & tap->any;
}

/* The taps that add durations. */
OUTLINE count_spans(const struct signal_port *port, uint64_t where, uint64_t word, uint64_t time,
		    uint64_t duration, uint64_t rest)
{
	const struct signal_taps *taps = taps_of(port, where);
	bool at_brink = where & AT_BRINK;

	for (uint32_t i = taps->pulses; i < taps->count; i++) {
		const struct signal_tap *tap = &taps->taps[i];

		if (!wants(tap, word))
			continue;
		signal_note_span((struct signal_spans *)(void *)(port->sums + tap->spans), time,
				 time + duration);
		at_brink |= add(port, tap, duration);
	}
	if (at_brink)
		look(port, where, word, time, duration, rest);
}

/* Calls others last only, so that it needs no stack frame. */
void signal_count(const struct signal_port *port, uint64_t where, uint64_t word, uint64_t time,
		  uint64_t duration, uint64_t rest)
{
	const struct signal_taps *taps;
	const struct signal_tap *tap, *end;

	if (!port->taps || (taps = taps_of(port, where))->count == SIGNAL_RECEIVE) {
		pass_on(port, where, word, time, duration, rest);
		return;
	}
	for (tap = taps->taps, end = tap + taps->pulses; tap < end; tap++)
		if (wants(tap, word) && __builtin_expect(add(port, tap, 1), 0))
			where |= AT_BRINK;
	if (taps->count > taps->pulses)
		count_spans(port, where, word, time, duration, rest);
	else if (__builtin_expect(where & AT_BRINK, 0))
		look(port, where, word, time, duration, rest);
}

void signal_note_span(struct signal_spans *spans, uint64_t begin, uint64_t end)
{
	struct signal_span *span = &spans->ring[spans->next & spans->mask];

	while (span->end + MARGIN > begin && spans->mask < SIGNAL_SPANS - 1) {
		grow(spans);
		span = &spans->ring[spans->next & spans->mask];
	}
	*span = (struct signal_span){begin, end};
	spans->next++;
}
