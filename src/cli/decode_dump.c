#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/decode.h"

static bool is_same(const struct pmu_register_value *a, const struct pmu_register_value *b)
{
	return a->box == b->box && a->instance == b->instance &&
	       pmu_register_space(a->reg) == pmu_register_space(b->reg) &&
	       pmu_register_address(a->box, a->reg, a->instance) ==
		   pmu_register_address(b->box, b->reg, b->instance);
}

/* Writes of an encoding: the second one holds. */
static bool is_written_twice(const struct pmu_register_value *value)
{
	return pmu_box_quirks(value->box) & PMU_QUIRK_CONTROL_TWICE &&
	       pmu_register_role(value->reg) == PMU_ROLE_COUNTER_CTL;
}

static int keep(const struct cli *cli, struct dump *dump, const struct pmu_register_value *value,
		const char *where)
{
	struct pmu_register_value *values;

	for (size_t i = 0; i < dump->count; i++) {
		if (!is_same(&dump->values[i], value))
			continue;
		if (!is_written_twice(value))
			return cli_error(cli, EXIT_USAGE, "%s%s is given twice", where,
					 pmu_register_pattern(value->reg));
		dump->values[i] = *value;
		return 0;
	}
	values = realloc(dump->values, (dump->count + 1) * sizeof(*values));
	if (!values)
		return cli_error(cli, EXIT_FAILED, "out of memory");
	dump->values = values;
	dump->values[dump->count++] = *value;
	return 0;
}

int dump_add(const struct cli *cli, struct dump *dump, const char *line, const char *where)
{
	struct pmu_register_value value;
	int result = pmu_dump_parse(cli->ctx, dump->pmu, line, &value);

	if (result < 0)
		return cli_error(cli, EXIT_USAGE, "%s%s", where, pmu_message(cli->ctx));
	return result ? keep(cli, dump, &value, where) : 0;
}

static int read_lines(const struct cli *cli, struct dump *dump, FILE *file, const char *path)
{
	char *line = NULL, *where;
	size_t size = 0;
	int code = 0;

	for (unsigned number = 1; !code && getline(&line, &size, file) >= 0; number++) {
		line[strcspn(line, "\r\n")] = '\0';
		if (asprintf(&where, "%s:%u: ", path, number) < 0) {
			code = cli_error(cli, EXIT_FAILED, "out of memory");
			break;
		}
		code = dump_add(cli, dump, line, where);
		free(where);
	}
	if (!code && ferror(file))
		code = cli_error(cli, EXIT_FAILED, "cannot read %s: %s", path, strerror(errno));
	free(line);
	return code;
}

int dump_read(const struct cli *cli, struct dump *dump, const char *path)
{
	FILE *file;
	int code;

	if (!strcmp(path, "-"))
		return read_lines(cli, dump, stdin, "standard input");
	file = fopen(path, "re");
	if (!file)
		return cli_error(cli, EXIT_FAILED, "cannot open %s: %s", path, strerror(errno));
	code = read_lines(cli, dump, file, path);
	fclose(file);
	return code;
}

void dump_fini(struct dump *dump)
{
	free(dump->values);
}
