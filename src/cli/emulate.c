#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/emulate_watch.h"
#include "cli/program.h"
#include "pmulab/device.h"

static void usage(FILE *file)
{
	fprintf(
	    file,
	    "usage: pmulab emulate -M MACHINE [--name NAME] [--clock wall|machine]\n"
	    "                      [--trace-registers FILE] [--] TOOL [ARGUMENTS]\n"
	    "       pmulab emulate --attach NAME [--tool | --deterministic] [--] PROGRAM\n"
	    "                      [ARGUMENTS]\n"
	    "\n"
	    "Runs a tool that sees an emulated machine instead of this computer: CPUID,\n"
	    "/dev/cpu/N/msr, PCI configuration space, /proc/cpuinfo, topology in /sys. Other\n"
	    "processes see no change. The machine ends with the tool. Needs root. Of a machine\n"
	    "with IA-64 cores it sees register files.\n"
	    "\n"
	    "Example: sudo pmulab emulate -M %s -- rdmsr -p 0 0xe00\n"
	    "\n"
	    "  -M, --machine MACHINE   a name from pmulab machines, or a file (FILE.json)\n"
	    "  --name NAME             let others join the machine by this name\n"
	    "  --attach NAME           join it: run PROGRAM on the machine, as stat does\n"
	    "  --tool                  with --attach: run a tool that sees the machine\n"
	    "  --deterministic         with --attach: threads run one at a time, in turns by\n"
	    "                          emulated time\n"
	    "  --clock wall            machine time follows the wall clock while no program\n"
	    "                          runs (default)\n"
	    "  --clock machine         machine time stands still while no program runs\n"
	    "  --trace-registers FILE  write each access to a register to FILE, a line each\n"
	    "\n"
	    "Exit code: the tool's or program's; 126 or 127 if it could not be run.\n",
	    cli_example_machine());
}

struct arguments {
	const struct pmu_machine *machine;
	const char *name, *attach, *trace;
	bool tool, machine_clock, deterministic;
};

/* In the serving process, which watched. */
static int finished(void *arg, int tool_exit)
{
	int code = emulate_watch_report(arg);

	return code ? code : tool_exit;
}

static int serve(const struct cli *cli, const struct arguments *arguments, struct pmu_program *tool,
		 struct emulate_watch *watch, char **argv)
{
	const struct pmu_device_options options = {
	    .size = sizeof(options),
	    .machine = arguments->machine,
	    .name = arguments->name,
	    .wall_clock = !arguments->machine_clock,
	    .accessed = emulate_watch_access,
	    .finished = finished,
	    .arg = watch,
	};
	struct pmu_program_result result = {.size = sizeof(result)};
	struct pmu_device *device;
	int code, exit = 0, error = pmu_device_new(&device, cli->ctx, &options);

	if (error)
		return cli_fail(cli, error);
	error = pmu_device_run(device, cli->ctx, tool, &result);
	code = error ? program_said(cli, error, &result, argv) : 0;
	if (!code)
		program_warn_tools(cli, tool);
	/* If the machine has ended before the tool, this says why. */
	error = code ? 0 : pmu_device_finish(device, cli->ctx, result.exit, &exit);
	pmu_device_free(device);
	if (error)
		return cli_fail(cli, error);
	return code ? code : exit;
}

static int host(const struct cli *cli, const struct arguments *arguments, char **argv)
{
	const struct pmu_program_options options = {.tool = true,
						    .host_time = arguments->machine_clock};
	struct emulate_watch watch;
	struct pmu_program *tool;
	int code = program_find(cli, &tool, argv, arguments->machine, &options);

	if (code)
		return code;
	code = emulate_watch_begin(cli, &watch, arguments->trace, arguments->machine);
	if (!code) {
		code = serve(cli, arguments, tool, &watch, argv);
		emulate_watch_release(&watch);
	}
	pmu_program_free(tool);
	return code;
}

