/* PMU/TERM[=VALUE],.../: perf's and PCM's notation, and perf's raw codes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/name.h"
#include "notation/parse.h"

#define CONFIGS	    2	 /* filter registers that PCM writes: config1 and config2 */
#define FIXED_EVENT 0xff /* that the kernel counts on a fixed counter: UNCORE_FIXED_EVENT */

struct terms {
	struct notation_reader *reader;
	struct notation_box where;
	uint64_t control;
	uint64_t config[CONFIGS];
	uint64_t filter; /* all of the event's filter register, as the kernel has it */
	bool as_is;	 /* the control is given whole */
	bool fixed;
	char alias[64];			  /* the name that the kernel has for an event */
	char settings[NOTATION_TEXT_MAX]; /* fields of filters */
};

/* uncore_imc_{i} as uncore_imc_0, or uncore_imc, uncore_imc_*, imc for all. */
static bool is_kernel_name(const char *pattern, const char *name, int *instance)
{
	static const char uncore[] = "uncore_";
	const size_t prefix = sizeof(uncore) - 1;
	size_t stem = strcspn(pattern, "{"), length;

	if (notation_match(pattern, name, instance))
		return true;
	if (strncmp(pattern, uncore, prefix) != 0)
		return false;
	if (strncmp(name, uncore, prefix) != 0) {
		pattern += prefix;
		stem -= prefix;
		if (notation_match(pattern, name, instance))
			return true;
	}
	while (stem && pattern[stem - 1] == '_')
		stem--;
	length = strlen(name);
	while (length && (name[length - 1] == '*' || name[length - 1] == '_'))
		length--;
	*instance = -1;
	return length == stem && !strncasecmp(name, pattern, length);
}

static bool find_box(struct terms *terms, const char *name)
{
	const struct pmu_box *box = NULL;

	while ((box = notation_next_box(terms->reader, box, &terms->where.pmu))) {
		const char *kernel = notation_kernel_name(box);

		terms->where.box = box;
		terms->where.instance = -1;
		if (kernel && is_kernel_name(kernel, name, &terms->where.instance))
			return true;
		if (box->names.pcm && name_equal(box->names.pcm, name))
			return true;
	}
	return false;
}

static uint64_t placed(const struct pmu_field *field, uint64_t value)
{
	return field ? value << field->lo & pmu_mask(field->hi, field->lo) : 0;
}

static bool set_number(struct terms *terms, const char *name, uint64_t value)
{
	const struct pmu_selector *selector = &terms->where.box->selector;
	const char *filter = notation_kernel_filter(terms->where.box);

	if (name_equal(name, "event")) {
		/* The extended select bit is the eighth of the kernel's event_ext. */
		terms->control |= placed(selector->ev_sel, value & 0xff) |
				  placed(selector->ev_sel_ext, value >> 8);
		terms->fixed = value == FIXED_EVENT && terms->where.box->fixed_count;
	} else if (name_equal(name, "umask")) {
		terms->control |= placed(selector->umask, value);
	} else if (name_equal(name, "occ_sel")) {
		terms->control |= placed(selector->occ_sel, value);
	} else if (name_equal(name, "config")) {
		terms->control = value;
		terms->as_is = !strcmp(pmu_space_name(terms->where.box->space), "msr") &&
			       terms->where.box->scope == PMU_SCOPE_CORE;
	} else if (name_equal(name, "config1") || name_equal(name, "config2")) {
		terms->config[name[6] - '1'] = value;
	} else if (filter && name_equal(name, filter)) {
		terms->filter = value;
	} else {
		return false;
	}
	return true;
}

static int set_field(struct terms *terms, const char *name, uint64_t value)
{
	const struct pmu_box *box = terms->where.box;
	const struct pmu_modifier *field = notation_field(box, NULL, PMU_TOOL_PERF, name);
	const size_t used = strlen(terms->settings);

	if (!field)
		return error_set(terms->reader->ctx, PMU_E_UNKNOWN, "%s: %s has no term \"%s\"",
				 terms->reader->text, box->name, name);
	if (!field->reg)
		terms->control |= value << field->lo & pmu_mask(field->hi, field->lo);
	else
		snprintf(terms->settings + used, sizeof(terms->settings) - used, ":%s=0x%llx",
			 field->name, (unsigned long long)value);
	return 0;
}

