#include "event/umask.h"

#include "catalog/umask.h"
#include "event/settings.h"

static unsigned bits_in(unsigned value)
{
	return (unsigned)__builtin_popcount(value);
}

/* The row that adds most to what is covered of @umask, without setting any other bit. */
static const struct pmu_umask *widest_row(const struct pmu_event *event, unsigned umask,
					  unsigned covered)
{
	const struct pmu_umask *widest = NULL;
	unsigned most = 0;

	for (size_t i = 0; i < event->umask_count; i++) {
		const struct pmu_umask *row = &event->umasks[i];
		unsigned gain = bits_in(row->value & ~covered);

		if (!row->alone && !(row->value & ~umask) && gain > most) {
			widest = row;
			most = gain;
		}
	}
	return widest;
}

/* Whether all that goes with a unit mask is set. */
static bool is_given(const struct pmu_selection *selection, const struct pmu_umask *row)
{
	for (size_t i = 0; i < row->implied_count; i++) {
		const struct pmu_setting *setting =
		    settings_of(selection, row->implied[i].modifier);

		if ((setting ? setting->value : 0) != row->implied[i].value)
			return false;
	}
	return true;
}

/* The row of exactly this value with which most of the settings go. */
static const struct pmu_umask *closest_row(const struct pmu_selection *selection)
{
	const struct pmu_event *event = selection->event;
	const struct pmu_umask *closest = NULL;

	for (size_t i = 0; i < event->umask_count; i++) {
		const struct pmu_umask *row = &event->umasks[i];

		if (row->value == selection->umask && is_given(selection, row) &&
		    (!closest || row->implied_count > closest->implied_count))
			closest = row;
	}
	return closest;
}

static const struct pmu_umask *first_row(const struct pmu_selection *selection)
{
	for (size_t i = 0; i < selection->event->umask_count; i++)
		if (selection->event->umasks[i].value == selection->umask)
			return &selection->event->umasks[i];
	return NULL;
}

/* Rows that add up to the unit mask; 0 where none do. */
static size_t add_rows(const struct pmu_event *event, unsigned umask,
		       const struct pmu_umask *rows[UMASK_ROWS])
{
	unsigned covered = 0;
	size_t count = 0;

	if (event->combine == PMU_COMBINE_ONE)
		return 0;
	while (covered != umask) {
		const struct pmu_umask *row = widest_row(event, umask, covered);

		if (!row)
			return 0;
		rows[count++] = row;
		covered |= row->value;
	}
	return count;
}

size_t umask_rows(const struct pmu_selection *selection, const struct pmu_umask *rows[UMASK_ROWS])
{
	size_t count;

	rows[0] = closest_row(selection);
	if (rows[0])
		return 1;
	count = add_rows(selection->event, selection->umask, rows);
	if (count)
		return count;
	rows[0] = first_row(selection);
	return rows[0] != NULL;
}

bool umask_gives(const struct pmu_umask *const *rows, size_t count,
		 const struct pmu_modifier *modifier, uint64_t *value)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < rows[i]->implied_count; j++) {
			if (rows[i]->implied[j].modifier == modifier) {
				*value = rows[i]->implied[j].value;
				return true;
			}
		}
	}
	return false;
}

struct threshold umask_threshold(const struct pmu_selection *selection)
{
	struct threshold asked = {0};

	for (size_t i = 0; i < selection->setting_count; i++) {
		const struct pmu_setting *setting = &selection->settings[i];
		const struct pmu_modifier *modifier = setting->modifier;

		/* Others are modelled by what they do to each increment. */
		if (modifier->role == PMU_FIELD_INVERT)
			asked.invert = setting->value;
		else if (modifier->model != PMU_MODIFIER_ABSENT_SET)
			continue;
		else if (modifier->role == PMU_FIELD_THRESHOLD)
			asked.least = setting->value;
		else if (modifier->role == PMU_FIELD_EDGE)
			asked.edge = setting->value;
	}
	return asked;
}

bool umask_cycles(const struct pmu_selection *selection, struct threshold_count *count)
{
	const struct threshold asked = umask_threshold(selection);

	return selection->event && threshold_asks(asked) &&
	       (selection->event->by_umask || !selection->event->umask_count) &&
	       threshold_find(selection->event, selection->umask, asked, count);
}

static bool is_comparison(const struct pmu_modifier *modifier)
{
	return modifier->role == PMU_FIELD_THRESHOLD || modifier->role == PMU_FIELD_EDGE;
}

