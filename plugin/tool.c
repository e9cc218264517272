#include "tool.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exec.h"
#include "feed/files.h"
#include "handlers.h"
#include "plugin.h"

static _Thread_local struct feed_thread thread;

/* What is translated is executed next. */
static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	const struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(tb, 0);

	(void)id;
	plugin_tell_begun();
	plugin.guest_base = (uint64_t)qemu_plugin_insn_haddr(first) - qemu_plugin_insn_vaddr(first);
}

static void on_syscall(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2,
		       uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
	const uint64_t arguments[] = {a1, a2, a3, a4, a5, a6};

	(void)id, (void)vcpu, (void)a7, (void)a8;
	if (feed_is_exec(number))
		exec_guest(NULL, NULL, number, arguments, plugin.guest_base, plugin.report);
	handlers_syscall(number, arguments, plugin.guest_base);
	feed_files_syscall(&thread, number, arguments);
}

static void on_syscall_return(qemu_plugin_id_t id, unsigned vcpu, int64_t number, int64_t result)
{
	(void)id, (void)vcpu;
	if (feed_is_exec(number))
		exec_guest_failed();
	handlers_syscall_return(number, result);
	/* What it may find in the computer's files is changed there: the result stays. */
	if (plugin.process.all_cpus)
		feed_files_return(&plugin.process, &thread, number, result, plugin.guest_base);
}

/* A list of Linux's that begins with 0. @return a bit for each; 0: it cannot be read */
static uint64_t read_list(const char *path)
{
	char text[64] = "", *last;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	unsigned long highest;

	if (fd >= 0)
		close(fd);
	if (length <= 0 || *text != '0')
		return 0;
	last = strchr(text, '-');
	highest = last ? strtoul(last + 1, NULL, 10) : 0;
	return highest < 64 ? UINT64_MAX >> (63 - highest) : 0;
}

/* The machine's, whose files are laid over the computer's. */
static void find_sets(void)
{
	plugin.process.all_cpus = read_list("/sys/devices/system/cpu/online");
	plugin.process.all_nodes = (uint32_t)read_list("/sys/devices/system/node/online");
}

void tool_register(qemu_plugin_id_t id, const char *report)
{
	exec_init_tool(report, plugin.report);
	find_sets();
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
	qemu_plugin_register_vcpu_syscall_ret_cb(id, on_syscall_return);
}
