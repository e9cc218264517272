/* What the user of `stat` asks for. */
#ifndef CLI_STAT_OPTIONS_H
#define CLI_STAT_OPTIONS_H

#include "cli/stat_events.h"

#define STAT_HELP -1

/**
 * Reads options and checks that they go together; optind is then that of PROGRAM.
 * @return 0; STAT_HELP: --help was printed; or EXIT_USAGE, said
 */
int stat_read_options(struct cli *cli, struct stat_run *run, struct stat_wanted *wanted, int argc,
		      char **argv);

#endif
