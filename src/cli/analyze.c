#include "cli/analyze.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/program.h"

#define FILE_MAX (1 << 20) /* bytes */

static void usage(FILE *file)
{
	fputs(
	    "usage: pmulab analyze -M MACHINE [-m METHOD] [--format table|json|csv] [-o FILE]\n"
	    "                      [--] PROGRAM [ARGUMENTS]\n"
	    "\n"
	    "Says where the cycles of a program go, by the manual's own accounting: a tree of\n"
	    "stalls, and measures. The report goes to standard error. The exit code is the\n"
	    "program's.\n"
	    "\n"
	    "Example: pmulab analyze -M itanium-9300-1s -- ./prog\n"
	    "\n"
	    "  -M, --machine MACHINE   a name from pmulab machines, or a file (FILE.json)\n"
	    "  -m, --method METHOD     a name of the catalog, or a file; default: the PMU's first\n"
	    "  --root DIR              linker and libraries of a dynamic IA-64 program\n"
	    "  --format table|json|csv print the report in this format\n"
	    "  -o, --output FILE       write the report to FILE; -: to standard output\n",
	    file);
}

/* @return 0; -1: --help was printed; or EXIT_USAGE, said */
static int read_options(struct cli *cli, struct analyze *a, int argc, char **argv)
{
	static const struct option options[] = {{"machine", required_argument, NULL, 'M'},
						{"method", required_argument, NULL, 'm'},
						{"format", required_argument, NULL, 'f'},
						{"output", required_argument, NULL, 'o'},
						{"root", required_argument, NULL, 'R'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	int code = 0;

	for (int option;
	     !code && (option = getopt_long(argc, argv, "+M:m:o:h", options, NULL)) != -1;) {
		switch (option) {
		case 'M':
			a->machine = cli_find_machine(cli, optarg);
			code = a->machine ? 0 : EXIT_USAGE;
			break;
		case 'm':
			a->method_name = optarg;
			break;
		case 'f':
			code = cli_set_format(cli, optarg);
			break;
		case 'o':
			a->output = optarg;
			break;
		case 'R':
			code = cli_set_root(cli, optarg);
			break;
		case 'h':
			usage(stdout);
			return -1;
		default:
			return EXIT_USAGE;
		}
	}
	if (code)
		return code;
	if (!a->machine)
		return cli_error(cli, EXIT_USAGE, "-M MACHINE is missing");
	if (optind == argc)
		return cli_error(cli, EXIT_USAGE, "PROGRAM is missing; see pmulab analyze --help");
	return 0;
}

/* @return its text, of the heap; NULL: said */
static char *read_file(const struct cli *cli, const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = calloc(1, FILE_MAX + 1);

	if (!file || !text || !fread(text, 1, FILE_MAX, file)) {
		cli_error(cli, EXIT_USAGE, "cannot read the method %s: %s", path,
			  file && !ferror(file) ? "it is empty" : strerror(errno));
		free(text);
		text = NULL;
	}
	if (file)
		fclose(file);
	return text;
}

static char *unknown_method(const struct analyze *a, const struct pmu_pmu *pmu)
{
	const struct pmu_method *method;
	struct cli_names valid;

	if (!pmu_pmu_method(pmu, 0)) {
		cli_error(a->cli, EXIT_USAGE,
			  "the catalog has no method of analysis for %s; -m FILE",
			  pmu_pmu_name(pmu));
		return NULL;
	}
	cli_names_init(&valid, a->method_name);
	for (size_t i = 0; (method = pmu_pmu_method(pmu, i)); i++)
		cli_names_add(&valid, pmu_method_name(method));
	cli_error(a->cli, EXIT_USAGE,
		  "%s has no method \"%s\"; %s; a file's name has a \"/\" or a \".\"",
		  pmu_pmu_name(pmu), a->method_name, cli_names_text(&valid));
	return NULL;
}

static char *find_text(const struct analyze *a, const struct pmu_pmu *pmu)
{
	const struct pmu_method *method =
	    a->method_name ? pmu_find_method(pmu, a->method_name) : pmu_pmu_method(pmu, 0);

	if (method)
		return strdup(pmu_method_text(method));
	if (a->method_name && strpbrk(a->method_name, "/."))
		return read_file(a->cli, a->method_name);
	return unknown_method(a, pmu);
}

static int find_method(struct analyze *a)
{
	const struct pmu_pmu *pmu = pmu_find_pmu(pmu_machine_pmu_name(a->machine));
	char *text = find_text(a, pmu);
	int error;

	if (!text)
		return EXIT_USAGE;
	a->title = text[0] == '#' ? strndup(text + 2, strcspn(text + 2, "\n"))
				  : strdup(a->method_name ? a->method_name : "");
	error = pmu_analysis_new(&a->analysis, a->cli->ctx, pmu, text);
	free(text);
	return error ? cli_fail(a->cli, error) : 0;
}

static int report(struct cli *cli, struct analyze *a, char **argv)
{
	int code = cli_open_output(cli, a->output);

	if (code)
		return code;
	code = analyze_report(a, argv);
	code = cli_close_output(cli, code ? code : cli_end_report(cli));
	return code ? code : a->exit;
}

int cli_analyze(struct cli *cli, int argc, char **argv)
{
	struct analyze a = {.cli = cli};
	int code;

	cli->out = stderr;
	code = read_options(cli, &a, argc, argv);
	if (!code)
		code = find_method(&a);
	if (!code)
		code = analyze_prepare(&a);
	if (!code)
		code = analyze_run(&a, argv + optind);
	if (!code)
		code = report(cli, &a, argv + optind);
	pmu_analysis_free(a.analysis);
	free(a.lines);
	free(a.title);
	return code < 0 ? EXIT_DONE : code;
}
