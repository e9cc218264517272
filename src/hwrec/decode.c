#include <stdio.h>

#include "base/error.h"
#include "base/name.h"
#include "base/option.h"
#include "hwrec/parts.h"

#define TEXT_MAX      512
#define MISSING_MAX   64 /* registers a record is made of, at most */
#define MISSING_NAMED 8

struct decoding {
	struct pmu_ctx *ctx;
	const struct pmu_hwrec *record;
	struct record_input input;
	struct pmu_hwrec_visitor visitor;
	void *arg;
	unsigned kind;	   /* index; 0 where the record has but one */
	unsigned youngest; /* row of the ring */
	unsigned entries;  /* of the ring that hold something */
};

static void add_kinds(char names[TEXT_MAX], const struct pmu_hwrec *record)
{
	for (size_t i = 0; i < record->kind_count; i++)
		name_list_add(names, TEXT_MAX, ", ", record->kinds[i].name);
}

/* Refuses a value that is not of what was asked for. */
static int refuse_value(const struct decoding *decoding,
			const struct pmu_hwrec_condition *condition, const char *what)
{
	char name[128], wanted[TEXT_MAX];

	record_part_name(&condition->part, name, sizeof(name));
	record_condition_text(condition, wanted, sizeof(wanted));
	return error_set(decoding->ctx, PMU_E_CONFLICT, "%s is %llu: no %s, which is %s", name,
			 (unsigned long long)record_bits(&decoding->input, &condition->part), what,
			 wanted);
}

static int choose_named_kind(struct decoding *decoding, const char *name)
{
	const struct pmu_hwrec *record = decoding->record;
	const struct pmu_hwrec_condition *broken;
	char valid[TEXT_MAX] = "";
	char what[128];

	for (unsigned i = 0; i < record->kind_count; i++) {
		if (!name_equal(record->kinds[i].name, name))
			continue;
		decoding->kind = i;
		snprintf(what, sizeof(what), "%s of kind %s", record->name, record->kinds[i].name);
		broken = record_broken(&decoding->input, &record->kinds[i].when);
		return broken ? refuse_value(decoding, broken, what) : 0;
	}
	add_kinds(valid, record);
	return error_set(decoding->ctx, PMU_E_UNKNOWN, "%s has no kind \"%s\"%s%s", record->name,
			 name, *valid ? "; valid: " : "", valid);
}

static int choose_kind(struct decoding *decoding)
{
	const struct pmu_hwrec *record = decoding->record;
	const struct pmu_hwrec_part *part;
	char valid[TEXT_MAX] = "", kind[2 * TEXT_MAX];
	char text[TEXT_MAX];

	decoding->kind = 0;
	for (unsigned i = 0; i < record->kind_count; i++) {
		if (!record_known(&decoding->input, &record->kinds[i].when, 0)) {
			add_kinds(valid, record);
			return error_set(decoding->ctx, PMU_E_UNKNOWN,
					 "%s needs %s, or its kind: %s", record->name,
					 record->kinds[i].when.all[0].part.reg->name, valid);
		}
		if (record_holds(&decoding->input, &record->kinds[i].when, 0)) {
			decoding->kind = i;
			return 0;
		}
		record_condition_text(&record->kinds[i].when.all[0], text, sizeof(text));
		snprintf(kind, sizeof(kind), "%s is %s", record->kinds[i].name, text);
		name_list_add(valid, sizeof(valid), "; ", kind);
	}
	if (record->kind_count == 0)
		return 0;
	part = &record->kinds[0].when.all[0].part;
	record_part_name(part, text, sizeof(text));
	return error_set(decoding->ctx, PMU_E_CONFLICT, "%s is %llu: no kind of %s; %s", text,
			 (unsigned long long)record_bits(&decoding->input, part), record->name,
			 valid);
}

