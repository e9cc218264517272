/* Prints a decoded hardware record in the format that was asked for. */
#ifndef CLI_DECODE_TELL_H
#define CLI_DECODE_TELL_H

#include "cli/cli.h"
#include "pmulab/hwrec.h"

/* Where a record is read from: registers, or @bytes at @offset of a file. */
struct record_source {
	const struct pmu_hwrec *record;
	const struct pmu_box *box;
	unsigned instance;
	const char *kind; /* NULL: what the values say */
	const struct pmu_register_value *values;
	size_t count;
	const void *bytes; /* NULL: in registers */
	uint64_t offset;
};

struct json_t;

/** As an object of the JSON output. @return 0 or the library's error */
int tell_json(const struct cli *cli, const struct record_source *source, struct json_t **json);
/** As text for people. @return 0 or the library's error */
int tell_table(const struct cli *cli, const struct record_source *source);
/** As rows of a CSV table. @return 0 or the library's error */
int tell_csv(const struct cli *cli, const struct record_source *source, struct table *table);

#endif
