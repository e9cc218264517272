/*
 * The prefetchers of L1D (Intel 248966, data prefetch to L1): for a load whose line is new to the
 * L0 filter, the lines to ask for. They stay in the load's page of 4 KB, and ask for nothing while
 * many misses are outstanding.
 */
#ifndef MACHINE_PREFETCH_L1_H
#define MACHINE_PREFETCH_L1_H

#include "machine/state.h"

#define PREFETCH_L1_MAX 2

/**
 * A load of @address by the instruction at @place.
 * @param on     bit: enum machine_prefetcher
 * @param lines  receives virtual lines
 * @return their number
 */
unsigned prefetch_l1(struct machine_strides *strides, uint32_t on, uint64_t address, uint8_t place,
		     uint64_t lines[PREFETCH_L1_MAX]);

#endif
