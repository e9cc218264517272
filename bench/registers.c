/*
 * Register accesses on an emulated machine: the time of one in process, by kind of register, and
 * how many a second over the bus and through the device files that emulate shows to tools, from one
 * process, and from four at once.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/server.h"
#include "measure.h"
#include "pmulab/bus.h"
#include "pmulab/session.h"

#define MACHINE	  "xeon-e5v4-4c"
#define LARGE	  "xeon-e5-2699v4-2s"
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

/* Accesses to a register of an instance of a box while events are counted. */
struct single {
	const char *what, *box;
	enum pmu_role role;
	unsigned index;
	bool write;
	uint64_t values[2]; /* written in turn */
};

#define CONTROL(event, umask) (UINT64_C(1) << 22 | (umask) << 8 | (event))

static const struct single singles[] = {
    {"read of a counter of inserts", "cbo", PMU_ROLE_COUNTER, 0, false, {0}},
    {"read of a counter of occupancy", "cbo", PMU_ROLE_COUNTER, 1, false, {0}},
    {"read of a memory channel's counter", "imc", PMU_ROLE_COUNTER, 0, false, {0}},
    {"read of a fixed counter of a core", "core", PMU_ROLE_FIXED_COUNTER, 0, false, {0}},
    {"read of a control", "cbo", PMU_ROLE_COUNTER_CTL, 0, false, {0}},
    {"write of a counter", "cbo", PMU_ROLE_COUNTER, 2, true, {1, 2}},
    /* LLC_LOOKUP.DATA_READ and TOR_INSERTS.ALL (334291-001 tables 2-14 and 2-16). */
    {"write of a control, another event",
     "cbo",
     PMU_ROLE_COUNTER_CTL,
     3,
     true,
     {CONTROL(0x34, 0x03), CONTROL(0x35, 0x08)}},
    {"write of a control, enable and disable",
     "cbo",
     PMU_ROLE_COUNTER_CTL,
     3,
     true,
     {CONTROL(0x35, 0x08), 0x0835}},
};

struct turn {
	struct pmu_bus *bus;
	struct pmu_ctx *ctx;
	const struct single *single;
	struct pmu_access_op op;
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

#define SINGLES (1 << 14)

static void access_singly(void *arg)
{
	struct turn *turn = arg;

	for (int i = 0; i < SINGLES; i++) {
		turn->op.value = turn->single->values[i & 1];
		if (turn->single->write ? pmu_bus_write(turn->bus, turn->ctx, &turn->op)
					: pmu_bus_read(turn->bus, turn->ctx, &turn->op))
			fail(pmu_message(turn->ctx));
	}
}

static struct pmu_session *count_something(struct pmu_ctx *ctx, struct pmu_bus *bus)
{
	static const char *const events[] = {
	    "cbo.TOR_INSERTS.ALL",
	    "cbo.TOR_OCCUPANCY.ALL",
	    "imc.CAS_COUNT.RD",
	    "core.INST_RETIRED.ANY",
	};
	struct pmu_session *session;

	if (pmu_session_new(&session, ctx, bus))
		fail(pmu_message(ctx));
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		struct pmu_selection selection;

		if (pmu_event_parse(ctx, pmu_bus_pmu(bus), events[i], &selection) ||
		    pmu_session_add(session, ctx, &selection) < 0)
			fail(pmu_message(ctx));
	}
	if (pmu_session_start(session, ctx))
		fail(pmu_message(ctx));
	return session;
}

static void one_by_one(struct pmu_ctx *ctx, const struct pmu_machine *machine)
{
	struct pmu_session *session;
	struct pmu_bus *bus;

	if (pmu_bus_emulated(&bus, ctx, machine))
		fail(pmu_message(ctx));
	session = count_something(ctx, bus);
	for (size_t i = 0; i < sizeof(singles) / sizeof(singles[0]); i++) {
		const struct single *single = &singles[i];
		const struct pmu_box *box = pmu_find_box(pmu_bus_pmu(bus), single->box);
		const struct pmu_register *reg = pmu_box_register(box, single->role, single->index);
		struct turn turn = {
		    .bus = bus,
		    .ctx = ctx,
		    .single = single,
		    .op = {.space = reg->space,
			   .width = reg->width,
			   .address = pmu_register_address(box, reg, 0),
			   .reg = reg->name},
		};

		measure(single->what, access_singly, &turn, SINGLES);
	}
	pmu_session_free(session);
	pmu_bus_free(bus);
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
	one_by_one(ctx, pmu_find_machine(LARGE));
	in_process(ctx, machine);
	through_files(ctx, machine);
	pmu_ctx_free(ctx);
	return 0;
}
