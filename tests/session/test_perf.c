/*
 * A session over the kernel's uncore PMUs: a synthetic sysfs tree of two sockets, whose formats are
 * those of Linux's uncore driver, and a kernel that keeps what it is asked and counts what it is
 * reported. Config words are worked out by hand from table 2-16 of 334291-001 and the formats
 * below.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bus/perf.h"
#include "bus/perf_device.h"
#include "pmulab/event.h"
#include "pmulab/session.h"
#include "support/cmocka.h"

#define UNUSED __attribute__((unused))
#define FDS    64

struct fake {
	struct perf_event_attr attr;
	int cpu;
	uint64_t count;
	bool open, on;
};

struct fixture {
	char root[64];
	struct pmu_ctx *ctx;
	struct fake fds[FDS];
	int used;
	bool taken; /* somebody else has the counters */
};

static int fake_open(void *arg, struct pmu_ctx *ctx UNUSED, struct perf_event_attr *attr, int cpu,
		     const char *event UNUSED)
{
	struct fixture *fixture = arg;

	assert_true(fixture->used < FDS);
	fixture->fds[fixture->used] = (struct fake){.attr = *attr, .cpu = cpu, .open = true};
	return fixture->used++;
}

static int fake_read(void *arg, struct pmu_ctx *ctx UNUSED, int fd, const char *event UNUSED,
		     struct perf_reading *reading)
{
	struct fixture *fixture = arg;

	assert_true(fixture->fds[fd].open);
	if (fixture->taken)
		return PMU_E_CONFLICT;
	*reading = (struct perf_reading){fixture->fds[fd].count, 1, 1};
	return 0;
}

static int fake_enable(void *arg, struct pmu_ctx *ctx UNUSED, int fd, bool on)
{
	struct fixture *fixture = arg;

	fixture->fds[fd].on = on;
	return 0;
}

static void fake_close(void *arg, int fd)
{
	struct fixture *fixture = arg;

	assert_true(fixture->fds[fd].open);
	fixture->fds[fd].open = fixture->fds[fd].on = false;
}

__attribute__((format(printf, 2, 3))) static char *path_of(const struct fixture *fixture,
							   const char *format, ...)
{
	char *path, *leaf;
	va_list arguments;

	va_start(arguments, format);
	assert_true(vasprintf(&leaf, format, arguments) > 0);
	va_end(arguments);
	assert_true(asprintf(&path, "%s/%s", fixture->root, leaf) > 0);
	free(leaf);
	return path;
}

/* Takes @path. */
static void put(char *path, const char *text)
{
	FILE *file;

	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "%s\n", text);
	fclose(file);
	free(path);
}

static void add_device(const struct fixture *fixture, const char *name, int type,
		       const char *const (*formats)[2])
{
	char number[16];

	snprintf(number, sizeof(number), "%d", type);
	put(path_of(fixture, "sys/bus/event_source/devices/%s/type", name), number);
	put(path_of(fixture, "sys/bus/event_source/devices/%s/cpumask", name), "0,22");
	for (; (*formats)[0]; formats++)
		put(path_of(fixture, "sys/bus/event_source/devices/%s/format/%s", name,
			    (*formats)[0]),
		    (*formats)[1]);
}

static const char *const plain[][2] = {
    {"event", "config:0-7"}, {"umask", "config:8-15"},	 {"edge", "config:18"},
    {"inv", "config:23"},    {"thresh", "config:24-31"}, {NULL, NULL},
};
static const char *const cbox[][2] = {
    {"event", "config:0-7"},
    {"umask", "config:8-15"},
    {"edge", "config:18"},
    {"tid_en", "config:19"},
    {"inv", "config:23"},
    {"thresh", "config:24-31"},
    {"filter_tid", "config1:0-5"},
    {"filter_state", "config1:17-23"},
    {"filter_nid", "config1:32-47"},
    {"filter_opc", "config1:52-60"},
    {"filter_nc", "config1:62"},
    {"filter_isoc", "config1:63"},
    {NULL, NULL},
};
static const char *const qpi[][2] = {
    {"event", "config:0-7,21"}, {"umask", "config:8-15"},   {"edge", "config:18"},
    {"inv", "config:23"},	{"thresh", "config:24-31"}, {NULL, NULL},
};

