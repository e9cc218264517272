#include "bus/perf_units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"

#define FILE_MAX   4096 /* bytes of a file in sysfs: a page */
#define PACKAGE_ID "sys/devices/system/cpu/cpu%d/topology/physical_package_id"

static int package_of(struct pmu_ctx *ctx, const char *root, int cpu, int *package)
{
	char *path, *text = NULL;
	int error;

	if (asprintf(&path, "%s/" PACKAGE_ID, root, cpu) < 0)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for a path");
	error = file_read(ctx, path, FILE_MAX, &text, NULL);
	if (error == PMU_E_UNKNOWN)
		error = PMU_E_IO;
	if (!error && sscanf(text, "%d", package) != 1)
		error = error_set(ctx, PMU_E_SYNTAX, "%s is no number", path);
	free(text);
	free(path);
	return error;
}

/* Sockets are the packages of the PMU's CPUs, by rising physical id. */
static int find_sockets(struct perf_units *units, struct pmu_ctx *ctx, const char *root)
{
	const struct perf_device *device = &units->units[0].device;

	for (unsigned i = 0; i < device->cpu_count; i++) {
		unsigned at = i;
		int package, error = package_of(ctx, root, device->cpus[i], &package);

		if (error)
			return error;
		for (; at > 0 && units->packages[at - 1] > package; at--) {
			units->packages[at] = units->packages[at - 1];
			units->cpu[at] = units->cpu[at - 1];
		}
		units->packages[at] = package;
		units->cpu[at] = device->cpus[i];
	}
	units->sockets = device->cpu_count;
	return 0;
}

/* "uncore_cbox_{i}" */
static void device_name(char name[PERF_NAME_MAX], const struct pmu_box *box, unsigned instance)
{
	const char *at = strstr(box->kernel, "{i}");

	if (at)
		snprintf(name, PERF_NAME_MAX, "%.*s%u%s", (int)(at - box->kernel), box->kernel,
			 instance, at + strlen("{i}"));
	else
		snprintf(name, PERF_NAME_MAX, "%s", box->kernel);
}

static int find_units(struct perf_units *units, struct pmu_ctx *ctx, const struct pmu_pmu *pmu,
		      const char *root)
{
	size_t most = 0;

	for (size_t b = 0; b < pmu->box_count; b++)
		most += pmu->boxes[b].instance_count;
	units->units = calloc(most ? most : 1, sizeof(*units->units));
	if (!units->units)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for the kernel's PMUs");
	for (const struct pmu_box *box = pmu->boxes; box < pmu->boxes + pmu->box_count; box++) {
		for (unsigned i = 0; box->kernel && i < box->instance_count; i++) {
			struct perf_unit *unit = &units->units[units->count];
			char name[PERF_NAME_MAX];
			int error;

			device_name(name, box, i);
			error = perf_device_open(&unit->device, ctx, root, name);
			if (error == PMU_E_UNKNOWN)
				continue;
			if (error)
				return error;
			unit->box = box;
			unit->instance = i;
			units->count++;
		}
	}
	return units->count ? 0
			    : error_set(ctx, PMU_E_UNSUPPORTED,
					"the kernel has no uncore PMU of %s (no uncore_* in "
					"%s/sys/bus/event_source/devices)",
					pmu->name, root);
}

int perf_units_init(struct perf_units *units, struct pmu_ctx *ctx, const struct pmu_pmu *pmu,
		    const char *root)
{
	int error;

	*units = (struct perf_units){0};
	error = find_units(units, ctx, pmu, root);
	return error ? error : find_sockets(units, ctx, root);
}

void perf_units_fini(struct perf_units *units)
{
	free(units->units);
	units->units = NULL;
	units->count = 0;
}

const struct perf_unit *perf_unit_find(const struct perf_units *units, const struct pmu_box *box,
				       unsigned instance)
{
	for (size_t i = 0; i < units->count; i++)
		if (units->units[i].box == box && units->units[i].instance == instance)
			return &units->units[i];
	return NULL;
}
