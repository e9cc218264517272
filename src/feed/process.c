#include "feed/process.h"

#include <sys/mman.h>

#include "base/error.h"

#define THREADS_BYTES (FEED_THREADS_MAX * sizeof(struct feed_thread))

int feed_process_init(struct feed_process *process, struct pmu_ctx *ctx, struct machine *machine)
{
	void *threads = mmap(NULL, THREADS_BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (threads == MAP_FAILED)
		return error_set(ctx, PMU_E_NOMEM, "no address space for guest threads");
	*process = (struct feed_process){
	    .machine = machine, .threads = threads, .continued = machine_hart_continue(machine)};
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

void feed_process_end(struct feed_process *process)
{
	for (unsigned i = 0; i < process->threads_seen; i++)
		feed_thread_end(&process->threads[i]);
}

/* After execve the first thread goes on where the process was, and when. */
static struct machine_hart *take_place(struct feed_process *process, uint64_t *not_before)
{
	struct machine_hart *place = process->continued;

	if (!place)
		return machine_hart_place(process->machine);
	process->continued = NULL;
	*not_before = machine_hart_time(place);
	return place;
}

int feed_process_begin(struct feed_process *process, struct pmu_ctx *ctx, unsigned index,
		       uint64_t not_before)
{
	if (index >= FEED_THREADS_MAX)
		return error_set(ctx, PMU_E_RANGE, "guest thread %u: no more than %u are possible",
				 index, FEED_THREADS_MAX);
	feed_thread_init(&process->threads[index], take_place(process, &not_before), not_before);
	if (index >= process->threads_seen)
		process->threads_seen = index + 1;
	return 0;
}

void feed_process_forks(struct feed_process *process)
{
	process->child = machine_hart_place(process->machine);
}

int feed_process_forked(struct feed_process *process, unsigned index)
{
	for (unsigned i = 0; i < process->threads_seen; i++)
		feed_thread_init(&process->threads[i], i == index ? process->child : NULL,
				 process->threads[i].not_before);
	/* Cores and space are the parent's: they are not this copy's to leave or free. */
	return machine_address_space_new(&process->space, process->machine);
}
