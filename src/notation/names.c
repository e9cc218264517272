#include "notation/names.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/name.h"

/*
 * Fields that go by other names elsewhere. perf: Documentation/ABI and format of
 * arch/x86/events/intel/uncore_snbep.c, uncore_nhmex.c and core.c; LIKWID: likwid-perfctr(1) and
 * doc/archs; libpfm4: libpfm_intel_bdx_unc_cbo(3) and its kind.
 */
static const struct {
	const char *own;
	const char *names[PMU_TOOL_COUNT];
} fields[] = {
    {"edge_det", {"edge", "EDGEDETECT", "e"}},
    {"edge", {"edge", "EDGEDETECT", "e"}},
    {"invert", {"inv", "INVERT", "i"}},
    {"inv", {"inv", "INVERT", "i"}},
    {"thresh", {"thresh", "THRESHOLD", "t"}},
    {"cmask", {"cmask", "THRESHOLD", "c"}},
    {"any", {"any", "ANYTHREAD", "t"}},
    {"tid_en", {"tid_en"}},
    {"occ_invert", {"occ_invert"}},
    {"occ_edge_det", {"occ_edge"}},
    {"tid", {"filter_tid", "TID", "tf"}},
    {"nid", {"filter_nid", "NID", "nf"}},
    {"state", {"filter_state", "STATE"}},
    {"nc", {"filter_nc", NULL, "nc"}},
    {"isoc", {"filter_isoc", NULL, "isoc"}},
    {"band0", {"filter_band0"}},
    {"band1", {"filter_band1"}},
    {"band2", {"filter_band2"}},
    {"band3", {"filter_band3"}},
    {"match_vnw", {"match_vnw"}},
    {"match_opc", {"match_opc"}},
    {"match_mc", {"match_mc"}},
    {"match_dnid", {"match_dnid"}},
    {"match_rds", {"match_rds"}},
    {"match_rnid_3_0", {"match_rnid30"}},
    {"match_rnid_4", {"match_rnid4"}},
    {"mask_vnw", {"mask_vnw"}},
    {"mask_opc", {"mask_opc"}},
    {"mask_mc", {"mask_mc"}},
    {"mask_dnid", {"mask_dnid"}},
    {"mask_rds", {"mask_rds"}},
    {"mask_rnid_3_0", {"mask_rnid30"}},
    {"mask_rnid_4", {"mask_rnid4"}},
    {"rx_match_vnw", {"match_vnw"}},
    {"rx_match_opc", {"match_opc"}},
    {"rx_match_mc", {"match_mc"}},
    {"rx_match_dnid", {"match_dnid"}},
    {"rx_match_rds", {"match_rds"}},
    {"rx_match_rnid_3_0", {"match_rnid30"}},
    {"rx_match_rnid_4", {"match_rnid4"}},
    {"rx_mask_vnw", {"mask_vnw"}},
    {"rx_mask_opc", {"mask_opc"}},
    {"rx_mask_mc", {"mask_mc"}},
    {"rx_mask_dnid", {"mask_dnid"}},
    {"rx_mask_rds", {"mask_rds"}},
    {"rx_mask_rnid_3_0", {"mask_rnid30"}},
    {"rx_mask_rnid_4", {"mask_rnid4"}},
    {"request", {NULL, "MATCH0"}},
    {"response", {NULL, "MATCH1"}},
    {"request_1", {NULL, "MATCH0"}},
    {"response_1", {NULL, "MATCH1"}},
};

/* The opcode filter of a CBo is perf's filter_opc; that of a home agent perf does not set. */
static const struct {
	const char *own, *switched_by;
	const char *names[PMU_TOOL_COUNT];
} opcode = {"opc", "state", {"filter_opc", "OPCODE"}};

static const char *field_of_opcode(const struct pmu_box *box, enum pmu_tool tool)
{
	return pmu_find_modifier(box, opcode.switched_by) ? opcode.names[tool] : NULL;
}

const char *notation_field_name(const struct pmu_box *box, enum pmu_tool tool,
				const struct pmu_modifier *modifier)
{
	if (name_equal(modifier->name, opcode.own))
		return field_of_opcode(box, tool);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (name_equal(fields[i].own, modifier->name))
			return fields[i].names[tool];
	return NULL;
}