/* Which entries of the ring hold something, and which was written last. */
static void look_at_ring(struct decoding *decoding)
{
	const struct pmu_hwrec_ring *ring = &decoding->record->ring;
	uint64_t index;

	decoding->entries = ring->count;
	if (ring->count == 0)
		return;
	index = record_bits(&decoding->input, ring->has_last ? &ring->last : &ring->next);
	decoding->youngest =
	    (unsigned)(ring->has_last ? index : (index + ring->count - 1) % ring->count);
	if (!ring->has_last && !record_bits(&decoding->input, &ring->filled))
		decoding->entries = (unsigned)index;
}

/* The row of the entry that @age others were written after. */
static unsigned row_of(const struct decoding *decoding, unsigned age)
{
	unsigned count = decoding->record->ring.count;

	return (decoding->youngest + count - age) % count;
}

struct missing {
	const struct decoding *decoding;
	const struct pmu_register *seen[MISSING_MAX];
	unsigned count;
	char names[TEXT_MAX];
};

static void need(struct missing *missing, const struct pmu_hwrec_part *part)
{
	if (part->optional || record_given(&missing->decoding->input, part))
		return;
	for (unsigned i = 0; i < missing->count && i < MISSING_MAX; i++)
		if (record_same_register(missing->seen[i], part->reg))
			return;
	if (missing->count < MISSING_MAX)
		missing->seen[missing->count] = part->reg;
	if (missing->count++ < MISSING_NAMED)
		name_list_add(missing->names, sizeof(missing->names), ", ", part->reg->name);
}

static void need_conditions(struct missing *missing, const struct pmu_hwrec_conditions *when,
			    unsigned row)
{
	for (size_t i = 0; i < when->count; i++)
		need(missing, &when->all[row * when->count + i].part);
}

static void need_fields(struct missing *missing, const struct pmu_hwrec_field *fields, size_t count,
			uint32_t kinds, unsigned row)
{
	for (size_t i = 0; i < count; i++) {
		if (!(fields[i].kinds & kinds))
			continue;
		need_conditions(missing, &fields[i].when, row);
		for (size_t j = 0; j < fields[i].part_count; j++)
			need(missing, &fields[i].parts[row * fields[i].part_count + j]);
	}
}

static void need_entry(struct missing *missing, unsigned row)
{
	const struct pmu_hwrec_ring *ring = &missing->decoding->record->ring;

	for (size_t i = 0; i < ring->kind_count; i++)
		need_conditions(missing, &ring->kinds[i].when, row);
	need_fields(missing, ring->fields, ring->field_count, UINT32_MAX, row);
}

/* Whether all registers are there that this kind of record is in. */
static int check_missing(const struct decoding *decoding)
{
	const struct pmu_hwrec *record = decoding->record;
	const struct pmu_hwrec_ring *ring = &record->ring;
	struct missing missing = {.decoding = decoding};

	if (record->kind_count)
		need_conditions(&missing, &record->kinds[decoding->kind].captured, 0);
	need_fields(&missing, record->fields, record->field_count, 1u << decoding->kind, 0);
	if (ring->count && ring->has_last)
		need(&missing, &ring->last);
	if (ring->count && !ring->has_last) {
		need(&missing, &ring->next);
		need(&missing, &ring->filled);
	}
	for (unsigned age = 0; age < decoding->entries; age++)
		need_entry(&missing, row_of(decoding, age));
	if (missing.count == 0)
		return 0;
	if (missing.count > MISSING_NAMED)
		return error_set(decoding->ctx, PMU_E_UNKNOWN, "%s needs %s and %u more too",
				 record->name, missing.names, missing.count - MISSING_NAMED);
	return error_set(decoding->ctx, PMU_E_UNKNOWN, "%s needs %s too", record->name,
			 missing.names);
}

static unsigned kind_of_entry(const struct decoding *decoding, unsigned age)
{
	const struct pmu_hwrec_ring *ring = &decoding->record->ring;
	unsigned row = row_of(decoding, age), i = 0;

	/* The generator sees to it that the last kind has no conditions. */
	while (i + 1 < ring->kind_count &&
	       (!record_holds(&decoding->input, &ring->kinds[i].when, row) ||
		(ring->kinds[i].youngest && age > 0)))
		i++;
	return i;
}

