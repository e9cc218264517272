/*
 * The Valgrind tool: runs a guest's threads on an emulated machine, one at a time.
 *
 *     valgrind --tool=pmulab --trace-children=yes --machine=PATH [--report=PATH] PROGRAM
 *
 * The paths are those of the machine's shared block (emul/block.h) and of memory in which the tool
 * tells what becomes of the guest (emul/report.h). What the QEMU plugin says of blocks and forks
 * holds here too. What a guest executes by execve Valgrind follows, with the same options; or it
 * runs natively, where the machine cannot run it.
 */
#include <errno.h>
#include <linux/futex.h>

#include "pub_tool_basics.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_options.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_vkiscnums.h"

#include "libvex_guest_amd64.h"

#include "base/error.h"
#include "emul/block.h"
#include "emul/report.h"
#include "feed/affinity.h"
#include "feed/clock.h"
#include "feed/exec.h"
#include "feed/files.h"
#include "feed/kernel_io.h"
#include "feed/mappings.h"
#include "feed/numa.h"
#include "feed/syscall.h"
#include "guest.h"
#include "instrument.h"
#include "own.h"

#define ARCH_SET_FS  0x1002
#define THREAD_BYTES 4096

#define YIELDING 4 /* enum ThreadStatus: VgTs_Yielding */

long syscall(long number, ...);
int access(const char *path, int mode);

/* Valgrind's own; no header that it installs declares them. */
void VG_(release_BigLock)(ThreadId tid, Int status, const HChar *who);
void VG_(acquire_BigLock)(ThreadId tid, const HChar *who);
Bool VG_(is_exiting)(ThreadId tid);
extern Bool VG_(clo_trace_children);

/* The linker's names: of functions of Valgrind's, and of what it calls in their place. */
void __real_vgPlain_acquire_BigLock(ThreadId tid, const HChar *who);
void __wrap_vgPlain_acquire_BigLock(ThreadId tid, const HChar *who);
void __real_vgPlain_nuke_all_threads_except(ThreadId tid, Int reason);
void __wrap_vgPlain_nuke_all_threads_except(ThreadId tid, Int reason);
SysRes __real_vgPlain_pre_exec_check(const HChar *path, Int *error, Bool may_raise_rights);
SysRes __wrap_vgPlain_pre_exec_check(const HChar *path, Int *error, Bool may_raise_rights);

struct guest guest;

static struct {
	struct pmu_ctx *ctx;
	struct emul *emul;
	struct emul_report *report;
	const HChar *machine_path, *report_path; /* NULL: not given */
	struct feed_exec exec;			 /* what the guest executes */
	uint32_t *native;			 /* it runs natively; NULL */
	ThreadId executes;			 /* another program takes its place; 0: of none */
	uint32_t threads;			 /* futex: the guest's, that have not ended */
	bool waits; /* the thread that runs, once its slice has ended */
} tool;

void own_give_up(const char *why)
{
	if (tool.report && !tool.report->began)
		VG_(snprintf)(tool.report->refusal, sizeof(tool.report->refusal), "%s", why);
	else
		VG_(umsg)("%s\n", why);
	VG_(exit)(1);
}

static void enter(struct feed_thread *thread)
{
	feed_thread_enter(thread, guest.process.machine, guest.process.space);
	if (!thread->core)
		own_give_up("out of memory for a guest thread");
	feed_causes_enter(&guest.causes, thread);
}

void guest_enter(void)
{
	if (tool.report)
		tool.report->began = 1;
	enter(guest.current);
	guest.hart = guest.current->core;
}

static struct feed_thread *thread_of(ThreadId tid)
{
	return &guest.process.threads[tid];
}

static void on_thread_new(ThreadId parent, ThreadId child)
{
	if (feed_process_begin(&guest.process, tool.ctx, child, parent ? thread_of(parent) : NULL))
		own_give_up(pmu_message(tool.ctx));
	__atomic_fetch_add(&tool.threads, 1, __ATOMIC_SEQ_CST);
}

/*
 * One thread runs at a time: who holds Valgrind's lock. Where one would wait for another on the
 * machine, its slice ends before the next superblock, and it waits without the lock.
 */
void guest_end_slice(void)
{
	VexGuestAMD64State *state = guest.state;

	tool.waits = true;
	state->host_EvC_COUNTER = 0;
}

