#include "bus/emulated.h"

#include <stdlib.h>

#include "base/error.h"
#include "bus/bus.h"
#include "bus/epic.h"
#include "emul/emul.h"

struct emulated {
	struct pmu_bus bus;
	struct emul *emul;
	unsigned pmu; /* of those that listen to the machine */
	bool owner;   /* the computer ends with the bus */
};

static int no_answer(struct pmu_ctx *ctx, int error, const struct bus_register_ref *ref,
		     const struct pmu_access_op *op)
{
	if (error == PMU_E_BUSY)
		return error_set(ctx, error,
				 "%s of %s%u on socket %u: a program on the machine was stopped in "
				 "the middle of an access; continue or end it",
				 ref->reg->name, ref->box->name, ref->instance, op->socket);
	return error_set(ctx, error, "socket %u has no %s%u: %s (0x%X) does not answer", op->socket,
			 ref->box->name, ref->instance, ref->reg->name, op->address);
}

static struct pmon_access access_of(const struct bus_register_ref *ref,
				    const struct pmu_access_op *op)
{
	return (struct pmon_access){
	    .socket = op->socket,
	    .core = op->core,
	    .space = (enum pmu_space)op->space,
	    .address = op->address,
	    .width = op->width,
	    .found = ref->found,
	};
}

static int emulated_read(struct pmu_bus *bus, struct pmu_ctx *ctx,
			 const struct bus_register_ref *ref, struct pmu_access_op *op)
{
	struct emulated *emulated = (struct emulated *)bus;
	struct pmon_access access = access_of(ref, op);
	int error = emul_pmu_read(emulated->emul, emulated->pmu, &access, &op->value);

	return error ? no_answer(ctx, error, ref, op) : 0;
}

static int emulated_write(struct pmu_bus *bus, struct pmu_ctx *ctx,
			  const struct bus_register_ref *ref, const struct pmu_access_op *op)
{
	struct emulated *emulated = (struct emulated *)bus;
	struct pmon_access access = access_of(ref, op);
	int error = emul_pmu_write(emulated->emul, emulated->pmu, &access, op->value);

	return error ? no_answer(ctx, error, ref, op) : 0;
}

static void emulated_fini(struct pmu_bus *bus)
{
	struct emulated *emulated = (struct emulated *)bus;

	if (emulated->owner)
		emul_free(emulated->emul);
}

static uint64_t emulated_time_ns(struct pmu_bus *bus)
{
	const struct machine *machine = emul_machine(((struct emulated *)bus)->emul);

	return (uint64_t)((double)machine_now(machine) * 1e9 /
			  (double)machine_ticks_per_second(machine));
}

static bool has_core(const struct emul *emul, unsigned socket, unsigned core)
{
	return socket < emul_desc(emul)->sockets && core < emul_desc(emul)->cores;
}

static int emulated_interrupts(struct pmu_bus *bus, unsigned socket, unsigned core, uint64_t *count)
{
	struct emul *emul = ((struct emulated *)bus)->emul;

	if (!has_core(emul, socket, core))
		return PMU_E_RANGE;
	*count = emul_interrupts(emul, socket, core);
	return *count == UINT64_MAX ? PMU_E_BUSY : 0;
}

static int emulated_await(struct pmu_bus *bus, unsigned socket, unsigned core, uint64_t seen,
			  uint64_t timeout_ns, uint64_t *count)
{
	struct emul *emul = ((struct emulated *)bus)->emul;

	if (!has_core(emul, socket, core))
		return PMU_E_RANGE;
	return emul_await_interrupt(emul, socket, core, seen, timeout_ns, count);
}

static int emulated_another(struct pmu_bus **another, struct pmu_ctx *ctx, struct pmu_bus *bus)
{
	struct emulated *emulated = (struct emulated *)bus, *more;
	int pmu = emul_add_pmu(emulated->emul, ctx);

	if (pmu < 0)
		return pmu;
	more = malloc(sizeof(*more));
	if (!more)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for a machine");
	*more = *emulated;
	more->pmu = (unsigned)pmu;
	more->owner = false;
	*another = &more->bus;
	return 0;
}

static const struct bus_ops emulated_ops = {
    .read = emulated_read,
    .write = emulated_write,
    .time_ns = emulated_time_ns,
    .interrupts = emulated_interrupts,
    .await_interrupt = emulated_await,
    .another = emulated_another,
    .fini = emulated_fini,
};

struct emul *bus_emulated_emul(struct pmu_bus *bus)
{
	return bus->ops == &emulated_ops ? ((struct emulated *)bus)->emul : NULL;
}

static int open_bus(struct emulated **out, struct pmu_ctx *ctx, const struct pmu_machine *machine)
{
	const struct pmu_pmu *pmu = pmu_find_pmu(machine->pmu);
	struct emulated *emulated;
	int error;

	if (!pmu)
		return error_set(ctx, PMU_E_UNKNOWN,
				 "machine %s names PMU %s, which the catalog does not have",
				 machine->name, machine->pmu);
	emulated = calloc(1, sizeof(*emulated));
	if (!emulated)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for machine %s", machine->name);
	error = bus_init(&emulated->bus, ctx, &emulated_ops, pmu, machine->sockets);
	if (error) {
		free(emulated);
		return error;
	}
	emulated->bus.emulated = true;
	emulated->bus.machine = machine;
	emulated->bus.transport = "the emulated machine";
	*out = emulated;
	return 0;
}

int bus_emulated_open(struct pmu_bus **bus, struct pmu_ctx *ctx, struct emul *emul)
{
	struct emulated *emulated = NULL;
	int error = open_bus(&emulated, ctx, emul_desc(emul));

	if (error)
		return error;
	emulated->emul = emul;
	*bus = &emulated->bus;
	return 0;
}

int pmu_emul_bus(struct pmu_bus **bus, struct pmu_ctx *ctx, struct pmu_emul *emul)
{
	if (emul_epic_of(emul))
		return bus_epic(bus, ctx, emul_epic_of(emul), false);
	return bus_emulated_open(bus, ctx, emul_of(emul));
}

static int open_epic(struct pmu_bus **bus, struct pmu_ctx *ctx, const struct pmu_machine *machine)
{
	struct emul_epic *epic;
	int error = emul_epic_new(&epic, ctx, machine);

	if (error)
		return error;
	error = bus_epic(bus, ctx, epic, true);
	if (error)
		emul_epic_free(epic);
	return error;
}

int pmu_bus_emulated(struct pmu_bus **bus, struct pmu_ctx *ctx, const struct pmu_machine *machine)
{
	struct emulated *emulated = NULL;
	int error;

	if (machine->core)
		return open_epic(bus, ctx, machine);
	error = open_bus(&emulated, ctx, machine);
	if (error)
		return error;
	emulated->owner = true;
	error = emul_new(&emulated->emul, ctx, machine);
	if (error)
		pmu_bus_free(&emulated->bus);
	else
		*bus = &emulated->bus;
	return error;
}
