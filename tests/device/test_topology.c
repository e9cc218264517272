/* What the processors say of themselves, against the machines' descriptions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cmocka.h"
#include "sysfs/cpuid.h"
#include "sysfs/topology.h"

struct fixture {
	const struct pmu_machine *machine;
	struct device_tree tree;
};

static struct fixture fixture;

static int fixture_up(const char *name)
{
	fixture.machine = pmu_find_machine(name);
	tree_init(&fixture.tree);
	topology_add_files(&fixture.tree, fixture.machine);
	cpuinfo_add_files(&fixture.tree, fixture.machine);
	return fixture.tree.incomplete;
}

static int fixture_up_small(void **state)
{
	(void)state;
	return fixture_up("xeon-e5v4-4c");
}

static int fixture_up_large(void **state)
{
	(void)state;
	return fixture_up("xeon-e5-2699v4-2s");
}

static int fixture_down(void **state)
{
	(void)state;
	tree_fini(&fixture.tree);
	return 0;
}

static const char *text(const char *path)
{
	const struct device_node *node = tree_find(&fixture.tree, path);

	if (!node)
		fail_msg("%s is not there", path);
	return node ? node->text : "";
}

static void lists_name_all_cpus(void **state)
{
	(void)state;
	assert_string_equal(text("sys/devices/system/cpu/online"), "0-43\n");
	assert_string_equal(text("sys/devices/system/cpu/possible"), "0-43\n");
	assert_string_equal(text("sys/devices/system/node/online"), "0-1\n");
	assert_string_equal(text("sys/devices/system/node/node1/cpulist"), "22-43\n");
	/* 44 CPUs: 12 bits in the top word. */
	assert_string_equal(text("sys/devices/system/node/node0/cpumap"), "000,003fffff\n");
	assert_string_equal(text("sys/devices/system/node/node1/cpumap"), "fff,ffc00000\n");
	assert_string_equal(text("sys/devices/system/node/node1/distance"), "21 10\n");
}

static void cores_know_their_socket(void **state)
{
	(void)state;
	assert_string_equal(text("sys/devices/system/cpu/cpu21/topology/physical_package_id"),
			    "0\n");
	assert_string_equal(text("sys/devices/system/cpu/cpu22/topology/physical_package_id"),
			    "1\n");
	assert_string_equal(text("sys/devices/system/cpu/cpu22/topology/core_id"), "0\n");
	assert_string_equal(text("sys/devices/system/cpu/cpu43/topology/core_siblings_list"),
			    "22-43\n");
	assert_string_equal(text("sys/devices/system/cpu/cpu43/topology/thread_siblings_list"),
			    "43\n");
	assert_string_equal(text("sys/devices/system/cpu/cpu43/node1"), "../../node/node1");
}

/* E5-1620 v4 as ARK has it: 32 KB, 256 KB, 10 MB. */
static void caches_have_their_sizes(void **state)
{
	(void)state;
	assert_string_equal(text("sys/devices/system/cpu/cpu0/cache/index0/size"), "32K\n");
	assert_string_equal(text("sys/devices/system/cpu/cpu0/cache/index0/type"), "Data\n");
	assert_string_equal(text("sys/devices/system/cpu/cpu0/cache/index1/type"), "Instruction\n");
	assert_string_equal(text("sys/devices/system/cpu/cpu0/cache/index2/size"), "256K\n");
	assert_string_equal(text("sys/devices/system/cpu/cpu3/cache/index3/size"), "10240K\n");
	assert_string_equal(text("sys/devices/system/cpu/cpu3/cache/index3/shared_cpu_list"),
			    "0-3\n");
	assert_string_equal(text("sys/devices/system/cpu/cpu3/cache/index2/shared_cpu_list"),
			    "3\n");
}

static unsigned count(const char *in, const char *what)
{
	unsigned found = 0;

	while ((in = strstr(in, what))) {
		in += strlen(what);
		found++;
	}
	return found;
}

static void cpuinfo_has_every_cpu(void **state)
{
	const char *cpuinfo = text("proc/cpuinfo");

	(void)state;
	assert_int_equal(count(cpuinfo, "processor\t: "), 44);
	assert_int_equal(count(cpuinfo, "physical id\t: 1\n"), 22);
	assert_int_equal(count(cpuinfo, "model\t\t: 79\n"), 44);
	assert_int_equal(count(cpuinfo, "cpu family\t: 6\n"), 44);
	assert_non_null(strstr(cpuinfo, "processor\t: 43\n"));
	assert_non_null(strstr(cpuinfo, " arch_perfmon "));
}

static struct cpuid ask(unsigned cpu, uint32_t leaf, uint32_t subleaf)
{
	return cpuid_of(fixture.machine, cpu, leaf, subleaf);
}

