/* What sysfs says of the kernel's PMUs. */
#include <stdio.h>
#include <string.h>

#include "notation/names.h"
#include "perf/devices.h"
#include "perf/perf.h"

#define FOLDER "sys/bus/event_source/devices"

struct adding {
	struct device_tree *tree;
	const struct pmu_machine *machine;
};

static void add_field(struct device_tree *tree, const char *device, const char *name,
		      const struct pmu_field *field, const struct pmu_field *more)
{
	char text[32];

	if (!field)
		return;
	if (more)
		snprintf(text, sizeof(text), "config:%u-%u,%u\n", field->lo, field->hi, more->lo);
	else
		snprintf(text, sizeof(text), "config:%u-%u\n", field->lo, field->hi);
	tree_text(tree, text, FOLDER "/%s/format/%s", device, name);
}

/* An uncore PMU is read on one CPU of each socket. */
static void add_cpumask(const struct adding *adding, const char *device)
{
	char text[64];
	size_t used = 0;

	for (unsigned socket = 0; socket < adding->machine->sockets; socket++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%u",
					 socket ? "," : "", socket * adding->machine->cores);
	snprintf(text + used, sizeof(text) - used, "\n");
	tree_text(adding->tree, text, FOLDER "/%s/cpumask", device);
}

static void add_events(struct device_tree *tree, const struct perf_device_of *device)
{
	for (size_t i = 0; i < device->box->kernel_event_count; i++) {
		const struct pmu_kernel_event *event = &device->box->kernel_events[i];
		char text[64];

		snprintf(text, sizeof(text), "%s\n", event->terms);
		tree_text(tree, text, FOLDER "/%s/events/%s", device->name, event->name);
		if (!*event->unit)
			continue;
		snprintf(text, sizeof(text), "%s\n", event->scale);
		tree_text(tree, text, FOLDER "/%s/events/%s.scale", device->name, event->name);
		snprintf(text, sizeof(text), "%s\n", event->unit);
		tree_text(tree, text, FOLDER "/%s/events/%s.unit", device->name, event->name);
	}
}

static bool add_device(void *arg, const struct perf_device_of *device)
{
	const struct adding *adding = arg;
	struct device_tree *tree = adding->tree;
	const struct pmu_box *box = device->box;

	tree_number(tree, device->type, FOLDER "/%s/type", device->name);
	add_field(tree, device->name, "event", box->selector.ev_sel, box->selector.ev_sel_ext);
	add_field(tree, device->name, "umask", box->selector.umask, NULL);
	for (size_t i = 0; i < box->modifier_count; i++) {
		char name[32], text[32];

		if (perf_format(box, &box->modifiers[i], name, text)) {
			snprintf(text + strlen(text), 2, "\n");
			tree_text(tree, text, FOLDER "/%s/format/%s", device->name, name);
		}
	}
	if (notation_kernel_filter(box))
		tree_text(tree, "config1:0-63\n", FOLDER "/%s/format/%s", device->name,
			  notation_kernel_filter(box));
	add_events(tree, device);
	if (box->scope != PMU_SCOPE_CORE)
		add_cpumask(adding, device->name);
	return false;
}

void perf_add_files(struct device_tree *tree, const struct pmu_machine *machine)
{
	struct adding adding = {tree, machine};

	perf_devices(machine, add_device, &adding);
	/* Of the kernel itself. */
	tree_number(tree, PERF_TYPE_SOFTWARE, FOLDER "/software/type");
	tree_text(tree, "-1\n", "proc/sys/kernel/perf_event_paranoid");
}
