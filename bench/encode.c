/* Time to parse, check and encode an event's name, in the mean over all names of the catalog. */
#include <string.h>

#include "catalog/entries.h"
#include "measure.h"
#include "pmulab/event.h"

struct names {
	char (*text)[160];
	size_t count, room;
	struct pmu_ctx *ctx;
};

/* Filters that the catalog demands are given their smallest mnemonic or number. */
static const char *const filters[] = {"",	  ":opc=0x182",		":state=0x1",
				      ":nid=0x1", ":opc=0x182:nid=0x1", ":state=0x1:nid=0x1"};

static void add(struct names *names, const struct pmu_box *box, const struct pmu_event *event,
		const char *umask)
{
	struct pmu_selection selection;

	if (names->count == names->room) {
		names->room = names->room ? 2 * names->room : 1024;
		names->text = realloc(names->text, names->room * sizeof(*names->text));
		if (!names->text)
			exit(1);
	}
	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
		char *text = names->text[names->count];

		snprintf(text, sizeof(names->text[0]), "%s/%s.%s%s%s%s", box->pmu, box->name,
			 event->name, *umask ? "." : "", umask, filters[i]);
		if (!pmu_event_parse(names->ctx, NULL, text, &selection)) {
			names->count++;
			return;
		}
	}
}

static void collect(struct names *names)
{
	size_t count;
	const struct pmu_pmu *pmus = catalog_pmus(&count);

	for (size_t p = 0; p < count; p++) {
		for (size_t b = 0; b < pmus[p].box_count; b++) {
			const struct pmu_box *box = &pmus[p].boxes[b];

			for (size_t e = 0; e < box->event_count; e++) {
				const struct pmu_event *event = &box->events[e];

				if (!event->umask_count)
					add(names, box, event, "");
				for (size_t u = 0; u < event->umask_count; u++)
					add(names, box, event, event->umasks[u].name);
			}
		}
	}
}

static void encode_all(void *arg)
{
	struct names *names = arg;
	struct pmu_write writes[PMU_EVENT_WRITES];
	struct pmu_selection selection;

	for (size_t i = 0; i < names->count; i++) {
		if (pmu_event_parse(names->ctx, NULL, names->text[i], &selection))
			abort();
		pmu_event_encode(names->ctx, &selection, 0,
				 (unsigned)__builtin_ctz(selection.event->counters), writes);
	}
}

int main(void)
{
	struct names names = {0};
	char what[80];

	if (pmu_ctx_new(&names.ctx))
		return 1;
	collect(&names);
	snprintf(what, sizeof(what), "encode a name, mean over %zu", names.count);
	measure(what, encode_all, &names, (double)names.count);
	pmu_ctx_free(names.ctx);
	free(names.text);
	return 0;
}
