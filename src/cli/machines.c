#include <getopt.h>
#include <jansson.h>
#include <string.h>

#include "cli/machines.h"

static void usage(FILE *file)
{
	fputs(
	    "usage: pmulab machines [--format table|json|csv]\n"
	    "       pmulab machines --host [--root DIR] [--capture DIR] [--format table|json|csv]\n"
	    "\n"
	    "Lists the emulated machines that pmulab stat -M takes. pmulab show MACHINE prints\n"
	    "every parameter of one.\n"
	    "\n"
	    "  --format table|json|csv  print in this format\n"
	    "  --host                   describe this computer: PMU, boxes, what is missing\n"
	    "  --root DIR               with --host: read /dev/cpu, /sys and /proc under DIR\n"
	    "  --capture DIR            with --host: copy register values to DIR, for --root\n"
	    "\n"
	    "Exit code: 0; 1 the computer's registers cannot be read; 2 wrong use.\n",
	    file);
}

static json_t *machine_json(const struct pmu_machine *m)
{
	uint64_t bytes = 0;

	pmu_machine_number(m, "memory_bytes", &bytes);
	return json_pack(
	    "{s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:o, s:s}", "name",
	    pmu_machine_name(m), "title", pmu_machine_title(m), "pmu", pmu_machine_pmu_name(m),
	    "sockets", cli_machine_number(m, "sockets"), "cores", cli_machine_number(m, "cores"),
	    "slices", cli_machine_number(m, "slices"), "channels",
	    cli_machine_number(m, "home_agents") * cli_machine_number(m, "channels"), "core_mhz",
	    cli_machine_number(m, "core_mhz"), "uclk_mhz", cli_machine_number(m, "uclk_mhz"),
	    "dclk_mhz", cli_machine_number(m, "dclk_mhz"), "memory_bytes", cli_json_number(bytes),
	    "source", pmu_machine_source(m));
}

int cli_machines(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = {
	    {"format", required_argument, NULL, 'f'}, {"host", no_argument, NULL, 'H'},
	    {"root", required_argument, NULL, 'r'},   {"capture", required_argument, NULL, 'c'},
	    {"help", no_argument, NULL, 'h'},	      {0}};
	const char *root = NULL, *folder = NULL;
	bool host = false;
	const struct pmu_machine *m;
	struct table *table;

	for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
		if (option == 'f' && !cli_set_format(cli, optarg))
			continue;
		if (option == 'H')
			host = true;
		else if (option == 'r')
			root = optarg;
		else if (option == 'c')
			folder = optarg;
		else if (option == 'h')
			usage(stdout);
		if (!strchr("Hrc", option))
			return option == 'h' ? EXIT_DONE : EXIT_USAGE;
	}
	if (optind < argc)
		return cli_error(cli, EXIT_USAGE, "unexpected argument \"%s\"", argv[optind]);
	if (host)
		return machines_host(cli, root, folder);
	if (root || folder)
		return cli_error(cli, EXIT_USAGE, "--root and --capture need --host");

	if (cli->format == CLI_JSON) {
		json_t *array = json_array();

		for (size_t i = 0; (m = pmu_machine_at(i)); i++)
			json_array_append_new(array, machine_json(m));
		return cli_print_json(cli, array);
	}
	table = table_new("llrrrrl");
	if (!table)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	for (const char *const *heading =
		 (const char *const[]){"MACHINE", "PMU", "SOCKETS", "CORES", "LLC SLICES",
				       "CHANNELS", "WHAT IT IS", NULL};
	     *heading; heading++)
		table_cell(table, "%s", *heading);
	for (size_t i = 0; (m = pmu_machine_at(i)); i++) {
		table_cell(table, "%s", pmu_machine_name(m));
		table_cell(table, "%s", pmu_machine_pmu_name(m));
		table_number(table, cli_machine_number(m, "sockets"));
		table_number(table,
			     cli_machine_number(m, "sockets") * cli_machine_number(m, "cores"));
		table_number(table,
			     cli_machine_number(m, "sockets") * cli_machine_number(m, "slices"));
		table_number(table, cli_machine_number(m, "sockets") *
					cli_machine_number(m, "home_agents") *
					cli_machine_number(m, "channels"));
		table_cell(table, "%s", pmu_machine_title(m));
	}
	return cli_print_table(cli, table);
}
