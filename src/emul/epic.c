#include "emul/epic.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "catalog/description.h"
#include "catalog/entries.h"
#include "machine/epic/params.h"
#include "pmon/ia64/pmu.h"
#include "pmon/ia64/uncore.h"

#define CORES (FABRIC_SOCKETS * FABRIC_CORES)

/* A core and its PMU. */
struct emul_core {
	struct emul_epic *epic;
	struct epic_core *core;
	struct pmon_ia64 *pmu;
};

/* One mapping that forked processes share, at the same address in each: pointers hold in all. */
struct emul_epic {
	const struct pmu_machine *desc;
	size_t bytes;		       /* of the mapping, which begins here; the parts follow */
	struct emul_core cores[CORES]; /* by socket, then core */
	unsigned count, used;	       /* cores; those that threads took, in the order of order() */
	struct fabric *fabric;
	struct pmon_uncore *uncore;
	unsigned other_threads;
	void (*handle)(void *arg, const struct emul_interrupt *interrupt); /* NULL: nobody */
	void *handle_arg;
};

static void interrupt(struct emul_core *core);
static void on_cycles(void *arg, uint64_t count);
static void on_deadline(void *arg);

static unsigned on_mark(void *arg, const struct detail_code *code)
{
	return pmon_ia64_mark(((struct emul_core *)arg)->pmu, code);
}

static bool on_code(void *arg, uint64_t address)
{
	return pmon_ia64_mark_code(((struct emul_core *)arg)->pmu, address);
}

static bool on_data(void *arg, unsigned marks, uint64_t address)
{
	return pmon_ia64_mark_data(((struct emul_core *)arg)->pmu, marks, address);
}

static void on_miss(void *arg, const struct detail_miss *miss)
{
	struct emul_core *core = arg;

	pmon_ia64_miss(core->pmu, miss, epic_cycle(core->core));
}

static void on_fetch(void *arg, const struct detail_fetch *fetch)
{
	pmon_ia64_fetch(((struct emul_core *)arg)->pmu, fetch);
}

static void on_branch(void *arg, const struct detail_branch *branch)
{
	struct emul_core *core = arg;

	pmon_ia64_branch(core->pmu, branch, epic_cycle(core->core));
}

static void on_group(void *arg, const struct detail_group *group)
{
	struct emul_core *core = arg;

	pmon_ia64_group(core->pmu, group);
	interrupt(core);
}

static void on_interruption(void *arg, unsigned vector)
{
	pmon_ia64_interruption(((struct emul_core *)arg)->pmu, vector);
}

static bool on_request(void *arg, const struct detail_request *request)
{
	const struct emul_core *core = arg;
	struct emul_epic *epic = core->epic;
	unsigned number = (unsigned)(core - epic->cores);

	return pmon_uncore_request(epic->uncore, number / epic->desc->cores,
				   number % epic->desc->cores, request,
				   pmon_ia64_frozen(core->pmu));
}

static void on_event(void *arg, const struct detail_event *event)
{
	pmon_uncore_event(((struct emul_epic *)arg)->uncore, event);
}

/* Threads take sockets in turn. */
static unsigned order(const struct emul_epic *epic, unsigned thread)
{
	return thread % epic->desc->sockets * epic->desc->cores + thread / epic->desc->sockets;
}

static enum fabric_found on_snoop(void *arg, unsigned core, uint64_t line, enum fabric_snoop what)
{
	struct emul_epic *epic = arg;
	const struct pmu_machine *desc = epic->desc;
	unsigned thread = core % desc->cores * desc->sockets + core / desc->cores;

	return thread < epic->used ? epic_snoop(epic->cores[core].core, line, what)
				   : FABRIC_NOTHING;
}

/* This process answers for what lies between the cores. */
static void rewire_fabric(struct emul_epic *epic)
{
	const struct fabric_watch watch = {.arg = epic,
					   .snoop = on_snoop,
					   .event = on_event,
					   .enabled = pmon_uncore_enabled(epic->uncore)};

	fabric_watch(epic->fabric, &watch);
}

