/* What the parts of the plugin share, as callbacks are given nothing of ours but a constant. */
#ifndef PLUGIN_PLUGIN_H
#define PLUGIN_PLUGIN_H

#include "emul/report.h"
#include "feed/process.h"
#include "qemu_plugin_api.h"

struct plugin {
	struct pmu_ctx *ctx;
	struct emul *emul;
	struct feed_process process;
	uint64_t guest_base;	    /* host address of guest address 0 */
	struct emul_report *report; /* to be filled in; NULL: nobody asks */
};

/* Declared hidden, it takes no table to find it: callbacks do that all the time. */
__attribute__((visibility("hidden"))) extern struct plugin plugin;

static inline struct feed_thread *plugin_thread(unsigned vcpu)
{
	return &plugin.process.threads[vcpu];
}

/** A guest thread is about to execute on a core for the first time, or again. */
void plugin_enter(struct feed_thread *thread);

/** The guest has begun. */
void plugin_tell_begun(void);

/** Ends the process with the context's message. */
__attribute__((noreturn)) void plugin_give_up(void);

#endif
