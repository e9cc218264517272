#include "bus/register_trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bus/bus.h"

struct recording {
	struct pmu_bus bus;
	FILE *file; /* the caller's */
};

static int put(struct recording *recording, struct pmu_ctx *ctx, bool write,
	       const struct pmu_access_op *op, int result)
{
	if (register_trace_put_line(recording->file, write, op, result))
		return error_set(ctx, PMU_E_IO, "the register trace cannot be written");
	return result;
}

static int recording_read(struct pmu_bus *bus, struct pmu_ctx *ctx,
			  const struct bus_register_ref *ref, struct pmu_access_op *op)
{
	struct recording *recording = (struct recording *)bus;
	int result;

	(void)ref;
	op->value = 0;
	result = pmu_bus_read(recording->bus.traced, ctx, op);
	return put(recording, ctx, false, op, result);
}

static int recording_write(struct pmu_bus *bus, struct pmu_ctx *ctx,
			   const struct bus_register_ref *ref, const struct pmu_access_op *op)
{
	struct recording *recording = (struct recording *)bus;

	(void)ref;
	return put(recording, ctx, true, op, pmu_bus_write(recording->bus.traced, ctx, op));
}

static void recording_begin(struct pmu_bus *bus)
{
	bus_begin(bus->traced);
}

static void recording_end(struct pmu_bus *bus)
{
	bus_end(bus->traced);
}

static uint64_t recording_time_ns(struct pmu_bus *bus)
{
	return bus_time_ns(bus->traced);
}

static const struct bus_ops recording_ops = {
    .read = recording_read,
    .write = recording_write,
    .time_ns = recording_time_ns,
    .begin = recording_begin,
    .end = recording_end,
};

int pmu_bus_register_trace(struct pmu_bus **out, struct pmu_ctx *ctx, struct pmu_bus *inner,
			   FILE *file)
{
	struct register_trace_header header = {.sockets = inner->sockets,
					       .emulated = inner->emulated};
	struct recording *recording;
	int error;

	if (strlen(inner->pmu->name) >= sizeof(header.pmu))
		return error_set(ctx, PMU_E_UNSUPPORTED,
				 "the name %s is too long for a register trace", inner->pmu->name);
	strcpy(header.pmu, inner->pmu->name);
	recording = calloc(1, sizeof(*recording));
	if (!recording)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for a register trace");
	error = bus_init(&recording->bus, ctx, &recording_ops, inner->pmu, inner->sockets);
	if (error)
		goto fail;
	if (register_trace_put_header(file, &header)) {
		error = error_set(ctx, PMU_E_IO, "the register trace cannot be written");
		goto fail;
	}
	recording->bus.emulated = inner->emulated;
	recording->bus.write_only = inner->write_only;
	recording->bus.transport = inner->transport;
	recording->bus.traced = inner;
	recording->file = file;
	*out = &recording->bus;
	return 0;

fail:
	free(recording);
	return error;
}
