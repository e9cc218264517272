/* Drives a core model by what a program does: an observer of the executor. */
#ifndef FEED_IA64_CORE_FEED_H
#define FEED_IA64_CORE_FEED_H

#include "feed/ia64/observer.h"
#include "machine/epic/epic.h"

struct ia64_core_feed;

/**
 * One for a process. Its first thread drives the core; the others run outside of it, and are
 * counted in ia64_core_feed_others().
 * @param core  the caller's
 * @param end   called before the process ends, with arg; may be NULL
 * @return 0 or -ENOMEM
 */
int ia64_core_feed_new(struct ia64_core_feed **feed, struct epic_core *core, void (*end)(void *arg),
		       void *arg);
void ia64_core_feed_free(struct ia64_core_feed *feed);

/** What to give ia64_process_new(). */
const struct ia64_observer *ia64_core_feed_observer(const struct ia64_core_feed *feed);

/** Threads that were not measured. */
unsigned ia64_core_feed_others(const struct ia64_core_feed *feed);

/**
 * Calls back with whether the user's monitors are on (PSR.up), now and at each change.
 */
void ia64_core_feed_monitors(struct ia64_core_feed *feed, void (*changed)(void *arg, bool on),
			     void *arg);

#endif
