/* What a run under `stat` has found out, and its report. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <sys/types.h>

#include "cli/cli.h"
#include "cli/mean.h"
#include "cli/process_run.h"
#include "cli/program.h"
#include "pmulab/emul.h"
#include "pmulab/metric.h"
#include "pmulab/program.h"

#define STAT_GROUP_MAX 64 /* events: more than any box has counters */

#define STAT_TURN_MS 100 /* where turns are taken that nobody asked for */

struct stat_metric {
	struct pmu_formula *formula;
	unsigned *events; /* of the session, in the order of the formula's selections */
	char *name, *unit;
	const struct pmu_box *box; /* NULL: it is the user's equation */
};

/* What counts are attributed to. */
enum stat_by {
	STAT_BY_NOTHING,
	STAT_BY_FUNCTION,
	STAT_BY_LINE,
	STAT_BY_THREAD,
	STAT_BY_REGION,
	STAT_BY_SOURCE, /* lines, printed with their sources */
};

struct attribution;

#define STAT_CPUS_MAX 1024

struct stat_cpus {
	unsigned numbers[STAT_CPUS_MAX]; /* the system's */
	size_t count;			 /* 0: all */
};

/* Where it is counted, if not on an emulated machine. */
struct stat_options {
	const char *root, *pmu, *trace_registers, *replay; /* NULL: not given */
	const char *pin, *membind, *interleave;		   /* lists; NULL: not given */
	const char *prefetchers;			   /* as well */
	bool formatted;					   /* --format is given */
	bool dry_run, force, machine_clock, deterministic, kernel_io, why, raw, all_cpus,
	    repeat_groups;
	double interval_ms, delay_ms, timeout_ms, multiplex_ms; /* 0: not given */
	unsigned repeat;					/* runs; 0: not given */
	pid_t pid;	      /* that it is counted until the end of; 0: not given */
	const char *cpu_list; /* as it is given; or NULL */
	struct stat_cpus cpus;
	enum pmu_feed feed;
	enum stat_by by;
};

struct stat_dry_run;

struct stat_run {
	struct stat_options options;
	const struct pmu_machine *machine; /* NULL: it is not emulated */
	const char *target;		   /* the machine's name, or what is in its stead */
	const struct pmu_pmu *pmu;
	bool per_box;
	const char *output; /* NULL: standard error; "-": standard output */
	bool output_open;
	struct pmu_emul *emul; /* NULL: it is not emulated, or by a dry run */
	struct pmu_bus *bus;
	struct pmu_bus *traced; /* what a register trace is made of; else NULL */
	FILE *file;		/* the register trace, written or read; else NULL */
	/*
	 * The register trace, until registers are restored: who reads the file may do so slowly, or
	 * have gone.
	 */
	FILE *trace;
	char *trace_text;
	size_t trace_bytes;
	struct stat_dry_run *dry_run;
	char problem[1024]; /* the message, if it could not be counted */
	char refusal[1024]; /* why the program did not begin; else empty */
	bool started;	    /* registers have been programmed */
	struct pmu_session *session;
	struct process_run process; /* what the kernel counts instead of all this */
	struct stat_metric *metrics;
	size_t metric_count;
	unsigned asked_count; /* the first events of the session: not by a metric */
	unsigned *group;      /* what is being added, if it is a group; else NULL */
	size_t group_size;
	/* Results. */
	const struct pmu_count *counts;
	size_t count_count;
	struct pmu_emul_statistics statistics;
	struct pmu_program *program; /* that ran on the machine, and what it executed; or NULL */
	double seconds;
	/* With -D, when counting began: */
	double counted_from; /* seconds from the program's begin; 0: with it */
	struct pmu_emul_statistics before_counting;
	int exit;
	bool ran; /* the program, to its end; false: there are no counts of it */
	bool timed_out;
	size_t groups; /* for each of which the program ran; 0: it ran once for all */
	struct pmu_count *group_counts; /* then what they counted; to be freed */
	unsigned runs;			/* that means are of; 0: there was but one */
	struct slices *slices;		/* by event, of --multiplex; or NULL */
	struct mean *event_means, *metric_means, seconds_mean;
	struct attribution *attribution; /* NULL: nobody asks where counts come from */
};

/** Whether events take turns if, and only if, the PMU cannot count them at once. */
bool stat_turns_if_needed(const struct stat_run *run);
/** Whether events that one PMU cannot count at once are divided into groups. */
bool stat_divides(const struct stat_run *run);

/** Sum of an event's counts. @param socket  below 0: of all */
uint64_t stat_sum(const struct stat_run *run, unsigned event, int socket);
/** The same as it is shown: of clocks the mean of the instances. */
uint64_t stat_total(const struct stat_run *run, unsigned event, int socket);
/** How long it was counted; NAN: not known. */
double stat_counted_seconds(const struct stat_run *run);
/** Instances that an event is counted in, over all sockets. */
size_t stat_instances(const struct stat_run *run, unsigned event);

/** Whether the machine produces nothing of what is selected: it has no count, not even 0. */
bool stat_is_absent(const struct stat_run *run, const struct pmu_selection *selection);

/** How the machine produces what is selected; what is counted for real is exact. */
enum pmu_model stat_model(const struct stat_run *run, const struct pmu_selection *selection);
/** Programs that ran outside the machine. @return how many of @natives there are */
size_t stat_natives(const struct stat_run *run, struct pmu_native natives[PROGRAM_NATIVES_MAX]);

/** Prints counts and metrics, exit code and seconds as CSV. @return exit code */
int stat_report_csv(const struct cli *cli, const struct stat_run *run);

/** Prints the report in the format asked for; of a program that did not run it only says so. @param
 * argv  the program's. @return exit code */
int stat_report(const struct cli *cli, const struct stat_run *run, char **argv);

#endif
