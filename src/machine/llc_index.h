/*
 * Where a line lies in a socket's LLC. Line X = q * slices + r is in slice (r + h(q)) mod slices,
 * set q mod sets; what is left of q is the tag.
 */
#ifndef MACHINE_LLC_INDEX_H
#define MACHINE_LLC_INDEX_H

#include "machine/state.h"

struct llc_index {
	uint32_t slice; /* of the socket */
	uint32_t set;
	uint32_t tag;
};

/* q's hash, spread evenly over 0..slices-1. */
static inline uint32_t llc_index_hash(uint32_t q, uint32_t slices)
{
	return (uint32_t)((uint64_t)(q * 0x9e3779b1u) * slices >> 32);
}

static inline struct llc_index llc_index_of(const struct machine *machine, uint32_t line)
{
	const uint32_t slices = machine->desc->slices;
	uint32_t q = divide(&machine->per_slice, line);
	uint32_t slice = line - q * slices + llc_index_hash(q, slices);

	return (struct llc_index){
	    .slice = slice < slices ? slice : slice - slices,
	    .set = q & (machine->desc->llc.sets - 1),
	    .tag = q >> machine->llc_sets_log2,
	};
}

/*
 * Sets lie in memory by number and then by slice, as neighbouring lines come: their host lines and
 * pages are neighbours too.
 */
static inline struct llc_set *llc_index_set(const struct machine *machine, unsigned socket,
					    struct llc_index index)
{
	return &machine->llc[socket].sets[(size_t)index.set * machine->desc->slices + index.slice];
}

/** The line that lies there. */
static inline uint32_t llc_index_line(const struct machine *machine, struct llc_index index)
{
	const uint32_t slices = machine->desc->slices;
	uint32_t q = index.tag << machine->llc_sets_log2 | index.set;
	uint32_t r = index.slice + slices - llc_index_hash(q, slices);

	return q * slices + (r < slices ? r : r - slices);
}

#endif
