/* Processor threads: from start to end. */
#ifndef FEED_IA64_RUN_H
#define FEED_IA64_RUN_H

#include "feed/ia64/process.h"

/** A processor thread in its reset state, part of the process. */
int ia64_cpu_new(struct ia64_cpu **cpu, struct ia64_process *p);
/** One with the same registers. */
int ia64_cpu_clone(struct ia64_cpu **cpu, const struct ia64_cpu *from);
void ia64_cpu_free(struct ia64_cpu *c);

/** Runs until the thread ends; a process that ends takes the host's with it. */
void ia64_run(struct ia64_cpu *c);

/**
 * Runs until something stops the decoded code, which c->stop and its companions tell: what
 * ia64_run does between system calls and signals.
 */
void ia64_execute(struct ia64_cpu *c);

int ia64_process_new(struct ia64_process **process, const struct ia64_observer *observer);
/** After its threads. */
void ia64_process_free(struct ia64_process *process);

#endif
