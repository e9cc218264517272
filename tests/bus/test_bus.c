/* What the front refuses before any back end sees it, and what a dry run answers. */
#include <string.h>

#include "catalog/entries.h"
#include "pmulab/bus.h"
#include "support/cmocka.h"

struct fixture {
	struct pmu_ctx *ctx;
	struct pmu_bus *bus;
	unsigned accesses; /* that reached the back end */
};

static void count(void *arg, bool write, const struct pmu_access_op *op)
{
	(void)write;
	(void)op;
	((struct fixture *)arg)->accesses++;
}

static int fixture_up(void **state)
{
	static struct fixture fixture;

	memset(&fixture, 0, sizeof(fixture));
	*state = &fixture;
	assert_int_equal(pmu_ctx_new(&fixture.ctx), 0);
	return pmu_bus_dry_run(&fixture.bus, fixture.ctx, pmu_find_pmu("xeon-e5v4"), 2, count,
			       &fixture);
}

static int fixture_down(void **state)
{
	struct fixture *fixture = *state;

	pmu_bus_free(fixture->bus);
	pmu_ctx_free(fixture->ctx);
	return 0;
}

static int write_op(struct fixture *fixture, unsigned socket, enum pmu_space space,
		    uint32_t address, uint8_t width, uint64_t value)
{
	const struct pmu_access_op op = {socket, 0, space, width, address, value, "X"};

	return pmu_bus_write(fixture->bus, fixture->ctx, &op);
}

static int read_op(struct fixture *fixture, unsigned socket, enum pmu_space space, uint32_t address,
		   uint8_t width, uint64_t *value)
{
	struct pmu_access_op op = {socket, 0, space, width, address, 0, "X"};
	int error = pmu_bus_read(fixture->bus, fixture->ctx, &op);

	*value = op.value;
	return error;
}

static void test_refusals(void **state)
{
	struct fixture *fixture = *state;
	uint64_t value;

	/* EFER, which decides how the processor runs: none of the catalog's. */
	assert_int_equal(write_op(fixture, 0, PMU_SPACE_MSR, 0xC0000080, 64, 0), PMU_E_UNKNOWN);
	assert_int_equal(read_op(fixture, 0, PMU_SPACE_MSR, 0xC0000080, 64, &value), PMU_E_UNKNOWN);
	assert_non_null(strstr(pmu_message(fixture->ctx), "0xC0000080"));
	/* The time stamp counter, and C3 residency of the PCU: both may be written by their access
	 * type, and everybody goes by them. */
	assert_int_equal(write_op(fixture, 0, PMU_SPACE_MSR, 0x10, 64, 0), PMU_E_RIGHTS);
	assert_int_equal(write_op(fixture, 0, PMU_SPACE_MSR, 0x3FC, 64, 0), PMU_E_RIGHTS);
	assert_non_null(strstr(pmu_message(fixture->ctx), "counts at all times"));
	/* Branch records, of which an emulated machine alone takes writes. */
	assert_int_equal(write_op(fixture, 0, PMU_SPACE_MSR, 0x1D9, 64, 1), PMU_E_RIGHTS);
	assert_int_equal(write_op(fixture, 0, PMU_SPACE_MSR, 0x1C8, 64, 0), PMU_E_RIGHTS);
	assert_int_equal(write_op(fixture, 0, PMU_SPACE_MSR, 0x680, 64, 0), PMU_E_RIGHTS);
	assert_non_null(strstr(pmu_message(fixture->ctx), "directs what the processor stores"));
	assert_int_equal(write_op(fixture, 0, PMU_SPACE_MSR, 0xE00, 64, 0), PMU_E_UNKNOWN);
	assert_int_equal(write_op(fixture, 2, PMU_SPACE_MSR, 0xE00, 32, 0), PMU_E_UNKNOWN);
	assert_int_equal(write_op(fixture, 0, PMU_SPACE_PCI, 0xF3098, 32, 0), PMU_E_RIGHTS);
	assert_non_null(strstr(pmu_message(fixture->ctx), "CAPID5"));
	assert_int_equal(write_op(fixture, 0, PMU_SPACE_MSR, 0xE00, 32, UINT64_C(1) << 32),
			 PMU_E_RANGE);
	assert_int_equal(fixture->accesses, 0);

	assert_int_equal(write_op(fixture, 1, PMU_SPACE_MSR, 0xE00, 32, 0x30000), 0);
	assert_int_equal(write_op(fixture, 1, PMU_SPACE_MSR, 0xE08, 64, UINT64_MAX), 0);
	assert_int_equal(fixture->accesses, 2);
}

/* §1.6, §1.6.1: a part with all boxes; packages have nodes of their own. */
static void test_dry_run_identity(void **state)
{
	struct fixture *fixture = *state;
	uint64_t value;

	assert_int_equal(read_op(fixture, 0, PMU_SPACE_PCI, 0x91000, 32, &value), 0);
	assert_int_equal(value, 0x6F308086);
	assert_int_equal(read_op(fixture, 1, PMU_SPACE_PCI, 0x95000, 32, &value), 0);
	assert_int_equal(value, 0x6F388086);
	assert_int_equal(read_op(fixture, 0, PMU_SPACE_PCI, 0xF3098, 32, &value), 0);
	assert_int_equal(value, 0xFFFFFF);
	assert_int_equal(read_op(fixture, 1, PMU_SPACE_PCI, 0x85040, 32, &value), 0);
	assert_int_equal(value, 1);
	assert_int_equal(read_op(fixture, 0, PMU_SPACE_MSR, 0xE08, 64, &value), 0);
	assert_int_equal(value, 0);
	assert_int_equal(pmu_bus_sockets(fixture->bus), 2);
	assert_string_equal(pmu_bus_pmu(fixture->bus)->name, "xeon-e5v4");
}

static void test_free_of_nothing(void **state)
{
	(void)state;
	pmu_bus_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_refusals, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(test_dry_run_identity, fixture_up, fixture_down),
	    cmocka_unit_test(test_free_of_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
