#include "cli/decode_tell.h"

#include <jansson.h>
#include <string.h>

#define TEXT_MAX    4096 /* the names of all fields of a register */
#define COLUMNS_MAX 16	 /* fields of an entry, by name */
#define CELL_MAX    48

struct telling {
	const struct cli *cli;
	const struct record_source *source;
	json_t *record, *fields;  /* JSON: the record, and where the next field goes */
	struct table *table;	  /* the one that is being filled */
	const char *entry, *kind; /* CSV: of the next field */
	const char *columns[COLUMNS_MAX];
	char cells[COLUMNS_MAX][CELL_MAX]; /* of the entry */
	size_t column_count;
	bool in_entry;
	unsigned entries;
};

static int decode(const struct telling *telling, const struct pmu_hwrec_visitor *visitor)
{
	const struct record_source *source = telling->source;

	if (source->bytes)
		return pmu_hwrec_decode_bytes(telling->cli->ctx, source->record, source->bytes,
					      visitor, (void *)telling);
	return pmu_hwrec_decode(telling->cli->ctx, source->record, source->kind, source->values,
				source->count, visitor, (void *)telling);
}

/* The names of the fields that are set, where a value is a register of flags. */
static void write_flags(const struct pmu_hwrec_value *value, char text[TEXT_MAX])
{
	const struct pmu_register *reg = pmu_hwrec_field_register(value->field);
	size_t used = 0;

	for (size_t i = 0; i < pmu_register_fields(reg) && used < TEXT_MAX; i++) {
		const struct pmu_field *field = pmu_register_field(reg, i);

		if (value->value & pmu_mask(pmu_field_high(field), pmu_field_low(field)) &&
		    pmu_field_access(field) != PMU_ACCESS_RV &&
		    pmu_field_access(field) != PMU_ACCESS_IG)
			used += (size_t)snprintf(text + used, TEXT_MAX - used, "%s%s",
						 used ? "+" : "", pmu_field_name(field));
	}
}

/* The name of a value; "" for none. */
static void write_meaning(const struct pmu_hwrec_value *value, char text[TEXT_MAX])
{
	*text = '\0';
	if (value->meaning)
		snprintf(text, TEXT_MAX, "%s", pmu_mnemonic_name(value->meaning));
	else if (pmu_hwrec_field_register(value->field))
		write_flags(value, text);
}

static bool is_documented(const struct pmu_hwrec_value *value)
{
	return value->meaning || !pmu_hwrec_field_is_listed(value->field);
}

/* What is valid where a value is not. */
static void write_valid(const struct pmu_hwrec_field *field, char text[TEXT_MAX])
{
	size_t used = (size_t)snprintf(text, TEXT_MAX, "not documented; documented:");

	for (size_t i = 0; i < pmu_hwrec_field_mnemonics(field) && used < TEXT_MAX; i++)
		used += (size_t)snprintf(
		    text + used, TEXT_MAX - used, "%s %llu %s", i ? "," : "",
		    (unsigned long long)pmu_mnemonic_value(pmu_hwrec_field_mnemonic(field, i)),
		    pmu_mnemonic_name(pmu_hwrec_field_mnemonic(field, i)));
}

static void write_value(const struct pmu_hwrec_value *value, char *text, size_t size)
{
	switch (pmu_hwrec_field_type(value->field)) {
	case PMU_HWREC_FLAG:
		snprintf(text, size, "%s", value->value ? "yes" : "no");
		break;
	case PMU_HWREC_ADDRESS:
	case PMU_HWREC_WORD:
		snprintf(text, size, "0x%llX", (unsigned long long)value->value);
		break;
	default:
		snprintf(text, size, "%s%llu", value->least ? ">=" : "",
			 (unsigned long long)value->value);
		break;
	}
}

/* JSON */

static json_t *value_json(const struct pmu_hwrec_value *value)
{
	char text[TEXT_MAX];

	switch (pmu_hwrec_field_type(value->field)) {
	case PMU_HWREC_FLAG:
		return json_boolean(value->value);
	case PMU_HWREC_NUMBER:
		return cli_json_number(value->value);
	default:
		break;
	}
	snprintf(text, sizeof(text), "0x%llX", (unsigned long long)value->value);
	return json_string(text);
}

static void field_json(void *arg, const struct pmu_hwrec_value *value)
{
	struct telling *telling = arg;
	char meaning[TEXT_MAX];

	write_meaning(value, meaning);
	json_array_append_new(
	    telling->fields,
	    json_pack("{s:s, s:o, s:s, s:s?, s:b, s:b}", "name", pmu_hwrec_field_name(value->field),
		      "value", value_json(value), "unit", pmu_hwrec_field_unit(value->field),
		      "meaning", *meaning ? meaning : NULL, "least", value->least, "documented",
		      is_documented(value)));
}

