#include "memory_bus.h"

#include <stdlib.h>

#include "bus/bus.h"
#include "bus/identity.h"

struct memory_bus {
	struct pmu_bus bus;
	uint64_t *values; /* [socket * registers + register] */
	void (*hook)(void *arg, const struct pmu_access_op *op);
	void *arg;
};

static uint64_t *value_of(struct memory_bus *memory, unsigned socket,
			  const struct bus_register_ref *place)
{
	const struct pmu_pmu *pmu = memory->bus.pmu;

	return &memory->values[socket * bus_register_count(pmu) + bus_register_number(pmu, place)];
}

uint64_t *memory_bus_at(struct pmu_bus *bus, unsigned socket, enum pmu_space space,
			uint32_t address)
{
	struct memory_bus *memory = (struct memory_bus *)bus;
	struct pmu_access_op op = {.space = (uint8_t)space, .width = 32, .address = address};
	struct bus_register_ref place;

	if (!bus_find(bus->pmu, &op, &place)) {
		op.width = 64;
		if (!bus_find(bus->pmu, &op, &place))
			abort();
	}
	return value_of(memory, socket, &place);
}

static int memory_read(struct pmu_bus *bus, struct pmu_ctx *ctx,
		       const struct bus_register_ref *place, struct pmu_access_op *op)
{
	struct memory_bus *memory = (struct memory_bus *)bus;

	(void)ctx;
	op->value = place->reg->role == PMU_ROLE_DISCOVERY
			? identity_of_full_part(bus->pmu, place, op->socket)
			: *value_of(memory, op->socket, place);
	if (memory->hook)
		memory->hook(memory->arg, op);
	return 0;
}

static void reset_box(struct memory_bus *memory, unsigned socket,
		      const struct bus_register_ref *ctl)
{
	for (size_t r = 0; r < ctl->box->register_count; r++) {
		const struct pmu_register *reg = &ctl->box->registers[r];
		const struct bus_register_ref place = {
		    .box = ctl->box, .reg = reg, .instance = ctl->instance};

		if (reg->role == PMU_ROLE_COUNTER || reg->role == PMU_ROLE_COUNTER_CTL)
			*value_of(memory, socket, &place) = 0;
	}
}

static int memory_write(struct pmu_bus *bus, struct pmu_ctx *ctx,
			const struct bus_register_ref *place, const struct pmu_access_op *op)
{
	struct memory_bus *memory = (struct memory_bus *)bus;
	uint64_t *value = value_of(memory, op->socket, place), kept = 0, cleared = 0;

	(void)ctx;
	for (size_t i = 0; i < place->reg->field_count; i++) {
		const struct pmu_field *field = &place->reg->fields[i];
		uint64_t mask = pmu_mask(field->hi, field->lo);

		if (field->access == PMU_ACCESS_RW1C)
			cleared |= mask;
		else if (field->access != PMU_ACCESS_WO)
			kept |= mask;
	}
	*value = (*value & cleared & ~op->value) | (op->value & kept);
	if (place->reg->role == PMU_ROLE_BOX_CTL && op->value & 3)
		reset_box(memory, op->socket, place);
	return 0;
}

static void memory_fini(struct pmu_bus *bus)
{
	free(((struct memory_bus *)bus)->values);
}

static const struct bus_ops memory_ops = {
    .read = memory_read,
    .write = memory_write,
    .fini = memory_fini,
};

void memory_bus_hook(struct pmu_bus *bus, void (*hook)(void *arg, const struct pmu_access_op *op),
		     void *arg)
{
	struct memory_bus *memory = (struct memory_bus *)bus;

	memory->hook = hook;
	memory->arg = arg;
}

int memory_bus_new(struct pmu_bus **bus, struct pmu_ctx *ctx, const struct pmu_pmu *pmu,
		   unsigned sockets, bool emulated)
{
	struct memory_bus *memory = calloc(1, sizeof(*memory));

	if (!memory || bus_init(&memory->bus, ctx, &memory_ops, pmu, sockets)) {
		free(memory);
		return PMU_E_NOMEM;
	}
	memory->bus.emulated = emulated;
	memory->values = calloc(sockets * bus_register_count(pmu), sizeof(*memory->values));
	*bus = &memory->bus;
	return memory->values ? 0 : PMU_E_NOMEM;
}
