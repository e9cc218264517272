/* What a memory channel remembers. It holds no pointers; times are DRAM cycles. */
#ifndef MACHINE_MEMORY_STATE_H
#define MACHINE_MEMORY_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "catalog/description.h"
#include "catalog/signal.h"
#include "machine/calendar.h"
#include "machine/divisor.h"
#include "machine/memory_activates.h"
#include "machine/memory_rows.h"
#include "machine/totals.h"

#define MEMORY_BANKS_MAX  128 /* ranks * banks of a channel */
#define MEMORY_QUEUE_MAX  64  /* entries of RPQ or WPQ */
#define MEMORY_RANKS_MAX  8
#define MEMORY_GROUPS_MAX 8 /* of banks, in a rank */
#define MEMORY_ROW_CLOSED ROWS_NONE

/* Totals since memory_init(), for machine_statistics() and tests. */
struct memory_statistics {
	uint64_t reads, writes;		/* requests */
	uint64_t cas_reads, cas_writes; /* underfills are in cas_reads */
	uint64_t underfills, wpq_read_hits, wpq_write_hits;
	uint64_t activates, precharges, refreshes;
	uint64_t rpq_cycles, wpq_cycles; /* sums of the time entries were held */
};

/* A process's view: where to emit and who is emitting. */
struct memory_view {
	const struct pmu_machine *desc;
	const struct signal_port *port;
	uint8_t socket;
	uint8_t unit; /* number of the channel in its socket */
};

static inline uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

struct memory_bank {
	uint32_t row;	    /* open one, or MEMORY_ROW_CLOSED */
	uint64_t pre_ready; /* open: earliest precharge */
	uint64_t written;   /* earliest precharge after its last write */
	uint64_t latest;    /* request */
};

struct memory_rank {
	/* By bank group: t_ccd_l after its last CAS. */
	uint64_t group_ready[MEMORY_GROUPS_MAX];
	/* What of the data bus is taken for the rank's reads, with the gaps beside those of others,
	 * and what of each bank group. */
	struct calendar bus, groups[MEMORY_GROUPS_MAX];
	struct memory_activates activates;
	uint64_t read_ready;		      /* earliest read CAS after the last write (t_wtr) */
	uint64_t used_until;		      /* last beat of its last data */
	uint64_t refresh_from, refresh_until; /* the last one, with the precharge before it */
};

struct memory_dram {
	uint64_t next_cas; /* after the last one of those in the order of requests */
	uint64_t data_end; /* the data bus is free from here on */
	uint8_t bus_rank;  /* whose data were the last on it */
	bool bus_write;
	uint64_t refresh_due; /* the next one, of rank stats.refreshes % ranks */
	uint64_t refresh_end; /* of the last one */
	struct memory_rank ranks[MEMORY_RANKS_MAX];
	struct memory_bank banks[MEMORY_BANKS_MAX]; /* by rank, then bank */
	struct memory_rows rows[MEMORY_BANKS_MAX];  /* of each */
};

/* The latest rpq_entries departures in rising order, a ring whose smallest is at head. */
struct memory_rpq {
	uint64_t departures[MEMORY_QUEUE_MAX];
	uint64_t accepted[MEMORY_QUEUE_MAX]; /* of the same; departure: as TOTALS_NONE */
	uint32_t head;
};

/* A ring: from head on entries whose CAS is fixed, in its order, then waiting ones, oldest first.
 */
struct memory_wpq {
	uint32_t lines[MEMORY_QUEUE_MAX];
	uint64_t entered[MEMORY_QUEUE_MAX];
	uint64_t leaves[MEMORY_QUEUE_MAX]; /* cycle of the CAS, of scheduled ones */
	uint64_t partial;		   /* bit: ring index */
	uint32_t causes[MEMORY_QUEUE_MAX]; /* of the writes: see cause.h */
	uint8_t hashed[256];		   /* how many of the lines held have this hash */
	uint32_t head, scheduled, waiting;
	uint32_t emitted; /* how many were held when that was last emitted */
};

struct memory_channel {
	uint64_t now;	    /* latest arrival seen */
	uint64_t idle_from; /* without a new request the controller writes from here on */
	uint64_t mode_end;  /* of the last write major mode */
	bool writing;	    /* that mode's end is not emitted: it may still be prolonged */
	/* Bits of a line's number: which of two bank groups, with its column, other bits of the
	 * bank. */
	uint32_t spread_bits, block_bits, bank_bits;
	uint32_t group_bits, group_shift; /* of a bank's number: its bank group */
	uint32_t group_apart;		  /* cycles from one CAS to the next in a bank group */
	uint32_t read_to_pre;		  /* cycles from a read's CAS to a precharge of its bank */
	uint32_t window_log2;		  /* cycles of a window: see memory_rows.h */
	struct activate_limits activate_limits;
	struct divisor per_rank; /* desc->ranks */
	struct memory_statistics stats;
	struct memory_dram dram;
	struct memory_rpq rpq;
	struct memory_wpq wpq;
	_Alignas(64) struct channel_totals totals; /* not reported yet */
};

#endif
