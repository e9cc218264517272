#include "metric/equation.h"

#include <stdio.h>
#include <string.h>

#include "base/name.h"

static int parse_sum(struct equation *equation);

static int add_step(struct equation *equation, struct formula_step step)
{
	struct pmu_formula *formula = equation->builder->formula;

	if (formula->step_count == FORMULA_STEPS_MAX)
		return reader_refuse(&equation->reader, PMU_E_SYNTAX, equation->reader.at,
				     "the equation is too long");
	formula->steps[formula->step_count++] = step;
	return 0;
}

int equation_set(struct equation *equation, struct formula_leaf *leaf, const char *field,
		 const char *value)
{
	size_t used = strlen(leaf->text), left = sizeof(leaf->text) - used;
	int length = snprintf(leaf->text + used, left, ":%s=%s", field, value);

	if (length < 0 || (size_t)length >= left)
		return reader_refuse(&equation->reader, PMU_E_SYNTAX, equation->reader.at,
				     "too many settings for one event");
	return 0;
}

static int replace_variable(struct equation *equation, const char *written,
			    char name[READER_NAME_MAX])
{
	if (variable_replace(&equation->builder->variable, written, name, READER_NAME_MAX))
		return 0;
	return reader_refuse(&equation->reader, PMU_E_SYNTAX, equation->reader.at,
			     "\"%s\" is too long with a number for its variable", written);
}

/* {edge_det,thresh=0x1}: a bit without a value is set. */
static int parse_controls(struct equation *equation, struct formula_leaf *leaf)
{
	struct reader *reader = &equation->reader;

	do {
		char field[READER_NAME_MAX], written[READER_NAME_MAX] = "1";
		char value[READER_NAME_MAX];
		int error = reader_name(reader, field);

		if (!error && reader_accept(reader, '='))
			error = reader_name(reader, written);
		if (!error)
			error = replace_variable(equation, written, value);
		if (!error)
			error = equation_set(equation, leaf, field, value);
		if (error)
			return error;
	} while (reader_accept(reader, ','));
	return reader_expect(reader, '}');
}

/* A counted term, of which the expression begins with the text. */
static int add_leaf(struct equation *equation, const char *text)
{
	struct formula_builder *builder = equation->builder;
	struct formula_step step = {.op = FORMULA_COUNT, .index = (unsigned)builder->leaf_count};

	if (builder->leaf_count == FORMULA_LEAVES_MAX)
		return reader_refuse(&equation->reader, PMU_E_SYNTAX, equation->reader.at,
				     "too many events in one equation");
	snprintf(builder->leaves[builder->leaf_count++].text, FORMULA_EVENT_MAX, "%s", text);
	return add_step(equation, step);
}

static int parse_leaf(struct equation *equation, const char *name, const struct pmu_event *event,
		      const struct pmu_umask *umask)
{
	struct formula_builder *builder = equation->builder;
	struct formula_leaf *leaf = &builder->leaves[builder->leaf_count];
	char text[FORMULA_EVENT_MAX];
	int error;

	snprintf(text, sizeof(text), "%s.%s", equation->box->name, name);
	error = add_leaf(equation, text);
	if (error)
		return error;
	leaf->event = event;
	leaf->umask = umask;
	if (reader_accept(&equation->reader, '{'))
		error = parse_controls(equation, leaf);
	return error;
}

static int parse_metric(struct equation *equation, const struct pmu_box *box,
			const struct pmu_metric *metric, size_t start)
{
	struct formula_builder *builder = equation->builder;
	const char *unresolved = builder->unresolved;
	int error;

	if (builder->depth == FORMULA_NEST_MAX)
		return reader_refuse(&equation->reader, PMU_E_SYNTAX, start,
				     "metrics are nested too deeply");
	builder->depth++;
	builder->unresolved = metric->unresolved;
	error = equation_parse(builder, box, metric->equation);
	builder->unresolved = unresolved;
	builder->depth--;
	return error;
}

