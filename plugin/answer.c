/*
 * QEMU writes the result of a call to the guest's RAX after the callback of its return, so that it
 * is changed when the next block begins: no register of the guest's is held elsewhere then. A
 * signal that was waiting already and is delivered in between saves QEMU's result.
 */
#include "answer.h"

#include <dlfcn.h>
#include <string.h>

#define GUEST_RAX 0 /* in gdb's numbers */

/* QEMU's own: writes a register of a vCPU as gdb would. */
typedef int write_register(void *cpu, uint8_t *bytes, int number);

static write_register *find_writer(void)
{
	void *symbol = dlsym(RTLD_DEFAULT, "x86_cpu_gdb_write_register");
	write_register *writer;

	memcpy(&writer, &symbol, sizeof(symbol));
	return writer;
}

/* The vCPU of the calling thread, in a variable of threads. */
static void *own_cpu(void)
{
	void **cpu = dlsym(RTLD_DEFAULT, "thread_cpu");

	return cpu ? *cpu : NULL;
}

bool answer_is_possible(void)
{
	return find_writer() && dlsym(RTLD_DEFAULT, "thread_cpu");
}

void answer_set(struct feed_thread *thread, int64_t result)
{
	thread->answer = result;
	thread->answered = true;
	feed_thread_hold(thread);
}

bool answer_give(struct feed_thread *thread)
{
	uint8_t bytes[sizeof(thread->answer)];

	if (!thread->answered)
		return false;
	thread->answered = false;
	memcpy(bytes, &thread->answer, sizeof(bytes));
	find_writer()(own_cpu(), bytes, GUEST_RAX);
	return feed_thread_unhold(thread);
}
