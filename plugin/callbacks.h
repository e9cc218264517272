/*
 * What the guest's code calls: each block when it is entered, each access to memory. What they are
 * given lives as long as the translation.
 */
#ifndef PLUGIN_CALLBACKS_H
#define PLUGIN_CALLBACKS_H

#include "feed/block.h"
#include "qemu_plugin_api.h"

/** Of a block: one of these. */
void callbacks_block(struct qemu_plugin_tb *tb, struct machine_block *block);
void callbacks_planned_block(struct qemu_plugin_tb *tb, struct machine_plan *plan);
void callbacks_repeating_block(struct qemu_plugin_tb *tb, struct feed_repeat *repeat);

/**
 * Of an instruction that accesses memory.
 * @param class   below FEED_UNREPORTED
 * @param repeat  of its block, where it is repeated
 */
void callbacks_access(struct qemu_plugin_insn *insn, enum feed_class class,
		      const struct feed_access *access, struct feed_repeat *repeat);

#endif
