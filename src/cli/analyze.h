/* A program's counts by a method of analysis: what `analyze` runs and prints. */
#ifndef CLI_ANALYZE_H
#define CLI_ANALYZE_H

#include "cli/cli.h"
#include "pmulab/analysis.h"
#include "pmulab/program.h"

struct analyze_line {
	const struct pmu_analysis_node *node;
	double value;	/* NAN: not modelled */
	double rest;	/* what its parts leave of it, parts not modelled being 0 */
	bool has_parts; /* lines follow that are its parts */
};

struct analyze {
	const struct cli *cli;
	const struct pmu_machine *machine;
	const char *method_name; /* NULL: the PMU's first */
	const char *output;	 /* NULL: standard error */
	struct pmu_analysis *analysis;
	char *title;
	struct analyze_line *lines;
	size_t line_count;
	double seconds; /* of the machine */
	int exit;
};

/** Makes the lines. @return 0 or the exit code, said */
int analyze_prepare(struct analyze *analyze);
/** Runs the program, and gives the lines their values. @return 0 or the exit code, said */
int analyze_run(struct analyze *analyze, char **argv);
/** Prints all values. @return 0 or the exit code, said */
int analyze_report(struct analyze *analyze, char **argv);

#endif