/* The core does for the PMU what its registers now ask for. */
static void rewire(struct emul_core *core)
{
	const struct pmon_ia64_wants *wants = pmon_ia64_wants(core->pmu);
	struct epic_watch watch = {
	    .arg = core,
	    .mark = wants->marks ? on_mark : NULL,
	    .mark_code = on_code,
	    .mark_data = on_data,
	    .cycles = wants->cycles ? on_cycles : NULL,
	    .deadline = on_deadline,
	    .miss = wants->misses ? on_miss : NULL,
	    .fetch = wants->fetches ? on_fetch : NULL,
	    .branch = wants->branches ? on_branch : NULL,
	    .group = wants->groups ? on_group : NULL,
	    .interruption = on_interruption,
	    .request = on_request,
	};

	epic_watch(core->core, &watch);
	epic_set_deadline(core->core, wants->deadline);
}

static void on_cycles(void *arg, uint64_t count)
{
	pmon_ia64_cycles(((struct emul_core *)arg)->pmu, count);
}

static void on_deadline(void *arg)
{
	struct emul_core *core = arg;

	pmon_ia64_deadline(core->pmu, epic_cycle(core->core));
	rewire(core);
	interrupt(core);
}

static double time_ns(const struct emul_epic *epic, uint64_t cycle)
{
	return (double)cycle * 1e3 / epic->desc->core_mhz;
}

/* Has the interrupt of an overflow handled, if one waits. */
static void interrupt(struct emul_core *core)
{
	const struct emul_epic *epic = core->epic;
	unsigned number = (unsigned)(core - epic->cores);

	if (!epic->handle || !pmon_ia64_interrupted(core->pmu))
		return;
	pmon_ia64_take_interrupt(core->pmu);
	epic->handle(epic->handle_arg,
		     &(struct emul_interrupt){
			 .socket = number / epic->desc->cores,
			 .core = number % epic->desc->cores,
			 .ip = epic_next_ip(core->core),
			 .time_ns = (uint64_t)time_ns(epic, epic_cycle(core->core)),
		     });
}

void emul_epic_on_interrupt(struct emul_epic *epic,
			    void (*handle)(void *arg, const struct emul_interrupt *interrupt),
			    void *arg)
{
	epic->handle = handle;
	epic->handle_arg = arg;
}

static const struct pmu_box *box_of(const struct pmu_pmu *pmu)
{
	for (size_t b = 0; pmu && b < pmu->box_count; b++)
		if (pmu->boxes[b].space == PMU_SPACE_PMC)
			return &pmu->boxes[b];
	return NULL;
}

static int make_core(struct emul_epic *epic, struct pmu_ctx *ctx, unsigned number, char *memory,
		     const struct epic_params *params, const struct pmu_box *box)
{
	struct pmon_ia64_source source = {.cells = epic_cells, .count = epic_cell_count};
	struct emul_core *core = &epic->cores[number];
	int error;

	core->epic = epic;
	core->core = epic_init(memory, params);
	core->pmu = (void *)(memory + epic_size(params));
	epic_connect(core->core, epic->fabric, number, epic->desc->core_mhz);
	for (unsigned bank = 0; bank < SIGNAL_BANKS; bank++)
		source.totals[bank] = epic_totals(core->core, (enum signal_bank)bank);
	error = pmon_ia64_init(core->pmu, ctx, box, &source);
	if (!error)
		rewire(core);
	return error;
}

static size_t core_size(const struct epic_params *params, const struct pmu_box *box)
{
	return epic_size(params) + pmon_ia64_size(box);
}

static int make(struct emul_epic *epic, struct pmu_ctx *ctx, const struct epic_params *params,
		const struct pmu_box *box)
{
	const struct pmu_machine *desc = epic->desc;
	char *next = (char *)(epic + 1);
	int error = 0;

	epic->fabric = fabric_init(next, &params->fabric, desc->sockets, desc->cores);
	next += fabric_size();
	for (unsigned n = 0; n < epic->count && !error; n++, next += core_size(params, box))
		error = make_core(epic, ctx, n, next, params, box);
	epic->uncore = (void *)next;
	if (!error)
		error = pmon_uncore_init(epic->uncore, ctx, pmu_find_pmu(desc->pmu), desc->sockets);
	if (!error)
		rewire_fabric(epic);
	return error;
}

