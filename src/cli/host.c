#include "cli/host.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/descriptors.h"
#include "cli/program.h"
#include "cli/stat_watch.h"
#include "pmulab/host.h"
#include "pmulab/notation.h"

struct stat_access {
	struct pmu_access_op op;
	bool write;
};

struct stat_dry_run {
	const struct pmu_pmu *pmu;
	struct stat_access *accesses;
	size_t count, capacity;
	bool lost;	      /* memory ran out */
	struct pmu_bus *part; /* the emulated one that is asked what it has; else NULL */
};

static void keep_access(void *arg, bool write, const struct pmu_access_op *op)
{
	struct stat_dry_run *dry_run = arg;

	if (dry_run->count == dry_run->capacity) {
		size_t capacity = 2 * dry_run->capacity + 256;
		struct stat_access *accesses =
		    realloc(dry_run->accesses, capacity * sizeof(*accesses));

		dry_run->lost |= !accesses;
		if (!accesses)
			return;
		dry_run->accesses = accesses;
		dry_run->capacity = capacity;
	}
	dry_run->accesses[dry_run->count++] = (struct stat_access){*op, write};
}

/* The first of events that commas outside braces divide; to be freed. NULL: no memory */
static char *first_of(const char *events)
{
	const char *item = "";
	size_t length = 0;

	pmu_event_list_next(&events, &item, &length);
	return strndup(item, length);
}

/* The PMU that is asked for, that of the computer, or that of the first event. */
static int choose_pmu(const struct cli *cli, const struct stat_run *run,
		      const struct pmu_host *host, const char *events, const struct pmu_pmu **pmu)
{
	struct pmu_selection selection;
	char *text;
	int error;

	if (run->options.pmu) {
		*pmu = cli_find_pmu(cli, run->options.pmu);
		return *pmu ? 0 : EXIT_USAGE;
	}
	*pmu = pmu_host_pmu(host);
	if (*pmu || !events)
		return *pmu ? 0
			    : cli_error(cli, EXIT_USAGE,
					"this computer has no PMU of the catalog; --pmu names one");
	text = first_of(events);
	if (!text)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	error = pmu_notation_parse(cli->ctx, NULL, text, &selection);
	free(text);
	*pmu = selection.pmu;
	return error ? cli_fail(cli, error) : 0;
}

static int begin_dry_run(const struct cli *cli, struct stat_run *run, const struct pmu_pmu *pmu)
{
	run->dry_run = calloc(1, sizeof(*run->dry_run));
	if (!run->dry_run)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	run->dry_run->pmu = pmu;
	return 0;
}

static int open_dry_run_emulated(const struct cli *cli, struct stat_run *run)
{
	int code = begin_dry_run(cli, run, pmu_find_pmu(pmu_machine_pmu_name(run->machine))), error;

	if (code)
		return code;
	error = pmu_bus_emulated(&run->dry_run->part, cli->ctx, run->machine);
	if (!error)
		error = pmu_bus_dry_run_on(&run->bus, cli->ctx, run->dry_run->part, keep_access,
					   run->dry_run);
	return error ? cli_fail(cli, error) : 0;
}

static int open_dry_run(const struct cli *cli, struct stat_run *run, const char *events)
{
	const struct pmu_pmu *pmu;
	struct pmu_host *host;
	int code, error = pmu_host_new(&host, cli->ctx, run->options.root);
	unsigned sockets;

	if (error)
		return cli_fail(cli, error);
	code = choose_pmu(cli, run, host, events, &pmu);
	sockets = !code && pmu_host_has_pmu(host, pmu) ? pmu_host_sockets(host) : 1;
	pmu_host_free(host);
	if (!code)
		code = begin_dry_run(cli, run, pmu);
	if (code)
		return code;
	error = pmu_bus_dry_run(&run->bus, cli->ctx, pmu, sockets, keep_access, run->dry_run);
	return error ? cli_fail(cli, error) : 0;
}

