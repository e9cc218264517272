/* perf_event of a machine, as perf_event_open(2) has it, against what the machine did. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "emul/perf_request.h"
#include "machine/access.h"
#include "perf/devices.h"
#include "perf/perf.h"
#include "support/cmocka.h"
#include "support/untranslated.h"

#define MACHINE	      "xeon-e5-2699v4-2s"
#define CORES	      22
#define CACHE_MISS    0x412E /* LONGEST_LAT_CACHE.MISS, 325384 */
#define STORE_FORWARD 0x0203 /* LD_BLOCKS: not modelled */
#define CAS_READ      0x0304 /* CAS_COUNT.RD, 334291-001 table 2-118 */
#define TOR_OPCODE    0x0135 /* TOR_INSERTS.OPCODE */
#define FILTER_RFO    (UINT64_C(0x180) << 52)
#define WORDS	      16

struct fixture {
	struct pmu_ctx *ctx;
	struct emul *emul;
	struct perf *perf;
};

static int fixture_up(void **state)
{
	static struct fixture fixture;

	fixture = (struct fixture){0};
	assert_int_equal(pmu_ctx_new(&fixture.ctx), 0);
	assert_int_equal(emul_new(&fixture.emul, fixture.ctx, untranslated(MACHINE)), 0);
	/* Each store that misses is one event. */
	for (unsigned cpu = 0; cpu < 2 * CORES; cpu++)
		machine_set_prefetchers(emul_machine(fixture.emul), cpu, 0);
	assert_int_equal(perf_new(&fixture.perf, fixture.ctx, fixture.emul), 0);
	*state = &fixture;
	return 0;
}

static int fixture_down(void **state)
{
	struct fixture *fixture = *state;

	perf_free(fixture->perf);
	emul_free(fixture->emul);
	pmu_ctx_free(fixture->ctx);
	return 0;
}

struct named {
	const char *name;
	uint32_t type;
};

static bool has_name(void *arg, const struct perf_device_of *device)
{
	struct named *named = arg;

	if (strcmp(device->name, named->name))
		return false;
	named->type = device->type;
	return true;
}

static uint32_t type_of(const char *name)
{
	struct named named = {name, UINT32_MAX};

	perf_devices(pmu_find_machine(MACHINE), has_name, &named);
	assert_int_not_equal(named.type, UINT32_MAX);
	return named.type;
}

static int try(const struct fixture *fixture, struct perf_event **event,
	       const struct perf_event_attr *attr, int pid, int cpu, uint64_t leader)
{
	struct perf_request request = {.kind = PERF_REQUEST_OPEN,
				       .pid = pid,
				       .cpu = cpu,
				       .attr_bytes = sizeof(*attr),
				       .leader = leader};
	ssize_t done;

	memcpy(request.attr, attr, sizeof(*attr));
	*event = perf_descriptor_new(fixture->perf);
	assert_non_null(*event);
	done = perf_descriptor_request(fixture->perf, *event, &request, sizeof(request));
	if (done < 0)
		perf_descriptor_free(fixture->perf, *event);
	return done < 0 ? (int)done : 0;
}

static struct perf_event *open_event(const struct fixture *fixture,
				     const struct perf_event_attr *attr, int pid, int cpu)
{
	struct perf_event *event;

	assert_int_equal(try(fixture, &event, attr, pid, cpu, 0), 0);
	return event;
}

static int request(const struct fixture *fixture, struct perf_event *event, uint64_t command,
		   uint64_t argument)
{
	const struct perf_request request = {
	    .kind = PERF_REQUEST_CONTROL, .command = command, .argument = argument};
	ssize_t done = perf_descriptor_request(fixture->perf, event, &request, sizeof(request));

	return done < 0 ? (int)done : 0;
}

static void ask(const struct fixture *fixture, struct perf_event *event, uint64_t command)
{
	assert_int_equal(request(fixture, event, command, 0), 0);
}

static size_t read_words(const struct fixture *fixture, struct perf_event *event,
			 uint64_t words[WORDS])
{
	ssize_t bytes =
	    perf_descriptor_read(fixture->perf, event, words, WORDS * sizeof(words[0]), 0);

	assert_true(bytes > 0);
	return (size_t)bytes / sizeof(words[0]);
}

static uint64_t value_of(const struct fixture *fixture, struct perf_event *event)
{
	uint64_t words[WORDS];

	assert_int_equal(read_words(fixture, event, words), 1);
	return words[0];
}

