/*
 * The DRAM behind a channel: rows, banks, refresh, data bus. It serves requests in the order of the
 * calls; each call fixes the cycles of the commands that the request needs.
 */
#ifndef MACHINE_MEMORY_DRAM_H
#define MACHINE_MEMORY_DRAM_H

#include "machine/memory_state.h"

/* DRAM cycles without a request after which the controller and its ranks count as idle. */
#define MEMORY_IDLE_CYCLES 200

void dram_init(struct memory_channel *channel, const struct pmu_machine *desc);

/**
 * Reads or writes a line with commands at @earliest or later.
 * @param qualifiers  QUALIFIER_DRAM_CAS_... of its column access
 * @return the cycle of the CAS, later than that of the call before
 */
uint64_t dram_read(struct memory_channel *channel, const struct memory_view *view, uint32_t line,
		   uint64_t earliest, uint32_t qualifiers);
uint64_t dram_write(struct memory_channel *channel, const struct memory_view *view, uint32_t line,
		    uint64_t earliest, uint32_t qualifiers);

/**
 * As dram_read(), for a read that comes after others that were stamped later: its data go over the
 * bus when that is free, before the others' or between them. What its bank was used for between is
 * not known any more; its row commands are issued as soon as can be.
 */
uint64_t dram_read_late(struct memory_channel *channel, const struct memory_view *view,
			uint32_t line, uint64_t earliest, uint32_t qualifiers);

/** Issues the refreshes due by @now. */
void dram_refresh(struct memory_channel *channel, const struct memory_view *view, uint64_t now);

/** Last beat of the data that a read CAS at @cas brings. */
static inline uint64_t dram_read_end(const struct pmu_machine *desc, uint64_t cas)
{
	return cas + desc->t_cl + desc->t_burst;
}

/* A signal without rank and bank. @duration: of a span, or the number of a level. */
static inline __attribute__((always_inline)) void memory_emit(const struct memory_view *view,
							      enum pmu_signal_id id,
							      uint32_t qualifiers, uint64_t time,
							      uint64_t duration)
{
	signal_emit(view->port, (struct signal){.id = (uint16_t)id,
						.socket = view->socket,
						.unit = view->unit,
						.qualifiers = qualifiers,
						.time = time,
						.duration = duration});
}

#endif
