/* The PMUs of a machine whose cores issue in order: their registers, and further ones. */
#include <sys/mman.h>

#include "base/error.h"
#include "catalog/entries.h"
#include "emul/epic.h"
#include "emul/epic_state.h"

/* A PMU's registers say what the other thread's counters take, too. */
static void tell_other(struct emul_core *core, unsigned pmu)
{
	if (!core->other)
		return;
	pmon_ia64_other_changed(core->other->pmus[pmu], epic_cycle(core->other->core));
	emul_epic_rewire(core->other);
}

void emul_epic_monitors(struct emul_epic *epic, unsigned number, bool on)
{
	struct emul_core *core = &epic->cores[number];

	for (unsigned i = 0; i < epic->pmu_count; i++) {
		pmon_ia64_monitors(core->pmus[i], on, true, epic_cycle(core->core));
		tell_other(core, i);
	}
	emul_epic_rewire(core);
}

uint64_t emul_epic_read_monitor(struct emul_epic *epic, unsigned number, uint32_t reg)
{
	return pmon_ia64_read_by_program(epic->cores[number].pmus[0], reg);
}

/* @return NULL: there is none */
static struct emul_core *find_core(struct emul_epic *epic, unsigned socket, unsigned core)
{
	return socket < epic->desc->sockets && core < machine_cpus(epic->desc)
		   ? &epic->cores[socket * machine_cpus(epic->desc) + core]
		   : NULL;
}

static bool is_checked(const struct emul_epic *epic, unsigned pmu)
{
	return epic->strict.report && !pmu;
}

int emul_epic_read(struct emul_epic *epic, unsigned pmu, unsigned socket, unsigned number,
		   unsigned space, uint32_t reg, uint64_t *value)
{
	const struct pmon_ia64_checked at = {&epic->strict, socket, number};
	const struct emul_core *core = find_core(epic, socket, number);

	if (!core)
		return PMU_E_UNKNOWN;
	if (is_checked(epic, pmu))
		pmon_ia64_check_read(core->pmus[pmu], &at, space, reg);
	return pmon_ia64_read(core->pmus[pmu], space, reg, value);
}

int emul_epic_write(struct emul_epic *epic, unsigned pmu, unsigned socket, unsigned number,
		    unsigned space, uint32_t reg, uint64_t value)
{
	const struct pmon_ia64_checked at = {&epic->strict, socket, number};
	struct emul_core *core = find_core(epic, socket, number);
	int error, conflict;

	if (!core)
		return PMU_E_UNKNOWN;
	error = pmon_ia64_write(core->pmus[pmu], space, reg, value, epic_cycle(core->core));
	tell_other(core, pmu);
	conflict = emul_epic_rewire(core);
	if (is_checked(epic, pmu))
		pmon_ia64_check_write(core->pmus[pmu], &at, space, reg, value);
	return error ? error : conflict;
}

/* What goes on by itself has gone on until now; while programs run, they take care of that. */
static uint64_t settle_fabric(struct emul_epic *epic)
{
	uint64_t now;

	if (epic->handling)
		return 0;
	now = epic_fabric_time(epic->cores[0].core, emul_epic_last_cycle(epic));

	fabric_settle(epic->fabric, now);
	return now;
}

int emul_epic_read_uncore(struct emul_epic *epic, unsigned pmu, unsigned socket, uint32_t address,
			  uint64_t *value)
{
	return pmon_uncore_read(epic->uncores[pmu].pmon, socket, address, settle_fabric(epic),
				value);
}

int emul_epic_write_uncore(struct emul_epic *epic, unsigned pmu, unsigned socket, uint32_t address,
			   uint64_t value)
{
	int error;

	if (is_checked(epic, pmu))
		pmon_uncore_check(epic->uncores[pmu].pmon, &epic->strict, socket, address, value);
	error =
	    pmon_uncore_write(epic->uncores[pmu].pmon, socket, address, settle_fabric(epic), value);
	emul_epic_rewire_fabric(epic);
	return error;
}

