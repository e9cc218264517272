/*
 * Skew control: cores that run in parallel stay close in time. Each shows its clock when it looks;
 * a core that is ahead of another by more than a quantum sleeps until that one has come after. Only
 * cores that run count: not those whose thread is in a system call, has died, or cannot go on
 * before the others do (see stall.h). How the host schedules their threads does not count.
 *
 * The quantum is small between cores that take lines from each other, so that they do so in the
 * order of time, and grows with the time since they did. It is bounded for a core of which many
 * requests go to the LLC, where others may find its queues full.
 *
 * Of cores that take lines from each other one runs at a time, until it is ahead of another by the
 * quantum: else one could read what another has written before the machine knows of it. The next
 * is the one whose clock is earliest, not the one that the host wakes first. Cores of which many
 * requests go to the LLC take turns too: the order of these requests decides which rows of the
 * memory are open, and with that how far apart the cores are, often for long.
 *
 * A thread waits between blocks only. Between an access and its account no other may come in: what
 * the guest's memory holds by then would be later than what the machine knows.
 */
#ifndef MACHINE_SKEW_H
#define MACHINE_SKEW_H

#include "machine/state.h"

/* Core cycles. */
#define SKEW_QUANTUM_MEETING   50
#define SKEW_QUANTUM_OUT       100
#define SKEW_QUANTUM_TURN      500 /* of threads that run in turns: here, and see turns.h */
#define SKEW_QUANTUM_APART     10000
#define SKEW_LOOK_INSTRUCTIONS 1024
#define SKEW_MEETING	       2000 /* after a line was taken: one runs at a time */
#define SKEW_SHARE	       32   /* the quantum is that part of the time since then */
#define SKEW_OUT_SPAN	       10000
#define SKEW_OUT_REQUESTS      20 /* to the LLC, in that time: then others' count */

/** Shows the core's clock to the others; hides it while nobody runs there. */
void skew_show(struct machine_hart *core);
void skew_hide(struct machine_hart *core);
/** Shows a clock for a thread that has not begun: the others wait for it from its creation on. */
void skew_show_placed(const struct machine_hart *core, uint64_t time);
/** Says which thread of the host that will be: until then nobody knows what it does. */
void skew_name_placed(const struct machine_hart *core, uint32_t thread);
/** Whether nobody waits for the core: nobody runs there, or its thread was found unable to. */
bool skew_is_hidden(const struct machine_hart *core);
/** As skew_hide(), for a core whose thread has died. */
void skew_forget(struct machine *machine, unsigned number);

/** The core is at its turn: others may run from now on, until it looks again. */
void skew_let_others(struct machine_hart *core);

/** Whether skew_keep() would wait now, for cores that show where they are. */
bool skew_would_wait(const struct machine_hart *core);

/** Shows the clock, and waits for the cores that are too far behind. */
void skew_keep(struct machine_hart *core);

/** The core's request went to the LLC, and @met: took a line from another core. */
void skew_note_request(struct machine_hart *core, bool met);

/** A request takes a line from the cores of a socket whose bits are set. */
void skew_meet(struct machine *machine, unsigned socket, uint32_t cores);

/** Instructions after which the core is to look again, if nothing calls for it before. */
uint64_t skew_interval(const struct machine_hart *core);

/** Ticks that it may be ahead of others that are as near to it as any. */
uint64_t skew_quantum(const struct machine_hart *core);

static inline struct skew *skew_of(const struct machine_hart *core)
{
	return &core->machine->state->skew[core->number];
}

/** Whether the clock has come to where others wait for it. */
static inline bool skew_is_awaited(const struct machine_hart *core)
{
	uint64_t awaited = __atomic_load_n(&skew_of(core)->wake_at, __ATOMIC_RELAXED);

	return awaited && core->progress->time >= awaited;
}

/**
 * Whether skew_keep() is due now: the clock has passed what others wait for, or the quantum. When
 * others begin to wait depends on the host: no turn ends by that.
 */
static inline bool skew_is_due(const struct machine_hart *core)
{
	return core->progress->time >= core->skew_due ||
	       (!core->in_turn && skew_is_awaited(core)) ||
	       __atomic_load_n(&skew_of(core)->meetings, __ATOMIC_RELAXED) != core->meetings;
}

#endif
