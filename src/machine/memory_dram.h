/*
 * The DRAM behind a channel: rows, banks, refresh, data bus. Each call fixes the cycles of the
 * commands that the request needs: the first ones that the calls before have left free.
 */
#ifndef MACHINE_MEMORY_DRAM_H
#define MACHINE_MEMORY_DRAM_H

#include "machine/memory_state.h"

/* DRAM cycles without a request after which the controller and its ranks count as idle. */
#define MEMORY_IDLE_CYCLES 200

void dram_init(struct memory_channel *channel, const struct pmu_machine *desc);

/**
 * Reads or writes a line with commands at @earliest or later.
 * @param cas  what its column access is for
 * @return the cycle of the CAS
 */
MACHINE_PATH uint64_t dram_read(struct memory_channel *channel, const struct memory_view *view,
				uint32_t line, uint64_t earliest, enum totals_cas cas);
uint64_t dram_write(struct memory_channel *channel, const struct memory_view *view, uint32_t line,
		    uint64_t earliest, enum totals_cas cas);

/**
 * As dram_read(), for a read that comes after others that were stamped later: it finds the rows of
 * its time open (memory_rows.h), and nothing that is known of the present holds it up.
 */
uint64_t dram_read_late(struct memory_channel *channel, const struct memory_view *view,
			uint32_t line, uint64_t earliest, enum totals_cas cas);

/** Issues the refreshes due by @now. */
void dram_refresh(struct memory_channel *channel, const struct memory_view *view, uint64_t now);

/** Last beat of the data that a read CAS at @cas brings. */
static inline uint64_t dram_read_end(const struct pmu_machine *desc, uint64_t cas)
{
	return cas + desc->t_cl + desc->t_burst;
}

static inline uint32_t dram_cas_qualifiers(enum totals_cas kind)
{
	static const uint32_t qualifiers[TOTALS_CAS] = {
	    [TOTALS_READ] = QUALIFIER_DRAM_CAS_READ | QUALIFIER_DRAM_CAS_READ_IN_READ_MODE,
	    [TOTALS_UNDERFILL] =
		QUALIFIER_DRAM_CAS_UNDERFILL | QUALIFIER_DRAM_CAS_READ_IN_READ_MODE,
	    [TOTALS_UNDERFILL_WRITING] =
		QUALIFIER_DRAM_CAS_UNDERFILL | QUALIFIER_DRAM_CAS_READ_IN_WRITE_MODE,
	    [TOTALS_WRITE] = QUALIFIER_DRAM_CAS_WRITE_IN_READ_MODE,
	    [TOTALS_WRITE_WRITING] = QUALIFIER_DRAM_CAS_WRITE_IN_WRITE_MODE,
	};

	return qualifiers[kind];
}

static inline uint32_t dram_activate_qualifiers(bool write)
{
	return write ? QUALIFIER_DRAM_ACTIVATE_WRITE : QUALIFIER_DRAM_ACTIVATE_READ;
}

static inline uint32_t dram_precharge_qualifiers(bool write)
{
	return QUALIFIER_DRAM_PRECHARGE_PAGE_MISS |
	       (write ? QUALIFIER_DRAM_PRECHARGE_WRITE : QUALIFIER_DRAM_PRECHARGE_READ);
}

/* A signal without rank and bank. @duration: of a span, or the number of a level. */
static inline __attribute__((always_inline)) void memory_emit(const struct memory_view *view,
							      enum pmu_signal_id id,
							      uint32_t qualifiers, uint64_t time,
							      uint64_t duration)
{
	machine_emit(view->port, (struct signal){.id = (uint16_t)id,
						 .socket = view->socket,
						 .unit = view->unit,
						 .qualifiers = qualifiers,
						 .time = time,
						 .duration = duration});
}

#endif
