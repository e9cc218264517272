/*
 * The emulated machine: sockets, cores with private caches, LLC slices, home agents, memory
 * channels, links. It executes the memory accesses that a feed gives it, keeps time, and emits
 * signals. It knows no PMU. docs/machine.md describes what it does with each access.
 *
 * All state is one block of memory without pointers, so that processes can share it; struct machine
 * is a process's own view of it.
 *
 * Time is counted in ticks, the largest unit of which core, uncore and DRAM cycles are multiples.
 */
#ifndef MACHINE_MACHINE_H
#define MACHINE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalog/description.h"
#include "catalog/signal.h"
#include "machine/kept_times.h"
#include "machine/memory_policy.h"
#include "machine/prefetcher.h"

struct machine;
struct machine_hart;
struct machine_address_space;

/**
 * Whether such a machine can be built. @return 0, or PMU_E_UNSUPPORTED; the message names the limit
 */
int machine_check(struct pmu_ctx *ctx, const struct pmu_machine *desc);

/** Bytes of shared state that a machine of this description needs, which machine_check() allows. */
size_t machine_state_size(const struct pmu_machine *desc);

/**
 * Makes a view of the machine in @state (machine_state_size() bytes, aligned to 64).
 * @param fresh  the state is new: initialise it (zeroed memory); otherwise attach to it
 * @return 0, PMU_E_NOMEM, or PMU_E_UNSUPPORTED for a geometry that was not compiled in
 */
int machine_open(struct machine **machine, struct pmu_ctx *ctx, const struct pmu_machine *desc,
		 void *state, bool fresh);
void machine_close(struct machine *machine);

/** Connects the subscriber of this view's signals; NULL disconnects. */
void machine_connect(struct machine *machine, const struct signal_port *port);
/** The signals of which the machine can keep totals: SIGNAL_COUNT bytes, by id, not 0 for those. */
const uint8_t *machine_totals(void);

/*
 * Address spaces: the machine places pages on frames at first touch, on the node of the core that
 * touches, in order. One a process; shared by its threads.
 */
int machine_address_space_new(struct machine_address_space **space, struct machine *machine);
void machine_address_space_free(struct machine_address_space *space);
/**
 * In a process that a fork has made, before it has a hart, of its copy of the parent's: pages have
 * the parent's frames until they are written, and what was said of ranges holds.
 */
void machine_address_space_inherit(struct machine_address_space *space);
/**
 * Where pages are placed that are touched from now on.
 * @param nodes        bit: a socket's memory; 0: that of the core that touches
 * @param interleaved  on these in turns; else on the toucher's, where it is among them, or the
 * first
 */
void machine_bind_memory(struct machine *machine, uint32_t nodes, bool interleaved);

/**
 * Takes a place on a core for a thread: the free core with the lowest number, or, where all are
 * taken, the least loaded one, which its threads then share in turns. So who makes threads decides
 * where they run, by the order in which it makes them. The place is the calling thread's until the
 * new one is named or starts. The threads that run wait for it from now on; only where it was not
 * made after all, machine_hart_leave() ends that.
 * @param not_before  ticks: its clock is no less then
 * @return NULL where there is no memory, or where each core has 1,024 threads
 */
struct machine_hart *machine_hart_place(struct machine *machine, uint64_t not_before);
/** The same among the cores, numbered over all sockets, whose bits are set in @cpus. */
struct machine_hart *machine_hart_place_on(struct machine *machine, uint64_t cpus,
					   uint64_t not_before);
/** For the thread that took the place: says which thread of the host has been made for it. */
void machine_hart_name(struct machine_hart *core, uint32_t thread);
/** The cores on which a hart may run, as its place was taken. */
uint64_t machine_hart_cpus(const struct machine_hart *core);
/** Where its pages are placed: kept when its process becomes another program. */
void machine_hart_set_memory(struct machine_hart *core, struct machine_memory_policy policy);
struct machine_memory_policy machine_hart_memory(const struct machine_hart *core);
/**
 * Ticks that its thread has executed instructions for, wherever since its place was taken, before
 * its process became another program too.
 */
uint64_t machine_hart_ran(const struct machine_hart *core);
/**
 * The same of threads that have a place.
 * @param process  of the host
 * @param thread   of the host; 0: all of the process
 */
uint64_t machine_ran(struct machine *machine, uint32_t process, uint32_t thread);
/**
 * Keeps what a process has executed for, instead of what was kept of it before.
 * @param process  of the host
 */
void machine_keep_times(struct machine *machine, uint32_t process, struct machine_times times);
/** What was kept is not any more. @return whether it was, and is among the latest */
bool machine_take_times(struct machine *machine, uint32_t process, struct machine_times *times);
/** The core that it has, over all sockets. */
unsigned machine_hart_core(const struct machine_hart *core);
/**
 * A thread that may not run on its core any more leaves it. @return its place on another, to start
 * on; NULL where there is none. @core is freed
 */
