#include "cli/lint.h"

#include <getopt.h>

#include "cli/program.h"

#define EXIT_FOUND 3

static void usage(FILE *file)
{
	fprintf(file,
		"usage: pmulab lint -M MACHINE [--name NAME] [--format table|json|csv] [-o FILE]\n"
		"                   [--] TOOL [ARGUMENTS]\n"
		"\n"
		"Runs a tool as pmulab emulate does, and reports each documented rule that the\n"
		"tool breaks: the first value written, the source of the rule, and how often. A\n"
		"write to a register that does not exist breaks a rule too. Rules stand in the\n"
		"order in which they were first broken. The report goes to standard error. Needs\n"
		"root.\n"
		"\n"
		"Example: sudo pmulab lint -M %s -- setpci -s ff:14.0 f4.l=3\n"
		"\n"
		"  -M, --machine MACHINE    a name from pmulab machines, or a file (FILE.json)\n"
		"  --name NAME              programs join by pmulab emulate --attach NAME\n"
		"  --format table|json|csv  print the report in this format\n"
		"  -o, --output FILE        write the report to FILE; -: to standard output\n"
		"\n"
		"Exit code: 0 no rule was broken; 3 some were; 1 none was, and the tool failed;\n"
		"2 wrong use; 126 or 127 the tool could not be run.\n",
		cli_example_machine());
}

struct arguments {
	const struct pmu_machine *machine;
	const char *name, *output;
};

/* One run of a tool. */
struct linting {
	struct lint found; /* first: what is called with findings is given the whole */
	struct cli *cli;
	const struct arguments *arguments;
	char **argv;
};

/* In the serving process, which collected the findings. */
static int report(void *arg, int tool_exit)
{
	struct linting *linting = arg;
	struct cli *cli = linting->cli;
	int code = lint_report(cli, &linting->found, linting->argv, tool_exit);

	code = cli_close_output(cli, code ? code : cli_end_report(cli));
	if (code)
		return code;
	if (linting->found.count)
		return EXIT_FOUND;
	return tool_exit ? EXIT_FAILED : EXIT_DONE;
}

static int lint(struct linting *linting, struct pmu_program *tool)
{
	const struct pmu_device_options options = {
	    .size = sizeof(options),
	    .machine = linting->arguments->machine,
	    .name = linting->arguments->name,
	    .wall_clock = true,
	    .accessed = lint_accessed,
	    .violated = lint_violated,
	    .finished = report,
	    .arg = linting,
	};
	struct pmu_program_result result = {.size = sizeof(result)};
	const struct cli *cli = linting->cli;
	struct pmu_device *device;
	int code, exit = 0, error = pmu_device_new(&device, cli->ctx, &options);

	if (error)
		return cli_fail(cli, error);
	error = pmu_device_run(device, cli->ctx, tool, &result);
	code = error ? program_said(cli, error, &result, linting->argv) : 0;
	if (!code)
		program_warn_tools(cli, tool);
	/*
	 * A tool that never ran broke no rule, and kept none. If the machine has ended before the
	 * tool, this says why.
	 */
	error = code ? 0 : pmu_device_finish(device, cli->ctx, result.exit, &exit);
	pmu_device_free(device);
	if (error)
		return cli_fail(cli, error);
	return code ? code : exit;
}

int cli_lint(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = {
	    {"machine", required_argument, NULL, 'M'}, {"name", required_argument, NULL, 'n'},
	    {"format", required_argument, NULL, 'f'},  {"output", required_argument, NULL, 'o'},
	    {"help", no_argument, NULL, 'h'},	       {0}};
	struct arguments arguments = {0};
	struct linting linting = {.cli = cli, .arguments = &arguments};
	const struct pmu_program_options as_tool = {.tool = true};
	struct pmu_program *tool;
	int code = 0;

	cli->out = stderr;
	for (int option; (option = getopt_long(argc, argv, "+M:o:h", options, NULL)) != -1;) {
		switch (option) {
		case 'M':
			arguments.machine = cli_find_machine(cli, optarg);
			code = arguments.machine ? 0 : EXIT_USAGE;
			break;
		case 'n':
			arguments.name = optarg;
			break;
		case 'f':
			code = cli_set_format(cli, optarg);
			break;
		case 'o':
			arguments.output = optarg;
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
	if (!arguments.machine)
		return cli_error(cli, EXIT_USAGE,
				 "-M MACHINE is needed; pmulab machines shows them");
	if (optind == argc)
		return cli_error(cli, EXIT_USAGE, "TOOL is missing; see pmulab lint --help");
	code = program_find(cli, &tool, argv + optind, arguments.machine, &as_tool);
	if (code)
		return code;
	lint_init(&linting.found, arguments.machine);
	linting.argv = argv + optind;
	/* Before the tool runs: what it does may not be done a second time. */
	code = cli_open_output(cli, arguments.output);
	if (!code)
		code = lint(&linting, tool);
	lint_fini(&linting.found);
	pmu_program_free(tool);
	return code;
}
