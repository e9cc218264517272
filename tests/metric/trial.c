#include "trial.h"

#include <math.h>
#include <string.h>

#include "catalog/entries.h"
#include "support/cmocka.h"

static double count_of(const struct trial *trial, const struct pmu_selection *selection)
{
	char text[256];

	pmu_event_print(selection, text, sizeof(text));
	for (size_t i = 0; i < COUNTS_MAX && trial->counts[i].event; i++)
		if (!strcmp(trial->counts[i].event, text))
			return trial->counts[i].count;
	fail_msg("%s selects %s, which was not expected", trial->metric, text);
	return NAN;
}

void trial_run(const struct trial *trial, const struct pmu_terms *terms)
{
	const struct pmu_selection *selections;
	double counts[COUNTS_MAX], value;
	struct pmu_formula *formula;
	struct pmu_ctx *ctx;
	size_t count, expected = 0;

	assert_int_equal(pmu_ctx_new(&ctx), 0);
	if (pmu_formula_new(&formula, ctx, pmu_find_pmu(trial->pmu), trial->metric))
		fail_msg("%s", pmu_message(ctx));
	while (expected < COUNTS_MAX && trial->counts[expected].event)
		expected++;
	count = pmu_formula_selections(formula, &selections);
	assert_int_equal(count, expected);
	for (size_t i = 0; i < count; i++)
		counts[i] = count_of(trial, &selections[i]);
	value = pmu_formula_evaluate(formula, counts, terms);
	if (isnan(trial->value) ? !isnan(value) : !(fabs(value - trial->value) < 1e-9))
		fail_msg("%s is %g", trial->metric, value);
	pmu_formula_free(formula);
	pmu_ctx_free(ctx);
}
