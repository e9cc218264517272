/* What a memory channel remembers. Included by machine/memory.h only; times are DRAM cycles. */
#ifndef MACHINE_MEMORY_STATE_H
#define MACHINE_MEMORY_STATE_H

#define MEMORY_RANKS_MAX  8
#define MEMORY_ROW_CLOSED UINT64_MAX

struct memory_bank {
	uint64_t row;	    /* open one, or MEMORY_ROW_CLOSED */
	uint64_t ready;	    /* open: earliest CAS; closed: earliest activate */
	uint64_t pre_ready; /* open: earliest precharge */
};

struct memory_rank {
	uint64_t read_ready; /* earliest read CAS after the last write (t_wtr) */
	uint64_t used_until; /* last beat of its last data */
};

struct memory_dram {
	/* Commands of a kind leave in the order of the requests, one a cycle. */
	uint64_t next_pre, next_act, next_cas;
	uint64_t data_end;   /* the data bus is free from here on */
	struct calendar bus; /* its use, where requests of several cores come */
	uint8_t bus_rank;    /* whose data were the last on it */
	bool bus_write;
	uint64_t refresh_due; /* the next one, of rank truth.refreshes % ranks */
	uint64_t refresh_end; /* of the last one */
	struct memory_rank ranks[MEMORY_RANKS_MAX];
	struct memory_bank banks[MEMORY_BANKS_MAX]; /* by rank, then bank */
};

/* The latest rpq_entries departures in rising order, a ring whose smallest is at head. */
struct memory_rpq {
	uint64_t departures[MEMORY_QUEUE_MAX];
	uint32_t head;
};

/* A ring: from head on, oldest first, entries whose CAS is fixed, then waiting ones. */
struct memory_wpq {
	uint64_t lines[MEMORY_QUEUE_MAX];
	uint64_t entered[MEMORY_QUEUE_MAX];
	uint64_t leaves[MEMORY_QUEUE_MAX]; /* cycle of the CAS, of scheduled ones */
	uint64_t partial;		   /* bit: ring index */
	uint32_t head, scheduled, waiting;
};

struct memory_channel {
	uint64_t now;	    /* latest arrival seen */
	uint64_t idle_from; /* without a new request the controller writes from here on */
	uint64_t mode_end;  /* of the last write major mode */
	bool writing;	    /* that mode's end is not announced: it may still be prolonged */
	uint32_t column_bits, bank_bits;
	struct memory_statistics stats;
	struct memory_dram dram;
	struct memory_rpq rpq;
	struct memory_wpq wpq;
};

#endif
