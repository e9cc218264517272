#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/host.h"
#include "cli/program.h"
#include "cli/report.h"
#include "cli/stat_events.h"
#include "cli/stat_repeat.h"
#include "cli/stat_watch.h"

static void usage(FILE *file)
{
	fprintf(
	    file,
	    "usage: pmulab stat [-M MACHINE] [-e EVENT,...] [-m METRIC,...] [OPTIONS]\n"
	    "                   [--] PROGRAM [ARGUMENTS]\n"
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
	    "the program alone.\n"
	    "\n"
	    "  -M, --machine MACHINE   a name from pmulab machines, or a file (FILE.json)\n"
	    "  -e, --event EVENT,...   count these events\n"
	    "  -m, --metric METRIC,... count the events of these metrics, and compute them\n"
	    "                          also NAME[UNIT]=EQUATION, of events and metrics\n"
	    "  --raw                   metrics by the manual's equation, in its unit: bytes, not\n"
	    "                          GB/s; cycles, not ns\n"
	    "  -a, --all-cpus          count all CPUs; uncore counters always do\n"
	    "  --feed qemu|valgrind    run the program in this emulator; default: qemu\n"
	    "  --pmu PMU               use this PMU; default: the processor's first\n"
	    "  -A, --no-aggr, --per-box, --per-core\n"
	    "                          print each instance of a box\n"
	    "  --per-socket            print each socket; the default\n"
	    "  -I, --interval MS       print counts each MS milliseconds of the machine's time\n"
	    "  -D, --delay MS          begin to count after MS milliseconds\n"
	    "  --timeout MS            end the program after MS milliseconds\n"
	    "  -r, --repeat N          run N times; print means and standard deviations\n"
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
	    "  --clock wall|machine    with -M: show the program this computer's time (default),\n"
	    "                          or the machine's\n"
	    "  --why                   print each event's PMU and counter, and what conflicts\n"
	    "  --force                 use enabled counters of others; give them back\n"
	    "  --dry-run               print every register access; make none\n"
	    "  --trace-registers FILE  write every register access to FILE, a line each\n"
	    "  --replay FILE           answer accesses from such a FILE; run no program\n"
	    "  --root DIR              read /dev/cpu, /sys and /proc under DIR\n",
	    cli_example_machine());
}

/* Programs, runs, reads. Everything that can be wrong in what the user wrote is found before. */
static int measure(const struct cli *cli, struct stat_run *run, char **argv)
{
	struct pmu_program_result result = {.size = sizeof(result)};
	const bool later = run->options.delay_ms > 0;
	int code, watched,
	    error = later ? pmu_session_assign(run->session, cli->ctx)
			  : pmu_session_start(run->session, cli->ctx);
	struct stat_watch *watch;
	double start;

	if (error)
		return cli_fail(cli, error);
	run->started = !later;
	stat_warn_absent(cli, run);
	start = pmu_emul_time_ns(run->emul);
	code = stat_watch_begin(&watch, cli, run);
	if (code)
		return code;
	error = pmu_program_run(run->program, cli->ctx, run->emul, &result);
	watched = stat_watch_end(watch);
	code = program_said(cli, error, &result, argv);
	if (!code && !run->started)
		code = cli_error(cli, EXIT_FAILED, "the program ended before the delay of %.9g ms",
				 run->options.delay_ms);
	code = code ? code : watched;
	/* Of a program that never ran there are no counts, not even 0. */
	if (code)
		return code;
	run->exit = result.exit;
	run->ran = true;
	error = pmu_session_stop(run->session, cli->ctx);
	if (!error)
		error = pmu_session_read(run->session, cli->ctx, &run->counts, &run->count_count);
	if (error) {
		run->counts = NULL;
		run->count_count = 0;
		return cli_fail(cli, error);
	}
	run->seconds = (pmu_emul_time_ns(run->emul) - start) * 1e-9;
	run->statistics.size = sizeof(run->statistics);
	pmu_emul_statistics(run->emul, &run->statistics);
	return 0;
}

