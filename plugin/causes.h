/* For who asks what causes counts: which instruction each thread executes. */
#ifndef PLUGIN_CAUSES_H
#define PLUGIN_CAUSES_H

#include "emul/block.h"
#include "feed/causes.h"
#include "qemu_plugin_api.h"

/** Asks if somebody does who made the machine. */
void causes_begin(struct emul *emul);

/** A block is translated: before anything else of it is registered. */
void causes_translation(struct qemu_plugin_tb *tb, const struct feed_insn *insns, size_t count,
			uint64_t guest_base);

/** The same, behind everything else. */
void causes_translated(struct qemu_plugin_tb *tb, const struct feed_insn *insns, size_t count);

/** A thread has entered a core. */
void causes_entered(struct feed_thread *thread);
/** A thread is in a system call. */
void causes_syscall(int64_t number);

#endif
