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
#include "emul/report.h"
#include "exec.h"
#include "feed/affinity.h"
#include "feed/arena.h"
#include "feed/clock.h"
#include "feed/files.h"
#include "feed/kernel_io.h"
#include "feed/mappings.h"
#include "feed/numa.h"
#include "feed/process.h"
#include "feed/syscall.h"
#include "handlers.h"
#include "qemu_plugin_api.h"

#define BLOCK_INSNS_MAX 512 /* TCG_MAX_INSNS of QEMU */
#define INSN_BYTES_MAX	15

PLUGIN_EXPORT int qemu_plugin_version = PLUGIN_API;

/* Callbacks are given nothing of ours but what stands for the block or the instruction. */
static struct {
	struct pmu_ctx *ctx;
	struct emul *emul;
	struct feed_process process;
	struct feed_decoder decoder;
	struct feed_arena blocks; /* of this translation cache; translation is serialised by QEMU */
	uint64_t guest_base;	  /* host address of guest address 0 */
	struct emul_report *report; /* to be filled in; NULL: nobody asks */
} plugin;

/* The guest thread that this host thread runs; NULL before its first block. */
static _Thread_local struct feed_thread *current;

/* In its stead, of a tool: it is on no core. */
static _Thread_local struct feed_thread tool_thread;

static struct feed_thread *thread_of(unsigned vcpu)
{
	return &plugin.process.threads[vcpu];
}

__attribute__((noreturn)) static void give_up(void)
{
	if (plugin.report && !plugin.report->began)
		snprintf(plugin.report->refusal, sizeof(plugin.report->refusal), "%s",
			 pmu_message(plugin.ctx));
	else
		fprintf(stderr, "pmulab: %s\n", pmu_message(plugin.ctx));
	_exit(EXIT_FAILURE);
}

static void tell_begun(void)
{
	if (plugin.report)
		plugin.report->began = 1;
}

static void tell_hints_ignored(void)
{
	if (plugin.report)
		plugin.report->hints_ignored = 1;
}

static void enter(struct feed_thread *thread)
{
	current = thread;
	tell_begun();
	if (answer_give(thread))
		return;
	feed_thread_enter(thread, plugin.process.machine, plugin.process.space);
	if (!thread->core) {
		error_set(plugin.ctx, PMU_E_NOMEM, "out of memory for a guest thread");
		give_up();
	}
	causes_entered(thread);
}

static void on_block(unsigned vcpu, void *block);

/* Out of line, so that blocks run without a stack frame. */
__attribute__((noinline, cold)) static void on_first_block(unsigned vcpu, void *block)
{
	enter(thread_of(vcpu));
	on_block(vcpu, block);
}

static void on_block(unsigned vcpu, void *block)
{
	struct feed_thread *thread = thread_of(vcpu);

	if (__builtin_expect(!thread->core, 0))
		on_first_block(vcpu, block);
	else
		feed_run(thread, block);
}

static void on_planned_block(unsigned vcpu, void *plan);

__attribute__((noinline, cold)) static void on_first_planned_block(unsigned vcpu, void *plan)
{
	enter(thread_of(vcpu));
	on_planned_block(vcpu, plan);
}

static void on_planned_block(unsigned vcpu, void *plan)
{
	struct feed_thread *thread = thread_of(vcpu);

	if (__builtin_expect(!thread->core, 0))
		on_first_planned_block(vcpu, plan);
	else
		machine_run_planned(thread->core, plan);
}

