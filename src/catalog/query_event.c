/* The accessors of pmulab/catalog.h: events and what goes with them. */
#include "catalog/entries.h"

/* Of a list with NULL behind it; NULL: there is none. */
static const char *word_at(const char *const *words, size_t index)
{
	if (!words)
		return NULL;
	while (index && *words) {
		words++;
		index--;
	}
	return *words;
}

const char *pmu_event_name(const struct pmu_event *event)
{
	return event->name;
}

const char *pmu_event_title(const struct pmu_event *event)
{
	return event->title;
}

const char *pmu_event_category(const struct pmu_event *event)
{
	return event->category;
}

const char *pmu_event_desc(const struct pmu_event *event)
{
	return event->desc;
}

const char *pmu_event_source(const struct pmu_event *event)
{
	return event->source;
}

unsigned pmu_event_code(const struct pmu_event *event)
{
	return event->code;
}

bool pmu_event_ext(const struct pmu_event *event)
{
	return event->ext;
}

unsigned pmu_event_unit_mask(const struct pmu_event *event)
{
	return event->umask;
}

uint32_t pmu_event_counters(const struct pmu_event *event)
{
	return event->counters;
}

unsigned pmu_event_max_increment(const struct pmu_event *event)
{
	return event->max_increment;
}

size_t pmu_event_umasks(const struct pmu_event *event)
{
	return event->umask_count;
}

const struct pmu_umask *pmu_event_umask(const struct pmu_event *event, size_t index)
{
	return index < event->umask_count ? &event->umasks[index] : NULL;
}

enum pmu_combine pmu_event_combine(const struct pmu_event *event)
{
	return (enum pmu_combine)event->combine;
}

enum pmu_model pmu_event_model(const struct pmu_event *event)
{
	return (enum pmu_model)event->model;
}

const char *pmu_event_model_note(const struct pmu_event *event)
{
	return event->model_note;
}

bool pmu_event_takes(const struct pmu_event *event, const struct pmu_modifier *modifier)
{
	return event->filters >> modifier->number & 1;
}

const char *pmu_event_set_group(const struct pmu_event *event)
{
	return event->set_group;
}

unsigned pmu_event_set(const struct pmu_event *event)
{
	return event->set;
}

const char *pmu_event_attribute(const struct pmu_event *event, size_t index)
{
	return word_at(event->attributes, index);
}

size_t pmu_event_fixed_fields(const struct pmu_event *event)
{
	return event->fixed_field_count;
}

const struct pmu_fixed_field *pmu_event_fixed_field(const struct pmu_event *event, size_t index)
{
	return index < event->fixed_field_count ? &event->fixed_fields[index] : NULL;
}

const char *pmu_umask_name(const struct pmu_umask *umask)
{
	return umask->name;
}

const char *pmu_umask_desc(const struct pmu_umask *umask)
{
	return umask->desc;
}

const char *pmu_umask_source(const struct pmu_umask *umask)
{
	return umask->source;
}

unsigned pmu_umask_value(const struct pmu_umask *umask)
{
	return umask->value;
}

unsigned pmu_umask_care(const struct pmu_umask *umask)
{
	return umask->care;
}

const char *pmu_umask_group(const struct pmu_umask *umask)
{
	return umask->group;
}

bool pmu_umask_is_alone(const struct pmu_umask *umask)
{
	return umask->alone;
}

bool pmu_umask_is_absent(const struct pmu_umask *umask)
{
	return umask->absent;
}

bool pmu_umask_needs(const struct pmu_umask *umask, const struct pmu_modifier *modifier)
{
	return umask->filters >> modifier->number & 1;
}

const char *pmu_umask_part(const struct pmu_umask *umask, size_t index)
{
	return word_at(umask->sum, index);
}

size_t pmu_umask_fixed_fields(const struct pmu_umask *umask)
{
	return umask->fixed_field_count;
}

