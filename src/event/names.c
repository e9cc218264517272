#include "event/names.h"

#include <stdio.h>
#include <string.h>

#include "base/name.h"
#include "catalog/find.h"
#include "event/filter.h"
#include "event/settings.h"
#include "event/valid.h"
#include "event/value.h"

#define INSTANCE_DIGITS 6

/* The PMUs that an expression may mean: the one that is given, or all. */
static const struct pmu_pmu *pmus_of(const struct expression *expression, size_t *count)
{
	*count = 1;
	return expression->pmu ? expression->pmu : catalog_pmus(count);
}

/* Whether names without a PMU before them may be those of this one. */
static bool is_meant(const struct expression *expression, const struct pmu_pmu *pmu)
{
	return expression->pmu || !pmu->qualified;
}

int names_pmu(struct expression *expression, const struct word *word)
{
	const struct pmu_pmu *pmu = find_pmu(word->name, word->hash);
	const struct pmu_pmu *pmus;
	struct valid valid;
	size_t count;

	if (pmu && (!expression->pmu || expression->pmu == pmu)) {
		expression->pmu = pmu;
		return 0;
	}
	valid_init(&valid, word->name);
	pmus = pmus_of(expression, &count);
	for (size_t i = 0; i < count; i++)
		valid_add(&valid, pmus[i].name);
	return valid_refuse(&valid, expression, word->span, "there is no PMU \"%s\"%s", word->name,
			    expression->pmu ? " here" : "");
}

/* A box by its whole name, or by its name and an instance number, which goes into the selection. */
static const struct pmu_box *find_numbered_box(const struct pmu_pmu *pmu, const struct word *word,
					       struct pmu_selection *selection)
{
	const struct pmu_box *box = find_box(pmu, word->name, word->hash);
	const char *name = word->name;
	size_t stem_length = strlen(name), length = stem_length;
	char stem[WORD_MAX];
	unsigned number = 0;

	if (box)
		return box;
	while (stem_length > 0 && name[stem_length - 1] >= '0' && name[stem_length - 1] <= '9')
		stem_length--;
	if (stem_length == length || length - stem_length > INSTANCE_DIGITS)
		return NULL;
	memcpy(stem, name, stem_length);
	stem[stem_length] = '\0';
	box = pmu_find_box(pmu, stem);
	for (size_t i = stem_length; box && i < length; i++)
		number = number * 10 + (unsigned)(name[i] - '0');
	if (box) {
		selection->one_instance = true;
		selection->instance = number;
	}
	return box;
}

int names_box(struct expression *expression, const struct word *word)
{
	struct pmu_selection *selection = expression->selection;
	const struct pmu_pmu *pmus;
	size_t count;

	pmus = pmus_of(expression, &count);
	for (size_t i = 0; i < count; i++) {
		const struct pmu_box *box;

		if (!is_meant(expression, &pmus[i]))
			continue;
		box = find_numbered_box(&pmus[i], word, selection);
		if (box && selection->box)
			return expression_refuse(expression, PMU_E_CONFLICT, word->span,
						 "%s/%s or %s/%s? Say which PMU is meant",
						 selection->pmu->name, word->name, pmus[i].name,
						 word->name);
		if (box) {
			selection->pmu = &pmus[i];
			selection->box = box;
		}
	}
	return selection->box != NULL;
}

/*
 * Whether @name is that of a fixed counter: what it counts or else "clock", its register, or the
 * words that the register's name has at its end before CTR (UCLK_FIXED).
 */
static bool is_name_of_fixed(const struct pmu_register *reg, const char *name)
{
	char tail[WORD_MAX + 4];
	size_t whole, part;

	if (name_equal(name, *reg->event ? reg->event : "clock") || name_equal(name, reg->name))
		return true;
	whole = strlen(reg->name);
	part = strlen(name) + strlen("_CTR");
	if (part >= whole || reg->name[whole - part - 1] != '_')
		return false;
	snprintf(tail, sizeof(tail), "%s_CTR", name);
	return name_equal(reg->name + whole - part, tail);
}

static bool find_fixed(const struct pmu_box *box, const char *name, uint8_t *fixed)
{
	for (uint8_t i = 0; i < box->fixed_count; i++) {
		if (is_name_of_fixed(pmu_box_register(box, PMU_ROLE_FIXED_COUNTER, i), name)) {
			*fixed = i;
			return true;
		}
	}
	return false;
}

