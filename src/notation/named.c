/* Notations that name events: LIKWID's, libpfm4's, and that of Intel's lists, which perf reads. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/name.h"
#include "notation/parse.h"

/* Takes the text up to @end, and moves behind that. @return false where there is none left */
static bool take(const char **text, char end, char *word, size_t size)
{
	size_t length = strcspn(*text, (const char[]){end, '\0'});

	if (!**text || length >= size)
		return false;
	memcpy(word, *text, length);
	word[length] = '\0';
	*text += length + ((*text)[length] == end);
	return true;
}

/* [=value] of an option: 1 where it has none. */
static const char *cut_value(char *option)
{
	char *sign = strchr(option, '=');

	if (!sign)
		return "1";
	*sign = '\0';
	return sign + 1;
}

/* @param event  that the field is set for; NULL: of the box */
static int put_field(struct notation_reader *reader, const struct pmu_box *box,
		     const struct pmu_event *event, enum pmu_tool tool, char *option)
{
	const char *value = cut_value(option);
	const struct pmu_modifier *field = notation_field(box, event, tool, option);

	if (!field)
		return error_set(reader->ctx, PMU_E_UNKNOWN,
				 "%s: pmulab does not know what %s \"%s\" sets in %s", reader->text,
				 pmu_tool_name(tool), option, box->name);
	notation_put(reader, ":%s=%s", field->name, value);
	return 0;
}

/* LIKWID: EVENT:COUNTER[:OPTION[=VALUE]]... */

static bool is_counter(const struct pmu_box *box, const char *counter, struct notation_box *where)
{
	const struct pmu_box_names *names = &box->names;
	int instance;

	where->fixed =
	    names->likwid_fixed && notation_match(names->likwid_fixed, counter, &instance);
	if (!where->fixed && !(names->likwid && notation_match(names->likwid, counter, &instance)))
		return false;
	where->box = box;
	where->instance = instance;
	return true;
}

/* @param own  with its unit mask and fields */
static const struct pmu_event *event_of(const struct pmu_box *box, const char *own)
{
	char name[NOTATION_TEXT_MAX];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(own, ".:"), own);
	return pmu_find_event(box, name);
}

int notation_read_likwid(struct notation_reader *reader)
{
	const char *rest = reader->text;
	const struct pmu_box *box = NULL;
	struct notation_box where = {0};
	char event[NOTATION_TEXT_MAX], counter[32], own[NOTATION_TEXT_MAX];
	int code = 1;

	if (!take(&rest, ':', event, sizeof(event)) || !take(&rest, ':', counter, sizeof(counter)))
		return 0;
	while ((box = notation_next_box(reader, box, &where.pmu)))
		if (is_counter(box, counter, &where))
			break;
	if (!box)
		return 0;
	if (!notation_find(box, PMU_TOOL_LIKWID, event, own, sizeof(own)))
		return error_set(reader->ctx, PMU_E_UNKNOWN,
				 "%s: %s has no event that LIKWID calls %s", reader->text,
				 box->name, event);
	notation_put_box(reader, &where);
	notation_put(reader, "%s", own);
	while (code > 0 && take(&rest, ':', event, sizeof(event))) {
		int error = put_field(reader, box, event_of(box, own), PMU_TOOL_LIKWID, event);

		code = error ? error : 1;
	}
	return code;
}

/* libpfm4: PMU::EVENT[:ATTRIBUTE[=VALUE]]... */

static bool has_umask(const struct pmu_box *box, const char *event, const char *umask, char *own,
		      size_t size)
{
	char name[2 * NOTATION_TEXT_MAX];

	snprintf(name, sizeof(name), "%s.%s", event, umask);
	return notation_find(box, PMU_TOOL_LIBPFM4, name, own, size);
}

/* OPC_DRD and STATE_M are values of filters. */
static bool put_value(struct notation_reader *reader, const struct pmu_box *box,
		      const char *attribute)
{
	static const struct {
		const char *prefix, *field;
	} prefixes[] = {{"OPC_", "opc"}, {"STATE_", "state"}};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		const size_t length = strlen(prefixes[i].prefix);

		if (strncasecmp(attribute, prefixes[i].prefix, length) != 0 ||
		    !pmu_find_modifier(box, prefixes[i].field))
			continue;
		notation_put(reader, ":%s=%s", prefixes[i].field, attribute + length);
		return true;
	}
	return false;
}

