/* Lists of events, as people write them. */
#include <string.h>

#include "pmulab/event.h"

/* The end of "PMU/TERM,.../", as perf writes events; @text where no second slash ends an item. */
static const char *terms_end(const char *text)
{
	const char *slash = text + strcspn(text, "/,{}"), *end;

	if (*slash != '/')
		return text;
	end = slash + 1 + strcspn(slash + 1, "/{}");
	return *end == '/' && (!end[1] || strchr(",}", end[1])) ? end + 1 : text;
}

/* Where the item that begins at @text ends: at a comma outside of braces, or with the list. */
static const char *item_end(const char *text)
{
	int depth = 0;

	for (text = terms_end(text); *text && (*text != ',' || depth > 0); text++)
		depth += (*text == '{') - (*text == '}');
	return text;
}

bool pmu_event_list_next(const char **list, const char **item, size_t *length)
{
	while (**list == ',')
		++*list;
	if (!**list)
		return false;
	*item = *list;
	*list = item_end(*list);
	*length = (size_t)(*list - *item);
	*list += **list == ',';
	return true;
}