static uint64_t id_of(const struct fixture *fixture, struct perf_event *event)
{
	uint64_t id;

	assert_int_equal(
	    perf_descriptor_read(fixture->perf, event, &id, sizeof(id), PERF_ID_POSITION), 8);
	return id;
}

/* Stores to lines that nobody has, from CPU 0: each is an RFO that misses, and a read of DRAM. */
static void store(const struct fixture *fixture, unsigned lines)
{
	static const struct machine_insn plain = {0};
	struct machine *machine = emul_machine(fixture->emul);
	struct machine_address_space *space;
	struct machine_hart *hart;

	assert_int_equal(machine_address_space_new(&space, machine), 0);
	hart = machine_hart_enter(machine, space, 0);
	assert_non_null(hart);
	for (uint64_t i = 0; i < lines; i++)
		machine_store(hart, 0x10000 + i * 64, 8, &plain);
	machine_hart_leave(hart);
	machine_address_space_free(space);
	machine_drain(machine);
}

static struct perf_event_attr raw(uint64_t config)
{
	return (struct perf_event_attr){.type = PERF_TYPE_RAW, .config = config, .disabled = 1};
}

static void counts_while_it_is_enabled(void **state)
{
	const struct fixture *fixture = *state;
	const struct perf_event_attr attr = raw(CACHE_MISS);
	struct perf_event *event = open_event(fixture, &attr, -1, 0);

	store(fixture, 10);
	assert_int_equal(value_of(fixture, event), 0);
	ask(fixture, event, PERF_EVENT_IOC_ENABLE);
	store(fixture, 100);
	assert_int_equal(value_of(fixture, event), 100);
	ask(fixture, event, PERF_EVENT_IOC_DISABLE);
	store(fixture, 1000);
	assert_int_equal(value_of(fixture, event), 100);
	ask(fixture, event, PERF_EVENT_IOC_ENABLE);
	store(fixture, 20);
	assert_int_equal(value_of(fixture, event), 120);
	ask(fixture, event, PERF_EVENT_IOC_RESET);
	store(fixture, 3);
	assert_int_equal(value_of(fixture, event), 3);
	perf_descriptor_free(fixture->perf, event);
}

/* Of a CPU, and of a task: wherever programs run. */
static void counts_where_it_is_asked_for(void **state)
{
	const struct fixture *fixture = *state;
	struct perf_event_attr attr = raw(CACHE_MISS);
	struct perf_event *here, *beside, *elsewhere, *task;

	attr.disabled = 0;
	here = open_event(fixture, &attr, -1, 0);
	beside = open_event(fixture, &attr, -1, 1);
	elsewhere = open_event(fixture, &attr, -1, CORES);
	task = open_event(fixture, &attr, 0, -1);
	store(fixture, 50);
	assert_int_equal(value_of(fixture, here), 50);
	assert_int_equal(value_of(fixture, beside), 0);
	assert_int_equal(value_of(fixture, elsewhere), 0);
	assert_int_equal(value_of(fixture, task), 50);
	perf_descriptor_free(fixture->perf, here);
	perf_descriptor_free(fixture->perf, beside);
	perf_descriptor_free(fixture->perf, elsewhere);
	perf_descriptor_free(fixture->perf, task);
}

/* Four channels of a socket share its memory; a filter is in config1 (uncore_snbep.c of Linux). */
static void counts_in_the_uncore(void **state)
{
	static const char *const channels[] = {"uncore_imc_0", "uncore_imc_1", "uncore_imc_4",
					       "uncore_imc_5"};
	const struct fixture *fixture = *state;
	struct perf_event_attr attr = {.config = CAS_READ};
	struct perf_event *events[4], *other, *rfos;
	uint64_t sum = 0;

	for (unsigned i = 0; i < 4; i++) {
		attr.type = type_of(channels[i]);
		events[i] = open_event(fixture, &attr, -1, 0);
	}
	other = open_event(fixture, &attr, -1, CORES);
	attr = (struct perf_event_attr){
	    .type = type_of("uncore_cbox_21"), .config = TOR_OPCODE, .config1 = FILTER_RFO};
	rfos = open_event(fixture, &attr, -1, 0);
	store(fixture, 2200);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_not_equal(value_of(fixture, events[i]), 0);
		sum += value_of(fixture, events[i]);
		perf_descriptor_free(fixture->perf, events[i]);
	}
	assert_int_equal(sum, 2200);
	assert_int_equal(value_of(fixture, other), 0);
	assert_in_range(value_of(fixture, rfos), 50, 150);
	perf_descriptor_free(fixture->perf, other);
	perf_descriptor_free(fixture->perf, rfos);
}