static bool names_in_box(const struct pmu_box *box, const struct word *word,
			 const struct pmu_event **event, uint8_t *fixed)
{
	*event = find_event(box, word->name, word->hash);
	return *event || find_fixed(box, word->name, fixed);
}

static void add_events(struct valid *valid, const struct pmu_box *box)
{
	for (size_t i = 0; i < box->event_count; i++)
		valid_add(valid, box->events[i].name);
	for (unsigned i = 0; i < box->fixed_count; i++) {
		const struct pmu_register *reg = pmu_box_register(box, PMU_ROLE_FIXED_COUNTER, i);

		valid_add(valid, *reg->event ? reg->event : "clock");
	}
}

static int refuse_instance(const struct expression *expression)
{
	const struct pmu_selection *selection = expression->selection;
	const struct pmu_box *box = selection->box;

	if (box->instance_count == 1)
		return expression_refuse(expression, PMU_E_RANGE, expression->event,
					 "there is one %s, number 0", box->name);
	return expression_refuse(expression, PMU_E_RANGE, expression->event,
				 "there is no %s%u: they are numbered 0 to %zu", box->name,
				 selection->instance, box->instance_count - 1);
}

/* Another box of the same PMU that has an event of that name. */
static const struct pmu_box *find_owner(const struct pmu_pmu *pmu, const struct word *word)
{
	for (size_t i = 0; i < pmu->box_count; i++)
		if (find_event(&pmu->boxes[i], word->name, word->hash))
			return &pmu->boxes[i];
	return NULL;
}

int names_event(struct expression *expression, const struct word *word)
{
	struct pmu_selection *selection = expression->selection;
	const struct pmu_box *box = selection->box;
	const struct pmu_box *owner;
	struct valid valid;

	if (selection->one_instance && selection->instance >= box->instance_count)
		return refuse_instance(expression);
	if (names_in_box(box, word, &selection->event, &selection->fixed))
		return 0;
	owner = find_owner(selection->pmu, word);
	if (owner)
		return expression_refuse(expression, PMU_E_UNKNOWN, word->span,
					 "%s has no event \"%s\", but %s has", box->name,
					 word->name, owner->name);
	valid_init(&valid, word->name);
	add_events(&valid, box);
	return valid_refuse(&valid, expression, word->span,
			    *valid.list ? "%s has no event \"%s\""
					: "%s has no events, so not \"%s\" either",
			    box->name, word->name);
}

static void guess_events(struct name_guess *guess, const struct pmu_box *box)
{
	for (size_t i = 0; i < box->event_count; i++)
		name_guess_offer(guess, box->events[i].name);
	for (unsigned i = 0; i < box->fixed_count; i++) {
		const struct pmu_register *reg = pmu_box_register(box, PMU_ROLE_FIXED_COUNTER, i);

		name_guess_offer(guess, *reg->event ? reg->event : "clock");
	}
}

/* Names boxes and guesses at events of all boxes: a list of those would help nobody. */
static int refuse_anywhere(const struct expression *expression, const struct word *word)
{
	const struct pmu_pmu *pmus;
	struct name_guess events;
	struct valid boxes;
	size_t count;

	pmus = pmus_of(expression, &count);
	name_guess_init(&events, word->name);
	valid_init(&boxes, word->name);
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; is_meant(expression, &pmus[i]) && j < pmus[i].box_count; j++) {
			guess_events(&events, &pmus[i].boxes[j]);
			valid_add(&boxes, pmus[i].boxes[j].name);
		}
	}
	if (boxes.guess.distance > events.distance)
		boxes.guess = events;
	return valid_refuse(&boxes, expression, word->span, "there is no event or box \"%s\"",
			    word->name);
}

static int refuse_ambiguous(const struct expression *expression, const struct word *word)
{
	const struct pmu_pmu *pmus;
	const struct pmu_event *event;
	struct valid boxes;
	uint8_t fixed;
	size_t count;

	valid_init(&boxes, word->name);
	pmus = pmus_of(expression, &count);
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; is_meant(expression, &pmus[i]) && j < pmus[i].box_count; j++) {
			const struct pmu_box *box = &pmus[i].boxes[j];
			char full[2 * WORD_MAX];

			snprintf(full, sizeof(full), "%s%s%s.%s", count > 1 ? box->pmu : "",
				 count > 1 ? "/" : "", box->name, word->name);
			if (names_in_box(box, word, &event, &fixed))
				valid_add(&boxes, full);
		}
	}
	return expression_refuse(expression, PMU_E_CONFLICT, word->span,
				 "more than one box has \"%s\", say which: %s", word->name,
				 boxes.list);
}

