#include "device/serving.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/error.h"
#include "device/channel.h"
#include "device/files.h"
#include "device/namespace.h"
#include "device/register_file.h"
#include "device/runs.h"
#include "emul/share.h"
#include "perf/perf.h"
#include "sysfs/topology.h"

struct serving {
	const struct device_options *options;
	struct pmu_ctx *ctx;
	struct device_access access;
	struct pci_functions functions;
	struct device_tree tree;
	struct device_files *files;
	struct perf *perf;
	struct emul_offer *offer;
	int end, namespace;
};

/* Of all nodes together, all of it free: what is in use is not modelled. */
static void add_memory(struct device_tree *tree, const struct pmu_machine *machine)
{
	const unsigned long long kilobytes = machine->memory_bytes / 1024 * machine->sockets;
	char text[512];

	snprintf(text, sizeof(text),
		 "MemTotal:       %llu kB\nMemFree:        %llu kB\nMemAvailable:   %llu kB\n"
		 "Buffers:        0 kB\nCached:         0 kB\nSwapCached:     0 kB\n"
		 "Active:         0 kB\nInactive:       0 kB\nSwapTotal:      0 kB\n"
		 "SwapFree:       0 kB\nHugePages_Total: 0\nHugePages_Free: 0\n"
		 "Hugepagesize:   2048 kB\n",
		 kilobytes, kilobytes, kilobytes);
	tree_text(tree, text, "proc/meminfo");
}

static int make_register_files(struct serving *serving)
{
	tree_init(&serving->tree);
	register_files_add(&serving->tree, serving->options->machine);
	serving->access.runs = device_runs_new(serving->access.epic);
	return serving->tree.incomplete || !serving->access.runs
		   ? error_set(serving->ctx, PMU_E_NOMEM, "out of memory for device files")
		   : 0;
}

static int make_files(struct serving *serving)
{
	const struct pmu_machine *machine = serving->options->machine;
	struct device_tree *tree = &serving->tree;
	int error = device_pci_init(&serving->functions, serving->ctx, &serving->access);

	tree_init(tree);
	if (error)
		return error;
	serving->access.aperf_reads = calloc(topology_cpus(machine), sizeof(uint32_t));
	if (!serving->access.aperf_reads)
		tree->incomplete = true;
	for (unsigned cpu = 0; cpu < topology_cpus(machine); cpu++) {
		tree_device(tree, DEVICE_MSR, 0600, cpu, "dev/cpu/%u/msr", cpu);
		tree_device(tree, DEVICE_CPUID, 0444, cpu, "dev/cpu/%u/cpuid", cpu);
	}
	tree_device(tree, DEVICE_PERF, 0600, 0, "sys/bus/event_source/perf_event");
	perf_add_files(tree, machine);
	device_pci_add_files(tree, &serving->functions, machine);
	cpuinfo_add_files(tree, machine);
	topology_add_files(tree, machine);
	/* The machine has no disks and no network; the computer's are at its own PCI functions. */
	tree_folder(tree, "sys/block");
	tree_folder(tree, "sys/class/block");
	tree_folder(tree, "sys/class/net");
	tree_text(tree, "major minor  #blocks  name\n\n", "proc/partitions");
	tree_text(tree, "", "proc/diskstats");
	add_memory(tree, machine);
	/* Tools turn the watchdog off; the computer's own is none of theirs. */
	tree_number(tree, 0, "proc/sys/kernel/nmi_watchdog");
	return tree->incomplete
		   ? error_set(serving->ctx, PMU_E_NOMEM, "out of memory for device files")
		   : 0;
}

/* As when it is killed: the kernel ends all requests, and the other process sees that it is gone.
 */
static _Noreturn void give_up(void)
{
	_exit(EXIT_FAILURE);
}

