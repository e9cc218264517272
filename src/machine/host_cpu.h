/*
 * Where threads that run one at a time do so: on one processor of the host. To wake a thread that
 * sleeps on another one takes as long as a turn does, 20 to 60 us, and to wait awake slows down who
 * runs, where the two share a core of the host. The processor is chosen anew now and then:
 * something else may have come to want it.
 *
 * A system call of the guest does not see it: the thread is let go before, and a thread or process
 * that the call makes can run anywhere.
 */
#ifndef MACHINE_HOST_CPU_H
#define MACHINE_HOST_CPU_H

#include "machine/state.h"

/** The core's thread is about to wait for its turn: after some such waits it is bound. */
void host_cpu_wait(struct machine_hart *core);

/** It has looked, and did not have to wait: after many such looks it is let go. */
void host_cpu_pass(struct machine_hart *core);

/** It is let go: it may run wherever it could before. */
void host_cpu_let_go(struct machine_hart *core);

#endif
