/* The accessors of pmulab/catalog.h: PMUs, boxes, registers, metrics, facts. */
#include "catalog/entries.h"
#include "catalog/hwrec.h"

size_t pmu_pmu_count(void)
{
	size_t count;

	catalog_pmus(&count);
	return count;
}

const struct pmu_pmu *pmu_pmu_at(size_t index)
{
	size_t count;
	const struct pmu_pmu *pmus = catalog_pmus(&count);

	return index < count ? &pmus[index] : NULL;
}

bool pmu_pmu_window(const struct pmu_pmu *pmu, uint64_t *own, uint64_t *first, uint32_t *size)
{
	*own = pmu->window.own;
	*first = pmu->window.first;
	*size = pmu->window.size;
	return pmu->window.size;
}

const char *pmu_pmu_name(const struct pmu_pmu *pmu)
{
	return pmu->name;
}

const char *pmu_pmu_title(const struct pmu_pmu *pmu)
{
	return pmu->title;
}

const char *pmu_pmu_source(const struct pmu_pmu *pmu)
{
	return pmu->source;
}

size_t pmu_pmu_boxes(const struct pmu_pmu *pmu)
{
	return pmu->box_count;
}

const struct pmu_box *pmu_pmu_box(const struct pmu_pmu *pmu, size_t index)
{
	return index < pmu->box_count ? &pmu->boxes[index] : NULL;
}

const char *pmu_box_name(const struct pmu_box *box)
{
	return box->name;
}

const char *pmu_box_pmu_name(const struct pmu_box *box)
{
	return box->pmu;
}

const char *pmu_box_title(const struct pmu_box *box)
{
	return box->title;
}

const char *pmu_box_source(const struct pmu_box *box)
{
	return box->source;
}

enum pmu_space pmu_box_space(const struct pmu_box *box)
{
	return (enum pmu_space)box->space;
}

enum pmu_clock pmu_box_clock(const struct pmu_box *box)
{
	return (enum pmu_clock)box->clock;
}

enum pmu_scope pmu_box_scope(const struct pmu_box *box)
{
	return (enum pmu_scope)box->scope;
}

unsigned pmu_box_quirks(const struct pmu_box *box)
{
	return box->quirks;
}

size_t pmu_box_instances(const struct pmu_box *box)
{
	return box->instance_count;
}

const char *pmu_box_instance_label(const struct pmu_box *box, size_t instance)
{
	return instance < box->instance_count ? box->instances[instance].label : NULL;
}

unsigned pmu_box_first_counter(const struct pmu_box *box, size_t instance)
{
	return instance < box->instance_count ? box->instances[instance].first_counter : 0;
}

unsigned pmu_box_counters(const struct pmu_box *box)
{
	return box->counter_count;
}

unsigned pmu_box_counter_width(const struct pmu_box *box)
{
	return box->counter_width;
}

unsigned pmu_box_fixed_counters(const struct pmu_box *box)
{
	return box->fixed_count;
}

const struct pmu_field *pmu_box_event_select(const struct pmu_box *box)
{
	return box->selector.ev_sel;
}

const struct pmu_field *pmu_box_unit_mask(const struct pmu_box *box)
{
	return box->selector.umask;
}

size_t pmu_box_events(const struct pmu_box *box)
{
	return box->event_count;
}

const struct pmu_event *pmu_box_event(const struct pmu_box *box, size_t index)
{
	return index < box->event_count ? &box->events[index] : NULL;
}

size_t pmu_box_registers(const struct pmu_box *box)
{
	return box->register_count;
}

const struct pmu_register *pmu_box_register_at(const struct pmu_box *box, size_t index)
{
	return index < box->register_count ? &box->registers[index] : NULL;
}

size_t pmu_box_metrics(const struct pmu_box *box)
{
	return box->metric_count;
}

const struct pmu_metric *pmu_box_metric(const struct pmu_box *box, size_t index)
{
	return index < box->metric_count ? &box->metrics[index] : NULL;
}

size_t pmu_box_modifiers(const struct pmu_box *box)
{
	return box->modifier_count;
}

const struct pmu_modifier *pmu_box_modifier(const struct pmu_box *box, size_t index)
{
	return index < box->modifier_count ? &box->modifiers[index] : NULL;
}

size_t pmu_box_mnemonics(const struct pmu_box *box)
{
	return box->mnemonic_count;
}

const struct pmu_mnemonic *pmu_box_mnemonic(const struct pmu_box *box, size_t index)
{
	return index < box->mnemonic_count ? &box->mnemonics[index] : NULL;
}

