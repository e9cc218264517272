#include <jansson.h>
#include <stdlib.h>

#include "cli/decode.h"
#include "cli/decode_tell.h"
#include "pmulab/event.h"

struct table *decode_csv_new(void)
{
	static const char *const headings[] = {"PMU",  "BOX",	"NAME",	 "ENTRY",
					       "KIND", "FIELD", "VALUE", "MEANING"};
	struct table *table = table_new(DECODE_CSV_COLUMNS);

	for (size_t i = 0; table && i < sizeof(headings) / sizeof(headings[0]); i++)
		table_cell(table, "%s", headings[i]);
	return table;
}

/* Registers */

/* Where fields are reported, and of which register. */
struct field_rows {
	struct table *table;
	json_t *json;
	const struct pmu_register_value *value;
};

static void name_of(const struct field_rows *rows, const struct pmu_field *field, uint64_t value,
		    char name[PMU_EVENT_TEXT_MAX])
{
	pmu_field_value_name(rows->value->box, rows->value->reg, field, value, name,
			     PMU_EVENT_TEXT_MAX);
}

static void field_row(void *arg, const struct pmu_field *field, uint64_t value)
{
	struct field_rows *rows = arg;
	char name[PMU_EVENT_TEXT_MAX];

	name_of(rows, field, value, name);
	table_cell(rows->table, "%u:%u", pmu_field_high(field), pmu_field_low(field));
	table_cell(rows->table, "%s", pmu_field_name(field));
	table_cell(rows->table, "0x%llX", (unsigned long long)value);
	table_cell(rows->table, "%s", cli_access_name(pmu_field_access(field)));
	table_cell(rows->table, "%s%s%s", name, *name ? ": " : "", pmu_field_desc(field));
}

/* As a number, and as text for readers whose numbers have fewer bits. */
static void add_value(json_t *json, uint64_t value)
{
	char text[20];

	snprintf(text, sizeof(text), "0x%llX", (unsigned long long)value);
	json_object_set_new(json, "value", cli_json_number(value));
	json_object_set_new(json, "hex", json_string(text));
}

static void field_json(void *arg, const struct pmu_field *field, uint64_t value)
{
	struct field_rows *rows = arg;
	char name[PMU_EVENT_TEXT_MAX];
	json_t *json;

	name_of(rows, field, value, name);
	json = json_pack("{s:s, s:i, s:i, s:s?}", "name", pmu_field_name(field), "hi",
			 pmu_field_high(field), "lo", pmu_field_low(field), "meaning",
			 *name ? name : NULL);
	add_value(json, value);
	json_array_append_new(rows->json, json);
}

/* What a counter counts by a register of a dump, or why nothing can be said of it. */
typedef void counted_function(void *arg, unsigned counter, const char *event, const char *problem);

static void tell_fixed(const struct cli *cli, const struct pmu_register_value *value,
		       unsigned counter, counted_function *counted, void *arg)
{
	struct pmu_selection selection;
	char event[PMU_EVENT_TEXT_MAX];

	if (pmu_fixed_decode(cli->ctx, value->box, counter, value->value, &selection)) {
		counted(arg, counter, "", pmu_message(cli->ctx));
		return;
	}
	pmu_event_print(&selection, event, sizeof(event));
	counted(arg, counter, event, "");
}

static void tell_counter(const struct cli *cli, const struct dump *dump,
			 const struct pmu_register_value *value, unsigned counter,
			 counted_function *counted, void *arg)
{
	struct pmu_selection selection;
	char event[PMU_EVENT_TEXT_MAX];

	if (pmu_event_decode_dump(cli->ctx, value->box, value->instance, counter, dump->values,
				  dump->count, &selection)) {
		counted(arg, counter, "", pmu_message(cli->ctx));
		return;
	}
	pmu_event_print(&selection, event, sizeof(event));
	counted(arg, counter, event, "");
}

/* A control is for one counter; a register that selects or controls all is for each of them. */
static void each_counter(const struct cli *cli, const struct dump *dump,
			 const struct pmu_register_value *value, counted_function *counted,
			 void *arg)
{
	if (pmu_register_role(value->reg) == PMU_ROLE_COUNTER_CTL)
		tell_counter(cli, dump, value, pmu_register_index(value->reg), counted, arg);
	if (pmu_register_role(value->reg) == PMU_ROLE_SELECT && !pmu_box_event_select(value->box))
		for (unsigned counter = 0; counter < pmu_box_counters(value->box); counter++)
			tell_counter(cli, dump, value, counter, counted, arg);
	if (pmu_register_role(value->reg) == PMU_ROLE_FIXED_CTL)
		for (unsigned counter = 0; counter < pmu_box_fixed_counters(value->box); counter++)
			tell_fixed(cli, value, counter, counted, arg);
}

