/*
 * Registers as the kernel's uncore PMUs give them: what is written to a control and its filters is
 * kept; lifting the global freeze makes an event of each enabled control, whose config words carry
 * the same fields; reading the counter reads the event. The kernel chooses the hardware counter.
 */
#include "bus/perf.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/error.h"
#include "bus/bus.h"
#include "bus/identity.h"
#include "bus/perf_units.h"
#include "catalog/find.h"

/* A counter that has been written, or counts. */
struct kernel_counter {
	const struct pmu_register *counter;
	const struct perf_unit *unit;
	unsigned socket;
	int fd;	       /* -1: not counting */
	uint64_t base; /* value of the register when the event read @start */
	uint64_t start;
};

struct perf {
	struct pmu_bus bus;
	struct perf_kernel kernel;
	struct perf_units units;
	uint64_t *values; /* [socket * registers + register]: what was written */
	struct kernel_counter *counters;
	size_t counter_count;
};

static uint64_t *value_of(struct perf *perf, const struct bus_register_ref *ref, unsigned socket)
{
	const struct pmu_pmu *pmu = perf->bus.pmu;

	return &perf->values[socket * bus_register_count(pmu) + bus_register_number(pmu, ref)];
}

/* The kernel's names for the fields of a control (Documentation/ABI, sysfs-devices-events). */
static const struct {
	enum pmu_field_role role;
	const char *format;
} control_formats[] = {
    {PMU_FIELD_UNIT_MASK, "umask"},
    {PMU_FIELD_THRESHOLD, "thresh"},
    {PMU_FIELD_INVERT, "inv"},
    {PMU_FIELD_EDGE, "edge"},
    {PMU_FIELD_THREAD_ENABLE, "tid_en"},
    {PMU_FIELD_OCCUPANCY_SELECT, "occ_sel"},
    {PMU_FIELD_OCCUPANCY_INVERT, "occ_invert"},
    {PMU_FIELD_OCCUPANCY_EDGE, "occ_edge"},
};

static uint64_t field_value(const struct pmu_register *reg, enum pmu_field_role role,
			    uint64_t value)
{
	const struct pmu_field *field = pmu_field_by_role(reg, role, 0);

	return field ? (value & pmu_mask(field->hi, field->lo)) >> field->lo : 0;
}

#define KERNEL_FIXED_EVENT 0xff /* the event of a box's fixed counter (uncore.h of the kernel) */
#define KERNEL_EXT_BIT	   8	/* of "event": the extended select bit follows the code */

static int put_control(const struct perf_device *device, struct pmu_ctx *ctx,
		       struct perf_event_attr *attr, const struct pmu_register *ctl,
		       uint64_t control)
{
	uint64_t event = field_value(ctl, PMU_FIELD_EVENT_SELECT, control) |
			 field_value(ctl, PMU_FIELD_EVENT_SELECT_EXT, control) << KERNEL_EXT_BIT;
	int error;

	if (ctl->role == PMU_ROLE_FIXED_CTL)
		return perf_device_put(device, ctx, attr, "event", KERNEL_FIXED_EVENT);
	error = perf_device_put(device, ctx, attr, "event", event);
	for (size_t i = 0; i < sizeof(control_formats) / sizeof(control_formats[0]) && !error; i++)
		error = perf_device_put(device, ctx, attr, control_formats[i].format,
					field_value(ctl, control_formats[i].role, control));
	return error;
}

/* Filters are in config1 under the modifier's name: filter_opc. */
static int put_filters(struct perf *perf, struct pmu_ctx *ctx, const struct perf_unit *unit,
		       unsigned socket, struct perf_event_attr *attr)
{
	int error = 0;

	for (size_t i = 0; i < unit->box->modifier_count && !error; i++) {
		const struct pmu_modifier *filter = &unit->box->modifiers[i];
		struct bus_register_ref ref;
		char format[PERF_NAME_MAX];
		uint64_t value;

		if (!filter->reg)
			continue;
		ref = (struct bus_register_ref){
		    .box = unit->box, .reg = filter->reg, .instance = unit->instance};
		value = *value_of(perf, &ref, socket) & pmu_mask(filter->hi, filter->lo);
		snprintf(format, sizeof(format), "filter_%s", filter->name);
		error = perf_device_put(&unit->device, ctx, attr, format, value >> filter->lo);
	}
	return error;
}

