#include <getopt.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/encode_plan.h"

static void usage(FILE *file)
{
	fputs(
	    "usage: pmulab encode [--pmu PMU] [--counter N] [--format table|json|csv|sh] EVENT...\n"
	    "\n"
	    "Prints the register writes that program an event, in order: filters, then the\n"
	    "control.\n"
	    "\n"
	    "Example: pmulab encode cbo3.TOR_INSERTS.MISS_OPCODE:opc=DRd\n"
	    "\n"
	    "  --pmu PMU                   the PMU that EVENT belongs to\n"
	    "  --counter N                 default: the first counter that can count EVENT\n"
	    "  --format table|json|csv|sh  sh: commands of msr-tools and pciutils\n"
	    "\n"
	    "EVENT without an instance (cbo instead of cbo3) means instance 0. Each of several\n"
	    "events gets a counter of its own; a register that they share has one value.\n",
	    file);
}

struct request {
	const struct pmu_pmu *pmu;
	int counter; /* -1: the first possible */
	bool shell;
};

/* An event's writes, and how they are named. */
struct encoding {
	const char *event;
	unsigned instance;
	const struct pmu_write *writes;
	int count;
};

static const char *register_name(const struct encoding *encoding, int write)
{
	return pmu_register_name(encoding->writes[write].reg, encoding->instance);
}

static json_t *writes_json(const struct encoding *encoding)
{
	json_t *array = json_array();

	for (int i = 0; i < encoding->count; i++) {
		const struct pmu_write *w = &encoding->writes[i];

		json_array_append_new(array, json_pack("{s:s, s:o, s:o, s:s}", "space",
						       pmu_space_name(w->space), "address",
						       cli_json_number(w->address), "value",
						       cli_json_number(w->value), "register",
						       register_name(encoding, i)));
	}
	return json_pack("{s:s, s:o}", "event", encoding->event, "writes", array);
}

static void writes_table(struct table *table, const struct encoding *encoding)
{
	for (int i = 0; i < encoding->count; i++) {
		const struct pmu_write *w = &encoding->writes[i];
		char text[CLI_ADDRESS_MAX];

		table_cell(table, "%s", encoding->event);
		table_cell(table, "%s", cli_address(text, w->space, w->address));
		table_cell(table, "0x%08llX", (unsigned long long)w->value);
		table_cell(table, "%s", register_name(encoding, i));
	}
}

static void writes_shell(const struct cli *cli, const struct encoding *encoding)
{
	fprintf(cli->out, "# %s\n", encoding->event);
	for (int i = 0; i < encoding->count; i++) {
		const struct pmu_write *w = &encoding->writes[i];
		char text[CLI_ADDRESS_MAX];

		if (w->space == PMU_SPACE_MSR)
			fprintf(cli->out, "wrmsr -p 0 0x%03X 0x%llX", w->address,
				(unsigned long long)w->value);
		else if (w->space == PMU_SPACE_PCI)
			fprintf(cli->out, "setpci -s ${BUS}:%02x.%u %03x.l=%08llx",
				w->address >> 15, w->address >> 12 & 7, w->address & 0xfff,
				(unsigned long long)w->value);
		else
			fprintf(cli->out, "# no shell command writes %s = 0x%llX",
				cli_address(text, w->space, w->address),
				(unsigned long long)w->value);
		fprintf(cli->out, "  # %s\n", register_name(encoding, i));
	}
}

static int encode(const struct cli *cli, const struct request *request,
		  const struct encode_plan *plan, size_t number, struct table *table, json_t *array)
{
	struct pmu_write writes[PMU_EVENT_WRITES];
	char event[PMU_EVENT_TEXT_MAX];
	struct encoding encoding = {event, plan->events[number].instance, writes,
				    encode_plan_writes(cli, plan, number, writes)};

	if (encoding.count < 0)
		return cli_fail(cli, encoding.count);
	pmu_event_print(&plan->selections[number], event, sizeof(event));
	if (request->shell)
		writes_shell(cli, &encoding);
	else if (cli->format == CLI_JSON)
		json_array_append_new(array, writes_json(&encoding));
	else
		writes_table(table, &encoding);
	return EXIT_DONE;
}

static int encode_all(const struct cli *cli, const struct request *request,
		      const struct encode_plan *plan)
{
	struct table *table = table_new("lllr");
	json_t *array = json_array();
	int code = EXIT_DONE;

	if (!table || !array) {
		table_free(table);
		json_decref(array);
		return cli_error(cli, EXIT_FAILED, "out of memory");
	}
	for (int i = 0; i < 4; i++)
		table_cell(table, "%s",
			   (const char *const[]){"EVENT", "ADDRESS", "VALUE", "REGISTER"}[i]);
	for (size_t i = 0; i < plan->count && !code; i++)
		code = encode(cli, request, plan, i, table, array);
	if (code || request->shell || cli->format == CLI_JSON)
		table_free(table);
	else
		code = cli_print_table(cli, table);
	if (code || request->shell || cli->format != CLI_JSON)
		json_decref(array);
	else /* one event: the object itself, as scripts expect */
		code = cli_print_json(cli, json_array_size(array) == 1
					       ? json_deep_copy(json_array_get(array, 0))
					       : json_incref(array)),
		json_decref(array);
	return code;
}

int cli_encode(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = {{"pmu", required_argument, NULL, 'p'},
						{"counter", required_argument, NULL, 'c'},
						{"format", required_argument, NULL, 'f'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	struct request request = {.counter = -1};
	struct encode_plan plan;
	char *end;
	int code;

	for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
		switch (option) {
		case 'p':
			request.pmu = cli_find_pmu(cli, optarg);
			if (!request.pmu)
				return EXIT_USAGE;
			break;
		case 'c':
			request.counter = (int)strtol(optarg, &end, 0);
			if (!*optarg || *end || request.counter < 0 || request.counter > 31)
				return cli_error(cli, EXIT_USAGE,
						 "no counter \"%s\"; valid: the number of one, "
						 "0 to 31",
						 optarg);
			break;
		case 'f':
			request.shell = !strcasecmp(optarg, "sh");
			if (!request.shell && cli_set_format(cli, optarg))
				return EXIT_USAGE;
			break;
		case 'h':
			usage(stdout);
			return EXIT_DONE;
		default:
			return EXIT_USAGE;
		}
	}
	if (optind == argc)
		return cli_error(cli, EXIT_USAGE,
				 "EVENT is missing; pmulab list events lists them");
	code = encode_plan_init(cli, &plan, request.pmu, argv + optind, request.counter);
	if (!code)
		code = encode_all(cli, &request, &plan);
	encode_plan_fini(&plan);
	return code;
}