/* Whether a register controls one counter and no other. */
static bool is_of_one_counter(const struct pmu_register_value *value)
{
	return pmu_register_role(value->reg) == PMU_ROLE_COUNTER_CTL ||
	       (pmu_register_role(value->reg) == PMU_ROLE_FIXED_CTL &&
		pmu_box_fixed_counters(value->box) == 1);
}

static void counter_json(void *arg, unsigned counter, const char *event, const char *problem)
{
	json_array_append_new(arg, json_pack("{s:i, s:s, s:s?}", "counter", counter, "event", event,
					     "problem", *problem ? problem : NULL));
}

/* Of a control that is for one counter; "" for other registers. */
static json_t *event_json(const struct pmu_register_value *value, const json_t *counters)
{
	json_t *event = NULL;

	if (is_of_one_counter(value))
		event = json_object_get(json_array_get(counters, 0), "event");
	return event ? json_incref(event) : json_string("");
}

static json_t *register_json(const struct cli *cli, const struct dump *dump,
			     const struct pmu_register_value *value)
{
	struct field_rows rows = {.json = json_array(), .value = value};
	json_t *counters = json_array(), *json;

	each_counter(cli, dump, value, counter_json, counters);
	pmu_register_decode(value->reg, value->value, field_json, &rows);
	json = json_pack("{s:s, s:s, s:i, s:s, s:s, s:o, s:o, s:o}", "pmu",
			 pmu_box_pmu_name(value->box), "box", pmu_box_name(value->box), "instance",
			 (int)value->instance, "register", pmu_register_pattern(value->reg), "name",
			 pmu_register_name(value->reg, value->instance), "event",
			 event_json(value, counters), "counters", counters, "fields", rows.json);
	add_value(json, value->value);
	return json;
}

/* Where counters are reported for people, and of which register. */
struct counter_lines {
	const struct cli *cli;
	const struct pmu_register_value *value;
};

static void counter_line(void *arg, unsigned counter, const char *event, const char *problem)
{
	const struct counter_lines *lines = arg;
	FILE *out = lines->cli->out;
	const bool fixed = pmu_register_role(lines->value->reg) == PMU_ROLE_FIXED_CTL;

	if (is_of_one_counter(lines->value))
		fprintf(out, "  %s%s\n", event, problem);
	else if (*problem)
		fprintf(out, "%s\n", problem);
	else
		fprintf(out, "%scounter %u: %s\n", fixed ? "fixed " : "", counter, event);
}

static void print_heading(const struct cli *cli, const struct dump *dump,
			  const struct pmu_register_value *value)
{
	struct counter_lines lines = {cli, value};
	char instance[16] = "";

	if (value->instance)
		snprintf(instance, sizeof(instance), "%u", value->instance);
	fprintf(cli->out, "%s/%s%s.%s = 0x%llX", pmu_box_pmu_name(value->box),
		pmu_box_name(value->box), instance, pmu_register_name(value->reg, value->instance),
		(unsigned long long)value->value);
	if (!is_of_one_counter(value))
		fputc('\n', cli->out);
	each_counter(cli, dump, value, counter_line, &lines);
}

static int register_table(const struct cli *cli, const struct dump *dump,
			  const struct pmu_register_value *value)
{
	struct table *table = table_new("rlrll");
	struct field_rows rows = {.table = table, .value = value};

	if (!table)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	for (int i = 0; i < 5; i++)
		table_cell(table, "%s",
			   (const char *const[]){"BITS", "FIELD", "VALUE", "ACCESS", "MEANING"}[i]);
	pmu_register_decode(value->reg, value->value, field_row, &rows);
	if (cli->format == CLI_TABLE)
		print_heading(cli, dump, value);
	return cli_print_table(cli, table);
}

int decode_register(const struct cli *cli, const struct dump *dump)
{
	if (cli->format == CLI_JSON)
		return cli_print_json(cli, register_json(cli, dump, &dump->values[0]));
	return register_table(cli, dump, &dump->values[0]);
}

static void field_csv(void *arg, const struct pmu_field *field, uint64_t value)
{
	struct field_rows *row = arg;
	char name[PMU_EVENT_TEXT_MAX];

	name_of(row, field, value, name);
	table_cell(row->table, "%s", pmu_box_pmu_name(row->value->box));
	table_cell(row->table, "%s%u", pmu_box_name(row->value->box), row->value->instance);
	table_cell(row->table, "%s", pmu_register_name(row->value->reg, row->value->instance));
	table_cell(row->table, "%s", "");
	table_cell(row->table, "%s", "");
	table_cell(row->table, "%s", pmu_field_name(field));
	table_cell(row->table, "0x%llX", (unsigned long long)value);
	table_cell(row->table, "%s", name);
}

/* Records among registers */

typedef void source_function(void *arg, const struct record_source *source);

