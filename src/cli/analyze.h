/* A program's counts by a method of analysis: what `analyze` runs and prints. */
#ifndef CLI_ANALYZE_H
#define CLI_ANALYZE_H

#include "cli/cli.h"
#include "pmulab/analysis.h"
#include "pmulab/program.h"

/* A line of the method with its value, and of its parts in the same run. */
struct analyze_line {
	const struct pmu_analysis_node *node;
	size_t run;	/* that counts it together with its parts, or by itself */
	double value;	/* in the run of what it is a part of; NAN: not modelled */
	double whole;	/* in the run of its parts */
	double rest;	/* of exact parts: what they leave of it, parts not modelled being 0 */
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
	size_t line_count, run_count;
	double *seconds; /* by run, of the machine */
	double *firsts;	 /* by run: value of the first line */
	int exit;
};

/** Divides the lines among as few runs as the counters allow. @return 0 or the exit code, said */
int analyze_plan(struct analyze *analyze);
/** Runs the program as often as that takes. @return 0 or the exit code, said */
int analyze_run(struct analyze *analyze, char **argv);
/** Prints all values. @return 0 or the exit code, said */
int analyze_report(struct analyze *analyze, char **argv);

#endif
