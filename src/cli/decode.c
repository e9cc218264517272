#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "pmulab/event.h"

static void usage(FILE *file)
{
	fputs("usage: pmulab decode [--pmu PMU] [--format table|json|csv] REGISTER VALUE\n\n"
	      "What a value means in a register: its fields and, in a counter control, the event.\n"
	      "REGISTER: a name (Cn_MSR_PMON_CTL0, or BOX.NAME) or an MSR number (0xE32).\n",
	      file);
}

struct place {
	const struct pmu_box *box;
	const struct pmu_register *reg;
};

static bool has_address(const struct pmu_box *box, const struct pmu_register *reg, uint32_t address)
{
	for (unsigned i = 0; i < box->instance_count; i++)
		if (pmu_register_address(box, reg, i) == address)
			return true;
	return false;
}

/* Finds a register by name, BOX.NAME or MSR number. */
static struct place find(const struct pmu_pmu *only, const char *name)
{
	char *end;
	unsigned long address = strtoul(name, &end, 0);
	bool numeric = *name && !*end;
	const char *dot = strchr(name, '.');
	size_t count;
	const struct pmu_pmu *pmus = pmu_catalog(&count);

	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < pmus[i].box_count; j++) {
			const struct pmu_box *box = &pmus[i].boxes[j];
			const struct pmu_register *reg;

			if (only && only != &pmus[i])
				continue;
			if (dot && strncasecmp(box->name, name, (size_t)(dot - name)))
				continue;
			reg = pmu_find_register(box, dot ? dot + 1 : name);
			if (reg)
				return (struct place){box, reg};
			for (size_t r = 0; numeric && r < box->register_count; r++)
				if (box->space == PMU_SPACE_MSR &&
				    has_address(box, &box->registers[r], (uint32_t)address))
					return (struct place){box, &box->registers[r]};
		}
	}
	return (struct place){0};
}

static void field_row(void *arg, const struct pmu_field *field, uint64_t value)
{
	table_cell(arg, "%u:%u", field->hi, field->lo);
	table_cell(arg, "%s", field->name);
	table_cell(arg, "0x%llX", (unsigned long long)value);
	table_cell(arg, "%s", cli_access_name(field->access));
	table_cell(arg, "%s", field->desc);
}

static void field_json(void *arg, const struct pmu_field *field, uint64_t value)
{
	json_array_append_new(arg,
			      json_pack("{s:s, s:i, s:i, s:I}", "name", field->name, "hi",
					field->hi, "lo", field->lo, "value", (json_int_t)value));
}

/* The event a control value selects, or "" where it is none. */
static void event_of(const struct cli *cli, const struct place *place, uint64_t value, char *text,
		     size_t size)
{
	struct pmu_selection selection;

	*text = '\0';
	if (place->reg->role == PMU_ROLE_COUNTER_CTL &&
	    !pmu_event_decode(cli->ctx, place->box, value, &selection))
		pmu_event_print(&selection, text, size);
}

static int print(const struct cli *cli, const struct place *place, uint64_t value)
{
	struct table *table;
	char event[256];

	event_of(cli, place, value, event, sizeof(event));
	if (cli->format == CLI_JSON) {
		json_t *fields = json_array();

		pmu_register_decode(place->reg, value, field_json, fields);
		return cli_print_json(
		    cli, json_pack("{s:s, s:s, s:s, s:I, s:s, s:o}", "pmu", place->box->pmu, "box",
				   place->box->name, "register", place->reg->name, "value",
				   (json_int_t)value, "event", event, "fields", fields));
	}
	table = table_new("rlrll");
	if (!table)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	for (int i = 0; i < 5; i++)
		table_cell(table, "%s",
			   (const char *const[]){"BITS", "FIELD", "VALUE", "ACCESS", "MEANING"}[i]);
	pmu_register_decode(place->reg, value, field_row, table);
	if (cli->format == CLI_TABLE)
		fprintf(cli->out, "%s/%s.%s = 0x%llX%s%s\n", place->box->pmu, place->box->name,
			place->reg->name, (unsigned long long)value, *event ? "  " : "", event);
	return cli_print_table(cli, table);
}

int cli_decode(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = {{"pmu", required_argument, NULL, 'p'},
						{"format", required_argument, NULL, 'f'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	const struct pmu_pmu *pmu = NULL;
	struct place place;
	uint64_t value;
	char *end;

	for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
		switch (option) {
		case 'p':
			pmu = cli_find_pmu(cli, optarg);
			if (!pmu)
				return EXIT_USAGE;
			break;
		case 'f':
			if (cli_set_format(cli, optarg))
				return EXIT_USAGE;
			break;
		case 'h':
			usage(stdout);
			return EXIT_DONE;
		default:
			return EXIT_USAGE;
		}
	}
	if (optind + 2 != argc)
		return cli_error(cli, EXIT_USAGE,
				 "takes REGISTER and VALUE; see pmulab decode --help");
	place = find(pmu, argv[optind]);
	if (!place.reg)
		return cli_error(cli, EXIT_USAGE,
				 "no register \"%s\"; pmulab list registers shows them",
				 argv[optind]);
	errno = 0;
	value = strtoull(argv[optind + 1], &end, 0);
	if (!*argv[optind + 1] || *end || errno)
		return cli_error(cli, EXIT_USAGE, "\"%s\" is no number", argv[optind + 1]);
	if (place.reg->width < 64 && value >> place.reg->width)
		return cli_error(cli, EXIT_USAGE, "%s has %u bits, 0x%llX does not fit",
				 place.reg->name, place.reg->width, (unsigned long long)value);
	return print(cli, &place, value);
}
