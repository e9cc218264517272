/*
 * The back end for real registers on made trees of files: who is where, and what is said when
 * something is not. Addresses: 334291-001 tables 1-2, 1-3, 2-61; MSR n is at byte 8 n of a plain
 * file.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bus/hardware.h"
#include "bus/rights.h"
#include "support/cmocka.h"

#define HA0_CTR0 0x910A0 /* D18:F1 */

struct fixture {
	char root[64];
	struct pmu_ctx *ctx;
	struct pmu_bus *bus;
};

static int open_file(const struct fixture *fixture, const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", fixture->root, name);
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0777);
		*slash = '/';
	}
	fd = open(path, O_RDWR | O_CREAT, 0666);
	assert_true(fd >= 0);
	return fd;
}

static void put(const struct fixture *fixture, const char *name, off_t offset, const void *bytes,
		size_t size)
{
	int fd = open_file(fixture, name);

	assert_int_equal(pwrite(fd, bytes, size, offset), size);
	close(fd);
}

static uint64_t get(const struct fixture *fixture, const char *name, off_t offset, size_t size)
{
	int fd = open_file(fixture, name);
	uint64_t value = 0;

	assert_int_equal(pread(fd, &value, size, offset), size);
	close(fd);
	return value;
}

static void put_msr(const struct fixture *fixture, unsigned cpu, uint32_t number, uint64_t value)
{
	char name[64];

	snprintf(name, sizeof(name), "dev/cpu/%u/msr", cpu);
	put(fixture, name, (off_t)number * 8, &value, 8);
}

static void put_config(const struct fixture *fixture, const char *function, off_t offset,
		       uint32_t value)
{
	char name[96];

	snprintf(name, sizeof(name), "sys/bus/pci/devices/%s/config", function);
	put(fixture, name, offset, &value, 4);
}

/* @package below 0: the kernel tells none. */
static void put_cpu(char *text, unsigned cpu, int package)
{
	char id[32] = "";

	if (package >= 0)
		snprintf(id, sizeof(id), "physical id\t: %d\n", package);
	sprintf(text + strlen(text),
		"processor\t: %u\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
		"model\t\t: 79\nmodel name\t: E5 v4\nstepping\t: 1\n%sflags\t\t: fpu msr\n\n",
		cpu, id);
}

static void fixture_up(struct fixture *fixture, const char *cpuinfo)
{
	*fixture = (struct fixture){.root = "/tmp/pmulab-host-XXXXXX"};
	assert_non_null(mkdtemp(fixture->root));
	assert_int_equal(pmu_ctx_new(&fixture->ctx), 0);
	put(fixture, "proc/cpuinfo", 0, cpuinfo, strlen(cpuinfo));
}

/* One package of two CPUs, numbered 5 and 6. */
static void fixture_up_small(struct fixture *fixture)
{
	char cpuinfo[1024] = "";

	put_cpu(cpuinfo, 6, 0);
	put_cpu(cpuinfo, 5, 0);
	fixture_up(fixture, cpuinfo);
	put_config(fixture, "0000:7f:10.5", 0, 0x6F1E8086);
	put_config(fixture, "0000:7f:10.5", 0x40, 0);
	put_config(fixture, "0000:7f:10.5", 0x54, 0xFFFFF8);
	put_config(fixture, "0000:7f:12.1", 0, 0x6F308086);
	put_config(fixture, "0000:7f:12.1", 0xFFC, 0);
	put_msr(fixture, 5, 0xFFF, 0);
	put_msr(fixture, 6, 0xFFF, 0);
}

static void open_bus(struct fixture *fixture)
{
	const struct pmu_host_options options = {.size = sizeof(options), .root = fixture->root};

	if (pmu_bus_host(&fixture->bus, fixture->ctx, &options))
		fail_msg("%s", pmu_message(fixture->ctx));
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
	(void)status;
	(void)kind;
	(void)walk;
	return remove(path);
}

