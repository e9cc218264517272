/* Drives a core model by what a program does: an observer of the executor. */
#ifndef FEED_IA64_CORE_FEED_H
#define FEED_IA64_CORE_FEED_H

#include "feed/ia64/observer.h"
#include "machine/epic/epic.h"

struct ia64_core_feed;

/* What a program drives. Calls come from the program's threads. */
struct ia64_core_feed_target {
	/** A thread begins. @return its core, with its number; NULL: there is none left */
	struct epic_core *(*core)(void *arg, unsigned *number);
	/** The user's monitors of a core were turned on or off (PSR.up). */
	void (*monitors)(void *arg, unsigned core, bool on);
	/** A thread reads a performance data register of its core. @return the value */
	uint64_t (*monitor)(void *arg, unsigned core, uint32_t number);
	/** A thread or process begins that drives no core. */
	void (*other_thread)(void *arg);
	void *arg;
};

/**
 * One for a process. Each thread drives a core, in turns by the cores' cycles; the processes that
 * it forks run outside of them.
 * @return 0 or -ENOMEM
 */
int ia64_core_feed_new(struct ia64_core_feed **feed, const struct ia64_core_feed_target *target);
void ia64_core_feed_free(struct ia64_core_feed *feed);

/** What to give ia64_process_new(). */
const struct ia64_observer *ia64_core_feed_observer(const struct ia64_core_feed *feed);

#endif
