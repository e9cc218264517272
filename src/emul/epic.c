#include "emul/epic.h"

#include <stdlib.h>

#include "base/error.h"
#include "catalog/entries.h"
#include "machine/epic/params.h"
#include "pmon/ia64/pmu.h"

struct emul_epic {
	const char *name;
	struct epic_core *core;
	struct pmon_ia64 *pmu;
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
	int error;

	epic->core = epic_new(params);
	if (!epic->core)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for a core");
	for (unsigned bank = 0; bank < SIGNAL_BANKS; bank++)
		source.totals[bank] = epic_totals(epic->core, (enum signal_bank)bank);
	error = pmon_ia64_new(&epic->pmu, ctx, box, &source);
	if (!error)
		rewire(epic);
	return error;
}

int emul_epic_new(struct emul_epic **out, struct pmu_ctx *ctx, const char *name)
{
	const struct epic_params *params = epic_params_find(name);
	const struct pmu_box *box = params ? box_of(pmu_find_pmu(params->name)) : NULL;
	struct emul_epic *epic;
	int error;

	if (!params || !box)
		return error_set(ctx, PMU_E_UNKNOWN, "no core model is called %s",
				 name ? name : "anything");
	epic = calloc(1, sizeof(*epic));
	if (!epic)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for a core");
	epic->name = params->name;
	error = make(epic, ctx, params, box);
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
	pmon_ia64_free(epic->pmu);
	epic_free(epic->core);
	free(epic);
}

const char *emul_epic_name(const struct emul_epic *epic)
{
	return epic->name;
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

uint64_t emul_epic_interrupts(const struct emul_epic *epic)
{
	return pmon_ia64_interrupts(epic->pmu);
}

uint64_t emul_epic_cycles(const struct emul_epic *epic)
{
	return epic_cycle(epic->core);
}
