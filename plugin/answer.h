/* What a system call returns to the guest in the place of what QEMU has got for it. */
#ifndef PLUGIN_ANSWER_H
#define PLUGIN_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "feed/thread.h"

/** Whether this QEMU lets itself be told. */
bool answer_is_possible(void);

/** In the callback of the call's return: the thread's next block is to begin with answer_give(). */
void answer_set(struct feed_thread *thread, int64_t result);
/**
 * In the callback of a block, of a thread that is on no core: gives it what was set.
 * @return whether it is on its core again
 */
bool answer_give(struct feed_thread *thread);

#endif
