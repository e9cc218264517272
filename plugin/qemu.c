/*
 * The QEMU user-mode plugin: runs a guest's threads on an emulated machine.
 *
 *     qemu-x86_64 -plugin libpmulab-qemu.so,machine=PATH[,report=PATH] PROGRAM
 *     qemu-x86_64 -plugin libpmulab-qemu.so,report=PATH TOOL
 *
 * The paths are those of the machine's shared block (emul/block.h) and of memory in which the
 * plugin tells what becomes of the guest (emul/report.h). Without a machine only execve is
 * followed. A block's instructions are counted when it is entered: one that is left early, by a
 * fault, is not corrected. A guest that forks goes on in a process of its own; the machine places
 * all its pages anew, also those that it shares with its parent. What a guest executes by execve
 * runs in an emulator like this one, on the same machine (exec.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "answer.h"
#include "base/error.h"
#include "causes.h"
#include "emul/block.h"
#include "exec.h"
#include "feed/affinity.h"
#include "feed/clock.h"
#include "feed/files.h"
#include "feed/kernel_io.h"
#include "feed/mappings.h"
#include "feed/numa.h"
#include "feed/syscall.h"
#include "handlers.h"
#include "plugin.h"
#include "tool.h"
#include "translation.h"

PLUGIN_EXPORT int qemu_plugin_version = PLUGIN_API;

struct plugin plugin;

/* The guest thread that this host thread runs; NULL before its first block. */
static _Thread_local struct feed_thread *current;

/* QEMU's own. Who forks waits until no other thread is between the two: start, and end. */
__attribute__((weak)) void cpu_exec_start(void *cpu);
__attribute__((weak)) void cpu_exec_end(void *cpu);
__attribute__((weak)) void *qemu_get_cpu(int vcpu);

void plugin_give_up(void)
{
	if (plugin.report && !plugin.report->began)
		snprintf(plugin.report->refusal, sizeof(plugin.report->refusal), "%s",
			 pmu_message(plugin.ctx));
	else
		fprintf(stderr, "pmulab: %s\n", pmu_message(plugin.ctx));
	_exit(EXIT_FAILURE);
}

void plugin_tell_begun(void)
{
	if (plugin.report)
		plugin.report->began = 1;
}

void plugin_enter(struct feed_thread *thread)
{
	current = thread;
	plugin_tell_begun();
	if (answer_give(thread))
		return;
	feed_thread_enter(thread, plugin.process.machine, plugin.process.space);
	if (!thread->core) {
		error_set(plugin.ctx, PMU_E_NOMEM, "out of memory for a guest thread");
		plugin_give_up();
	}
	causes_entered(thread);
}

/* In a system call, unlike in a callback, QEMU does not wait for it anyway. */
static void rest(bool rests)
{
	void *cpu = qemu_get_cpu((int)(current - plugin.process.threads));

	if (current->paused)
		return;
	if (rests)
		cpu_exec_end(cpu);
	else
		cpu_exec_start(cpu);
}

/* Runs on the thread that makes the new one, which is in the system call that does so. */
static void on_thread_begin(qemu_plugin_id_t id, unsigned vcpu)
{
	(void)id;
	if (feed_process_begin(&plugin.process, plugin.ctx, vcpu, current))
		plugin_give_up();
}

static void on_thread_end(qemu_plugin_id_t id, unsigned vcpu)
{
	(void)id;
	feed_process_end_thread(&plugin.process, plugin_thread(vcpu));
}

static void on_syscall(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2,
		       uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
	const uint64_t arguments[] = {a1, a2, a3, a4, a5, a6};

	(void)id, (void)a7, (void)a8;
	if (feed_is_exec(number))
		exec_guest(&plugin.process, plugin_thread(vcpu), number, arguments,
			   plugin.guest_base, plugin.report);
	handlers_syscall(number, arguments, plugin.guest_base);
	causes_syscall(number);
	feed_affinity_syscall(&plugin.process, plugin_thread(vcpu), number, arguments,
			      plugin.guest_base);
	feed_clock_syscall(&plugin.process, plugin_thread(vcpu), number, arguments,
			   plugin.guest_base);
	feed_files_syscall(plugin_thread(vcpu), number, arguments);
	feed_numa_syscall(plugin_thread(vcpu), number, arguments);
	feed_kernel_io_syscall(&plugin.process, plugin_thread(vcpu), number, arguments);
	feed_mappings_syscall(plugin_thread(vcpu), number, arguments);
	feed_syscall(&plugin.process, plugin_thread(vcpu), number, arguments);
}

static void on_syscall_return(qemu_plugin_id_t id, unsigned vcpu, int64_t number, int64_t result)
{
	int64_t answer;

	(void)id;
	feed_thread_come_back(plugin_thread(vcpu));
	if (feed_is_exec(number))
		exec_guest_failed();
	handlers_syscall_return(number, result);
	feed_affinity_return(&plugin.process, plugin_thread(vcpu), number, result);
	answer = feed_clock_return(&plugin.process, plugin_thread(vcpu), number, result);
	answer = feed_files_return(&plugin.process, plugin_thread(vcpu), number, answer,
				   plugin.guest_base);
	answer = feed_numa_return(&plugin.process, plugin_thread(vcpu), number, answer,
				  plugin.guest_base);
	feed_mappings_return(&plugin.process, plugin_thread(vcpu), number, result);
	feed_syscall_return(&plugin.process, plugin_thread(vcpu), result);
	feed_kernel_io_return(&plugin.process, plugin_thread(vcpu), number, result,
			      plugin.guest_base);
	if (answer != result)
		answer_set(plugin_thread(vcpu), answer);
}

