/* `stat` without an emulated machine: on this computer, from a register trace, or as a dry run. */
#ifndef CLI_HOST_H
#define CLI_HOST_H

#include "cli/report.h"

/**
 * Opens the bus that the options ask for, into run->bus, and says what it is in run->target.
 * @param events  the user's; the first tells a dry run its PMU where nothing else does; may be NULL
 */
int host_open(const struct cli *cli, struct stat_run *run, const char *events);
/**
 * Takes the kernel's uncore PMUs in place of registers that could not be reached with @error, whose
 * message stands in the context. @return 0 or the exit code; both reasons are said
 */
int host_open_kernel(const struct cli *cli, struct stat_run *run, int error);
/** Whether the catalog has nothing to do with what is asked for: the kernel counts the program. */
bool host_counts_process(const struct cli *cli, const struct stat_run *run, const char *events,
			 bool metrics);

/** Closes what host_open() opened beside the bus, and says what could not be written. */
int host_close(const struct cli *cli, struct stat_run *run, int code);

/**
 * Whatever ends this process, the registers of run->session are restored.
 * @param child  NULL: there is none
 * @return 0 or an error of pmu_session_guard()
 */
int host_guard(const struct cli *cli, const struct stat_run *run, const struct pmu_child *child);

/** Programs, runs @argv as it is, reads and restores. @return 0 or the exit code, said */
int host_measure(const struct cli *cli, struct stat_run *run, char **argv);

/** Prints the accesses of a dry run; takes the place of the report. */
int host_print_accesses(const struct cli *cli, const struct stat_run *run);

#endif
