/*
 * Loaded into tools on an emulated machine (LD_PRELOAD), whose processors the emulator cannot show
 * them. Each CPUID and RDTSC of the program and its libraries is replaced by one that traps, and
 * answered from /dev/cpu/N/cpuid and msr. What is an instruction is found by decoding its function
 * from the beginning, which the unwind tables tell. The loader's are left as they are.
 */
#include <Zydis/Zydis.h>
#include <cpuid.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <ucontext.h>
#include <unistd.h>

#include "emul/guest.h"
#include "guest.h"

#define SITES_MAX  1024
#define PAGE_BYTES 4096

#define IA32_TIME_STAMP_COUNTER 0x10 /* what RDTSC reads, 325384 */

/* The instructions that are replaced: all begin with 0F, as does UD2 (0F 0B), which faults. */
enum kind { CPUID, RDTSC, RDTSCP, KINDS };

#define FIRST_BYTE 0x0F
#define UD2_SECOND 0x0B

static const struct {
	uint8_t size, bytes[3];
} instructions[KINDS] = {
    [CPUID] = {2, {FIRST_BYTE, 0xA2}},
    [RDTSC] = {2, {FIRST_BYTE, 0x31}},
    [RDTSCP] = {3, {FIRST_BYTE, 0x01, 0xF9}},
};

/* For who is about to load it: the loader itself says nothing of what it cannot load. */
EXPORT const char pmulab_guest_mark[] = GUEST_NAME " " GUEST_VERSION;

/* The loader calls with nothing of ours: there is one of this in a process. */
static struct {
	ZydisDecoder decoder;
	pthread_mutex_t patching;
	const void *seen[256]; /* objects that were searched, by address */
	size_t seen_count;
	bool host_time; /* RDTSC is left alone: a machine's time that stands would confuse tools */
	struct site {
		uint8_t *at;
		enum kind kind;
	} sites[SITES_MAX];
	size_t site_count;
	struct sigaction wanted; /* what the tool would have done with SIGILL */
	bool listening;		 /* it is ours */
} guest = {.patching = PTHREAD_MUTEX_INITIALIZER};

/* In a signal handler: only what may be called there. @return whether the machine has answered */
static bool ask_machine(const char *file, off_t position, void *answer, size_t size)
{
	char path[32];
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "/dev/cpu/%d/%s", guest_cpu(), file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	length = pread(fd, answer, size, position);
	close(fd);
	return length == (ssize_t)size;
}

static void answer_cpuid(greg_t *registers)
{
	uint32_t leaf = (uint32_t)registers[REG_RAX], subleaf = (uint32_t)registers[REG_RCX];
	uint32_t answer[4];

	if (!ask_machine("cpuid", (off_t)((uint64_t)subleaf << 32 | leaf), answer, sizeof(answer)))
		__cpuid_count(leaf, subleaf, answer[0], answer[1], answer[2], answer[3]);
	registers[REG_RAX] = answer[0];
	registers[REG_RBX] = answer[1];
	registers[REG_RCX] = answer[2];
	registers[REG_RDX] = answer[3];
}

static void answer_time(greg_t *registers)
{
	uint64_t time;

	if (!ask_machine("msr", IA32_TIME_STAMP_COUNTER, &time, sizeof(time)))
		time = __builtin_ia32_rdtsc();
	registers[REG_RAX] = (greg_t)(time & UINT32_MAX);
	registers[REG_RDX] = (greg_t)(time >> 32);
}

static const struct site *find_site(const uint8_t *at)
{
	size_t count = __atomic_load_n(&guest.site_count, __ATOMIC_ACQUIRE);

	for (size_t i = 0; i < count; i++)
		if (guest.sites[i].at == at)
			return &guest.sites[i];
	return NULL;
}

/* Of libc, below those that the tool calls. */
static int real_sigaction(int signal, const struct sigaction *action, struct sigaction *before)
{
	static int (*real)(int, const struct sigaction *, struct sigaction *);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "sigaction");
	return real(signal, action, before);
}

/* An instruction that is none of ours has the effect that it has without us. */
static void hand_on(int signal, siginfo_t *info, void *context)
{
	const struct sigaction *wanted = &guest.wanted;

	if (wanted->sa_flags & SA_SIGINFO)
		wanted->sa_sigaction(signal, info, context);
	else if (wanted->sa_handler != SIG_DFL && wanted->sa_handler != SIG_IGN)
		wanted->sa_handler(signal);
	else
		/* It happens again. */
		real_sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
}

/* Tools that handle all signals, as bash does, would take from us what we live by. */
EXPORT int sigaction(int signal, const struct sigaction *action, struct sigaction *before)
{
	struct sigaction kept = guest.wanted;

	if (signal != SIGILL || !guest.listening)
		return real_sigaction(signal, action, before);
	if (action)
		guest.wanted = *action;
	if (before)
		*before = kept;
	return 0;
}

EXPORT sighandler_t signal(int signal, sighandler_t handler)
{
	const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
	struct sigaction before;

	return sigaction(signal, &action, &before) ? SIG_ERR : before.sa_handler;
}

static const sigset_t *without_ours(const sigset_t *set, sigset_t *copy)
{
	if (!set || !guest.listening)
		return set;
	*copy = *set;
	sigdelset(copy, SIGILL);
	return copy;
}

EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
	static int (*real)(int, const sigset_t *, sigset_t *);
	sigset_t copy;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "sigprocmask");
	return real(how, how == SIG_UNBLOCK ? set : without_ours(set, &copy), before);
}

EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
	static int (*real)(int, const sigset_t *, sigset_t *);
	sigset_t copy;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_sigmask");
	return real(how, how == SIG_UNBLOCK ? set : without_ours(set, &copy), before);
}

/* QEMU 7.2 enters handlers with a stack that is not aligned as the ABI wants it. */
__attribute__((force_align_arg_pointer)) static void
on_illegal_instruction(int signal, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	const struct site *site = find_site((const uint8_t *)registers[REG_RIP]);
	int saved = errno;

	if (!site) {
		hand_on(signal, info, context);
		errno = saved;
		return;
	}
	if (site->kind == CPUID)
		answer_cpuid(registers);
	else
		answer_time(registers);
	/* Linux keeps the CPU's number there; node 0, as numbers go over all sockets. */
	if (site->kind == RDTSCP)
		registers[REG_RCX] = guest_cpu();
	registers[REG_RIP] += instructions[site->kind].size;
	errno = saved;
}

/* Of libgcc: finds the unwind entry of an address, and with it where the function begins. */
struct dwarf_eh_bases {
	void *text, *data, *function;
};
const void *_Unwind_Find_FDE(void *address, struct dwarf_eh_bases *bases);

/* Whether decoding from the function's beginning leads to an instruction right here. */
static bool is_instruction(uint8_t *at)
{
	struct dwarf_eh_bases bases = {0};
	const uint8_t *next;

	if (!_Unwind_Find_FDE(at, &bases) || !bases.function)
		return false;
	for (next = bases.function; next < at;) {
		ZydisDecodedInstruction instruction;

		/* One that is longer than what is left goes across. */
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(
			&guest.decoder, NULL, next, (ZyanUSize)(at - next), &instruction)))
			return false;
		next += instruction.length;
	}
	return next == at;
}

/* One byte is written: no thread can find half of it. */
static void patch(uint8_t *at, enum kind kind)
{
	uint8_t *page = (uint8_t *)((uintptr_t)(at + 1) & ~(uintptr_t)(PAGE_BYTES - 1));

	if (guest.site_count == SITES_MAX ||
	    mprotect(page, PAGE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC))
		return;
	guest.sites[guest.site_count] = (struct site){at, kind};
	__atomic_store_n(&guest.site_count, guest.site_count + 1, __ATOMIC_RELEASE);
	at[1] = UD2_SECOND;
	mprotect(page, PAGE_BYTES, PROT_READ | PROT_EXEC);
}

static void patch_segment(uint8_t *first, size_t size, enum kind kind)
{
	const uint8_t *bytes = instructions[kind].bytes;
	uint8_t *end = first + size, *at = first;

	while ((at = memmem(at, (size_t)(end - at), bytes, instructions[kind].size))) {
		if (is_instruction(at))
			patch(at, kind);
		at += instructions[kind].size;
	}
}

static bool contains(const struct dl_phdr_info *object, const void *address)
{
	uintptr_t offset = (uintptr_t)address - object->dlpi_addr;

	for (int i = 0; i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_LOAD &&
		    offset - object->dlpi_phdr[i].p_vaddr < object->dlpi_phdr[i].p_memsz)
			return true;
	return false;
}

static bool is_new(const struct dl_phdr_info *object)
{
	const void *address = object->dlpi_phdr;

	for (size_t i = 0; i < guest.seen_count; i++)
		if (guest.seen[i] == address)
			return false;
	if (guest.seen_count < sizeof(guest.seen) / sizeof(guest.seen[0]))
		guest.seen[guest.seen_count++] = address;
	return true;
}

/* Not the loader, which has chosen its code already, nor this library. */
static int patch_object(struct dl_phdr_info *object, size_t size, void *arg)
{
	(void)size, (void)arg;
	if (!is_new(object) || strstr(object->dlpi_name, "/ld-linux") ||
	    contains(object, instructions))
		return 0;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
			continue;
		for (enum kind kind = 0; kind < (guest.host_time ? RDTSC : KINDS); kind++)
			patch_segment((uint8_t *)object->dlpi_addr + segment->p_vaddr,
				      segment->p_filesz, kind);
	}
	return 0;
}

static void patch_all(void)
{
	pthread_mutex_lock(&guest.patching);
	dl_iterate_phdr(patch_object, NULL);
	pthread_mutex_unlock(&guest.patching);
}

EXPORT void *dlopen(const char *name, int mode)
{
	void *(*real)(const char *, int) = NULL;
	void *object;

	*(void **)&real = dlsym(RTLD_NEXT, "dlopen");
	object = real ? real(name, mode) : NULL;
	if (object)
		patch_all();
	return object;
}

/* The emulator loads this library into what the tool executes; into what runs natively nobody does.
 */
static void leave_environment(void)
{
	const char *given = getenv("LD_PRELOAD"), *rest = given ? strchr(given, ':') : NULL;

	if (rest)
		setenv("LD_PRELOAD", rest + 1, 1);
	else
		unsetenv("LD_PRELOAD");
}

__attribute__((constructor)) static void begin(void)
{
	const struct sigaction action = {
	    .sa_sigaction = on_illegal_instruction,
	    .sa_flags = SA_SIGINFO | SA_NODEFER,
	};

	leave_environment();
	guest_affinity_begin();
	guest.host_time = getenv("PMULAB_HOST_TIME");
	if (!ZYAN_SUCCESS(ZydisDecoderInit(&guest.decoder, ZYDIS_MACHINE_MODE_LONG_64,
					   ZYDIS_STACK_WIDTH_64)) ||
	    real_sigaction(SIGILL, &action, &guest.wanted))
		return;
	guest.listening = true;
	patch_all();
}
