/*
 * Emulated machines that run: made or joined by name, driven by hand or by a program (program.h),
 * measured over a bus like a real one.
 *
 * A machine stands still by itself: time passes where harts execute, and by pmu_emul_pass().
 * Several threads may use a machine, each with a context of its own.
 */
#ifndef PMULAB_EMUL_H
#define PMULAB_EMUL_H

#include "pmulab/bus.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct pmu_emul;

/**
 * Builds a machine, powered on and reset.
 * @param machine  its description, which must outlive it
 * @return 0; PMU_E_UNSUPPORTED for a description beyond the emulator's limits, which the message
 *         names; PMU_E_UNKNOWN for a PMU that the catalog has not; PMU_E_NOMEM, PMU_E_IO. *emul is
 *         the caller's
 */
int pmu_emul_new(struct pmu_emul **emul, struct pmu_ctx *ctx, const struct pmu_machine *machine);

/**
 * Joins a machine that another process of this user, or of root, offers by name: pmulab emulate
 * --name NAME, or pmu_emul_offer().
 * @return 0; PMU_E_UNKNOWN with the names that there are; PMU_E_RIGHTS, PMU_E_RANGE, PMU_E_IO
 */
int pmu_emul_attach(struct pmu_emul **emul, struct pmu_ctx *ctx, const char *name);

/**
 * Offers the machine by name until it is freed. A thread of the library answers who joins.
 * @param name  1 to 100 characters of printable ASCII, no blanks and commas
 * @return 0; PMU_E_CONFLICT for a name that is taken; PMU_E_STATE for a machine that was joined or
 *         is offered already; PMU_E_RANGE, PMU_E_NOMEM, PMU_E_IO
 */
int pmu_emul_offer(struct pmu_emul *emul, struct pmu_ctx *ctx, const char *name);

/**
 * Leaves the machine, which ends with the last process that has it; NULL is allowed. Its harts and
 * buses are freed before.
 */
void pmu_emul_free(struct pmu_emul *emul);

/** The machine's description; lives as long as @emul. */
const struct pmu_machine *pmu_emul_machine(const struct pmu_emul *emul);

/**
 * A bus to the registers of @emul, which must outlive it. Any number of them may be opened.
 * @return 0, PMU_E_NOMEM; *bus is the caller's
 */
int pmu_emul_bus(struct pmu_bus **bus, struct pmu_ctx *ctx, struct pmu_emul *emul);

/** Time since power on: the latest that any core or device has reached, in nanoseconds. */
double pmu_emul_time_ns(const struct pmu_emul *emul);

/**
 * Lets time pass in which nothing executes. Without effect while a hart or a program is on a core:
 * the time is theirs then. A machine with IA-64 cores has no time but its programs'.
 */
void pmu_emul_pass(struct pmu_emul *emul, uint64_t ns);

/**
 * From now on threads of programs run one at a time, in turns by emulated time: a program without
 * data races, whose input and clocks are the same, gives the same counts each time. It takes
 * longer, as one processor of this computer does all. Before the program starts. Harts are not
 * affected: who drives them decides their order.
 */
void pmu_emul_take_turns(struct pmu_emul *emul);

/**
 * Threads of programs run on these cores, unless the program chooses others itself. Before the
 * program starts.
 * @param cpus  numbers over all sockets from 0 on, and ranges: "0,2-3"
 * @return 0; PMU_E_RANGE for what is no such list; PMU_E_UNSUPPORTED for IA-64 cores
 */
int pmu_emul_pin(struct pmu_emul *emul, struct pmu_ctx *ctx, const char *cpus);
/**
 * Pages that are touched from now on come from the memory of these sockets: of the one that touches
 * if it is among them, else of the first.
 * @param nodes        numbers from 0 on, and ranges
 * @param interleaved  of one after the other, page by page
 * @return as pmu_emul_pin()
 */
int pmu_emul_bind_memory(struct pmu_emul *emul, struct pmu_ctx *ctx, const char *nodes,
			 bool interleaved);

/**
 * Programs have the machine's clocks: clock_gettime() and gettimeofday() show its time, which began
 * now, and sleeping takes as long there. Under QEMU only; time(), RDTSC, CPU times and timeouts
 * stay the computer's. Before the program starts. Without effect for IA-64 cores.
 */
void pmu_emul_set_clock(struct pmu_emul *emul);

/**
 * What the system copies goes through the caches of the core that calls it, as loads and stores
 * which count as the program's: the data of read(), write() and the like, and pages that it clears
 * or copies at their first touch. Before the program starts.
 * @return 0; PMU_E_UNSUPPORTED for IA-64 cores
 */
int pmu_emul_set_kernel_io(struct pmu_emul *emul, struct pmu_ctx *ctx);

/**
 * Switches the prefetchers of all cores: those of @prefetchers on, the others off. They are as the
 * machine's description says before. A core's own can be switched by its register at any time.
 * @param prefetchers  "all", "none", or names: "streamer,adjacent,next-line,stride"
 * @return 0; PMU_E_RANGE for what is no such list; PMU_E_UNSUPPORTED for IA-64 cores
 */
int pmu_emul_set_prefetchers(struct pmu_emul *emul, struct pmu_ctx *ctx, const char *prefetchers);

/** Lets time pass until nothing is in flight: fills, write queues, refreshes that are due. */
void pmu_emul_drain(struct pmu_emul *emul);

