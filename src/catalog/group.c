#include "catalog/group.h"

#include <string.h>

#include "base/error.h"
#include "base/name.h"

const struct pmu_group *pmu_pmu_group(const struct pmu_pmu *pmu, size_t index)
{
	for (size_t i = 0; i < group_table_count; i++)
		if (!strcmp(group_table[i].pmu, pmu_pmu_name(pmu)) && index-- == 0)
			return &group_table[i];
	return NULL;
}

const struct pmu_group *pmu_find_group(const struct pmu_pmu *pmu, const char *name)
{
	const struct pmu_group *group;

	for (size_t i = 0; (group = pmu_pmu_group(pmu, i)); i++)
		if (name_equal(group->name, name))
			return group;
	return NULL;
}

const char *pmu_group_name(const struct pmu_group *group)
{
	return group->name;
}

const char *pmu_group_title(const struct pmu_group *group)
{
	return group->title;
}

const char *pmu_group_text(const struct pmu_group *group)
{
	return group->text;
}

/* Whether the line begins with the word. */
static bool has_word(const char *line, size_t length, const char *word)
{
	const size_t size = strlen(word);

	return length > size && !memcmp(line, word, size) && strchr(" \t", line[size]);
}

int pmu_group_next(struct pmu_ctx *ctx, const char **text, unsigned *line,
		   enum pmu_group_list *kind, const char **list, size_t *length)
{
	static const char *const words[] = {
	    [PMU_GROUP_EVENTS] = "events", [PMU_GROUP_METRICS] = "metrics"};

	while (**text) {
		const char *start = *text + strspn(*text, " \t");
		size_t size = strcspn(start, "\r\n");

		*text = start + size;
		*text += strspn(*text, "\r");
		*text += **text == '\n';
		++*line;
		if (!size || *start == '#')
			continue;
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
			if (!has_word(start, size, words[i]))
				continue;
			*kind = (enum pmu_group_list)i;
			*list = start + strlen(words[i]);
			*length = size - strlen(words[i]);
			return 1;
		}
		return error_set(ctx, PMU_E_SYNTAX,
				 "line %u: \"%.*s\" does not begin with \"events\" or \"metrics\"",
				 *line, size < 40 ? (int)size : 40, start);
	}
	return 0;
}