static const struct pmu_register *control_of(const struct pmu_box *box,
					     const struct pmu_register *counter)
{
	bool fixed = counter->role == PMU_ROLE_FIXED_COUNTER;

	return pmu_box_register(box, fixed ? PMU_ROLE_FIXED_CTL : PMU_ROLE_COUNTER_CTL,
				counter->index);
}

/* Makes an event of a control that is enabled. */
static int open_counter(struct perf *perf, struct pmu_ctx *ctx, struct kernel_counter *counter)
{
	const struct perf_unit *unit = counter->unit;
	const struct pmu_register *ctl = control_of(unit->box, counter->counter);
	uint64_t control = *value_of(
	    perf,
	    &(struct bus_register_ref){.box = unit->box, .reg = ctl, .instance = unit->instance},
	    counter->socket);
	struct perf_event_attr attr = {
	    .type = unit->device.type,
	    .read_format = PERF_READ_FORMAT,
	    .disabled = 1,
	    .pinned = 1, /* no turns with others: a count is whole or an error */
	};
	int error;

	if (!field_value(ctl, PMU_FIELD_ENABLE, control))
		return 0;
	error = put_control(&unit->device, ctx, &attr, ctl, control);
	if (!error)
		error = put_filters(perf, ctx, unit, counter->socket, &attr);
	if (error)
		return error;
	counter->fd = perf->kernel.open(perf->kernel.arg, ctx, &attr,
					perf->units.cpu[counter->socket], unit->device.name);
	counter->start = 0;
	return counter->fd < 0 ? counter->fd : 0;
}

static int read_counter(struct perf *perf, struct pmu_ctx *ctx,
			const struct kernel_counter *counter, uint64_t *value)
{
	struct perf_reading reading = {0};
	int error = 0;

	if (counter->fd >= 0)
		error = perf->kernel.read(perf->kernel.arg, ctx, counter->fd,
					  counter->unit->device.name, &reading);
	*value = (counter->base + reading.value - counter->start) &
		 pmu_mask(counter_width(counter->unit->box, counter->counter) - 1u, 0);
	return error;
}

/* What it counted stays in the register. */
static int close_counter(struct perf *perf, struct pmu_ctx *ctx, struct kernel_counter *counter)
{
	int error;

	if (counter->fd < 0)
		return 0;
	error = read_counter(perf, ctx, counter, &counter->base);
	perf->kernel.close(perf->kernel.arg, counter->fd);
	counter->fd = -1;
	counter->start = 0;
	return error;
}

static struct kernel_counter *get_counter(struct perf *perf, struct pmu_ctx *ctx,
					  const struct perf_unit *unit,
					  const struct pmu_register *counter, unsigned socket)
{
	struct kernel_counter *counters;

	for (size_t i = 0; i < perf->counter_count; i++) {
		struct kernel_counter *have = &perf->counters[i];

		if (have->unit == unit && have->counter == counter && have->socket == socket)
			return have;
	}
	counters = realloc(perf->counters, (perf->counter_count + 1) * sizeof(*counters));
	if (!counters) {
		error_set(ctx, PMU_E_NOMEM, "out of memory for counters");
		return NULL;
	}
	perf->counters = counters;
	counters[perf->counter_count] =
	    (struct kernel_counter){.counter = counter, .unit = unit, .socket = socket, .fd = -1};
	return &counters[perf->counter_count++];
}

static int write_counter(struct perf *perf, struct pmu_ctx *ctx, struct kernel_counter *counter,
			 uint64_t value)
{
	uint64_t now;
	int error;

	counter->base = value;
	counter->start = 0;
	error = read_counter(perf, ctx, counter, &now);
	counter->start = now - value;
	return error;
}

/* All of them, though one fails. */
static int freeze(struct perf *perf, struct pmu_ctx *ctx, unsigned socket)
{
	int error = 0;

	for (size_t i = 0; i < perf->counter_count; i++) {
		const struct kernel_counter *counter = &perf->counters[i];
		int failed = 0;

		if (counter->socket == socket && counter->fd >= 0)
			failed = perf->kernel.enable(perf->kernel.arg, error ? NULL : ctx,
						     counter->fd, false);
		error = error_first(error, failed);
	}
	return error;
}

static int unfreeze(struct perf *perf, struct pmu_ctx *ctx, unsigned socket)
{
	int error = 0;

	for (size_t i = 0; i < perf->counter_count && !error; i++)
		if (perf->counters[i].socket == socket && perf->counters[i].fd < 0)
			error = open_counter(perf, ctx, &perf->counters[i]);
	for (size_t i = 0; i < perf->counter_count && !error; i++)
		if (perf->counters[i].socket == socket && perf->counters[i].fd >= 0)
			error =
			    perf->kernel.enable(perf->kernel.arg, ctx, perf->counters[i].fd, true);
	return error;
}

