/*
 * Register accesses a second on an emulated machine: over the bus in process, and through the
 * device files that emulate shows to tools; one process, and four at once.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/server.h"
#include "measure.h"
#include "pmulab/bus.h"

#define MACHINE	  "xeon-e5v4-4c"
#define PROCESSES 4
#define RUNS	  5

/* The counters that are read: C0_MSR_PMON_CTR0; MC_CH0_PCI_PMON_CTR0 of 20:0 (334291-001). */
#define MSR_COUNTER 0xE08
#define PCI_COUNTER 0xA0
#define MSR_FILE    "/dev/cpu/0/msr"
#define PCI_FILE    "/proc/bus/pci/ff/14.0"

struct way {
	const char *what;
	void (*access)(const struct way *way, size_t count);
	size_t count; /* of accesses of each process */
	struct pmu_bus *bus;
	struct pmu_access_op op;
	const char *file;
	off_t position;
	size_t bytes;
};

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void over_the_bus(const struct way *way, size_t count)
{
	struct pmu_access_op op = way->op;
	struct pmu_ctx *ctx;

	if (pmu_ctx_new(&ctx))
		fail("context");
	for (size_t i = 0; i < count; i++)
		if (pmu_bus_read(way->bus, ctx, &op))
			fail(pmu_message(ctx));
	pmu_ctx_free(ctx);
}

static void through_a_file(const struct way *way, size_t count)
{
	int fd = open(way->file, O_RDONLY | O_CLOEXEC);
	uint64_t value;

	if (fd < 0)
		fail(way->file);
	for (size_t i = 0; i < count; i++)
		if (pread(fd, &value, way->bytes, way->position) != (ssize_t)way->bytes)
			fail(way->file);
	close(fd);
}

static double seconds(const struct way *way, int processes)
{
	double start = measure_now();
	int status;

	for (int i = 0; i < processes; i++) {
		pid_t pid = fork();

		if (pid < 0)
			fail("fork");
		if (pid == 0) {
			way->access(way, way->count);
			_exit(0);
		}
	}
	for (int i = 0; i < processes; i++)
		if (wait(&status) < 0 || status)
			exit(1);
	return measure_now() - start;
}

static double median_rate(const struct way *way, int processes)
{
	double times[RUNS];

	for (int run = 0; run < RUNS; run++)
		times[run] = seconds(way, processes);
	qsort(times, RUNS, sizeof(times[0]), measure_order);
	return (double)way->count * processes / times[RUNS / 2];
}

static void report(const struct way *way)
{
	printf("%-32s %9.0f /s with 1 process, %9.0f /s with %d\n", way->what, median_rate(way, 1),
	       median_rate(way, PROCESSES), PROCESSES);
	fflush(stdout);
}

static void in_process(struct pmu_ctx *ctx, const struct pmu_machine *machine)
{
	struct way way = {
	    .what = "read of an MSR, over the bus",
	    .access = over_the_bus,
	    .count = 400000,
	    .op = {.space = PMU_SPACE_MSR, .width = 64, .address = MSR_COUNTER, .reg = "CTR0"},
	};

	if (pmu_bus_emulated(&way.bus, ctx, machine))
		fail(pmu_message(ctx));
	report(&way);
	pmu_bus_free(way.bus);
}

static void through_files(struct pmu_ctx *ctx, const struct pmu_machine *machine)
{
	const struct device_options options = {.machine = machine, .wall_clock = true};
	const struct way ways[] = {
	    {
		.what = "read of an MSR, device file",
		.access = through_a_file,
		.count = 20000,
		.file = MSR_FILE,
		.position = MSR_COUNTER,
		.bytes = sizeof(uint64_t),
	    },
	    {
		.what = "read of a PCI register, file",
		.access = through_a_file,
		.count = 20000,
		.file = PCI_FILE,
		.position = PCI_COUNTER,
		.bytes = sizeof(uint32_t),
	    },
	};
	struct device_server *server;

	if (device_server_new(&server, ctx, &options)) {
		printf("device files: not measured: %s\n", pmu_message(ctx));
		return;
	}
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		report(&ways[i]);
	device_server_free(server);
}

int main(void)
{
	const struct pmu_machine *machine = pmu_find_machine(MACHINE);
	struct pmu_ctx *ctx;

	if (pmu_ctx_new(&ctx))
		return 1;
	in_process(ctx, machine);
	through_files(ctx, machine);
	pmu_ctx_free(ctx);
	return 0;
}
