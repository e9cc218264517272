#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/table.h"
#include "support/cmocka.h"

static struct table *sample(void)
{
	struct table *table = table_new("lrl");

	assert_non_null(table);
	table_cell(table, "%s", "NAME");
	table_cell(table, "%s", "COUNT");
	table_cell(table, "%s", "TEXT");
	table_cell(table, "%s", "a");
	table_number(table, 1234567);
	table_cell(table, "%s", "say \"so\", now");
	table_cell(table, "%s", "longer");
	table_number(table, 999);
	table_cell(table, "%s", "");
	return table;
}

static void check(int (*print)(const struct table *, FILE *), const char *expected)
{
	struct table *table = sample();
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_int_equal(print(table, file), 0);
	fclose(file);
	assert_string_equal(text, expected);
	free(text);
	table_free(table);
}

static int wide(const struct table *table, FILE *file)
{
	return table_print(table, file, 0);
}

static int narrow(const struct table *table, FILE *file)
{
	return table_print(table, file, 27);
}

static void aligned_for_people(void **unused)
{
	(void)unused;
	check(wide, "NAME        COUNT  TEXT\n"
		    "a       1,234,567  say \"so\", now\n"
		    "longer        999  \n");
}

static void cut_at_the_width(void **unused)
{
	(void)unused;
	check(narrow, "NAME        COUNT  TEXT\n"
		      "a       1,234,567  say \"...\n"
		      "longer        999  \n");
}

static void quoted_for_programs(void **unused)
{
	(void)unused;
	check(table_print_csv, "NAME,COUNT,TEXT\n"
			       "a,1234567,\"say \"\"so\"\", now\"\n"
			       "longer,999,\n");
}

static void errors_show_the_place(void **unused)
{
	struct pmu_ctx *ctx;

	(void)unused;
	assert_int_equal(pmu_ctx_new(&ctx), 0);
	assert_int_equal(error_set_at(ctx, PMU_E_RANGE, "a.b=7", 4, 1, "%d is too large", 7),
			 PMU_E_RANGE);
	assert_string_equal(pmu_message(ctx), "7 is too large\n  a.b=7\n      ^");
	/* Beyond the end: behind the last character. */
	error_set_at(ctx, PMU_E_SYNTAX, "ab", 9, 3, "more is missing");
	assert_string_equal(pmu_message(ctx), "more is missing\n  ab\n    ^");
	assert_int_equal(error_set(NULL, PMU_E_NOMEM, "nobody listens"), PMU_E_NOMEM);
	pmu_ctx_free(ctx);
	pmu_ctx_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(aligned_for_people),
	    cmocka_unit_test(cut_at_the_width),
	    cmocka_unit_test(quoted_for_programs),
	    cmocka_unit_test(errors_show_the_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
