#include "cli/stat_options.h"

#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/attribution.h"
#include "cli/program.h"
#include "cli/stat_cpus.h"
#include "cli/stat_usage.h"

enum {
	OPTION_DRY_RUN = 256,
	OPTION_FEED,
	OPTION_FORCE,
	OPTION_PMU,
	OPTION_TRACE_REGISTERS,
	OPTION_REPLAY,
	OPTION_ROOT,
	OPTION_DETERMINISTIC,
	OPTION_RAW,
	OPTION_REPEAT_GROUPS,
	OPTION_TIMEOUT,
	OPTION_PER_SOCKET,
	OPTION_PIN,
	OPTION_PREFETCHERS,
	OPTION_MEMBIND,
	OPTION_MULTIPLEX,
	OPTION_INTERLEAVE,
	OPTION_KERNEL_IO,
	OPTION_CLOCK,
	OPTION_BY,
};

static int read_milliseconds(const struct cli *cli, const char *option, const char *text,
			     double least, double *value)
{
	char *end;

	*value = strtod(text, &end);
	if (end != text && !*end && *value >= least && *value <= 1e12)
		return 0;
	return cli_error(cli, EXIT_USAGE, "%s takes milliseconds, %g to 1e12, not \"%s\"", option,
			 least, text);
}

static int read_repeat(const struct cli *cli, struct stat_run *run, const char *text)
{
	char *end;
	unsigned long runs = strtoul(text, &end, 10);

	run->options.repeat = (unsigned)runs;
	if (end != text && !*end && runs > 0 && runs <= 100000 && *text != '-')
		return 0;
	return cli_error(cli, EXIT_USAGE, "-r takes a number of runs, 1 to 100000, not \"%s\"",
			 text);
}

/* Anything else could be a part of a value, or of a character. */
static bool separates(char c)
{
	return !strchr("\"\r\n0123456789", c) && !((unsigned char)c & 0x80);
}

static int read_separator(struct cli *cli, const char *text)
{
	cli->separator = strcmp(text, "\\t") ? *text : '\t';
	if (*text && (!text[1] || cli->separator == '\t') && separates(cli->separator))
		return 0;
	return cli_error(
	    cli, EXIT_USAGE,
	    "-x takes one character of ASCII, no digit, quote or line break, not \"%s\"", text);
}

static int read_pid(const struct cli *cli, pid_t *pid, const char *text)
{
	char *end;
	long value = strtol(text, &end, 10);

	*pid = (pid_t)value;
	if (end != text && !*end && value > 0 && value <= INT_MAX)
		return 0;
	return cli_error(cli, EXIT_USAGE, "-p takes the number of a process, not \"%s\"", text);
}

static int set_clock(const struct cli *cli, struct stat_run *run, const char *clock)
{
	run->options.machine_clock = !strcmp(clock, "machine");
	if (run->options.machine_clock || !strcmp(clock, "wall"))
		return 0;
	return cli_error(cli, EXIT_USAGE, "no clock \"%s\"; valid: machine, wall", clock);
}

static bool *flag_of(struct stat_run *run, int option)
{
	struct stat_options *options = &run->options;

	switch (option) {
	case 'a':
		return &options->all_cpus;
	case 'A':
		return &run->per_box;
	case 'v':
		return &options->why;
	case OPTION_DETERMINISTIC:
		return &options->deterministic;
	case OPTION_KERNEL_IO:
		return &options->kernel_io;
	case OPTION_DRY_RUN:
		return &options->dry_run;
	case OPTION_FORCE:
		return &options->force;
	case OPTION_RAW:
		return &options->raw;
	case OPTION_REPEAT_GROUPS:
		return &options->repeat_groups;
	default:
		return NULL;
	}
}

static const char **text_of(struct stat_run *run, int option)
{
	struct stat_options *options = &run->options;

	switch (option) {
	case 'o':
		return &run->output;
	case OPTION_INTERLEAVE:
		return &options->interleave;
	case OPTION_MEMBIND:
		return &options->membind;
	case OPTION_PIN:
		return &options->pin;
	case OPTION_PMU:
		return &options->pmu;
	case OPTION_PREFETCHERS:
		return &options->prefetchers;
	case OPTION_REPLAY:
		return &options->replay;
	case OPTION_ROOT:
		return &options->root;
	case OPTION_TRACE_REGISTERS:
		return &options->trace_registers;
	default:
		return NULL;
	}
}