const struct pmu_modifier *notation_field(const struct pmu_box *box, const struct pmu_event *event,
					  enum pmu_tool tool, const char *name)
{
	const struct pmu_modifier *found = NULL;

	for (size_t i = 0; i < box->modifier_count; i++) {
		const struct pmu_modifier *field = &box->modifiers[i];
		const char *theirs = notation_field_name(box, tool, field);

		if (!theirs || !name_equal(theirs, name))
			continue;
		if (event && pmu_event_takes(event, field))
			return field;
		if (!found)
			found = field;
	}
	return found;
}

const char *notation_kernel_name(const struct pmu_box *box)
{
	return box->names.perf ? box->names.perf : box->kernel;
}

const char *notation_kernel_filter(const struct pmu_box *box)
{
	for (size_t i = 0; i < box->register_count; i++)
		if (*box->registers[i].perf)
			return box->registers[i].perf;
	return NULL;
}

bool notation_match(const char *pattern, const char *text, int *instance)
{
	*instance = -1;
	while (*pattern) {
		if (*pattern == '{') {
			int number = 0, digits = 0;

			for (; *text >= '0' && *text <= '9' && digits < 4; text++, digits++)
				number = number * 10 + *text - '0';
			if (!digits)
				return false;
			if (pattern[1] == 'i')
				*instance = number;
			pattern = strchr(pattern, '}') + 1;
		} else if ((*pattern++ | 0x20) != (*text++ | 0x20)) {
			return false;
		}
	}
	return !*text;
}

int notation_fill(const char *pattern, unsigned instance, unsigned counter, char *text, size_t size)
{
	size_t used = 0;

	while (*pattern) {
		const size_t room = used < size ? size - used : 0;
		char *end = room ? text + used : NULL;

		if (*pattern == '{') {
			used += (size_t)snprintf(end, room, "%u",
						 pattern[1] == 'i' ? instance : counter);
			pattern = strchr(pattern, '}') + 1;
		} else {
			used += (size_t)snprintf(end, room, "%c", *pattern++);
		}
	}
	return (int)used;
}

void notation_own_name(const struct pmu_event *event, const struct pmu_umask *umask, char *text,
		       size_t size)
{
	snprintf(text, size, "%s%s%s", event->name, umask ? "." : "", umask ? umask->name : "");
}

/* The fields that the tool's name sets: ":field=value..."; "": none. */
static const char *fields_of(const struct pmu_rename *rename)
{
	return rename->ours + strcspn(rename->ours, ":");
}

/* Replaces what the * stands for. @return whether @name is of the pattern */
static bool rename_one(const struct pmu_rename *rename, const char *name, char *text, size_t size)
{
	const char *star = strchr(rename->ours, '*'), *theirs = strchr(rename->theirs, '*');
	const size_t before = star ? (size_t)(star - rename->ours) : 0;
	const size_t after = star ? strlen(star + 1) : 0, length = strlen(name);

	if (!star) {
		if ((size_t)(fields_of(rename) - rename->ours) != length ||
		    strncasecmp(rename->ours, name, length) != 0)
			return false;
		snprintf(text, size, "%s", rename->theirs);
		return true;
	}
	if (length < before + after || strncasecmp(name, rename->ours, before) != 0 ||
	    strcasecmp(name + length - after, star + 1) != 0)
		return false;
	if (!theirs)
		snprintf(text, size, "%s", rename->theirs);
	else
		snprintf(text, size, "%.*s%.*s%s", (int)(theirs - rename->theirs), rename->theirs,
			 (int)(length - before - after), name + before, theirs + 1);
	return true;
}

void notation_tool_name(const struct pmu_box *box, enum pmu_tool tool, const char *own, char *text,
			size_t size)
{
	for (size_t i = 0; i < box->rename_count; i++)
		if (box->renames[i].tool == tool && !*fields_of(&box->renames[i]) &&
		    rename_one(&box->renames[i], own, text, size))
			return;
	snprintf(text, size, "%s", own);
}

static bool divides(char c)
{
	return c == '.' || c == '_' || c == ':' || c == '-';
}