/* Puts a register trace between the session and the registers. */
static int trace_registers(const struct cli *cli, struct stat_run *run)
{
	struct pmu_bus *tracing;
	int error;

	if (!run->options.trace_registers)
		return 0;
	run->file = fopen(run->options.trace_registers, "we");
	if (!run->file)
		return cli_error(cli, EXIT_FAILED, "cannot write %s: %s",
				 run->options.trace_registers, strerror(errno));
	run->trace = open_memstream(&run->trace_text, &run->trace_bytes);
	if (!run->trace)
		return cli_error(cli, EXIT_FAILED, "out of memory for a register trace");
	error = pmu_bus_register_trace(&tracing, cli->ctx, run->bus, run->trace);
	if (error)
		return cli_fail(cli, error);
	run->traced = run->bus;
	run->bus = tracing;
	return 0;
}

static int place(const struct cli *cli, const struct stat_run *run)
{
	const struct stat_options *options = &run->options;
	const char *nodes = options->interleave ? options->interleave : options->membind;
	int error = options->pin ? pmu_emul_pin(run->emul, cli->ctx, options->pin) : 0;

	if (error || !nodes)
		return error;
	return pmu_emul_bind_memory(run->emul, cli->ctx, nodes, options->interleave);
}

static int open_emulated(const struct cli *cli, struct stat_run *run)
{
	int error = pmu_emul_new(&run->emul, cli->ctx, run->machine);

	if (!error && run->options.deterministic)
		pmu_emul_take_turns(run->emul);
	if (!error && run->options.machine_clock)
		pmu_emul_set_clock(run->emul);
	if (!error)
		error = place(cli, run);
	return error ? error : pmu_emul_bus(&run->bus, cli->ctx, run->emul);
}

static int open_session(const struct cli *cli, struct stat_run *run,
			const struct stat_wanted *wanted)
{
	int code = 0, error = 0;

	if (run->machine && !run->options.dry_run)
		error = open_emulated(cli, run);
	else
		code = host_open(cli, run, stat_first_events(wanted));
	if (error)
		code = cli_fail(cli, error);
	if (!code)
		code = trace_registers(cli, run);
	if (code)
		return code;
	run->pmu = pmu_bus_pmu(run->bus);
	error = pmu_session_new(&run->session, cli->ctx, run->bus);
	if (error && !run->machine)
		code = host_open_kernel(cli, run, error);
	else if (error)
		code = cli_fail(cli, error);
	if (!code && run->emul)
		pmu_session_spread(run->session);
	return code ? code : stat_add(cli, run, wanted);
}

static int open_output(struct cli *cli, struct stat_run *run)
{
	/* Of several runs, the first opened it. */
	if (!run->output || run->output_open)
		return 0;
	run->output_open = true;
	if (!strcmp(run->output, "-")) {
		cli->out = stdout;
		return 0;
	}
	cli->out = fopen(run->output, "we");
	return cli->out ? 0
			: cli_error(cli, EXIT_FAILED, "cannot write %s: %s", run->output,
				    strerror(errno));
}

static int measure_emulated(struct cli *cli, struct stat_run *run, char **argv)
{
	const struct pmu_program_options options = {.feed = run->options.feed};
	int code = program_find(cli, &run->program, argv, run->machine, &options);

	if (code)
		return code;
	code = open_output(cli, run);
	return code ? code : measure(cli, run, argv);
}

static int measure_here(struct cli *cli, struct stat_run *run, char **argv)
{
	int code = open_output(cli, run);

	return code ? code : host_measure(cli, run, argv);
}

static void stat_release(struct stat_run *run)
{
	stat_events_fini(run);
	pmu_program_free(run->program);
	pmu_session_free(run->session);
	pmu_bus_free(run->bus);
	pmu_bus_free(run->traced);
	pmu_emul_free(run->emul);
	run->program = NULL;
	run->metrics = NULL;
	run->metric_count = 0;
	run->session = NULL;
	run->bus = run->traced = NULL;
	run->emul = NULL;
	run->counts = NULL;
	run->count_count = 0;
	run->started = run->ran = false;
}