/* Only where the slice has ended is nothing of Valgrind's kept that others could drop meanwhile. */
static void on_stop(ThreadId tid, ULong blocks_done)
{
	const VexGuestAMD64State *state = guest.state;

	(void)blocks_done;
	if (!tool.waits || (Int)state->host_EvC_COUNTER >= 0)
		return;
	tool.waits = false;
	if (!guest.hart)
		return;
	VG_(release_BigLock)(tid, YIELDING, "pmulab");
	feed_thread_wait(thread_of(tid));
	VG_(acquire_BigLock)(tid, "pmulab");
}

static void on_run(ThreadId tid, ULong blocks_done)
{
	(void)blocks_done;
	guest.current = thread_of(tid);
	guest.hart = guest.current->core;
}

static void on_thread_end(ThreadId tid)
{
	feed_process_end_thread(&guest.process, thread_of(tid));
	__atomic_fetch_sub(&tool.threads, 1, __ATOMIC_SEQ_CST);
	syscall(__NR_futex, (long)&tool.threads, FUTEX_WAKE, 1, 0, 0, 0);
}

/* Valgrind follows if told to, before it looks at the program. */
static void on_exec(ThreadId tid, UInt number, const uint64_t *arguments)
{
	struct feed_exec *exec = &tool.exec;

	feed_exec_read(exec, number, arguments, 0, NULL);
	/* Where the guest has become another user, or has another root. */
	if (exec->fate == FEED_EXEC_EMULATED && access(tool.machine_path, 4 /* R_OK */)) {
		exec->fate = FEED_EXEC_NATIVE;
		exec->why = "no emulator can be started there";
	}
	VG_(clo_trace_children) = exec->fate != FEED_EXEC_NATIVE;
	tool.native = NULL;
	tool.executes = tid;
	if (exec->fate == FEED_EXEC_NATIVE) {
		feed_thread_leave(thread_of(tid));
		feed_process_keep_times(&guest.process);
		tool.native = emul_report_native(tool.report, exec->path, exec->why);
	}
}

/*
 * Valgrind looks at the file alone: what the system refuses behind that, as a script whose
 * interpreter is missing, would be the end of the guest. So the system is asked before.
 */
SysRes __wrap_vgPlain_pre_exec_check(const HChar *path, Int *error, Bool may_raise_rights)
{
	const struct feed_exec *exec = &tool.exec;

	if (!tool.executes || exec->fate != FEED_EXEC_FAILS)
		return __real_vgPlain_pre_exec_check(path, error, may_raise_rights);
	syscall(__NR_execve, (long)path, (long)exec->argv, (long)exec->envp, 0, 0, 0);
	return (SysRes){._val = (UWord)errno, ._isError = True};
}

static void on_exec_failed(void)
{
	VG_(clo_trace_children) = True;
	emul_native_failed(tool.native);
	tool.native = NULL;
	tool.executes = 0;
}

static void on_syscall(ThreadId tid, UInt number, UWord *arguments, UInt count)
{
	uint64_t six[6] = {0};

	for (UInt i = 0; i < count && i < 6; i++)
		six[i] = arguments[i];
	if (feed_is_exec(number))
		on_exec(tid, number, six);
	if (guest.causes.asked)
		feed_causes_syscall(&guest.causes, number);
	feed_affinity_syscall(&guest.process, thread_of(tid), number, six, 0);
	feed_clock_syscall(&guest.process, thread_of(tid), number, six, 0);
	feed_files_syscall(thread_of(tid), number, six);
	feed_numa_syscall(thread_of(tid), number, six);
	feed_kernel_io_syscall(&guest.process, thread_of(tid), number, six);
	feed_mappings_syscall(thread_of(tid), number, six);
	feed_syscall(&guest.process, thread_of(tid), number, six);
}

/* On the machine a thread goes on; it waits for others while it does not have Valgrind's lock. */
static void go_on(struct feed_thread *thread)
{
	feed_thread_come_back(thread);
	feed_thread_resume(thread);
	if (thread->placed)
		enter(thread);
}

static bool goes_on(ThreadId tid)
{
	const struct feed_thread *thread = thread_of(tid);

	return tid != tool.executes && !VG_(is_exiting)(tid) && !feed_clock_sleeps(thread) &&
	       !feed_thread_is_misplaced(thread);
}

