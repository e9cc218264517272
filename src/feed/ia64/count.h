/* Counts of instructions by encoding. */
#ifndef FEED_IA64_COUNT_H
#define FEED_IA64_COUNT_H

#include "feed/ia64/observer.h"

struct ia64_counter;

/** Writes to the file when the process ends. */
int ia64_counter_new(struct ia64_counter **counter, const char *path);
/** Of a process that has not run; NULL is allowed. */
void ia64_counter_free(struct ia64_counter *counter);
const struct ia64_observer *ia64_counter_observer(const struct ia64_counter *counter);

#endif