int names_event_anywhere(struct expression *expression, const struct word *word)
{
	struct pmu_selection *selection = expression->selection;
	const struct pmu_pmu *pmus;
	size_t count, found = 0;

	pmus = pmus_of(expression, &count);
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; is_meant(expression, &pmus[i]) && j < pmus[i].box_count; j++) {
			const struct pmu_event *event;

			if (!names_in_box(&pmus[i].boxes[j], word, &event, &selection->fixed))
				continue;
			selection->pmu = &pmus[i];
			selection->box = &pmus[i].boxes[j];
			selection->event = event;
			found++;
		}
	}
	if (found == 0)
		return refuse_anywhere(expression, word);
	return found == 1 ? 0 : refuse_ambiguous(expression, word);
}

/* Adds a unit mask to those named before, if they go together. */
static int add_umask(struct expression *expression, const struct word *word,
		     const struct pmu_umask *umask)
{
	struct pmu_selection *selection = expression->selection;
	const struct pmu_event *event = selection->event;

	if (expression->umask_count < sizeof(expression->umasks) / sizeof(expression->umasks[0]))
		expression->umasks[expression->umask_count] = umask;
	expression->umask_count++;
	if (umask->alone)
		expression->alone = umask;
	if (expression->umask_count > 1 && event->combine == PMU_COMBINE_ONE)
		return expression_refuse(expression, PMU_E_CONFLICT, word->span,
					 "%s.%s takes one unit mask, they cannot be added",
					 selection->box->name, event->name);
	if (expression->umask_count > 1 && expression->alone)
		return expression_refuse(expression, PMU_E_CONFLICT, word->span,
					 "%s of %s.%s stands alone, it cannot be added to others",
					 expression->alone->name, selection->box->name,
					 event->name);
	selection->umask |= umask->value;
	return 0;
}

/*
 * A unit mask and the event that has it: one name may stand for several codes, until one is chosen.
 */
static const struct pmu_umask *find_with_event(const struct expression *expression,
					       const struct word *word,
					       const struct pmu_event **event)
{
	const struct pmu_selection *selection = expression->selection;
	const struct pmu_umask *umask = NULL;

	*event = selection->event;
	while (*event && !(umask = find_umask(*event, word->name, word->hash)))
		*event = expression->umask_count ? NULL : pmu_next_event(selection->box, *event);
	return umask;
}

bool names_is_umask(const struct expression *expression, const struct word *word)
{
	const struct pmu_event *event;

	return find_with_event(expression, word, &event) != NULL;
}

bool names_has_values(const struct expression *expression)
{
	const struct pmu_event *event = expression->selection->event;

	return event && event->filters;
}

/* Sets a filter of the event to a value of that name. @return 1; 0 where there is none */
static int add_value(struct expression *expression, const struct word *word)
{
	const struct pmu_selection *selection = expression->selection;
	const struct pmu_box *box = selection->box;

	for (size_t i = 0; i < box->modifier_count; i++) {
		const struct pmu_modifier *modifier = &box->modifiers[i];
		const struct pmu_mnemonic *value = filter_in(selection->event->filters, modifier)
						       ? value_find(box, modifier, word->name)
						       : NULL;
		int code;

		if (!value)
			continue;
		code = settings_join(
		    expression, &(struct pmu_setting){.modifier = modifier, .value = value->value},
		    word->span);
		return code ? code : 1;
	}
	return 0;
}

static void add_values(struct valid *valid, const struct pmu_box *box, uint64_t filters)
{
	for (size_t i = 0; i < box->mnemonic_count; i++) {
		const struct pmu_modifier *modifier =
		    pmu_find_modifier(box, box->mnemonics[i].field);

		if (modifier && filter_in(filters, modifier))
			valid_add(valid, box->mnemonics[i].name);
	}
}

