#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/decode.h"
#include "cli/decode_tell.h"

#define WORD_BYTES 8

/* Records that are printed one after the other, as they come: there may be many. */
struct output {
	const struct cli *cli;
	unsigned long long count;
};

static int add_json(const struct output *output, const struct record_source *source)
{
	json_t *json;
	char *text;
	int error = tell_json(output->cli, source, &json);

	if (error)
		return cli_fail(output->cli, error);
	text = json ? json_dumps(json, JSON_INDENT(1)) : NULL;
	json_decref(json);
	if (!text)
		return cli_error(output->cli, EXIT_FAILED, "out of memory");
	fputs(output->count ? ",\n" : "[\n", output->cli->out);
	fputs(text, output->cli->out);
	free(text);
	return 0;
}

static int add_csv(const struct output *output, const struct record_source *source)
{
	struct table *table = output->count ? table_new(DECODE_CSV_COLUMNS) : decode_csv_new();
	int error;

	if (!table)
		return cli_error(output->cli, EXIT_FAILED, "out of memory");
	error = tell_csv(output->cli, source, table);
	if (error) {
		table_free(table);
		return cli_fail(output->cli, error);
	}
	return cli_print_table(output->cli, table);
}

static int add_table(const struct output *output, const struct record_source *source)
{
	int error;

	if (output->count)
		fputc('\n', output->cli->out);
	error = tell_table(output->cli, source);
	return error ? cli_fail(output->cli, error) : 0;
}

/* @return 0 or an exit code */
static int output_add(struct output *output, const struct record_source *source)
{
	int code;

	switch (output->cli->format) {
	case CLI_JSON:
		code = add_json(output, source);
		break;
	case CLI_CSV:
		code = add_csv(output, source);
		break;
	default:
		code = add_table(output, source);
		break;
	}
	output->count++;
	return code;
}

static void output_end(const struct output *output)
{
	if (output->cli->format == CLI_JSON)
		fputs(output->count ? "\n]\n" : "[]\n", output->cli->out);
}

/* Records in registers */

static int check_registers(const struct cli *cli, const struct record_source *source)
{
	for (size_t i = 0; i < source->count; i++) {
		const struct pmu_register_value *value = &source->values[i];

		if (value->box != source->box || !pmu_hwrec_register(source->record, value->reg))
			return cli_error(
			    cli, EXIT_USAGE, "%s is not part of %s; see pmulab show %s",
			    pmu_register_pattern(value->reg), pmu_hwrec_name(source->record),
			    pmu_hwrec_name(source->record));
		if (value->instance != source->instance)
			return cli_error(
			    cli, EXIT_USAGE, "one record is of one %s, not of %u and %u",
			    pmu_box_name(source->box), source->instance, value->instance);
	}
	return 0;
}

static int print_one(const struct cli *cli, const struct record_source *source)
{
	struct output output = {.cli = cli};
	json_t *json;
	int error;

	if (cli->format != CLI_JSON)
		return output_add(&output, source);
	error = tell_json(cli, source, &json);
	return error ? cli_fail(cli, error) : cli_print_json(cli, json);
}

static int decode_in_registers(const struct cli *cli, struct record_source *source,
			       const struct pmu_pmu *pmu, int count, char **arguments)
{
	struct dump dump = {.pmu = pmu};
	int code = 0;

	for (int i = 0; i < count && !code; i++)
		code = dump_add(cli, &dump, arguments[i], "");
	source->values = dump.values;
	source->count = dump.count;
	source->instance = dump.count ? dump.values[0].instance : 0;
	if (!code)
		code = check_registers(cli, source);
	if (!code)
		code = print_one(cli, source);
	dump_fini(&dump);
	return code;
}

/* Records in memory */

static int truncated(const struct cli *cli, const struct record_source *source, const char *where,
		     size_t has)
{
	return cli_error(cli, EXIT_FAILED,
			 "%s: the last record, at offset 0x%llX, has %zu bytes of the %zu of a %s",
			 where, (unsigned long long)source->offset, has,
			 pmu_hwrec_size(source->record), pmu_hwrec_name(source->record));
}

/* @return 0 or an exit code, also where the end of a record is missing */
static int decode_stream(struct output *output, struct record_source *source, FILE *file,
			 const char *where)
{
	size_t size = pmu_hwrec_size(source->record), has;
	unsigned char *bytes = malloc(size);
	int code = 0;

	if (!bytes)
		return cli_error(output->cli, EXIT_FAILED, "out of memory");
	source->bytes = bytes;
	while (!code && (has = fread(bytes, 1, size, file)) > 0) {
		code = has < size ? truncated(output->cli, source, where, has)
				  : output_add(output, source);
		source->offset += size;
	}
	if (!code && ferror(file))
		code = cli_error(output->cli, EXIT_FAILED, "cannot read %s: %s", where,
				 strerror(errno));
	free(bytes);
	return code;
}