static void on_repeating_block(unsigned vcpu, void *repeat)
{
	struct feed_thread *thread = thread_of(vcpu);

	if (!thread->core)
		enter(thread);
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

__attribute__((noinline)) static void load_late(struct feed_thread *thread, uint64_t address,
						const void *constants)
{
	const struct feed_access access = access_of(constants);

	machine_load_late(thread->core, address, &access.registers);
}

static void on_load(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *constants)
{
	struct feed_thread *thread = thread_of(vcpu);
	const uint64_t word = (uintptr_t)constants;

	(void)info;
	if (!machine_load_hits(thread->core, address, feed_access_size(word)))
		load_missed(thread, address, constants);
	else if (machine_load_waits(thread->core, address, feed_access_registers(word)))
		load_late(thread, address, constants);
}

__attribute__((noinline)) static void store_missed(struct feed_thread *thread, uint64_t address,
						   const void *constants)
{
	const struct feed_access access = access_of(constants);

	feed_store(thread, address, &access);
}

static void on_store(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *constants)
{
	struct feed_thread *thread = thread_of(vcpu);

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

	feed_load_wide(thread_of(vcpu), address, wide_piece_bytes(info), &access);
}

static void on_store_wide(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address,
			  void *constants)
{
	const struct feed_access access = access_of(constants);

	feed_store_wide(thread_of(vcpu), address, wide_piece_bytes(info), &access);
}

static void on_update(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *constants)
{
	const struct feed_access access = access_of(constants);

	feed_update(thread_of(vcpu), address, qemu_plugin_mem_is_store(info), &access);
}

static void on_mixed(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *constants)
{
	const struct feed_access access = access_of(constants);

	feed_mixed(thread_of(vcpu), address, piece_bytes(info), qemu_plugin_mem_is_store(info),
		   &access);
}

static void on_locked(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *constants)
{
	const struct feed_access access = access_of(constants);

	feed_locked(thread_of(vcpu), address, qemu_plugin_mem_is_store(info), &access);
}

static void on_store_nt(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *access)
{
	(void)access;
	if (qemu_plugin_mem_is_store(info))
		machine_store_nt(thread_of(vcpu)->core, address, piece_bytes(info));
}

static void on_store_nt_wide(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address,
			     void *constants)
{
	const struct feed_access access = access_of(constants);

	feed_store_nt_wide(thread_of(vcpu), address, wide_piece_bytes(info), &access);
}

static void on_fast_string(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address,
			   void *repeat)
{
	feed_string(thread_of(vcpu), address, qemu_plugin_mem_is_store(info), repeat);
}

static const qemu_plugin_vcpu_mem_cb_t class_callbacks[] = {
    [FEED_LOAD] = on_load,
    [FEED_STORE] = on_store,
    [FEED_LOAD_WIDE] = on_load_wide,
    [FEED_STORE_WIDE] = on_store_wide,
    [FEED_UPDATE] = on_update,
    [FEED_MIXED] = on_mixed,
    [FEED_LOCKED] = on_locked,
    [FEED_STORE_NT] = on_store_nt,
    [FEED_STORE_NT_WIDE] = on_store_nt_wide,
    [FEED_FAST_STRING] = on_fast_string,
};

static bool decode(const struct qemu_plugin_insn *handle, struct feed_insn *insn)
{
	uint8_t bytes[INSN_BYTES_MAX];
	size_t length = qemu_plugin_insn_size(handle);

	if (length > sizeof(bytes))
		length = sizeof(bytes);
	plugin_insn_bytes(handle, bytes, length);
	return feed_decode(&plugin.decoder, bytes, length, insn);
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

static void *keep(size_t size)
{
	void *memory = feed_arena_alloc(&plugin.blocks, size);

	if (!memory) {
		error_set(plugin.ctx, PMU_E_NOMEM, "out of memory for translated blocks");
		give_up();
	}
	return memory;
}

static void *keep_block(const struct machine_block *block)
{
	return memcpy(keep(sizeof(*block)), block, sizeof(*block));
}

/* @return the plan, NULL where the machine has none */
static void *keep_plan(const struct feed_block *block, const struct feed_insn *insns, size_t count)
{
	_Alignas(struct machine_plan) char memory[MACHINE_PLAN_BYTES_MAX];
	size_t bytes = feed_block_plan((struct machine_plan *)memory, plugin.process.machine, block,
				       insns, count);

	return bytes ? memcpy(keep(bytes), memory, bytes) : NULL;
}

static void register_accesses(struct qemu_plugin_tb *tb, const struct feed_access *access,
			      struct feed_repeat *repeat, const struct feed_insn *insns,
			      size_t count)
{
	for (size_t i = 0; i < count; i++) {
		enum feed_class class = insns[i].class;
		void *constants = repeat;

		if (class == FEED_NONE)
			continue;
		/* It reports nothing, and version 1 reads no registers. */
		if (class >= FEED_UNREPORTED) {
			tell_hints_ignored();
			access++;
			continue;
		}
		if (class != FEED_FAST_STRING)
			constants = (void *)(uintptr_t)feed_access_pack(*access);
		qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i),
						 class_callbacks[class], QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW, constants);
		access++;
	}
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
	count = decode_block(tb, insns);
	causes_translation(tb, insns, count, plugin.guest_base);
	feed_block_init(block, plugin.process.machine, address, insns, count);
	plan = keep_plan(block, insns, count);
	if (feed_block_repeats(insns, count)) {
		repeat = keep(sizeof(*repeat));
		feed_repeat_init(repeat, plugin.process.machine, block, plan, insns, count);
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_repeating_block, QEMU_PLUGIN_CB_NO_REGS,
						     repeat);
	} else if (plan) {
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_planned_block, QEMU_PLUGIN_CB_NO_REGS,
						     plan);
	} else {
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS,
						     keep_block(&block->whole));
	}
	register_accesses(tb, block->accesses, repeat, insns, count);
	causes_translated(tb, insns, count);
}

/* Of a tool: what is translated is executed next. */
static void on_tool_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	const struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(tb, 0);

	(void)id;
	tell_begun();
	plugin.guest_base = (uint64_t)qemu_plugin_insn_haddr(first) - qemu_plugin_insn_vaddr(first);
}