/* QEMU has stopped all other guest threads by now, or they are in system calls. */
static void on_exit_of_guest(qemu_plugin_id_t id, void *userdata)
{
	(void)id, (void)userdata;
	feed_process_end(&plugin.process);
}

static void on_fork(void)
{
	feed_process_forks(&plugin.process, current);
}

static void on_fork_in_child(void)
{
	feed_process_forked(&plugin.process, (unsigned)(current - plugin.process.threads));
}

struct arguments {
	const char *machine, *report; /* NULL: not given */
};

static int read_arguments(int argc, char **argv, struct arguments *arguments)
{
	*arguments = (struct arguments){NULL, NULL};
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "machine=", 8))
			arguments->machine = argv[i] + 8;
		else if (!strncmp(argv[i], "report=", 7))
			arguments->report = argv[i] + 7;
		else
			return error_set(plugin.ctx, PMU_E_SYNTAX,
					 "the plugin takes machine=PATH, an emulated machine, and "
					 "report=PATH, not %s",
					 argv[i]);
	}
	if (arguments->machine || arguments->report)
		return 0;
	return error_set(plugin.ctx, PMU_E_SYNTAX,
			 "the plugin takes an argument, machine=PATH, an emulated machine");
}

static int open_shared(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	return fd >= 0 ? fd
		       : error_set(plugin.ctx, PMU_E_IO, "the emulator cannot open %s: %s", path,
				   strerror(errno));
}

static int not_mapped(int fd, int errnum)
{
	char refusal[sizeof(plugin.report->refusal)];
	int length = snprintf(refusal, sizeof(refusal), "the emulator cannot map memory: %s",
			      strerror(errnum));

	/* Who asks says it then. */
	if (pwrite(fd, refusal, (size_t)length, offsetof(struct emul_report, refusal)) == length)
		_exit(EXIT_FAILURE);
	return error_set(plugin.ctx, PMU_E_NOMEM, "%s", refusal);
}

/* The mapping is enough: the guest finds its descriptors as they would be without us. */
static int map_report(const char *path)
{
	struct emul_report *report;
	int fd;

	if (!path)
		return 0;
	fd = open(path, O_RDWR | O_CLOEXEC);
	/* Who asks has nothing else to tell it by. */
	if (fd < 0)
		_exit(errno);
	report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (report == MAP_FAILED)
		return not_mapped(fd, errno);
	close(fd);
	plugin.report = report;
	return 0;
}

static const char *files_folder(void *report, int *errnum)
{
	return emul_report_folder(report, errnum);
}

static const char *made_folder(void *report)
{
	return emul_report_made_folder(report);
}

static void set_answers(void)
{
	plugin.process.answers = answer_is_possible();
	if (plugin.report && plugin.process.answers)
		plugin.process.files =
		    (struct feed_files){files_folder, made_folder, plugin.report};
}

static int attach(const char *path)
{
	int error, fd = open_shared(path);

	if (fd < 0)
		return fd;
	error = emul_attach(&plugin.emul, plugin.ctx, fd);
	close(fd);
	return error ? error
		     : feed_process_init(&plugin.process, plugin.ctx, emul_machine(plugin.emul));
}

/*
 * Threads rest only while one forks. When QEMU stops all to drop what it has translated, they must
 * not: they would go on in it.
 */
static void set_rest(void)
{
	if (cpu_exec_start && cpu_exec_end && qemu_get_cpu)
		machine_set_rest(plugin.process.machine, rest);
}

static void register_events(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_init_cb(id, on_thread_begin);
	qemu_plugin_register_vcpu_exit_cb(id, on_thread_end);
	translation_register(id);
	qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
	qemu_plugin_register_vcpu_syscall_ret_cb(id, on_syscall_return);
	qemu_plugin_register_atexit_cb(id, on_exit_of_guest, NULL);
}

PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
				      char **argv)
{
	struct arguments arguments;

	if (pmu_ctx_new(&plugin.ctx))
		return PMU_E_NOMEM;
	if (info->system_emulation || strcmp(info->target_name, "x86_64")) {
		error_set(plugin.ctx, PMU_E_UNSUPPORTED,
			  "only x86-64 programs in user mode are measured, not %s",
			  info->target_name);
		plugin_give_up();
	}
	if (read_arguments(argc, argv, &arguments) || map_report(arguments.report))
		plugin_give_up();
	if (!arguments.machine) {
		tool_register(id, arguments.report);
		return 0;
	}
	if (attach(arguments.machine))
		plugin_give_up();
	set_answers();
	set_rest();
	causes_begin(plugin.emul);
	exec_init(arguments.machine, arguments.report);
	pthread_atfork(on_fork, NULL, on_fork_in_child);
	register_events(id);
	return 0;
}
