#include "causes.h"

#include <string.h>

#include "plugin.h"
#include "translation.h"

static struct feed_causes causes;
static uint64_t base; /* host address of guest address 0 */

void causes_begin(struct emul *emul)
{
	struct attribution *attribution = emul_attribution(emul);
	const struct feed_asker asker = {
	    .arg = attribution,
	    .module = attribution_module,
	    .region = attribution_region,
	    .context = attribution_context,
	    .offset_bits = ATTRIBUTION_OFFSET_BITS,
	    .accounts = attribution && attribution_accounts(attribution->table),
	};

	feed_causes_init(&causes, attribution ? &asker : NULL);
}

static void on_block(unsigned vcpu, void *place)
{
	struct feed_thread *thread = plugin_thread(vcpu);

	if (!thread->core)
		plugin_enter(thread);
	feed_at_block(&causes, thread, (uintptr_t)place);
}

static void on_insn(unsigned vcpu, void *place)
{
	machine_at(plugin_thread(vcpu)->core, (uintptr_t)place);
}

static void on_mark(unsigned vcpu, void *mark)
{
	feed_causes_mark(&causes, plugin_thread(vcpu), mark, 0);
}

static void on_named_mark(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *mark)
{
	(void)info;
	feed_causes_mark(&causes, plugin_thread(vcpu), mark, base + address);
}

static struct feed_mark *keep_mark(const struct feed_mark *mark)
{
	return memcpy(translation_keep(sizeof(*mark)), mark, sizeof(*mark));
}

/* The one that an instruction is. */
static void read_mark(struct qemu_plugin_insn *insn, const struct feed_insn *decoded,
		      struct feed_mark *mark)
{
	uint8_t bytes[FEED_MARK_INSN_BYTES];

	mark->kind = FEED_MARK_NONE;
	if (decoded->length != FEED_MARK_INSN_BYTES || decoded->class != FEED_NONE)
		return;
	plugin_insn_bytes(insn, bytes, sizeof(bytes));
	feed_mark_read(mark, bytes, qemu_plugin_insn_vaddr(insn), base);
}

static void register_named(struct qemu_plugin_insn *insn, const struct feed_mark *mark)
{
	qemu_plugin_register_vcpu_mem_cb(insn, on_named_mark, QEMU_PLUGIN_CB_NO_REGS,
					 QEMU_PLUGIN_MEM_RW, keep_mark(mark));
}

/* @param mark  that stands before the instruction; receives its own */
static void translate_mark(struct qemu_plugin_insn *insn, const struct feed_insn *decoded,
			   struct feed_mark *mark)
{
	if (mark->kind == FEED_MARK_END_NAMED && decoded->class != FEED_NONE)
		register_named(insn, mark);
	read_mark(insn, decoded, mark);
	if (mark->kind == FEED_MARK_BEGIN || mark->kind == FEED_MARK_END)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, QEMU_PLUGIN_CB_NO_REGS,
						       keep_mark(mark));
}

void causes_translation(struct qemu_plugin_tb *tb, const struct feed_insn *insns, size_t count,
			uint64_t guest_base)
{
	struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, 0);
	struct feed_mark mark;
	uint64_t place;

	if (!causes.asked)
		return;
	base = guest_base;
	place = feed_causes_place(&causes, (uint64_t)(uintptr_t)qemu_plugin_insn_haddr(insn),
				  qemu_plugin_insn_vaddr(insn));
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS,
					     (void *)(uintptr_t)place);
	feed_mark_before(&mark, qemu_plugin_insn_vaddr(insn), base);
	for (size_t i = 0; i < count; i++) {
		insn = qemu_plugin_tb_get_insn(tb, i);
		if (insns[i].class != FEED_NONE)
			qemu_plugin_register_vcpu_insn_exec_cb(
			    insn, on_insn, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)place);
		translate_mark(insn, &insns[i], &mark);
		place += insns[i].length;
	}
}

/* The name is read outside of its region: before that begins, as after it ends. */
void causes_translated(struct qemu_plugin_tb *tb, const struct feed_insn *insns, size_t count)
{
	struct feed_mark mark;

	if (!causes.asked)
		return;
	feed_mark_before(&mark, qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0)), base);
	for (size_t i = 0; i < count; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (mark.kind == FEED_MARK_BEGIN_NAMED && insns[i].class != FEED_NONE)
			register_named(insn, &mark);
		read_mark(insn, &insns[i], &mark);
	}
}

void causes_entered(struct feed_thread *thread)
{
	feed_causes_enter(&causes, thread);
}

void causes_syscall(int64_t number)
{
	if (causes.asked)
		feed_causes_syscall(&causes, number);
}
