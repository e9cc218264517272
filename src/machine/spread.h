/* Micro-operations on the ports that can take them, so that the one used most is used least. */
#ifndef MACHINE_SPREAD_H
#define MACHINE_SPREAD_H

#include <stdint.h>

#include "machine/uarch.h"

#define SPREAD_SETS 128 /* of ports */

struct spread {
	uint32_t counts[SPREAD_SETS]; /* micro-operations by the set of their ports */
	uint32_t units[UARCH_PORTS];  /* of UARCH_CYCLE */
};

/** Adds all of @uses, up to the first without a count. */
static inline void spread_add_uses(struct spread *spread, const struct machine_port_use *uses)
{
	for (unsigned i = 0; i < UARCH_USES_MAX && uses[i].count; i++)
		spread->counts[uses[i].ports] += uses[i].count;
}

/** Keeps one port for so many units. */
static inline void spread_keep(struct spread *spread, unsigned port, uint32_t units)
{
	spread->units[port] += units;
}

/* Puts what was added for a set on its ports. */
static inline void spread_put(struct spread *spread, uint32_t set)
{
	const uint32_t step = UARCH_CYCLE / 4;

	for (uint32_t left = spread->counts[set] * UARCH_CYCLE; left; left -= step) {
		unsigned best = (unsigned)__builtin_ctz(set);

		for (uint32_t rest = set; rest; rest &= rest - 1) {
			unsigned port = (unsigned)__builtin_ctz(rest);

			if (spread->units[port] < spread->units[best])
				best = port;
		}
		spread->units[best] += step;
	}
	spread->counts[set] = 0;
}

/** Puts what was added on ports, those first that have the fewest to choose from. */
static inline void spread_settle(struct spread *spread)
{
	uint8_t sets[SPREAD_SETS];
	unsigned count = 0;

	for (unsigned set = 1; set < SPREAD_SETS; set++)
		if (spread->counts[set])
			sets[count++] = (uint8_t)set;
	for (int choice = 1; count && choice <= 7; choice++)
		for (unsigned i = 0; i < count; i++)
			if (__builtin_popcount(sets[i]) == choice)
				spread_put(spread, sets[i]);
}

/** Units of the port that is used most. */
static inline uint32_t spread_most(const struct spread *spread)
{
	uint32_t most = 0;

	for (unsigned port = 0; port < UARCH_PORTS; port++)
		most = spread->units[port] > most ? spread->units[port] : most;
	return most;
}

#endif
