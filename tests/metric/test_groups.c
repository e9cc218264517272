/* Groups of events and metrics: what the catalog's name is there, and how their text is read. */
#include "pmulab/group.h"

#include <stdio.h>
#include <string.h>

#include "pmulab/metric.h"
#include "support/cmocka.h"
#include "support/context.h"

/* A metric's name, or NAME[UNIT]=EQUATION. */
static int read_metric(struct pmu_ctx *ctx, const struct pmu_pmu *pmu, const char *text)
{
	const char *sign = strchr(text, '=');
	struct pmu_formula *formula = NULL;
	int error = sign ? pmu_formula_parse(&formula, ctx, pmu, sign + 1)
			 : pmu_formula_new(&formula, ctx, pmu, text);

	pmu_formula_free(formula);
	return error;
}

static void check_list(struct pmu_ctx *ctx, const struct pmu_pmu *pmu, enum pmu_group_list kind,
		       const char *list, size_t length)
{
	char text[1024];
	const char *at = text, *item;
	struct pmu_selection selection;
	unsigned items = 0;

	assert_true(length < sizeof(text));
	snprintf(text, sizeof(text), "%.*s", (int)length, list);
	while (pmu_event_list_next(&at, &item, &length)) {
		char name[512];

		snprintf(name, sizeof(name), "%.*s", (int)length, item);
		memmove(name, name + strspn(name, " "), strlen(name + strspn(name, " ")) + 1);
		print_message("%s: %s\n", pmu_pmu_name(pmu), name);
		if (kind == PMU_GROUP_EVENTS ? pmu_event_parse(ctx, pmu, name, &selection)
					     : read_metric(ctx, pmu, name))
			fail_msg("%s", pmu_message(ctx));
		items++;
	}
	assert_true(items > 0);
}

static void test_catalog(void **state)
{
	const struct pmu_pmu *pmu;
	const struct pmu_group *group;

	for (size_t i = 0; (pmu = pmu_pmu_at(i)); i++) {
		assert_non_null(pmu_pmu_group(pmu, 0));
		for (size_t g = 0; (group = pmu_pmu_group(pmu, g)); g++) {
			const char *text = pmu_group_text(group), *list;
			enum pmu_group_list kind;
			unsigned line = 0, lists = 0;
			size_t length;
			int found;

			assert_ptr_equal(pmu_find_group(pmu, pmu_group_name(group)), group);
			assert_true(*pmu_group_title(group));
			while ((found = pmu_group_next(*state, &text, &line, &kind, &list,
						       &length)) > 0) {
				check_list(*state, pmu, kind, list, length);
				lists++;
			}
			assert_int_equal(found, 0);
			assert_true(lists > 0);
		}
	}
}

/* Each line, and what is read of it. */
static const struct {
	const char *text;
	int found;
	unsigned line;
	enum pmu_group_list kind;
	const char *list;
} lines[] = {
    {"", 0, 0, 0, NULL},
    {"# title\n\n", 0, 2, 0, NULL},
    {"# title\nevents a,b\n", 1, 2, PMU_GROUP_EVENTS, " a,b"},
    {"  metrics\tX\r\nevents a", 1, 1, PMU_GROUP_METRICS, "\tX"},
    {"events a", 1, 1, PMU_GROUP_EVENTS, " a"},
    {"\n\nevent a\n", PMU_E_SYNTAX, 3, 0, NULL},
    {"events\n", PMU_E_SYNTAX, 1, 0, NULL},
    {"eventsa b\n", PMU_E_SYNTAX, 1, 0, NULL},
};

static void test_lines(void **state)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		const char *text = lines[i].text, *list;
		enum pmu_group_list kind;
		unsigned line = 0;
		size_t length;
		int found = pmu_group_next(*state, &text, &line, &kind, &list, &length);

		assert_int_equal(found, lines[i].found);
		assert_int_equal(line, lines[i].line);
		if (found > 0) {
			assert_int_equal(kind, lines[i].kind);
			assert_int_equal(length, strlen(lines[i].list));
			assert_memory_equal(list, lines[i].list, length);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_catalog),
	    cmocka_unit_test(test_lines),
	};

	return cmocka_run_group_tests(tests, fixture_up, fixture_down);
}
