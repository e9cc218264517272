/* What a counter's registers select, and whether that takes what happened. */
#include "pmon/ia64/uncore_state.h"

#include <string.h>

static bool for_copy(const struct pmu_fixed_field *field, const struct pmu_event *event,
		     unsigned index)
{
	unsigned copies = event->copies ? event->copies : 1;

	return field->copy == PMU_COPY_ALL || field->copy == index % copies;
}

/* What the user may set besides is no part of what selects. */
static bool is_filter(const struct pmu_box *box, uint64_t modifiers,
		      const struct pmu_fixed_field *field)
{
	for (size_t m = 0; m < box->modifier_count; m++) {
		const struct pmu_modifier *modifier = &box->modifiers[m];
		size_t apart = (size_t)(field->reg - modifier->reg);

		if (modifiers >> m & 1 && modifier->reg && modifier->lo == field->lo &&
		    (apart == 0 || (modifier->copied && apart == field->copy)))
			return true;
	}
	return false;
}

/* A field that enables counters has a bit for each, which is not compared here. */
static bool enables(const struct pmu_fixed_field *field)
{
	const struct pmu_field *enable = pmu_field_by_role(field->reg, PMU_FIELD_ENABLE, 0);

	return enable && enable->lo == field->lo;
}

static bool holds(const struct pmon_uncore *u, const struct uncore_unit *at, unsigned index,
		  const struct pmu_event *event, const struct pmu_fixed_field *fields, size_t count,
		  uint64_t filters, bool selecting)
{
	const struct pmu_box *box = uncore_box(u, at)->box;

	for (size_t i = 0; i < count; i++) {
		const struct pmu_fixed_field *field = &fields[i];
		bool select = field->reg->role == PMU_ROLE_SELECT;

		if (for_copy(field, event, index) && !(select && !selecting) && !enables(field) &&
		    !is_filter(box, filters, field) &&
		    uncore_field(u, at, field->reg, field->hi, field->lo) != field->value)
			return false;
	}
	return true;
}

/* The event select of a counter control; of boxes without, it is among the fixed fields. */
static bool has_code(const struct pmon_uncore *u, const struct uncore_unit *at, unsigned index,
		     const struct pmu_event *event)
{
	const struct pmu_box *box = uncore_box(u, at)->box;
	const struct pmu_register *control = pmu_box_register(box, PMU_ROLE_COUNTER_CTL, index);
	const struct pmu_field *select =
	    control ? pmu_field_by_role(control, PMU_FIELD_EVENT_SELECT, 0) : NULL;
	unsigned copies = event->copies ? event->copies : 1;

	return !select ||
	       uncore_field(u, at, control, select->hi, select->lo) == event->code + index % copies;
}

/* The unit mask of which most fields hold. @param filters  those that need not */
static const struct pmu_umask *best_umask(const struct pmon_uncore *u, const struct uncore_unit *at,
					  unsigned index, const struct pmu_event *event,
					  bool filters)
{
	const struct pmu_umask *best = NULL;

	for (const struct pmu_umask *m = event->umasks; m < event->umasks + event->umask_count; m++)
		if ((!best || m->fixed_field_count > best->fixed_field_count) &&
		    holds(u, at, index, event, m->fixed_fields, m->fixed_field_count,
			  filters ? event->filters | m->filters | m->uses : 0, true))
			best = m;
	return best;
}

static bool is_class_mask(const struct pmu_fixed_field *field)
{
	for (unsigned n = 0; n < 2; n++) {
		const struct pmu_field *mask =
		    pmu_field_by_role(field->reg, PMU_FIELD_CLASS_MASK, n);

		if (mask && mask->lo == field->lo)
			return true;
	}
	return false;
}

/* Whether a unit mask's classes are among those of a mask that takes several. */
static bool is_part(const struct pmon_uncore *u, const struct uncore_unit *at, unsigned index,
		    const struct pmu_event *event, const struct pmu_umask *m)
{
	bool part = !m->absent && !m->never && m->fixed_field_count;

	for (size_t i = 0; i < m->fixed_field_count && part; i++) {
		const struct pmu_fixed_field *field = &m->fixed_fields[i];
		uint64_t set = uncore_field(u, at, field->reg, field->hi, field->lo);

		if (for_copy(field, event, index))
			part = (is_class_mask(field) ? set & field->value : set) == field->value;
	}
	return part;
}

static bool has_parts(const struct pmon_uncore *u, const struct uncore_unit *at, unsigned index,
		      const struct pmu_event *event)
{
	for (size_t m = 0; m < event->umask_count; m++)
		if (is_part(u, at, index, event, &event->umasks[m]))
			return true;
	return false;
}

/* What the user set instead of a unit mask's own settings is a filter. */
static bool find_umask(const struct pmon_uncore *u, const struct uncore_unit *at, unsigned index,
		       const struct pmu_event *event, uint8_t *umask)
{
	const struct pmu_umask *found = best_umask(u, at, index, event, false);

	if (!found)
		found = best_umask(u, at, index, event, true);
	if (!found && has_parts(u, at, index, event)) {
		*umask = UNCORE_SUM;
		return true;
	}
	*umask = found ? found->value : event->umask;
	return found ? !found->absent && !found->never : !event->umask_count;
}

