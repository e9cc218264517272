/* What cores and fabric tell, and the PMUs that are told. */
#include "base/lock.h"
#include "emul/epic.h"
#include "emul/epic_state.h"

static unsigned on_mark(void *arg, const struct detail_code *code)
{
	return pmon_ia64_mark(((struct emul_core *)arg)->marker, code);
}

static bool on_code(void *arg, uint64_t address)
{
	return pmon_ia64_mark_code(((struct emul_core *)arg)->marker, address);
}

static bool on_data(void *arg, unsigned marks, uint64_t address)
{
	return pmon_ia64_mark_data(((struct emul_core *)arg)->marker, marks, address);
}

/*
 * Has the interrupt of an overflow handled, if one waits. Only the machine's own PMU interrupts.
 * @param by  what the calling thread executes on
 */
static void interrupt(struct emul_core *core, const struct emul_core *by)
{
	struct emul_epic *epic = core->epic;

	if (!epic->handle || !pmon_ia64_interrupted(core->pmus[0]))
		return;
	pmon_ia64_take_interrupt(core->pmus[0]);
	epic->handling = true;
	epic->handle(epic->handle_arg,
		     &(struct emul_interrupt){
			 .socket = emul_epic_socket_of(core),
			 .core = core->number % machine_cpus(epic->desc),
			 .ip = epic_next_ip(core->core),
			 .time_ns = (uint64_t)emul_epic_cycles_ns(epic, epic_cycle(core->core)),
			 .overflowed = pmon_ia64_overflowed(core->pmus[0]),
			 .thread = by == core ? lock_thread() : 0,
		     });
	epic->handling = false;
}

static void on_miss(void *arg, const struct detail_miss *miss)
{
	struct emul_core *core = arg;

	for (unsigned i = 0; i < core->epic->pmu_count; i++)
		pmon_ia64_miss(core->pmus[i], miss, epic_cycle(core->core));
}

static void on_fetch(void *arg, const struct detail_fetch *fetch)
{
	const struct emul_core *core = arg;

	for (unsigned i = 0; i < core->epic->pmu_count; i++)
		pmon_ia64_fetch(core->pmus[i], fetch);
}

static void on_branch(void *arg, const struct detail_branch *branch)
{
	struct emul_core *core = arg;

	for (unsigned i = 0; i < core->epic->pmu_count; i++)
		pmon_ia64_branch(core->pmus[i], branch, epic_cycle(core->core));
}

static void on_group(void *arg, const struct detail_group *group)
{
	struct emul_core *core = arg;

	for (unsigned i = 0; i < core->epic->pmu_count; i++)
		if (pmon_ia64_wants(core->pmus[i])->groups)
			pmon_ia64_group(core->pmus[i], group);
	interrupt(core, core);
}

static void on_interruption(void *arg, unsigned vector)
{
	const struct emul_core *core = arg;

	for (unsigned i = 0; i < core->epic->pmu_count; i++)
		pmon_ia64_interruption(core->pmus[i], vector);
}

/* Of the core's threads: a bit each. */
static unsigned frozen(const struct emul_core *core, unsigned pmu)
{
	bool second = emul_epic_is_second(core);
	unsigned other = core->other && pmon_ia64_frozen(core->other->pmus[pmu]);

	return (unsigned)pmon_ia64_frozen(core->pmus[pmu]) << second | other << !second;
}

static void on_request(void *arg, const struct detail_request *request)
{
	const struct emul_core *core = arg;
	const struct emul_epic *epic = core->epic;

	for (unsigned i = 0; i < epic->pmu_count; i++)
		if (pmon_uncore_request(epic->uncores[i].pmon, emul_epic_socket_of(core),
					emul_epic_core_of(core), request, frozen(core, i)))
			pmon_ia64_request(core->pmus[i]);
}

static void on_cycles(void *arg, uint64_t count)
{
	const struct emul_core *core = arg;

	for (unsigned i = 0; i < core->epic->pmu_count; i++)
		if (pmon_ia64_wants(core->pmus[i])->cycles)
			pmon_ia64_cycles(core->pmus[i], count);
}

static void check_deadlines(struct emul_core *core, uint64_t now)
{
	for (unsigned i = 0; i < core->epic->pmu_count; i++)
		if (pmon_ia64_wants(core->pmus[i])->deadline <= now)
			pmon_ia64_deadline(core->pmus[i], now);
}

/* The one PMU that most machines have is told directly: this comes each cycle. */
static void on_cycles_of_one(void *arg, uint64_t count)
{
	pmon_ia64_cycles(((const struct emul_core *)arg)->pmus[0], count);
}

static void on_deadline(void *arg)
{
	struct emul_core *core = arg;
	uint64_t now = epic_cycle(core->core);

	check_deadlines(core, now);
	if (core->other)
		check_deadlines(core->other, now);
	emul_epic_rewire(core);
	interrupt(core, core);
	if (core->other) {
		emul_epic_rewire(core->other);
		interrupt(core->other, core);
	}
}