static void each_record_of_instance(const struct dump *dump, struct record_source source,
				    struct pmu_register_value *values, source_function *found,
				    void *arg)
{
	source.values = values;
	for (size_t i = 0; i < dump->count; i++)
		if (dump->values[i].box == source.box &&
		    dump->values[i].instance == source.instance)
			values[source.count++] = dump->values[i];
	for (size_t i = 0; i < pmu_box_hwrecs(source.box); i++) {
		source.record = pmu_box_hwrec(source.box, i);
		if (pmu_hwrec_in_dump(source.record, source.values, source.count))
			found(arg, &source);
	}
}

/* @param values  room for those of the dump */
static void each_record(const struct dump *dump, struct pmu_register_value *values,
			source_function *found, void *arg)
{
	const struct pmu_pmu *pmu;

	for (size_t i = 0; (pmu = pmu_pmu_at(i)); i++) {
		struct record_source source = {0};

		for (size_t j = 0; (source.box = pmu_pmu_box(pmu, j)); j++)
			for (source.instance = 0; source.instance < pmu_box_instances(source.box);
			     source.instance++)
				each_record_of_instance(dump, source, values, found, arg);
	}
}

/* What is reported, and how. */
struct report {
	const struct cli *cli;
	struct pmu_register_value *values; /* of the dump, as the records understand them */
	size_t count;
	json_t *json;
	struct table *table;
};

static void take_layout(void *arg, const struct record_source *source)
{
	struct report *report = arg;

	for (size_t i = 0; i < report->count; i++) {
		struct pmu_register_value *value = &report->values[i];
		const struct pmu_register *reg;

		if (value->box != source->box || value->instance != source->instance)
			continue;
		reg = pmu_hwrec_register(source->record, value->reg);
		if (reg)
			value->reg = reg;
	}
}

static void record_json(void *arg, const struct record_source *source)
{
	struct report *report = arg;
	json_t *json;

	if (tell_json(report->cli, source, &json))
		json = json_pack("{s:s, s:s, s:i, s:s, s:s}", "pmu", pmu_box_pmu_name(source->box),
				 "box", pmu_box_name(source->box), "instance",
				 (int)source->instance, "record", pmu_hwrec_name(source->record),
				 "error", pmu_message(report->cli->ctx));
	json_array_append_new(report->json, json);
}

static void record_table(void *arg, const struct record_source *source)
{
	struct report *report = arg;

	fputc('\n', report->cli->out);
	if (tell_table(report->cli, source))
		fprintf(report->cli->out, "%s/%s.%s: %s\n", pmu_box_pmu_name(source->box),
			pmu_box_name(source->box), pmu_hwrec_name(source->record),
			pmu_message(report->cli->ctx));
}

static void record_csv(void *arg, const struct record_source *source)
{
	struct report *report = arg;

	/* What lacks registers has no rows. */
	(void)tell_csv(report->cli, source, report->table);
}

static int report_json(struct report *report, const struct dump *dump,
		       struct pmu_register_value *room)
{
	json_t *registers = json_array();

	report->json = json_array();
	for (size_t i = 0; i < report->count; i++)
		json_array_append_new(registers,
				      register_json(report->cli, dump, &report->values[i]));
	each_record(dump, room, record_json, report);
	return cli_print_json(
	    report->cli, json_pack("{s:o, s:o}", "registers", registers, "records", report->json));
}

static int report_csv(struct report *report, const struct dump *dump,
		      struct pmu_register_value *room)
{
	report->table = decode_csv_new();
	if (!report->table)
		return cli_error(report->cli, EXIT_FAILED, "out of memory");
	for (size_t i = 0; i < report->count; i++) {
		struct field_rows row = {.table = report->table, .value = &report->values[i]};

		pmu_register_decode(row.value->reg, row.value->value, field_csv, &row);
	}
	each_record(dump, room, record_csv, report);
	return cli_print_table(report->cli, report->table);
}

static int report_table(struct report *report, const struct dump *dump,
			struct pmu_register_value *room)
{
	int code = EXIT_DONE;

	for (size_t i = 0; i < report->count && code == EXIT_DONE; i++) {
		if (i)
			fputc('\n', report->cli->out);
		code = register_table(report->cli, dump, &report->values[i]);
	}
	each_record(dump, room, record_table, report);
	return code;
}

int decode_registers(const struct cli *cli, const struct dump *dump)
{
	struct pmu_register_value *room = calloc(2 * dump->count + 1, sizeof(*room));
	struct report report = {.cli = cli, .count = dump->count};
	int code;

	if (!room)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	report.values = room + dump->count;
	for (size_t i = 0; i < dump->count; i++)
		report.values[i] = dump->values[i];
	each_record(dump, room, take_layout, &report);
	if (cli->format == CLI_JSON)
		code = report_json(&report, dump, room);
	else if (cli->format == CLI_CSV)
		code = report_csv(&report, dump, room);
	else
		code = report_table(&report, dump, room);
	free(room);
	return code;
}