/* What really happened since power on, sums over all cores and sockets: no register limits them. */
struct pmu_emul_statistics {
	size_t size;		       /* of this struct, set by the caller */
	uint64_t instructions, cycles; /* cycles: of all cores while not paused */
	uint64_t branches;
	/* Line accesses: those that cross a line are counted twice. */
	uint64_t loads, stores, locked, fetches, non_temporal_stores;
	uint64_t l1d_misses, l1i_misses; /* l1d: stores that find the line shared too */
	uint64_t l2_misses;		 /* reads and ownership requests sent to the LLC */
	uint64_t l2_writebacks;
	uint64_t write_combined_lines;
	uint64_t llc_lookups;	 /* of all requests and snoops */
	uint64_t llc_misses;	 /* reads and ownership requests that found nothing */
	uint64_t llc_victims;	 /* lines that made room */
	uint64_t llc_writebacks; /* modified lines to a home agent */
	uint64_t home_reads, home_ownerships, home_writes, snoops;
	uint64_t snoop_writebacks;	  /* data that a snoop sends to memory */
	uint64_t dram_reads, dram_writes; /* CAS commands */
	uint64_t dram_underfills;	  /* reads for partial writes, among the reads */
	uint64_t write_queue_read_hits, write_queue_write_hits;
	/* Sums over all entries of the time in it. */
	uint64_t tor_cycles, tracker_cycles;		/* uncore cycles */
	uint64_t read_queue_cycles, write_queue_cycles; /* DRAM cycles */
	uint64_t threads_not_measured;			/* of programs, and forked processes */
};

/**
 * Fills in the first @statistics->size bytes.
 * @return 0, or PMU_E_RANGE where size is not set
 */
int pmu_emul_statistics(const struct pmu_emul *emul, struct pmu_emul_statistics *statistics);

/*
 * A hart: a hardware thread that executes what its owner calls. One thread at a time uses it. Harts
 * that run at the same time keep together in emulated time, so that one which does not go on for a
 * while is to be paused.
 */
struct pmu_hart;

struct pmu_hart_options {
	size_t size;		 /* of this struct, set by the caller */
	struct pmu_hart *sharer; /* whose address space it shares; NULL: one of its own. Either may
				    be freed first */
	uint64_t not_before_ns;	 /* the earliest time on its clock */
};

/**
 * Puts a hart on the free core with the lowest number, or, where all are taken, on the least loaded
 * one, which its harts then have in turns.
 * @param options  NULL: an address space of its own, no earliest time
 * @return 0, PMU_E_NOMEM, PMU_E_RANGE for a size that is not set, PMU_E_CONFLICT for a sharer of
 *         another machine, PMU_E_UNSUPPORTED for a machine whose cores take whole programs only
 */
int pmu_hart_new(struct pmu_hart **hart, struct pmu_ctx *ctx, struct pmu_emul *emul,
		 const struct pmu_hart_options *options);

/** Ends the hart: its write-combining buffers drain, its core is free. NULL is allowed. */
void pmu_hart_free(struct pmu_hart *hart);

/** The hart waits: others have its core and need not wait for it. Any call but free resumes it. */
void pmu_hart_pause(struct pmu_hart *hart);

/* Straight-line code. */
struct pmu_code {
	uint64_t address;      /* virtual, of its first byte */
	uint32_t bytes;	       /* 1 to 65536 */
	uint32_t instructions; /* 1 or more; loads, stores and branches are among them */
	uint32_t loads, stores, branches;
	uint32_t reserved[4]; /* 0 */
};

/**
 * Executes the code once: fetches its lines and advances the clock as if nothing missed the first
 * level; what its loads and stores touch is said by the calls below, after it.
 * @return 0, or PMU_E_RANGE
 */
int pmu_hart_execute(struct pmu_hart *hart, const struct pmu_code *code);

/* On what the time of a memory access depends, and what depends on it. */
struct pmu_dependence {
	uint16_t address_registers; /* bit n: general register n (0 to 15) forms the address */
	uint16_t loaded_registers;  /* general registers that receive what is loaded */
	uint32_t reserved;	    /* 0 */
};

/*
 * Memory accesses at virtual addresses below 2^47, of 1 to 64 bytes. Pages of 4096 bytes are placed
 * at first touch, on the memory of the hart's socket.
 * @param dependence  NULL: of no other access
 * @return 0, or PMU_E_RANGE
 */
int pmu_hart_load(struct pmu_hart *hart, uint64_t address, uint32_t bytes,
		  const struct pmu_dependence *dependence);
int pmu_hart_store(struct pmu_hart *hart, uint64_t address, uint32_t bytes,
		   const struct pmu_dependence *dependence);
/** A locked read-modify-write: one call for both. */
int pmu_hart_locked(struct pmu_hart *hart, uint64_t address, uint32_t bytes,
		    const struct pmu_dependence *dependence);
/** A non-temporal store, which goes around the caches. */
int pmu_hart_store_non_temporal(struct pmu_hart *hart, uint64_t address, uint32_t bytes);

/** The hart's own clock, nanoseconds since power on. */
double pmu_hart_time_ns(const struct pmu_hart *hart);
/** Instructions that it has executed. */
uint64_t pmu_hart_instructions(const struct pmu_hart *hart);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