/* @fuse is the files' from now on, also in failure. */
static int begin(struct serving *serving, int fuse)
{
	const struct device_options *options = serving->options;
	struct device_contents contents = {.broken = give_up,
					   .tree = &serving->tree,
					   .access = &serving->access,
					   .functions = &serving->functions};
	const struct emul *emul = serving->access.emul;
	int error = emul ? make_files(serving) : make_register_files(serving);

	if (!error && emul)
		error = perf_new(&serving->perf, serving->ctx, serving->access.emul);
	contents.perf = serving->perf;
	if (!error && emul && options->wall_clock)
		error =
		    device_clock_new(&serving->access.clock, serving->ctx, serving->access.emul);
	if (error) {
		close(fuse);
		return error;
	}
	if (options->violated && emul)
		pmon_strict(emul_pmon(serving->access.emul), options->violated, options->arg);
	else if (options->violated)
		emul_epic_strict(serving->access.epic, options->violated, options->arg);
	return device_files_new(&serving->files, serving->ctx, &contents, fuse);
}

static int offer(struct serving *serving)
{
	if (serving->namespace < 0)
		return error_set(serving->ctx, PMU_E_IO, "no descriptor for the mount namespace");
	if (!serving->options->name)
		return 0;
	return emul_offer(&serving->offer, serving->ctx, serving->options->name,
			  emul_fd(serving->access.emul), serving->namespace);
}

/* Who joined learns it first, and ends what it runs; the rest does not outlive the machine. */
static void clear(struct serving *serving)
{
	emul_withdraw(serving->offer);
	serving->offer = NULL;
	namespace_kill(serving->namespace);
}

static void end(struct serving *serving)
{
	clear(serving);
	device_files_free(serving->files);
	device_clock_free(serving->access.clock);
	perf_free(serving->perf);
	tree_fini(&serving->tree);
	free(serving->access.aperf_reads);
	device_pci_fini(&serving->functions);
	emul_free(serving->access.emul);
	device_runs_free(serving->access.runs);
	if (serving->access.epic)
		emul_epic_strict_pause(serving->access.epic);
	emul_epic_free(serving->access.epic);
	if (serving->namespace >= 0)
		close(serving->namespace);
}

static int answer(const struct serving *serving, int kind, int value, const char *text)
{
	struct channel_message message = {.kind = kind, .value = value};

	snprintf(message.text, sizeof(message.text), "%s", text);
	return channel_send(serving->end, &message, -1);
}

/* @return whether the other process goes on */
static bool step(struct serving *serving, int kind, int fuse)
{
	int error = kind == SERVING_MOUNTED ? begin(serving, fuse) : offer(serving);

	return !answer(serving, kind, error, error ? pmu_message(serving->ctx) : "") && !error;
}

static void finish(struct serving *serving, int result)
{
	const struct device_options *options = serving->options;

	/* First: what is noted is complete then. */
	end(serving);
	if (options->finished)
		result = options->finished(options->arg, result);
	fflush(NULL);
	answer(serving, SERVING_FINISH, result, "");
}

/* The other process has died. */
static _Noreturn void abandon(struct serving *serving)
{
	clear(serving);
	_exit(EXIT_FAILURE);
}

_Noreturn void serving_run(struct emul *emul, struct emul_epic *epic,
			   const struct device_options *options, int end, int fuse)
{
	struct serving serving = {
	    .options = options,
	    .access = {.emul = emul,
		       .epic = epic,
		       .refused = options->refused,
		       .accessed = options->accessed,
		       .arg = options->arg},
	    .end = end,
	    .namespace = -1,
	};
	struct channel_message message;

	prctl(PR_SET_NAME, "pmulab-serve");
	if (pmu_ctx_new(&serving.ctx))
		_exit(EXIT_FAILURE);
	for (;;) {
		int fd;

		if (channel_receive(end, &message, &fd))
			abandon(&serving);
		if (message.kind == SERVING_FINISH)
			break;
		if (fd >= 0)
			serving.namespace = fd;
		if (!step(&serving, message.kind, fuse))
			abandon(&serving);
	}
	finish(&serving, message.value);
	pmu_ctx_free(serving.ctx);
	exit(EXIT_SUCCESS);
}