/* On a machine that was joined. */
static int run_on(const struct cli *cli, struct pmu_emul *emul, bool is_tool, char **argv)
{
	const struct pmu_program_options options = {.tool = is_tool};
	struct pmu_program_result result = {.size = sizeof(result)};
	struct pmu_program *program;
	int error, code = program_find(cli, &program, argv, pmu_emul_machine(emul), &options);

	if (code)
		return code;
	error = pmu_program_run(program, cli->ctx, emul, &result);
	code = program_said(cli, error, &result, argv);
	if (!code && is_tool)
		program_warn_tools(cli, program);
	else if (!code)
		program_warn_natives(cli, program);
	pmu_program_free(program);
	return code ? code : result.exit;
}

static int attach(const struct cli *cli, const struct arguments *arguments, char **argv)
{
	struct pmu_emul *emul;
	int code, error = pmu_emul_attach(&emul, cli->ctx, arguments->attach);

	if (error)
		return cli_fail(cli, error);
	if (arguments->deterministic)
		pmu_emul_take_turns(emul);
	error = pmu_device_enter(emul, cli->ctx);
	code = error ? cli_fail(cli, error) : run_on(cli, emul, arguments->tool, argv);
	pmu_emul_free(emul);
	return code;
}

static int set_clock(const struct cli *cli, struct arguments *arguments, const char *text)
{
	arguments->machine_clock = !strcmp(text, "machine");
	if (arguments->machine_clock || !strcmp(text, "wall"))
		return 0;
	return cli_error(cli, EXIT_USAGE, "no clock \"%s\"; valid: wall, machine", text);
}

static int check(const struct cli *cli, const struct arguments *arguments)
{
	if (!arguments->machine && !arguments->attach)
		return cli_error(
		    cli, EXIT_USAGE,
		    "-M MACHINE or --attach NAME is missing; pmulab machines lists the machines");
	if (arguments->attach && (arguments->machine || arguments->name || arguments->trace))
		return cli_error(cli, EXIT_USAGE,
				 "--attach joins an existing machine; it excludes -M, --name and "
				 "--trace-registers");
	if (arguments->tool && !arguments->attach)
		return cli_error(cli, EXIT_USAGE, "--tool needs --attach");
	if (arguments->deterministic && (!arguments->attach || arguments->tool))
		return cli_error(cli, EXIT_USAGE,
				 "--deterministic needs --attach, and excludes --tool");
	return 0;
}

int cli_emulate(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = {{"machine", required_argument, NULL, 'M'},
						{"name", required_argument, NULL, 'n'},
						{"attach", required_argument, NULL, 'a'},
						{"tool", no_argument, NULL, 't'},
						{"deterministic", no_argument, NULL, 'd'},
						{"clock", required_argument, NULL, 'c'},
						{"trace-registers", required_argument, NULL, 'r'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	struct arguments arguments = {0};
	int code = 0;

	for (int option; (option = getopt_long(argc, argv, "+M:h", options, NULL)) != -1;) {
		switch (option) {
		case 'M':
			arguments.machine = cli_find_machine(cli, optarg);
			code = arguments.machine ? 0 : EXIT_USAGE;
			break;
		case 'n':
			arguments.name = optarg;
			break;
		case 'a':
			arguments.attach = optarg;
			break;
		case 't':
			arguments.tool = true;
			break;
		case 'd':
			arguments.deterministic = true;
			break;
		case 'c':
			code = set_clock(cli, &arguments, optarg);
			break;
		case 'r':
			arguments.trace = optarg;
			break;
		case 'h':
			usage(stdout);
			return EXIT_DONE;
		default:
			code = EXIT_USAGE;
		}
		if (code)
			return code;
	}
	code = check(cli, &arguments);
	if (code)
		return code;
	if (optind == argc)
		return cli_error(cli, EXIT_USAGE, "%s is missing; see pmulab emulate --help",
				 arguments.attach ? "PROGRAM" : "TOOL");
	return arguments.attach ? attach(cli, &arguments, argv + optind)
				: host(cli, &arguments, argv + optind);
}