/* Members count while the first is enabled too; one read gives all. */
static void groups(void **state)
{
	const struct fixture *fixture = *state;
	struct perf_event_attr attr = raw(CACHE_MISS);
	struct perf_event *leader, *member;
	uint64_t words[WORDS];

	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED |
			   PERF_FORMAT_TOTAL_TIME_RUNNING;
	leader = open_event(fixture, &attr, -1, 0);
	attr = (struct perf_event_attr){.type = PERF_TYPE_HARDWARE,
					.config = PERF_COUNT_HW_CACHE_REFERENCES};
	assert_int_equal(try(fixture, &member, &attr, -1, 0, id_of(fixture, leader)), 0);
	store(fixture, 10);
	assert_int_equal(value_of(fixture, member), 0);
	ask(fixture, leader, PERF_EVENT_IOC_ENABLE);
	store(fixture, 7);
	assert_int_equal(request(fixture, leader, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP), 0);
	store(fixture, 10);
	assert_int_equal(read_words(fixture, leader, words), 7);
	assert_int_equal(words[0], 2);
	assert_int_not_equal(words[1], 0);
	assert_int_equal(words[1], words[2]);
	assert_int_equal(words[3], 7);
	assert_int_equal(words[4], id_of(fixture, leader));
	assert_true(words[5] >= 7);
	assert_int_equal(words[6], id_of(fixture, member));
	/* Alone it counts by itself. */
	perf_descriptor_free(fixture->perf, leader);
	ask(fixture, member, PERF_EVENT_IOC_RESET);
	ask(fixture, member, PERF_EVENT_IOC_ENABLE);
	store(fixture, 9);
	assert_true(value_of(fixture, member) >= 9);
	perf_descriptor_free(fixture->perf, member);
}

static void begins_when_its_task_executes(void **state)
{
	const struct fixture *fixture = *state;
	struct perf_request executes = {.kind = PERF_REQUEST_EXEC, .pid = 41};
	struct perf_event_attr attr = raw(CACHE_MISS);
	struct perf_event *event, *nobody = perf_descriptor_new(fixture->perf);

	attr.enable_on_exec = 1;
	event = open_event(fixture, &attr, 42, -1);
	perf_descriptor_request(fixture->perf, nobody, &executes, sizeof(executes));
	store(fixture, 5);
	executes.pid = 42;
	perf_descriptor_request(fixture->perf, nobody, &executes, sizeof(executes));
	store(fixture, 6);
	assert_int_equal(value_of(fixture, event), 6);
	/* A descriptor without an event has nothing to read. */
	assert_int_equal(perf_descriptor_read(fixture->perf, nobody, &attr, sizeof(attr), 0),
			 -EINVAL);
	perf_descriptor_free(fixture->perf, nobody);
	perf_descriptor_free(fixture->perf, event);
}

/*
 * A PMU has one filter a CBo: of five opcodes each other takes one more. Where no PMU is left an
 * event is not counted, which its times say.
 */
static void more_events_than_counters(void **state)
{
	static const uint64_t opcodes[] = {0x180, 0x181, 0x182, 0x190, 0x1C4};
	const struct fixture *fixture = *state;
	struct perf_event *events[5];
	unsigned counted = 0;

	for (unsigned i = 0; i < 5; i++) {
		const struct perf_event_attr attr = {.type = type_of("uncore_cbox_0"),
						     .config = TOR_OPCODE,
						     .config1 = opcodes[i] << 52,
						     .read_format = PERF_FORMAT_TOTAL_TIME_RUNNING,
						     .disabled = 1};

		events[i] = open_event(fixture, &attr, -1, 0);
	}
	for (unsigned i = 0; i < 5; i++)
		ask(fixture, events[i], PERF_EVENT_IOC_ENABLE);
	store(fixture, 2200);
	for (unsigned i = 0; i < 5; i++) {
		uint64_t words[WORDS];

		assert_int_equal(read_words(fixture, events[i], words), 2);
		counted += words[1] > 0;
		assert_true(words[1] || !words[0]);
	}
	assert_int_equal(counted, 4);
	/* Who ends makes room. */
	perf_descriptor_free(fixture->perf, events[0]);
	perf_descriptor_free(fixture->perf, events[1]);
	for (unsigned i = 2; i < 5; i++) {
		uint64_t words[WORDS];

		ask(fixture, events[i], PERF_EVENT_IOC_DISABLE);
		ask(fixture, events[i], PERF_EVENT_IOC_RESET);
		ask(fixture, events[i], PERF_EVENT_IOC_ENABLE);
		store(fixture, 10);
		read_words(fixture, events[i], words);
		assert_int_not_equal(words[1], 0);
		perf_descriptor_free(fixture->perf, events[i]);
	}
}

