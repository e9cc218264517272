/* The command line: one file a command. The only layer that prints. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/table.h"
#include "pmulab/catalog.h"
#include "pmulab/event.h"
#include "pmulab/machine.h"
#include "pmulab/pmulab.h"

/* Exit codes beside those of programs that are run. */
enum {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
};

enum cli_format {
	CLI_TABLE,
	CLI_JSON,
	CLI_CSV,
	CLI_JSONL, /* an object a line */
};

struct descriptors;

struct cli {
	struct pmu_ctx *ctx;
	const struct descriptors *inherited; /* that programs which are run inherit */
	const char *command;
	enum cli_format format;
	FILE *out;
	const char *output;	     /* the file's name, if it is one; or NULL */
	char separator;		     /* of CSV; 0: a comma */
	struct pmu_machine *machine; /* of the user's own, read by cli_find_machine(); or NULL */
};

/* A command: arguments as main() has them, argv[0] the command's name. Returns the exit code. */
typedef int cli_command(struct cli *cli, int argc, char **argv);

cli_command cli_annotate, cli_machines, cli_list, cli_show, cli_encode, cli_decode, cli_stat,
    cli_emulate, cli_lint, cli_restore, cli_record, cli_report, cli_analyze;

/* Says what would have been valid: every name, and the one that was probably meant. */
struct cli_names {
	const char *wanted, *nearest;
	char text[2048];
	size_t used;
};

/** Starts with what the user wrote, which must outlive @names. */
void cli_names_init(struct cli_names *names, const char *wanted);
void cli_names_add(struct cli_names *names, const char *name);
/** "valid: A, B, C; did you mean B?" */
const char *cli_names_text(struct cli_names *names);

/** Prints "pmulab COMMAND: message" on standard error. @return @code */
__attribute__((format(printf, 3, 4))) int cli_error(const struct cli *cli, int code,
						    const char *format, ...);

/** Prints the context's message. @return EXIT_USAGE for errors in what the user wrote, else FAILED
 */
int cli_fail(const struct cli *cli, int error);

/** Reads a --format argument into @cli. @return 0 or EXIT_USAGE, said */
int cli_set_format(struct cli *cli, const char *text);
/** The same, of a command that has other ones. @param last  of them, in their order */
int cli_set_format_to(struct cli *cli, const char *text, enum cli_format last);

/** Finds what a user named; says what is valid and the nearest name where there is none. */
const struct pmu_pmu *cli_find_pmu(const struct cli *cli, const char *name);
/** The machine of the examples in --help. */
const char *cli_example_machine(void);
/** A machine by name, or of the user's own by its file, a path with a "/" or ending in ".json". */
const struct pmu_machine *cli_find_machine(struct cli *cli, const char *name);

/** A number of 32 bits that every machine has. */
unsigned cli_machine_number(const struct pmu_machine *machine, const char *key);

/** Prints a table in the format asked for, cut at the terminal's width on a terminal. @return code
 */
int cli_print_table(const struct cli *cli, struct table *table);

struct json_t;
/**
 * A number of 64 bits, for cli_print_json() alone: it prints them all as unsigned decimal numbers,
 * which the JSON library, whose integers have a sign, cannot.
 */
struct json_t *cli_json_number(uint64_t value);
/** What stands between the values of CSV. */
char cli_separator(const struct cli *cli);
/** Whether reports are JSON, of one line or several. */
bool cli_is_json(const struct cli *cli);
/** Prints and releases a JSON value, in one line where that is the format. @return exit code */
int cli_print_json(const struct cli *cli, struct json_t *json);

/* Words for catalog enumerations, as in JSON and tables. */

#define CLI_SET_MAX 24

/** "L1D 3", or "" for an event of no set, in @text and returned. */
const char *cli_set_text(const struct pmu_event *event, char text[CLI_SET_MAX]);

#define CLI_ADDRESS_MAX 32

/** Writes an address with its space, as people write it, into @text and returns that. */
const char *cli_address(char text[CLI_ADDRESS_MAX], int space, uint32_t address);
const char *cli_access_name(int access);
const char *cli_model_name(int model);
/** "0-3" or "0,2" from a counter set, in @text of at least 40 bytes. */
const char *cli_counters(uint32_t counters, char *text);

/**
 * Sends the report to a file, or to standard output by "-". @param path  NULL: it stays where it
 * is.
 * @return 0 or the exit code, said
 */
int cli_open_output(struct cli *cli, const char *path);
/** Closes that file. @return @code, or if that is 0 whether all was written, said */
int cli_close_output(struct cli *cli, int code);

/** Writes out what of the report is still in a buffer. @return exit code: whether all of it was
 * written
 */
int cli_end_report(const struct cli *cli);

#endif