static int read_term(struct terms *terms, char *term)
{
	char *sign = strchr(term, '='), *end;
	unsigned long long value = 1;

	if (sign)
		*sign = '\0';
	if (name_equal(term, "name"))
		return 0;
	if (!sign && name_equal(term, "fixed")) {
		terms->fixed = true;
		return 0;
	}
	if (sign) {
		value = strtoull(sign + 1, &end, 0);
		if (!sign[1] || *end)
			return error_set(terms->reader->ctx, PMU_E_SYNTAX,
					 "%s: \"%s\" is no number", terms->reader->text, sign + 1);
	} else if (!notation_field(terms->where.box, NULL, PMU_TOOL_PERF, term)) {
		snprintf(terms->alias, sizeof(terms->alias), "%s", term);
		return 0;
	}
	return set_number(terms, term, value) ? 0 : set_field(terms, term, value);
}

/* Fields that are set unless a tool says otherwise: the levels that the core's counters count. */
static uint64_t defaults_of(const struct pmu_box *box)
{
	uint64_t control = 0;

	for (size_t i = 0; i < box->modifier_count; i++)
		if (!box->modifiers[i].reg)
			control |= box->modifiers[i].enabled << box->modifiers[i].lo;
	return control;
}

/* The filters in the registers that config1 and config2 are: the first two of the box. */
static void put_configs(struct terms *terms, const struct pmu_selection *selection)
{
	const struct pmu_box *box = terms->where.box;
	const struct pmu_register *regs[CONFIGS] = {NULL};

	for (size_t i = 0; i < box->modifier_count; i++) {
		const struct pmu_modifier *modifier = &box->modifiers[i];
		uint64_t value;
		size_t n = 0;

		if (!modifier->reg)
			continue;
		while (n < CONFIGS && regs[n] && regs[n] != modifier->reg)
			n++;
		if (n == CONFIGS)
			continue;
		regs[n] = modifier->reg;
		value = (terms->config[n] & pmu_mask(modifier->hi, modifier->lo)) >> modifier->lo;
		if (value && selection->event && pmu_event_takes(selection->event, modifier))
			notation_put(terms->reader, ":%s=0x%llx", modifier->name,
				     (unsigned long long)value);
	}
}

static bool is_in_filter(const struct pmu_event *event, const struct pmu_modifier *modifier)
{
	return modifier->reg && *modifier->reg->perf && pmu_event_takes(event, modifier);
}

/* The events of the box that have such a filter. */
static void list_filtered(const struct pmu_box *box, char *text, size_t size)
{
	size_t used = 0;

	*text = '\0';
	for (size_t i = 0; i < box->event_count; i++)
		for (size_t m = 0; m < box->modifier_count; m++) {
			if (!is_in_filter(&box->events[i], &box->modifiers[m]) || used >= size)
				continue;
			used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
						 box->events[i].name);
			break;
		}
}

static int no_filter(const struct terms *terms)
{
	const struct pmu_box *box = terms->where.box;
	char events[NOTATION_TEXT_MAX];

	list_filtered(box, events, sizeof(events));
	return error_set(terms->reader->ctx, PMU_E_RANGE,
			 "%s: the event takes no %s; events that do: %s", terms->reader->text,
			 notation_kernel_filter(box), events);
}

/* Fields of the register that the event has its filter in. */
static int put_filter(struct terms *terms, const struct pmu_selection *selection)
{
	const struct pmu_box *box = terms->where.box;
	uint64_t valid = 0;

	for (size_t i = 0; i < box->modifier_count && terms->filter; i++) {
		const struct pmu_modifier *modifier = &box->modifiers[i];
		const uint64_t mask = pmu_mask(modifier->hi, modifier->lo);

		if (!selection->event || !is_in_filter(selection->event, modifier))
			continue;
		valid |= mask;
		if (terms->filter & mask)
			notation_put(terms->reader, ":%s=0x%llx", modifier->name,
				     (unsigned long long)((terms->filter & mask) >> modifier->lo));
	}
	if (terms->filter && !valid)
		return no_filter(terms);
	if (!(terms->filter & ~valid))
		return 0;
	return error_set(terms->reader->ctx, PMU_E_RANGE, "%s: valid bits of %s: 0x%llx",
			 terms->reader->text, notation_kernel_filter(box),
			 (unsigned long long)valid);
}

