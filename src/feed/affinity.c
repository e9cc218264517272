#include "feed/affinity.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "feed/memory.h"

enum {
	GUEST_CLONE = 56,
	GUEST_SETAFFINITY = 203,
	GUEST_GETAFFINITY = 204,
	GUEST_GETCPU = 309,
};

#define SET_BYTES 128 /* of the system's CPUs: as many as it may have */

/* The first 64 CPUs of this computer on which the thread may run. */
static uint64_t host_cpus(void)
{
	uint64_t set[SET_BYTES / sizeof(uint64_t)] = {0};

	return syscall(SYS_sched_getaffinity, 0L, sizeof(set), set) > 0 ? set[0] : 0;
}

/* The thread that a call is about; NULL: none of this process. */
static struct feed_thread *find(struct feed_process *process, struct feed_thread *caller,
				uint64_t tid)
{
	if (!tid)
		return caller;
	for (unsigned i = 0; i < process->threads_seen; i++)
		if (process->threads[i].tid == tid)
			return &process->threads[i];
	return NULL;
}

uint64_t feed_affinity_of(const struct feed_process *process, uint32_t tid)
{
	for (unsigned i = 0; i < process->threads_seen; i++)
		if (process->threads[i].tid == tid)
			return process->threads[i].cpus & process->all_cpus;
	return process->all_cpus;
}

/* A set without any of the machine's CPUs is to be refused: the system is asked for none. */
static void ask(const struct feed_process *process, struct feed_thread *thread)
{
	struct feed_cpu_call *call = &thread->cpu_call;
	uint64_t asked;

	if (feed_memory_read(&call->set, call->at, sizeof(call->set)) != sizeof(call->set))
		return;
	asked = call->set & machine_all_cores(process->machine) ? host_cpus() : 0;
	call->changed = feed_memory_write(call->at, &asked, sizeof(asked));
}

void feed_affinity_syscall(struct feed_process *process, struct feed_thread *thread, int64_t number,
			   const uint64_t *arguments, uint64_t guest_base)
{
	struct feed_cpu_call *call = &thread->cpu_call;

	if (number == GUEST_GETCPU) {
		call->cpu_at = arguments[0] ? guest_base + arguments[0] : 0;
		call->node_at = arguments[1] ? guest_base + arguments[1] : 0;
	}
	if (number != GUEST_SETAFFINITY && number != GUEST_GETAFFINITY)
		return;
	call->tid = arguments[0];
	call->at = guest_base + arguments[2];
	call->changed = false;
	if (number == GUEST_SETAFFINITY && arguments[1] >= sizeof(call->set))
		ask(process, thread);
}

static void end_of_setting(struct feed_process *process, struct feed_thread *thread, int64_t result)
{
	const struct feed_cpu_call *call = &thread->cpu_call;
	struct feed_thread *whose = find(process, thread, call->tid);

	if (!call->changed)
		return;
	feed_memory_write(call->at, &call->set, sizeof(call->set));
	if (!result && whose)
		whose->cpus = call->set & machine_all_cores(process->machine);
}

/* @param size  of what the system has told, in bytes */
static void end_of_getting(struct feed_process *process, struct feed_thread *thread, int64_t size)
{
	const struct feed_cpu_call *call = &thread->cpu_call;
	const uint32_t tid = call->tid ? (uint32_t)call->tid : thread->tid;
	uint64_t set[SET_BYTES / sizeof(uint64_t)] = {0};

	if (size < (int64_t)sizeof(set[0]))
		return;
	set[0] = feed_affinity_of(process, tid);
	feed_memory_write(call->at, set, size < SET_BYTES ? (size_t)size : SET_BYTES);
}

/* Another thread may have chosen its CPUs. It moves now, not as the call begins: a place is shown
 * to the others, and they would wait for a thread that sleeps in the call. */
static void end_of_locating(const struct feed_process *process, struct feed_thread *thread)
{
	const struct feed_cpu_call *call = &thread->cpu_call;
	const struct machine_hart *place;
	uint32_t cpu, node;

	feed_thread_move(thread);
	place = thread->core ? thread->core : thread->placed;
	if (!place)
		return;
	cpu = machine_hart_core(place);
	node = machine_socket_of(process->machine, cpu);
	if (call->cpu_at)
		feed_memory_write(call->cpu_at, &cpu, sizeof(cpu));
	if (call->node_at)
		feed_memory_write(call->node_at, &node, sizeof(node));
}

void feed_affinity_return(struct feed_process *process, struct feed_thread *thread, int64_t number,
			  int64_t result)
{
	if (number == GUEST_CLONE && result > 0 && thread->made) {
		process->threads[thread->made - 1].tid = (uint32_t)result;
	}
	if (number == GUEST_SETAFFINITY)
		end_of_setting(process, thread, result);
	else if (number == GUEST_GETAFFINITY && result > 0)
		end_of_getting(process, thread, result);
	else if (number == GUEST_GETCPU && !result)
		end_of_locating(process, thread);
}
