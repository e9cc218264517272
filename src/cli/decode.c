#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/decode.h"

static void usage(FILE *file)
{
	fputs(
	    "usage: pmulab decode [--pmu PMU] [--format table|json|csv] REGISTER VALUE\n"
	    "       pmulab decode [...] REGISTER=VALUE...\n"
	    "       pmulab decode [...] --registers FILE\n"
	    "       pmulab decode [...] --hwrec NAME [--kind KIND] REGISTER=VALUE...\n"
	    "       pmulab decode [...] --hwrec NAME FILE|WORD...\n"
	    "\n"
	    "Explains a register value: its fields and, for a counter control, the event. Name\n"
	    "the other registers too (filters, thresholds, matches): they are part of the event.\n"
	    "From several registers, pmulab also decodes the hardware records that they hold.\n"
	    "\n"
	    "Example: pmulab decode 0xE32 0x00400335\n"
	    "\n"
	    "  REGISTER                 a name (Cn_MSR_PMON_CTL0, C23_MSR_PMON_CTL0, BOX.NAME,\n"
	    "                           PMU/BOX3.NAME), an MSR number (0xE32), the physical\n"
	    "                           address of a register in memory, or an address as\n"
	    "                           pmulab encode prints it (msr 0xE32, pci D18:F1:0xD8,\n"
	    "                           mmio 0xC088, pmc 4)\n"
	    "  --pmu PMU                the PMU that REGISTER belongs to\n"
	    "  --registers FILE         read lines REGISTER VALUE from FILE; - is standard input\n"
	    "  --hwrec NAME             decode this hardware record; pmulab list records prints\n"
	    "                           the names. A record in registers (event address\n"
	    "                           registers, trace buffers, branch stacks) takes\n"
	    "                           REGISTER=VALUE; a record in memory (samples) takes a\n"
	    "                           binary FILE or 64-bit words\n"
	    "  --kind KIND              the record's mode, if no given register tells it\n"
	    "  --format table|json|csv  print in this format\n",
	    file);
}

/* REGISTER VALUE, as two arguments or, with the space of an address, three. */
static int decode_pair(const struct cli *cli, struct dump *dump, int count, char **arguments)
{
	char *line;
	int code;

	if (asprintf(&line, "%s %s %s", arguments[0], arguments[1], count > 2 ? arguments[2] : "") <
	    0)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	code = dump_add(cli, dump, line, "");
	free(line);
	if (!code && dump->count == 0)
		code = cli_error(cli, EXIT_USAGE, "REGISTER and VALUE are needed");
	return code ? code : decode_register(cli, dump);
}

static int decode_dump(const struct cli *cli, struct dump *dump, const char *path, int count,
		       char **arguments)
{
	int code = path ? dump_read(cli, dump, path) : 0;

	for (int i = 0; i < count && !code; i++)
		code = dump_add(cli, dump, arguments[i], "");
	if (!code && dump->count == 0)
		code = cli_error(cli, EXIT_USAGE, "no registers in %s", path ? path : "\"\"");
	return code ? code : decode_registers(cli, dump);
}

struct request {
	struct record_choice record; /* name NULL: not asked for */
	const char *registers;	     /* a file; NULL: none */
};

static int decode_arguments(const struct cli *cli, const struct request *request, int count,
			    char **arguments)
{
	struct dump dump = {.pmu = request->record.pmu};
	int code;

	if (request->record.name && request->registers)
		return cli_error(cli, EXIT_USAGE, "--hwrec and --registers exclude each other");
	if (request->record.kind && !request->record.name)
		return cli_error(cli, EXIT_USAGE, "--kind needs --hwrec");
	if (request->record.name)
		return decode_record(cli, &request->record, count, arguments);
	if (request->registers || (count && strchr(arguments[0], '=')))
		code = decode_dump(cli, &dump, request->registers, count, arguments);
	else if (count == 2 || count == 3)
		code = decode_pair(cli, &dump, count, arguments);
	else
		return cli_error(cli, EXIT_USAGE,
				 "REGISTER and VALUE are needed; see pmulab decode --help");
	dump_fini(&dump);
	return code;
}

int cli_decode(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = {{"pmu", required_argument, NULL, 'p'},
						{"format", required_argument, NULL, 'f'},
						{"hwrec", required_argument, NULL, 'r'},
						{"kind", required_argument, NULL, 'k'},
						{"registers", required_argument, NULL, 'R'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	struct request request = {0};

	for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
		switch (option) {
		case 'p':
			request.record.pmu = cli_find_pmu(cli, optarg);
			if (!request.record.pmu)
				return EXIT_USAGE;
			break;
		case 'f':
			if (cli_set_format(cli, optarg))
				return EXIT_USAGE;
			break;
		case 'r':
			request.record.name = optarg;
			break;
		case 'k':
			request.record.kind = optarg;
			break;
		case 'R':
			request.registers = optarg;
			break;
		case 'h':
			usage(stdout);
			return EXIT_DONE;
		default:
			return EXIT_USAGE;
		}
	}
	return decode_arguments(cli, &request, argc - optind, argv + optind);
}