/*
 * A thread begins, or comes back from the system: who has the lock finds it on the machine, and
 * waits for it. One that is to sleep on the machine's clock, or to change its core, does so when it
 * has the lock. While another has it in vfork(), others may get the turn: it comes for one anew, as
 * the host decides which of several gets the lock first.
 */
void __wrap_vgPlain_acquire_BigLock(ThreadId tid, const HChar *who)
{
	if (guest.current && goes_on(tid))
		go_on(thread_of(tid));
	__real_vgPlain_acquire_BigLock(tid, who);
	while (guest.current && goes_on(tid) && !feed_thread_has_turn(thread_of(tid))) {
		VG_(release_BigLock)(tid, YIELDING, "pmulab");
		feed_thread_wait(thread_of(tid));
		__real_vgPlain_acquire_BigLock(tid, who);
	}
}

/* They go on until they see that they are to end. To the machine this one is in a system call. */
static void await_ends(ThreadId tid)
{
	uint32_t threads;

	VG_(release_BigLock)(tid, YIELDING, "pmulab");
	while ((threads = __atomic_load_n(&tool.threads, __ATOMIC_SEQ_CST)) > 1)
		syscall(__NR_futex, (long)&tool.threads, FUTEX_WAIT, threads, 0, 0, 0);
	__real_vgPlain_acquire_BigLock(tid, "pmulab");
}

/* A thread that ends the others waits for them, and they may wait for it on the machine. */
void __wrap_vgPlain_nuke_all_threads_except(ThreadId tid, Int reason)
{
	if (guest.current)
		feed_thread_pause(thread_of(tid));
	__real_vgPlain_nuke_all_threads_except(tid, reason);
	if (!guest.current)
		return;
	await_ends(tid);
	if (tid != tool.executes)
		feed_thread_end(thread_of(tid));
	else if (tool.exec.fate == FEED_EXEC_EMULATED)
		feed_exec_hand_on(&guest.process, thread_of(tid));
}

static void set_result(ThreadId tid, int64_t result)
{
	UChar bytes[sizeof(result)];

	VG_(memcpy)(bytes, &result, sizeof(result));
	VG_(set_shadow_regs_area)
	(tid, 0, offsetof(VexGuestAMD64State, guest_RAX), sizeof(bytes), bytes);
}

static void on_syscall_return(ThreadId tid, UInt number, UWord *arguments, UInt count,
			      SysRes status)
{
	const int64_t result =
	    sr_isError(status) ? -(int64_t)sr_Err(status) : (int64_t)sr_Res(status);
	int64_t answer;

	(void)arguments, (void)count;
	feed_thread_come_back(thread_of(tid));
	if (feed_is_exec(number))
		on_exec_failed();
	feed_affinity_return(&guest.process, thread_of(tid), number, result);
	answer = feed_clock_return(&guest.process, thread_of(tid), number, result);
	answer = feed_files_return(&guest.process, thread_of(tid), number, answer, 0);
	answer = feed_numa_return(&guest.process, thread_of(tid), number, answer, 0);
	feed_mappings_return(&guest.process, thread_of(tid), number, result);
	if (answer != result)
		set_result(tid, answer);
	/* What these allocate and free is of Valgrind's heap, and that is of who has the lock. */
	feed_process_made(&guest.process, thread_of(tid), result);
	feed_thread_move(thread_of(tid));
	VG_(release_BigLock)(tid, YIELDING, "pmulab");
	feed_syscall_return(&guest.process, thread_of(tid), result);
	VG_(acquire_BigLock)(tid, "pmulab");
	feed_kernel_io_return(&guest.process, thread_of(tid), number, result, 0);
}

static void on_fork(ThreadId tid)
{
	feed_process_forks(&guest.process, thread_of(tid));
}

static void on_fork_in_child(ThreadId tid)
{
	guest.hart = NULL;
	tool.threads = 1;
	feed_process_forked(&guest.process, tid);
}

/*
 * Valgrind itself has no thread storage: its threads inherit this, for the decoder's stack
 * protector, which is 0. Variables of threads, which lie below, are never written.
 */
static void give_thread_storage(void)
{
	void *block = own_map(THREAD_BYTES);

	if (block == (void *)-1 ||
	    syscall(__NR_arch_prctl, (long)ARCH_SET_FS, (long)block + THREAD_BYTES / 2, 0, 0, 0, 0))
		own_give_up("no thread storage for the decoder");
}