static int fixture_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	strcpy(fixture->root, "/tmp/pmulab-perf-XXXXXX");
	assert_non_null(mkdtemp(fixture->root));
	assert_int_equal(pmu_ctx_new(&fixture->ctx), 0);
	/* The first CPU of the mask is in the package of the higher number. */
	put(path_of(fixture, "sys/devices/system/cpu/cpu0/topology/physical_package_id"), "1");
	put(path_of(fixture, "sys/devices/system/cpu/cpu22/topology/physical_package_id"), "0");
	add_device(fixture, "uncore_cbox_0", 20, cbox);
	add_device(fixture, "uncore_cbox_1", 21, cbox);
	add_device(fixture, "uncore_imc_0", 30, plain);
	add_device(fixture, "uncore_qpi_0", 40, qpi);
	*state = fixture;
	return 0;
}

static int fixture_down(void **state)
{
	struct fixture *fixture = *state;
	char *command;

	assert_true(asprintf(&command, "rm -r %s", fixture->root) > 0);
	assert_int_equal(system(command), 0);
	free(command);
	pmu_ctx_free(fixture->ctx);
	free(fixture);
	return 0;
}

static struct pmu_bus *open_bus(struct fixture *fixture)
{
	struct perf_kernel kernel = {fake_open, fake_read, fake_enable, fake_close, fixture};
	struct pmu_bus *bus;
	int error =
	    bus_perf_new(&bus, fixture->ctx, pmu_find_pmu("xeon-e5v4"), fixture->root, &kernel);

	if (error)
		print_error("%s\n", pmu_message(fixture->ctx));
	assert_int_equal(error, 0);
	return bus;
}

static int add(struct fixture *fixture, struct pmu_session *session, const char *text)
{
	struct pmu_selection selection;

	assert_int_equal(pmu_event_parse(fixture->ctx, pmu_find_pmu("xeon-e5v4"), text, &selection),
			 0);
	return pmu_session_add(session, fixture->ctx, &selection);
}

static const struct fake *find(const struct fixture *fixture, uint32_t type, int cpu)
{
	for (int i = 0; i < fixture->used; i++)
		if (fixture->fds[i].attr.type == type && fixture->fds[i].cpu == cpu)
			return &fixture->fds[i];
	fail_msg("no event of type %u on CPU %d", type, cpu);
	return NULL;
}

static void test_config_words(void **state)
{
	struct fixture *fixture = *state;
	struct pmu_bus *bus = open_bus(fixture);
	struct pmu_session *session;

	assert_int_equal(pmu_bus_sockets(bus), 2);
	assert_int_equal(pmu_session_new(&session, fixture->ctx, bus), 0);
	assert_int_equal(
	    add(fixture, session, "cbo.TOR_INSERTS.MISS_OPCODE:opc=DRd:thresh=1:invert"), 0);
	assert_int_equal(add(fixture, session, "imc.CAS_COUNT.RD:edge_det:thresh=1"), 1);
	/* The extended select bit is the ninth of the kernel's event. */
	assert_int_equal(add(fixture, session, "qpi.TxL_FLITS_G1.SNP"), 2);
	assert_int_equal(pmu_session_start(session, fixture->ctx), 0);

	/* Two slices, a channel, a link; on each socket. */
	assert_int_equal(fixture->used, 8);
	/* TOR_INSERTS 0x35, MISS_OPCODE 0x03; DRd 0x182 in filter_opc. */
	assert_int_equal(find(fixture, 20, 0)->attr.config, 0x35 | 0x03 << 8 | 1 << 23 | 1 << 24);
	assert_true(find(fixture, 21, 22)->attr.config1 == UINT64_C(0x182) << 52);
	/* CAS_COUNT 0x04, RD 0x03. */
	assert_int_equal(find(fixture, 30, 0)->attr.config, 0x04 | 0x03 << 8 | 1 << 18 | 1 << 24);
	assert_int_equal(find(fixture, 30, 0)->attr.config1, 0);
	/* TxL_FLITS_G1 has code 0x00 and the extended bit, SNP is unit mask 0x01. */
	assert_int_equal(find(fixture, 40, 22)->attr.config, 0x00 | 0x01 << 8 | 1 << 21);
	for (int i = 0; i < fixture->used; i++) {
		assert_true(fixture->fds[i].on);
		assert_true(fixture->fds[i].attr.pinned);
	}
	pmu_session_free(session);
	pmu_bus_free(bus);
	for (int i = 0; i < fixture->used; i++)
		assert_false(fixture->fds[i].open);
}

