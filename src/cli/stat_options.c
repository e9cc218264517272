#include "cli/stat_options.h"

#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/attribution.h"
#include "cli/program.h"
#include "cli/stat_cpus.h"

static void usage_of_annotate(FILE *file)
{
	fputs("usage: pmulab annotate -M MACHINE [-e EVENT,...] [-m METRIC,...] [OPTIONS]\n"
	      "                       [--] PROGRAM [ARGUMENTS]\n"
	      "\n"
	      "Runs a program on an emulated machine, and prints its source with the counts\n"
	      "that each line causes. It has to be compiled with debug information. The same as\n"
	      "pmulab stat --by source:\n"
	      "\n",
	      file);
}

static void usage(FILE *file)
{
	fprintf(
	    file,
	    "usage: pmulab stat [-M MACHINE] [-e EVENT,...] [-m METRIC,...] [OPTIONS]\n"
	    "                   [--] PROGRAM [ARGUMENTS]\n"
	    "       pmulab stat -p PID | -C CPU,... | -a [-e EVENT,...] [OPTIONS]\n"
	    "       pmulab stat --dry-run [-M MACHINE | --pmu PMU] -e EVENT,...\n"
	    "       pmulab stat --replay FILE -e EVENT,...\n"
	    "\n"
	    "Runs a program and counts events, per socket and in total. The report goes to\n"
	    "standard error; of --dry-run and --replay, which run no program, to standard\n"
	    "output. The exit code is the program's.\n"
	    "\n"
	    "Example: pmulab stat -M %s -e imc.CAS_COUNT.RD -- ls\n"
	    "\n"
	    "With -M, the program runs on an emulated machine; without -e and -m, pmulab\n"
	    "counts the events that the machine's description names. Without -M, the program\n"
	    "runs on this computer, and the uncore counts everything that runs at that time.\n"
	    "Without events, or with names of libpfm4 (CYCLES, PAGE-FAULTS), the kernel counts\n"
	    "the program alone. Without PROGRAM, -C and -a count until Ctrl-C or --timeout.\n"
	    "\n"
	    "  -M, --machine MACHINE   a name from pmulab machines, or a file (FILE.json)\n"
	    "  -e, --event EVENT,...   count these events\n"
	    "  -m, --metric METRIC,... count the events of these metrics, and compute them\n"
	    "                          also NAME[UNIT]=EQUATION, of events and metrics\n"
	    "  -g, --group GROUP       count the events and metrics of a group: a name, a file, "
	    "or\n"
	    "                          LIKWID's EVENT:COUNTER,...; pmulab list groups\n"
	    "  --raw                   metrics by the manual's equation, in its unit: bytes, not\n"
	    "                          GB/s; cycles, not ns\n"
	    "  -a, --all-cpus          count all CPUs; uncore counters always do\n"
	    "  -C, --cpu CPU,...       count these CPUs, and the uncore of their sockets: 0,2-3\n"
	    "  -p, --pid PID           without -M: count until this process ends, and what the\n"
	    "                          kernel counts of it alone\n"
	    "  --feed qemu|valgrind    run the program in this emulator; default: qemu\n"
	    "  --pmu PMU               use this PMU; default: the processor's first\n",
	    cli_example_machine());
	fputs(
	    "  -A, --no-aggr, --per-box, --per-core\n"
	    "                          print each instance of a box\n"
	    "  --per-socket            print each socket; the default\n"
	    "  -I, --interval MS       print counts each MS milliseconds of the machine's time\n"
	    "  -D, --delay MS          begin to count after MS milliseconds\n"
	    "  --timeout MS            end the program after MS milliseconds\n"
	    "  --multiplex MS          groups of events take turns of MS milliseconds; counts\n"
	    "                          are estimates; with -M: the truth too. Without -M, what\n"
	    "                          the PMU cannot count at once takes turns of 100 ms\n"
	    "  -r, --repeat N          run N times; print means and standard deviations\n"
	    "  --repeat-groups         run once for each group of events that the PMU can count\n"
	    "                          at once; not needed with -M\n"
	    "  --by function|line|thread|region|source\n"
	    "                          with -M: print where the counts come from\n"
	    "  --format table|json|jsonl|csv\n"
	    "                          print the report in this format; jsonl: a line each\n"
	    "  -x, --separator CHAR    print CSV with this character between values\n"
	    "  -o, --output FILE       write the report to FILE; -: to standard output\n"
	    "  -v, --verbose           the same as --why\n"
	    "  --deterministic         with -M: threads run one at a time, in turns by emulated\n"
	    "                          time, so that each run gives the same counts\n"
	    "  --pin CPU,...           with -M: run threads on these cores: 0,2-3\n"
	    "  --membind NODE,...      with -M: place pages in the memory of these sockets\n"
	    "  --interleave NODE,...   with -M: place pages on these sockets in turns\n"
	    "  --prefetchers all|none|NAME,...\n"
	    "                          with -M: switch on only these of every core: streamer,\n"
	    "                          adjacent, next-line, stride\n"
	    "  --clock wall|machine    with -M: show the program this computer's time (default),\n"
	    "                          or the machine's\n"
	    "  --why                   print each event's PMU and counter, and what conflicts\n"
	    "  --force                 use enabled counters of others; give them back\n"
	    "  --dry-run               print every register access; make none\n"
	    "  --trace-registers FILE  write every register access to FILE, a line each\n"
	    "  --replay FILE           answer accesses from such a FILE; run no program\n"
	    "  --root DIR              read /dev/cpu, /sys and /proc under DIR\n",
	    file);
}

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
	return cli_error(cli, EXIT_USAGE, "%s takes milliseconds, %g or more, not \"%s\"", option,
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

static int read_separator(struct cli *cli, const char *text)
{
	cli->format = CLI_CSV;
	cli->separator = strcmp(text, "\\t") ? *text : '\t';
	if (*text && (!text[1] || cli->separator == '\t'))
		return 0;
	return cli_error(cli, EXIT_USAGE, "-x takes one character, not \"%s\"", text);
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

/* One more than other commands have. */
static int set_format(struct cli *cli, const char *format)
{
	if (strcmp(format, "jsonl") != 0)
		return cli_set_format(cli, format);
	cli->format = CLI_JSONL;
	return 0;
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
		return set_format(cli, optarg);
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
			usage_of_annotate(stdout);
		usage(stdout);
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
	const bool qemu = run->machine && options->feed == PMU_FEED_QEMU;
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
	    {options->prefetchers && !run->machine, "--prefetchers needs -M"},
	    {options->membind && options->interleave, "--membind excludes --interleave"},
	    {options->by && !run->machine, "--by needs -M"},
	    {options->by && (options->interval_ms > 0 || options->delay_ms > 0 || options->repeat),
	     "--by excludes -I, -D and -r"},
	    {options->by && options->multiplex_ms > 0, "--by excludes --multiplex"},
	    {options->by && options->dry_run, "--by needs a program that runs"},
	    {options->machine_clock && !qemu, "--clock machine needs -M and --feed qemu"},
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
		return cli_error(cli, EXIT_USAGE, "PROGRAM is missing; see pmulab stat --help");
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
	code = check_pmu(cli, run);
	code = code ? code : check_options(cli, run);
	return code ? code : check_program(cli, run, optind < argc ? argv[optind] : NULL);
}
