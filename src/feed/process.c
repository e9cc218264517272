#include "feed/process.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"

#define THREADS_BYTES (FEED_THREADS_MAX * sizeof(struct feed_thread))

int feed_process_init(struct feed_process *process, struct pmu_ctx *ctx, struct machine *machine)
{
	void *threads = mmap(NULL, THREADS_BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct machine_times before;

	if (threads == MAP_FAILED)
		return error_set(ctx, PMU_E_NOMEM, "no address space for guest threads");
	*process = (struct feed_process){
	    .machine = machine, .threads = threads, .continued = machine_hart_continue(machine)};
	process->all_cpus = machine_all_cores(machine);
	process->all_nodes =
	    (2u << machine_socket_of(machine, 63 - (unsigned)__builtin_clzll(process->all_cpus))) -
	    1;
	process->cpus =
	    process->continued ? machine_hart_cpus(process->continued) : machine_pinned(machine);
	if (process->continued && machine_take_times(machine, (uint32_t)getpid(), &before)) {
		process->ran = before.own;
		process->children = before.children;
		/* Its parent still asks for them. */
		feed_process_keep_times(process);
	}
	if (machine_address_space_new(&process->space, machine)) {
		munmap(threads, THREADS_BYTES);
		return error_set(ctx, PMU_E_NOMEM, "no memory for a guest's page tables");
	}
	return 0;
}

void feed_process_fini(struct feed_process *process)
{
	machine_address_space_free(process->space);
	munmap(process->threads, THREADS_BYTES);
}

static struct machine_times times_of(const struct feed_process *process)
{
	struct machine_times times = {process->ran, 0};

	for (unsigned i = 0; i < process->threads_seen; i++)
		times.own += __atomic_load_n(&process->threads[i].ran, __ATOMIC_SEQ_CST);
	times.children = __atomic_load_n(&process->children, __ATOMIC_SEQ_CST);
	return times;
}

/* Another thread may keep an older sum meanwhile. */
void feed_process_keep_times(const struct feed_process *process)
{
	struct machine_times kept, now = times_of(process);

	do {
		kept = now;
		machine_keep_times(process->machine, (uint32_t)getpid(), kept);
		now = times_of(process);
	} while (now.own != kept.own || now.children != kept.children);
}

void feed_process_end_thread(struct feed_process *process, struct feed_thread *thread)
{
	feed_thread_exit(thread);
	feed_process_keep_times(process);
}

void feed_process_end(struct feed_process *process)
{
	for (unsigned i = 0; i < process->threads_seen; i++)
		feed_thread_end(&process->threads[i]);
	feed_process_keep_times(process);
}

/* After execve the first thread goes on where the process was, and when. */
static void begin_first(struct feed_process *process, struct feed_thread *thread)
{
	struct machine_hart *place = process->continued;
	const uint64_t now = machine_now(process->machine);

	process->continued = NULL;
	if (place) {
		feed_thread_init(thread, place, machine_hart_time(place), process->cpus);
		thread->memory = machine_hart_memory(place);
		process->uses_numa = thread->memory.mode != MACHINE_MEMORY_DEFAULT;
	} else {
		feed_thread_init(thread,
				 machine_hart_place_on(process->machine, process->cpus, now), now,
				 process->cpus);
	}
}

int feed_process_begin(struct feed_process *process, struct pmu_ctx *ctx, unsigned index,
		       struct feed_thread *maker)
{
	struct feed_thread *thread;

	if (index >= FEED_THREADS_MAX)
		return error_set(ctx, PMU_E_RANGE, "guest thread %u: no more than %u are possible",
				 index, FEED_THREADS_MAX);
	thread = &process->threads[index];
	process->ran += thread->ran;
	if (maker) {
		feed_thread_init(
		    thread, machine_hart_place_on(process->machine, maker->cpus, maker->not_before),
		    maker->not_before, maker->cpus);
		thread->memory = maker->memory;
		maker->made = index + 1;
	} else {
		begin_first(process, thread);
	}
	if (index >= process->threads_seen)
		process->threads_seen = index + 1;
	return 0;
}

void feed_process_forks(struct feed_process *process, struct feed_thread *thread)
{
	thread->fork = machine_hart_place_on(process->machine, thread->cpus, thread->not_before);
	/* fork() does not pause. */
	if (thread->core && thread->paused)
		machine_hart_vfork(thread->core);
}

/* The child has its own copy of what stands for its place. */
static void end_fork(struct machine_hart *place, int64_t child)
{
	if (child > 0) {
		machine_hart_name(place, (uint32_t)child);
		free(place);
	} else {
		machine_hart_leave(place);
	}
}

void feed_process_made(struct feed_process *process, struct feed_thread *maker, int64_t result)
{
	if (maker->made)
		feed_thread_made(&process->threads[maker->made - 1],
				 result > 0 ? (uint32_t)result : 0);
	if (maker->fork)
		end_fork(maker->fork, result);
	maker->made = 0;
	maker->fork = NULL;
}

void feed_process_forked(struct feed_process *process, unsigned index)
{
	/* Their cores are the parent's: they are not this copy's to leave. */
	for (unsigned i = 0; i < process->threads_seen; i++) {
		struct feed_thread *thread = &process->threads[i];
		const struct feed_thread before = *thread;

		feed_thread_init(thread, i == index ? before.fork : NULL, before.not_before,
				 before.cpus);
		thread->memory = before.memory;
		/* The child is where its parent was. */
		thread->region_depth = before.region_depth;
		memcpy(thread->regions, before.regions, sizeof(before.regions));
	}
	machine_forked(process->machine);
	process->ran = process->told = process->children = 0;
	machine_address_space_inherit(process->space);
}