static int stat_once(struct cli *cli, struct stat_run *run, const struct stat_wanted *wanted,
		     char **argv)
{
	int code = open_session(cli, run, wanted);

	if (code)
		return code;
	return run->machine && !run->dry_run ? measure_emulated(cli, run, argv)
					     : measure_here(cli, run, argv);
}

/* Each run has a machine, or counters, of its own. */
static int stat_all(struct cli *cli, struct stat_run *run, const struct stat_wanted *wanted,
		    char **argv)
{
	int code = 0;

	for (unsigned i = 0; i < (run->options.repeat ? run->options.repeat : 1) && !code; i++) {
		if (i)
			stat_release(run);
		code = stat_once(cli, run, wanted, argv);
		if (!code && run->options.repeat)
			code = stat_repeat_add(cli, run);
	}
	return code;
}

static int stat(struct cli *cli, struct stat_run *run, const struct stat_wanted *wanted,
		char **argv)
{
	int code = stat_all(cli, run, wanted, argv), said = 0;

	if (!code)
		said = run->dry_run ? host_print_accesses(cli, run) : stat_report(cli, run, argv);
	else if (run->started && !run->ran && cli_is_json(cli))
		stat_report(cli, run, argv);
	if (!code && !said && run->options.why && cli->format == CLI_TABLE)
		said = stat_print_assignment(cli, run);
	if (run->output && cli->out && cli->out != stdout && cli->out != stderr &&
	    fclose(cli->out) && !said)
		said = cli_error(cli, EXIT_FAILED, "cannot write %s: %s", run->output,
				 strerror(errno));
	code = code ? code : said;
	return code ? code : run->exit;
}

static int add_process_event(const struct cli *cli, struct stat_run *run, const char *text)
{
	struct process_run *process = &run->process;

	if (process->event_count == PROCESS_EVENTS_MAX)
		return cli_error(cli, EXIT_USAGE, "more than %d events", PROCESS_EVENTS_MAX);
	process->events[process->event_count] = strdup(text);
	if (!process->events[process->event_count])
		return cli_error(cli, EXIT_FAILED, "out of memory");
	process->event_count++;
	return 0;
}

static int stat_process(struct cli *cli, struct stat_run *run, const struct stat_wanted *wanted,
			char **argv)
{
	size_t added;
	int code;

	if (run->options.all_cpus || run->options.interval_ms > 0 || run->options.delay_ms > 0 ||
	    run->options.timeout_ms > 0 || run->options.repeat)
		return cli_error(cli, EXIT_USAGE,
				 "the kernel counts one program here, once: -a, -I, -D, -r and "
				 "--timeout need -M, or a PMU of the catalog");
	run->process.output = run->output;
	code = stat_each_word(cli, run, &wanted->events, add_process_event);
	added = run->process.event_count;
	code = code ? code : process_stat(cli, &run->process, argv);
	for (size_t i = 0; i < added; i++)
		free((char *)run->process.events[i]);
	return code;
}

enum {
	READ_HELP = -1,
	OPTION_DRY_RUN = 256,
	OPTION_FEED,
	OPTION_FORCE,
	OPTION_PMU,
	OPTION_TRACE_REGISTERS,
	OPTION_REPLAY,
	OPTION_ROOT,
	OPTION_DETERMINISTIC,
	OPTION_WHY,
	OPTION_RAW,
	OPTION_TIMEOUT,
	OPTION_PER_CORE,
	OPTION_PER_SOCKET,
	OPTION_PIN,
	OPTION_MEMBIND,
	OPTION_INTERLEAVE,
	OPTION_CLOCK,
};

/* Milliseconds. */
static int read_number(const struct cli *cli, const char *option, const char *text, double least,
		       double *value)
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

static int set_clock(const struct cli *cli, struct stat_run *run, const char *clock)
{
	run->options.machine_clock = !strcmp(clock, "machine");
	if (run->options.machine_clock || !strcmp(clock, "wall"))
		return 0;
	return cli_error(cli, EXIT_USAGE, "no clock \"%s\"; valid: machine, wall", clock);
}