/* Counts come back by socket and instance; packages by rising number. */
static void test_counts(void **state)
{
	struct fixture *fixture = *state;
	struct pmu_bus *bus = open_bus(fixture);
	struct pmu_session *session;
	const struct pmu_count *counts;
	size_t count;

	assert_int_equal(pmu_session_new(&session, fixture->ctx, bus), 0);
	assert_int_equal(add(fixture, session, "cbo.LLC_LOOKUP.DATA_READ:state=I"), 0);
	assert_int_equal(pmu_session_start(session, fixture->ctx), 0);
	for (int i = 0; i < fixture->used; i++)
		/* 1000 x the socket that CPU 22 or 0 is in, and 7 x the slice. */
		fixture->fds[i].count = 5 + (fixture->fds[i].cpu == 0 ? 1000u : 0u) +
					7 * (fixture->fds[i].attr.type - 20);
	assert_int_equal(pmu_session_stop(session, fixture->ctx), 0);
	assert_int_equal(pmu_session_read(session, fixture->ctx, &counts, &count), 0);
	assert_int_equal(count, 4);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(counts[i].count,
				 5 + 1000 * counts[i].socket + 7 * counts[i].instance);
	fixture->taken = true;
	assert_int_equal(pmu_session_read(session, fixture->ctx, &counts, &count), PMU_E_CONFLICT);
	fixture->taken = false;
	pmu_session_free(session);
	pmu_bus_free(bus);
}

static void test_refusals(void **state)
{
	struct fixture *fixture = *state;
	struct pmu_bus *bus = open_bus(fixture);
	struct pmu_session *session;

	assert_int_equal(pmu_session_new(&session, fixture->ctx, bus), 0);
	/* No such PMUs in this tree. */
	assert_int_equal(add(fixture, session, "cbo2.CLOCKTICKS"), PMU_E_UNSUPPORTED);
	assert_int_equal(add(fixture, session, "ha.CLOCKTICKS"), PMU_E_UNSUPPORTED);
	/* The kernel has no words for a flit's opcode in this tree's formats. */
	assert_int_equal(add(fixture, session, "qpi.CTO_COUNT:rx_match_opc=3"), 0);
	assert_int_equal(pmu_session_start(session, fixture->ctx), PMU_E_UNSUPPORTED);
	assert_non_null(strstr(pmu_message(fixture->ctx), "filter_rx_match_opc"));
	pmu_session_free(session);
	pmu_bus_free(bus);

	put(path_of(fixture, "sys/bus/event_source/devices/uncore_imc_0/cpumask"), "0-");
	struct perf_kernel kernel = {fake_open, fake_read, fake_enable, fake_close, fixture};

	assert_int_equal(
	    bus_perf_new(&bus, fixture->ctx, pmu_find_pmu("xeon-e5v4"), fixture->root, &kernel),
	    PMU_E_SYNTAX);
	assert_non_null(strstr(pmu_message(fixture->ctx), "uncore_imc_0"));
	assert_int_equal(
	    bus_perf_new(&bus, fixture->ctx, pmu_find_pmu("nehalem"), fixture->root, &kernel),
	    PMU_E_UNSUPPORTED);
}

static void test_formats(void **state)
{
	struct fixture *fixture = *state;
	static const char *const bad[] = {"",	       "config",     "config:",	  "config3:1",
					  "config:8-", "config:9-8", "config:64", "config:1;2"};
	struct perf_device device = {.name = "x", .format_count = 1};
	struct perf_event_attr attr = {0};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(perf_format_parse(&device.formats[0], NULL, bad[i]), PMU_E_SYNTAX);
	assert_int_equal(perf_format_parse(&device.formats[0], NULL, "config2:4-7,21,60-63"), 0);
	strcpy(device.formats[0].name, "f");
	/* Low bits first: 5 to 4-7, 1 to 21, 0xA to 60-63. */
	assert_int_equal(perf_device_put(&device, NULL, &attr, "f", 0x5 | 1 << 4 | 0xA << 5), 0);
	assert_true(attr.config2 == (0x50 | 1 << 21 | UINT64_C(0xA) << 60));
	assert_int_equal(perf_device_put(&device, fixture->ctx, &attr, "f", 1 << 9), PMU_E_RANGE);
	assert_int_equal(perf_device_put(&device, fixture->ctx, &attr, "g", 1), PMU_E_UNSUPPORTED);
	assert_int_equal(perf_device_put(&device, fixture->ctx, &attr, "g", 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_config_words, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(test_counts, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(test_refusals, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(test_formats, fixture_up, fixture_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