static void record_json(void *arg, const struct pmu_hwrec_kind *kind, bool captured)
{
	struct telling *telling = arg;
	const struct record_source *source = telling->source;

	telling->fields = json_array();
	telling->record =
	    json_pack("{s:s, s:s, s:i, s:s, s:s?, s:b, s:o, s:[], s:[]}", "pmu",
		      pmu_box_pmu_name(source->box), "box", pmu_box_name(source->box), "instance",
		      (int)source->instance, "record", pmu_hwrec_name(source->record), "kind",
		      kind ? pmu_hwrec_kind_name(kind) : NULL, "captured", captured, "fields",
		      telling->fields, "entries", "notes");
	if (source->bytes)
		json_object_set_new(telling->record, "offset", cli_json_number(source->offset));
}

static void entry_json(void *arg, unsigned row, const struct pmu_hwrec_kind *kind)
{
	struct telling *telling = arg;

	telling->fields = json_array();
	json_array_append_new(json_object_get(telling->record, "entries"),
			      json_pack("{s:s, s:s, s:o}", "entry",
					pmu_hwrec_entry_name(telling->source->record, row), "kind",
					pmu_hwrec_kind_name(kind), "fields", telling->fields));
}

static void note_json(void *arg, const char *text)
{
	struct telling *telling = arg;

	json_array_append_new(json_object_get(telling->record, "notes"), json_string(text));
}

int tell_json(const struct cli *cli, const struct record_source *source, json_t **json)
{
	static const struct pmu_hwrec_visitor visitor = {.size = sizeof(visitor),
							 .record = record_json,
							 .entry = entry_json,
							 .value = field_json,
							 .note = note_json};
	struct telling telling = {.cli = cli, .source = source};
	int error = decode(&telling, &visitor);

	*json = telling.record;
	return error;
}

/* For people: fields of the record one below the other, entries of a ring one a line. */

static void start_fields(struct telling *telling)
{
	telling->table = table_new("lrl");
	if (!telling->table)
		return;
	for (int i = 0; i < 3; i++)
		table_cell(telling->table, "%s",
			   (const char *const[]){"FIELD", "VALUE", "MEANING"}[i]);
}

static void start_entries(struct telling *telling)
{
	const struct pmu_hwrec *record = telling->source->record;
	const struct pmu_hwrec_field *field;
	char columns[COLUMNS_MAX + 4] = "rll";

	telling->column_count = 0;
	for (size_t i = 0; (field = pmu_hwrec_entry_field(record, i)); i++) {
		const char *name = pmu_hwrec_field_name(field);
		size_t column = 0;

		while (column < telling->column_count && strcmp(telling->columns[column], name))
			column++;
		if (column == telling->column_count && column < COLUMNS_MAX)
			telling->columns[telling->column_count++] = name;
	}
	memset(columns + 3, 'r', telling->column_count);
	telling->table = table_new(columns);
	if (!telling->table)
		return;
	table_cell(telling->table, "AGE");
	table_cell(telling->table, "ENTRY");
	table_cell(telling->table, "KIND");
	for (size_t i = 0; i < telling->column_count; i++)
		table_cell(telling->table, "%s", telling->columns[i]);
}

static void print_table(struct telling *telling)
{
	if (telling->table)
		cli_print_table(telling->cli, telling->table);
	telling->table = NULL;
}

static void record_text(void *arg, const struct pmu_hwrec_kind *kind, bool captured)
{
	struct telling *telling = arg;
	const struct record_source *source = telling->source;
	FILE *out = telling->cli->out;

	fprintf(out, "%s/%s", pmu_box_pmu_name(source->box), pmu_box_name(source->box));
	if (pmu_box_instances(source->box) > 1)
		fprintf(out, "%u", source->instance);
	fprintf(out, ".%s", pmu_hwrec_name(source->record));
	if (source->bytes)
		fprintf(out, " at offset 0x%llX", (unsigned long long)source->offset);
	fprintf(out, ": %s", pmu_hwrec_title(source->record));
	if (kind)
		fprintf(out, "; %s: %s", pmu_hwrec_kind_name(kind), pmu_hwrec_kind_desc(kind));
	fputc('\n', out);
	if (!captured)
		fputs("nothing was captured\n", out);
	else if (pmu_hwrec_fields(source->record))
		start_fields(telling);
}

static void finish_entry(struct telling *telling)
{
	for (size_t i = 0; telling->in_entry && telling->table && i < telling->column_count; i++)
		table_cell(telling->table, "%s", telling->cells[i]);
	telling->in_entry = false;
}