struct machine_hart *machine_hart_move(struct machine_hart *core, uint64_t cpus);
/** Where programs may run that do not say so themselves: @cpus of machine_all_cores(). */
void machine_pin(struct machine *machine, uint64_t cpus);
uint64_t machine_pinned(const struct machine *machine);
/** Programs are to have the machine's clocks. @param power_on_ns  time of day at tick 0, in ns */
void machine_set_clock(struct machine *machine, uint64_t power_on_ns);
/** @return what was set; 0: programs have other clocks */
uint64_t machine_clock(const struct machine *machine);
/** What the system reads and writes for programs goes through the caches: see copy.h, fill.h. */
void machine_set_kernel_io(struct machine *machine);
bool machine_has_kernel_io(const struct machine *machine);
/** A bit for each core, over all sockets; and the socket of one. */
uint64_t machine_all_cores(const struct machine *machine);
unsigned machine_socket_of(const struct machine *machine, unsigned core);
/**
 * The calling thread starts on the core that was taken for it. It holds the core until it pauses or
 * leaves.
 * @return false, and the hart is freed, where the thread that took the place has died, and there is
 *         no other place
 */
bool machine_hart_start(struct machine_hart *core, struct machine_address_space *space);
/** Both at once. */
struct machine_hart *machine_hart_enter(struct machine *machine,
					struct machine_address_space *space, uint64_t not_before);
/**
 * For feeds of this process's view that run one thread at a time: where a thread would wait for
 * others, @defer is called instead, from machine_run(). The feed then lets others run, and calls
 * machine_hart_wait() before the thread goes on. Entering and resuming may wait all the same.
 */
void machine_defer_waits(struct machine *machine, void (*defer)(void));
/**
 * For emulators that stop all threads of a process at times, and wait until each has come to the
 * end of a block: one that waits for its turn calls @rest(true) when others are halted, and
 * @rest(false) before it goes on. In between the emulator need not wait for it.
 */
void machine_set_rest(struct machine *machine, void (*rest)(bool rests));
/**
 * The other threads of the process rest, until they are released: those that wait for their turn,
 * where this one has it. Without turns both do nothing.
 */
void machine_hart_halt_others(struct machine_hart *core);
void machine_hart_release_others(struct machine_hart *core);
/** In the child of a fork, which has none of the other threads. */
void machine_forked(struct machine *machine);
/** Waits until the core is no more ahead of others than it may be. */
void machine_hart_wait(struct machine_hart *core);
/** Whether it may go on, where threads take turns: others may have, while it could not. */
bool machine_hart_has_turn(const struct machine_hart *core);

/** The thread blocks or waits outside (a system call): others may take the core and the time. */
void machine_hart_pause(struct machine_hart *core);
/** The thread has slept for @ticks of the machine's time: if it is paused, before it resumes. */
void machine_hart_sleep(struct machine_hart *core, uint64_t ticks);
/**
 * As machine_hart_pause(), for a call that never blocks: the thread keeps its turn, and the core if
 * no other waits for it. The others wait for the thread as if it ran: the call takes no time,
 * however long it takes in the host.
 */
void machine_hart_pause_briefly(struct machine_hart *core);
/** The call, in which the thread has paused, may wait until the child that it makes executes. */
void machine_hart_vfork(struct machine_hart *core);
/**
 * The call is over: the thread, which is paused, does not sleep in it any more. To be said before
 * anything that may wait for other threads; machine_hart_resume() follows.
 */
void machine_hart_come_back(struct machine_hart *core);
/** The thread goes on; its clock moves to where the machine's time is if that is later. */
void machine_hart_resume(struct machine_hart *core);
/** The thread ends, or never starts: write-combining buffers drain, the core is free. */
void machine_hart_leave(struct machine_hart *core);
/** As machine_hart_leave(), for a thread that ends in the host too, at once. */
void machine_hart_exit(struct machine_hart *core);
/** The same where its process ends too. */
void machine_hart_end(struct machine_hart *core);
/**
 * The calling thread's process becomes another program (execve), whose first thread goes on in the
 * same place and at the same time. If that fails, the hart is as machine_hart_place() gives it, and
 * the calling thread can start on it again.
 */
void machine_hart_exec(struct machine_hart *core);
/**
 * The place that the process had on the machine before it became the present program, to start on.
 * NULL: none, or no memory.
 */
struct machine_hart *machine_hart_continue(struct machine *machine);

/**
 * Threads that are placed from now on run one at a time, in turns by emulated time, so that a
 * program without data races gives the same counts each time. Those of machine_hart_enter() do not.
 */
void machine_take_turns(struct machine *machine);

/** Lets time pass until nothing is in flight: fills, write queues, refreshes due. */
void machine_drain(struct machine *machine);

