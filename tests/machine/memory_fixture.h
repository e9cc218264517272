/* A channel with DDR4-2400 timing and a subscriber that keeps what it emits. */
#ifndef TESTS_MACHINE_MEMORY_FIXTURE_H
#define TESTS_MACHINE_MEMORY_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "machine/memory.h"
#include "support/cmocka.h"

/* t_rcd + t_cl + t_burst = 38 from activate to last beat; t_rp + 38 = 55 where a row is open. */
static const struct pmu_machine ddr4 = {
    .ranks = 2,
    .banks = 16,
    .row_bytes = 8192,
    .rpq_entries = 32,
    .wpq_entries = 48,
    .wpq_high = 40,
    .wpq_low = 16,
    .t_cl = 17,
    .t_cwl = 12,
    .t_rcd = 17,
    .t_rp = 17,
    .t_ras = 39,
    .t_burst = 4,
    .t_refi = 9360,
    .t_rfc = 420,
    .t_wr = 18,
    .t_wtr = 9,
};

#define SIGNALS_MAX 4096

struct fixture {
	struct pmu_machine desc;
	struct memory_channel channel;
	struct memory_view view;
	struct signal_port port;
	uint8_t enabled[SIGNAL_COUNT];
	struct signal signals[SIGNALS_MAX];
	size_t count;
};

static inline void keep(void *subscriber, const struct signal *signal)
{
	struct fixture *f = subscriber;

	assert_true(f->count < SIGNALS_MAX);
	f->signals[f->count++] = *signal;
}

static inline int fixture_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	f->desc = ddr4;
	memset(f->enabled, 1, sizeof(f->enabled));
	f->port = (struct signal_port){.subscriber = f, .emit = keep, .enabled = f->enabled};
	f->view = (struct memory_view){.desc = &f->desc, .port = &f->port, .socket = 1, .unit = 3};
	memory_init(&f->channel, &f->desc);
	*state = f;
	return 0;
}

static inline int fixture_down(void **state)
{
	free(*state);
	return 0;
}

static inline uint64_t read_at(struct fixture *f, uint64_t line, uint64_t now)
{
	return memory_read(&f->channel, &f->view, line, now);
}

static inline uint64_t write_at(struct fixture *f, uint64_t line, uint64_t now)
{
	return memory_write(&f->channel, &f->view, line, false, now);
}

static inline uint64_t partial_at(struct fixture *f, uint64_t line, uint64_t now)
{
	return memory_write(&f->channel, &f->view, line, true, now);
}

static inline uint64_t drain_at(struct fixture *f, uint64_t now)
{
	return memory_drain(&f->channel, &f->view, now);
}

static inline const struct memory_statistics *stats(const struct fixture *f)
{
	return memory_statistics(&f->channel);
}

/* Column, bank, rank, row from the low bits, the row's low bits XORed into the bank. */
static inline uint64_t line_of(unsigned rank, unsigned bank, unsigned row, unsigned column)
{
	return ((uint64_t)row * 2 + rank) * 16 * 128 + ((bank ^ row) & 15) * 128 + column;
}

/* The @nth occurrence of a signal. */
static inline const struct signal *nth(const struct fixture *f, enum pmu_signal_id id, size_t n)
{
	for (size_t i = 0; i < f->count; i++)
		if (f->signals[i].id == id && n-- == 0)
			return &f->signals[i];
	fail_msg("signal %s is emitted too seldom", signal_table[id].name);
	return NULL;
}

static inline size_t emitted(const struct fixture *f, enum pmu_signal_id id)
{
	size_t count = 0;

	for (size_t i = 0; i < f->count; i++)
		count += f->signals[i].id == id;
	return count;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_up, fixture_down)

#endif