const struct pmu_event *uncore_selected(const struct pmon_uncore *u, const struct uncore_unit *at,
					unsigned index, int code, uint8_t *umask)
{
	const struct pmu_box *box = uncore_box(u, at)->box;

	for (size_t e = 0; e < box->event_count; e++) {
		const struct pmu_event *event = &box->events[e];
		bool coded = code < 0 ? has_code(u, at, index, event) : event->code == code;

		if (coded &&
		    holds(u, at, index, event, event->fixed_fields, event->fixed_field_count,
			  event->filters, code < 0) &&
		    find_umask(u, at, index, event, umask))
			return event->measure == PMU_MEASURE_NONE ? NULL : event;
	}
	return NULL;
}

static unsigned value_of(const struct detail_event *what, unsigned attribute)
{
	switch (attribute) {
	case ATTRIBUTE_MESSAGE:
		return what->message;
	case ATTRIBUTE_STATE:
		return what->state;
	case ATTRIBUTE_NODE:
		return what->node;
	case ATTRIBUTE_BANK:
		return what->number;
	default:
		return what->unit;
	}
}

static uint64_t modifier_value(const struct pmon_uncore *u, const struct uncore_unit *at,
			       unsigned index, const struct pmu_event *event,
			       const struct pmu_modifier *modifier)
{
	unsigned copy = modifier->copied ? index % (event->copies ? event->copies : 1) : 0;

	return uncore_field(u, at, modifier->reg + copy, modifier->hi, modifier->lo);
}

static uint64_t compared_bits(const struct pmon_uncore *u, const struct uncore_unit *at,
			      unsigned index, const struct pmu_event *event, const char *mask)
{
	const struct pmu_box *box = uncore_box(u, at)->box;

	for (size_t m = 0; mask && m < box->modifier_count; m++)
		if (strcmp(box->modifiers[m].name, mask) == 0)
			return modifier_value(u, at, index, event, &box->modifiers[m]);
	return UINT64_MAX;
}

static bool filter_passes(const struct pmon_uncore *u, const struct uncore_unit *at, unsigned index,
			  const struct pmu_event *event, const struct pmu_modifier *modifier,
			  unsigned value)
{
	const struct pmu_encoding *encoding = modifier->encoding;
	uint64_t wanted = modifier_value(u, at, index, event, modifier), code = value;
	uint64_t compared = compared_bits(u, at, index, event, encoding->mask);

	if (encoding->codes) {
		if (value >= encoding->count || encoding->codes[value] == BINDING_NO_CODE)
			return !compared;
		code = encoding->codes[value];
	}
	if (encoding->set)
		return wanted >> code & 1 || (encoding->empty && !wanted);
	return !((wanted ^ code) & compared);
}

static bool term_holds(const struct pmon_uncore *u, const struct uncore_unit *at, unsigned index,
		       const struct pmu_event *event, unsigned umask,
		       const struct pmu_row_term *term, const struct detail_event *what)
{
	unsigned value = value_of(what, term->attribute);

	switch (term->kind) {
	case TERM_VALUES:
		return value < 32 && term->values >> value & 1;
	case TERM_PATTERN:
		return value == (umask >> term->lo & ((1u << term->bits) - 1));
	case TERM_IS:
		return modifier_value(u, at, index, event, term->modifier) == term->values;
	default:
		return filter_passes(u, at, index, event, term->modifier, value);
	}
}

static bool takes(const struct pmon_uncore *u, const struct uncore_unit *at, unsigned index,
		  const struct pmu_event *event, unsigned umask, const struct detail_event *what)
{
	bool any = false, alternatives = false;

	for (size_t r = 0; r < event->row_count; r++) {
		const struct pmu_row *row = &event->rows[r];
		bool passes = !row->qualifiers || what->qualifiers & row->qualifiers;

		if ((umask & row->care) != row->value)
			continue;
		for (unsigned t = 0; t < row->term_count && passes; t++)
			passes = term_holds(u, at, index, event, umask, &row->terms[t], what);
		if (row->kind == ROW_ALL && !passes)
			return false;
		alternatives |= row->kind == ROW_ANY;
		any |= row->kind == ROW_ANY && passes;
	}
	return any || (!alternatives && !event->row_count);
}

bool uncore_takes(const struct pmon_uncore *u, const struct uncore_unit *at, unsigned index,
		  const struct pmu_event *event, unsigned umask, const struct detail_event *what)
{
	if (umask != UNCORE_SUM)
		return takes(u, at, index, event, umask, what);
	for (const struct pmu_umask *m = event->umasks; m < event->umasks + event->umask_count; m++)
		if (is_part(u, at, index, event, m) && takes(u, at, index, event, m->value, what))
			return true;
	return false;
}
