#include "metric/formula.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/name.h"
#include "session/selection.h"

/* What is counted twice is counted once. */
static int add_selection(struct pmu_formula *formula, const struct pmu_selection *selection)
{
	for (size_t i = 0; i < formula->selection_count; i++)
		if (selection_equal(&formula->selections[i], selection))
			return (int)i;
	formula->selections[formula->selection_count] = *selection;
	return (int)formula->selection_count++;
}

/* Now that every `with:` has been read, checks the events and lets the steps refer to them. */
static int resolve(struct formula_builder *builder)
{
	struct pmu_formula *formula = builder->formula;

	for (size_t i = 0; i < formula->step_count; i++) {
		struct formula_step *step = &formula->steps[i];
		struct pmu_selection selection;
		int error;

		if (step->op != FORMULA_COUNT)
			continue;
		error = pmu_event_parse(builder->ctx, builder->pmu,
					builder->leaves[step->index].text, &selection);
		if (error)
			return error;
		step->index = (unsigned)add_selection(formula, &selection);
	}
	return 0;
}

/* @param found  whose equation it is, where there is a metric or a box */
static int build(struct pmu_formula **out, struct pmu_ctx *ctx, const struct pmu_pmu *pmu,
		 const struct formula_found *found, const char *equation)
{
	const struct pmu_metric *metric = found->metric;
	struct formula_builder *builder = calloc(1, sizeof(*builder));
	struct pmu_formula *formula = calloc(1, sizeof(*formula));
	int error;

	if (!builder || !formula) {
		error = error_set(ctx, PMU_E_NOMEM, "out of memory for an equation");
		goto done;
	}
	builder->ctx = ctx;
	builder->pmu = pmu;
	builder->formula = formula;
	builder->unresolved = metric ? metric->unresolved : "";
	formula->metric = metric;
	builder->variable = found->variable;
	error = equation_parse(builder, found->box, equation);
	if (!error)
		error = resolve(builder);
done:
	free(builder);
	if (error) {
		free(formula);
		return error;
	}
	*out = formula;
	return 0;
}

int formula_from_equation(struct pmu_formula **out, struct pmu_ctx *ctx, const struct pmu_pmu *pmu,
			  const struct pmu_box *box, const struct formula_variable *variable,
			  const char *equation)
{
	struct formula_found where = {.box = box};

	if (variable)
		where.variable = *variable;
	return build(out, ctx, pmu, &where, equation);
}

static bool find_in_box(const struct pmu_box *box, const char *name, struct formula_found *found)
{
	for (size_t i = 0; i < box->metric_count; i++) {
		const struct pmu_metric *metric = &box->metrics[i];

		*found = (struct formula_found){.box = box, .metric = metric};
		if (name_equal(metric->name, name) ||
		    variable_match(metric->name, name, &found->variable))
			return true;
	}
	return false;
}

static int refuse_unknown(struct pmu_ctx *ctx, const struct pmu_pmu *pmu, const char *name)
{
	const char *dot = strchr(name, '.');
	struct name_guess guess;

	name_guess_init(&guess, dot ? dot + 1 : name);
	for (size_t b = 0; b < pmu->box_count; b++)
		for (size_t i = 0; i < pmu->boxes[b].metric_count; i++)
			name_guess_offer(&guess, pmu->boxes[b].metrics[i].name);
	if (guess.best)
		return error_set_at(ctx, PMU_E_UNKNOWN, name, 0, strlen(name),
				    "%s has no metric \"%s\"; is %s meant?", pmu->name, name,
				    guess.best);
	return error_set_at(ctx, PMU_E_UNKNOWN, name, 0, strlen(name), "%s has no metric \"%s\"",
			    pmu->name, name);
}

int formula_find_metric(struct pmu_ctx *ctx, const struct pmu_pmu *pmu, const char *name,
			struct formula_found *found)
{
	const char *dot = strchr(name, '.');
	bool any = false;