size_t pmu_box_banks(const struct pmu_box *box)
{
	return box->bank_count;
}

const struct pmu_bank *pmu_box_bank(const struct pmu_box *box, size_t index)
{
	return index < box->bank_count ? &box->banks[index] : NULL;
}

size_t pmu_box_hwrecs(const struct pmu_box *box)
{
	return box->record_count;
}

const struct pmu_hwrec *pmu_box_hwrec(const struct pmu_box *box, size_t index)
{
	return index < box->record_count ? &box->records[index] : NULL;
}

size_t pmu_box_fact_tables(const struct pmu_box *box)
{
	return box->fact_count;
}

const struct pmu_facts *pmu_box_facts(const struct pmu_box *box, size_t index)
{
	return index < box->fact_count ? &box->facts[index] : NULL;
}

const char *pmu_register_pattern(const struct pmu_register *reg)
{
	return reg->name;
}

const char *pmu_register_model_note(const struct pmu_register *reg)
{
	return reg->model_note;
}

const char *pmu_register_source(const struct pmu_register *reg)
{
	return reg->source;
}

enum pmu_role pmu_register_role(const struct pmu_register *reg)
{
	return (enum pmu_role)reg->role;
}

unsigned pmu_register_index(const struct pmu_register *reg)
{
	return reg->index;
}

unsigned pmu_register_width(const struct pmu_register *reg)
{
	return reg->width;
}

enum pmu_access pmu_register_access(const struct pmu_register *reg)
{
	return (enum pmu_access)reg->access;
}

enum pmu_space pmu_register_space(const struct pmu_register *reg)
{
	return (enum pmu_space)reg->space;
}

bool pmu_register_has_instance_names(const struct pmu_register *reg)
{
	return reg->names;
}

uint64_t pmu_register_common_reset(const struct pmu_register *reg)
{
	return reg->reset;
}

const char *pmu_register_event(const struct pmu_register *reg)
{
	return reg->event;
}

size_t pmu_register_fields(const struct pmu_register *reg)
{
	return reg->field_count;
}

const struct pmu_field *pmu_register_field(const struct pmu_register *reg, size_t index)
{
	return index < reg->field_count ? &reg->fields[index] : NULL;
}

const char *pmu_field_name(const struct pmu_field *field)
{
	return field->name;
}

const char *pmu_field_desc(const struct pmu_field *field)
{
	return field->desc;
}

unsigned pmu_field_high(const struct pmu_field *field)
{
	return field->hi;
}

unsigned pmu_field_low(const struct pmu_field *field)
{
	return field->lo;
}

enum pmu_access pmu_field_access(const struct pmu_field *field)
{
	return (enum pmu_access)field->access;
}

enum pmu_must pmu_field_must(const struct pmu_field *field)
{
	return (enum pmu_must)field->must;
}

enum pmu_field_role pmu_field_role(const struct pmu_field *field)
{
	return (enum pmu_field_role)field->role;
}

unsigned pmu_field_counter(const struct pmu_field *field)
{
	return field->counter;
}

uint64_t pmu_field_reset(const struct pmu_field *field)
{
	return field->reset;
}

const char *pmu_metric_name(const struct pmu_metric *metric)
{
	return metric->name;
}

const char *pmu_metric_desc(const struct pmu_metric *metric)
{
	return metric->desc;
}

const char *pmu_metric_source(const struct pmu_metric *metric)
{
	return metric->source;
}

const char *pmu_metric_equation(const struct pmu_metric *metric)
{
	return metric->equation;
}

const char *pmu_metric_unit(const struct pmu_metric *metric)
{
	return metric->unit;
}

const char *pmu_facts_name(const struct pmu_facts *facts)
{
	return facts->name;
}

const char *pmu_facts_title(const struct pmu_facts *facts)
{
	return facts->title;
}

const char *pmu_facts_source(const struct pmu_facts *facts)
{
	return facts->source;
}

size_t pmu_facts_columns(const struct pmu_facts *facts)
{
	return facts->column_count;
}

size_t pmu_facts_rows(const struct pmu_facts *facts)
{
	return facts->row_count;
}

const char *pmu_facts_column(const struct pmu_facts *facts, size_t column)
{
	return column < facts->column_count ? facts->columns[column] : NULL;
}

const char *pmu_facts_cell(const struct pmu_facts *facts, size_t row, size_t column)
{
	return row < facts->row_count && column < facts->column_count
		   ? facts->cells[row * facts->column_count + column]
		   : NULL;
}