/* Marks are those of one PMU. @return 0, or PMU_E_CONFLICT: others would give other ones */
static int choose_marker(struct emul_core *core)
{
	struct pmon_ia64 *marker = NULL;
	bool marks = false;
	int error = 0;

	for (unsigned i = 0; i < core->epic->pmu_count; i++) {
		struct pmon_ia64 *pmu = core->pmus[i];
		const struct pmon_ia64_wants *wants = pmon_ia64_wants(pmu);

		marks |= wants->marks;
		if (!wants->marks && !wants->matches)
			continue;
		if (marker && !pmon_ia64_marks_alike(marker, pmu))
			error = PMU_E_CONFLICT;
		marker = marker ? marker : pmu;
	}
	core->marker = marks ? marker : NULL;
	return error;
}

/* Counters of the other thread that take what this one does overflow by it, too. */
static uint64_t deadline_of_other(const struct emul_core *other, unsigned pmu)
{
	return other && pmon_ia64_counts_other(other->pmus[pmu])
		   ? pmon_ia64_wants(other->pmus[pmu])->deadline
		   : UINT64_MAX;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* What any of the PMUs wants. */
static struct pmon_ia64_wants join_wants(const struct emul_core *core)
{
	struct pmon_ia64_wants all = {.deadline = UINT64_MAX};

	for (unsigned i = 0; i < core->epic->pmu_count; i++) {
		const struct pmon_ia64_wants *wants = pmon_ia64_wants(core->pmus[i]);

		all.cycles |= wants->cycles;
		all.misses |= wants->misses;
		all.fetches |= wants->fetches;
		all.branches |= wants->branches;
		all.groups |= wants->groups;
		all.deadline = earlier(all.deadline,
				       earlier(wants->deadline, deadline_of_other(core->other, i)));
	}
	return all;
}

int emul_epic_rewire(struct emul_core *core)
{
	const struct pmon_ia64_wants wants = join_wants(core);
	int error = choose_marker(core);
	struct epic_watch watch = {
	    .arg = core,
	    .mark = core->marker ? on_mark : NULL,
	    .mark_code = on_code,
	    .mark_data = on_data,
	    .cycles = !wants.cycles		   ? NULL
		      : core->epic->pmu_count == 1 ? on_cycles_of_one
						   : on_cycles,
	    .deadline = on_deadline,
	    .miss = wants.misses ? on_miss : NULL,
	    .fetch = wants.fetches ? on_fetch : NULL,
	    .branch = wants.branches ? on_branch : NULL,
	    .group = wants.groups ? on_group : NULL,
	    .interruption = on_interruption,
	    .request = on_request,
	};

	epic_watch(core->core, &watch);
	epic_set_deadline(core->core, wants.deadline);
	return error;
}

/* The program's thread that comes first to a core: they take sockets in turn. */
static unsigned thread_of(const struct pmu_machine *desc, unsigned core)
{
	return core % desc->cores * desc->sockets + core / desc->cores;
}

static struct epic_core *core_of_fabric(const struct emul_epic *epic, unsigned core)
{
	const struct pmu_machine *desc = epic->desc;

	return epic->cores[core / desc->cores * machine_cpus(desc) + core % desc->cores].core;
}

static enum fabric_found on_snoop(void *arg, unsigned core, uint64_t line, enum fabric_snoop what,
				  uint64_t *time)
{
	const struct emul_epic *epic = arg;

	return thread_of(epic->desc, core) < epic->used
		   ? epic_snoop(core_of_fabric(epic, core), line, what, time)
		   : FABRIC_NOTHING;
}

static void on_sent(void *arg, unsigned core, const struct fabric_sent *sent)
{
	epic_sent(core_of_fabric(arg, core), sent);
}

static void on_event(void *arg, const struct detail_event *event)
{
	pmon_uncore_event(((struct emul_epic *)arg)->uncores[0].pmon, event);
}

/* Each is told what it counts. */
static void on_event_of_several(void *arg, const struct detail_event *event)
{
	const struct emul_epic *epic = arg;

	for (unsigned i = 0; i < epic->pmu_count; i++)
		if (pmon_uncore_enabled(epic->uncores[i].pmon)[event->id])
			pmon_uncore_event(epic->uncores[i].pmon, event);
}

static const uint8_t *join_enabled(struct emul_epic *epic)
{
	if (epic->pmu_count == 1)
		return pmon_uncore_enabled(epic->uncores[0].pmon);
	for (unsigned signal = 0; signal < SIGNAL_COUNT; signal++) {
		uint8_t any = 0;

		for (unsigned i = 0; i < epic->pmu_count; i++)
			any |= pmon_uncore_enabled(epic->uncores[i].pmon)[signal];
		epic->enabled[signal] = any;
	}
	return epic->enabled;
}

void emul_epic_rewire_fabric(struct emul_epic *epic)
{
	const struct fabric_watch watch = {
	    .arg = epic,
	    .snoop = on_snoop,
	    .sent = on_sent,
	    .event = epic->pmu_count == 1 ? on_event : on_event_of_several,
	    .enabled = join_enabled(epic),
	};

	fabric_watch(epic->fabric, &watch);
}
