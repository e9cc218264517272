/* The catalog by functions: what its structs say. */
#include "pmulab/query.h"

#include "pmulab/catalog.h"

size_t pmu_pmu_count(void)
{
	size_t count;

	pmu_catalog(&count);
	return count;
}

const struct pmu_pmu *pmu_pmu_at(size_t index)
{
	size_t count;
	const struct pmu_pmu *pmus = pmu_catalog(&count);

	return index < count ? &pmus[index] : NULL;
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

const char *pmu_box_title(const struct pmu_box *box)
{
	return box->title;
}

const char *pmu_box_source(const struct pmu_box *box)
{
	return box->source;
}

size_t pmu_box_instances(const struct pmu_box *box)
{
	return box->instance_count;
}

unsigned pmu_box_counters(const struct pmu_box *box)
{
	return box->counter_count;
}

unsigned pmu_box_counter_width(const struct pmu_box *box)
{
	return box->counter_width;
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

const char *pmu_event_name(const struct pmu_event *event)
{
	return event->name;
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

const char *pmu_register_pattern(const struct pmu_register *reg)
{
	return reg->name;
}

const char *pmu_register_source(const struct pmu_register *reg)
{
	return reg->source;
}

unsigned pmu_register_width(const struct pmu_register *reg)
{
	return reg->width;
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