/* The box's reset bits: controls and counters to 0 (334291-001 §2.1.2). */
static int write_box_control(struct perf *perf, struct pmu_ctx *ctx,
			     const struct bus_register_ref *ref, unsigned socket, uint64_t value)
{
	const struct perf_unit *unit = perf_unit_find(&perf->units, ref->box, ref->instance);
	int error = 0;

	for (size_t i = 0; i < perf->counter_count && !error; i++) {
		struct kernel_counter *counter = &perf->counters[i];
		const struct pmu_register *ctl = control_of(ref->box, counter->counter);

		if (counter->unit != unit || counter->socket != socket)
			continue;
		if (field_value(ref->reg, PMU_FIELD_RESET_CONTROLS, value)) {
			error = close_counter(perf, ctx, counter);
			*value_of(perf,
				  &(struct bus_register_ref){
				      .box = ref->box, .reg = ctl, .instance = ref->instance},
				  socket) = 0;
		}
		if (field_value(ref->reg, PMU_FIELD_RESET_COUNTERS, value) && !error)
			error = write_counter(perf, ctx, counter, 0);
	}
	return error;
}

static int no_kernel_pmu(struct pmu_ctx *ctx, const struct bus_register_ref *ref)
{
	return error_set(ctx, PMU_E_UNKNOWN, "the kernel has no PMU for %s%u: %s cannot be reached",
			 ref->box->name, ref->instance, ref->reg->name);
}

static bool is_counter(const struct pmu_register *reg)
{
	return reg->role == PMU_ROLE_COUNTER || reg->role == PMU_ROLE_FIXED_COUNTER;
}

static int write_control(struct perf *perf, struct pmu_ctx *ctx, const struct perf_unit *unit,
			 const struct bus_register_ref *ref, const struct pmu_access_op *op)
{
	bool fixed = ref->reg->role == PMU_ROLE_FIXED_CTL;
	const struct pmu_register *reg = pmu_box_register(
	    ref->box, fixed ? PMU_ROLE_FIXED_COUNTER : PMU_ROLE_COUNTER, ref->reg->index);
	struct kernel_counter *counter = get_counter(perf, ctx, unit, reg, op->socket);

	if (!counter)
		return PMU_E_NOMEM;
	*value_of(perf, ref, op->socket) = op->value;
	return close_counter(perf, ctx, counter);
}

static int perf_write(struct pmu_bus *bus, struct pmu_ctx *ctx, const struct bus_register_ref *ref,
		      const struct pmu_access_op *op)
{
	struct perf *perf = (struct perf *)bus;
	const struct perf_unit *unit = perf_unit_find(&perf->units, ref->box, ref->instance);
	struct kernel_counter *counter;

	if (ref->reg->role == PMU_ROLE_GLOBAL_CTL)
		return field_value(ref->reg, PMU_FIELD_FREEZE, op->value)
			   ? freeze(perf, ctx, op->socket)
		       : field_value(ref->reg, PMU_FIELD_UNFREEZE, op->value)
			   ? unfreeze(perf, ctx, op->socket)
			   : 0;
	if (ref->reg->role == PMU_ROLE_GLOBAL_STATUS || ref->reg->role == PMU_ROLE_BOX_STATUS)
		return 0; /* nothing to clear: the kernel takes overflows */
	if (!unit)
		return no_kernel_pmu(ctx, ref);
	switch (ref->reg->role) {
	case PMU_ROLE_COUNTER_CTL:
	case PMU_ROLE_FIXED_CTL:
		return write_control(perf, ctx, unit, ref, op);
	case PMU_ROLE_COUNTER:
	case PMU_ROLE_FIXED_COUNTER:
		counter = get_counter(perf, ctx, unit, ref->reg, op->socket);
		return counter ? write_counter(perf, ctx, counter, op->value) : PMU_E_NOMEM;
	case PMU_ROLE_BOX_CTL:
		return write_box_control(perf, ctx, ref, op->socket, op->value);
	default:
		*value_of(perf, ref, op->socket) = op->value;
		return 0;
	}
}

