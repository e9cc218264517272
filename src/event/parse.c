#include <strings.h>

#include "event/check.h"
#include "event/names.h"
#include "event/settings.h"
#include "event/value.h"

static char peek(const struct expression *expression)
{
	return expression->text[expression->at];
}

static bool accept(struct expression *expression, char c)
{
	if (peek(expression) != c)
		return false;
	expression->at++;
	return true;
}

static void skip_spaces(struct expression *expression)
{
	while (peek(expression) == ' ' || (peek(expression) >= '\t' && peek(expression) <= '\r'))
		expression->at++;
}

static int expect(struct expression *expression, char c)
{
	skip_spaces(expression);
	if (accept(expression, c))
		return 0;
	return expression_refuse(expression, PMU_E_SYNTAX, (struct text_span){expression->at, 1},
				 "'%c' is missing here", c);
}

/* [PMU/] */
static int read_pmu(struct expression *expression)
{
	const char *end = expression->text + expression->at;
	struct word word;
	int code;

	/* Names of PMUs may hold what no other name does, so the slash decides. */
	while (expression_is_name(*end) || *end == '-' || *end == '.')
		end++;
	if (*end != '/')
		return 0;
	code = expression_word_with(expression, "-.", "a PMU", &word);
	if (code)
		return code;
	expression->at++;
	return names_pmu(expression, &word);
}

/* [box[N].]EVENT */
static int read_event(struct expression *expression)
{
	struct word word;
	size_t start = expression->at;
	int code = expression_word(expression, "a box or event", &word);

	if (code)
		return code;
	expression->event = word.span;
	code = names_box(expression, &word);
	if (code < 0)
		return code;
	if (code == 0)
		return names_event_anywhere(expression, &word);
	if (!accept(expression, '.'))
		return expression_refuse(expression, PMU_E_SYNTAX, word.span,
					 "%s is a box: name one of its events too, as in %s.EVENT",
					 expression->selection->box->name, word.name);
	code = expression_word(expression, "an event", &word);
	if (code)
		return code;
	expression->event.length = expression->at - start;
	return names_event(expression, &word);
}

/*
 * Names of unit masks may hold dots. What is none, of an event that has filters, is read up to the
 * dot, as one of several values.
 */
static int read_umask(struct expression *expression)
{
	const size_t start = expression->at;
	struct word word;
	int code = expression_word_with(expression, ".", "a unit mask", &word);

	if (!code && names_has_values(expression) && !names_is_umask(expression, &word)) {
		expression->at = start;
		code = expression_word(expression, "a unit mask", &word);
	}
	return code ? code : names_umask(expression, &word);
}

/* [.UMASK[+UMASK]...][.VALUE[+VALUE]...]... with values of the event's filters */
static int read_umasks(struct expression *expression)
{
	int code;

	if (!accept(expression, '.'))
		return 0;
	do {
		code = read_umask(expression);
	} while (!code && (accept(expression, '+') ||
			   (names_has_values(expression) && accept(expression, '.'))));
	expression->event.length = expression->at - expression->event.offset;
	return code;
}

static int find_field(struct expression *expression, const struct word *reg,
		      const struct word *field, const struct pmu_modifier **modifier)
{
	const struct pmu_selection *selection = expression->selection;
	int code;

	if (!selection->event && selection->box->modifier_count == 0)
		return expression_refuse(expression, PMU_E_CONFLICT, field->span,
					 "a fixed counter has no fields to set");
	code = names_modifier(expression, reg, field, modifier);
	if (!code && !selection->event && !settings_counter_field(selection, *modifier))
		return expression_refuse(expression, PMU_E_CONFLICT, field->span,
					 "a fixed counter has no field %s to set",
					 (*modifier)->name);
	return code;
}

/* field[=value]; a field that is only named is set to 1. */
static int read_setting(struct expression *expression, const struct word *reg)
{
	const struct pmu_modifier *modifier;
	struct word field;
	struct pmu_setting setting;
	int code;

	skip_spaces(expression);
	code = expression_word(expression, "a field", &field);
	if (!code)
		code = find_field(expression, reg, &field, &modifier);
	if (code)
		return code;
	setting = (struct pmu_setting){.modifier = modifier, .value = 1};
	skip_spaces(expression);
	if (accept(expression, '=')) {
		skip_spaces(expression);
		code = value_read(expression, modifier, &setting);
		if (code)
			return code;
		field.span.length = expression->at - field.span.offset;
	} else if (modifier->hi != modifier->lo) {
		return expression_refuse(expression, PMU_E_SYNTAX, field.span,
					 "%s has %u bits and needs a value, as in %s=1",
					 modifier->name, modifier->hi - modifier->lo + 1u,
					 modifier->name);
	}
	return settings_add(expression, &setting, field.span);
}

