/* A machine's prefetchers by name. */
#include <string.h>

#include "base/error.h"
#include "emul/emul.h"

static const struct name {
	const char *name;
	enum machine_prefetcher number;
} names[] = {
    {"streamer", MACHINE_PREFETCH_STREAM},
    {"adjacent", MACHINE_PREFETCH_ADJACENT},
    {"next-line", MACHINE_PREFETCH_NEXT},
    {"stride", MACHINE_PREFETCH_STRIDE},
};
#define NAMES (sizeof(names) / sizeof(names[0]))

/* @return the bit of one whose name has @length characters, 0: there is none */
static uint32_t find(const char *name, size_t length)
{
	for (size_t i = 0; i < NAMES; i++)
		if (!strncmp(names[i].name, name, length) && !names[i].name[length])
			return 1u << names[i].number;
	return 0;
}

/* @return whether @list names some, or all or none */
static bool read_list(uint32_t *on, const char *list)
{
	*on = 0;
	if (!strcmp(list, "none"))
		return true;
	if (!strcmp(list, "all")) {
		for (size_t i = 0; i < NAMES; i++)
			*on |= 1u << names[i].number;
		return true;
	}
	for (;;) {
		size_t length = strcspn(list, ",");
		uint32_t one = find(list, length);

		*on |= one;
		if (!one || !list[length])
			return one;
		list += length + 1;
	}
}

int pmu_emul_set_prefetchers(struct pmu_emul *emul, struct pmu_ctx *ctx, const char *list)
{
	const struct pmu_machine *desc = pmu_emul_machine(emul);
	uint32_t on;

	if (!emul_of(emul))
		return error_set(ctx, PMU_E_UNSUPPORTED, "IA-64 cores have no prefetchers here");
	if (!read_list(&on, list))
		return error_set(ctx, PMU_E_RANGE,
				 "\"%s\" is no list of prefetchers; valid: all, none, or some of "
				 "streamer,adjacent,next-line,stride",
				 list);
	for (unsigned core = 0; core < desc->sockets * desc->cores; core++)
		machine_set_prefetchers(emul_machine(emul_of(emul)), core, on);
	return 0;
}