static uint64_t sum_of_parts(const struct decoding *decoding, const struct pmu_hwrec_field *field,
			     unsigned row)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < field->part_count; i++) {
		const struct pmu_hwrec_part *part = &field->parts[row * field->part_count + i];

		sum += record_bits(&decoding->input, part) << part->shift;
	}
	return sum;
}

static uint64_t sign_extended(uint64_t value, unsigned sign)
{
	uint64_t bit = UINT64_C(1) << sign;

	return sign ? (value ^ bit) - bit : value;
}

static void add_row(const struct decoding *decoding, unsigned row, struct pmu_hwrec_value *value)
{
	const struct pmu_hwrec_field *field = value->field;

	value->value += sign_extended(sum_of_parts(decoding, field, row), field->sign);
	value->least |=
	    field->least.count > 0 && record_holds(&decoding->input, &field->least, row);
}

static bool lacks_optional(const struct decoding *decoding, const struct pmu_hwrec_field *field,
			   unsigned row)
{
	for (size_t i = 0; i < field->part_count; i++)
		if (!record_given(&decoding->input, &field->parts[row * field->part_count + i]))
			return true;
	return false;
}

/* @return false where the field is not there */
static bool evaluate(const struct decoding *decoding, unsigned row, unsigned age,
		     struct pmu_hwrec_value *value)
{
	const struct pmu_hwrec_field *field = value->field;
	const struct pmu_hwrec_ring *ring = &decoding->record->ring;

	if (lacks_optional(decoding, field, row) ||
	    !record_holds(&decoding->input, &field->when, row))
		return false;
	switch (field->of) {
	case PMU_HWREC_OF_YOUNGER:
		if (age == 0 || ring->kinds[kind_of_entry(decoding, age - 1)].empty)
			return false;
		add_row(decoding, row_of(decoding, age - 1), value);
		break;
	case PMU_HWREC_OF_ALL_YOUNGER:
		for (unsigned younger = 0; younger < age; younger++)
			add_row(decoding, row_of(decoding, younger), value);
		break;
	default:
		add_row(decoding, row, value);
		break;
	}
	return true;
}

static const struct pmu_mnemonic *meaning_of(const struct pmu_hwrec_value *value)
{
	for (size_t i = 0; i < value->field->mnemonic_count; i++)
		if (value->field->mnemonics[i].value == value->value)
			return &value->field->mnemonics[i];
	return NULL;
}

static void tell_fields(const struct decoding *decoding, const struct pmu_hwrec_field *fields,
			size_t count, unsigned kind, unsigned row, unsigned age)
{
	for (size_t i = 0; i < count; i++) {
		struct pmu_hwrec_value value = {.field = &fields[i]};

		if (!(fields[i].kinds >> kind & 1) || !evaluate(decoding, row, age, &value))
			continue;
		value.meaning = meaning_of(&value);
		if (decoding->visitor.value)
			decoding->visitor.value(decoding->arg, &value);
	}
}

static void tell_entries(const struct decoding *decoding)
{
	const struct pmu_hwrec_ring *ring = &decoding->record->ring;

	for (unsigned age = 0; age < decoding->entries; age++) {
		unsigned row = row_of(decoding, age), kind = kind_of_entry(decoding, age);

		if (decoding->visitor.entry)
			decoding->visitor.entry(decoding->arg, row, &ring->kinds[kind]);
		tell_fields(decoding, ring->fields, ring->field_count, kind, row, age);
	}
}

static void tell_notes(const struct decoding *decoding)
{
	const struct pmu_hwrec *record = decoding->record;

	for (size_t i = 0; i < record->note_count; i++) {
		const struct pmu_hwrec_note *note = &record->notes[i];

		if (decoding->visitor.note && note->kinds >> decoding->kind & 1 &&
		    record_known(&decoding->input, &note->when, 0) &&
		    record_holds(&decoding->input, &note->when, 0))
			decoding->visitor.note(decoding->arg, note->desc);
	}
}

static bool is_captured(const struct decoding *decoding)
{
	const struct pmu_hwrec *record = decoding->record;

	if (record->kind_count &&
	    !record_holds(&decoding->input, &record->kinds[decoding->kind].captured, 0))
		return false;
	return record->ring.count == 0 || decoding->entries > 0;
}