/*
 * Whether a field is set to what no machine can tell: a threshold on most sums, kernel mode alone.
 * What goes with a unit mask is what that is counted by.
 */
static bool is_beyond_models(const struct pmu_selection *selection)
{
	const struct pmu_box *box = selection->box;
	const struct pmu_umask *row = selection->event ? closest_row(selection) : NULL;
	struct threshold_count cycles;
	const bool tells = umask_cycles(selection, &cycles);
	uint64_t value;

	for (size_t i = 0; i < box->modifier_count; i++) {
		const struct pmu_modifier *modifier = &box->modifiers[i];
		const struct pmu_setting *setting;
		bool set;

		if (modifier->model == PMU_MODIFIER_MODELLED ||
		    (!selection->event && !settings_counter_field(selection, modifier)))
			continue;
		setting = settings_find(selection, modifier->name);
		set = setting && setting->value;
		if (set == (modifier->model == PMU_MODIFIER_ABSENT_SET) &&
		    !(is_comparison(modifier) && tells) &&
		    !(row && umask_gives(&row, 1, modifier, &value)))
			return true;
	}
	return false;
}

/* Whether the machine produces nothing of what the unit mask selects. */
static bool is_absent(const struct pmu_selection *selection)
{
	const struct pmu_event *event = selection->event;
	const struct pmu_umask *closest = closest_row(selection);
	unsigned umask = selection->umask, absent = 0;
	struct threshold_count count;

	if (closest && (event->combine == PMU_COMBINE_ONE || event->by_umask))
		return closest->absent;
	if (event->by_umask && event->combine == PMU_COMBINE_OR)
		return !threshold_find(event, umask, umask_threshold(selection), &count);
	for (size_t i = 0; i < event->umask_count; i++) {
		const struct pmu_umask *row = &event->umasks[i];

		if (event->combine == PMU_COMBINE_ONE && umask_is(row, umask))
			return row->absent;
		absent |= row->absent ? row->value : 0;
	}
	return absent && !(umask & ~absent);
}

bool umask_never_happens(const struct pmu_selection *selection)
{
	const struct pmu_umask *closest = selection->event ? closest_row(selection) : NULL;

	return closest && selection->event->combine == PMU_COMBINE_ONE && closest->never;
}

/* A fixed counter counts as well as the event that counts the same. */
static enum pmu_model fixed_model(const struct pmu_selection *selection)
{
	const struct pmu_box *box = selection->box;
	const struct pmu_register *fixed =
	    pmu_box_register(box, PMU_ROLE_FIXED_COUNTER, selection->fixed);

	for (size_t i = 0; fixed && fixed->signal && i < box->event_count; i++)
		for (size_t j = 0; j < box->events[i].umask_count; j++)
			if (box->events[i].umasks[j].signal == fixed->signal)
				return (enum pmu_model)box->events[i].model;
	return PMU_MODEL_EXACT;
}

enum pmu_model umask_model(const struct pmu_selection *selection)
{
	const struct pmu_event *event = selection->event;
	struct threshold_count cycles;

	if (is_beyond_models(selection))
		return PMU_MODEL_ABSENT;
	if (!event)
		return fixed_model(selection);
	if (umask_never_happens(selection))
		return PMU_MODEL_EXACT;
	if (is_absent(selection))
		return PMU_MODEL_ABSENT;
	/* docs/machine.md says in which cycles what a model counts happens. */
	return umask_cycles(selection, &cycles) ? PMU_MODEL_APPROXIMATE
						: (enum pmu_model)event->model;
}

bool pmu_selection_is_clock(const struct pmu_selection *selection)
{
	const struct pmu_event *event = selection->event;
	const struct pmu_register *fixed;

	if (event)
		return event->measure == PMU_MEASURE_CLOCK && !selection->setting_count;
	fixed = pmu_box_register(selection->box, PMU_ROLE_FIXED_COUNTER, selection->fixed);
	return selection->box->scope != PMU_SCOPE_CORE && fixed && !fixed->signal;
}

bool umask_find(const struct pmu_event *event, uint8_t *umask)
{
	const struct pmu_selection selection = {.event = event, .umask = *umask};
	const struct pmu_umask *rows[UMASK_ROWS];

	if (event->umask_count == 0)
		return *umask == event->umask;
	if (umask_rows(&selection, rows))
		return true;
	for (size_t i = 0; event->combine == PMU_COMBINE_ONE && i < event->umask_count; i++) {
		if (umask_is(&event->umasks[i], *umask)) {
			*umask = event->umasks[i].value;
			return true;
		}
	}
	return false;
}