static void errors(void **state)
{
	const struct {
		struct perf_event_attr attr;
		int pid, cpu, error;
	} wrong[] = {
	    {{.type = PERF_TYPE_RAW, .config = CACHE_MISS, .sample_period = 1000},
	     0,
	     -1,
	     -EOPNOTSUPP},
	    {{.type = PERF_TYPE_RAW, .config = CACHE_MISS, .exclude_user = 1}, 0, -1, -EOPNOTSUPP},
	    {{.type = PERF_TYPE_RAW, .config = CACHE_MISS, .read_format = 1u << 20},
	     0,
	     -1,
	     -EINVAL},
	    {{.type = PERF_TYPE_RAW, .config = CACHE_MISS}, -1, -1, -EINVAL},
	    {{.type = PERF_TYPE_RAW, .config = CACHE_MISS}, -1, 2 * CORES, -ENODEV},
	    {{.type = PERF_TYPE_RAW, .config = UINT64_C(1) << 40}, 0, -1, -EINVAL},
	    {{.type = PERF_TYPE_RAW, .config = 0xFFFF}, 0, -1, -ENOENT},
	    {{.type = PERF_TYPE_RAW, .config = STORE_FORWARD}, 0, -1, -EOPNOTSUPP},
	    {{.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	     0,
	     -1,
	     -ENOENT},
	    {{.type = PERF_TYPE_SOFTWARE}, 0, -1, -ENOENT},
	    {{.type = 999}, 0, -1, -ENOENT},
	    {{.type = type_of("uncore_imc_0"), .config = CAS_READ}, 0, -1, -EINVAL},
	    {{.type = type_of("uncore_imc_0"), .config = CAS_READ, .config1 = 1}, -1, 0, -EINVAL},
	};
	const struct fixture *fixture = *state;
	struct perf_event *event;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		int error = try(fixture, &event, &wrong[i].attr, wrong[i].pid, wrong[i].cpu, 0);

		if (error != wrong[i].error)
			fail_msg("%zu: %d, not %d", i, error, wrong[i].error);
	}
	assert_int_equal(try(fixture, &event, &wrong[0].attr, 0, -1, 12345), -EINVAL);
	event = perf_descriptor_new(fixture->perf);
	assert_int_equal(request(fixture, event, PERF_EVENT_IOC_ENABLE, 0), -EINVAL);
	assert_int_equal(perf_descriptor_request(fixture->perf, event, &event, 8), -EINVAL);
	perf_descriptor_free(fixture->perf, event);
}

static void says_what_there_is(void **state)
{
	const struct {
		const char *path, *text;
	} files[] = {
	    {"cpu/type", "4\n"},
	    {"cpu/format/event", "config:0-7\n"},
	    {"cpu/format/cmask", "config:24-31\n"},
	    {"uncore_cbox_21/format/umask", "config:8-15\n"},
	    {"uncore_cbox_21/format/filter_opc", "config1:52-60\n"},
	    {"uncore_cbox_21/format/filter_nid", "config1:32-47\n"},
	    {"uncore_cbox_21/format/filter_state", "config1:17-23\n"},
	    {"uncore_imc_5/format/edge", "config:18\n"},
	    {"uncore_imc_5/cpumask", "0,22\n"},
	    {"uncore_qpi_0/format/event", "config:0-7,21\n"},
	};
	struct device_tree tree;

	(void)state;
	tree_init(&tree);
	perf_add_files(&tree, pmu_find_machine(MACHINE));
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char path[128] = "sys/bus/event_source/devices/";
		const struct device_node *node;

		strcat(path, files[i].path);
		node = tree_find(&tree, path);
		if (!node || strcmp(node->text, files[i].text))
			fail_msg("%s: %s", path, node ? node->text : "is not there");
	}
	assert_null(tree_find(&tree, "sys/bus/event_source/devices/uncore_imc_2"));
	tree_fini(&tree);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_up, fixture_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(counts_while_it_is_enabled),
	    TEST(counts_where_it_is_asked_for),
	    TEST(counts_in_the_uncore),
	    TEST(groups),
	    TEST(begins_when_its_task_executes),
	    TEST(more_events_than_counters),
	    TEST(errors),
	    cmocka_unit_test(says_what_there_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
