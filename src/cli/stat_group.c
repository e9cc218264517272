#include "cli/stat_group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX (1 << 20) /* bytes */

/* @return its text, of the heap; NULL: said */
static char *read_file(const struct cli *cli, const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = calloc(1, FILE_MAX + 1);
	bool failed = !file || !text || !fread(text, 1, FILE_MAX, file);

	if (failed)
		cli_error(cli, EXIT_USAGE, "cannot read the group %s: %s", path,
			  file && !ferror(file) ? "it is empty" : strerror(errno));
	else if (strlen(text) == FILE_MAX)
		failed = cli_error(cli, EXIT_USAGE, "the group %s has more than %d bytes", path,
				   FILE_MAX - 1);
	if (file)
		fclose(file);
	if (failed) {
		free(text);
		text = NULL;
	}
	return text;
}

static char *find_text(const struct cli *cli, const struct stat_run *run, const char *name)
{
	const struct pmu_group *group = pmu_find_group(run->pmu, name);
	struct cli_names valid;

	if (group)
		return strdup(pmu_group_text(group));
	if (strpbrk(name, "/."))
		return read_file(cli, name);
	cli_names_init(&valid, name);
	for (size_t i = 0; (group = pmu_pmu_group(run->pmu, i)); i++)
		cli_names_add(&valid, pmu_group_name(group));
	cli_error(cli, EXIT_USAGE,
		  "%s has no group \"%s\"; %s; a file's name has a \"/\" or a \".\"",
		  pmu_pmu_name(run->pmu), name, cli_names_text(&valid));
	return NULL;
}

static int add_lists(const struct cli *cli, struct stat_run *run, const char *name,
		     const char *text, enum pmu_group_list wanted, stat_item *each)
{
	enum pmu_group_list kind;
	const char *list;
	size_t length;
	unsigned line = 0;
	int code = 0, found;

	while (!code &&
	       (found = pmu_group_next(cli->ctx, &text, &line, &kind, &list, &length)) != 0) {
		char *items;

		if (found < 0)
			return cli_error(cli, EXIT_USAGE, "%s: %s", name, pmu_message(cli->ctx));
		if (kind != wanted)
			continue;
		items = strndup(list, length);
		code = items ? stat_each_of_list(cli, run, items, each)
			     : cli_error(cli, EXIT_FAILED, "out of memory");
		free(items);
	}
	return code;
}

static int add_group(const struct cli *cli, struct stat_run *run, const char *name,
		     enum pmu_group_list wanted, stat_item *each)
{
	char *text;
	int code;

	/* LIKWID's users write EVENT:COUNTER,... here. */
	if (strchr(name, ':') && !strchr(name, '/'))
		return wanted == PMU_GROUP_EVENTS ? stat_each_of_list(cli, run, name, each) : 0;
	text = find_text(cli, run, name);
	if (!text)
		return EXIT_USAGE;
	code = add_lists(cli, run, name, text, wanted, each);
	free(text);
	return code;
}

int stat_groups_add(const struct cli *cli, struct stat_run *run, const struct stat_words *groups,
		    enum pmu_group_list wanted, stat_item *each)
{
	int code = 0;

	for (size_t i = 0; i < groups->count && !code; i++)
		code = add_group(cli, run, groups->words[i], wanted, each);
	return code;
}
