#include "cli/program.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int program_find(const struct cli *cli, struct pmu_program **program, char **argv,
		 const struct pmu_machine *machine, const struct pmu_program_options *options)
{
	struct pmu_program_options all = *options;
	int error;

	all.size = sizeof(all);
	all.guard = true;
	error = pmu_program_new(program, cli->ctx, machine, argv, &all);
	switch (error) {
	case 0:
		return 0;
	case PMU_E_UNKNOWN:
		return cli_error(cli, 127, "%s", pmu_message(cli->ctx));
	case PMU_E_UNSUPPORTED:
		return cli_error(cli, 126, "%s", pmu_message(cli->ctx));
	default:
		return cli_error(cli, EXIT_FAILED, "%s", pmu_message(cli->ctx));
	}
}

int program_start(const struct cli *cli, struct pmu_child **child, char **argv, pid_t pid)
{
	const struct pmu_child_options options = {.size = sizeof(options), .guard = true};

	return argv[0] ? pmu_child_new(child, cli->ctx, argv, &options)
		       : pmu_child_new_waiting(child, cli->ctx, pid, &options);
}

int program_run_timed(const struct cli *cli, struct pmu_child *child, double timeout_ms,
		      struct pmu_program_result *result)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGTERM};
	const double seconds = timeout_ms * 1e-3;
	const struct itimerspec when = {
	    .it_value = {.tv_sec = (time_t)seconds,
			 .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)}};
	timer_t timer;
	int error;

	/* The child gets a timer's signal as it gets others. */
	if (!(timeout_ms > 0) || timer_create(CLOCK_MONOTONIC, &event, &timer))
		return pmu_child_run(child, cli->ctx, result);
	timer_settime(timer, 0, &when, NULL);
	error = pmu_child_run(child, cli->ctx, result);
	timer_delete(timer);
	return error;
}

const char *program_stead(char *text, size_t size, pid_t pid, const char *cpus)
{
	if (pid)
		snprintf(text, size, "process %ld", (long)pid);
	else if (cpus)
		snprintf(text, size, "CPUs %s", cpus);
	else
		snprintf(text, size, "all CPUs");
	return text;
}

int program_said(const struct cli *cli, int error, const struct pmu_program_result *result,
		 char **argv)
{
	if (error)
		return cli_error(cli, result->exit, "%s", pmu_message(cli->ctx));
	if (result->machine_ended)
		return cli_error(cli, EXIT_FAILED, "the machine has ended, and with it %s",
				 argv[0]);
	return 0;
}

void program_warn_natives(const struct cli *cli, const struct pmu_program *program)
{
	struct pmu_native natives[PROGRAM_NATIVES_MAX];
	size_t count = pmu_program_natives(program, natives, PROGRAM_NATIVES_MAX);

	for (size_t i = 0; i < count; i++)
		cli_error(cli, 0, "warning: %s ran outside the machine, %u times (%s)",
			  natives[i].path, natives[i].times, natives[i].why);
}

void program_warn_tools(const struct cli *cli, const struct pmu_program *program)
{
	struct pmu_native natives[PROGRAM_NATIVES_MAX];
	size_t count = pmu_program_natives(program, natives, PROGRAM_NATIVES_MAX);

	for (size_t i = 0; i < count; i++)
		cli_error(cli, 0,
			  "warning: %s ran %u times and did not see the machine's CPUID (%s)",
			  natives[i].path, natives[i].times, natives[i].why);
}

int cli_set_feed(const struct cli *cli, enum pmu_feed *feed, const char *text)
{
	*feed = !strcmp(text, "valgrind") ? PMU_FEED_VALGRIND : PMU_FEED_QEMU;
	if (*feed == PMU_FEED_VALGRIND || !strcmp(text, "qemu"))
		return 0;
	return cli_error(cli, EXIT_USAGE, "no feed \"%s\"; valid: qemu, valgrind", text);
}

int cli_set_root(const struct cli *cli, const char *folder)
{
	return setenv("PMULAB_IA64_ROOT", folder, 1)
		   ? cli_error(cli, EXIT_FAILED, "out of memory for --root")
		   : 0;
}
