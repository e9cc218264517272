#include "bus/bus.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"

#define WRITE_TRIES 3 /* of a write that restores */

int bus_init(struct pmu_bus *bus, struct pmu_ctx *ctx, const struct bus_ops *ops,
	     const struct pmu_pmu *pmu, unsigned sockets)
{
	if (sockets > PMU_SOCKETS_MAX)
		return error_set(ctx, PMU_E_UNSUPPORTED,
				 "%u sockets are more than the %d that "
				 "node ids tell apart",
				 sockets, PMU_SOCKETS_MAX);
	bus->ops = ops;
	bus->pmu = pmu;
	bus->sockets = sockets;
	bus->transport = "";
	return 0;
}

void pmu_bus_free(struct pmu_bus *bus)
{
	if (!bus)
		return;
	if (bus->ops->fini)
		bus->ops->fini(bus);
	free(bus);
}

unsigned pmu_bus_sockets(const struct pmu_bus *bus)
{
	return bus->sockets;
}

const struct pmu_pmu *pmu_bus_pmu(const struct pmu_bus *bus)
{
	return bus->pmu;
}

const char *pmu_bus_transport(const struct pmu_bus *bus)
{
	return bus->transport;
}

struct pmu_bus *bus_untraced(struct pmu_bus *bus)
{
	while (bus->traced)
		bus = bus->traced;
	return bus;
}

void bus_begin(struct pmu_bus *bus)
{
	if (bus->ops->begin)
		bus->ops->begin(bus);
}

void bus_end(struct pmu_bus *bus)
{
	if (bus->ops->end)
		bus->ops->end(bus);
}

uint64_t bus_time_ns(struct pmu_bus *bus)
{
	return bus->ops->time_ns ? bus->ops->time_ns(bus) : clock_ns();
}

uint64_t bus_no_time(struct pmu_bus *bus)
{
	(void)bus;
	return 0;
}

static int no_interrupts(const struct pmu_bus *bus, struct pmu_ctx *ctx, const char *what)
{
	return error_set(ctx, PMU_E_UNSUPPORTED, "%s does not %s interrupts",
			 *bus->transport ? bus->transport : "this bus", what);
}

static int interrupt_error(struct pmu_ctx *ctx, int error, unsigned socket, unsigned core)
{
	switch (error) {
	case 0:
		return 0;
	case PMU_E_RANGE:
		return error_set(ctx, PMU_E_RANGE, "socket %u has no core %u", socket, core);
	default:
		return error_set(ctx, PMU_E_BUSY,
				 "a program on the machine was stopped in the middle of an access; "
				 "continue or end it");
	}
}

int pmu_bus_interrupts(struct pmu_bus *bus, struct pmu_ctx *ctx, unsigned socket, unsigned core,
		       uint64_t *count)
{
	bus = bus_untraced(bus);
	if (!bus->ops->interrupts)
		return no_interrupts(bus, ctx, "tell of");
	return interrupt_error(ctx, bus->ops->interrupts(bus, socket, core, count), socket, core);
}

int pmu_bus_interrupt_wait(struct pmu_bus *bus, struct pmu_ctx *ctx, unsigned socket, unsigned core,
			   uint64_t seen, uint64_t timeout_ns, uint64_t *count)
{
	int error;

	bus = bus_untraced(bus);
	if (!bus->ops->await_interrupt)
		return no_interrupts(bus, ctx, "wait for");
	error = bus->ops->await_interrupt(bus, socket, core, seen, timeout_ns, count);
	return interrupt_error(ctx, error, socket, core);
}

const struct pmu_machine *pmu_bus_machine(const struct pmu_bus *bus)
{
	return bus->machine;
}

bool pmu_bus_is_emulated(const struct pmu_bus *bus)
{
	return bus->emulated;
}

