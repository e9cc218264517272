#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/attribution.h"
#include "cli/host.h"
#include "cli/process.h"
#include "cli/program.h"
#include "cli/report.h"
#include "cli/stat_cpus.h"
#include "cli/stat_events.h"
#include "cli/stat_multiplex.h"
#include "cli/stat_options.h"
#include "cli/stat_repeat.h"
#include "cli/stat_separate.h"
#include "cli/stat_turns.h"
#include "cli/stat_watch.h"

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
	if (!run->runs)
		stat_warn_absent(cli, run);
	code = attribution_begin(cli, run);
	if (!code && run->options.multiplex_ms > 0)
		code = stat_multiplex_init(cli, run);
	if (code)
		return code;
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
	return attribution_end(cli, run);
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
	if (!error && run->options.prefetchers)
		error = pmu_emul_set_prefetchers(run->emul, cli->ctx, run->options.prefetchers);
	if (!error && run->options.kernel_io)
		error = pmu_emul_set_kernel_io(run->emul, cli->ctx);
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
	code = code ? code : stat_cpus_limit(cli, run);
	code = code ? code : stat_add(cli, run, wanted);
	if (code || !stat_divides(run))
		return code;
	return stat_separate_plan(cli, run);
}

static int open_output(struct cli *cli, struct stat_run *run)
{
	/* Of several runs, the first opened it. */
	if (!run->output || run->output_open)
		return 0;
	run->output_open = true;
	return cli_open_output(cli, run->output);
}

static int measure_emulated(struct cli *cli, struct stat_run *run, char **argv)
{
	const struct pmu_program_options options = {.feed = run->options.feed};
	int code = run->options.root ? cli_set_root(cli, run->options.root) : 0;

	if (!code)
		code = program_find(cli, &run->program, argv, run->machine, &options);
	if (!code)
		code = open_output(cli, run);
	return code ? code : measure(cli, run, argv);
}

static int measure_here(struct cli *cli, struct stat_run *run, char **argv)
{
	int code = open_output(cli, run);

	if (code)
		return code;
	if (run->groups > 1 && run->options.multiplex_ms > 0)
		return stat_turns_measure(cli, run, argv);
	return run->groups ? stat_separate_measure(cli, run, argv) : host_measure(cli, run, argv);
}

static void stat_release(struct stat_run *run)
{
	stat_events_fini(run);
	attribution_free(run->attribution);
	stat_multiplex_fini(run);
	pmu_program_free(run->program);
	pmu_session_free(run->session);
	free(run->group_counts);
	pmu_bus_free(run->bus);
	pmu_bus_free(run->traced);
	pmu_emul_free(run->emul);
	run->attribution = NULL;
	run->program = NULL;
	run->metrics = NULL;
	run->metric_count = 0;
	run->session = NULL;
	run->bus = run->traced = NULL;
	run->emul = NULL;
	run->counts = run->group_counts = NULL;
	run->count_count = run->groups = 0;
	run->counted_from = 0;
	run->before_counting = (struct pmu_emul_statistics){0};
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
	if (!code && !said && run->slices && cli->format == CLI_TABLE)
		said = stat_multiplex_print(cli, run);
	said = cli_close_output(cli, said);
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

	if (run->options.multiplex_ms > 0)
		return cli_error(cli, EXIT_USAGE,
				 "the kernel counts here, by turns of its own: --multiplex needs "
				 "-M, or a PMU of the catalog");
	run->process.output = run->output;
	run->process.repeat_groups = run->options.repeat_groups;
	run->process.pid = run->options.pid;
	run->process.timeout_ms = run->options.timeout_ms;
	run->process.interval_ms = run->options.interval_ms;
	run->process.delay_ms = run->options.delay_ms;
	run->process.repeat = run->options.repeat;
	code = run->options.all_cpus && !run->options.cpu_list
		   ? stat_cpus_all(cli, &run->options.cpus)
		   : 0;
	run->process.cpu_list = run->options.cpu_list;
	run->process.cpus = run->options.cpus.numbers;
	run->process.cpu_count = run->options.cpus.count;
	if (!code)
		code = stat_each_word(cli, run, &wanted->events, add_process_event);
	added = run->process.event_count;
	code = code ? code : process_stat(cli, &run->process, argv);
	for (size_t i = 0; i < added; i++)
		free((char *)run->process.events[i]);
	return code;
}

static int stat_with(struct cli *cli, struct stat_run *run, struct stat_wanted *wanted, int argc,
		     char **argv)
{
	int code = stat_read_options(cli, run, wanted, argc, argv);

	if (code == STAT_HELP)
		return EXIT_DONE;
	if (code)
		return code;
	/* What takes the place of a program's output goes where that would. */
	if (run->options.dry_run || run->options.replay)
		cli->out = stdout;
	if (host_counts_process(cli, run, stat_first_events(wanted),
				wanted->metrics.count || wanted->groups.count))
		return stat_process(cli, run, wanted, argv + optind);
	if (run->machine)
		run->target = pmu_machine_name(run->machine);
	code = stat(cli, run, wanted, argv + optind);
	stat_release(run);
	stat_repeat_fini(run);
	return host_close(cli, run, code);
}

static int stat_by(struct cli *cli, enum stat_by by, int argc, char **argv)
{
	struct stat_run run = {.options.by = by};
	struct stat_wanted wanted = {0};
	int code;

	cli->out = stderr;
	code = stat_wanted_init(cli, &wanted, argc);
	if (!code)
		code = stat_with(cli, &run, &wanted, argc, argv);
	stat_wanted_fini(&wanted);
	return code;
}

int cli_stat(struct cli *cli, int argc, char **argv)
{
	return stat_by(cli, STAT_BY_NOTHING, argc, argv);
}

int cli_annotate(struct cli *cli, int argc, char **argv)
{
	return stat_by(cli, STAT_BY_SOURCE, argc, argv);
}