/* One whose argument has values of its own. */
static int read_value(struct cli *cli, struct stat_run *run, struct stat_wanted *wanted, int option)
{
	switch (option) {
	case 'C':
		run->options.cpu_list = optarg;
		return stat_cpus_read(cli, &run->options.cpus, optarg);
	case 'p':
		return read_pid(cli, &run->options.pid, optarg);
	case 'M':
		run->machine = cli_find_machine(cli, optarg);
		return run->machine ? 0 : EXIT_USAGE;
	case 'e':
		wanted->events.words[wanted->events.count++] = optarg;
		return 0;
	case 'm':
		wanted->metrics.words[wanted->metrics.count++] = optarg;
		return 0;
	case 'g':
		wanted->groups.words[wanted->groups.count++] = optarg;
		return 0;
	case 'f':
		run->options.formatted = true;
		return cli_set_format_to(cli, optarg, CLI_JSONL);
	case 'I':
		return read_milliseconds(cli, "-I", optarg, 0.001, &run->options.interval_ms);
	case 'D':
		return read_milliseconds(cli, "-D", optarg, 0, &run->options.delay_ms);
	case OPTION_TIMEOUT:
		return read_milliseconds(cli, "--timeout", optarg, 0.001, &run->options.timeout_ms);
	case OPTION_MULTIPLEX:
		return read_milliseconds(cli, "--multiplex", optarg, 0.001,
					 &run->options.multiplex_ms);
	case 'r':
		return read_repeat(cli, run, optarg);
	case 'x':
		return read_separator(cli, optarg);
	case OPTION_BY:
		return attribution_read_by(cli, &run->options.by, optarg);
	case OPTION_CLOCK:
		return set_clock(cli, run, optarg);
	case OPTION_FEED:
		return cli_set_feed(cli, &run->options.feed, optarg);
	default:
		return EXIT_USAGE;
	}
}

static int read_option(struct cli *cli, struct stat_run *run, struct stat_wanted *wanted,
		       int option)
{
	bool *flag = flag_of(run, option);
	const char **text = text_of(run, option);

	if (option == 'h') {
		if (run->options.by == STAT_BY_SOURCE)
			stat_print_usage_of_annotate(stdout);
		stat_print_usage(stdout);
		return STAT_HELP;
	}
	if (flag)
		*flag = true;
	else if (text)
		*text = optarg;
	else if (option != OPTION_PER_SOCKET)
		return read_value(cli, run, wanted, option);
	return 0;
}

