/* Lists of events, as people write them. */
#include "pmulab/event.h"

/* Where the item that begins at @text ends: at a comma outside of braces, or with the list. */
static const char *item_end(const char *text)
{
	int depth = 0;

	for (; *text && (*text != ',' || depth > 0); text++)
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
