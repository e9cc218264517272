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

/* One mapping that forked processes share, at the same address in each: pointers hold in all. */
struct emul_epic {
	const struct pmu_machine *desc;
	size_t bytes; /* of the mapping, which begins here; the parts follow */
	struct epic_core *core;
	struct pmon_ia64 *pmu;
	struct fabric *fabric;
	struct pmon_uncore *uncore;
	unsigned other_threads;
};

static void on_cycles(void *arg, uint64_t count);
static void on_deadline(void *arg);

static unsigned on_mark(void *arg, const struct detail_code *code)
{
	return pmon_ia64_mark(((struct emul_epic *)arg)->pmu, code);
}

static bool on_code(void *arg, uint64_t address)
{
	return pmon_ia64_mark_code(((struct emul_epic *)arg)->pmu, address);
}

static bool on_data(void *arg, unsigned marks, uint64_t address)
{
	return pmon_ia64_mark_data(((struct emul_epic *)arg)->pmu, marks, address);
}

static void on_miss(void *arg, const struct detail_miss *miss)
{
	struct emul_epic *epic = arg;

	pmon_ia64_miss(epic->pmu, miss, epic_cycle(epic->core));
}

static void on_fetch(void *arg, const struct detail_fetch *fetch)
{
	pmon_ia64_fetch(((struct emul_epic *)arg)->pmu, fetch);
}

static void on_branch(void *arg, const struct detail_branch *branch)
{
	struct emul_epic *epic = arg;

	pmon_ia64_branch(epic->pmu, branch, epic_cycle(epic->core));
}

static void on_group(void *arg, const struct detail_group *group)
{
	pmon_ia64_group(((struct emul_epic *)arg)->pmu, group);
}

static void on_interruption(void *arg, unsigned vector)
{
	pmon_ia64_interruption(((struct emul_epic *)arg)->pmu, vector);
}

static void on_event(void *arg, const struct detail_event *event)
{
	pmon_uncore_event(((struct emul_epic *)arg)->uncore, event);
}

/* This process answers for what lies between the cores. */
static void rewire_fabric(struct emul_epic *epic)
{
	const struct fabric_watch watch = {
	    .arg = epic, .event = on_event, .enabled = pmon_uncore_enabled(epic->uncore)};

	fabric_watch(epic->fabric, &watch);
}

/* The core does for the PMU what its registers now ask for. */
static void rewire(struct emul_epic *epic)
{
	const struct pmon_ia64_wants *wants = pmon_ia64_wants(epic->pmu);
	struct epic_watch watch = {
	    .arg = epic,
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
	};

	epic_watch(epic->core, &watch);
	epic_set_deadline(epic->core, wants->deadline);
}

static void on_cycles(void *arg, uint64_t count)
{
	pmon_ia64_cycles(((struct emul_epic *)arg)->pmu, count);
}

static void on_deadline(void *arg)
{
	struct emul_epic *epic = arg;

	pmon_ia64_deadline(epic->pmu, epic_cycle(epic->core));
	rewire(epic);
}

static const struct pmu_box *box_of(const struct pmu_pmu *pmu)
{
	for (size_t b = 0; pmu && b < pmu->box_count; b++)
		if (pmu->boxes[b].space == PMU_SPACE_PMC)
			return &pmu->boxes[b];
	return NULL;
}

static int make(struct emul_epic *epic, struct pmu_ctx *ctx, const struct epic_params *params,
		const struct pmu_box *box)
{
	struct pmon_ia64_source source = {.cells = epic_cells, .count = epic_cell_count};
	char *next = (char *)(epic + 1);
	const struct pmu_machine *desc = epic->desc;
	int error;

	epic->core = epic_init(next, params);
	next += epic_size(params);
	epic->pmu = (void *)next;
	next += pmon_ia64_size(box);
	epic->fabric = fabric_init(next, &params->fabric, desc->sockets, desc->cores);
	next += fabric_size();
	epic->uncore = (void *)next;
	epic_connect(epic->core, epic->fabric, 0, desc->core_mhz);
	for (unsigned bank = 0; bank < SIGNAL_BANKS; bank++)
		source.totals[bank] = epic_totals(epic->core, (enum signal_bank)bank);
	error = pmon_ia64_init(epic->pmu, ctx, box, &source);
	if (!error)
		error = pmon_uncore_init(epic->uncore, ctx, pmu_find_pmu(desc->pmu), desc->sockets);
	if (error)
		return error;
	rewire(epic);
	rewire_fabric(epic);
	return 0;
}

int emul_epic_new(struct emul_epic **out, struct pmu_ctx *ctx, const struct pmu_machine *desc)
{
	const struct epic_params *params = epic_params_find(desc->core);
	const struct pmu_box *box = params ? box_of(pmu_find_pmu(desc->pmu)) : NULL;
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
	bytes = sizeof(*epic) + epic_size(params) + pmon_ia64_size(box) + fabric_size() +
		pmon_uncore_size(pmu_find_pmu(desc->pmu), desc->sockets);
	epic = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (epic == MAP_FAILED)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for machine %s", desc->name);
	epic->desc = desc;
	epic->bytes = bytes;
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

struct epic_core *emul_epic_core(struct emul_epic *epic)
{
	return epic->core;
}

void emul_epic_monitors(struct emul_epic *epic, bool on)
{
	pmon_ia64_monitors(epic->pmu, on, true, epic_cycle(epic->core));
	rewire(epic);
}

int emul_epic_read(struct emul_epic *epic, unsigned space, uint32_t number, uint64_t *value)
{
	return pmon_ia64_read(epic->pmu, space, number, value);
}

int emul_epic_write(struct emul_epic *epic, unsigned space, uint32_t number, uint64_t value)
{
	int error = pmon_ia64_write(epic->pmu, space, number, value, epic_cycle(epic->core));

	rewire(epic);
	return error;
}

/* What goes on by itself has gone on until now. */
static uint64_t settle_fabric(struct emul_epic *epic)
{
	uint64_t now = epic_fabric_time(epic->core, epic_cycle(epic->core));

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

uint64_t emul_epic_interrupts(const struct emul_epic *epic)
{
	return pmon_ia64_interrupts(epic->pmu);
}

double emul_epic_time_ns(const struct emul_epic *epic)
{
	return (double)epic_cycle(epic->core) * 1e3 / epic->desc->core_mhz;
}

void emul_epic_settle(struct emul_epic *epic)
{
	epic_settle(epic->core);
	rewire(epic);
	rewire_fabric(epic);
}

void emul_epic_other_thread(struct emul_epic *epic)
{
	__atomic_add_fetch(&epic->other_threads, 1, __ATOMIC_RELAXED);
}

/* All cells of a signal that have these qualifiers. */
static uint64_t total(const struct emul_epic *epic, unsigned signal, uint32_t qualifiers)
{
	const uint64_t *totals = epic_totals(epic->core, SIGNAL_ALL);
	uint64_t sum = 0;

	for (size_t i = 0; i < epic_cell_count; i++)
		if (epic_cells[i].signal == signal &&
		    (epic_cells[i].qualifiers & qualifiers) == qualifiers)
			sum += totals[i];
	return sum;
}

void emul_epic_statistics(const struct emul_epic *epic, struct pmu_emul_statistics *statistics)
{
	*statistics = (struct pmu_emul_statistics){
	    .instructions = total(epic, SIGNAL_PIPE_RETIRED, 0),
	    .cycles = epic_cycle(epic->core),
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