static int open_file(const struct cli *cli, FILE **file, const char *path, const char *mode)
{
	*file = fopen(path, mode);
	return *file ? 0 : cli_error(cli, EXIT_FAILED, "cannot open %s: %s", path, strerror(errno));
}

static int open_replay(const struct cli *cli, struct stat_run *run)
{
	int error, code = open_file(cli, &run->file, run->options.replay, "re");

	if (code)
		return code;
	error = pmu_bus_replaying(&run->bus, cli->ctx, run->file);
	return error ? cli_fail(cli, error) : 0;
}

static int open_computer(const struct cli *cli, struct stat_run *run)
{
	const struct pmu_host_options options = {
	    .size = sizeof(options), .root = run->options.root, .pmu = run->options.pmu};
	int error = pmu_bus_host(&run->bus, cli->ctx, &options);

	return error ? cli_fail(cli, error) : 0;
}

int host_open_kernel(const struct cli *cli, struct stat_run *run, int error)
{
	const struct pmu_pmu *pmu = pmu_bus_pmu(run->bus);

	if (error != PMU_E_RIGHTS || run->options.root || run->traced)
		return cli_fail(cli, error);
	/* The first reason is the one to mend; it is not lost by what follows. */
	cli_fail(cli, error);
	pmu_bus_free(run->bus);
	run->bus = NULL;
	error = pmu_bus_perf(&run->bus, cli->ctx, pmu);
	if (!error)
		error = pmu_session_new(&run->session, cli->ctx, run->bus);
	if (error)
		return cli_fail(cli, error);
	return cli_error(cli, 0, "counting through the kernel's perf_event instead");
}

/* By the first of the events; names of libpfm4 have no dots. */
static bool is_of_catalog(const struct cli *cli, const struct pmu_pmu *pmu, const char *events)
{
	struct pmu_selection selection;
	char *text = first_of(events);
	bool is = text && (strpbrk(text, "./") ||
			   (pmu && !pmu_event_parse(cli->ctx, pmu, text, &selection)));

	free(text);
	return is;
}

bool host_counts_process(const struct cli *cli, const struct stat_run *run, const char *events,
			 bool metrics)
{
	const struct stat_options *options = &run->options;
	const struct pmu_pmu *pmu;
	struct pmu_host *host;
	bool on_this_computer = !run->machine && !options->dry_run && !options->force &&
				!options->replay && !options->root && !options->pmu &&
				!options->trace_registers;

	if (!on_this_computer || metrics || pmu_host_new(&host, cli->ctx, NULL))
		return false;
	pmu = pmu_host_pmu(host);
	pmu_host_free(host);
	return !events || !is_of_catalog(cli, pmu, events);
}

int host_open(const struct cli *cli, struct stat_run *run, const char *events)
{
	const struct stat_options *options = &run->options;

	run->target = options->root ? options->root : "this computer";
	if (options->replay)
		run->target = options->replay;
	if (options->replay)
		return open_replay(cli, run);
	if (options->dry_run)
		return run->machine ? open_dry_run_emulated(cli, run)
				    : open_dry_run(cli, run, events);
	return open_computer(cli, run);
}

/* @return whether all of it could be written; else errno says why, or is 0 */
static bool write_register_trace(struct stat_run *run)
{
	bool whole = true;

	errno = 0;
	if (run->trace) {
		whole = !fclose(run->trace) &&
			fwrite(run->trace_text, 1, run->trace_bytes, run->file) == run->trace_bytes;
		free(run->trace_text);
		run->trace = NULL;
	}
	if (run->file && ferror(run->file))
		whole = false;
	if (run->file && fclose(run->file))
		whole = false;
	run->file = NULL;
	return whole;
}

int host_close(const struct cli *cli, struct stat_run *run, int code)
{
	struct sigaction before;
	const char *path =
	    run->options.trace_registers ? run->options.trace_registers : run->options.replay;
	bool whole;
	int error;

	/* A pipe that nobody reads is an error like others. */
	sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, &before);
	whole = write_register_trace(run);
	error = errno;
	sigaction(SIGPIPE, &before, NULL);
	if (run->dry_run) {
		pmu_bus_free(run->dry_run->part);
		free(run->dry_run->accesses);
		free(run->dry_run);
		run->dry_run = NULL;
	}
	return whole || code ? code
			     : cli_error(cli, EXIT_FAILED, "cannot write the register trace %s%s%s",
					 path, error ? ": " : "", error ? strerror(error) : "");
}

