#include "cli/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/text.h"
#include "pmulab/event.h"

int cli_error(const struct cli *cli, int code, const char *format, ...)
{
	va_list arguments;

	/* Names of files, machines and devices in it may be anybody's. */
	fprintf(stderr, "pmulab %s: ", cli->command);
	va_start(arguments, format);
	text_print_arguments(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return code;
}

int cli_fail(const struct cli *cli, int error)
{
	cli_error(cli, 0, "%s", pmu_message(cli->ctx));
	switch (error) {
	case PMU_E_SYNTAX:
	case PMU_E_UNKNOWN:
	case PMU_E_RANGE:
	case PMU_E_CONFLICT:
		return EXIT_USAGE;
	default:
		return EXIT_FAILED;
	}
}

void cli_names_init(struct cli_names *names, const char *wanted)
{
	names->wanted = wanted;
	names->nearest = NULL;
	names->used = 0;
	names->text[0] = '\0';
}

static void append(struct cli_names *names, const char *before, const char *text, const char *after)
{
	size_t room = sizeof(names->text) - names->used;
	int length = snprintf(names->text + names->used, room, "%s%s%s", before, text, after);

	if (length > 0 && (size_t)length < room) {
		names->used += (size_t)length;
	} else {
		strcpy(names->text + sizeof(names->text) - sizeof("..."), "...");
		names->used = sizeof(names->text) - 1;
	}
}

/* Whether it stands in the list already: several boxes and PMUs have things of one name. */
static bool is_listed(const struct cli_names *names, const char *name)
{
	const size_t length = strlen(name);

	for (const char *at = names->text; length && (at = strstr(at, name)); at++)
		if (at != names->text && at[-1] == ' ' && (!at[length] || at[length] == ','))
			return true;
	return false;
}

void cli_names_add(struct cli_names *names, const char *name)
{
	if (is_listed(names, name))
		return;
	names->nearest = pmu_nearest_name(names->wanted, names->nearest, name);
	append(names, names->used ? ", " : "valid: ", name, "");
}

const char *cli_names_text(struct cli_names *names)
{
	if (names->nearest)
		append(names, "; did you mean ", names->nearest, "?");
	return names->text;
}

int cli_set_format_to(struct cli *cli, const char *text, enum cli_format last)
{
	static const char *const names[] = {
	    [CLI_TABLE] = "table", [CLI_JSON] = "json", [CLI_CSV] = "csv", [CLI_JSONL] = "jsonl"};
	struct cli_names valid;

	cli_names_init(&valid, text);
	for (int i = 0; i <= (int)last; i++) {
		if (!strcasecmp(names[i], text)) {
			cli->format = (enum cli_format)i;
			return 0;
		}
		cli_names_add(&valid, names[i]);
	}
	return cli_error(cli, EXIT_USAGE, "no format \"%s\"; %s", text, cli_names_text(&valid));
}

int cli_set_format(struct cli *cli, const char *text)
{
	return cli_set_format_to(cli, text, CLI_CSV);
}

const struct pmu_pmu *cli_find_pmu(const struct cli *cli, const char *name)
{
	const struct pmu_pmu *pmu = pmu_find_pmu(name);
	struct cli_names valid;

	if (pmu)
		return pmu;
	cli_names_init(&valid, name);
	for (size_t i = 0; i < pmu_pmu_count(); i++)
		cli_names_add(&valid, pmu_pmu_name(pmu_pmu_at(i)));
	cli_error(cli, 0, "no PMU \"%s\"; %s", name, cli_names_text(&valid));
	return NULL;
}

static bool is_file_name(const char *name)
{
	const char *end = strrchr(name, '.');

	return strchr(name, '/') || (end && !strcmp(end, ".json"));
}

static const struct pmu_machine *read_machine(struct cli *cli, const char *path)
{
	int error;

	pmu_machine_free(cli->machine);
	cli->machine = NULL;
	error = pmu_machine_read(&cli->machine, cli->ctx, path);
	if (error)
		cli_fail(cli, error);
	return cli->machine;
}

const char *cli_example_machine(void)
{
	return pmu_machine_name(pmu_machine_at(0));
}

const struct pmu_machine *cli_find_machine(struct cli *cli, const char *name)
{
	const struct pmu_machine *machine = pmu_find_machine(name);
	struct cli_names valid;

	if (machine)
		return machine;
	if (is_file_name(name))
		return read_machine(cli, name);
	cli_names_init(&valid, name);
	for (size_t i = 0; i < pmu_machine_count(); i++)
		cli_names_add(&valid, pmu_machine_name(pmu_machine_at(i)));
	cli_error(cli, 0, "no machine \"%s\"; %s", name, cli_names_text(&valid));
	return NULL;
}

unsigned cli_machine_number(const struct pmu_machine *machine, const char *key)
{
	uint64_t number = 0;

	pmu_machine_number(machine, key, &number);
	return (unsigned)number;
}

static unsigned terminal_width(FILE *file)
{
	struct winsize size;

	if (!isatty(fileno(file)) || ioctl(fileno(file), TIOCGWINSZ, &size))
		return 0;
	return size.ws_col;
}

int cli_print_table(const struct cli *cli, struct table *table)
{
	int error;

	if (cli->format == CLI_CSV)
		error = table_print_separated(table, cli->out, cli_separator(cli));
	else
		error = table_print(table, cli->out, terminal_width(cli->out));
	table_free(table);
	return error ? cli_error(cli, EXIT_FAILED, "out of memory") : EXIT_DONE;
}

/* A number that the library's integers do not hold is a string with this before its digits. */
#define LARGE_NUMBER	"\x01"
#define LARGE_NUMBER_AS "\"\\u0001" /* as the library writes it, with the quote */

json_t *cli_json_number(uint64_t value)
{
	char text[sizeof(LARGE_NUMBER) + 20];

	if (value <= INT64_MAX)
		return json_integer((json_int_t)value);
	snprintf(text, sizeof(text), LARGE_NUMBER "%" PRIu64, value);
	return json_string(text);
}

/* Takes the quotes off large numbers. */
static void bare_numbers(char *text)
{
	char *to = text;

	for (const char *from = text; *from;) {
		size_t digits;

		if (strncmp(from, LARGE_NUMBER_AS, strlen(LARGE_NUMBER_AS)) != 0) {
			*to++ = *from++;
			continue;
		}
		from += strlen(LARGE_NUMBER_AS);
		digits = strspn(from, "0123456789");
		memmove(to, from, digits);
		to += digits;
		from += digits + 1;
	}
	*to = '\0';
}

char cli_separator(const struct cli *cli)
{
	return cli->separator ? cli->separator : ',';
}

bool cli_is_json(const struct cli *cli)
{
	return cli->format == CLI_JSON || cli->format == CLI_JSONL;
}

int cli_print_json(const struct cli *cli, json_t *json)
{
	const size_t flags = cli->format == CLI_JSONL ? JSON_COMPACT : JSON_INDENT(1);
	/* At once: the library would write each bracket by itself. */
	char *text = json ? json_dumps(json, flags) : NULL;
	int error;

	if (text)
		bare_numbers(text);
	error = !text || fputs(text, cli->out) < 0 || fputc('\n', cli->out) < 0;

	free(text);
	json_decref(json);
	return error ? cli_error(cli, EXIT_FAILED, "cannot write the JSON") : EXIT_DONE;
}

const char *cli_set_text(const struct pmu_event *event, char text[CLI_SET_MAX])
{
	text[0] = '\0';
	if (*pmu_event_set_group(event))
		snprintf(text, CLI_SET_MAX, "%s %u", pmu_event_set_group(event),
			 pmu_event_set(event));
	return text;
}

const char *cli_address(char text[CLI_ADDRESS_MAX], int space, uint32_t address)
{
	switch (space) {
	case PMU_SPACE_MSR:
		snprintf(text, CLI_ADDRESS_MAX, "msr 0x%03X", address);
		break;
	case PMU_SPACE_PCI:
		snprintf(text, CLI_ADDRESS_MAX, "pci D%u:F%u:0x%02X", address >> 15,
			 address >> 12 & 7, address & 0xfff);
		break;
	case PMU_SPACE_MMIO:
		snprintf(text, CLI_ADDRESS_MAX, "mmio 0x%04X", address);
		break;
	default:
		snprintf(text, CLI_ADDRESS_MAX, "%s %u", pmu_space_name(space), address);
		break;
	}
	return text;
}

const char *cli_access_name(int access)
{
	static const char *const names[] = {
	    [PMU_ACCESS_RO] = "RO",   [PMU_ACCESS_RW] = "RW", [PMU_ACCESS_RWV] = "RW-V",
	    [PMU_ACCESS_RWS] = "RWS", [PMU_ACCESS_WO] = "WO", [PMU_ACCESS_RW1C] = "RW1C",
	    [PMU_ACCESS_RV] = "RV",   [PMU_ACCESS_IG] = "IG",
	};

	return names[access];
}

const char *cli_model_name(int model)
{
	static const char *const names[] = {[PMU_MODEL_EXACT] = "exact",
					    [PMU_MODEL_APPROXIMATE] = "approximate",
					    [PMU_MODEL_ABSENT] = "absent"};

	return names[model];
}

const char *cli_counters(uint32_t counters, char *text)
{
	char *end = text;

	*end = '\0';
	for (int first = 0; first < 32; first++) {
		int last = first;

		if (!(counters >> first & 1))
			continue;
		while (last < 31 && counters >> (last + 1) & 1)
			last++;
		if (end != text)
			*end++ = ',';
		end += sprintf(end, last > first ? "%d-%d" : "%d", first, last);
		first = last;
	}
	return text;
}

static int cannot_write(const struct cli *cli, int error)
{
	return cli_error(cli, EXIT_FAILED, "cannot write %s%s%s",
			 cli->output ? cli->output : "the report", error ? ": " : "",
			 error ? strerror(error) : "");
}

int cli_open_output(struct cli *cli, const char *path)
{
	FILE *file;

	if (!path)
		return 0;
	if (!*path)
		return cli_error(cli, EXIT_USAGE, "-o takes the name of a file, not \"\"");
	file = strcmp(path, "-") ? fopen(path, "we") : stdout;
	if (!file)
		return cli_error(cli, EXIT_FAILED, "cannot write %s: %s", path, strerror(errno));
	cli->out = file;
	cli->output = file != stdout ? path : NULL;
	return 0;
}

int cli_close_output(struct cli *cli, int code)
{
	FILE *file = cli->output ? cli->out : NULL;

	if (!file)
		return code;
	cli->out = stderr;
	return fclose(file) && !code ? cannot_write(cli, errno) : code;
}

/* What did not fit the buffer may have failed long before, for a reason that is gone by now. */
int cli_end_report(const struct cli *cli)
{
	bool failed = ferror(cli->out);

	errno = 0;
	if (!fflush(cli->out) && !failed)
		return 0;
	return cannot_write(cli, errno);
}
