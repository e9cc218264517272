#include "bus/epic.h"

#include <stdlib.h>

#include "base/error.h"
#include "bus/bus.h"
#include "catalog/description.h"
#include "emul/epic.h"

struct bus_to_epic {
	struct pmu_bus bus;
	struct emul_epic *epic;
	unsigned pmu; /* of those that count what the machine does */
	bool owner;   /* the machine ends with the bus */
};

static int no_answer(struct pmu_ctx *ctx, int error, const struct bus_register_ref *ref)
{
	if (error == PMU_E_CONFLICT)
		return error_set(ctx, error,
				 "one run matches instructions in one way only: other events are "
				 "matched by other addresses or encodings");
	return error ? error_set(ctx, error, "the machine has no %s there", ref->reg->name) : 0;
}

static int epic_read(struct pmu_bus *bus, struct pmu_ctx *ctx, const struct bus_register_ref *ref,
		     struct pmu_access_op *op)
{
	const struct bus_to_epic *to = (struct bus_to_epic *)bus;
	int error =
	    op->space == PMU_SPACE_MMIO
		? emul_epic_read_uncore(to->epic, to->pmu, op->socket, op->address, &op->value)
		: emul_epic_read(to->epic, to->pmu, op->socket, op->core, op->space, op->address,
				 &op->value);

	return no_answer(ctx, error, ref);
}

static int epic_write(struct pmu_bus *bus, struct pmu_ctx *ctx, const struct bus_register_ref *ref,
		      const struct pmu_access_op *op)
{
	const struct bus_to_epic *to = (struct bus_to_epic *)bus;
	int error =
	    op->space == PMU_SPACE_MMIO
		? emul_epic_write_uncore(to->epic, to->pmu, op->socket, op->address, op->value)
		: emul_epic_write(to->epic, to->pmu, op->socket, op->core, op->space, op->address,
				  op->value);

	return no_answer(ctx, error, ref);
}

static uint64_t epic_time(struct pmu_bus *bus)
{
	return (uint64_t)emul_epic_time_ns(((struct bus_to_epic *)bus)->epic);
}

static int epic_interrupts(struct pmu_bus *bus, unsigned socket, unsigned core, uint64_t *count)
{
	return emul_epic_interrupts(((struct bus_to_epic *)bus)->epic, socket, core, count);
}

static int epic_another(struct pmu_bus **another, struct pmu_ctx *ctx, struct pmu_bus *bus)
{
	struct bus_to_epic *to = (struct bus_to_epic *)bus, *more;
	int pmu = emul_epic_add_pmu(to->epic, ctx);

	if (pmu < 0)
		return pmu;
	more = malloc(sizeof(*more));
	if (!more)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for a bus");
	*more = *to;
	more->pmu = (unsigned)pmu;
	more->owner = false;
	*another = &more->bus;
	return 0;
}

static void epic_fini(struct pmu_bus *bus)
{
	struct bus_to_epic *to = (struct bus_to_epic *)bus;

	if (to->owner)
		emul_epic_free(to->epic);
}

static const struct bus_ops epic_ops = {
    .read = epic_read,
    .write = epic_write,
    .time_ns = epic_time,
    .interrupts = epic_interrupts,
    .another = epic_another,
    .fini = epic_fini,
};

int bus_epic(struct pmu_bus **out, struct pmu_ctx *ctx, struct emul_epic *epic, bool owner)
{
	const struct pmu_machine *desc = emul_epic_desc(epic);
	const struct pmu_pmu *pmu = pmu_find_pmu(desc->pmu);
	struct bus_to_epic *bus;
	int error;

	if (!pmu)
		return error_set(ctx, PMU_E_UNKNOWN, "the catalog has no PMU %s", desc->pmu);
	bus = calloc(1, sizeof(*bus));
	if (!bus)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for a bus");
	error = bus_init(&bus->bus, ctx, &epic_ops, pmu, desc->sockets);
	if (error) {
		free(bus);
		return error;
	}
	bus->epic = epic;
	bus->owner = owner;
	bus->bus.emulated = true;
	bus->bus.transport = "the emulated machine";
	*out = &bus->bus;
	return 0;
}
