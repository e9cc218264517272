/* A machine with a subscriber that keeps what it emits, and cores that one thread drives. */
#ifndef TESTS_MACHINE_MACHINE_FIXTURE_H
#define TESTS_MACHINE_MACHINE_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "machine/access.h"
#include "machine/control.h"
#include "support/cmocka.h"

#define CORES_OPEN_MAX 64

struct fixture {
	struct pmu_machine desc;
	void *state;
	struct machine *machine;
	struct machine_address_space *space;
	struct machine_hart *cores[CORES_OPEN_MAX]; /* by number; NULL: not entered */
	uint8_t enabled[SIGNAL_COUNT];
	struct signal *signals;
	size_t count, room;
};

static const struct machine_insn plain;

/* Of a line at @bytes a cycle: whole ones, the nearest. */
static inline uint64_t line_ticks(uint64_t cycle, uint64_t bytes)
{
	return (2 * 64 * cycle + bytes) / (2 * bytes);
}

static inline void keep_signal(void *subscriber, const struct signal *signal)
{
	struct fixture *fixture = subscriber;

	if (fixture->count == fixture->room) {
		fixture->room = fixture->room ? 2 * fixture->room : 1024;
		fixture->signals = realloc(fixture->signals, fixture->room * sizeof(*signal));
		assert_non_null(fixture->signals);
	}
	fixture->signals[fixture->count++] = *signal;
}

/* Nobody subscribes yet; nothing is prefetched. */
static inline void fixture_up_translating(struct fixture *fixture, const struct pmu_machine *desc)
{
	size_t size = machine_state_size(desc);

	memset(fixture, 0, sizeof(*fixture));
	fixture->desc = *desc;
	fixture->desc.prefetchers = 0;
	fixture->state =
	    mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(fixture->state != MAP_FAILED);
	assert_int_equal(
	    machine_open(&fixture->machine, NULL, &fixture->desc, fixture->state, true), 0);
	assert_int_equal(machine_address_space_new(&fixture->space, fixture->machine), 0);
}

/* The same; translation is free. */
static inline void fixture_up(struct fixture *fixture, const struct pmu_machine *desc)
{
	struct pmu_machine copy = *desc;

	copy.translation = "none";
	fixture_up_translating(fixture, &copy);
}

static inline void subscribe_to(struct fixture *fixture, enum pmu_signal_id id)
{
	struct signal_port port = {
	    .subscriber = fixture, .emit = keep_signal, .enabled = fixture->enabled};

	fixture->enabled[id] = 1;
	machine_connect(fixture->machine, &port);
}

static inline void subscribe_to_all(struct fixture *fixture)
{
	for (int id = SIGNAL_NONE + 1; id < SIGNAL_COUNT; id++)
		subscribe_to(fixture, (enum pmu_signal_id)id);
}

/* All cores of the machine; each is then free to be driven by this thread. */
static inline void enter_all(struct fixture *fixture)
{
	for (unsigned i = 0; i < fixture->desc.sockets * fixture->desc.cores; i++) {
		fixture->cores[i] = machine_hart_enter(fixture->machine, fixture->space, 0);
		assert_non_null(fixture->cores[i]);
	}
}

static inline void fixture_down(struct fixture *fixture)
{
	for (unsigned i = 0; i < CORES_OPEN_MAX; i++)
		if (fixture->cores[i])
			machine_hart_leave(fixture->cores[i]);
	machine_address_space_free(fixture->space);
	machine_close(fixture->machine);
	munmap(fixture->state, machine_state_size(&fixture->desc));
	free(fixture->signals);
}

static inline size_t count_signals(const struct fixture *fixture, enum pmu_signal_id id,
				   uint32_t qualifiers)
{
	size_t count = 0;

	for (size_t i = 0; i < fixture->count; i++)
		count += fixture->signals[i].id == id &&
			 (fixture->signals[i].qualifiers & qualifiers) == qualifiers;
	return count;
}

static inline uint64_t sum_durations(const struct fixture *fixture, enum pmu_signal_id id)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < fixture->count; i++)
		if (fixture->signals[i].id == id)
			sum += fixture->signals[i].duration;
	return sum;
}

static inline size_t count_requests(const struct fixture *fixture, enum signal_request request)
{
	size_t count = 0;

	for (size_t i = 0; i < fixture->count; i++)
		count += fixture->signals[i].id == SIGNAL_LLC_REQUEST &&
			 fixture->signals[i].request == request;
	return count;
}

/* Executes one instruction, so that the clock and the instruction number advance. */
static inline void step(struct fixture *fixture, unsigned core)
{
	struct machine_block block;

	machine_block_init(fixture->machine, &block, 0x400000, 4, 1, 0, 0);
	machine_run(fixture->cores[core], &block);
}

/* An E5-2699 v4 machine cut down to two cores and four slices a socket. */
static inline struct pmu_machine small_machine(void)
{
	struct pmu_machine desc = *pmu_find_machine("xeon-e5-2699v4-2s");

	desc.cores = 2;
	desc.slices = 4;
	desc.llc.sets = 64;
	desc.memory_bytes = 1 << 28;
	return desc;
}

#endif