static void fixture_down(struct fixture *fixture)
{
	pmu_bus_free(fixture->bus);
	pmu_ctx_free(fixture->ctx);
	nftw(fixture->root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Package ids need not be dense, nor CPUs in order. */
static void test_packages(void **state)
{
	char cpuinfo[2048] = "";
	struct fixture fixture;
	struct pmu_host *host;
	unsigned socket;

	(void)state;
	put_cpu(cpuinfo, 0, 3);
	put_cpu(cpuinfo, 9, 1);
	put_cpu(cpuinfo, 2, 3);
	put_cpu(cpuinfo, 4, 1);
	fixture_up(&fixture, cpuinfo);
	assert_int_equal(pmu_host_new(&host, fixture.ctx, fixture.root), 0);
	assert_int_equal(host->sockets, 2);
	assert_int_equal(host->cpu_count, 4);
	assert_int_equal(host->cpus[host_first_cpu(host, 0)].number, 4);
	assert_int_equal(host->cpus[host_first_cpu(host, 0) + 1].number, 9);
	assert_int_equal(host->cpus[host_first_cpu(host, 1)].number, 0);
	assert_int_equal(host_first_cpu(host, 2), 4);
	assert_true(host_find_socket(host, 3, &socket));
	assert_int_equal(socket, 1);
	assert_false(host_find_socket(host, 0, &socket));
	assert_string_equal(host->name, "E5 v4");
	assert_false(host->virtual_machine);
	assert_string_equal(pmu_host_pmu(host)->name, "xeon-e5v4");
	pmu_host_free(host);
	fixture_down(&fixture);
}

static void test_no_packages(void **state)
{
	char cpuinfo[1024] = "";
	struct fixture fixture;
	struct pmu_host *host;

	(void)state;
	put_cpu(cpuinfo, 0, -1);
	put_cpu(cpuinfo, 1, -1);
	fixture_up(&fixture, cpuinfo);
	assert_int_equal(pmu_host_new(&host, fixture.ctx, fixture.root), 0);
	assert_int_equal(host->sockets, 1);
	pmu_host_free(host);
	assert_int_equal(pmu_host_new(&host, fixture.ctx, "/tmp/no-such-root"), PMU_E_IO);
	fixture_down(&fixture);
	fixture_up(&fixture, "nothing of a processor\n");
	assert_int_equal(pmu_host_new(&host, fixture.ctx, fixture.root), PMU_E_IO);
	fixture_down(&fixture);
}

static struct pmu_access_op msr_op(unsigned core, uint32_t address, uint8_t width, uint64_t value)
{
	return (struct pmu_access_op){0, core, PMU_SPACE_MSR, width, address, value, "X"};
}

/* What a socket has once is reached through its first CPU, what each core has through its own. */
static void test_msrs(void **state)
{
	struct pmu_access_op op;
	struct fixture fixture;

	(void)state;
	fixture_up_small(&fixture);
	open_bus(&fixture);
	op = msr_op(0, 0xE01, 32, 0x400137);
	assert_int_equal(pmu_bus_write(fixture.bus, fixture.ctx, &op), 0);
	assert_int_equal(get(&fixture, "dev/cpu/5/msr", 8 * 0xE01, 8), 0x400137);
	assert_int_equal(get(&fixture, "dev/cpu/6/msr", 8 * 0xE01, 8), 0);
	put_msr(&fixture, 5, 0x186, 111);
	put_msr(&fixture, 6, 0x186, 222);
	for (unsigned core = 0; core < 2; core++) {
		op = msr_op(core, 0x186, 64, 0);
		assert_int_equal(pmu_bus_read(fixture.bus, fixture.ctx, &op), 0);
		assert_int_equal(op.value, core ? 222 : 111);
	}
	op = msr_op(2, 0x186, 64, 0);
	assert_int_equal(pmu_bus_read(fixture.bus, fixture.ctx, &op), PMU_E_UNKNOWN);
	assert_non_null(strstr(pmu_message(fixture.ctx), "no core 2"));
	/* Neither the catalog's nor the tree's. */
	op = msr_op(0, 0xC0000080, 64, 0);
	assert_int_equal(pmu_bus_write(fixture.bus, fixture.ctx, &op), PMU_E_UNKNOWN);
	fixture_down(&fixture);
}

static int config_read(struct fixture *fixture, uint32_t address, uint8_t width, uint64_t *value)
{
	struct pmu_access_op op = {0, 0, PMU_SPACE_PCI, width, address, 0, "X"};
	int error = pmu_bus_read(fixture->bus, fixture->ctx, &op);

	*value = op.value;
	return error;
}

/* Counters are two dwords, the low one first. */
static void test_configuration_space(void **state)
{
	static const char ha0[] = "sys/bus/pci/devices/0000:7f:12.1/config";
	struct pmu_access_op op = {0, 0, PMU_SPACE_PCI, 64, HA0_CTR0, 0x123456789ABC, "X"};
	struct fixture fixture;
	uint64_t value;

	(void)state;
	fixture_up_small(&fixture);
	open_bus(&fixture);
	assert_int_equal(pmu_bus_write(fixture.bus, fixture.ctx, &op), 0);
	assert_int_equal(get(&fixture, ha0, 0xA0, 4), 0x56789ABC);
	assert_int_equal(get(&fixture, ha0, 0xA4, 4), 0x1234);
	assert_int_equal(config_read(&fixture, HA0_CTR0, 64, &value), 0);
	assert_int_equal(value, 0x123456789ABC);
	assert_int_equal(config_read(&fixture, HA0_CTR0 + 4, 32, &value), 0);
	assert_int_equal(value, 0x1234);
	/* HA1, D18:F5, is not there. */
	assert_int_equal(config_read(&fixture, 0x950A0, 64, &value), PMU_E_UNKNOWN);
	assert_non_null(strstr(pmu_message(fixture.ctx), "0000:7f:12.5"));
	fixture_down(&fixture);
}

/* A function that is switched off, or hidden later, reads as ones throughout. */
static void test_all_ones(void **state)
{
	struct fixture fixture;
	uint64_t value;

	(void)state;
	fixture_up_small(&fixture);
	open_bus(&fixture);
	put_config(&fixture, "0000:7f:12.1", 0xD8, 0xFFFFFFFF);
	assert_int_equal(config_read(&fixture, 0x910D8, 32, &value), 0);
	assert_int_equal(value, 0xFFFFFFFF);
	put_config(&fixture, "0000:7f:12.1", 0, 0xFFFFFFFF);
	assert_int_equal(config_read(&fixture, 0x910D8, 32, &value), PMU_E_UNKNOWN);
	fixture_down(&fixture);
}

/* Match registers of QPI, D8:F6 0x228, lie beyond the first 256 bytes (334291-001 §2.9.3). */
static void test_extended_space(void **state)
{
	struct fixture fixture;
	uint64_t value;

	(void)state;
	fixture_up_small(&fixture);
	put_config(&fixture, "0000:7f:08.6", 0, 0x6F868086);
	put_config(&fixture, "0000:7f:08.6", 0x228, 0x55AA);
	put_config(&fixture, "0000:7f:09.6", 0, 0x6F968086);
	put_config(&fixture, "0000:7f:09.6", 0xFC, 0);
	open_bus(&fixture);
	assert_int_equal(config_read(&fixture, 0x46228, 32, &value), 0);
	assert_int_equal(value, 0x55AA);
	assert_int_equal(config_read(&fixture, 0x4E228, 32, &value), PMU_E_UNSUPPORTED);
	assert_non_null(strstr(pmu_message(fixture.ctx), "extended"));
	fixture_down(&fixture);
}

static void test_choice_of_pmu(void **state)
{
	struct pmu_host_options options = {.size = sizeof(options)};
	struct fixture fixture;

	(void)state;
	fixture_up_small(&fixture);
	options.root = fixture.root;
	options.pmu = "nehalem";
	assert_int_equal(pmu_bus_host(&fixture.bus, fixture.ctx, &options), PMU_E_UNSUPPORTED);
	assert_non_null(strstr(pmu_message(fixture.ctx), "nehalem"));
	options.pmu = "i8086";
	assert_int_equal(pmu_bus_host(&fixture.bus, fixture.ctx, &options), PMU_E_UNKNOWN);
	options.pmu = "xeon-e5v4";
	assert_int_equal(pmu_bus_host(&fixture.bus, fixture.ctx, &options), 0);
	fixture_down(&fixture);
}

/* What the kernel's answers mean, and what grants the right. */
static void test_rights(void **state)
{
	static const struct {
		enum rights_action action;
		int errnum, error;
		const char *lockdown, *says;
	} cases[] = {
	    {RIGHTS_OPEN, ENOENT, PMU_E_RIGHTS, "", "modprobe msr"},
	    {RIGHTS_OPEN, EACCES, PMU_E_RIGHTS, "", "root"},
	    {RIGHTS_OPEN, EPERM, PMU_E_RIGHTS, "", "CAP_SYS_RAWIO"},
	    {RIGHTS_WRITE, EPERM, PMU_E_RIGHTS, "[none] integrity confidentiality\n",
	     "allow_writes"},
	    {RIGHTS_WRITE, EPERM, PMU_E_RIGHTS, "none [integrity] confidentiality\n",
	     "lockdown=integrity"},
	    {RIGHTS_READ, ENXIO, PMU_E_IO, "", "offline"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture fixture;
		struct pmu_host *host;

		fixture_up_small(&fixture);
		put(&fixture, "sys/kernel/security/lockdown", 0, cases[i].lockdown,
		    strlen(cases[i].lockdown));
		assert_int_equal(pmu_host_new(&host, fixture.ctx, fixture.root), 0);
		assert_int_equal(rights_msr(fixture.ctx, host, "/dev/cpu/0/msr", cases[i].action,
					    cases[i].errnum),
				 cases[i].error);
		assert_non_null(strstr(pmu_message(fixture.ctx), cases[i].says));
		pmu_host_free(host);
		fixture_down(&fixture);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_packages),	  cmocka_unit_test(test_no_packages),
	    cmocka_unit_test(test_msrs),	  cmocka_unit_test(test_configuration_space),
	    cmocka_unit_test(test_all_ones),	  cmocka_unit_test(test_extended_space),
	    cmocka_unit_test(test_choice_of_pmu), cmocka_unit_test(test_rights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
