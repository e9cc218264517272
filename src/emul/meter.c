#include "emul/meter.h"

#include "base/error.h"
#include "emul/block_state.h"

/* 1 mW for 1 ns is 1 pJ. */
__extension__ typedef unsigned __int128 picojoules;

#define PICOJOULES_PER_JOULE 1000000000000

static picojoules energy_of(const struct pmu_machine *desc, const struct machine_activity *activity,
			    enum pmu_meter meter)
{
	const struct pmu_power *power = &desc->power;
	const picojoules cores = (picojoules)power->core_mw * activity->busy_ns;

	switch (meter) {
	case PMU_METER_PACKAGE_ENERGY:
		return (picojoules)power->static_mw * activity->passed_ns + cores +
		       (picojoules)power->lookup_pj * activity->lookups;
	case PMU_METER_CORE_ENERGY:
		return cores;
	case PMU_METER_DRAM_ENERGY:
		return (picojoules)power->dram_mw * desc->home_agents * desc->channels *
			   activity->passed_ns +
		       (picojoules)power->cas_pj * activity->cas;
	case PMU_METER_NONE:
		break;
	}
	return 0;
}

int emul_meter_read(struct emul *emul, unsigned socket, const struct pmu_msr *msr, uint64_t *value)
{
	struct machine_activity activity;
	picojoules energy;

	if (!machine_lock_within(emul->machine, ACCESS_PATIENCE_NS))
		return PMU_E_BUSY;
	machine_socket_activity(emul->machine, socket, &activity);
	machine_unlock(emul->machine);
	energy = energy_of(emul->desc, &activity, (enum pmu_meter)msr->meter);
	*value = (uint32_t)((energy << msr->unit) / PICOJOULES_PER_JOULE);
	return 0;
}