/* "INST_RETIRED.ALL (on Core)": the place that such a term is from. */
static int parse_term(struct equation *equation, unsigned term)
{
	struct reader *reader = &equation->reader;
	const struct pmu_box *box = equation->box;
	const struct formula_step step = {
	    .op = FORMULA_TERM,
	    .clock = box ? box->clock : FORMULA_NO_CLOCK,
	    .index = term,
	};

	if (reader_accept_word(reader, "(on ")) {
		char place[READER_NAME_MAX];
		int error = reader_name(reader, place);

		if (!error)
			error = reader_expect(reader, ')');
		if (error)
			return error;
	}
	return add_step(equation, step);
}

static const struct pmu_event *find_event(const struct pmu_box *box, const char *name,
					  const struct pmu_umask **umask)
{
	const char *dot = strchr(name, '.');
	char text[READER_NAME_MAX] = "";
	const struct pmu_event *event;

	memcpy(text, name, dot ? (size_t)(dot - name) : strlen(name));
	event = pmu_find_event(box, text);
	*umask = event && dot ? pmu_find_umask(event, dot + 1) : NULL;
	return event;
}

static int parse_missing(struct equation *equation, const char *name)
{
	struct pmu_formula *formula = equation->builder->formula;

	if (!name_in_list(formula->missing, name))
		name_list_add(formula->missing, sizeof(formula->missing), ", ", name);
	return add_step(equation, (struct formula_step){.op = FORMULA_MISSING});
}

/* ":field=value" behind an event, as in event expressions. */
static int parse_settings(struct equation *equation, struct formula_leaf *leaf)
{
	struct reader *reader = &equation->reader;

	while (reader_accept(reader, ':')) {
		char field[READER_NAME_MAX], value[READER_NAME_MAX] = "1";
		int error = reader_name(reader, field);

		if (!error && reader_accept(reader, '='))
			error = reader_name(reader, value);
		if (!error)
			error = equation_set(equation, leaf, field, value);
		if (error)
			return error;
	}
	return 0;
}

/* A metric is computed with a variable of its own, and not with that of who uses it. */
static int parse_found(struct equation *equation, const struct formula_found *found, size_t start)
{
	struct formula_builder *builder = equation->builder;
	const struct formula_variable before = builder->variable;
	int error;

	builder->variable = found->variable;
	error = parse_metric(equation, found->box, found->metric, start);
	builder->variable = before;
	return error;
}

/* In an equation of the user's own: a metric of any box, a common term, or an event. */
static int parse_free_name(struct equation *equation, const char *written, size_t start)
{
	struct formula_builder *builder = equation->builder;
	struct formula_leaf *leaf = &builder->leaves[builder->leaf_count];
	struct formula_found found;
	int term = term_find(written), error;

	if (term >= 0)
		return parse_term(equation, (unsigned)term);
	if (!formula_find_metric(NULL, builder->pmu, written, &found))
		return parse_found(equation, &found, start);
	error = add_leaf(equation, written);
	if (error)
		return error;
	if (reader_accept(&equation->reader, '{'))
		error = parse_controls(equation, leaf);
	return error ? error : parse_settings(equation, leaf);
}