static void tell(const struct decoding *decoding)
{
	const struct pmu_hwrec *record = decoding->record;
	bool captured = is_captured(decoding);

	if (decoding->visitor.record)
		decoding->visitor.record(decoding->arg,
					 record->kind_count ? &record->kinds[decoding->kind] : NULL,
					 captured);
	if (captured) {
		tell_fields(decoding, record->fields, record->field_count, decoding->kind, 0, 0);
		tell_entries(decoding);
	}
	tell_notes(decoding);
}

static int decode(struct decoding *decoding, const char *kind)
{
	const struct pmu_hwrec_condition *broken =
	    record_broken(&decoding->input, &decoding->record->when);
	int error;

	if (broken)
		return refuse_value(decoding, broken, decoding->record->name);
	error = kind ? choose_named_kind(decoding, kind) : choose_kind(decoding);
	if (error)
		return error;
	look_at_ring(decoding);
	error = check_missing(decoding);
	if (error)
		return error;
	tell(decoding);
	return 0;
}

int pmu_hwrec_decode(struct pmu_ctx *ctx, const struct pmu_hwrec *record, const char *kind,
		     const struct pmu_register_value *values, size_t count,
		     const struct pmu_hwrec_visitor *visitor, void *arg)
{
	struct decoding decoding = {
	    .ctx = ctx,
	    .record = record,
	    .input = {.values = values, .count = count},
	    .arg = arg,
	};
	int error;

	if (record->size)
		return error_set(ctx, PMU_E_UNSUPPORTED, "%s is in memory, not in registers",
				 record->name);
	error = option_take(ctx, &decoding.visitor, sizeof(decoding.visitor), visitor);
	return error ? error : decode(&decoding, kind);
}

int pmu_hwrec_decode_bytes(struct pmu_ctx *ctx, const struct pmu_hwrec *record, const void *bytes,
			   const struct pmu_hwrec_visitor *visitor, void *arg)
{
	struct decoding decoding = {
	    .ctx = ctx,
	    .record = record,
	    .input = {.bytes = bytes},
	    .arg = arg,
	};
	int error;

	if (!record->size)
		return error_set(ctx, PMU_E_UNSUPPORTED, "%s is in registers, not in memory",
				 record->name);
	error = option_take(ctx, &decoding.visitor, sizeof(decoding.visitor), visitor);
	return error ? error : decode(&decoding, NULL);
}

const struct pmu_hwrec *pmu_find_hwrec(const struct pmu_box *box, const char *name)
{
	for (size_t i = 0; i < box->record_count; i++)
		if (name_equal(box->records[i].name, name))
			return &box->records[i];
	return NULL;
}

static bool is_captured_in(void *arg, const struct pmu_hwrec_part *part)
{
	return part->reg && !part->optional && record_given(arg, part);
}

bool pmu_hwrec_in_dump(const struct pmu_hwrec *record, const struct pmu_register_value *values,
		       size_t count)
{
	struct record_input input = {.values = values, .count = count};

	return !record->size && record_holds(&input, &record->when, 0) &&
	       record_each_field_part(record, is_captured_in, &input);
}

bool pmu_hwrec_is_enabled(const struct pmu_hwrec *record, const struct pmu_register_value *values,
			  size_t count)
{
	struct record_input input = {.values = values, .count = count};

	return !record->size && record_holds(&input, &record->when, 0) &&
	       record_holds(&input, &record->enabled, 0);
}

struct register_search {
	const struct pmu_register *wanted, *found;
};

static bool is_wanted(void *arg, const struct pmu_hwrec_part *part)
{
	struct register_search *search = arg;

	if (!part->reg || !record_same_register(part->reg, search->wanted))
		return false;
	search->found = part->reg;
	return true;
}

const struct pmu_register *pmu_hwrec_register(const struct pmu_hwrec *record,
					      const struct pmu_register *reg)
{
	struct register_search search = {.wanted = reg};

	record_each_part(record, is_wanted, &search);
	return search.found;
}
