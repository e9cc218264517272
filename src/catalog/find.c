#include "base/name.h"
#include "catalog/tables.h"

const struct pmu_pmu *pmu_catalog(size_t *count)
{
	*count = pmu_table_count;
	return pmu_table;
}

const struct pmu_pmu *pmu_find_pmu(const char *name)
{
	for (size_t i = 0; i < pmu_table_count; i++)
		if (name_equal(pmu_table[i].name, name))
			return &pmu_table[i];
	return NULL;
}

const struct pmu_box *pmu_find_box(const struct pmu_pmu *pmu, const char *name)
{
	for (size_t i = 0; i < pmu->box_count; i++)
		if (name_equal(pmu->boxes[i].name, name))
			return &pmu->boxes[i];
	return NULL;
}

/* The first entry that does not stand before those of @hash and @box. */
static size_t first_not_before(uint32_t hash, const struct pmu_box *box)
{
	size_t low = 0, high = event_index_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct event_index *entry = &event_index[middle];

		if (entry->hash < hash || (entry->hash == hash && entry->box < box))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct pmu_event *pmu_find_event(const struct pmu_box *box, const char *name)
{
	uint32_t hash = name_hash(name);

	for (size_t i = first_not_before(hash, box); i < event_index_count; i++) {
		const struct event_index *entry = &event_index[i];

		if (entry->hash != hash || entry->box != box)
			return NULL;
		if (name_equal(entry->event->name, name))
			return entry->event;
	}
	return NULL;
}

const struct pmu_event *pmu_next_event(const struct pmu_box *box, const struct pmu_event *event)
{
	const struct pmu_event *next = event + 1;

	/* The generator sees to it that events of one name stand one after the other. */
	if (next == box->events + box->event_count || !name_equal(next->name, event->name))
		return NULL;
	return next;
}

const struct pmu_umask *pmu_find_umask(const struct pmu_event *event, const char *name)
{
	for (size_t i = 0; i < event->umask_count; i++)
		if (name_equal(event->umasks[i].name, name))
			return &event->umasks[i];
	return NULL;
}

const struct pmu_register *pmu_find_register(const struct pmu_box *box, const char *name)
{
	for (size_t i = 0; i < box->register_count; i++)
		if (name_equal(box->registers[i].name, name))
			return &box->registers[i];
	return NULL;
}

const struct pmu_metric *pmu_find_metric(const struct pmu_box *box, const char *name)
{
	for (size_t i = 0; i < box->metric_count; i++)
		if (name_equal(box->metrics[i].name, name))
			return &box->metrics[i];
	return NULL;
}

const struct pmu_modifier *pmu_find_modifier(const struct pmu_box *box, const char *name)
{
	for (size_t i = 0; i < box->modifier_count; i++)
		if (name_equal(box->modifiers[i].name, name))
			return &box->modifiers[i];
	return NULL;
}

const struct pmu_field *pmu_find_field(const struct pmu_register *reg, const char *name)
{
	for (size_t i = 0; i < reg->field_count; i++)
		if (name_equal(reg->fields[i].name, name))
			return &reg->fields[i];
	return NULL;
}

const struct pmu_register *pmu_box_register(const struct pmu_box *box, enum pmu_role role,
					    unsigned index)
{
	for (size_t i = 0; i < box->register_count; i++)
		if (box->registers[i].role == role && box->registers[i].index == index)
			return &box->registers[i];
	return NULL;
}

uint32_t pmu_register_address(const struct pmu_box *box, const struct pmu_register *reg,
			      unsigned instance)
{
	return box->instances[instance].base +
	       (reg->offsets ? reg->offsets[instance] : reg->offset);
}