/* An event, fixed counter or metric of the box, a common term, or a metric of another box. */
static int parse_name(struct equation *equation)
{
	char written[READER_NAME_MAX], name[READER_NAME_MAX];
	const struct pmu_box *box = equation->box;
	const struct pmu_metric *metric;
	const struct pmu_register *reg;
	const struct pmu_event *event;
	const struct pmu_umask *umask;
	struct formula_found found;
	size_t start = equation->reader.at;
	int term, error = reader_name(&equation->reader, written);

	if (error)
		return error;
	if (!box)
		return parse_free_name(equation, written, start);
	reg = pmu_find_register(box, written);
	if (reg && reg->role == PMU_ROLE_FIXED_COUNTER)
		return parse_leaf(equation, written, NULL, NULL);
	/* Metrics keep the variable in their name and have the same value for it. */
	metric = pmu_find_metric(box, written);
	if (metric)
		return parse_metric(equation, box, metric, start);
	error = replace_variable(equation, written, name);
	if (error)
		return error;
	event = find_event(box, name, &umask);
	if (event)
		return parse_leaf(equation, name, event, umask);
	term = term_find(name);
	if (term >= 0)
		return parse_term(equation, (unsigned)term);
	if (name_in_list(equation->builder->unresolved, name))
		return parse_missing(equation, name);
	if (strchr(written, '.') &&
	    !formula_find_metric(NULL, equation->builder->pmu, written, &found))
		return parse_found(equation, &found, start);
	return reader_refuse(&equation->reader, PMU_E_UNKNOWN, start,
			     "%s has no event, fixed counter or metric \"%s\", nor is it a common "
			     "term",
			     box->name, name);
}

static int parse_number(struct equation *equation)
{
	struct formula_step step = {.op = FORMULA_NUMBER};
	int error = reader_number(&equation->reader, &step.number);

	return error ? error : add_step(equation, step);
}

static int parse_parenthesis(struct equation *equation)
{
	struct formula_builder *builder = equation->builder;
	int error;

	if (builder->depth == FORMULA_NEST_MAX)
		return reader_refuse(&equation->reader, PMU_E_SYNTAX, equation->reader.at,
				     "parentheses are nested too deeply");
	builder->depth++;
	error = parse_sum(equation);
	builder->depth--;
	return error ? error : reader_expect(&equation->reader, ')');
}

/* A number, a name or a parenthesis, and what `with:` says about it. */
static int parse_factor(struct equation *equation)
{
	size_t first_leaf = equation->builder->leaf_count;
	char next = reader_peek(&equation->reader);
	int error;

	if (reader_accept(&equation->reader, '('))
		error = parse_parenthesis(equation);
	else if ((next >= '0' && next <= '9') || next == '.')
		error = parse_number(equation);
	else
		error = parse_name(equation);
	if (error || !reader_accept_word(&equation->reader, "with:"))
		return error;
	if (equation->box)
		error = equation_with(equation, first_leaf);
	else
		error = reader_refuse(&equation->reader, PMU_E_SYNTAX, equation->reader.at,
				      "put a filter behind its event here: EVENT:field=value");
	return error;
}

static int parse_product(struct equation *equation)
{
	int error = parse_factor(equation);

	while (!error) {
		struct formula_step step;

		if (reader_accept(&equation->reader, '*'))
			step = (struct formula_step){.op = FORMULA_MULTIPLY};
		else if (reader_accept(&equation->reader, '/'))
			step = (struct formula_step){.op = FORMULA_DIVIDE};
		else
			return 0;
		error = parse_factor(equation);
		if (!error)
			error = add_step(equation, step);
	}
	return error;
}

static int parse_sum(struct equation *equation)
{
	int error = parse_product(equation);

	while (!error) {
		struct formula_step step;

		if (reader_accept(&equation->reader, '+'))
			step = (struct formula_step){.op = FORMULA_ADD};
		else if (reader_accept(&equation->reader, '-'))
			step = (struct formula_step){.op = FORMULA_SUBTRACT};
		else
			return 0;
		error = parse_product(equation);
		if (!error)
			error = add_step(equation, step);
	}
	return error;
}

int equation_parse(struct formula_builder *builder, const struct pmu_box *box, const char *text)
{
	struct equation equation = {
	    .builder = builder,
	    .box = box,
	    .reader = {.ctx = builder->ctx, .text = text},
	};
	int error = parse_sum(&equation);

	if (error || !reader_peek(&equation.reader))
		return error;
	return reader_refuse(&equation.reader, PMU_E_SYNTAX, equation.reader.at,
			     "the equation should end or go on with an operator here");
}
