#include <stdio.h>
#include <string.h>

#include "base/name.h"
#include "event/filter.h"
#include "metric/equation.h"

#define FIELDS_MAX 8 /* that are set together in one register */

/* One or more fields of a register, and their values. */
struct assignment {
	const struct pmu_register *reg;
	const struct pmu_modifier *fields[FIELDS_MAX];
	size_t count;
};

static bool leaf_uses(const struct formula_leaf *leaf, const struct pmu_modifier *filter)
{
	if (!leaf->event)
		return false;
	return filter_is_used(leaf->event, &leaf->umask, leaf->umask ? 1 : 0, filter);
}

static int set_leaves(struct equation *equation, size_t first_leaf, size_t start,
		      const struct pmu_modifier *filter, const char *value)
{
	struct formula_builder *builder = equation->builder;
	bool used = false;

	for (size_t i = first_leaf; i < builder->leaf_count; i++) {
		struct formula_leaf *leaf = &builder->leaves[i];
		int error;

		if (!leaf_uses(leaf, filter))
			continue;
		used = true;
		error = equation_set(equation, leaf, filter->name, value);
		if (error)
			return error;
	}
	if (used)
		return 0;
	return reader_refuse(&equation->reader, PMU_E_UNKNOWN, start,
			     "none of the events before it uses %s", filter->name);
}

static int add_field(struct equation *equation, struct assignment *assignment, size_t start,
		     const char *name)
{
	const struct pmu_modifier *field = pmu_find_modifier(equation->box, name);

	if (!field || field->reg != assignment->reg)
		return reader_refuse(&equation->reader, PMU_E_UNKNOWN, start,
				     "%s has no filter field \"%s\"", assignment->reg->name, name);
	if (assignment->count == FIELDS_MAX)
		return reader_refuse(&equation->reader, PMU_E_SYNTAX, start, "too many fields");
	assignment->fields[assignment->count++] = field;
	return 0;
}

/* The field after "Register.", or several in braces. */
static int read_fields(struct equation *equation, struct assignment *assignment, size_t start,
		       const char *first)
{
	char name[READER_NAME_MAX];
	int error;

	if (*first)
		return add_field(equation, assignment, start, first);
	error = reader_expect(&equation->reader, '{');
	if (error)
		return error;
	do {
		reader_peek(&equation->reader);
		start = equation->reader.at;
		error = reader_name(&equation->reader, name);
		if (!error)
			error = add_field(equation, assignment, start, name);
		if (error)
			return error;
	} while (reader_accept(&equation->reader, ','));
	return reader_expect(&equation->reader, '}');
}

static int read_left_side(struct equation *equation, struct assignment *assignment)
{
	char name[READER_NAME_MAX];
	size_t start;
	char *dot;
	int error;

	reader_peek(&equation->reader);
	start = equation->reader.at;
	error = reader_name(&equation->reader, name);
	if (error)
		return error;
	dot = strrchr(name, '.');
	if (!dot)
		return reader_refuse(&equation->reader, PMU_E_SYNTAX, start,
				     "a register and its field are expected here");
	*dot = '\0';
	assignment->reg = pmu_find_register(equation->box, name);
	if (!assignment->reg)
		return reader_refuse(&equation->reader, PMU_E_UNKNOWN, start,
				     "%s has no register \"%s\"", equation->box->name, name);
	return read_fields(equation, assignment, start, dot + 1);
}

/* Register.field=value, or Register.{field,..}={value,..}. */
static int read_assignment(struct equation *equation, size_t first_leaf)
{
	struct assignment assignment = {0};
	char value[READER_NAME_MAX];
	int error = read_left_side(equation, &assignment);
	bool braces;

	if (!error)
		error = reader_expect(&equation->reader, '=');
	if (error)
		return error;
	braces = reader_accept(&equation->reader, '{');
	for (size_t i = 0; i < assignment.count && !error; i++) {
		size_t start = equation->reader.at;

		if (i)
			error = reader_expect(&equation->reader, ',');
		if (!error)
			error = reader_name(&equation->reader, value);
		if (!error)
			error =
			    set_leaves(equation, first_leaf, start, assignment.fields[i], value);
	}
	if (error || !braces)
		return error;
	return reader_expect(&equation->reader, '}');
}

int equation_with(struct equation *equation, size_t first_leaf)
{
	int error;

	if (!reader_accept(&equation->reader, '{'))
		return read_assignment(equation, first_leaf);
	do {
		error = read_assignment(equation, first_leaf);
	} while (!error && reader_accept(&equation->reader, ','));
	return error ? error : reader_expect(&equation->reader, '}');
}
