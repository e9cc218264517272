/*
 * Any text is parsed or refused with a message; what was parsed is printed, and what was printed is
 * parsed again to the same selection. fuzz/run builds and runs it.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pmulab/event.h"

#include "catalog/entries.h"

#define TEXT_MAX 1024 /* more than the longest canonical expression */

static void check_same(const struct pmu_selection *a, const struct pmu_selection *b)
{
	assert(a->pmu == b->pmu && a->box == b->box && a->event == b->event);
	assert(a->one_instance == b->one_instance && a->instance == b->instance &&
	       a->fixed == b->fixed && a->umask == b->umask);
	assert(a->setting_count == b->setting_count);
	for (size_t i = 0; i < a->setting_count; i++) {
		assert(a->settings[i].modifier == b->settings[i].modifier);
		assert(a->settings[i].value == b->settings[i].value);
		assert(a->settings[i].nodes == b->settings[i].nodes);
	}
}

static void check_encoding(struct pmu_ctx *ctx, const struct pmu_selection *selection)
{
	unsigned instance = selection->instance;
	struct pmu_write writes[PMU_EVENT_WRITES];
	int count = pmu_event_encode(
	    ctx, selection, instance,
	    selection->event ? (unsigned)__builtin_ctz(selection->event->counters) : 0, writes);

	assert(count > 0 || count == PMU_E_UNSUPPORTED);
	for (int i = 0; i < count; i++)
		assert(writes[i].reg->width == 64 || writes[i].value <= UINT32_MAX);
}

static void check_text(struct pmu_ctx *ctx, const char *text)
{
	struct pmu_selection selection, again;
	char printed[TEXT_MAX];
	int length;

	if (pmu_event_parse(ctx, NULL, text, &selection)) {
		assert(*pmu_message(ctx));
		return;
	}
	length = pmu_event_print(&selection, printed, sizeof(printed));
	assert(length > 0 && (size_t)length < sizeof(printed) && strlen(printed) == (size_t)length);
	assert(!pmu_event_parse(ctx, NULL, printed, &again));
	check_same(&selection, &again);
	check_encoding(ctx, &selection);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct pmu_ctx *ctx; /* one for all: a message is the only thing that it keeps */
	char *text = malloc(size + 1);

	if (!text || (!ctx && pmu_ctx_new(&ctx))) {
		free(text);
		return 0;
	}
	memcpy(text, data, size);
	text[size] = '\0';
	check_text(ctx, text);
	free(text);
	return 0;
}
