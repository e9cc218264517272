#include "handlers.h"

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "feed/memory.h"

#define SIGNALS	    65
#define ENTRY_BYTES 64
#define CODE_BYTES  8192 /* an entry for each signal */
#define SLOT_OFFSET 8192 /* from an entry to where it goes on, in pages without code */

/* As the system has it. */
struct guest_sigaction {
	uint64_t handler, flags, restorer, mask;
};

/* Maps memory for the guest: QEMU's own. */
__attribute__((weak)) int64_t target_mmap(uint64_t start, uint64_t size, int protection, int flags,
					  int fd, uint64_t offset);

/*
 * Entered like a handler. Where the stack is off, the frame moves down by a word, up to where the
 * context says by address that the SSE state is. Whoever unwinds or returns finds a frame.
 */
extern const char handlers_entry[ENTRY_BYTES];
__asm__(".pushsection .rodata\n"
	".balign 64\n"
	".hidden handlers_entry\n"
	".globl handlers_entry\n"
	"handlers_entry:\n"
	"	testb $8, %spl\n"
	"	jnz 1f\n"
	"	mov %edi, %eax\n"
	"	lea -8(%rsi), %r8\n"
	"	lea -8(%rdx), %r9\n"
	"	mov %rsp, %rsi\n"
	"	lea -8(%rsp), %rdi\n"
	"	mov %rdi, %rsp\n"
	"	mov $56, %ecx\n"
	"	rep movsq\n"
	"	mov %eax, %edi\n"
	"	mov %r8, %rsi\n"
	"	mov %r9, %rdx\n"
	"	xor %eax, %eax\n"
	"1:	jmp *handlers_entry + 8192(%rip)\n"
	".org handlers_entry + 64\n"
	".popsection\n");

static uint64_t code;		  /* guest address; 0: none yet */
static uint64_t targets[SIGNALS]; /* the guest's handlers */

/* The call that the thread is in. */
static _Thread_local struct {
	uint64_t guest_base, action,
	    old_action; /* guest addresses; action: 0 where it is as it was */
	uint64_t handler, previous;
	unsigned signal; /* SIGNALS: none */
} call = {.signal = SIGNALS};

static uint64_t *slot_of(unsigned signal, uint64_t guest_base)
{
	return (uint64_t *)(uintptr_t)(guest_base + code + signal * ENTRY_BYTES + SLOT_OFFSET);
}

static void make_code(uint64_t guest_base)
{
	static_assert(SIGNALS * ENTRY_BYTES <= CODE_BYTES, "each signal has an entry");
	int64_t address;

	if (code || !target_mmap)
		return;
	address = target_mmap(0, CODE_BYTES + SLOT_OFFSET, PROT_READ | PROT_WRITE | PROT_EXEC,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (address <= 0)
		return;
	for (unsigned i = 0; i < SIGNALS; i++)
		memcpy((char *)(uintptr_t)(guest_base + (uint64_t)address + i * ENTRY_BYTES),
		       handlers_entry, ENTRY_BYTES);
	__atomic_store_n(&code, (uint64_t)address, __ATOMIC_RELEASE);
}

/* @return whether there is code to go through */
static bool has_code(uint64_t guest_base)
{
	static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&making);
	make_code(guest_base);
	pthread_mutex_unlock(&making);
	return code;
}

bool handlers_own(uint64_t address)
{
	return code && address - code < CODE_BYTES;
}

static bool put(uint64_t address, uint64_t value)
{
	return feed_memory_write(address, &value, sizeof(value));
}

static void set(unsigned signal, uint64_t handler)
{
	targets[signal] = handler;
	__atomic_store_n(slot_of(signal, call.guest_base), handler, __ATOMIC_RELEASE);
}

/* Not for the default, nor to be ignored. */
static bool is_handler(uint64_t handler)
{
	return handler > 1 && !handlers_own(handler);
}

void handlers_syscall(int64_t number, const uint64_t *arguments, uint64_t guest_base)
{
	struct guest_sigaction action;

	if (number != SYS_rt_sigaction || arguments[0] >= SIGNALS)
		return;
	call.guest_base = guest_base;
	call.signal = (unsigned)arguments[0];
	call.action = 0;
	call.old_action = arguments[2];
	call.previous = targets[call.signal];
	if (!arguments[1] ||
	    feed_memory_read(&action, guest_base + arguments[1], sizeof(action)) !=
		sizeof(action) ||
	    !is_handler(action.handler) || !has_code(guest_base) ||
	    !put(guest_base + arguments[1], code + call.signal * ENTRY_BYTES))
		return;
	call.action = arguments[1];
	call.handler = action.handler;
	set(call.signal, action.handler);
}

void handlers_syscall_return(int64_t number, int64_t result)
{
	uint64_t old;

	if (number != SYS_rt_sigaction || call.signal >= SIGNALS)
		return;
	if (call.action) {
		put(call.guest_base + call.action, call.handler);
		if (result < 0)
			set(call.signal, call.previous);
	}
	if (!result && call.old_action &&
	    feed_memory_read(&old, call.guest_base + call.old_action, sizeof(old)) == sizeof(old) &&
	    handlers_own(old))
		put(call.guest_base + call.old_action, call.previous);
	call.signal = SIGNALS;
}
