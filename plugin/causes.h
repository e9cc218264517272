/* For who asks what causes counts: which instruction each thread executes. */
#ifndef PLUGIN_CAUSES_H
#define PLUGIN_CAUSES_H

#include "emul/block.h"
#include "feed/causes.h"
#include "qemu_plugin_api.h"

/* What the plugin has for it. */
struct causes_plugin {
	struct feed_process *process;
	void (*enter)(struct feed_thread *thread); /* takes a thread to a core */
	void *(*keep)(size_t size);		   /* memory as long as what is translated */
};

/** Asks if somebody does who made the machine. */
void causes_begin(struct emul *emul, const struct causes_plugin *plugin);

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
