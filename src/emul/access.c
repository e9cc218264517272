/* Register accesses to an emulated computer at the machine's present time, and what waits for it.
 */
#include "base/clock.h"
#include "emul/block.h"
#include "emul/block_state.h"
#include "emul/prefetchers.h"

#define PASS_PATIENCE_NS 100000000u

#define LOOK_NS 10000000u /* who waits for an interrupt catches up with the machine that often */

void block_join_enabled(struct emul *emul)
{
	if (emul->pmu_count == 1)
		return;
	for (unsigned id = 0; id < SIGNAL_COUNT; id++) {
		uint8_t enabled = 0;

		for (unsigned i = 0; i < emul->pmu_count; i++)
			enabled |= emul->pmus[i].port.enabled[id];
		emul->block->enabled[id] = enabled;
	}
	emul->block->needed = 0;
	for (unsigned i = 0; i < emul->pmu_count; i++)
		emul->block->needed += *emul->pmus[i].port.needed;
}

/* Under the lock. Cycles of a clock that need not divide the machine's ticks: those of whole
   microseconds, and of the rest. */
static const struct pmon_time *time_of(struct emul *emul)
{
	const uint64_t ticks_per_us = machine_ticks_per_second(emul->machine) / 1000000;
	uint64_t now = machine_now(emul->machine);

	if (now == emul->ticks)
		return &emul->time;
	emul->ticks = now;
	for (int clock = 0; clock < PMON_CLOCKS; clock++)
		emul->time.cycles[clock] =
		    now / ticks_per_us * emul->clock_mhz[clock] +
		    now % ticks_per_us * emul->clock_mhz[clock] / ticks_per_us;
	return &emul->time;
}

/* Finds what an access leads to, takes the lock, and brings up to date what the access depends on,
   and nothing else. @written: the value that is to be written; NULL: a read */
static int begin_access(struct emul *emul, const struct pmon *pmon,
			const struct pmon_access *access, const uint64_t *written,
			struct pmon_register_ref *ref, const struct pmon_time **now)
{
	struct pmon_needs needs;
	int error = pmon_find(pmon, access, ref);

	if (error)
		return error;
	if (!machine_lock_within(emul->machine, ACCESS_PATIENCE_NS))
		return PMU_E_BUSY;
	pmon_find_needs(pmon, ref, written, &needs);
	if (needs.slices)
		machine_catch_up_slices(emul->machine, access->socket, needs.slices);
	if (needs.homes)
		machine_catch_up_homes(emul->machine, access->socket, needs.homes);
	if (needs.channels)
		machine_catch_up_channels(emul->machine, access->socket, needs.channels);
	if (needs.cores)
		machine_catch_up_cores(emul->machine, access->socket, needs.cores);
	*now = needs.time ? time_of(emul) : &emul->time;
	return 0;
}

static void end_access(struct emul *emul)
{
	block_join_enabled(emul);
	machine_unlock(emul->machine);
}

void block_catch_up(struct emul *emul)
{
	for (unsigned socket = 0; socket < emul->desc->sockets; socket++) {
		machine_catch_up_slices(emul->machine, socket, UINT32_MAX);
		machine_catch_up_homes(emul->machine, socket, UINT32_MAX);
		machine_catch_up_channels(emul->machine, socket, UINT32_MAX);
		machine_catch_up_cores(emul->machine, socket, UINT32_MAX);
	}
}

static unsigned core_of(const struct emul *emul, const struct pmon_access *access)
{
	return access->socket * emul->desc->cores + access->core;
}

int emul_pmu_read(struct emul *emul, unsigned pmu, const struct pmon_access *access,
		  uint64_t *value)
{
	struct pmon *pmon = emul->pmus[pmu].pmon;
	const struct pmu_register *reg;
	struct pmon_register_ref ref;
	const struct pmon_time *now;
	int error = begin_access(emul, pmon, access, NULL, &ref, &now);

	if (error)
		return error;
	error = pmon_read_found(pmon, &ref, now, value);
	reg = pmon_register_of(pmon, &ref);
	if (!error && reg->role == PMU_ROLE_PREFETCH_CTL)
		*value = prefetchers_read(emul->machine, core_of(emul, access), reg);
	end_access(emul);
	return error;
}

int emul_pmu_write(struct emul *emul, unsigned pmu, const struct pmon_access *access,
		   uint64_t value)
{
	struct pmon *pmon = emul->pmus[pmu].pmon;
	const struct pmu_register *reg;
	struct pmon_register_ref ref;
	const struct pmon_time *now;
	int error = begin_access(emul, pmon, access, &value, &ref, &now);

	if (error)
		return error;
	error = pmon_write_found(pmon, &ref, now, value);
	reg = pmon_register_of(pmon, &ref);
	if (!error && reg->role == PMU_ROLE_PREFETCH_CTL)
		prefetchers_write(emul->machine, core_of(emul, access), reg, value);
	end_access(emul);
	return error;
}

int emul_read(struct emul *emul, const struct pmon_access *access, uint64_t *value)
{
	return emul_pmu_read(emul, 0, access, value);
}

int emul_write(struct emul *emul, const struct pmon_access *access, uint64_t value)
{
	return emul_pmu_write(emul, 0, access, value);
}

uint64_t emul_interrupts(struct emul *emul, unsigned socket, unsigned core)
{
	uint64_t count;

	if (!machine_lock_within(emul->machine, ACCESS_PATIENCE_NS))
		return UINT64_MAX;
	block_catch_up(emul);
	count = pmon_interrupts(emul->pmus[0].pmon, socket, core, time_of(emul));
	machine_unlock(emul->machine);
	return count;
}

int emul_await_interrupt(struct emul *emul, unsigned socket, unsigned core, uint64_t seen,
			 uint64_t timeout_ns, uint64_t *count)
{
	const uint64_t begin = clock_ns();
	uint64_t nap = 0, passed;

	for (;;) {
		*count = pmon_await_interrupt(emul->pmus[0].pmon, socket, core, seen, nap);
		if (*count != seen)
			return 0;
		passed = clock_ns() - begin;
		*count = emul_interrupts(emul, socket, core);
		if (*count == UINT64_MAX)
			return PMU_E_BUSY;
		if (*count != seen || passed >= timeout_ns)
			return 0;
		nap = timeout_ns - passed < LOOK_NS ? timeout_ns - passed : LOOK_NS;
	}
}

void emul_pass(struct emul *emul, uint64_t ns)
{
	const uint64_t ticks_per_us = machine_ticks_per_second(emul->machine) / 1000000;

	/* Who holds it runs a program, whose time it is. */
	if (!machine_lock_within(emul->machine, PASS_PATIENCE_NS))
		return;
	/* In two parts: whoever was stopped for days passes more than the product holds. */
	machine_pass(emul->machine, ns / 1000 * ticks_per_us + ns % 1000 * ticks_per_us / 1000);
	block_catch_up(emul);
	machine_unlock(emul->machine);
}