/* What helps against counters in use, beside forcing. */
static void hint_busy(const struct cli *cli, const struct stat_run *run)
{
	struct pmu_host *host;
	bool watchdog = !pmu_host_new(&host, NULL, run->options.root);

	if (watchdog) {
		watchdog = pmu_host_watchdog(host);
		pmu_host_free(host);
	}
	if (watchdog)
		cli_error(cli, 0,
			  "the kernel's NMI watchdog counts cycles on each core; as root: sysctl "
			  "kernel.nmi_watchdog=0");
	cli_error(cli, 0, "--force uses these counters and gives them back at the end");
}

/* Keeps the first message: nothing is printed before registers are restored. */
static int failed(const struct cli *cli, struct stat_run *run, int error)
{
	if (!*run->problem)
		snprintf(run->problem, sizeof(run->problem), "%s", pmu_message(cli->ctx));
	return error;
}

/* From start to counts. A replay and a dry run have no program: @child is NULL. */
static int count(const struct cli *cli, struct stat_run *run, struct pmu_child *child)
{
	struct pmu_program_result end = {.size = sizeof(end)};
	const bool later = child && run->options.delay_ms > 0;
	int stopped, error = later ? pmu_session_assign(run->session, cli->ctx)
				   : pmu_session_start(run->session, cli->ctx);
	struct stat_watch *watch = NULL;

	if (error)
		return failed(cli, run, error);
	run->started = !later;
	if (child) {
		if (stat_watch_begin(&watch, cli, run))
			return failed(cli, run, PMU_E_NOMEM);
		if (pmu_child_run(child, cli->ctx, &end))
			snprintf(run->refusal, sizeof(run->refusal), "%s", pmu_message(cli->ctx));
		run->exit = end.exit;
		run->ran = end.ran;
		run->seconds = end.seconds;
		stat_watch_end(watch);
		if (!run->started)
			snprintf(run->problem, sizeof(run->problem),
				 "the program ended before the delay of %.9g ms",
				 run->options.delay_ms);
	}
	if (!run->started)
		return PMU_E_STATE;
	stopped = pmu_session_stop(run->session, cli->ctx);
	if (!stopped && (!child || end.ran))
		stopped = pmu_session_read(run->session, cli->ctx, &run->counts, &run->count_count);
	/* Counts that are not whole are not shown. */
	if (stopped) {
		run->counts = NULL;
		run->count_count = 0;
		return failed(cli, run, stopped);
	}
	return 0;
}

static void warn(void *arg, const char *text)
{
	cli_error(arg, 0, "warning: %s", text);
}

int host_guard(const struct cli *cli, const struct stat_run *run, const struct pmu_child *child)
{
	int private[] = {
	    -1, /* the child's */
	    -1,
	    run->file ? fileno(run->file) : -1,
	    run->output && cli->out != stdout ? fileno(cli->out) : -1,
	};
	const struct pmu_guard_options options = {
	    .size = sizeof(options),
	    .descriptors = private,
	    .descriptor_count = sizeof(private) / sizeof(private[0]),
	    .warn = warn,
	    .arg = (void *)cli,
	};

	if (child)
		pmu_child_descriptors(child, private, 2);
	return pmu_session_guard(run->session, cli->ctx, &options);
}

