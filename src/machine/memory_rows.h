/*
 * The rows that a bank has open. A controller serves together what waits for one row, and the
 * requests of several cores come in any order. So time is cut into windows, each about as long as a
 * full read queue takes, and as a row at least: of the requests of a window those of one row need
 * one activate, and the row that was open before needs none, whoever asks first.
 */
#ifndef MACHINE_MEMORY_ROWS_H
#define MACHINE_MEMORY_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#define ROWS_KEPT 64 /* windows; a power of two */
#define ROWS_OPEN 6  /* rows of a window at most, with the one before it */
#define ROWS_NONE UINT32_MAX

/* Of rows that are open when the window begins. */
#define ROWS_BEFORE UINT16_MAX

struct rows_window {
	uint64_t number; /* plus 1; 0: none */
	uint32_t rows[ROWS_OPEN];
	uint16_t at[ROWS_OPEN]; /* cycle of the window in which each is activated */
	uint16_t latest;	/* cycle of its latest request */
	uint8_t last, count;	/* index of the row of that one */
};

/* Valid when zeroed. */
struct memory_rows {
	uint64_t newest; /* the latest window's number, plus 1 */
	struct rows_window windows[ROWS_KEPT];
};

static inline struct rows_window *rows_slot(struct memory_rows *rows, uint64_t number)
{
	return &rows->windows[number % ROWS_KEPT];
}

/* @return the row that is open after the windows from @first on and before @number */
static inline uint32_t rows_before(struct memory_rows *rows, uint64_t number, uint64_t first)
{
	while (number > first && number + ROWS_KEPT > rows->newest) {
		const struct rows_window *before = rows_slot(rows, --number);

		if (before->number == number + 1 && before->count)
			return before->rows[before->last];
	}
	return ROWS_NONE;
}

/**
 * A window, which is kept from then on.
 * @param first  the oldest that can have left a row open
 * @param open   the bank's row after all that are kept, or ROWS_NONE
 * @return NULL: it is not kept any more
 */
static inline struct rows_window *rows_window(struct memory_rows *rows, uint64_t number,
					      uint64_t first, uint32_t open)
{
	struct rows_window *window = rows_slot(rows, number);

	if (window->number == number + 1)
		return window;
	if (number + ROWS_KEPT < rows->newest)
		return NULL;
	if (number < rows->newest)
		open = rows_before(rows, number, first);
	*window = (struct rows_window){.number = number + 1};
	if (open != ROWS_NONE) {
		window->rows[0] = open;
		window->at[0] = ROWS_BEFORE;
		window->count = 1;
	}
	if (rows->newest < number + 1)
		rows->newest = number + 1;
	return window;
}

/* @return the row's index, -1: it is not open in the window */
static inline int rows_find(const struct rows_window *window, uint32_t row)
{
	for (unsigned i = 0; i < window->count; i++)
		if (window->rows[i] == row)
			return (int)i;
	return -1;
}

/* @return the first cycle from @at on that is @apart from the activates of the window @number */
static inline uint64_t rows_apart(struct memory_rows *rows, uint64_t number, unsigned log2,
				  uint32_t apart, uint64_t at)
{
	const struct rows_window *window = rows_slot(rows, number);

	if (window->number != number + 1)
		return at;
	for (unsigned i = 0; i < window->count; i++) {
		const uint64_t other = (number << log2) + window->at[i];

		if (window->at[i] != ROWS_BEFORE && other < at + apart && at < other + apart)
			at = other + apart;
	}
	return at;
}

/* Its activates are not in order: what one moves away another may hold back. */
static inline uint64_t rows_free(struct memory_rows *rows, uint64_t number, unsigned log2,
				 uint32_t apart, uint64_t at)
{
	uint64_t tried;

	do {
		tried = at;
		for (uint64_t i = number ? number - 1 : 0; i <= number + 1; i++)
			at = rows_apart(rows, i, log2, apart, at);
	} while (at != tried);
	return at;
}

/** Adds a row that is activated @cycle cycles after the window's begin. */
static inline void rows_add(struct rows_window *window, uint32_t row, uint16_t cycle)
{
	window->rows[window->count] = row;
	window->at[window->count++] = cycle;
}

/** A request for the row at @index, @cycle cycles after the window's begin. */
static inline void rows_use(struct rows_window *window, unsigned index, uint16_t cycle)
{
	if (cycle < window->latest)
		return;
	window->latest = cycle;
	window->last = (uint8_t)index;
}

#endif