const struct pmu_fixed_field *pmu_umask_fixed_field(const struct pmu_umask *umask, size_t index)
{
	return index < umask->fixed_field_count ? &umask->fixed_fields[index] : NULL;
}

size_t pmu_umask_implied_count(const struct pmu_umask *umask)
{
	return umask->implied_count;
}

const struct pmu_implied *pmu_umask_implied(const struct pmu_umask *umask, size_t index)
{
	return index < umask->implied_count ? &umask->implied[index] : NULL;
}

const struct pmu_register *pmu_fixed_field_register(const struct pmu_fixed_field *fixed_field)
{
	return fixed_field->reg;
}

unsigned pmu_fixed_field_high(const struct pmu_fixed_field *fixed_field)
{
	return fixed_field->hi;
}

unsigned pmu_fixed_field_low(const struct pmu_fixed_field *fixed_field)
{
	return fixed_field->lo;
}

uint64_t pmu_fixed_field_value(const struct pmu_fixed_field *fixed_field)
{
	return fixed_field->value;
}

bool pmu_fixed_field_copy(const struct pmu_fixed_field *fixed_field, unsigned *copy)
{
	*copy = fixed_field->copy;
	return fixed_field->copy != PMU_COPY_ALL;
}

const struct pmu_modifier *pmu_implied_modifier(const struct pmu_implied *implied)
{
	return implied->modifier;
}

uint64_t pmu_implied_value(const struct pmu_implied *implied)
{
	return implied->value;
}

const char *pmu_modifier_name(const struct pmu_modifier *modifier)
{
	return modifier->name;
}

const struct pmu_register *pmu_modifier_register(const struct pmu_modifier *modifier)
{
	return modifier->reg;
}

unsigned pmu_modifier_high(const struct pmu_modifier *modifier)
{
	return modifier->hi;
}

unsigned pmu_modifier_low(const struct pmu_modifier *modifier)
{
	return modifier->lo;
}

bool pmu_modifier_is_set(const struct pmu_modifier *modifier)
{
	return modifier->set;
}

bool pmu_modifier_is_copied(const struct pmu_modifier *modifier)
{
	return modifier->copied;
}

uint32_t pmu_modifier_counters(const struct pmu_modifier *modifier)
{
	return modifier->counters;
}

const char *pmu_modifier_any_of(const struct pmu_modifier *modifier)
{
	return modifier->any_of;
}

const char *pmu_modifier_needs(const struct pmu_modifier *modifier)
{
	return modifier->needs;
}

const struct pmu_modifier *pmu_modifier_class_field(const struct pmu_modifier *modifier)
{
	return modifier->class_field;
}

size_t pmu_modifier_fixed_fields(const struct pmu_modifier *modifier)
{
	return modifier->fixed_field_count;
}

const struct pmu_fixed_field *pmu_modifier_fixed_field(const struct pmu_modifier *modifier,
						       size_t index)
{
	return index < modifier->fixed_field_count ? &modifier->fixed_fields[index] : NULL;
}

const char *pmu_mnemonic_field(const struct pmu_mnemonic *mnemonic)
{
	return mnemonic->field;
}

const char *pmu_mnemonic_name(const struct pmu_mnemonic *mnemonic)
{
	return mnemonic->name;
}

const char *pmu_mnemonic_class(const struct pmu_mnemonic *mnemonic)
{
	return mnemonic->class_name;
}

uint64_t pmu_mnemonic_value(const struct pmu_mnemonic *mnemonic)
{
	return mnemonic->value;
}

const char *pmu_mnemonic_desc(const struct pmu_mnemonic *mnemonic)
{
	return mnemonic->desc;
}

const char *pmu_bank_group(const struct pmu_bank *bank)
{
	return bank->group;
}

uint32_t pmu_bank_counters(const struct pmu_bank *bank)
{
	return bank->counters;
}

unsigned pmu_bank_lead(const struct pmu_bank *bank)
{
	return bank->lead;
}

uint64_t pmu_bank_shared(const struct pmu_bank *bank)
{
	return bank->shared;
}