static int read_option(struct cli *cli, struct stat_run *run, struct stat_wanted *wanted,
		       int option)
{
	switch (option) {
	case 'M':
		run->machine = cli_find_machine(cli, optarg);
		return run->machine ? 0 : EXIT_USAGE;
	case 'e':
		wanted->events.words[wanted->events.count++] = optarg;
		return 0;
	case 'm':
		wanted->metrics.words[wanted->metrics.count++] = optarg;
		return 0;
	case 'a':
		run->options.all_cpus = true;
		return 0;
	case 'b':
		run->per_box = true;
		return 0;
	case 'f':
		if (strcmp(optarg, "jsonl"))
			return cli_set_format(cli, optarg);
		cli->format = CLI_JSONL;
		return 0;
	case 'o':
		run->output = optarg;
		return 0;
	case 'h':
		usage(stdout);
		return READ_HELP;
	case OPTION_DRY_RUN:
		run->options.dry_run = true;
		return 0;
	case OPTION_FEED:
		return cli_set_feed(cli, &run->options.feed, optarg);
	case OPTION_FORCE:
		run->options.force = true;
		return 0;
	case OPTION_PMU:
		run->options.pmu = optarg;
		return 0;
	case OPTION_TRACE_REGISTERS:
		run->options.trace_registers = optarg;
		return 0;
	case OPTION_REPLAY:
		run->options.replay = optarg;
		return 0;
	case OPTION_ROOT:
		run->options.root = optarg;
		return 0;
	case OPTION_DETERMINISTIC:
		run->options.deterministic = true;
		return 0;
	case 'A':
	case OPTION_PER_CORE:
		run->per_box = true;
		return 0;
	case OPTION_PER_SOCKET:
		return 0;
	case 'v':
		run->options.why = true;
		return 0;
	case 'I':
		return read_number(cli, "-I", optarg, 0.001, &run->options.interval_ms);
	case 'D':
		return read_number(cli, "-D", optarg, 0, &run->options.delay_ms);
	case OPTION_TIMEOUT:
		return read_number(cli, "--timeout", optarg, 0.001, &run->options.timeout_ms);
	case 'r':
		return read_repeat(cli, run, optarg);
	case 'x':
		return read_separator(cli, optarg);
	case OPTION_RAW:
		run->options.raw = true;
		return 0;
	case OPTION_WHY:
		run->options.why = true;
		return 0;
	case OPTION_PIN:
		run->options.pin = optarg;
		return 0;
	case OPTION_MEMBIND:
		run->options.membind = optarg;
		return 0;
	case OPTION_INTERLEAVE:
		run->options.interleave = optarg;
		return 0;
	case OPTION_CLOCK:
		return set_clock(cli, run, optarg);
	default:
		return EXIT_USAGE;
	}
}