/**
 * Emit what units of a socket have done by machine_now() and have not emitted: of channels,
 * refreshes and writes while they were idle; of cores, their accumulators; of slices, home agents
 * and channels, the totals that they report (signal_port.needed). For who uses registers; the
 * caller holds the lock.
 * @param units  bit n: the n-th; those that are not there are left out
 */
void machine_catch_up_slices(const struct machine *machine, unsigned socket, uint32_t units);
void machine_catch_up_homes(const struct machine *machine, unsigned socket, uint32_t units);
void machine_catch_up_channels(struct machine *machine, unsigned socket, uint32_t units);
void machine_catch_up_cores(const struct machine *machine, unsigned socket, uint32_t units);

/**
 * Lets @ticks pass in which nobody did anything; the caller holds the lock. Without effect while a
 * thread runs on a core: the time is its own then.
 */
void machine_pass(struct machine *machine, uint64_t ticks);

/** Prefetchers (enum machine_prefetcher) whose bits are set are on, the others off; @core over all
 * sockets. */
void machine_set_prefetchers(struct machine *machine, unsigned core, uint32_t on);
uint32_t machine_prefetchers(const struct machine *machine, unsigned core);

/** The latest time of any core or of anything in flight that has ended, in ticks. */
uint64_t machine_now(const struct machine *machine);
uint64_t machine_ticks_per_cycle(const struct machine *machine, enum pmu_clock clock);
uint64_t machine_ticks_per_second(const struct machine *machine);

/* Excludes every other access to shared state, of any process; survives the holder's death. */
void machine_lock(struct machine *machine);
void machine_unlock(struct machine *machine);
/** Tries for @ns nanoseconds: the holder may be stopped. @return whether the lock was taken */
bool machine_lock_within(struct machine *machine, uint64_t ns);

/* What really happened, for reports and tests; sums over all cores and sockets. */
struct machine_statistics {
	uint64_t instructions, cycles; /* cycles: of all cores while not paused */
	uint64_t branches;
	/* Line accesses: splits are counted twice. */
	uint64_t loads, stores, locked, fetches, nt_stores;
	uint64_t l1d_misses, l1i_misses; /* l1d: stores that find S too */
	uint64_t l2_misses;	 /* DRd, CRd, RFO, ItoM sent to the LLC, but for the next: */
	uint64_t l2_prefetches;	 /* those into L2 */
	uint64_t llc_prefetches; /* PrefData, PrefCode, PrefRFO */
	uint64_t l1d_prefetches; /* lines prefetched into L1D, by L2 or l2_misses */
	uint64_t l2_writebacks;	 /* WbMtoI, WbMtoE */
	uint64_t wc_lines;	 /* WCiLF, WCiL */
	uint64_t flushes;
	/* First-level TLB misses, of data and of code; of these page walks, and their reads: all of
	 * them, in L1D, in L2. */
	uint64_t dtlb_misses, itlb_misses, walks, walk_reads, walk_l1_hits, walk_l2_hits;
	uint64_t llc_lookups; /* of all requests and snoops */
	uint64_t llc_misses;  /* all of these that found I */
	uint64_t llc_victims;
	uint64_t llc_writebacks; /* WbMtoI to home: M victims, lines that WCiL(F) met */
	uint64_t home_reads, home_owns, home_writes, snoops;
	uint64_t home_flushes, flush_writes; /* of these, those that bring a line to memory */
	uint64_t snoop_writebacks; /* data to memory that are no request: RspSWb, RspIWb */
	uint64_t cas_reads, cas_writes, underfills, wpq_read_hits, wpq_write_hits;
	uint64_t tor_cycles;	 /* sum over all TOR entries, uncore cycles */
	uint64_t tracker_cycles; /* sum over all tracker entries, uncore cycles */
	uint64_t rpq_cycles;	 /* sum over all RPQ entries, DRAM cycles */
	uint64_t wpq_cycles;
};
void machine_statistics(const struct machine *machine, struct machine_statistics *stats);

/* What a socket did that takes energy, since power on. It never falls. The caller holds the lock.
 */
struct machine_activity {
	uint64_t passed_ns; /* until machine_now() */
	uint64_t busy_ns;   /* of all cores, while threads ran on them */
	uint64_t lookups;   /* in the LLC */
	uint64_t cas;	    /* reads and writes of DRAM */
};
void machine_socket_activity(const struct machine *machine, unsigned socket,
			     struct machine_activity *activity);

/* For tests: what the caches hold. State letters M, E, S, F, or I where the line is absent. */
enum machine_level { MACHINE_L1I, MACHINE_L1D, MACHINE_L2, MACHINE_LLC };
/** @param unit core for private levels (numbered over all sockets), socket for the LLC */
char machine_peek(const struct machine *machine, enum machine_level level, unsigned unit,
		  uint64_t address);
/** Core-valid bits of a line in a socket's LLC, 0 where absent; bit i: i-th core of the socket. */
uint32_t machine_peek_core_valid(const struct machine *machine, unsigned socket, uint64_t address);

#endif