void emul_epic_strict(struct emul_epic *epic,
		      void (*report)(void *arg, const struct pmon_violation *violation), void *arg)
{
	epic->strict = (struct pmon_ia64_strict){pmu_find_pmu(epic->desc->pmu), report, arg};
}

void emul_epic_strict_pause(struct emul_epic *epic)
{
	if (epic->strict.report)
		pmon_uncore_check_pause(epic->uncores[0].pmon, &epic->strict);
}

int emul_epic_interrupts(struct emul_epic *epic, unsigned socket, unsigned number, uint64_t *count)
{
	const struct emul_core *core = find_core(epic, socket, number);

	if (!core)
		return PMU_E_RANGE;
	*count = pmon_ia64_interrupts(core->pmus[0]);
	return 0;
}

/* -- Further PMUs -------------------------------------------------------------------------------
 */

static const struct pmu_box *box_of(const struct pmu_pmu *pmu)
{
	for (size_t b = 0; pmu && b < pmu->box_count; b++)
		if (pmu->boxes[b].space == PMU_SPACE_PMC)
			return &pmu->boxes[b];
	return NULL;
}

size_t emul_epic_pmu_size(const struct pmu_machine *desc)
{
	const struct pmu_pmu *pmu = pmu_find_pmu(desc->pmu);
	const struct pmu_box *box = box_of(pmu);

	return box ? (size_t)desc->sockets * machine_cpus(desc) * pmon_ia64_size(box) +
			 pmon_uncore_size(pmu, desc->sockets)
		   : 0;
}

static int init_core(struct emul_core *core, struct pmu_ctx *ctx, const struct pmu_box *box)
{
	const unsigned number = core->epic->pmu_count;
	struct pmon_ia64_source source = {.cells = epic_cells, .count = epic_cell_count};
	struct pmon_ia64 *pmu = core->pmus[number];
	int error;

	source.other = core->other ? core->other->pmus[number] : NULL;
	for (unsigned bank = 0; bank < SIGNAL_BANKS; bank++)
		source.totals[bank] = epic_totals(core->core, (enum signal_bank)bank);
	error = pmon_ia64_init(pmu, ctx, box, &source);
	if (!error && number)
		pmon_ia64_copy_levels(pmu, core->pmus[0], epic_cycle(core->core));
	return error;
}

int emul_epic_init_pmu(struct emul_epic *epic, struct pmu_ctx *ctx, void *memory)
{
	const struct pmu_pmu *pmu = pmu_find_pmu(epic->desc->pmu);
	const struct pmu_box *box = box_of(pmu);
	char *next = memory;
	int error = 0;

	for (unsigned n = 0; n < epic->count; n++, next += pmon_ia64_size(box))
		epic->cores[n].pmus[epic->pmu_count] = (struct pmon_ia64 *)next;
	for (unsigned n = 0; n < epic->count && !error; n++)
		error = init_core(&epic->cores[n], ctx, box);
	epic->uncores[epic->pmu_count].pmon = (struct pmon_uncore *)next;
	if (!error)
		error = pmon_uncore_init(next, ctx, pmu, epic->desc->sockets);
	if (error)
		return error;
	epic->pmu_count++;
	for (unsigned n = 0; n < epic->count; n++)
		emul_epic_rewire(&epic->cores[n]);
	emul_epic_rewire_fabric(epic);
	return 0;
}

int emul_epic_add_pmu(struct emul_epic *epic, struct pmu_ctx *ctx)
{
	const unsigned number = epic->pmu_count;
	const size_t bytes = emul_epic_pmu_size(epic->desc);
	void *memory;
	int error;

	if (number == EMUL_EPIC_PMUS)
		return error_set(ctx, PMU_E_UNSUPPORTED, "more than %d PMUs on one machine",
				 EMUL_EPIC_PMUS);
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return error_set(ctx, PMU_E_NOMEM, "no memory for one more PMU (%zu KB)",
				 bytes >> 10);
	error = emul_epic_init_pmu(epic, ctx, memory);
	if (error) {
		munmap(memory, bytes);
		return error;
	}
	epic->uncores[number].mapped = memory;
	return (int)number;
}