/* @return 0, READ_HELP or EXIT_USAGE */
static int read_arguments(struct cli *cli, struct stat_run *run, struct stat_wanted *wanted,
			  int argc, char **argv)
{
	static const struct option options[] = {
	    {"machine", required_argument, NULL, 'M'},
	    {"event", required_argument, NULL, 'e'},
	    {"metric", required_argument, NULL, 'm'},
	    {"all-cpus", no_argument, NULL, 'a'},
	    {"per-box", no_argument, NULL, 'b'},
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
	    {"repeat", required_argument, NULL, 'r'},
	    {"separator", required_argument, NULL, 'x'},
	    {"no-aggr", no_argument, NULL, 'A'},
	    {"per-core", no_argument, NULL, OPTION_PER_CORE},
	    {"per-socket", no_argument, NULL, OPTION_PER_SOCKET},
	    {"verbose", no_argument, NULL, 'v'},
	    {"raw", no_argument, NULL, OPTION_RAW},
	    {"why", no_argument, NULL, OPTION_WHY},
	    {"deterministic", no_argument, NULL, OPTION_DETERMINISTIC},
	    {"pin", required_argument, NULL, OPTION_PIN},
	    {"membind", required_argument, NULL, OPTION_MEMBIND},
	    {"interleave", required_argument, NULL, OPTION_INTERLEAVE},
	    {"clock", required_argument, NULL, OPTION_CLOCK},
	    {0}};

	for (int option;
	     (option = getopt_long(argc, argv, "+M:e:m:ao:hI:D:r:x:Av", options, NULL)) != -1;) {
		int code = read_option(cli, run, wanted, option);

		if (code)
			return code;
	}
	if (run->options.replay &&
	    (run->machine || run->options.trace_registers || run->options.dry_run))
		return cli_error(cli, EXIT_USAGE,
				 "--replay excludes -M, --trace-registers and --dry-run");
	if (run->options.pmu && !cli_find_pmu(cli, run->options.pmu))
		return EXIT_USAGE;
	if (run->options.pmu && run->machine &&
	    strcmp(pmu_machine_pmu_name(run->machine),
		   pmu_pmu_name(pmu_find_pmu(run->options.pmu))) != 0)
		return cli_error(cli, EXIT_USAGE, "%s has PMU %s, not %s",
				 pmu_machine_name(run->machine), pmu_machine_pmu_name(run->machine),
				 run->options.pmu);
	if (run->options.feed != PMU_FEED_QEMU && !run->machine)
		return cli_error(cli, EXIT_USAGE, "--feed needs -M");
	if (run->options.deterministic && !run->machine)
		return cli_error(cli, EXIT_USAGE, "--deterministic needs -M");
	if ((run->options.replay || run->options.dry_run) &&
	    (run->options.interval_ms > 0 || run->options.delay_ms > 0 ||
	     run->options.timeout_ms > 0 || run->options.repeat))
		return cli_error(cli, EXIT_USAGE,
				 "-I, -D, -r and --timeout need a program that runs");
	if (run->options.repeat && run->options.trace_registers)
		return cli_error(cli, EXIT_USAGE, "-r excludes --trace-registers");
	if (run->options.interval_ms > 0 && cli->format == CLI_JSON)
		return cli_error(cli, EXIT_USAGE, "-I prints --format table, csv or jsonl");
	if ((run->options.pin || run->options.membind || run->options.interleave) && !run->machine)
		return cli_error(cli, EXIT_USAGE, "--pin, --membind and --interleave need -M");
	if (run->options.machine_clock && (!run->machine || run->options.feed != PMU_FEED_QEMU))
		return cli_error(cli, EXIT_USAGE, "--clock machine needs -M and --feed qemu");
	if (run->options.membind && run->options.interleave)
		return cli_error(cli, EXIT_USAGE, "--membind excludes --interleave");
	if (run->options.replay && optind < argc)
		return cli_error(cli, EXIT_USAGE,
				 "--replay runs no PROGRAM: unexpected argument %s", argv[optind]);
	return 0;
}

static int stat_with(struct cli *cli, struct stat_run *run, struct stat_wanted *wanted, int argc,
		     char **argv)
{
	int code = read_arguments(cli, run, wanted, argc, argv);

	if (code == READ_HELP)
		return EXIT_DONE;
	if (!code && optind == argc && !run->options.dry_run && !run->options.replay)
		code = cli_error(cli, EXIT_USAGE, "PROGRAM is missing; see pmulab stat --help");
	if (code)
		return code;
	/* What takes the place of a program's output goes where that would. */
	if (run->options.dry_run || run->options.replay)
		cli->out = stdout;
	if (host_counts_process(cli, run, stat_first_events(wanted), wanted->metrics.count))
		return stat_process(cli, run, wanted, argv + optind);
	if (run->machine)
		run->target = pmu_machine_name(run->machine);
	code = stat(cli, run, wanted, argv + optind);
	stat_release(run);
	stat_repeat_fini(run);
	return host_close(cli, run, code);
}

int cli_stat(struct cli *cli, int argc, char **argv)
{
	struct stat_wanted wanted = {0};
	struct stat_run run = {0};
	int code;

	cli->out = stderr;
	code = stat_wanted_init(cli, &wanted, argc);
	if (!code)
		code = stat_with(cli, &run, &wanted, argc, argv);
	stat_wanted_fini(&wanted);
	return code;
}