static int decode_file(struct output *output, struct record_source *source, const char *path)
{
	FILE *file;
	int code;

	if (!strcmp(path, "-"))
		return decode_stream(output, source, stdin, "standard input");
	file = fopen(path, "rbe");
	if (!file)
		return cli_error(output->cli, EXIT_FAILED, "cannot open %s: %s", path,
				 strerror(errno));
	code = decode_stream(output, source, file, path);
	fclose(file);
	return code;
}

static bool is_number(const char *text)
{
	uint64_t word;

	return pmu_number_parse(text, strlen(text), &word);
}

static int check_words(const struct cli *cli, const struct pmu_hwrec *record, int count,
		       char **arguments)
{
	int words = (int)pmu_hwrec_size(record) / WORD_BYTES;

	if (count % words)
		return cli_error(cli, EXIT_USAGE, "%s has %d word%s of 64 bits, %d given",
				 pmu_hwrec_name(record), words, words == 1 ? "" : "s", count);
	for (int i = 0; i < count; i++)
		if (!is_number(arguments[i]))
			return cli_error(cli, EXIT_USAGE,
					 "\"%s\" is no number: decimal, or hexadecimal with 0x",
					 arguments[i]);
	return 0;
}

static void put_word(unsigned char *bytes, const char *text)
{
	uint64_t word = 0;

	pmu_number_parse(text, strlen(text), &word);
	for (int i = 0; i < WORD_BYTES; i++)
		bytes[i] = (unsigned char)(word >> 8 * i);
}

static int decode_words(struct output *output, struct record_source *source, int count,
			char **arguments)
{
	int words = (int)pmu_hwrec_size(source->record) / WORD_BYTES;
	int code = check_words(output->cli, source->record, count, arguments);
	unsigned char *bytes;

	if (code)
		return code;
	bytes = malloc(pmu_hwrec_size(source->record));
	if (!bytes)
		return cli_error(output->cli, EXIT_FAILED, "out of memory");
	source->bytes = bytes;
	for (int first = 0; first < count && !code; first += words) {
		for (int i = 0; i < words; i++)
			put_word(bytes + i * WORD_BYTES, arguments[first + i]);
		code = output_add(output, source);
		source->offset += pmu_hwrec_size(source->record);
	}
	free(bytes);
	return code;
}

static int decode_in_memory(const struct cli *cli, struct record_source *source, int count,
			    char **arguments)
{
	struct output output = {.cli = cli};
	int code;

	if (count == 0)
		return cli_error(cli, EXIT_USAGE, "%s is in memory: give its words, a file, or -",
				 pmu_hwrec_name(source->record));
	if (source->kind)
		return cli_error(cli, EXIT_USAGE, "%s has no kinds",
				 pmu_hwrec_name(source->record));
	if (count == 1 && !is_number(arguments[0]))
		code = decode_file(&output, source, arguments[0]);
	else
		code = decode_words(&output, source, count, arguments);
	/* What stands before a truncated record is whole. */
	if (output.count || !code)
		output_end(&output);
	return code;
}

/* Which record is meant */

struct candidates {
	const char *name;
	struct record_source found;
	const struct pmu_pmu *pmu;
	unsigned owners;
	struct cli_names valid, pmus;
};

static void look_in(struct candidates *candidates, const struct pmu_pmu *pmu)
{
	for (size_t i = 0; i < pmu_pmu_boxes(pmu); i++) {
		const struct pmu_box *box = pmu_pmu_box(pmu, i);
		const struct pmu_hwrec *record = pmu_find_hwrec(box, candidates->name);

		for (size_t j = 0; j < pmu_box_hwrecs(box); j++)
			cli_names_add(&candidates->valid, pmu_hwrec_name(pmu_box_hwrec(box, j)));
		if (!record)
			continue;
		cli_names_add(&candidates->pmus, pmu_pmu_name(pmu));
		candidates->owners++;
		candidates->pmu = pmu;
		candidates->found.record = record;
		candidates->found.box = box;
	}
}

int decode_record(const struct cli *cli, const struct record_choice *choice, int count,
		  char **arguments)
{
	struct candidates candidates = {.name = choice->name};
	struct record_source *source = &candidates.found;
	const struct pmu_pmu *pmu;

	cli_names_init(&candidates.valid, choice->name);
	cli_names_init(&candidates.pmus, "");
	for (size_t i = 0; (pmu = pmu_pmu_at(i)); i++)
		if (!choice->pmu || choice->pmu == pmu)
			look_in(&candidates, pmu);
	if (!source->record && !candidates.valid.used)
		return cli_error(cli, EXIT_USAGE, "%s has no hardware records",
				 pmu_pmu_name(choice->pmu));
	if (!source->record)
		return cli_error(cli, EXIT_USAGE, "no hardware record \"%s\"; %s", choice->name,
				 cli_names_text(&candidates.valid));
	if (candidates.owners > 1)
		return cli_error(cli, EXIT_USAGE, "record %s needs --pmu; %s",
				 pmu_hwrec_name(source->record), cli_names_text(&candidates.pmus));
	source->kind = choice->kind;
	if (pmu_hwrec_size(source->record))
		return decode_in_memory(cli, source, count, arguments);
	return decode_in_registers(cli, source, candidates.pmu, count, arguments);
}
