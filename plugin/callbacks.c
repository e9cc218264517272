#include "callbacks.h"

#include <string.h>

#include "plugin.h"
#include "translation.h"

static void on_block(unsigned vcpu, void *block);

/* Out of line, so that blocks run without a stack frame. */
__attribute__((noinline, cold)) static void on_first_block(unsigned vcpu, void *block)
{
	plugin_enter(plugin_thread(vcpu));
	on_block(vcpu, block);
}

static void on_block(unsigned vcpu, void *block)
{
	struct feed_thread *thread = plugin_thread(vcpu);

	if (__builtin_expect(!thread->core, 0))
		on_first_block(vcpu, block);
	else
		feed_run(thread, block);
}

static void on_planned_block(unsigned vcpu, void *plan);

__attribute__((noinline, cold)) static void on_first_planned_block(unsigned vcpu, void *plan)
{
	plugin_enter(plugin_thread(vcpu));
	on_planned_block(vcpu, plan);
}

static void on_planned_block(unsigned vcpu, void *plan)
{
	struct feed_thread *thread = plugin_thread(vcpu);

	if (__builtin_expect(!thread->core, 0))
		on_first_planned_block(vcpu, plan);
	else
		machine_run_planned(thread->core, plan);
}

static void on_repeating_block(unsigned vcpu, void *repeat)
{
	struct feed_thread *thread = plugin_thread(vcpu);

	if (!thread->core)
		plugin_enter(thread);
	feed_run_repeating(thread, repeat);
}

/* They are in the pointer itself. */
static struct feed_access access_of(const void *constants)
{
	return feed_access_unpack((uintptr_t)constants);
}

/* Out of line, so that hits run without a stack frame; and constants are unpacked only there. */
__attribute__((noinline)) static void load_missed(struct feed_thread *thread, uint64_t address,
						  const void *constants)
{
	const struct feed_access access = access_of(constants);

	feed_load(thread, address, &access);
}

__attribute__((noinline)) static void load_late(struct machine_hart *core, uint64_t address,
						const void *constants)
{
	const struct feed_access access = access_of(constants);

	machine_load_late(core, address, &access.registers);
}

static void on_load(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *constants)
{
	struct machine_hart *core = plugin_thread(vcpu)->core;
	const uint64_t word = (uintptr_t)constants;

	(void)info;
	if (!machine_load_hits(core, address, feed_access_size(word)))
		load_missed(plugin_thread(vcpu), address, constants);
	else if (machine_load_waits(core, address, feed_access_registers(word)))
		load_late(core, address, constants);
}

__attribute__((noinline)) static void store_missed(struct feed_thread *thread, uint64_t address,
						   const void *constants)
{
	const struct feed_access access = access_of(constants);

	feed_store(thread, address, &access);
}

static void on_store(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *constants)
{
	struct feed_thread *thread = plugin_thread(vcpu);

	(void)info;
	if (!machine_store_hits(thread->core, address, feed_access_size((uintptr_t)constants)))
		store_missed(thread, address, constants);
}

static uint32_t piece_bytes(qemu_plugin_meminfo_t info)
{
	return 1u << qemu_plugin_mem_size_shift(info);
}

/*
 * Version 1 reports an operand of more than 8 bytes in pieces of 8, where asking would cost a call.
 */
static uint32_t wide_piece_bytes(qemu_plugin_meminfo_t info)
{
	return PLUGIN_API == 1 ? 8 : piece_bytes(info);
}

static void on_load_wide(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address,
			 void *constants)
{
	const struct feed_access access = access_of(constants);

	feed_load_wide(plugin_thread(vcpu), address, wide_piece_bytes(info), &access);
}

static void on_store_wide(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address,
			  void *constants)
{
	const struct feed_access access = access_of(constants);

	feed_store_wide(plugin_thread(vcpu), address, wide_piece_bytes(info), &access);
}

static void on_load_once(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *access)
{
	(void)info;
	feed_load_once(plugin_thread(vcpu), address, access);
}

static void on_store_masked(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address,
			    void *access)
{
	(void)info;
	feed_store_masked(plugin_thread(vcpu), address, access);
}

static void on_update(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *constants)
{
	const struct feed_access access = access_of(constants);

	feed_update(plugin_thread(vcpu), address, qemu_plugin_mem_is_store(info), &access);
}

static void on_mixed(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *constants)
{
	const struct feed_access access = access_of(constants);

	feed_mixed(plugin_thread(vcpu), address, piece_bytes(info), qemu_plugin_mem_is_store(info),
		   &access);
}

static void on_locked(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *constants)
{
	const struct feed_access access = access_of(constants);

	feed_locked(plugin_thread(vcpu), address, qemu_plugin_mem_is_store(info), &access);
}

static void on_store_nt(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *access)
{
	(void)access;
	if (qemu_plugin_mem_is_store(info))
		machine_store_nt(plugin_thread(vcpu)->core, address, piece_bytes(info));
}

static void on_store_nt_wide(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address,
			     void *constants)
{
	const struct feed_access access = access_of(constants);

	feed_store_nt_wide(plugin_thread(vcpu), address, wide_piece_bytes(info), &access);
}

static void on_fast_string(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address,
			   void *repeat)
{
	feed_string(plugin_thread(vcpu), address, qemu_plugin_mem_is_store(info), repeat);
}

static const qemu_plugin_vcpu_mem_cb_t class_callbacks[] = {
    [FEED_LOAD] = on_load,
    [FEED_STORE] = on_store,
    [FEED_LOAD_WIDE] = on_load_wide,
    [FEED_STORE_WIDE] = on_store_wide,
    [FEED_LOAD_ONCE] = on_load_once,
    [FEED_STORE_MASKED] = on_store_masked,
    [FEED_UPDATE] = on_update,
    [FEED_MIXED] = on_mixed,
    [FEED_LOCKED] = on_locked,
    [FEED_STORE_NT] = on_store_nt,
    [FEED_STORE_NT_WIDE] = on_store_nt_wide,
    [FEED_FAST_STRING] = on_fast_string,
};

void callbacks_block(struct qemu_plugin_tb *tb, struct machine_block *block)
{
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, block);
}

void callbacks_planned_block(struct qemu_plugin_tb *tb, struct machine_plan *plan)
{
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_planned_block, QEMU_PLUGIN_CB_NO_REGS, plan);
}

void callbacks_repeating_block(struct qemu_plugin_tb *tb, struct feed_repeat *repeat)
{
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_repeating_block, QEMU_PLUGIN_CB_NO_REGS,
					     repeat);
}

void callbacks_access(struct qemu_plugin_insn *insn, enum feed_class class,
		      const struct feed_access *access, struct feed_repeat *repeat)
{
	void *given;

	if (class == FEED_FAST_STRING)
		given = repeat;
	else if (class == FEED_LOAD_ONCE || class == FEED_STORE_MASKED)
		given = memcpy(translation_keep(sizeof(*access)), access, sizeof(*access));
	else
		given = (void *)(uintptr_t)feed_access_pack(*access);
	qemu_plugin_register_vcpu_mem_cb(insn, class_callbacks[class], QEMU_PLUGIN_CB_NO_REGS,
					 QEMU_PLUGIN_MEM_RW, given);
}
