#include "hwrec/parts.h"

#include <inttypes.h>
#include <stdio.h>

#define VALUE_TOP  63 /* bit of a condition that stands for all values from there on */
#define WORD_BYTES 8

bool record_same_register(const struct pmu_register *a, const struct pmu_register *b)
{
	return a == b ||
	       (a->space == b->space && a->offset == b->offset && !a->offsets && !b->offsets);
}

static bool is_of_box(const struct pmu_box *box, const struct pmu_register *reg)
{
	return reg >= box->registers && reg < box->registers + box->register_count;
}

static const struct pmu_register_value *find_value(const struct record_input *input,
						   const struct pmu_register *reg)
{
	for (size_t i = 0; i < input->count; i++)
		if (is_of_box(input->values[i].box, reg) &&
		    record_same_register(input->values[i].reg, reg))
			return &input->values[i];
	return NULL;
}

bool record_given(const struct record_input *input, const struct pmu_hwrec_part *part)
{
	return !part->reg || find_value(input, part->reg);
}

static uint64_t word_at(const unsigned char *bytes, size_t offset)
{
	uint64_t word = 0;

	for (unsigned i = 0; i < WORD_BYTES; i++)
		word |= (uint64_t)bytes[offset + i] << 8 * i;
	return word;
}

uint64_t record_bits(const struct record_input *input, const struct pmu_hwrec_part *part)
{
	const struct pmu_register_value *given;
	uint64_t word;

	if (!part->reg) {
		word = word_at(input->bytes, part->offset);
	} else {
		given = find_value(input, part->reg);
		word = given ? given->value : part->reg->reset;
	}
	return (word & pmu_mask(part->hi, part->lo)) >> part->lo;
}

static bool holds(const struct record_input *input, const struct pmu_hwrec_condition *condition)
{
	uint64_t bits = record_bits(input, &condition->part);

	return condition->values >> (bits < VALUE_TOP ? bits : VALUE_TOP) & 1;
}

bool record_holds(const struct record_input *input, const struct pmu_hwrec_conditions *when,
		  unsigned row)
{
	for (size_t i = 0; i < when->count; i++)
		if (!holds(input, &when->all[row * when->count + i]))
			return false;
	return true;
}

bool record_known(const struct record_input *input, const struct pmu_hwrec_conditions *when,
		  unsigned row)
{
	for (size_t i = 0; i < when->count; i++)
		if (!record_given(input, &when->all[row * when->count + i].part))
			return false;
	return true;
}

const struct pmu_hwrec_condition *record_broken(const struct record_input *input,
						const struct pmu_hwrec_conditions *when)
{
	for (size_t i = 0; i < when->count; i++)
		if (record_given(input, &when->all[i].part) && !holds(input, &when->all[i]))
			return &when->all[i];
	return NULL;
}

static const struct pmu_field *field_of(const struct pmu_hwrec_part *part)
{
	for (size_t i = 0; i < part->reg->field_count; i++)
		if (part->reg->fields[i].hi == part->hi && part->reg->fields[i].lo == part->lo)
			return &part->reg->fields[i];
	return NULL;
}

int record_part_name(const struct pmu_hwrec_part *part, char *text, size_t size)
{
	const struct pmu_field *field;

	if (!part->reg)
		return snprintf(text, size, "the word at 0x%02X", part->offset);
	field = field_of(part);
	return snprintf(text, size, "%s%s%s", part->reg->name, field ? "." : "",
			field ? field->name : "");
}

int record_condition_text(const struct pmu_hwrec_condition *condition, char *text, size_t size)
{
	/* What most values fulfil is reported by those that do not. */
	bool negated = condition->values >> VALUE_TOP & 1;
	uint64_t values = negated ? ~condition->values : condition->values;
	int used = record_part_name(&condition->part, text, size);
	const char *between = negated ? " other than" : " =";

	for (unsigned value = 0; value < VALUE_TOP && (size_t)used < size; value++) {
		if (!(values >> value & 1))
			continue;
		used += snprintf(text + used, size - (size_t)used, "%s %u", between, value);
		between = ",";
	}
	return used;
}

static bool each_condition(const struct pmu_hwrec_conditions *when, unsigned rows,
			   record_part_function *visit, void *arg)
{
	for (size_t i = 0; i < when->count * rows; i++)
		if (visit(arg, &when->all[i].part))
			return true;
	return false;
}

static bool each_kind(const struct pmu_hwrec_kind *kinds, size_t count, unsigned rows,
		      record_part_function *visit, void *arg)
{
	for (size_t i = 0; i < count; i++)
		if (each_condition(&kinds[i].when, rows, visit, arg) ||
		    each_condition(&kinds[i].captured, rows, visit, arg))
			return true;
	return false;
}

static bool each_value(const struct pmu_hwrec_field *fields, size_t count, unsigned rows,
		       record_part_function *visit, void *arg)
{
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < fields[i].part_count * rows; j++)
			if (visit(arg, &fields[i].parts[j]))
				return true;
	return false;
}

static bool each_field_condition(const struct pmu_hwrec_field *fields, size_t count, unsigned rows,
				 record_part_function *visit, void *arg)
{
	for (size_t i = 0; i < count; i++)
		if (each_condition(&fields[i].when, rows, visit, arg) ||
		    each_condition(&fields[i].least, rows, visit, arg))
			return true;
	return false;
}

bool record_each_field_part(const struct pmu_hwrec *record, record_part_function *visit, void *arg)
{
	const struct pmu_hwrec_ring *ring = &record->ring;

	return each_value(record->fields, record->field_count, 1, visit, arg) ||
	       each_value(ring->fields, ring->field_count, ring->count, visit, arg);
}

static bool each_index(const struct pmu_hwrec_ring *ring, record_part_function *visit, void *arg)
{
	if (ring->count == 0)
		return false;
	if (ring->has_last)
		return visit(arg, &ring->last);
	return visit(arg, &ring->next) || visit(arg, &ring->filled);
}

bool record_each_part(const struct pmu_hwrec *record, record_part_function *visit, void *arg)
{
	const struct pmu_hwrec_ring *ring = &record->ring;

	for (size_t i = 0; i < record->note_count; i++)
		if (each_condition(&record->notes[i].when, 1, visit, arg))
			return true;
	return each_condition(&record->when, 1, visit, arg) ||
	       each_kind(record->kinds, record->kind_count, 1, visit, arg) ||
	       each_field_condition(record->fields, record->field_count, 1, visit, arg) ||
	       each_kind(ring->kinds, ring->kind_count, ring->count, visit, arg) ||
	       each_field_condition(ring->fields, ring->field_count, ring->count, visit, arg) ||
	       each_index(ring, visit, arg) || record_each_field_part(record, visit, arg);
}
