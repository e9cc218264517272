#include "bus/epic.h"

#include <stdlib.h>

#include "base/error.h"
#include "bus/bus.h"
#include "emul/epic.h"

struct bus_to_epic {
	struct pmu_bus bus;
	struct emul_epic *epic;
};

static int no_answer(struct pmu_ctx *ctx, int error, const struct bus_register_ref *ref)
{
	return error ? error_set(ctx, error, "the core has no %s", ref->reg->name) : 0;
}

static int epic_read(struct pmu_bus *bus, struct pmu_ctx *ctx, const struct bus_register_ref *ref,
		     struct pmu_access_op *op)
{
	struct emul_epic *epic = ((struct bus_to_epic *)bus)->epic;

	return no_answer(ctx, emul_epic_read(epic, op->space, op->address, &op->value), ref);
}

static int epic_write(struct pmu_bus *bus, struct pmu_ctx *ctx, const struct bus_register_ref *ref,
		      const struct pmu_access_op *op)
{
	struct emul_epic *epic = ((struct bus_to_epic *)bus)->epic;

	return no_answer(ctx, emul_epic_write(epic, op->space, op->address, op->value), ref);
}

/* A cycle is taken as a nanosecond: the core's frequency is not modelled. */
static uint64_t epic_time(struct pmu_bus *bus)
{
	return emul_epic_cycles(((struct bus_to_epic *)bus)->epic);
}

static int epic_interrupts(struct pmu_bus *bus, unsigned socket, unsigned core, uint64_t *count)
{
	if (socket || core)
		return PMU_E_RANGE;
	*count = emul_epic_interrupts(((struct bus_to_epic *)bus)->epic);
	return 0;
}

static const struct bus_ops epic_ops = {
    .read = epic_read,
    .write = epic_write,
    .time_ns = epic_time,
    .interrupts = epic_interrupts,
};

int bus_epic(struct pmu_bus **out, struct pmu_ctx *ctx, struct emul_epic *epic)
{
	const struct pmu_pmu *pmu = pmu_find_pmu(emul_epic_name(epic));
	struct bus_to_epic *bus;
	int error;

	if (!pmu)
		return error_set(ctx, PMU_E_UNKNOWN, "the catalog has no PMU %s",
				 emul_epic_name(epic));
	bus = calloc(1, sizeof(*bus));
	if (!bus)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for a bus");
	error = bus_init(&bus->bus, ctx, &epic_ops, pmu, 1);
	if (error) {
		free(bus);
		return error;
	}
	bus->epic = epic;
	bus->bus.emulated = true;
	bus->bus.transport = "the emulated core";
	*out = &bus->bus;
	return 0;
}
