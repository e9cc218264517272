#include "emul/epic.h"

#include <stddef.h>
#include <sys/mman.h>

#include "base/error.h"
#include "emul/epic_state.h"

/* Threads take sockets in turn; second threads of cores once each core has one. */
static unsigned order(const struct emul_epic *epic, unsigned thread)
{
	const struct pmu_machine *desc = epic->desc;

	return thread % desc->sockets * machine_cpus(desc) + thread / desc->sockets;
}

void emul_epic_on_interrupt(struct emul_epic *epic,
			    void (*handle)(void *arg, const struct emul_interrupt *interrupt),
			    void *arg)
{
	epic->handle = handle;
	epic->handle_arg = arg;
}

/* @return what follows it */
static char *make_core(struct emul_epic *epic, unsigned number, char *memory,
		       const struct epic_params *params)
{
	const struct pmu_machine *desc = epic->desc;
	struct emul_core *core = &epic->cores[number];

	core->epic = epic;
	core->number = number;
	if (!emul_epic_is_second(core)) {
		core->core = epic_init(memory, params);
		memory += epic_size(params);
	} else {
		core->other = core - desc->cores;
		core->other->other = core;
		core->core = epic_init_thread(memory, core->other->core);
		memory += epic_thread_size();
	}
	epic_connect(core->core, epic->fabric,
		     emul_epic_socket_of(core) * desc->cores + emul_epic_core_of(core),
		     desc->core_mhz);
	return memory;
}

static size_t cores_size(const struct pmu_machine *desc, const struct epic_params *params)
{
	size_t cores = (size_t)desc->sockets * desc->cores;

	return cores * epic_size(params) +
	       ((size_t)desc->sockets * machine_cpus(desc) - cores) * epic_thread_size();
}

static int make(struct emul_epic *epic, struct pmu_ctx *ctx, const struct epic_params *params)
{
	const struct pmu_machine *desc = epic->desc;
	char *next = (char *)(epic + 1);

	epic->fabric = fabric_init(next, &params->fabric, desc->sockets, desc->cores);
	next += fabric_size();
	for (unsigned n = 0; n < epic->count; n++)
		next = make_core(epic, n, next, params);
	return emul_epic_init_pmu(epic, ctx, next);
}

int emul_epic_new(struct emul_epic **out, struct pmu_ctx *ctx, const struct pmu_machine *desc)
{
	const struct epic_params *params = epic_params_find(desc->core);
	const size_t pmu_bytes = params ? emul_epic_pmu_size(desc) : 0;
	struct emul_epic *epic;
	size_t bytes;
	int error;

	if (!pmu_bytes)
		return error_set(ctx, PMU_E_UNKNOWN, "%s: no core model \"%s\" with PMU %s",
				 desc->name, desc->core, desc->pmu);
	if (desc->sockets > FABRIC_SOCKETS || desc->cores > FABRIC_CORES)
		return error_set(ctx, PMU_E_UNSUPPORTED,
				 "%s: machines with such cores have at most %u sockets of %u cores",
				 desc->name, FABRIC_SOCKETS, FABRIC_CORES);
	if (desc->threads_per_core > EPIC_THREADS)
		return error_set(ctx, PMU_E_UNSUPPORTED, "%s: such cores have at most %u threads",
				 desc->name, EPIC_THREADS);
	bytes = sizeof(*epic) + fabric_size() + cores_size(desc, params) + pmu_bytes;
	epic = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (epic == MAP_FAILED)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for machine %s", desc->name);
	epic->desc = desc;
	epic->bytes = bytes;
	epic->count = desc->sockets * machine_cpus(desc);
	error = make(epic, ctx, params);
	if (error)
		emul_epic_free(epic);
	else
		*out = epic;
	return error;
}

void emul_epic_free(struct emul_epic *epic)
{
	if (!epic)
		return;
	for (unsigned i = 1; i < epic->pmu_count; i++)
		munmap(epic->uncores[i].mapped, emul_epic_pmu_size(epic->desc));
	munmap(epic, epic->bytes);
}

const struct pmu_machine *emul_epic_desc(const struct emul_epic *epic)
{
	return epic->desc;
}

struct epic_core *emul_epic_take_core(struct emul_epic *epic, unsigned *number)
{
	unsigned thread = __atomic_fetch_add(&epic->used, 1, __ATOMIC_ACQ_REL);

	if (thread >= epic->count) {
		__atomic_fetch_sub(&epic->used, 1, __ATOMIC_ACQ_REL);
		return NULL;
	}
	*number = order(epic, thread);
	return epic->cores[*number].core;
}

uint64_t emul_epic_last_cycle(const struct emul_epic *epic)
{
	uint64_t last = 0;

	for (unsigned n = 0; n < epic->count; n++) {
		uint64_t cycle = epic_cycle(epic->cores[n].core);

		last = cycle > last ? cycle : last;
	}
	return last;
}

double emul_epic_time_ns(const struct emul_epic *epic)
{
	return emul_epic_cycles_ns(epic, emul_epic_last_cycle(epic));
}

void emul_epic_settle(struct emul_epic *epic)
{
	for (unsigned n = 0; n < epic->count; n++) {
		epic_settle(epic->cores[n].core);
		emul_epic_rewire(&epic->cores[n]);
	}
	emul_epic_rewire_fabric(epic);
}

void emul_epic_other_thread(struct emul_epic *epic)
{
	__atomic_add_fetch(&epic->other_threads, 1, __ATOMIC_RELAXED);
}

/* All cells of a signal that have these qualifiers, of all cores. */
static uint64_t total(const struct emul_epic *epic, unsigned signal, uint32_t qualifiers)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < epic_cell_count * epic->count; i++) {
		const struct signal_cell *cell = &epic_cells[i % epic_cell_count];

		if (cell->signal == signal && (cell->qualifiers & qualifiers) == qualifiers)
			sum += epic_totals(epic->cores[i / epic_cell_count].core,
					   SIGNAL_ALL)[i % epic_cell_count];
	}
	return sum;
}

void emul_epic_statistics(const struct emul_epic *epic, struct pmu_emul_statistics *statistics)
{
	*statistics = (struct pmu_emul_statistics){
	    .instructions = total(epic, SIGNAL_PIPE_RETIRED, 0),
	    .cycles = total(epic, SIGNAL_CORE_CYCLES, 0),
	    .branches = total(epic, SIGNAL_BRANCH_RETIRED, 0),
	    .loads = total(epic, SIGNAL_PIPE_LOAD, 0),
	    .stores = total(epic, SIGNAL_PIPE_STORE, 0),
	    .fetches = total(epic, SIGNAL_L1I_READ, 0),
	    .l1d_misses = total(epic, SIGNAL_L1D_READ_MISS, 0),
	    .l1i_misses = total(epic, SIGNAL_L1I_MISS, 0),
	    .l2_misses = total(epic, SIGNAL_L2D_MISS, 0) +
			 total(epic, SIGNAL_L2I_READ, QUALIFIER_L2I_READ_MISS),
	    .llc_lookups = total(epic, SIGNAL_L3_REFERENCE, 0),
	    .llc_misses = total(epic, SIGNAL_L3_READ, QUALIFIER_L3_READ_MISS),
	    .threads_not_measured = epic->other_threads,
	};
}