/* What the control selects, with the filters that are given. */
static int put_control(struct terms *terms)
{
	const struct pmu_box *box = terms->where.box;
	struct pmu_selection selection;
	char own[NOTATION_TEXT_MAX];
	int error;

	if (!terms->as_is)
		terms->control |= defaults_of(box);
	error = pmu_event_decode(terms->reader->ctx, box, terms->control, &selection);
	if (error)
		return error;
	selection.one_instance = terms->where.instance >= 0;
	selection.instance = selection.one_instance ? (unsigned)terms->where.instance : 0;
	pmu_event_print(&selection, own, sizeof(own));
	/* Names need their PMU where they are those of several. */
	notation_put(terms->reader, "%s%s%s%s",
		     strncmp(own, terms->where.pmu->name, strlen(terms->where.pmu->name)) != 0
			 ? terms->where.pmu->name
			 : "",
		     strncmp(own, terms->where.pmu->name, strlen(terms->where.pmu->name)) != 0 ? "/"
											       : "",
		     own, terms->settings);
	put_configs(terms, &selection);
	error = put_filter(terms, &selection);
	return error ? error : 1;
}

static int put_fixed(struct terms *terms)
{
	const struct pmu_register *reg =
	    pmu_box_register(terms->where.box, PMU_ROLE_FIXED_COUNTER, 0);

	if (!reg || terms->where.box->fixed_count > 1)
		return error_set(terms->reader->ctx, PMU_E_UNKNOWN,
				 "%s: %s has not one fixed counter", terms->reader->text,
				 terms->where.box->name);
	notation_put_box(terms->reader, &terms->where);
	notation_put(terms->reader, "%s", *reg->event ? reg->event : "clock");
	return 1;
}

static int put_alias(struct terms *terms)
{
	char own[NOTATION_TEXT_MAX];

	if (!notation_find(terms->where.box, PMU_TOOL_PERF, terms->alias, own, sizeof(own)))
		return error_set(terms->reader->ctx, PMU_E_UNKNOWN,
				 "%s: %s has no event \"%s\" that pmulab knows",
				 terms->reader->text, terms->where.box->name, terms->alias);
	notation_put_box(terms->reader, &terms->where);
	notation_put(terms->reader, "%s%s", own, terms->settings);
	return 1;
}

/* PMU/...: one slash more than pmulab's own PMU/EVENT. */
int notation_read_terms(struct notation_reader *reader)
{
	struct terms terms = {.reader = reader};
	const char *slash = strchr(reader->text, '/'), *end = slash ? strchr(slash + 1, '/') : NULL;
	char name[64], list[NOTATION_TEXT_MAX], *state, *term;

	if (!end || end[1] || (size_t)(slash - reader->text) >= sizeof(name) ||
	    (size_t)(end - slash) >= sizeof(list))
		return 0;
	snprintf(name, sizeof(name), "%.*s", (int)(slash - reader->text), reader->text);
	snprintf(list, sizeof(list), "%.*s", (int)(end - slash - 1), slash + 1);
	if (!find_box(&terms, name))
		return error_set(reader->ctx, PMU_E_UNKNOWN, "%s: no box is perf's or PCM's \"%s\"",
				 reader->text, name);
	for (term = strtok_r(list, ",", &state); term; term = strtok_r(NULL, ",", &state)) {
		int error = read_term(&terms, term);

		if (error)
			return error;
	}
	if (terms.filter && *terms.alias)
		return error_set(reader->ctx, PMU_E_CONFLICT,
				 "%s: %s goes with event= and umask=, not with \"%s\"",
				 reader->text, notation_kernel_filter(terms.where.box),
				 terms.alias);
	if (terms.filter && terms.fixed)
		return no_filter(&terms);
	if (*terms.alias)
		return put_alias(&terms);
	return terms.fixed ? put_fixed(&terms) : put_control(&terms);
}

/* rUUEE, as the kernel's config of a core's counter. */
int notation_read_raw(struct notation_reader *reader)
{
	struct terms terms = {.reader = reader};
	const size_t digits = strspn(reader->text + 1, "0123456789abcdefABCDEF");

	if (*reader->text != 'r' || digits < 2 || digits > 8 || reader->text[1 + digits] ||
	    !find_box(&terms, "cpu"))
		return 0;
	terms.control = strtoull(reader->text + 1, NULL, 16);
	return put_control(&terms);
}
