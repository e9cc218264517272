/* Programs that a command runs, and their exit codes. */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

#include "cli/cli.h"
#include "pmulab/program.h"

#define PROGRAM_NATIVES_MAX 65 /* as many as pmu_program_natives() has at most */

/**
 * Finds a program, or with @tool a tool, that is to run on @machine.
 * @return 0, or the exit code, said: 127 not found, 126 not executable, EXIT_FAILED
 */
int program_find(const struct cli *cli, struct pmu_program **program, char **argv,
		 const struct pmu_machine *machine, const struct pmu_program_options *options);

/**
 * Starts what a measurement of this computer lasts for, guarded, and lets it wait: a program, or
 * where @argv is empty the end of process @pid, if that is not 0, or of the user's patience.
 * @return 0 or an error of pmu_child_new() or pmu_child_new_waiting()
 */
int program_start(const struct cli *cli, struct pmu_child **child, char **argv, pid_t pid);

/** pmu_child_run(), whose child gets SIGTERM after a time. @param timeout_ms  0: never */
int program_run_timed(const struct cli *cli, struct pmu_child *child, double timeout_ms,
		      struct pmu_program_result *result);

/** What is measured where there is no program: "process 12", "CPUs 0-3". */
const char *program_stead(char *text, size_t size, pid_t pid, const char *cpus);
#define PROGRAM_STEAD_MAX 128

/** Says what pmu_program_run() or pmu_child_run() returned. @return 0, or the exit code where it
 * never ran */
int program_said(const struct cli *cli, int error, const struct pmu_program_result *result,
		 char **argv);

/** Warns of what a program executed that ran natively. */
void program_warn_natives(const struct cli *cli, const struct pmu_program *program);

/** Warns of tools to which CPUID did not say what the machine's processors are. */
void program_warn_tools(const struct cli *cli, const struct pmu_program *program);

/** Takes the argument of --root, as if the variable had it. @return 0 or EXIT_FAILED, said */
int cli_set_root(const struct cli *cli, const char *folder);

/** Reads the argument of --feed. @return 0 or EXIT_USAGE, said */
int cli_set_feed(const struct cli *cli, enum pmu_feed *feed, const char *text);

#endif
