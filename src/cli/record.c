#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/program.h"
#include "pmulab/notation.h"
#include "pmulab/sample.h"

#define DEFAULT_FILE   "perf.data"
#define DEFAULT_PERIOD 1000

struct recording {
	const struct cli *cli;
	const struct pmu_machine *machine;
	char **events; /* lists */
	size_t event_count;
	uint64_t period;
	const char *file;
	const char *requests; /* NULL: all of them */
	struct pmu_emul *emul;
	struct pmu_sampler *sampler;
	struct pmu_program *program;
};

static void usage(FILE *file)
{
	fputs(
	    "usage: pmulab record -M MACHINE -e EVENT,... [-c PERIOD] [-o FILE]\n"
	    "                     [--requests FIELD=N,...] [--] PROGRAM [ARGUMENTS]\n"
	    "\n"
	    "Runs a program on an emulated machine with IA-64 cores, and takes a sample each time\n"
	    "that the counter of an event has counted PERIOD: the instruction, the time, and what\n"
	    "event address registers and trace buffers captured. FILE is read by pmulab report,\n"
	    "and by Linux's perf. The exit code is the program's.\n"
	    "\n"
	    "Example: pmulab record -M itanium-9300-1s -e DATA_EAR_EVENTS -c 100 -- ./prog\n"
	    "\n"
	    "  -M, --machine MACHINE   a name from pmulab machines, or a file (FILE.json)\n"
	    "  -e, --event EVENT,...   sample these events of cores; each by its own counter.\n"
	    "                          DATA_EAR_EVENTS, L1I_EAR_EVENTS, ETB_EVENT and\n"
	    "                          CPE_CPP_MISC.CEAR capture; the field IPEAR=0 of another\n"
	    "                          one, what retired before\n"
	    "  -c, --count PERIOD      a sample for each PERIOD of an event; default: 1000\n"
	    "  -o, --output FILE       write the samples to FILE; default: perf.data\n"
	    "  --root DIR              linker and libraries of a dynamic program\n"
	    "  --requests FIELD=N,...  which requests CPE_CPP_MISC.CEAR captures, by fields of\n"
	    "                          CPE_CSR_QEAR_CTL; default: all\n",
	    file);
}

static int read_period(const struct cli *cli, uint64_t *period, const char *text)
{
	if (pmu_number_parse(text, strlen(text), period) && *period)
		return 0;
	return cli_error(cli, EXIT_USAGE, "-c takes a number, 1 to 2147483648, not \"%s\"", text);
}

/* @return 0; -1: --help was printed; or EXIT_USAGE, said */
static int read_options(struct cli *cli, struct recording *r, int argc, char **argv)
{
	static const struct option options[] = {
	    {"machine", required_argument, NULL, 'M'},	{"event", required_argument, NULL, 'e'},
	    {"count", required_argument, NULL, 'c'},	{"output", required_argument, NULL, 'o'},
	    {"requests", required_argument, NULL, 'r'}, {"root", required_argument, NULL, 'R'},
	    {"help", no_argument, NULL, 'h'},		{0}};
	int code = 0;

	for (int option;
	     !code && (option = getopt_long(argc, argv, "+M:e:c:o:h", options, NULL)) != -1;) {
		switch (option) {
		case 'M':
			r->machine = cli_find_machine(cli, optarg);
			code = r->machine ? 0 : EXIT_USAGE;
			break;
		case 'e':
			r->events[r->event_count++] = optarg;
			break;
		case 'c':
			code = read_period(cli, &r->period, optarg);
			break;
		case 'o':
			r->file = optarg;
			break;
		case 'r':
			r->requests = optarg;
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
	if (!*r->file)
		return cli_error(cli, EXIT_USAGE, "-o takes the name of a file, not \"\"");
	if (!strcmp(r->file, "-"))
		return cli_error(cli, EXIT_USAGE,
				 "a recording does not go to standard output; -o ./- is a file");
	if (!r->machine || !r->event_count)
		return cli_error(cli, EXIT_USAGE, "-M MACHINE and -e EVENT,... are missing");
	if (optind == argc)
		return cli_error(cli, EXIT_USAGE, "PROGRAM is missing; see pmulab record --help");
	return 0;
}

static int add_event(void *arg, const struct pmu_selection *selection)
{
	const struct recording *r = arg;

	return pmu_sampler_add(r->sampler, r->cli->ctx, selection, r->period);
}

static int add_events(struct recording *r)
{
	const struct pmu_pmu *pmu = pmu_find_pmu(pmu_machine_pmu_name(r->machine));
	int error = 0;

	for (size_t i = 0; i < r->event_count && !error; i++) {
		const char *list = r->events[i], *item;
		size_t length;

		while (!error && pmu_event_list_next(&list, &item, &length)) {
			char *text = strndup(item, length);

			if (!text)
				return cli_error(r->cli, EXIT_FAILED, "out of memory");
			error = pmu_notation_expand(r->cli->ctx, pmu, text, add_event, r);
			free(text);
		}
	}
	return error ? cli_fail(r->cli, error) : 0;
}

static int run(struct recording *r, char **argv, char **program)
{
	static const struct pmu_program_options options;
	struct pmu_program_result result = {.size = sizeof(result)};
	const struct cli *cli = r->cli;
	int code, error;

	error = pmu_emul_new(&r->emul, cli->ctx, r->machine);
	if (!error)
		error = pmu_sampler_new(&r->sampler, cli->ctx, r->emul);
	if (error)
		return cli_fail(cli, error);
	code = add_events(r);
	error = !code && r->requests
		    ? pmu_sampler_choose_requests(r->sampler, cli->ctx, r->requests)
		    : 0;
	if (error)
		return cli_fail(cli, error);
	code = code ? code : program_find(cli, &r->program, program, r->machine, &options);
	if (code)
		return code;
	error = pmu_sampler_run(r->sampler, cli->ctx, r->program, r->file, argv, &result);
	/* Where the program was not the reason. */
	if (error && (result.ran || !result.exit))
		return cli_fail(cli, error);
	code = program_said(cli, error, &result, program);
	if (code)
		return code;
	cli_error(cli, 0, "%llu samples in %s", (unsigned long long)pmu_sampler_samples(r->sampler),
		  r->file);
	return result.exit;
}

int cli_record(struct cli *cli, int argc, char **argv)
{
	struct recording r = {.cli = cli, .period = DEFAULT_PERIOD, .file = DEFAULT_FILE};
	int code;

	r.events = calloc((size_t)argc, sizeof(*r.events));
	if (!r.events)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	code = read_options(cli, &r, argc, argv);
	if (!code)
		code = run(&r, argv, argv + optind);
	pmu_program_free(r.program);
	pmu_sampler_free(r.sampler);
	pmu_emul_free(r.emul);
	free(r.events);
	return code < 0 ? EXIT_DONE : code;
}