bool notation_equal(const char *a, const char *b)
{
	for (;; a++, b++) {
		while (divides(*a))
			a++;
		while (divides(*b))
			b++;
		if (!*a || !*b)
			return *a == *b;
		if (name_compare((const char[]){*a, '\0'}, (const char[]){*b, '\0'}) != 0)
			return false;
	}
}

static void append_fields(char *own, size_t size, const struct pmu_rename *rename)
{
	const size_t used = strlen(own);

	snprintf(own + used, size - used, "%s", fields_of(rename));
}

/*
 * Whether a tool calls @own that: by a rename that adds fields to it, by the first that does not,
 * or else by its own name. perf has Intel's names, and others beside them.
 */
static bool is_called(const struct pmu_box *box, enum pmu_tool tool, char *own, size_t size,
		      const char *name)
{
	char theirs[NOTATION_TEXT_MAX];

	for (size_t i = 0; i < box->rename_count; i++) {
		const struct pmu_rename *rename = &box->renames[i];
		bool equal;

		if (rename->tool != tool || !rename_one(rename, own, theirs, sizeof(theirs)))
			continue;
		equal = *theirs && notation_equal(theirs, name);
		if (equal)
			append_fields(own, size, rename);
		if (equal || (tool != PMU_TOOL_PERF && !*fields_of(rename)))
			return equal;
	}
	return notation_equal(own, name);
}

/* A value of one of the event's filters that goes by so many characters of @name. */
static const struct pmu_mnemonic *value_of(const struct pmu_box *box, const struct pmu_event *event,
					   const char *name, size_t length)
{
	char word[NOTATION_TEXT_MAX];

	snprintf(word, sizeof(word), "%.*s", (int)length, name);
	for (size_t i = 0; i < box->mnemonic_count; i++) {
		const struct pmu_mnemonic *value = &box->mnemonics[i];
		const struct pmu_modifier *field = pmu_find_modifier(box, value->field);

		if (field && pmu_event_takes(event, field) && notation_equal(value->name, word))
			return value;
	}
	return NULL;
}

/* OFFCORE_RESPONSE.ALL_DATA_RD.LLC_MISS.LOCAL_DRAM: an event, and values of both its filters. */
static bool find_with_values(const struct pmu_box *box, const char *name, char *own, size_t size)
{
	const char *dot = strchr(name, '.');
	const struct pmu_event *event;
	char word[NOTATION_TEXT_MAX];

	if (!dot || !strchr(dot + 1, '.'))
		return false;
	snprintf(word, sizeof(word), "%.*s", (int)(dot - name), name);
	if (!notation_find(box, PMU_TOOL_PERF, word, own, size))
		return false;
	event = pmu_find_event(box, own);
	for (const char *end = dot; event && (end = strchr(end + 1, '.'));) {
		const size_t used = strlen(own);
		const struct pmu_mnemonic *first, *second;

		first = value_of(box, event, dot + 1, (size_t)(end - dot - 1));
		second = value_of(box, event, end + 1, strlen(end + 1));
		if (!first || !second)
			continue;
		snprintf(own + used, size - used, ":%s=%s:%s=%s", first->field, first->name,
			 second->field, second->name);
		return true;
	}
	return false;
}

bool notation_find(const struct pmu_box *box, enum pmu_tool tool, const char *name, char *own,
		   size_t size)
{
	for (size_t i = 0; i < box->event_count; i++) {
		const struct pmu_event *event = &box->events[i];

		for (size_t u = 0; u < (event->umask_count ? event->umask_count : 1); u++) {
			notation_own_name(event, event->umask_count ? &event->umasks[u] : NULL, own,
					  size);
			if (is_called(box, tool, own, size, name))
				return true;
		}
	}
	for (unsigned i = 0; i < box->fixed_count; i++) {
		const struct pmu_register *reg = pmu_box_register(box, PMU_ROLE_FIXED_COUNTER, i);

		snprintf(own, size, "%s", *reg->event ? reg->event : "clock");
		if (is_called(box, tool, own, size, name))
			return true;
	}
	return tool == PMU_TOOL_PERF && find_with_values(box, name, own, size);
}
