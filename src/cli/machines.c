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
	    "  --capture DIR            with --host: copy register values to DIR, for --root\n",
	    file);
}

static json_t *machine_json(const struct pmu_machine *m)
{
	return json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:o, s:s}",
			 "name", m->name, "title", m->title, "pmu", m->pmu, "sockets", m->sockets,
			 "cores", m->cores, "slices", m->slices, "channels",
			 m->home_agents * m->channels, "core_mhz", m->core_mhz, "uclk_mhz",
			 m->uclk_mhz, "dclk_mhz", m->dclk_mhz, "memory_bytes",
			 cli_json_number(m->memory_bytes), "source", m->source);
}

int cli_machines(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = {
	    {"format", required_argument, NULL, 'f'}, {"host", no_argument, NULL, 'H'},
	    {"root", required_argument, NULL, 'r'},   {"capture", required_argument, NULL, 'c'},
	    {"help", no_argument, NULL, 'h'},	      {0}};
	const char *root = NULL, *folder = NULL;
	bool host = false;
	const struct pmu_machine *machines;
	struct table *table;
	size_t count;

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

	machines = pmu_machines(&count);
	if (cli->format == CLI_JSON) {
		json_t *array = json_array();

		for (size_t i = 0; i < count; i++)
			json_array_append_new(array, machine_json(&machines[i]));
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
	for (size_t i = 0; i < count; i++) {
		const struct pmu_machine *m = &machines[i];

		table_cell(table, "%s", m->name);
		table_cell(table, "%s", m->pmu);
		table_number(table, m->sockets);
		table_number(table, m->sockets * m->cores);
		table_number(table, m->sockets * m->slices);
		table_number(table, m->sockets * m->home_agents * m->channels);
		table_cell(table, "%s", m->title);
	}
	return cli_print_table(cli, table);
}
