#include "translation.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "callbacks.h"
#include "causes.h"
#include "feed/arena.h"
#include "feed/mappings.h"
#include "handlers.h"
#include "plugin.h"

#define BLOCK_INSNS_MAX 512 /* TCG_MAX_INSNS of QEMU */
#define INSN_BYTES_MAX	15

/* Translation is serialised by QEMU. */
static struct feed_decoder decoder;
static struct feed_arena blocks; /* of this translation cache */

static bool decode(const struct qemu_plugin_insn *handle, struct feed_insn *insn)
{
	uint8_t bytes[INSN_BYTES_MAX];
	size_t length = qemu_plugin_insn_size(handle);

	if (length > sizeof(bytes))
		length = sizeof(bytes);
	plugin_insn_bytes(handle, bytes, length);
	return feed_decode(&decoder, bytes, length, insn);
}

/*
 * QEMU ends a block before an instruction that crosses into another page, but leaves the bytes up
 * to there in its list: what cannot be decoded at the end of a block is not executed in it.
 */
static size_t decode_block(const struct qemu_plugin_tb *tb, struct feed_insn *insns)
{
	size_t count = qemu_plugin_tb_n_insns(tb);
	bool known = true;

	assert(count <= BLOCK_INSNS_MAX);
	for (size_t i = 0; i < count; i++)
		known = decode(qemu_plugin_tb_get_insn(tb, i), &insns[i]);
	return known || count == 1 ? count : count - 1;
}

void *translation_keep(size_t size)
{
	void *memory = feed_arena_alloc(&blocks, size);

	if (!memory) {
		error_set(plugin.ctx, PMU_E_NOMEM, "out of memory for translated blocks");
		plugin_give_up();
	}
	return memory;
}

static void *keep_block(const struct machine_block *block)
{
	return memcpy(translation_keep(sizeof(*block)), block, sizeof(*block));
}

/* @return the plan, NULL where the machine has none */
static void *keep_plan(const struct feed_block *block, const struct feed_insn *insns, size_t count)
{
	_Alignas(struct machine_plan) char memory[MACHINE_PLAN_BYTES_MAX];
	size_t bytes = feed_block_plan((struct machine_plan *)memory, plugin.process.machine, block,
				       insns, count);

	return bytes ? memcpy(translation_keep(bytes), memory, bytes) : NULL;
}

static void tell_hints_ignored(void)
{
	if (plugin.report)
		plugin.report->hints_ignored = 1;
}

static void register_accesses(struct qemu_plugin_tb *tb, const struct feed_access *access,
			      struct feed_repeat *repeat, const struct feed_insn *insns,
			      size_t count)
{
	for (size_t i = 0; i < count; i++) {
		enum feed_class class = insns[i].class;

		if (class == FEED_NONE)
			continue;
		/* It reports nothing, and version 1 reads no registers. */
		if (class >= FEED_UNREPORTED)
			tell_hints_ignored();
		else
			callbacks_access(qemu_plugin_tb_get_insn(tb, i), class, access, repeat);
		access++;
	}
}

/* Before the program has executed anything: where it begins is known from now on. */
static void begin_once(void)
{
	static bool began;

	if (!began)
		feed_mappings_begin(&plugin.process, plugin.guest_base);
	began = true;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	struct feed_insn insns[BLOCK_INSNS_MAX];
	struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(tb, 0);
	uint64_t address = qemu_plugin_insn_vaddr(first);
	_Alignas(struct feed_block) char memory[FEED_BLOCK_SIZE_MAX(BLOCK_INSNS_MAX)];
	struct feed_block *block = (struct feed_block *)memory;
	struct feed_repeat *repeat = NULL;
	void *plan;
	size_t count;

	(void)id;
	if (handlers_own(address))
		return;
	plugin.guest_base = (uint64_t)qemu_plugin_insn_haddr(first) - address;
	begin_once();
	count = decode_block(tb, insns);
	causes_translation(tb, insns, count, plugin.guest_base);
	feed_block_init(block, plugin.process.machine, address, insns, count);
	plan = keep_plan(block, insns, count);
	if (feed_block_repeats(insns, count)) {
		repeat = translation_keep(sizeof(*repeat));
		feed_repeat_init(repeat, plugin.process.machine, block, plan, insns, count);
		callbacks_repeating_block(tb, repeat);
	} else if (plan) {
		callbacks_planned_block(tb, plan);
	} else {
		callbacks_block(tb, keep_block(&block->whole));
	}
	register_accesses(tb, block->accesses, repeat, insns, count);
	causes_translated(tb, insns, count);
}

static void on_flush(qemu_plugin_id_t id)
{
	(void)id;
	feed_arena_empty(&blocks);
}

void translation_register(qemu_plugin_id_t id)
{
	feed_decoder_init(&decoder);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_flush_cb(id, on_flush);
}