static Int open_shared(const HChar *path)
{
	SysRes result = VG_(open)(path, VKI_O_RDWR, 0);

	if (!sr_isError(result))
		return (Int)sr_Res(result);
	error_set(tool.ctx, PMU_E_IO, "the emulator cannot open %s", path);
	own_give_up(pmu_message(tool.ctx));
}

static void map_report(void)
{
	void *report;
	Int fd;

	if (!tool.report_path)
		return;
	fd = open_shared(tool.report_path);
	report = own_map_shared(fd, sizeof(*tool.report), 0);
	if (report == (void *)-1)
		own_give_up("cannot map memory");
	VG_(close)(fd);
	tool.report = report;
}

static void ask_causes(void)
{
	struct attribution *attribution = emul_attribution(tool.emul);
	const struct feed_asker asker = {
	    .arg = attribution,
	    .module = attribution_module,
	    .region = attribution_region,
	    .context = attribution_context,
	    .offset_bits = ATTRIBUTION_OFFSET_BITS,
	    .accounts = attribution && attribution_accounts(attribution->table),
	};

	feed_causes_init(&guest.causes, attribution ? &asker : NULL);
}

static const char *files_folder(void *report, int *errnum)
{
	return emul_report_folder(report, errnum);
}

static const char *made_folder(void *report)
{
	return emul_report_made_folder(report);
}

static void attach(void)
{
	Int fd = open_shared(tool.machine_path);

	if (emul_attach(&tool.emul, tool.ctx, fd) ||
	    feed_process_init(&guest.process, tool.ctx, emul_machine(tool.emul)))
		own_give_up(pmu_message(tool.ctx));
	VG_(close)(fd);
	feed_mappings_begin(&guest.process, 0);
	guest.process.answers = true;
	guest.process.waits_for_children = true;
	if (tool.report)
		guest.process.files = (struct feed_files){files_folder, made_folder, tool.report};
	ask_causes();
}

static void begin(void)
{
	const char *wrong;

	if (pmu_ctx_new(&tool.ctx))
		own_give_up("out of memory");
	map_report();
	if (!tool.machine_path)
		own_give_up("the tool takes --machine=PATH, an emulated machine");
	give_thread_storage();
	wrong = own_load_decoder(ZYDIS_LIBRARY);
	if (wrong) {
		error_set(tool.ctx, PMU_E_IO, "cannot load %s: %s", ZYDIS_LIBRARY, wrong);
		own_give_up(pmu_message(tool.ctx));
	}
	feed_decoder_init(&guest.decoder);
	attach();
	machine_defer_waits(guest.process.machine, guest_end_slice);
	instrument_init();
}

static IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
			const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
			IRType host_word)
{
	(void)layout, (void)extents, (void)host;
	if (guest_word != host_word)
		VG_(tool_panic)("a guest of another word size");
	return instrument_superblock(closure, in);
}

static void finish(Int code)
{
	(void)code;
	feed_process_end(&guest.process);
}

static Bool take_option(const HChar *option)
{
	if (VG_STR_CLO(option, "--machine", tool.machine_path)) {
	} else if (VG_STR_CLO(option, "--report", tool.report_path)) {
	} else {
		return False;
	}
	return True;
}

static void print_usage(void)
{
	VG_(printf)
	("    --machine=PATH    of an emulated machine\n"
	 "    --report=PATH     of where it is told what becomes of the guest\n");
}

static void print_debug_usage(void)
{
	VG_(printf)("    (none)\n");
}

static void register_tool(void)
{
	VG_(details_name)("pmulab");
	VG_(details_version)(NULL);
	VG_(details_description)("feeds an emulated machine");
	VG_(details_copyright_author)("See LICENSE.");
	VG_(details_bug_reports_to)("pmulab");
	VG_(basic_tool_funcs)(begin, instrument, finish);
	VG_(needs_command_line_options)(take_option, print_usage, print_debug_usage);
	VG_(needs_superblock_discards)(instrument_discard);
	VG_(needs_syscall_wrapper)(on_syscall, on_syscall_return);
	VG_(track_pre_thread_ll_create)(on_thread_new);
	VG_(track_pre_thread_ll_exit)(on_thread_end);
	VG_(track_start_client_code)(on_run);
	VG_(track_stop_client_code)(on_stop);
	VG_(atfork)(on_fork, NULL, on_fork_in_child);
}

VG_DETERMINE_INTERFACE_VERSION(register_tool)
