/* What pmulab decode is made of: registers, and records in registers or in memory. */
#ifndef CLI_DECODE_H
#define CLI_DECODE_H

#include "cli/cli.h"
#include "pmulab/hwrec.h"

/* Registers that were read together. */
struct dump {
	const struct pmu_pmu *pmu; /* where they are looked up; NULL: in all */
	struct pmu_register_value *values;
	size_t count;
};

/** Adds a line "REGISTER VALUE". @param where  said in front of errors. @return 0 or an exit code
 */
int dump_add(const struct cli *cli, struct dump *dump, const char *line, const char *where);
/** Adds the lines of a file, "-" is the standard input. @return 0 or an exit code */
int dump_read(const struct cli *cli, struct dump *dump, const char *path);
void dump_fini(struct dump *dump);

/** Explains each register and the records among them. @return exit code */
int decode_registers(const struct cli *cli, const struct dump *dump);
/** Explains the first register, the only one. @return exit code */
int decode_register(const struct cli *cli, const struct dump *dump);

/* What was asked for with --hwrec. */
struct record_choice {
	const struct pmu_pmu *pmu; /* NULL: any */
	const char *name;
	const char *kind; /* NULL: what the values say */
};

/**
 * Explains a record. @param arguments  registers with values; of a record in memory, its words or
 * the file that has it, "-" is the standard input
 * @return exit code
 */
int decode_record(const struct cli *cli, const struct record_choice *choice, int count,
		  char **arguments);

/* Columns of CSV where registers and records stand together. */
#define DECODE_CSV_COLUMNS "llllllll"
/** A table with its heading: PMU, box, register or record, entry, kind, field, value, meaning. */
struct table *decode_csv_new(void);

#endif