static void on_tool_syscall(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1,
			    uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6,
			    uint64_t a7, uint64_t a8)
{
	const uint64_t arguments[] = {a1, a2, a3, a4, a5, a6};

	(void)id, (void)vcpu, (void)a7, (void)a8;
	if (feed_is_exec(number))
		exec_guest(NULL, NULL, number, arguments, plugin.guest_base, plugin.report);
	handlers_syscall(number, arguments, plugin.guest_base);
	feed_files_syscall(&tool_thread, number, arguments);
}

static void on_tool_syscall_return(qemu_plugin_id_t id, unsigned vcpu, int64_t number,
				   int64_t result)
{
	(void)id, (void)vcpu;
	if (feed_is_exec(number))
		exec_guest_failed();
	handlers_syscall_return(number, result);
	/* What it may find in the computer's files is changed there: the result stays. */
	if (plugin.process.all_cpus)
		feed_files_return(&plugin.process, &tool_thread, number, result, plugin.guest_base);
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
static void find_sets_of_tool(void)
{
	plugin.process.all_cpus = read_list("/sys/devices/system/cpu/online");
	plugin.process.all_nodes = (uint32_t)read_list("/sys/devices/system/node/online");
}

static void on_flush(qemu_plugin_id_t id)
{
	(void)id;
	feed_arena_empty(&plugin.blocks);
}

/* Runs on the thread that makes the new one, which is in the system call that does so. */
static void on_thread_begin(qemu_plugin_id_t id, unsigned vcpu)
{
	(void)id;
	if (feed_process_begin(&plugin.process, plugin.ctx, vcpu, current))
		give_up();
}

static void on_thread_end(qemu_plugin_id_t id, unsigned vcpu)
{
	(void)id;
	feed_thread_exit(thread_of(vcpu));
}

static void on_syscall(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2,
		       uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
	const uint64_t arguments[] = {a1, a2, a3, a4, a5, a6};

	(void)id, (void)a7, (void)a8;
	if (feed_is_exec(number))
		exec_guest(&plugin.process, thread_of(vcpu), number, arguments, plugin.guest_base,
			   plugin.report);
	handlers_syscall(number, arguments, plugin.guest_base);
	causes_syscall(number);
	feed_affinity_syscall(&plugin.process, thread_of(vcpu), number, arguments,
			      plugin.guest_base);
	feed_clock_syscall(&plugin.process, thread_of(vcpu), number, arguments, plugin.guest_base);
	feed_files_syscall(thread_of(vcpu), number, arguments);
	feed_numa_syscall(thread_of(vcpu), number, arguments);
	feed_kernel_io_syscall(&plugin.process, thread_of(vcpu), number, arguments);
	feed_mappings_syscall(thread_of(vcpu), number, arguments);
	feed_syscall(thread_of(vcpu), number, arguments);
}

static void on_syscall_return(qemu_plugin_id_t id, unsigned vcpu, int64_t number, int64_t result)
{
	int64_t answer;

	(void)id;
	if (feed_is_exec(number))
		exec_guest_failed();
	handlers_syscall_return(number, result);
	feed_affinity_return(&plugin.process, thread_of(vcpu), number, result);
	feed_clock_return(&plugin.process, thread_of(vcpu), number, result);
	answer =
	    feed_files_return(&plugin.process, thread_of(vcpu), number, result, plugin.guest_base);
	answer =
	    feed_numa_return(&plugin.process, thread_of(vcpu), number, answer, plugin.guest_base);
	feed_mappings_return(&plugin.process, thread_of(vcpu), number, result);
	feed_syscall_return(&plugin.process, thread_of(vcpu), result);
	feed_kernel_io_return(&plugin.process, thread_of(vcpu), number, result, plugin.guest_base);
	if (answer != result)
		answer_set(thread_of(vcpu), answer);
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
	if (feed_process_forked(&plugin.process, (unsigned)(current - plugin.process.threads))) {
		error_set(plugin.ctx, PMU_E_NOMEM, "out of memory for a forked guest");
		give_up();
	}
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

static void register_events(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_init_cb(id, on_thread_begin);
	qemu_plugin_register_vcpu_exit_cb(id, on_thread_end);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_flush_cb(id, on_flush);
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
		give_up();
	}
	if (read_arguments(argc, argv, &arguments) || map_report(arguments.report))
		give_up();
	if (!arguments.machine) {
		exec_init_tool(arguments.report, plugin.report);
		find_sets_of_tool();
		qemu_plugin_register_vcpu_tb_trans_cb(id, on_tool_translation);
		qemu_plugin_register_vcpu_syscall_cb(id, on_tool_syscall);
		qemu_plugin_register_vcpu_syscall_ret_cb(id, on_tool_syscall_return);
		return 0;
	}
	if (attach(arguments.machine))
		give_up();
	set_answers();
	causes_begin(plugin.emul, &(struct causes_plugin){&plugin.process, enter, keep});
	exec_init(arguments.machine, arguments.report);
	feed_decoder_init(&plugin.decoder);
	pthread_atfork(on_fork, NULL, on_fork_in_child);
	register_events(id);
	return 0;
}
