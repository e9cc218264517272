/*
 * Where a line lies in a socket's LLC. Line X = q * slices + r is in slice (r + h(q)) mod slices,
 * set q mod sets; what is left of q is the tag.
 */
#ifndef MACHINE_PLACE_H
#define MACHINE_PLACE_H

#include "machine/state.h"

struct place {
	uint32_t slice; /* of the socket */
	uint32_t set;
	uint32_t tag;
};

/* q's hash, spread evenly over 0..slices-1. */
static inline uint32_t place_hash(uint32_t q, uint32_t slices)
{
	return (uint32_t)((uint64_t)(q * 0x9e3779b1u) * slices >> 32);
}

/* line / slices by multiplication: exact for lines of 31 bits. */
static inline uint32_t place_divide(const struct machine *machine, uint32_t line)
{
	return (uint32_t)(line * machine->slice_inverse >> machine->slice_shift);
}

static inline struct place place_of(const struct machine *machine, uint32_t line)
{
	const uint32_t slices = machine->desc->slices;
	uint32_t q = place_divide(machine, line);
	uint32_t slice = line - q * slices + place_hash(q, slices);

	return (struct place){
	    .slice = slice < slices ? slice : slice - slices,
	    .set = q & (machine->desc->llc.sets - 1),
	    .tag = q >> machine->llc_sets_log2,
	};
}

/*
 * Sets lie in memory by number and then by slice, as neighbouring lines come: their host lines and
 * pages are neighbours too.
 */
static inline struct llc_set *place_set(const struct machine *machine, unsigned socket,
					struct place place)
{
	size_t row = (size_t)socket * machine->desc->llc.sets + place.set;

	return &machine->llc[row * machine->desc->slices + place.slice];
}

/** The line that lies there. */
static inline uint32_t place_line(const struct machine *machine, struct place place)
{
	const uint32_t slices = machine->desc->slices;
	uint32_t q = place.tag << machine->llc_sets_log2 | place.set;
	uint32_t r = place.slice + slices - place_hash(q, slices);

	return q * slices + (r < slices ? r : r - slices);
}

#endif
