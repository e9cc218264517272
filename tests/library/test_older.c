/*
 * Programs that were compiled with other headers: their structs with a size are shorter than the
 * library's, or longer. What stands behind a shorter one is another's memory.
 */
#include <pmulab/emul.h>
#include <pmulab/hwrec.h>
#include <pmulab/journal.h>
#include <pmulab/metric.h>
#include <pmulab/program.h>
#include <pmulab/session.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

#define ANOTHERS 0xA5 /* bytes behind the struct */

/* Structs as an older header may have had them: their first members. */
struct old_statistics {
	size_t size;
	uint64_t instructions;
};

struct old_result {
	size_t size;
	int exit;
};

struct old_options {
	size_t size;
};

struct old_terms {
	size_t size;
	double seconds, tsc_mhz;
};

/* A copy of @old with memory behind it that is not the program's, as options are read. */
#define ROOM 512
static void *short_struct(const void *old, size_t size)
{
	unsigned char *room = malloc(ROOM);

	assert_non_null(room);
	memset(room, ANOTHERS, ROOM);
	memcpy(room, old, size);
	return room;
}

static void assert_untouched(const void *room, size_t size)
{
	for (size_t i = size; i < ROOM; i++)
		assert_int_equal(((const unsigned char *)room)[i], ANOTHERS);
}

static void test_statistics(void **state)
{
	struct fixture *fixture = *state;
	const struct old_statistics old = {.size = sizeof(old)};
	struct old_statistics *given = short_struct(&old, sizeof(old));
	const struct pmu_code code = {.address = 0x1000, .bytes = 40, .instructions = 10};
	struct pmu_hart *hart;

	assert_int_equal(pmu_hart_new(&hart, fixture->ctx, fixture->emul, NULL), 0);
	assert_int_equal(pmu_hart_execute(hart, &code), 0);
	pmu_hart_free(hart);
	assert_int_equal(pmu_emul_statistics(fixture->emul, (struct pmu_emul_statistics *)given),
			 0);
	assert_int_equal(given->size, sizeof(old));
	assert_int_equal(given->instructions, 10);
	assert_untouched(given, sizeof(old));
	free(given);
}

/* Members that it has not count as 0, whatever is in memory behind it. */
static void test_options(void **state)
{
	struct fixture *fixture = *state;
	const struct old_options old = {sizeof(old)};
	struct old_options *given = short_struct(&old, sizeof(old));
	struct pmu_session *session;
	struct pmu_hart *hart;
	struct pmu_bus *bus;

	assert_int_equal(pmu_hart_new(&hart, fixture->ctx, fixture->emul,
				      (const struct pmu_hart_options *)given),
			 0);
	pmu_hart_free(hart);
	assert_int_equal(pmu_emul_bus(&bus, fixture->ctx, fixture->emul), 0);
	assert_int_equal(pmu_session_new(&session, fixture->ctx, bus), 0);
	assert_int_equal(
	    pmu_session_guard(session, fixture->ctx, (const struct pmu_guard_options *)given), 0);
	assert_untouched(given, sizeof(old));
	pmu_session_free(session);
	pmu_bus_free(bus);
	free(given);
}

static void test_result(void **state)
{
	struct fixture *fixture = *state;
	const struct old_result old = {.size = sizeof(old)};
	struct old_result *given = short_struct(&old, sizeof(old));
	char *argv[] = {"/bin/false", NULL};
	struct pmu_child *child;

	assert_int_equal(pmu_child_new(&child, fixture->ctx, argv, NULL), 0);
	assert_int_equal(pmu_child_run(child, fixture->ctx, (struct pmu_program_result *)given), 0);
	assert_int_equal(given->exit, 1);
	/* The struct's own padding may be written. */
	assert_untouched(given, sizeof(old));
	pmu_child_free(child);
	free(given);
}

/* A term that an older program does not know is not known: no result is made of it. */
static void test_terms(void **state)
{
	struct fixture *fixture = *state;
	const struct old_terms old = {.size = sizeof(old), .seconds = 2, .tsc_mhz = 1000};
	struct old_terms *given = short_struct(&old, sizeof(old));
	const double counts[] = {1000};
	struct pmu_formula *formula;

	/* 334291-001 section 2.6.6: CAS_COUNT.RD * 64. */
	assert_int_equal(
	    pmu_formula_new(&formula, fixture->ctx, pmu_find_pmu("xeon-e5v4"), "MEM_BW_READS"), 0);
	assert_true(pmu_formula_evaluate(formula, counts, (const struct pmu_terms *)given) ==
		    64000);
	pmu_formula_free(formula);
	/* Section 2.3.5: LLC_LOOKUP.ANY / INST_RETIRED.ALL. */
	assert_int_equal(
	    pmu_formula_new(&formula, fixture->ctx, pmu_find_pmu("xeon-e5v4"), "LLC_MPI"), 0);
	assert_true(isnan(pmu_formula_evaluate(formula, counts, (const struct pmu_terms *)given)));
	pmu_formula_free(formula);
	free(given);
}

/* What a newer program asks for is refused, not left out; what it leaves at 0 does not matter. */
static void test_newer(void **state)
{
	struct fixture *fixture = *state;
	struct {
		struct pmu_hart_options known;
		uint64_t unknown;
	} newer = {.known = {.size = sizeof(newer)}};
	struct pmu_hart *hart;

	assert_int_equal(pmu_hart_new(&hart, fixture->ctx, fixture->emul, &newer.known), 0);
	pmu_hart_free(hart);
	newer.unknown = 1;
	assert_int_equal(pmu_hart_new(&hart, fixture->ctx, fixture->emul, &newer.known),
			 PMU_E_UNSUPPORTED);
	newer.known.size = 0;
	assert_int_equal(pmu_hart_new(&hart, fixture->ctx, fixture->emul, &newer.known),
			 PMU_E_RANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_statistics), cmocka_unit_test(test_options),
	    cmocka_unit_test(test_result),     cmocka_unit_test(test_terms),
	    cmocka_unit_test(test_newer),
	};

	return cmocka_run_group_tests(tests, fixture_up, fixture_down);
}