static int find_register(const struct pmu_bus *bus, struct pmu_ctx *ctx,
			 const struct pmu_access_op *op, struct bus_register_ref *ref)
{
	if (op->socket >= bus->sockets)
		return error_set(ctx, PMU_E_UNKNOWN,
				 "%s: there is no socket %u, the last one is %u", op->reg,
				 op->socket, bus->sockets - 1);
	if (!bus_find(bus->pmu, op, ref))
		return error_set(ctx, PMU_E_UNKNOWN,
				 "%s: the catalog of %s has no register of %u bits at %s 0x%X",
				 op->reg, bus->pmu->name, op->width, pmu_space_title(op->space),
				 op->address);
	return 0;
}

int pmu_bus_read(struct pmu_bus *bus, struct pmu_ctx *ctx, struct pmu_access_op *op)
{
	struct bus_register_ref ref;
	int error = find_register(bus, ctx, op, &ref);

	return error ? error : bus->ops->read(bus, ctx, &ref, op);
}

/*
 * What programming and reading counters never writes: it would change what everybody else on the
 * computer goes by (time stamps, prefetchers), or have the processor write to memory (samples).
 */
static const char *never_written(const struct pmu_register *reg)
{
	switch (reg->role) {
	case PMU_ROLE_DISCOVERY:
		return "there to be read only: it tells what the part has";
	case PMU_ROLE_FREE_COUNTER:
		return "not to be written: it counts at all times, for everybody";
	case PMU_ROLE_SAMPLING:
		return "not to be written: it directs what the processor stores by itself";
	case PMU_ROLE_PREFETCH_CTL:
		return "not to be written: it changes how fast every program runs";
	default:
		return reg->access == PMU_ACCESS_RV ? "reserved" : "read-only";
	}
}

bool bus_may_write(const struct bus_register_ref *ref)
{
	const struct pmu_register *reg = ref->reg;

	return reg->access != PMU_ACCESS_RO && reg->access != PMU_ACCESS_RV &&
	       reg->role != PMU_ROLE_DISCOVERY && reg->role != PMU_ROLE_FREE_COUNTER &&
	       reg->role != PMU_ROLE_SAMPLING && reg->role != PMU_ROLE_PREFETCH_CTL;
}

/* An emulated machine has nobody else to go by these, and nothing to lose. */
static bool is_emulated_only(const struct pmu_register *reg)
{
	return reg->access != PMU_ACCESS_RV &&
	       (reg->role == PMU_ROLE_PREFETCH_CTL || reg->role == PMU_ROLE_SAMPLING);
}

/* An access that a signal or the device has failed once may well pass the next time. */
static int write_again(struct pmu_bus *bus, struct pmu_ctx *ctx, const struct pmu_access_op *op)
{
	int error = PMU_E_IO;

	for (int tries = 0; tries < WRITE_TRIES && error; tries++)
		error = pmu_bus_write(bus, ctx, op);
	return error;
}

int bus_write_all(struct pmu_bus *bus, struct pmu_ctx *ctx, const struct pmu_access_op *writes,
		  size_t count)
{
	int first = 0;

	for (size_t i = 0; i < count; i++) {
		int error = write_again(bus, first ? NULL : ctx, &writes[i]);

		first = error_first(first, error);
	}
	return first;
}

int pmu_bus_write(struct pmu_bus *bus, struct pmu_ctx *ctx, const struct pmu_access_op *op)
{
	struct bus_register_ref ref;
	int error = find_register(bus, ctx, op, &ref);

	if (error)
		return error;
	if (!bus_may_write(&ref) && !(bus->emulated && is_emulated_only(ref.reg)))
		return error_set(ctx, PMU_E_RIGHTS, "%s of %s%u is %s (%s)", ref.reg->name,
				 ref.box->name, ref.instance, never_written(ref.reg),
				 ref.reg->source);
	if (op->value & ~pmu_mask(op->width - 1u, 0))
		return error_set(ctx, PMU_E_RANGE, "0x%llX does not fit the %u bits of %s",
				 (unsigned long long)op->value, op->width, ref.reg->name);
	return bus->ops->write(bus, ctx, &ref, op);
}
