#include <assert.h>

#include "base/name.h"
#include "catalog/find.h"
#include "catalog/tables.h"

const struct pmu_pmu *catalog_pmus(size_t *count)
{
	*count = pmu_table_count;
	return pmu_table;
}

/* An entry by its name, which is the first member of all that is found by name. */
static const void *find(const struct pmu_index *index, const void *entries, size_t size,
			const char *name, uint32_t hash)
{
	uint32_t slot = hash & index->mask;

	for (; index->slots[slot]; slot = (slot + 1) & index->mask) {
		const char *entry = (const char *)entries + (index->slots[slot] - 1u) * size;

		if (name_equal(*(const char *const *)entry, name))
			return entry;
	}
	return NULL;
}

#define FIND(index, entries, name, hash)                                                           \
	find(&(index), (entries), sizeof(*(entries)), (name), (hash))

static_assert(offsetof(struct pmu_pmu, name) == 0, "found by name");
static_assert(offsetof(struct pmu_box, name) == 0, "found by name");
static_assert(offsetof(struct pmu_event, name) == 0, "found by name");
static_assert(offsetof(struct pmu_umask, name) == 0, "found by name");
static_assert(offsetof(struct pmu_register, name) == 0, "found by name");
static_assert(offsetof(struct pmu_metric, name) == 0, "found by name");
static_assert(offsetof(struct pmu_modifier, name) == 0, "found by name");

const struct pmu_pmu *find_pmu(const char *name, uint32_t hash)
{
	return FIND(pmu_table_index, pmu_table, name, hash);
}

const struct pmu_box *find_box(const struct pmu_pmu *pmu, const char *name, uint32_t hash)
{
	return FIND(pmu->box_index, pmu->boxes, name, hash);
}

const struct pmu_event *find_event(const struct pmu_box *box, const char *name, uint32_t hash)
{
	return FIND(box->event_index, box->events, name, hash);
}

const struct pmu_event *find_coded_event(const struct pmu_box *box, const struct pmu_event *after,
					 unsigned counter, uint64_t code, bool ext)
{
	const struct pmu_event *event = after ? after + 1 : box->events;

	for (; event < box->events + box->event_count; event++)
		if (event->code + event_copy(event, counter) == code && event->ext == ext)
			return event;
	return NULL;
}

const struct pmu_umask *find_umask(const struct pmu_event *event, const char *name, uint32_t hash)
{
	return FIND(event->umask_index, event->umasks, name, hash);
}

const struct pmu_modifier *find_modifier(const struct pmu_box *box, const char *name, uint32_t hash)
{
	return FIND(box->modifier_index, box->modifiers, name, hash);
}

static const struct {
	const char *name, *title;
} spaces[] = {
    [PMU_SPACE_MSR] = {"msr", "MSR"},
    [PMU_SPACE_PCI] = {"pci", "PCI configuration address"},
    [PMU_SPACE_MMIO] = {"mmio", "offset of the socket's memory-mapped window"},
    [PMU_SPACE_PMC] = {"pmc", "IA-64 PMC"},
    [PMU_SPACE_PMD] = {"pmd", "IA-64 PMD"},
    [PMU_SPACE_IBR] = {"ibr", "IA-64 IBR"},
    [PMU_SPACE_DBR] = {"dbr", "IA-64 DBR"},
};
static_assert(sizeof(spaces) / sizeof(spaces[0]) == PMU_SPACE_COUNT, "words for each space");

const char *pmu_space_name(enum pmu_space space)
{
	return spaces[space].name;
}

const char *pmu_space_title(enum pmu_space space)
{
	return spaces[space].title;
}

const struct pmu_pmu *pmu_find_pmu(const char *name)
{
	return find_pmu(name, name_hash(name));
}

const struct pmu_box *pmu_find_box(const struct pmu_pmu *pmu, const char *name)
{
	return find_box(pmu, name, name_hash(name));
}

const struct pmu_event *pmu_find_event(const struct pmu_box *box, const char *name)
{
	return find_event(box, name, name_hash(name));
}

const struct pmu_umask *pmu_find_umask(const struct pmu_event *event, const char *name)
{
	return find_umask(event, name, name_hash(name));
}

const struct pmu_modifier *pmu_find_modifier(const struct pmu_box *box, const char *name)
{
	return find_modifier(box, name, name_hash(name));
}

