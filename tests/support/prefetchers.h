/* Prefetchers of a machine, for tests whose closed forms are those of demands alone. */
#ifndef TESTS_SUPPORT_PREFETCHERS_H
#define TESTS_SUPPORT_PREFETCHERS_H

#include "machine/machine.h"

static inline void set_all_prefetchers(struct machine *machine, uint32_t on)
{
	for (uint64_t cores = machine_all_cores(machine); cores; cores &= cores - 1)
		machine_set_prefetchers(machine, (unsigned)__builtin_ctzll(cores), on);
}

static inline void switch_prefetchers_off(struct machine *machine)
{
	set_all_prefetchers(machine, 0);
}

#endif
