#include "bus/hardware.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/option.h"
#include "bus/bus.h"
#include "bus/msr.h"

struct hardware {
	struct pmu_bus bus;
	struct pmu_host *host;
	struct msr *msr;
	struct config_space *config;
};

static int no_transport(struct pmu_ctx *ctx, const struct bus_register_ref *ref)
{
	return error_set(
	    ctx, PMU_E_UNSUPPORTED,
	    "%s of %s%u is out of reach: it is at %s 0x%X, and a program reaches MSRs and PCI "
	    "configuration space only",
	    ref->reg->name, ref->box->name, ref->instance, pmu_space_title(ref->reg->space),
	    pmu_register_address(ref->box, ref->reg, ref->instance));
}

static int find_cpu(const struct hardware *hardware, struct pmu_ctx *ctx,
		    const struct pmu_access_op *op, size_t *cpu)
{
	*cpu = host_first_cpu(hardware->host, op->socket) + op->core;
	if (*cpu < host_first_cpu(hardware->host, op->socket + 1))
		return 0;
	return error_set(ctx, PMU_E_UNKNOWN, "%s: socket %u has no core %u that is online", op->reg,
			 op->socket, op->core);
}

static int hardware_read(struct pmu_bus *bus, struct pmu_ctx *ctx,
			 const struct bus_register_ref *ref, struct pmu_access_op *op)
{
	struct hardware *hardware = (struct hardware *)bus;
	size_t cpu;
	int error;

	if (op->space == PMU_SPACE_PCI)
		return config_space_read(hardware->config, ctx, op->socket, op->address, op->width,
					 &op->value);
	if (op->space != PMU_SPACE_MSR)
		return no_transport(ctx, ref);
	error = find_cpu(hardware, ctx, op, &cpu);
	return error ? error : msr_read(hardware->msr, ctx, cpu, op->address, &op->value);
}

static int hardware_write(struct pmu_bus *bus, struct pmu_ctx *ctx,
			  const struct bus_register_ref *ref, const struct pmu_access_op *op)
{
	struct hardware *hardware = (struct hardware *)bus;
	size_t cpu;
	int error;

	if (op->space == PMU_SPACE_PCI)
		return config_space_write(hardware->config, ctx, op->socket, op->address, op->width,
					  op->value);
	if (op->space != PMU_SPACE_MSR)
		return no_transport(ctx, ref);
	error = find_cpu(hardware, ctx, op, &cpu);
	return error ? error : msr_write(hardware->msr, ctx, cpu, op->address, op->value);
}

static void hardware_begin(struct pmu_bus *bus)
{
	msr_begin(((struct hardware *)bus)->msr);
}

static void hardware_end(struct pmu_bus *bus)
{
	msr_end(((struct hardware *)bus)->msr);
}

static void hardware_fini(struct pmu_bus *bus)
{
	struct hardware *hardware = (struct hardware *)bus;

	config_space_free(hardware->config);
	msr_free(hardware->msr);
	pmu_host_free(hardware->host);
}

static const struct bus_ops hardware_ops = {
    .read = hardware_read,
    .write = hardware_write,
    .begin = hardware_begin,
    .end = hardware_end,
    .fini = hardware_fini,
};

const struct pmu_host *bus_hardware_host(const struct pmu_bus *bus)
{
	return bus->ops == &hardware_ops ? ((const struct hardware *)bus)->host : NULL;
}

const struct config_space *bus_hardware_config_space(const struct pmu_bus *bus)
{
	return bus->ops == &hardware_ops ? ((const struct hardware *)bus)->config : NULL;
}

bool pmu_bus_pci_bus(const struct pmu_bus *bus, unsigned socket, unsigned *domain, unsigned *number)
{
	const struct config_space *config = bus_hardware_config_space(bus);
	struct config_bus found = {0};

	if (config && socket < bus->sockets)
		found = config_space_bus(config, socket);
	*domain = found.domain;
	*number = found.number;
	return found.found;
}

/* The PMU asked for, or the first that the processor has. */
static int choose_pmu(const struct pmu_host *host, struct pmu_ctx *ctx, const char *name,
		      const struct pmu_pmu **pmu)
{
	*pmu = name ? pmu_find_pmu(name) : pmu_host_pmu(host);
	if (name && !*pmu)
		return error_set(ctx, PMU_E_UNKNOWN, "the catalog has no PMU %s", name);
	if (*pmu && pmu_host_has_pmu(host, *pmu))
		return 0;
	return error_set(
	    ctx, PMU_E_UNSUPPORTED, "%s is %s family %u model %u, a processor that %s%s",
	    host->name, host->vendor, host->family, host->model,
	    name ? "does not have PMU " : "no PMU of the catalog is for", name ? name : "");
}

static int open_spaces(struct hardware *hardware, struct pmu_ctx *ctx)
{
	int error = msr_new(&hardware->msr, ctx, hardware->host);

	return error ? error
		     : config_space_new(&hardware->config, ctx, hardware->host, hardware->bus.pmu);
}

int pmu_bus_host(struct pmu_bus **out, struct pmu_ctx *ctx, const struct pmu_host_options *given)
{
	struct hardware *hardware = calloc(1, sizeof(*hardware));
	struct pmu_host_options options = {0};
	const struct pmu_pmu *pmu;
	int error;

	if (!hardware)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for the registers");
	error = option_take(ctx, &options, sizeof(options), given);
	if (!error)
		error = pmu_host_new(&hardware->host, ctx, options.root);
	if (!error)
		error = choose_pmu(hardware->host, ctx, options.pmu, &pmu);
	if (!error)
		error = bus_init(&hardware->bus, ctx, &hardware_ops, pmu, hardware->host->sockets);
	if (error) {
		pmu_host_free(hardware->host);
		free(hardware);
		return error;
	}
	hardware->bus.transport = "/dev/cpu/N/msr and PCI configuration space";
	error = open_spaces(hardware, ctx);
	if (error)
		pmu_bus_free(&hardware->bus);
	else
		*out = &hardware->bus;
	return error;
}
