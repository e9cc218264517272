/* Signal frames: what a handler gets, and what sigreturn puts back. */
#ifndef FEED_IA64_FRAME_H
#define FEED_IA64_FRAME_H

#include "feed/ia64/signal.h"

/** Calls the handler of act with a frame on the program's stack; mask is what the return restores.
 */
int ia64_frame_push(struct ia64_cpu *c, const struct ia64_sigaction *act, const siginfo_t *info,
		    uint64_t mask);
/** False if there is no frame at the stack pointer. */
bool ia64_frame_pop(struct ia64_cpu *c, uint64_t *mask, struct ia64_sigaltstack *alternate);

#endif
