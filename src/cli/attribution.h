/* Where counts come from: stat --by, and annotate. */
#ifndef CLI_ATTRIBUTION_H
#define CLI_ATTRIBUTION_H

#include "cli/report.h"

struct json_t;

/** Reads an argument of --by. @return 0 or EXIT_USAGE, said */
int attribution_read_by(const struct cli *cli, enum stat_by *by, const char *text);

/** Registers are programmed, and the program is to run. @return 0 or the exit code, said */
int attribution_begin(const struct cli *cli, struct stat_run *run);
/** Looks up and adds up, when counts have been read; without effect where nobody asked. */
int attribution_end(const struct cli *cli, struct stat_run *run);
void attribution_free(struct attribution *attribution);

/* The reports. @return exit code */
int attribution_print(const struct cli *cli, const struct stat_run *run);
int attribution_print_csv(const struct cli *cli, const struct stat_run *run);
struct json_t *attribution_json(const struct stat_run *run);

/* One place of what is added up. */
struct attribution_item {
	const char *what;     /* instead of an instruction; else NULL */
	const char *function; /* NULL: not known, as the others */
	const char *module, *file, *region;
	unsigned line; /* 0: not known */
	uint64_t address;
	uint32_t process, thread;
	uint64_t *counts; /* by event */
};

/* What annotate prints of too. */
struct attribution {
	struct pmu_attribution *counted;
	struct symbols *symbols;
	time_t began;
	unsigned events;
	struct attribution_item *items; /* the first event's highest first */
	size_t item_count;
	uint64_t *counts, *totals;
};

/** A table with a column a share, one an event and a last one, whose heading is @name; or NULL. */
struct table *attribution_table(const struct stat_run *run, const char *name);
/** The cells of a row but for the last. */
void attribution_counts(const struct stat_run *run, struct table *table, const uint64_t *counts);

#endif
