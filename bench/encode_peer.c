/*
 * Time libpfm4 needs to encode a name, in the mean over all events and unit masks of those PMUs of
 * Intel that the catalog describes too. Of boxes that libpfm4 lists once an instance, the first.
 */
#include <perfmon/pfmlib.h>
#include <stdbool.h>
#include <string.h>

#include "measure.h"

#define CODES 8 /* words of an encoding */

struct names {
	char (*text)[160];
	size_t count, room;
};

static bool encode(const char *name)
{
	uint64_t codes[CODES];
	pfm_pmu_encode_arg_t encoding = {.size = sizeof(encoding), .codes = codes, .count = CODES};

	return pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_NONE, &encoding) ==
	       PFM_SUCCESS;
}

/* Keeps names that need no filter; those that do are refused without one. */
static void add(struct names *names, const char *pmu, const char *event, const char *umask)
{
	if (names->count == names->room) {
		names->room = names->room ? 2 * names->room : 1024;
		names->text = realloc(names->text, names->room * sizeof(*names->text));
		if (!names->text)
			exit(1);
	}
	snprintf(names->text[names->count], sizeof(names->text[0]), "%s::%s%s%s", pmu, event,
		 *umask ? ":" : "", umask);
	names->count += encode(names->text[names->count]);
}

static void collect_event(struct names *names, const char *pmu, int index)
{
	pfm_event_info_t event = {.size = sizeof(event)};
	bool any = false;

	if (pfm_get_event_info(index, PFM_OS_NONE, &event) != PFM_SUCCESS)
		return;
	for (int i = 0; i < event.nattrs; i++) {
		pfm_event_attr_info_t attr = {.size = sizeof(attr)};

		if (pfm_get_event_attr_info(index, i, PFM_OS_NONE, &attr) != PFM_SUCCESS ||
		    attr.type != PFM_ATTR_UMASK)
			continue;
		add(names, pmu, event.name, attr.name);
		any = true;
	}
	if (!any)
		add(names, pmu, event.name, "");
}

/* "cbo0" and "pcu" of a PMU's name: the first or only instance. */
static bool is_first(const char *box)
{
	size_t digits = strcspn(box, "0123456789");

	return !box[digits] || !strcmp(box + digits, "0");
}

static bool is_described(const char *pmu)
{
	static const char *const families[] = {"bdx_unc_", "snbep_unc_"};

	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (!strncmp(pmu, families[i], strlen(families[i])))
			return is_first(pmu + strlen(families[i]));
	return !strcmp(pmu, "nhm") || !strcmp(pmu, "nhm_unc");
}

static void collect(struct names *names)
{
	pfm_pmu_t id;

	pfm_for_all_pmus(id)
	{
		pfm_pmu_info_t pmu = {.size = sizeof(pmu)};

		if (pfm_get_pmu_info(id, &pmu) != PFM_SUCCESS || !is_described(pmu.name))
			continue;
		for (int i = pmu.first_event; i != -1; i = pfm_get_event_next(i))
			collect_event(names, pmu.name, i);
	}
}

static void encode_all(void *arg)
{
	const struct names *names = arg;

	for (size_t i = 0; i < names->count; i++)
		if (!encode(names->text[i]))
			abort();
}

int main(void)
{
	struct names names = {0};
	char what[80];

	/* Without this, libpfm4 encodes for the processor that it runs on only. */
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	if (pfm_initialize() != PFM_SUCCESS)
		return 1;
	collect(&names);
	snprintf(what, sizeof(what), "libpfm4: encode a name, mean over %zu", names.count);
	measure(what, encode_all, &names, (double)names.count);
	pfm_terminate();
	free(names.text);
	return 0;
}
