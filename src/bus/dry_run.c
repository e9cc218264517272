#include <stdlib.h>

#include "base/error.h"
#include "bus/bus.h"
#include "bus/identity.h"

struct dry_run {
	struct pmu_bus bus;
	struct pmu_bus *part; /* NULL: one with everything */
	void (*print)(void *arg, bool write, const struct pmu_access_op *op);
	void *arg;
};

static int dry_run_read(struct pmu_bus *bus, struct pmu_ctx *ctx,
			const struct bus_register_ref *ref, struct pmu_access_op *op)
{
	struct dry_run *dry_run = (struct dry_run *)bus;
	int error = 0;

	dry_run->print(dry_run->arg, false, op);
	if (dry_run->part)
		error = pmu_bus_read(dry_run->part, ctx, op);
	else
		op->value = identity_of_full_part(bus->pmu, ref, op->socket);
	if (ref->reg->role != PMU_ROLE_DISCOVERY)
		op->value = 0;
	return error;
}

static int dry_run_write(struct pmu_bus *bus, struct pmu_ctx *ctx,
			 const struct bus_register_ref *ref, const struct pmu_access_op *op)
{
	struct dry_run *dry_run = (struct dry_run *)bus;

	(void)ctx;
	(void)ref;
	dry_run->print(dry_run->arg, true, op);
	return 0;
}

static const struct bus_ops dry_run_ops = {
    .read = dry_run_read,
    .write = dry_run_write,
    .time_ns = bus_no_time,
};

int pmu_bus_dry_run(struct pmu_bus **out, struct pmu_ctx *ctx, const struct pmu_pmu *pmu,
		    unsigned sockets,
		    void (*print)(void *arg, bool write, const struct pmu_access_op *op), void *arg)
{
	struct dry_run *dry_run = calloc(1, sizeof(*dry_run));
	int error;

	if (!dry_run)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for a dry run");
	error = bus_init(&dry_run->bus, ctx, &dry_run_ops, pmu, sockets);
	if (error) {
		free(dry_run);
		return error;
	}
	dry_run->bus.write_only = true;
	dry_run->bus.transport = "nothing: a dry run";
	dry_run->print = print;
	dry_run->arg = arg;
	*out = &dry_run->bus;
	return 0;
}

int pmu_bus_dry_run_on(struct pmu_bus **out, struct pmu_ctx *ctx, struct pmu_bus *part,
		       void (*print)(void *arg, bool write, const struct pmu_access_op *op),
		       void *arg)
{
	int error = pmu_bus_dry_run(out, ctx, part->pmu, part->sockets, print, arg);

	if (error)
		return error;
	((struct dry_run *)*out)->part = part;
	(*out)->emulated = part->emulated;
	return 0;
}