	for (size_t i = 0; i < pmu->box_count; i++) {
		const struct pmu_box *box = &pmu->boxes[i];
		size_t length = strlen(box->name);
		struct formula_found here;

		if (dot &&
		    ((size_t)(dot - name) != length || strncasecmp(name, box->name, length) != 0))
			continue;
		if (!find_in_box(box, dot ? dot + 1 : name, &here))
			continue;
		if (any)
			return error_set_at(ctx, PMU_E_CONFLICT, name, 0, strlen(name),
					    "both %s and %s have a metric %s: put the box and a "
					    "dot before it",
					    found->box->name, box->name, name);
		*found = here;
		any = true;
	}
	return any ? 0 : refuse_unknown(ctx, pmu, name);
}

int pmu_formula_new(struct pmu_formula **formula, struct pmu_ctx *ctx, const struct pmu_pmu *pmu,
		    const char *name)
{
	return pmu_formula_new_for(formula, ctx, pmu, name, 1);
}

int pmu_formula_new_for(struct pmu_formula **formula, struct pmu_ctx *ctx,
			const struct pmu_pmu *pmu, const char *name, unsigned sockets)
{
	struct formula_found found;
	int error = formula_find_metric(ctx, pmu, name, &found);

	if (error)
		return error;
	if (variable_in(found.metric->name) && !found.variable.letter)
		return error_set_at(ctx, PMU_E_UNKNOWN, name, 0, strlen(name),
				    "%s stands for several metrics: put a number for its "
				    "lower-case letter",
				    found.metric->name);
	return build(formula, ctx, pmu, &found,
		     sockets > 1 && *found.metric->several_sockets ? found.metric->several_sockets
								   : found.metric->equation);
}

int pmu_formula_parse(struct pmu_formula **formula, struct pmu_ctx *ctx, const struct pmu_pmu *pmu,
		      const char *equation)
{
	return build(formula, ctx, pmu, &(struct formula_found){0}, equation);
}

const char *pmu_formula_missing(const struct pmu_formula *formula)
{
	return formula->missing;
}

void pmu_formula_free(struct pmu_formula *formula)
{
	free(formula);
}

const struct pmu_metric *pmu_formula_metric(const struct pmu_formula *formula)
{
	return formula->metric;
}

size_t pmu_formula_selections(const struct pmu_formula *formula,
			      const struct pmu_selection **selections)
{
	*selections = formula->selections;
	return formula->selection_count;
}

static double apply(enum formula_op op, double left, double right)
{
	switch (op) {
	case FORMULA_ADD:
		return left + right;
	case FORMULA_SUBTRACT:
		return left - right;
	case FORMULA_MULTIPLY:
		return left * right;
	case FORMULA_DIVIDE:
		return right == 0 ? NAN : left / right;
	default:
		return NAN;
	}
}

double pmu_formula_evaluate(const struct pmu_formula *formula, const double *counts,
			    const struct pmu_terms *given)
{
	struct pmu_terms terms = {
	    .seconds = NAN,
	    .tsc_mhz = NAN,
	    .instances = NAN,
	    .clock_mhz = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN},
	    .core_cycles = NAN,
	    .instructions = NAN,
	};
	double stack[FORMULA_STEPS_MAX] = {NAN};
	size_t depth = 0;

	memcpy(&terms, given, given->size < sizeof(terms) ? given->size : sizeof(terms));
	for (size_t i = 0; i < formula->step_count; i++) {
		const struct formula_step *step = &formula->steps[i];

		switch ((enum formula_op)step->op) {
		case FORMULA_NUMBER:
			stack[depth++] = step->number;
			break;
		case FORMULA_COUNT:
			stack[depth++] = counts[step->index];
			break;
		case FORMULA_MISSING:
			stack[depth++] = NAN;
			break;
		case FORMULA_TERM:
			stack[depth++] = term_value(step->index, step->clock, &terms);
			break;
		default:
			depth--;
			stack[depth - 1] = apply(step->op, stack[depth - 1], stack[depth]);
			break;
		}
	}
	return stack[0];
}
