#include "device/server.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "device/files.h"
#include "device/namespace.h"
#include "device/topology.h"
#include "system/share.h"

struct device_server {
	struct device_access access;
	struct pci_functions functions;
	struct device_tree tree;
	struct device_files *files;
	struct system_offer *offer;
	int namespace;
};

static int make_files(struct device_server *server, struct pmu_ctx *ctx)
{
	const struct pmu_machine *machine = system_desc(server->access.system);
	struct device_tree *tree = &server->tree;
	int error = device_pci_init(&server->functions, ctx, &server->access);

	if (error)
		return error;
	tree_init(tree);
	for (unsigned cpu = 0; cpu < topology_cpus(machine); cpu++) {
		tree_device(tree, DEVICE_MSR, 0600, cpu, "dev/cpu/%u/msr", cpu);
		tree_device(tree, DEVICE_CPUID, 0444, cpu, "dev/cpu/%u/cpuid", cpu);
	}
	device_pci_add_files(tree, &server->functions, machine);
	cpuinfo_add_files(tree, machine);
	topology_add_files(tree, machine);
	/* Tools turn the watchdog off; the computer's own is none of theirs. */
	tree_number(tree, 0, "proc/sys/kernel/nmi_watchdog");
	return tree->incomplete ? error_set(ctx, PMU_E_NOMEM, "out of memory for device files") : 0;
}

static int show_files(struct device_server *server, struct pmu_ctx *ctx, bool wall_clock)
{
	const struct device_contents contents = {&server->tree, &server->access,
						 &server->functions};
	int fuse, error = namespace_enter(ctx, &fuse);

	if (error)
		return error;
	/* Threads are in the namespace of the one that starts them. */
	if (wall_clock) {
		error = device_clock_new(&server->access.clock, ctx, server->access.system);
		if (error) {
			close(fuse);
			return error;
		}
	}
	error = device_files_new(&server->files, ctx, &contents, fuse);
	if (!error)
		error = namespace_show(ctx);
	if (error)
		return error;
	server->namespace = namespace_open(ctx);
	return server->namespace < 0 ? server->namespace : 0;
}

int device_server_new(struct device_server **out, struct pmu_ctx *ctx,
		      const struct device_options *options)
{
	struct device_server *server = calloc(1, sizeof(*server));
	int error;

	if (!server)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for device files");
	server->namespace = -1;
	server->access.refused = options->refused;
	server->access.accessed = options->accessed;
	server->access.arg = options->arg;
	error = system_new(&server->access.system, ctx, options->machine);
	if (error)
		goto fail;
	error = make_files(server, ctx);
	if (error)
		goto fail;
	if (options->violated)
		pmon_strict(system_pmon(server->access.system), options->violated, options->arg);
	error = show_files(server, ctx, options->wall_clock);
	if (error)
		goto fail;
	if (options->name)
		error = system_offer(&server->offer, ctx, options->name,
				     system_fd(server->access.system), server->namespace);
	if (error)
		goto fail;
	*out = server;
	return 0;
fail:
	device_server_free(server);
	return error;
}

void device_server_free(struct device_server *server)
{
	if (!server)
		return;
	system_withdraw(server->offer);
	device_files_free(server->files);
	device_clock_free(server->access.clock);
	if (server->namespace >= 0)
		close(server->namespace);
	tree_fini(&server->tree);
	device_pci_fini(&server->functions);
	system_free(server->access.system);
	free(server);
}

struct system *device_server_system(struct device_server *server)
{
	return server->access.system;
}
