/*
 * A plugin with a callback for each block and each access, which do nothing: what QEMU takes to
 * feed anybody. The rest of a run on the emulated machine is ours.
 */
#include "qemu_plugin_api.h"

PLUGIN_EXPORT int qemu_plugin_version = PLUGIN_API;

static void on_block(unsigned vcpu, void *userdata)
{
	(void)vcpu, (void)userdata;
}

static void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *userdata)
{
	(void)vcpu, (void)info, (void)address, (void)userdata;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, NULL);
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++)
		qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), on_access,
						 QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
}

PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
				      char **argv)
{
	(void)info, (void)argc, (void)argv;
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	return 0;
}