/* Family 6, model 79 (4F), stepping 1: signature 406F1. */
static void cpuid_identifies_the_processor(void **state)
{
	char name[49] = "";

	(void)state;
	assert_int_equal(ask(0, 0, 0).ebx, 0x756e6547);
	assert_int_equal(ask(0, 1, 0).eax, 0x000406f1);
	assert_int_equal(ask(0, 1, 0).ecx >> 31, 0);
	for (uint32_t i = 0; i < 3; i++) {
		struct cpuid part = ask(0, 0x80000002 + i, 0);

		memcpy(name + 16 * i, &part, 16);
	}
	assert_non_null(strstr(name, "E5 v4 @ 2.20GHz"));
	assert_non_null(strstr(text("proc/cpuinfo"), name));
}

/* 325384, leaf A: version 3, eight counters of 48 bits where a core has one thread, three fixed. */
static void cpuid_tells_the_counters(void **state)
{
	struct cpuid answer = ask(0, 0xA, 0);

	(void)state;
	assert_int_equal(answer.eax & 0xFF, 3);
	assert_int_equal(answer.eax >> 8 & 0xFF, 8);
	assert_int_equal(answer.eax >> 16 & 0xFF, 48);
	assert_int_equal(answer.ebx, 0);
	assert_int_equal(answer.edx & 0x1F, 3);
	assert_int_equal(answer.edx >> 5 & 0xFF, 48);
}

/* 325384, leaf B: the id shifted by what a level says is that of the level above. */
static void cpuid_tells_the_topology(void **state)
{
	(void)state;
	for (unsigned cpu = 0; cpu < 44; cpu++) {
		struct cpuid threads = ask(cpu, 0xB, 0), cores = ask(cpu, 0xB, 1);
		char apicid[64];

		assert_int_equal(threads.ecx >> 8, 1);
		assert_int_equal(cores.ecx >> 8, 2);
		assert_int_equal(cores.ebx, 22);
		assert_int_equal(cores.edx >> cores.eax, cpu / 22);
		assert_int_equal((cores.edx & ((1u << cores.eax) - 1)) >> threads.eax, cpu % 22);
		assert_int_equal(ask(cpu, 1, 0).ebx >> 24, threads.edx);
		assert_int_equal(ask(cpu, 0xB, 2).ecx >> 8, 0);
		snprintf(apicid, sizeof(apicid), "\napicid\t\t: %u\n", threads.edx);
		assert_non_null(strstr(text("proc/cpuinfo"), apicid));
	}
}

/* Size = ways x partitions x line x sets, each of them less 1 in the leaf. */
static void cpuid_tells_the_caches(void **state)
{
	static const unsigned sizes[] = {32 << 10, 32 << 10, 256 << 10, 55 << 20};

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		struct cpuid cache = ask(0, 4, i);

		assert_int_equal(((cache.ebx >> 22) + 1) * ((cache.ebx >> 12 & 0x3FF) + 1) *
				     ((cache.ebx & 0xFFF) + 1) * (cache.ecx + 1),
				 sizes[i]);
		assert_int_equal(cache.eax >> 5 & 7, i < 2 ? 1 : i);
	}
	assert_int_equal(ask(0, 4, 4).eax & 0x1F, 0);
}

/* As the kernel's driver: position is leaf and subleaf; 16 bytes an answer. */
static void cpuid_file_answers_by_position(void **state)
{
	struct cpuid answers[2];

	(void)state;
	assert_int_equal(cpuid_read(fixture.machine, 3, answers, sizeof(answers), 0), 32);
	assert_int_equal(answers[1].eax, 0x000406f1);
	assert_int_equal(cpuid_read(fixture.machine, 3, answers, 16, (off_t)(1ull << 32 | 0xB)),
			 16);
	assert_int_equal(answers[0].ecx >> 8, 2);
	assert_true(cpuid_read(fixture.machine, 3, answers, 15, 0) < 0);
}

#define LARGE(test) cmocka_unit_test_setup_teardown(test, fixture_up_large, fixture_down)
#define SMALL(test) cmocka_unit_test_setup_teardown(test, fixture_up_small, fixture_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    LARGE(lists_name_all_cpus),
	    LARGE(cores_know_their_socket),
	    SMALL(caches_have_their_sizes),
	    LARGE(cpuinfo_has_every_cpu),
	    LARGE(cpuid_identifies_the_processor),
	    LARGE(cpuid_tells_the_counters),
	    LARGE(cpuid_tells_the_topology),
	    LARGE(cpuid_tells_the_caches),
	    LARGE(cpuid_file_answers_by_position),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
