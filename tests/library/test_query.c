/* The catalog by functions alone: entries are opaque. */
#include <pmulab/catalog.h>

#include <string.h>

#include "support/cmocka.h"

#define FIND(result, count, at, owner, name_of, wanted)                                            \
	do {                                                                                       \
		(result) = NULL;                                                                   \
		for (size_t i = 0; i < count(owner) && !(result); i++)                             \
			if (!strcmp(name_of(at(owner, i)), wanted))                                \
				(result) = at(owner, i);                                           \
		assert_non_null(result);                                                           \
		assert_null(at(owner, count(owner)));                                              \
	} while (0)

static const struct pmu_box *find_box(const char *pmu_name, const char *name)
{
	const struct pmu_pmu *pmu = NULL;
	const struct pmu_box *box;

	for (size_t i = 0; i < pmu_pmu_count() && !pmu; i++)
		if (!strcmp(pmu_pmu_name(pmu_pmu_at(i)), pmu_name))
			pmu = pmu_pmu_at(i);
	assert_non_null(pmu);
	assert_null(pmu_pmu_at(pmu_pmu_count()));
	assert_non_null(strstr(pmu_pmu_source(pmu), "334291-001"));
	FIND(box, pmu_pmu_boxes, pmu_pmu_box, pmu, pmu_box_name, name);
	return box;
}

/* 334291-001 table 2-81 and §2.5: four counters of 48 bits, CAS_COUNT 0x04, RD 0b00000011. */
static void test_event(void **state)
{
	const struct pmu_box *box = find_box("xeon-e5v4", "imc");
	const struct pmu_event *event;
	const struct pmu_umask *umask;

	(void)state;
	assert_int_equal(pmu_box_counters(box), 4);
	assert_int_equal(pmu_box_counter_width(box), 48);
	assert_int_equal(pmu_box_instances(box), 8);
	FIND(event, pmu_box_events, pmu_box_event, box, pmu_event_name, "CAS_COUNT");
	assert_int_equal(pmu_event_code(event), 4);
	assert_int_equal(pmu_event_counters(event), 0xF);
	assert_int_equal(pmu_event_max_increment(event), 1);
	FIND(umask, pmu_event_umasks, pmu_event_umask, event, pmu_umask_name, "RD");
	assert_int_equal(pmu_umask_value(umask), 3);
	assert_true(*pmu_event_desc(event) && *pmu_umask_desc(umask) && *pmu_box_title(box));
}

/* Bit 22 of a counter control is en. */
static void test_register(void **state)
{
	const struct pmu_box *box = find_box("xeon-e5v4", "cbo");
	const struct pmu_register *reg;
	const struct pmu_field *field;
	unsigned next;

	(void)state;
	FIND(reg, pmu_box_registers, pmu_box_register_at, box, pmu_register_pattern,
	     "Cn_MSR_PMON_CTL0");
	FIND(field, pmu_register_fields, pmu_register_field, reg, pmu_field_name, "en");
	assert_int_equal(pmu_field_high(field), 22);
	assert_int_equal(pmu_field_low(field), 22);
	next = pmu_register_width(reg);
	for (size_t i = 0; i < pmu_register_fields(reg); i++) {
		assert_int_equal(pmu_field_high(pmu_register_field(reg, i)), next - 1);
		next = pmu_field_low(pmu_register_field(reg, i));
	}
	assert_int_equal(next, 0);
}

static void test_metric(void **state)
{
	const struct pmu_box *box = find_box("xeon-e5v4", "imc");
	const struct pmu_metric *metric;

	(void)state;
	FIND(metric, pmu_box_metrics, pmu_box_metric, box, pmu_metric_name, "MEM_BW_READS");
	assert_non_null(strstr(pmu_metric_equation(metric), "CAS_COUNT.RD"));
	assert_true(*pmu_metric_unit(metric) && *pmu_metric_source(metric));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_event),
	    cmocka_unit_test(test_register),
	    cmocka_unit_test(test_metric),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
