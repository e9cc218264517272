/* Device files as the API has them. */
#include "pmulab/device.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/option.h"
#include "device/namespace.h"
#include "device/server.h"
#include "emul/emul.h"
#include "emul/program.h"

struct pmu_device {
	struct pmu_device_options options;
	const struct pmu_pmu *pmu;
	struct device_server *server;
};

static void accessed(void *arg, const struct pmon_access *access, bool write, uint64_t value,
		     int error)
{
	const struct pmu_device *device = arg;
	const struct pmu_access_op op = {
	    .socket = access->socket,
	    .core = access->core,
	    .space = (uint8_t)access->space,
	    .width = (uint8_t)access->width,
	    .address = access->address,
	    .value = value,
	    .reg = "",
	};

	device->options.accessed(device->options.arg, &op, write, error);
}

/* Names of registers are the catalog's own strings: which one it is tells the box. */
static const struct pmu_box *box_of(const struct pmu_pmu *pmu, const char *reg)
{
	for (size_t b = 0; b < pmu->box_count; b++)
		for (size_t r = 0; r < pmu->boxes[b].register_count; r++)
			if (pmu->boxes[b].registers[r].name == reg)
				return &pmu->boxes[b];
	return NULL;
}

static void violated(void *arg, const struct pmon_violation *found)
{
	const struct pmu_device *device = arg;
	const struct pmu_violation violation = {
	    .reg = found->reg,
	    .box = box_of(device->pmu, found->reg),
	    .socket = found->socket,
	    .instance = found->instance,
	    .value = found->value,
	    .rule = found->rule,
	    .source = found->source,
	};

	device->options.violated(device->options.arg, &violation);
}

static int finished(void *arg, int value)
{
	const struct pmu_device *device = arg;

	return device->options.finished(device->options.arg, value);
}

int pmu_device_new(struct pmu_device **out, struct pmu_ctx *ctx,
		   const struct pmu_device_options *given)
{
	struct pmu_device *device = calloc(1, sizeof(*device));
	int error;

	if (!device)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for device files");
	error = option_take(ctx, &device->options, sizeof(device->options), given);
	if (!error && !device->options.machine)
		error = error_set(ctx, PMU_E_RANGE, "no machine is named");
	if (!error) {
		const struct pmu_device_options *options = &device->options;
		const struct device_options own = {
		    .machine = options->machine,
		    .name = options->name,
		    .wall_clock = options->wall_clock,
		    .accessed = options->accessed ? accessed : NULL,
		    .violated = options->violated ? violated : NULL,
		    .finished = options->finished ? finished : NULL,
		    .arg = device,
		};

		if (options->machine->core && options->name)
			error = error_set(ctx, PMU_E_UNSUPPORTED,
					  "a machine with IA-64 cores has no name to be joined by");
		device->pmu = pmu_find_pmu(options->machine->pmu);
		if (!error)
			error = device_server_new(&device->server, ctx, &own);
	}
	if (error)
		free(device);
	else
		*out = device;
	return error;
}

int pmu_device_run(struct pmu_device *device, struct pmu_ctx *ctx, struct pmu_program *tool,
		   struct pmu_program_result *result)
{
	if (!tool->emulator)
		return program_run_natively(tool, ctx, device_server_watch(device->server), result);
	return program_run(tool, ctx, NULL, -1, device_server_watch(device->server), result);
}

int pmu_device_finish(struct pmu_device *device, struct pmu_ctx *ctx, int value, int *answer)
{
	return device_server_finish(device->server, ctx, value, answer);
}

void pmu_device_free(struct pmu_device *device)
{
	if (!device)
		return;
	device_server_free(device->server);
	free(device);
}

int pmu_device_enter(struct pmu_emul *emul, struct pmu_ctx *ctx)
{
	const struct emul_share *share = emul_share(emul);

	if (!share)
		return error_set(ctx, PMU_E_STATE, "the machine was not joined by a name");
	return namespace_join(ctx, share->extra);
}