/* Restores and only then says what went wrong, if anything did. */
static int finish(const struct cli *cli, struct stat_run *run, const struct pmu_child *child,
		  int error)
{
	int code = error ? EXIT_FAILED : 0, lost = pmu_session_end(run->session, cli->ctx);

	if (error)
		cli_error(cli, 0, "%s", run->problem);
	if (error == PMU_E_BUSY && !run->started && !run->options.force)
		hint_busy(cli, run);
	if (error == PMU_E_CONFLICT && !run->started && child)
		cli_error(cli, 0,
			  "--repeat-groups runs the program once for each group of them; without "
			  "-I, -D, -r and CSV, groups take turns");
	if (!error && child && *run->refusal)
		code = cli_error(cli, run->exit, "%s", run->refusal);
	/* What kept it from counting most often keeps it from restoring too, and has been said. */
	if (!lost || run->options.replay || !strcmp(run->problem, pmu_message(cli->ctx)))
		return code;
	return cli_error(cli, EXIT_FAILED,
			 "registers could not be restored: %s; pmulab restore tries again",
			 pmu_message(cli->ctx));
}

int host_measure(const struct cli *cli, struct stat_run *run, char **argv)
{
	struct pmu_child *child = NULL;
	int code, error = 0;

	run->seconds = NAN;
	if (run->options.force)
		pmu_session_force(run->session);
	descriptors_close_on_exec(cli->inherited);
	if (!run->options.replay && !run->options.dry_run)
		error = program_start(cli, &child, argv, run->options.pid);
	if (!error)
		error = host_guard(cli, run, child);
	if (error) {
		pmu_child_free(child);
		return cli_fail(cli, error);
	}
	error = count(cli, run, child);
	code = finish(cli, run, child, error);
	/* What ended the wait is no failure. */
	if (run->ran && !argv[0])
		run->exit = 0;
	pmu_child_free(child);
	return code;
}

/* The session makes no access but to registers of the catalog. */
static struct pmu_located find_register(const struct stat_run *run,
					const struct stat_access *access)
{
	struct pmu_located at = {0};

	pmu_address_find(run->dry_run->pmu, &access->op, &at);
	return at;
}

static json_t *access_json(const struct stat_run *run, const struct stat_access *access)
{
	struct pmu_located at = find_register(run, access);

	return json_pack("{s:b, s:i, s:i, s:s, s:i, s:s, s:s, s:i, s:i, s:o}", "write",
			 access->write, "socket", access->op.socket, "core", access->op.core, "box",
			 pmu_box_name(at.box), "instance", at.instance, "register", access->op.reg,
			 "space", pmu_space_name(access->op.space), "address", access->op.address,
			 "width", access->op.width, "value",
			 access->write ? cli_json_number(access->op.value) : json_null());
}

static void access_row(const struct stat_run *run, struct table *table,
		       const struct stat_access *access)
{
	struct pmu_located at = find_register(run, access);
	char address[CLI_ADDRESS_MAX];

	table_cell(table, "%s", access->write ? "write" : "read");
	table_number(table, access->op.socket);
	table_cell(table, "%s%u", pmu_box_name(at.box), at.instance);
	table_cell(table, "%s", access->op.reg);
	table_cell(table, "%s", cli_address(address, access->op.space, access->op.address));
	if (access->write)
		table_cell(table, "0x%llX", (unsigned long long)access->op.value);
	else
		table_cell(table, "%s", "");
}

static struct table *access_table(const struct stat_run *run)
{
	static const char *const heading[] = {"ACCESS",	  "SOCKET",  "BOX",
					      "REGISTER", "ADDRESS", "VALUE"};
	struct table *table = table_new("lrlllr");

	for (size_t i = 0; table && i < 6; i++)
		table_cell(table, "%s", heading[i]);
	for (size_t i = 0; table && i < run->dry_run->count; i++)
		access_row(run, table, &run->dry_run->accesses[i]);
	return table;
}

int host_print_accesses(const struct cli *cli, const struct stat_run *run)
{
	struct table *table;

	if (run->dry_run->lost)
		return cli_error(cli, EXIT_FAILED, "out of memory for the accesses");
	if (cli_is_json(cli)) {
		json_t *array = json_array();

		for (size_t i = 0; i < run->dry_run->count; i++)
			json_array_append_new(array, access_json(run, &run->dry_run->accesses[i]));
		return cli_print_json(cli, array);
	}
	table = access_table(run);
	return table ? cli_print_table(cli, table) : cli_error(cli, EXIT_FAILED, "out of memory");
}