/* As in a full part, less the boxes that the kernel has not. */
static uint64_t identity(const struct perf *perf, const struct bus_register_ref *ref,
			 unsigned socket)
{
	uint64_t value = identity_of_full_part(perf->bus.pmu, ref, socket);

	for (size_t i = 0; i < ref->reg->field_count; i++) {
		const struct pmu_field *field = &ref->reg->fields[i];
		const struct pmu_box *box = pmu_find_box(perf->bus.pmu, field->name);

		for (unsigned bit = field->lo; box && bit <= field->hi; bit++)
			if (!perf_unit_find(&perf->units, box, bit - field->lo))
				value &= ~(UINT64_C(1) << bit);
	}
	return value;
}

static int perf_read_register(struct pmu_bus *bus, struct pmu_ctx *ctx,
			      const struct bus_register_ref *ref, struct pmu_access_op *op)
{
	struct perf *perf = (struct perf *)bus;
	const struct perf_unit *unit = perf_unit_find(&perf->units, ref->box, ref->instance);
	struct kernel_counter *counter;
	bool of_package = ref->reg->role == PMU_ROLE_GLOBAL_CTL ||
			  ref->reg->role == PMU_ROLE_GLOBAL_STATUS ||
			  (ref->reg->role == PMU_ROLE_DISCOVERY && !ref->box->kernel);

	op->value = 0;
	if (!unit && !of_package)
		return no_kernel_pmu(ctx, ref);
	if (ref->reg->role == PMU_ROLE_DISCOVERY) {
		op->value = identity(perf, ref, op->socket);
		return 0;
	}
	if (!is_counter(ref->reg)) {
		op->value = *value_of(perf, ref, op->socket);
		return 0;
	}
	counter = get_counter(perf, ctx, unit, ref->reg, op->socket);
	return counter ? read_counter(perf, ctx, counter, &op->value) : PMU_E_NOMEM;
}

static void perf_fini(struct pmu_bus *bus)
{
	struct perf *perf = (struct perf *)bus;

	for (size_t i = 0; i < perf->counter_count; i++)
		if (perf->counters[i].fd >= 0)
			perf->kernel.close(perf->kernel.arg, perf->counters[i].fd);
	free(perf->counters);
	perf_units_fini(&perf->units);
	free(perf->values);
}

static const struct bus_ops perf_ops = {
    .read = perf_read_register,
    .write = perf_write,
    .fini = perf_fini,
};

static int kernel_open(void *arg, struct pmu_ctx *ctx, struct perf_event_attr *attr, int cpu,
		       const char *event)
{
	(void)arg;
	return perf_open(ctx, attr, -1, cpu, event);
}

static int kernel_read(void *arg, struct pmu_ctx *ctx, int fd, const char *event,
		       struct perf_reading *reading)
{
	(void)arg;
	return perf_read(ctx, fd, event, reading);
}

static int kernel_enable(void *arg, struct pmu_ctx *ctx, int fd, bool on)
{
	(void)arg;
	if (ioctl(fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0))
		return error_set(ctx, PMU_E_IO, "a counter cannot be %s: %s",
				 on ? "started" : "stopped", strerror(errno));
	return 0;
}

static void kernel_close(void *arg, int fd)
{
	(void)arg;
	close(fd);
}

int bus_perf_new(struct pmu_bus **out, struct pmu_ctx *ctx, const struct pmu_pmu *pmu,
		 const char *root, const struct perf_kernel *kernel)
{
	struct perf *perf = calloc(1, sizeof(*perf));
	int error;

	if (!perf)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for the kernel's PMUs");
	error = bus_init(&perf->bus, ctx, &perf_ops, pmu, 0);
	if (error) {
		free(perf);
		return error;
	}
	perf->bus.transport = "perf_event";
	perf->kernel = *kernel;
	error = perf_units_init(&perf->units, ctx, pmu, root);
	if (error)
		goto fail;
	perf->bus.sockets = perf->units.sockets;
	perf->values =
	    calloc(perf->bus.sockets * bus_register_count(perf->bus.pmu), sizeof(*perf->values));
	if (!perf->values) {
		error =
		    error_set(ctx, PMU_E_NOMEM, "out of memory for the registers of %s", pmu->name);
		goto fail;
	}
	*out = &perf->bus;
	return 0;
fail:
	pmu_bus_free(&perf->bus);
	return error;
}

int pmu_bus_perf(struct pmu_bus **bus, struct pmu_ctx *ctx, const struct pmu_pmu *pmu)
{
	static const struct perf_kernel kernel = {
	    .open = kernel_open,
	    .read = kernel_read,
	    .enable = kernel_enable,
	    .close = kernel_close,
	};

	return bus_perf_new(bus, ctx, pmu, "", &kernel);
}
