#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "metric/formula.h"
#include "metric/reader.h"

#define NUMBERS 8 /* that stand for a variable: a part has no more ranks, nodes or links */

struct expansion {
	struct pmu_ctx *ctx;
	const struct pmu_pmu *pmu;
	const char *pattern;
	unsigned matches;
	int (*found)(void *arg, const char *name);
	void *arg;
};

static bool matches(const struct expansion *expansion, const char *full, const char *own)
{
	return fnmatch(expansion->pattern, full, FNM_CASEFOLD) == 0 ||
	       fnmatch(expansion->pattern, own, FNM_CASEFOLD) == 0;
}

/* With every number that the box's events know. */
static int offer_numbers(struct expansion *expansion, const char *full)
{
	struct formula_variable variable = {.letter = '\0'};
	int error = 0;

	for (size_t i = 0; full[i]; i++)
		if (variable_at(full, i) && !variable.letter)
			variable.letter = full[i];
	for (unsigned number = 0; number < NUMBERS && !error; number++) {
		struct pmu_formula *formula;
		char name[READER_NAME_MAX];

		snprintf(variable.value, sizeof(variable.value), "%u", number);
		if (!variable_replace(&variable, full, name, sizeof(name)) ||
		    pmu_formula_new(&formula, expansion->ctx, expansion->pmu, name))
			break;
		pmu_formula_free(formula);
		error = expansion->found(expansion->arg, name);
	}
	return error;
}

static int offer(struct expansion *expansion, const struct pmu_box *box,
		 const struct pmu_metric *metric)
{
	char full[READER_NAME_MAX];

	snprintf(full, sizeof(full), "%s.%s", box->name, metric->name);
	if (!matches(expansion, full, metric->name))
		return 0;
	expansion->matches++;
	return variable_in(metric->name) ? offer_numbers(expansion, full)
					 : expansion->found(expansion->arg, full);
}

int pmu_metric_expand(struct pmu_ctx *ctx, const struct pmu_pmu *pmu, const char *text,
		      int (*found)(void *arg, const char *name), void *arg)
{
	struct expansion expansion = {ctx, pmu, text, 0, found, arg};
	int error = 0;

	if (text[strcspn(text, "*?")] == '\0')
		return found(arg, text);
	for (size_t b = 0; b < pmu->box_count && !error; b++) {
		const struct pmu_box *box = &pmu->boxes[b];

		for (size_t m = 0; m < box->metric_count && !error; m++)
			error = offer(&expansion, box, &box->metrics[m]);
	}
	if (!error && !expansion.matches)
		return error_set_at(ctx, PMU_E_UNKNOWN, text, 0, strlen(text),
				    "no metric of %s matches \"%s\"", pmu->name, text);
	return error;
}
