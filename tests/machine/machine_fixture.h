/* A machine with a subscriber that keeps what it emits, and cores that one thread drives. */
#ifndef TESTS_MACHINE_MACHINE_FIXTURE_H
#define TESTS_MACHINE_MACHINE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "machine/access.h"

#define CORES_OPEN_MAX 64

struct scene {
	struct pmu_machine desc;
	void *state;
	struct machine *machine;
	struct machine_address_space *space;
	struct machine_hart *cores[CORES_OPEN_MAX]; /* by number; NULL: not entered */
	uint8_t enabled[SIGNAL_COUNT];
	struct signal *signals;
	size_t count, room;
};

static const struct machine_insn plain = {0, 0};

static inline void keep_signal(void *subscriber, const struct signal *signal)
{
	struct scene *scene = subscriber;

	if (scene->count == scene->room) {
		scene->room = scene->room ? 2 * scene->room : 1024;
		scene->signals = realloc(scene->signals, scene->room * sizeof(*signal));
		assert_non_null(scene->signals);
	}
	scene->signals[scene->count++] = *signal;
}

/* Nobody subscribes yet. */
static inline void open_machine(struct scene *scene, const struct pmu_machine *desc)
{
	size_t size = machine_state_size(desc);

	memset(scene, 0, sizeof(*scene));
	scene->desc = *desc;
	scene->state = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(scene->state != MAP_FAILED);
	assert_int_equal(machine_open(&scene->machine, NULL, &scene->desc, scene->state, true), 0);
	assert_int_equal(machine_address_space_new(&scene->space, scene->machine), 0);
}

static inline void subscribe_to(struct scene *scene, enum pmu_signal_id id)
{
	struct signal_port port = {
	    .subscriber = scene, .emit = keep_signal, .enabled = scene->enabled};

	scene->enabled[id] = 1;
	machine_connect(scene->machine, &port);
}

static inline void subscribe_to_all(struct scene *scene)
{
	for (int id = SIGNAL_NONE + 1; id < SIGNAL_COUNT; id++)
		subscribe_to(scene, (enum pmu_signal_id)id);
}

/* All cores of the machine; each is then free to be driven by this thread. */
static inline void enter_all(struct scene *scene)
{
	for (unsigned i = 0; i < scene->desc.sockets * scene->desc.cores; i++) {
		scene->cores[i] = machine_hart_enter(scene->machine, scene->space, 0);
		assert_non_null(scene->cores[i]);
	}
}

static inline void close_machine(struct scene *scene)
{
	for (unsigned i = 0; i < CORES_OPEN_MAX; i++)
		if (scene->cores[i])
			machine_hart_leave(scene->cores[i]);
	machine_address_space_free(scene->space);
	machine_close(scene->machine);
	munmap(scene->state, machine_state_size(&scene->desc));
	free(scene->signals);
}

static inline size_t count_signals(const struct scene *scene, enum pmu_signal_id id,
				   uint32_t qualifiers)
{
	size_t count = 0;

	for (size_t i = 0; i < scene->count; i++)
		count += scene->signals[i].id == id &&
			 (scene->signals[i].qualifiers & qualifiers) == qualifiers;
	return count;
}

static inline uint64_t sum_durations(const struct scene *scene, enum pmu_signal_id id)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < scene->count; i++)
		if (scene->signals[i].id == id)
			sum += scene->signals[i].duration;
	return sum;
}

/* Executes one instruction, so that the clock and the instruction number advance. */
static inline void step(struct scene *scene, unsigned core)
{
	struct machine_block block;

	machine_block_init(scene->machine, &block, 0x400000, 4, 1, 0, 0);
	machine_run(scene->cores[core], &block);
}

/* An E5-2699 v4 machine cut down to two cores and four slices a socket. */
static inline struct pmu_machine small_machine(void)
{
	struct pmu_machine desc = *pmu_find_machine("xeon-e5-2699v4-2s");

	desc.cores = 2;
	desc.slices = 4;
	desc.llc.sets = 64;
	return desc;
}

#endif