const struct pmu_register *pmu_find_register(const struct pmu_box *box, const char *name)
{
	return FIND(box->register_index, box->registers, name, name_hash(name));
}

const struct pmu_register *pmu_find_instance_register(const struct pmu_box *box, const char *name,
						      unsigned *instance)
{
	const struct pmu_index *index = &box->instance_index;
	uint32_t slot = name_hash(name) & index->mask;

	for (; index->slots[slot]; slot = (slot + 1) & index->mask) {
		size_t entry = index->slots[slot] - 1u;
		const struct pmu_register *reg = &box->registers[entry / box->instance_count];

		*instance = (unsigned)(entry % box->instance_count);
		if (name_equal(pmu_register_name(reg, *instance), name))
			return reg;
	}
	return NULL;
}

const struct pmu_metric *pmu_find_metric(const struct pmu_box *box, const char *name)
{
	return FIND(box->metric_index, box->metrics, name, name_hash(name));
}

const struct pmu_event *pmu_next_event(const struct pmu_box *box, const struct pmu_event *event)
{
	const struct pmu_event *next = event + 1;

	/* The generator sees to it that events of one name stand one after the other. */
	if (next == box->events + box->event_count || !name_equal(next->name, event->name))
		return NULL;
	return next;
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

const struct pmu_field *pmu_field_by_role(const struct pmu_register *reg, enum pmu_field_role role,
					  unsigned counter)
{
	for (size_t i = 0; i < reg->field_count; i++)
		if (reg->fields[i].role == role && reg->fields[i].counter == counter)
			return &reg->fields[i];
	return NULL;
}

uint64_t pmu_field_bits(const struct pmu_register *reg, enum pmu_field_role role, unsigned counter)
{
	const struct pmu_field *field = pmu_field_by_role(reg, role, counter);

	return field ? pmu_mask(field->hi, field->lo) : 0;
}

unsigned counter_width(const struct pmu_box *box, const struct pmu_register *counter)
{
	const struct pmu_field *count = pmu_field_by_role(counter, PMU_FIELD_COUNT, 0);

	/* A count in two registers has no such field. */
	return count ? count->hi - count->lo + 1u : box->counter_width;
}

/*
 * A field has each counter's bit, or all have one field, from its lowest bit up. Where that has
 * room for the fixed counters too, these come first (334291-001 table 2-114: five bits for four
 * counters and the fixed one); where it has not, they do not show (table 2-6).
 */
uint64_t pmu_overflow_bit(const struct pmu_box *box, const struct pmu_register *status, bool fixed,
			  unsigned counter)
{
	const struct pmu_field *all = pmu_field_by_role(status, PMU_FIELD_OVERFLOW, 0);
	unsigned width = all ? all->hi - all->lo + 1u : 0;
	unsigned fixed_first = width > box->counter_count ? box->fixed_count : 0;

	if (width <= 1)
		return pmu_field_bits(status, fixed ? PMU_FIELD_FIXED_OVERFLOW : PMU_FIELD_OVERFLOW,
				      counter);
	if (fixed)
		return counter < fixed_first ? UINT64_C(1) << (all->lo + counter) : 0;
	return counter + fixed_first < width ? UINT64_C(1) << (all->lo + fixed_first + counter) : 0;
}

uint64_t pmu_register_reset(const struct pmu_box *box, const struct pmu_register *reg,
			    unsigned instance)
{
	const struct pmu_field *id =
	    reg->role == PMU_ROLE_DISCOVERY ? pmu_field_by_role(reg, PMU_FIELD_DEVICE_ID, 0) : NULL;

	/* Boxes that gather registers of several functions have the id in the register itself. */
	return id ? reg->reset | (uint64_t)box->instances[instance].device_id << id->lo
		  : reg->reset;
}

uint32_t pmu_register_address(const struct pmu_box *box, const struct pmu_register *reg,
			      unsigned instance)
{
	return box->instances[instance].base +
	       (reg->offsets ? reg->offsets[instance] : reg->offset);
}

const char *pmu_register_name(const struct pmu_register *reg, unsigned instance)
{
	return reg->names ? reg->names[instance] : reg->name;
}

uint64_t pmu_field_value(const struct pmu_field *field, uint64_t value)
{
	return (value & pmu_mask(field->hi, field->lo)) >> field->lo;
}