/* Options that only say something together, or only apart. */
static int check_options(const struct cli *cli, const struct stat_run *run)
{
	const struct stat_options *options = &run->options;
	const bool places = options->pin || options->membind || options->interleave;
	const bool times = options->interval_ms > 0 || options->delay_ms > 0 ||
			   options->timeout_ms > 0 || options->repeat;
	const struct {
		bool wrong;
		const char *what;
	} rules[] = {
	    {options->replay && (run->machine || options->trace_registers || options->dry_run),
	     "--replay excludes -M, --trace-registers and --dry-run"},
	    {(options->replay || options->dry_run) && times,
	     "-I, -D, -r and --timeout need a program that runs"},
	    {options->pid && run->machine,
	     "-p excludes -M: a process that runs cannot move to an emulated machine; name it as "
	     "PROGRAM, or start it by pmulab emulate --attach NAME"},
	    {options->pid && (options->dry_run || options->replay || options->repeat ||
			      options->repeat_groups || options->cpu_list),
	     "-p excludes -C, -r, --repeat-groups, --dry-run and --replay"},
	    {options->cpu_list && options->replay, "-C excludes --replay"},
	    {options->repeat && run->per_box,
	     "-r excludes -A: means are of all instances of a box together"},
	    {cli->separator && cli->format != CLI_CSV, "-x needs --format csv, or no --format"},
	    {options->why && cli->format != CLI_TABLE, "--why prints --format table"},
	    {options->dry_run && cli->format == CLI_JSONL,
	     "--dry-run prints --format table, json or csv"},
	    {options->root && run->machine && !options->dry_run && !pmu_machine_core(run->machine),
	     "--root with -M is for machines with IA-64 cores"},
	    {options->repeat && options->trace_registers, "-r excludes --trace-registers"},
	    {options->interval_ms > 0 && cli->format == CLI_JSON,
	     "-I prints --format table, csv or jsonl"},
	    {options->repeat_groups && (options->interval_ms > 0 || options->replay),
	     "--repeat-groups excludes -I and --replay"},
	    {options->multiplex_ms > 0 && !run->machine &&
		 (options->repeat_groups || options->delay_ms > 0 || options->dry_run ||
		  options->replay),
	     "--multiplex excludes --repeat-groups, -D, --dry-run and --replay"},
	    {options->multiplex_ms > 0 && (options->interval_ms > 0 || options->repeat),
	     "--multiplex excludes -I and -r"},
	    {options->multiplex_ms > 0 && cli->format == CLI_CSV,
	     "--multiplex prints --format table, json or jsonl"},
	    {options->feed != PMU_FEED_QEMU && !run->machine, "--feed needs -M"},
	    {options->deterministic && !run->machine, "--deterministic needs -M"},
	    {places && !run->machine, "--pin, --membind and --interleave need -M"},
	    {options->kernel_io && !run->machine, "--kernel-io needs -M"},
	    {options->prefetchers && !run->machine, "--prefetchers needs -M"},
	    {options->membind && options->interleave, "--membind excludes --interleave"},
	    /* By --by or annotate. */
	    {options->by && !run->machine,
	     "counts are attributed on a machine: -M MACHINE is missing; pmulab machines shows "
	     "them"},
	    {options->by && (options->interval_ms > 0 || options->delay_ms > 0 || options->repeat),
	     "counts are not attributed with -I, -D and -r"},
	    {options->by && options->multiplex_ms > 0,
	     "counts are not attributed with --multiplex"},
	    {options->by && options->dry_run, "counts are not attributed with --dry-run"},
	    {options->machine_clock && !run->machine, "--clock machine needs -M"},
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (rules[i].wrong)
			return cli_error(cli, EXIT_USAGE, "%s", rules[i].what);
	return 0;
}

/* --pmu, and that of the machine. */
static int check_pmu(const struct cli *cli, const struct stat_run *run)
{
	const struct pmu_pmu *pmu;

	if (!run->options.pmu)
		return 0;
	pmu = cli_find_pmu(cli, run->options.pmu);
	if (!pmu)
		return EXIT_USAGE;
	if (!run->machine || !strcmp(pmu_machine_pmu_name(run->machine), pmu_pmu_name(pmu)))
		return 0;
	return cli_error(cli, EXIT_USAGE, "%s has PMU %s, not %s", pmu_machine_name(run->machine),
			 pmu_machine_pmu_name(run->machine), run->options.pmu);
}

static int check_program(const struct cli *cli, const struct stat_run *run, const char *program)
{
	const struct stat_options *options = &run->options;

	if (program && options->replay)
		return cli_error(cli, EXIT_USAGE,
				 "--replay runs no PROGRAM: unexpected argument %s", program);
	if (program && options->pid)
		return cli_error(cli, EXIT_USAGE,
				 "-p counts process %ld, not a PROGRAM: unexpected argument %s",
				 (long)options->pid, program);
	if (!program && !run->machine && !options->repeat && !options->repeat_groups &&
	    (options->pid || options->cpu_list || options->all_cpus))
		return 0;
	if (!program && !options->dry_run && !options->replay)
		return cli_error(cli, EXIT_USAGE, "PROGRAM is missing; see pmulab %s --help",
				 cli->command);
	return 0;
}

int stat_read_options(struct cli *cli, struct stat_run *run, struct stat_wanted *wanted, int argc,
		      char **argv)
{
	static const struct option options[] = {
	    {"machine", required_argument, NULL, 'M'},
	    {"event", required_argument, NULL, 'e'},
	    {"metric", required_argument, NULL, 'm'},
	    {"group", required_argument, NULL, 'g'},
	    {"all-cpus", no_argument, NULL, 'a'},
	    {"cpu", required_argument, NULL, 'C'},
	    {"pid", required_argument, NULL, 'p'},
	    {"per-box", no_argument, NULL, 'A'},
	    {"format", required_argument, NULL, 'f'},
	    {"output", required_argument, NULL, 'o'},
	    {"help", no_argument, NULL, 'h'},
	    {"dry-run", no_argument, NULL, OPTION_DRY_RUN},
	    {"feed", required_argument, NULL, OPTION_FEED},
	    {"force", no_argument, NULL, OPTION_FORCE},
	    {"pmu", required_argument, NULL, OPTION_PMU},
	    {"trace-registers", required_argument, NULL, OPTION_TRACE_REGISTERS},
	    {"replay", required_argument, NULL, OPTION_REPLAY},
	    {"root", required_argument, NULL, OPTION_ROOT},
	    {"interval", required_argument, NULL, 'I'},
	    {"delay", required_argument, NULL, 'D'},
	    {"timeout", required_argument, NULL, OPTION_TIMEOUT},
	    {"multiplex", required_argument, NULL, OPTION_MULTIPLEX},
	    {"repeat", required_argument, NULL, 'r'},
	    {"repeat-groups", no_argument, NULL, OPTION_REPEAT_GROUPS},
	    {"separator", required_argument, NULL, 'x'},
	    {"no-aggr", no_argument, NULL, 'A'},
	    {"per-core", no_argument, NULL, 'A'},
	    {"per-socket", no_argument, NULL, OPTION_PER_SOCKET},
	    {"verbose", no_argument, NULL, 'v'},
	    {"raw", no_argument, NULL, OPTION_RAW},
	    {"why", no_argument, NULL, 'v'},
	    {"deterministic", no_argument, NULL, OPTION_DETERMINISTIC},
	    {"pin", required_argument, NULL, OPTION_PIN},
	    {"kernel-io", no_argument, NULL, OPTION_KERNEL_IO},
	    {"prefetchers", required_argument, NULL, OPTION_PREFETCHERS},
	    {"membind", required_argument, NULL, OPTION_MEMBIND},
	    {"interleave", required_argument, NULL, OPTION_INTERLEAVE},
	    {"clock", required_argument, NULL, OPTION_CLOCK},
	    {"by", required_argument, NULL, OPTION_BY},
	    {0}};
	int code;

	for (int option; (option = getopt_long(argc, argv, "+M:e:m:g:aC:p:o:hI:D:r:x:Av", options,
					       NULL)) != -1;) {
		code = read_option(cli, run, wanted, option);
		if (code)
			return code;
	}
	if (cli->separator && !run->options.formatted)
		cli->format = CLI_CSV;
	code = check_pmu(cli, run);
	code = code ? code : check_options(cli, run);
	return code ? code : check_program(cli, run, optind < argc ? argv[optind] : NULL);
}