int emul_epic_new(struct emul_epic **out, struct pmu_ctx *ctx, const struct pmu_machine *desc)
{
	const struct epic_params *params = epic_params_find(desc->core);
	const struct pmu_pmu *pmu = pmu_find_pmu(desc->pmu);
	const struct pmu_box *box = params ? box_of(pmu) : NULL;
	struct emul_epic *epic;
	size_t bytes;
	int error;

	if (!params || !box)
		return error_set(ctx, PMU_E_UNKNOWN, "%s: no core model \"%s\" with PMU %s",
				 desc->name, desc->core, desc->pmu);
	if (desc->sockets > FABRIC_SOCKETS || desc->cores > FABRIC_CORES)
		return error_set(ctx, PMU_E_UNSUPPORTED,
				 "%s: machines with such cores have at most %u sockets of %u cores",
				 desc->name, FABRIC_SOCKETS, FABRIC_CORES);
	bytes = sizeof(*epic) + fabric_size() +
		(size_t)desc->sockets * desc->cores * core_size(params, box) +
		pmon_uncore_size(pmu, desc->sockets);
	epic = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (epic == MAP_FAILED)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for machine %s", desc->name);
	epic->desc = desc;
	epic->bytes = bytes;
	epic->count = desc->sockets * desc->cores;
	error = make(epic, ctx, params, box);
	if (error)
		emul_epic_free(epic);
	else
		*out = epic;
	return error;
}

void emul_epic_free(struct emul_epic *epic)
{
	if (epic)
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

void emul_epic_monitors(struct emul_epic *epic, unsigned number, bool on)
{
	struct emul_core *core = &epic->cores[number];

	pmon_ia64_monitors(core->pmu, on, true, epic_cycle(core->core));
	rewire(core);
}

static struct emul_core *find_core(struct emul_epic *epic, unsigned socket, unsigned core)
{
	return socket < epic->desc->sockets && core < epic->desc->cores
		   ? &epic->cores[socket * epic->desc->cores + core]
		   : NULL;
}

int emul_epic_read(struct emul_epic *epic, unsigned socket, unsigned number, unsigned space,
		   uint32_t reg, uint64_t *value)
{
	struct emul_core *core = find_core(epic, socket, number);

	return core ? pmon_ia64_read(core->pmu, space, reg, value) : PMU_E_UNKNOWN;
}

int emul_epic_write(struct emul_epic *epic, unsigned socket, unsigned number, unsigned space,
		    uint32_t reg, uint64_t value)
{
	struct emul_core *core = find_core(epic, socket, number);
	int error = PMU_E_UNKNOWN;

	if (core) {
		error = pmon_ia64_write(core->pmu, space, reg, value, epic_cycle(core->core));
		rewire(core);
	}
	return error;
}

/* Of the core that has run longest. */
static uint64_t last_cycle(const struct emul_epic *epic)
{
	uint64_t last = 0;

	for (unsigned n = 0; n < epic->count; n++) {
		uint64_t cycle = epic_cycle(epic->cores[n].core);

		last = cycle > last ? cycle : last;
	}
	return last;
}

/* What goes on by itself has gone on until now. */
static uint64_t settle_fabric(struct emul_epic *epic)
{
	uint64_t now = epic_fabric_time(epic->cores[0].core, last_cycle(epic));

	fabric_settle(epic->fabric, now);
	return now;
}

int emul_epic_read_uncore(struct emul_epic *epic, unsigned socket, uint32_t address,
			  uint64_t *value)
{
	return pmon_uncore_read(epic->uncore, socket, address, settle_fabric(epic), value);
}

int emul_epic_write_uncore(struct emul_epic *epic, unsigned socket, uint32_t address,
			   uint64_t value)
{
	return pmon_uncore_write(epic->uncore, socket, address, settle_fabric(epic), value);
}

int emul_epic_interrupts(struct emul_epic *epic, unsigned socket, unsigned number, uint64_t *count)
{
	const struct emul_core *core = find_core(epic, socket, number);

	if (!core)
		return PMU_E_RANGE;
	*count = pmon_ia64_interrupts(core->pmu);
	return 0;
}

double emul_epic_time_ns(const struct emul_epic *epic)
{
	return time_ns(epic, last_cycle(epic));
}

void emul_epic_settle(struct emul_epic *epic)
{
	for (unsigned n = 0; n < epic->count; n++) {
		epic_settle(epic->cores[n].core);
		rewire(&epic->cores[n]);
	}
	rewire_fabric(epic);
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
