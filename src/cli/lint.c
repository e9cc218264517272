#include "cli/lint.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "cli/run.h"
#include "device/server.h"

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
		"  -o, --output FILE        write the report to FILE\n"
		"\n"
		"Exit code: 0 no rule was broken; 3 some were; 1 none was, and the tool failed;\n"
		"2 wrong use; 126 or 127 the tool could not be run.\n",
		cli_example_machine());
}

struct arguments {
	const struct pmu_machine *machine;
	const char *name, *output;
};

/* Before the tool runs: what it does may not be done a second time. */
static int open_output(struct cli *cli, const char *path)
{
	if (!path)
		return 0;
	cli->out = fopen(path, "we");
	return cli->out ? 0
			: cli_error(cli, EXIT_FAILED, "cannot write %s: %s", path, strerror(errno));
}

/* One run of a tool. */
struct linting {
	struct lint found; /* first: what hears of findings is given the whole */
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

	if (linting->arguments->output && fclose(cli->out))
		code = cli_error(cli, EXIT_FAILED, "cannot write %s: %s",
				 linting->arguments->output, strerror(errno));
	if (code)
		return code;
	if (linting->found.count)
		return EXIT_FOUND;
	return tool_exit ? EXIT_FAILED : EXIT_DONE;
}

static int lint(struct linting *linting, struct run *tool)
{
	const struct device_options options = {
	    .machine = linting->arguments->machine,
	    .name = linting->arguments->name,
	    .wall_clock = true,
	    .refused = lint_refused,
	    .violated = lint_violated,
	    .finished = report,
	    .arg = linting,
	};
	const struct cli *cli = linting->cli;
	struct device_server *server;
	int code, exit, error = device_server_new(&server, cli->ctx, &options);

	if (error)
		return cli_fail(cli, error);
	tool->watch = device_server_watch(server);
	code = run_program(cli, tool, -1, &exit);
	/* A tool that never ran broke no rule, and kept none. */
	if (!code)
		error = device_server_finish(server, cli->ctx, exit, &exit);
	device_server_free(server);
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
	struct run tool;
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
				 "-M MACHINE is missing; pmulab machines lists the machines");
	if (optind == argc)
		return cli_error(cli, EXIT_USAGE, "TOOL is missing; see pmulab lint --help");
	code = run_prepare_tool(cli, &tool, argv + optind, arguments.machine);
	if (code)
		return code;
	lint_init(&linting.found, arguments.machine);
	linting.argv = argv + optind;
	code = open_output(cli, arguments.output);
	if (!code)
		code = lint(&linting, &tool);
	lint_fini(&linting.found);
	run_release(&tool);
	return code;
}