/* The whole name of a fixed counter is like that of an event and a unit mask. */
static bool find_fixed_umask(struct pmu_selection *selection, const struct word *word)
{
	char name[2 * WORD_MAX];

	snprintf(name, sizeof(name), "%s.%s", selection->event->name, word->name);
	return find_fixed(selection->box, name, &selection->fixed);
}

int names_umask(struct expression *expression, const struct word *word)
{
	struct pmu_selection *selection = expression->selection;
	const struct pmu_event *event;
	const struct pmu_umask *umask = find_with_event(expression, word, &event);
	struct valid valid;
	int code = 0;

	if (umask) {
		selection->event = event;
		return add_umask(expression, word, umask);
	}
	event = selection->event;
	if (event && expression->umask_count == 0 && find_fixed_umask(selection, word)) {
		selection->event = NULL;
		return 0;
	}
	if (event)
		code = add_value(expression, word);
	if (code)
		return code < 0 ? code : 0;
	if (!event || (event->umask_count == 0 && !event->filters))
		return expression_refuse(expression, PMU_E_UNKNOWN, word->span,
					 "%s.%s has no unit masks", selection->box->name,
					 event ? event->name : "clock");
	valid_init(&valid, word->name);
	for (size_t i = 0; i < event->umask_count; i++)
		valid_add(&valid, event->umasks[i].name);
	if (event->umask_count == 0)
		add_values(&valid, selection->box, event->filters);
	return valid_refuse(&valid, expression, word->span, "%s.%s has no unit mask \"%s\"",
			    selection->box->name, event->name, word->name);
}

/* What edge and inv are short for; occupancy events of some boxes have a pair of their own. */
static const char *full_name(const struct pmu_selection *selection, const char *name)
{
	bool occupancy = selection->box->quirks & PMU_QUIRK_OCC_CONTROLS &&
			 selection->event->code & EVENT_CODE_OCCUPANCY;

	if (name_equal(name, "edge"))
		return occupancy ? "occ_edge_det" : "edge_det";
	if (name_equal(name, "inv"))
		return occupancy ? "occ_invert" : "invert";
	return name;
}

/* A field of a filter register, by the name it has there or by the modifier's. */
static const struct pmu_modifier *find_in_register(const struct pmu_box *box, const char *reg_name,
						   const char *name)
{
	const struct pmu_register *reg = pmu_find_register(box, reg_name);
	const struct pmu_field *field = reg ? pmu_find_field(reg, name) : NULL;

	for (size_t i = 0; reg && i < box->modifier_count; i++) {
		const struct pmu_modifier *modifier = &box->modifiers[i];

		if (modifier->reg == reg &&
		    (name_equal(modifier->name, name) ||
		     (field && field->hi == modifier->hi && field->lo == modifier->lo)))
			return modifier;
	}
	return NULL;
}

static int refuse_register(const struct expression *expression, const struct word *reg)
{
	const struct pmu_box *box = expression->selection->box;
	struct valid valid;

	valid_init(&valid, reg->name);
	for (size_t i = 0; i < box->register_count; i++)
		if (box->registers[i].role == PMU_ROLE_FILTER)
			valid_add(&valid, box->registers[i].name);
	return valid_refuse(&valid, expression, reg->span, "%s has no filter register \"%s\"",
			    box->name, reg->name);
}

int names_modifier(struct expression *expression, const struct word *reg, const struct word *word,
		   const struct pmu_modifier **modifier)
{
	const struct pmu_box *box = expression->selection->box;
	bool known_register = false;
	struct valid valid;

	*modifier = reg ? find_in_register(box, reg->name, word->name)
			: find_modifier(box, word->name, word->hash);
	if (!*modifier && !reg && expression->selection->event)
		*modifier = pmu_find_modifier(box, full_name(expression->selection, word->name));
	if (*modifier)
		return 0;
	valid_init(&valid, word->name);
	for (size_t i = 0; i < box->modifier_count; i++) {
		const struct pmu_modifier *known = &box->modifiers[i];

		if (reg && !(known->reg && name_equal(known->reg->name, reg->name)))
			continue;
		known_register = true;
		valid_add(&valid, known->name);
	}
	if (reg && !known_register)
		return refuse_register(expression, reg);
	return valid_refuse(&valid, expression, word->span, "%s has no field \"%s\" to set",
			    reg ? reg->name : box->name, word->name);
}
