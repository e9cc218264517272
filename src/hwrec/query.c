/* The accessors of pmulab/hwrec.h. */
#include "catalog/hwrec.h"

const char *pmu_hwrec_name(const struct pmu_hwrec *record)
{
	return record->name;
}

const char *pmu_hwrec_title(const struct pmu_hwrec *record)
{
	return record->title;
}

const char *pmu_hwrec_source(const struct pmu_hwrec *record)
{
	return record->source;
}

size_t pmu_hwrec_size(const struct pmu_hwrec *record)
{
	return record->size;
}

size_t pmu_hwrec_kinds(const struct pmu_hwrec *record)
{
	return record->kind_count;
}

const struct pmu_hwrec_kind *pmu_hwrec_kind(const struct pmu_hwrec *record, size_t index)
{
	return index < record->kind_count ? &record->kinds[index] : NULL;
}

size_t pmu_hwrec_fields(const struct pmu_hwrec *record)
{
	return record->field_count;
}

const struct pmu_hwrec_field *pmu_hwrec_field(const struct pmu_hwrec *record, size_t index)
{
	return index < record->field_count ? &record->fields[index] : NULL;
}

const char *pmu_hwrec_note(const struct pmu_hwrec *record, size_t index)
{
	return index < record->note_count ? record->notes[index].desc : NULL;
}

size_t pmu_hwrec_entries(const struct pmu_hwrec *record)
{
	return record->ring.count;
}

const char *pmu_hwrec_entry_name(const struct pmu_hwrec *record, size_t index)
{
	return index < record->ring.count ? record->ring.names[index] : NULL;
}

size_t pmu_hwrec_entry_kinds(const struct pmu_hwrec *record)
{
	return record->ring.kind_count;
}

const struct pmu_hwrec_kind *pmu_hwrec_entry_kind(const struct pmu_hwrec *record, size_t index)
{
	return index < record->ring.kind_count ? &record->ring.kinds[index] : NULL;
}

size_t pmu_hwrec_entry_fields(const struct pmu_hwrec *record)
{
	return record->ring.field_count;
}

const struct pmu_hwrec_field *pmu_hwrec_entry_field(const struct pmu_hwrec *record, size_t index)
{
	return index < record->ring.field_count ? &record->ring.fields[index] : NULL;
}

const char *pmu_hwrec_kind_name(const struct pmu_hwrec_kind *kind)
{
	return kind->name;
}

const char *pmu_hwrec_kind_desc(const struct pmu_hwrec_kind *kind)
{
	return kind->desc;
}

const char *pmu_hwrec_field_name(const struct pmu_hwrec_field *field)
{
	return field->name;
}

const char *pmu_hwrec_field_unit(const struct pmu_hwrec_field *field)
{
	return field->unit;
}

const char *pmu_hwrec_field_desc(const struct pmu_hwrec_field *field)
{
	return field->desc;
}

enum pmu_hwrec_role pmu_hwrec_field_role(const struct pmu_hwrec_field *field)
{
	return (enum pmu_hwrec_role)field->role;
}

enum pmu_hwrec_type pmu_hwrec_field_type(const struct pmu_hwrec_field *field)
{
	return (enum pmu_hwrec_type)field->type;
}

size_t pmu_hwrec_field_mnemonics(const struct pmu_hwrec_field *field)
{
	return field->mnemonic_count;
}

const struct pmu_mnemonic *pmu_hwrec_field_mnemonic(const struct pmu_hwrec_field *field,
						    size_t index)
{
	return index < field->mnemonic_count ? &field->mnemonics[index] : NULL;
}

bool pmu_hwrec_field_is_listed(const struct pmu_hwrec_field *field)
{
	return field->listed;
}

const struct pmu_register *pmu_hwrec_field_register(const struct pmu_hwrec_field *field)
{
	return field->like;
}