static void entry_text(void *arg, unsigned row, const struct pmu_hwrec_kind *kind)
{
	struct telling *telling = arg;

	if (telling->entries == 0) {
		print_table(telling);
		start_entries(telling);
	}
	finish_entry(telling);
	if (!telling->table)
		return;
	table_cell(telling->table, "%u", telling->entries++);
	table_cell(telling->table, "%s", pmu_hwrec_entry_name(telling->source->record, row));
	table_cell(telling->table, "%s", pmu_hwrec_kind_name(kind));
	for (size_t i = 0; i < telling->column_count; i++)
		strcpy(telling->cells[i], "-");
	telling->in_entry = true;
}

static void fill_cell(struct telling *telling, const struct pmu_hwrec_value *value)
{
	for (size_t i = 0; i < telling->column_count; i++) {
		if (strcmp(telling->columns[i], pmu_hwrec_field_name(value->field)))
			continue;
		if (value->meaning)
			snprintf(telling->cells[i], CELL_MAX, "%s",
				 pmu_mnemonic_name(value->meaning));
		else
			write_value(value, telling->cells[i], CELL_MAX);
	}
}

static void field_text(void *arg, const struct pmu_hwrec_value *value)
{
	struct telling *telling = arg;
	const struct pmu_hwrec_field *field = value->field;
	char text[TEXT_MAX], meaning[TEXT_MAX];
	const char *desc =
	    value->meaning ? pmu_mnemonic_desc(value->meaning) : pmu_hwrec_field_desc(field);

	if (telling->in_entry) {
		fill_cell(telling, value);
		return;
	}
	if (!telling->table)
		return;
	write_value(value, text, sizeof(text));
	if (is_documented(value))
		write_meaning(value, meaning);
	else
		write_valid(field, meaning);
	table_cell(telling->table, "%s", pmu_hwrec_field_name(field));
	table_cell(telling->table, "%s%s%s", text, *pmu_hwrec_field_unit(field) ? " " : "",
		   pmu_hwrec_field_unit(field));
	table_cell(telling->table, "%s%s%s", meaning, *meaning && *desc ? ": " : "", desc);
}

static void note_text(void *arg, const char *text)
{
	struct telling *telling = arg;

	finish_entry(telling);
	print_table(telling);
	fprintf(telling->cli->out, "note: %s\n", text);
}

int tell_table(const struct cli *cli, const struct record_source *source)
{
	static const struct pmu_hwrec_visitor visitor = {.size = sizeof(visitor),
							 .record = record_text,
							 .entry = entry_text,
							 .value = field_text,
							 .note = note_text};
	struct telling telling = {.cli = cli, .source = source};
	int error = decode(&telling, &visitor);

	finish_entry(&telling);
	print_table(&telling);
	return error;
}

/* CSV: a row a field */

static void record_csv(void *arg, const struct pmu_hwrec_kind *kind, bool captured)
{
	struct telling *telling = arg;

	telling->entry = "";
	telling->kind = !captured ? "nothing" : kind ? pmu_hwrec_kind_name(kind) : "";
}

static void entry_csv(void *arg, unsigned row, const struct pmu_hwrec_kind *kind)
{
	struct telling *telling = arg;

	telling->entry = pmu_hwrec_entry_name(telling->source->record, row);
	telling->kind = pmu_hwrec_kind_name(kind);
}

static void field_csv(void *arg, const struct pmu_hwrec_value *value)
{
	struct telling *telling = arg;
	const struct record_source *source = telling->source;
	char text[TEXT_MAX], meaning[TEXT_MAX];

	write_value(value, text, sizeof(text));
	write_meaning(value, meaning);
	table_cell(telling->table, "%s", pmu_box_pmu_name(source->box));
	table_cell(telling->table, "%s%u", pmu_box_name(source->box), source->instance);
	table_cell(telling->table, "%s", pmu_hwrec_name(source->record));
	if (source->bytes)
		table_cell(telling->table, "%llu", (unsigned long long)source->offset);
	else
		table_cell(telling->table, "%s", telling->entry);
	table_cell(telling->table, "%s", telling->kind);
	table_cell(telling->table, "%s", pmu_hwrec_field_name(value->field));
	table_cell(telling->table, "%s", text);
	table_cell(telling->table, "%s", meaning);
}

int tell_csv(const struct cli *cli, const struct record_source *source, struct table *table)
{
	static const struct pmu_hwrec_visitor visitor = {
	    .size = sizeof(visitor), .record = record_csv, .entry = entry_csv, .value = field_csv};
	struct telling telling = {.cli = cli, .source = source, .table = table};

	return decode(&telling, &visitor);
}