static int put_attributes(struct notation_reader *reader, const struct pmu_box *box,
			  const char *event, const char *attributes)
{
	char attribute[NOTATION_TEXT_MAX], own[NOTATION_TEXT_MAX];
	const char *rest = attributes;
	unsigned umasks = 0;

	/* An event without one has its own name. */
	while (take(&rest, ':', attribute, sizeof(attribute))) {
		if (!has_umask(box, event, attribute, own, sizeof(own)))
			continue;
		notation_put(reader, "%s", umasks++ ? strchr(own, '.') + 1 : own);
		notation_put(reader, "+");
	}
	if (umasks)
		reader->own[--reader->used] = '\0';
	else if (notation_find(box, PMU_TOOL_LIBPFM4, event, own, sizeof(own)))
		notation_put(reader, "%s", own);
	else
		notation_put(reader, "%s", event);
	for (rest = attributes; take(&rest, ':', attribute, sizeof(attribute));) {
		int error;

		if (has_umask(box, event, attribute, own, sizeof(own)) ||
		    put_value(reader, box, attribute))
			continue;
		error = put_field(reader, box, NULL, PMU_TOOL_LIBPFM4, attribute);
		if (error)
			return error;
	}
	return 1;
}

/* All PMUs: libpfm4's name of a box says which it is of. */
static bool find_libpfm4(const struct notation_reader *reader, const char *name,
			 struct notation_box *where)
{
	size_t count;
	const struct pmu_pmu *pmus = catalog_pmus(&count);

	for (size_t i = 0; i < count; i++)
		for (size_t b = 0; b < pmus[i].box_count; b++) {
			const struct pmu_box *box = &pmus[i].boxes[b];

			if ((reader->pmu && reader->pmu != &pmus[i]) || !box->names.libpfm4 ||
			    !notation_match(box->names.libpfm4, name, &where->instance))
				continue;
			where->pmu = &pmus[i];
			where->box = box;
			return true;
		}
	return false;
}

static const char *without_prefix(const struct pmu_box *box, const char *event)
{
	const char *prefix = box->names.intel;

	return prefix && !strncasecmp(event, prefix, strlen(prefix)) ? event + strlen(prefix)
								     : event;
}

int notation_read_libpfm4(struct notation_reader *reader)
{
	const char *colons = strstr(reader->text, "::"), *rest;
	struct notation_box where = {0};
	char name[64], event[NOTATION_TEXT_MAX];

	if (!colons || (size_t)(colons - reader->text) >= sizeof(name))
		return 0;
	rest = colons + 2;
	snprintf(name, sizeof(name), "%.*s", (int)(colons - reader->text), reader->text);
	if (!find_libpfm4(reader, name, &where))
		return error_set(reader->ctx, PMU_E_UNKNOWN, "%s: no box is libpfm4's %s",
				 reader->text, name);
	if (!take(&rest, ':', event, sizeof(event)))
		return error_set(reader->ctx, PMU_E_SYNTAX, "%s: no event is named", reader->text);
	notation_put_box(reader, &where);
	return put_attributes(reader, where.box, without_prefix(where.box, event), rest);
}

/* Intel's lists, which perf and VTune read: UNC_M_CAS_COUNT.RD; and perf's generic names. */

/* Two words: others are generic names, or an event's with values of its filters. */
static bool is_with_umask(const char *name)
{
	const char *dot = strchr(name, '.');

	return dot && !strchr(dot + 1, '.');
}

int notation_read_intel(struct notation_reader *reader)
{
	const size_t length = strcspn(reader->text, ":{ ");
	const struct pmu_box *box = NULL;
	struct notation_box where = {.instance = -1};
	char name[NOTATION_TEXT_MAX], own[NOTATION_TEXT_MAX];

	if (length >= sizeof(name))
		return 0;
	snprintf(name, sizeof(name), "%.*s", (int)length, reader->text);
	while ((box = notation_next_box(reader, box, &where.pmu))) {
		const bool generic = box->scope == PMU_SCOPE_CORE && !is_with_umask(name) &&
				     notation_find(box, PMU_TOOL_PERF, name, own, sizeof(own)) &&
				     !notation_equal(own, name);

		where.box = box;
		if (!generic &&
		    (!box->names.intel ||
		     strncasecmp(name, box->names.intel, strlen(box->names.intel)) != 0 ||
		     !notation_find(box, PMU_TOOL_PERF, without_prefix(box, name), own,
				    sizeof(own))))
			continue;
		notation_put_box(reader, &where);
		notation_put(reader, "%s%s", own, reader->text + length);
		return 1;
	}
	return 0;
}