/* {field[=value],...}: 334291-001 §1.7 */
static int read_braces(struct expression *expression)
{
	int code;

	do {
		code = read_setting(expression, NULL);
		skip_spaces(expression);
	} while (!code && accept(expression, ','));
	return code ? code : expect(expression, '}');
}

/* {field,...}={value,...} of one register */
static int read_field_list(struct expression *expression, const struct word *reg)
{
	const struct pmu_modifier *modifiers[PMU_EVENT_SETTINGS];
	struct word fields[PMU_EVENT_SETTINGS];
	size_t count = 0;
	int code;

	do {
		if (count == PMU_EVENT_SETTINGS)
			return expression_refuse(expression, PMU_E_RANGE,
						 (struct text_span){expression->at, 1},
						 "more than %d fields are set", PMU_EVENT_SETTINGS);
		skip_spaces(expression);
		code = expression_word(expression, "a field", &fields[count]);
		if (!code)
			code = find_field(expression, reg, &fields[count], &modifiers[count]);
		if (code)
			return code;
		count++;
		skip_spaces(expression);
	} while (accept(expression, ','));
	if ((code = expect(expression, '}')) || (code = expect(expression, '=')) ||
	    (code = expect(expression, '{')))
		return code;
	for (size_t i = 0; i < count; i++) {
		struct pmu_setting setting;

		if (i && (code = expect(expression, ',')))
			return code;
		skip_spaces(expression);
		code = value_read(expression, modifiers[i], &setting);
		if (!code)
			code = settings_add(expression, &setting, fields[i].span);
		if (code)
			return code;
	}
	return expect(expression, '}');
}

/* Register.field=value or Register.{field,...}={value,...} */
static int read_register(struct expression *expression)
{
	struct word reg;
	int code;

	skip_spaces(expression);
	code = expression_word(expression, "a register", &reg);
	if (!code)
		code = expect(expression, '.');
	if (code)
		return code;
	if (accept(expression, '{'))
		return read_field_list(expression, &reg);
	return read_setting(expression, &reg);
}

/* with:Register... or with:{Register...,...}: 334291-001 §1.7 and §2.3.5 */
static int read_with(struct expression *expression)
{
	int code;

	skip_spaces(expression);
	if (!accept(expression, '{'))
		return read_register(expression);
	do {
		code = read_register(expression);
		skip_spaces(expression);
	} while (!code && accept(expression, ','));
	return code ? code : expect(expression, '}');
}

static int read_settings(struct expression *expression)
{
	static const char with[] = "with:";
	int code = 0;

	while (!code) {
		skip_spaces(expression);
		if (!peek(expression))
			return 0;
		if (accept(expression, ':')) {
			code = read_setting(expression, NULL);
		} else if (accept(expression, '{')) {
			code = read_braces(expression);
		} else if (!strncasecmp(expression->text + expression->at, with,
					sizeof(with) - 1)) {
			expression->at += sizeof(with) - 1;
			code = read_with(expression);
		} else {
			return expression_refuse(expression, PMU_E_SYNTAX,
						 (struct text_span){expression->at, 1},
						 "expected :field=value, {field=value} or "
						 "with:register.field=value here");
		}
	}
	return code;
}

int pmu_event_parse(struct pmu_ctx *ctx, const struct pmu_pmu *pmu, const char *text,
		    struct pmu_selection *selection)
{
	struct expression expression = {
	    .ctx = ctx,
	    .text = text,
	    .pmu = pmu,
	    .selection = selection,
	};
	int code;

	*selection = (struct pmu_selection){0};
	skip_spaces(&expression);
	if ((code = read_pmu(&expression)) || (code = read_event(&expression)) ||
	    (code = read_umasks(&expression)) || (code = read_settings(&expression)) ||
	    (code = settings_complete(&expression)))
		return code;
	return check_selection(&expression);
}
