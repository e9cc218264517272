/* `stat` of one program through the kernel's perf_event, on computers that the catalog has not. */
#ifndef CLI_PROCESS_H
#define CLI_PROCESS_H

#include "cli/cli.h"
#include "cli/process_run.h"

/** Runs @argv counted and reports. No event: those of any computer. @return the program's exit
 * code, or why there is none */
int process_stat(struct cli *cli, struct process_run *run, char **argv);

#endif
