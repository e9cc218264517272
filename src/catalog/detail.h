/*
 * Details of single things that happen in a core: what hardware records that captures one of them.
 * They belong to no PMU. by_address, by_mark and by_data say whether the subscriber's marks hold:
 * by the instruction's address, by its address and encoding, and by the data's address too.
 */
#ifndef CATALOG_DETAIL_H
#define CATALOG_DETAIL_H

#include <stdbool.h>
#include <stdint.h>

/* An instruction, for whoever gives marks. */
struct detail_code {
	uint64_t ip;	   /* of its bundle */
	uint64_t encoding; /* 41 bits */
	uint8_t unit;	   /* of its slot: 'M', 'I', 'F' or 'B' */
	bool either;	   /* one that M and I slots take */
};

/* A data access that missed, or a check that the ALAT failed. */
struct detail_miss {
	uint64_t ip, address;
	unsigned slot, bundle; /* bundle: 0 or 1, of the two that are dispersed at once */
	unsigned latency;      /* cycles until its value is there */
	bool stack;	       /* the register stack's: of no instruction */
	bool cache;	       /* a read that missed the first level */
	bool tlb, walk;	       /* it missed the first level of the TLB; the second too */
	bool alat;
	bool by_address, by_mark, by_data;
};

/* A fetch of code that missed. */
struct detail_fetch {
	uint64_t address; /* of 32 bytes */
	unsigned latency; /* cycles */
	bool cache, tlb, walk;
	bool by_address;
};

enum detail_branch_kind {
	DETAIL_BRANCH_IP_RELATIVE,
	DETAIL_BRANCH_RETURN,
	DETAIL_BRANCH_INDIRECT,
	DETAIL_BRANCH_CHECK, /* a failed check */
	DETAIL_BRANCH_EXCEPTION,
};

/* A branch, a failed check or an interruption that retired. */
struct detail_branch {
	uint64_t ip, target;
	unsigned slot, bundle;
	uint8_t kind; /* enum detail_branch_kind */
	bool taken, path_right, target_right;
	bool flushed; /* the pipeline */
	bool by_mark;
};

/* The instructions that retired in a cycle. */
struct detail_group {
	uint64_t ip; /* of their first bundle */
	uint64_t cycle;
	bool flushed; /* the pipeline was, since those before */
};

/* A request that left a core, and is over. */
struct detail_request {
	uint64_t address;
	uint64_t time;	  /* cycle of the clock outside of cores */
	uint64_t end;	  /* it has its data, or completion */
	uint64_t latency; /* the same in cycles of the core */
	uint64_t apart;	  /* of reads, in such cycles: the halves of the line */
	uint8_t message;  /* enum signal_message */
	uint8_t home;	  /* number of the home agent in the machine */
	bool reads;
	bool from_home; /* of reads: a home agent sent the line, not another cache */
};

/* Something that happened in a unit outside of cores: a signal of catalog/signals.json. */
struct detail_event {
	uint16_t id; /* enum pmu_signal_id */
	uint8_t socket, unit;
	uint32_t qualifiers;
	uint8_t message; /* enum signal_message */
	uint8_t state;	 /* enum signal_state */
	uint8_t node;
	uint8_t number;	 /* bank, as signals.json has it */
	uint64_t time;	 /* at which it happens or begins, in cycles of the unit's clock */
	uint64_t amount; /* spans: cycles; accumulators: how much */
};

#endif
