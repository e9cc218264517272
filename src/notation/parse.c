#include "notation/parse.h"

#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/name.h"

const char *pmu_tool_name(enum pmu_tool tool)
{
	static const char *const names[PMU_TOOL_COUNT] = {"perf", "likwid", "libpfm4", "pcm"};

	return names[tool];
}

void notation_put(struct notation_reader *reader, const char *format, ...)
{
	const size_t room = sizeof(reader->own) - reader->used;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(reader->own + reader->used, room, format, arguments);
	va_end(arguments);
	reader->used += (size_t)length < room ? (size_t)length : room - 1;
}

void notation_put_box(struct notation_reader *reader, const struct notation_box *where)
{
	notation_put(reader, "%s/%s", where->pmu->name, where->box->name);
	if (where->instance >= 0)
		notation_put(reader, "%d", where->instance);
	notation_put(reader, ".");
}

const struct pmu_box *notation_next_box(const struct notation_reader *reader,
					const struct pmu_box *box, const struct pmu_pmu **pmu)
{
	size_t count, i = 0;
	const struct pmu_pmu *pmus = catalog_pmus(&count);

	if (box && ++box < (*pmu)->boxes + (*pmu)->box_count)
		return box;
	if (box)
		i = (size_t)(*pmu - pmus) + 1;
	for (; i < count; i++) {
		if (reader->pmu ? reader->pmu != &pmus[i] : pmus[i].qualified)
			continue;
		*pmu = &pmus[i];
		return pmus[i].boxes;
	}
	return NULL;
}

/* Reads it as pmulab's own, and says of an error what was read. */
static int parse_own(struct notation_reader *reader, struct pmu_selection *selection)
{
	char message[NOTATION_TEXT_MAX];
	int error = pmu_event_parse(reader->ctx, reader->pmu, reader->own, selection);

	if (!error || !reader->ctx)
		return error;
	snprintf(message, sizeof(message), "%s", pmu_message(reader->ctx));
	return error_set(reader->ctx, error, "%s means %s: %s", reader->text, reader->own, message);
}

int pmu_notation_parse(struct pmu_ctx *ctx, const struct pmu_pmu *pmu, const char *text,
		       struct pmu_selection *selection)
{
	static int (*const read[])(struct notation_reader *) = {
	    notation_read_terms, notation_read_libpfm4, notation_read_likwid, notation_read_intel,
	    notation_read_raw};

	for (size_t i = 0; i < sizeof(read) / sizeof(read[0]); i++) {
		struct notation_reader reader = {.ctx = ctx, .pmu = pmu, .text = text};
		int code = read[i](&reader);

		if (code)
			return code < 0 ? code : parse_own(&reader, selection);
	}
	return pmu_event_parse(ctx, pmu, text, selection);
}

/* A pattern, and what is done with what it matches. */
struct expansion {
	struct notation_reader reader;
	char pattern[NOTATION_TEXT_MAX]; /* of box, event and unit mask */
	const char *rest;		 /* what stands behind it */
	unsigned matches;
	int (*found)(void *arg, const struct pmu_selection *selection);
	void *arg;
};

/* The pattern may name an instance, imc0.CAS_*: its digits are taken out, and returned. */
static int take_instance(char *pattern)
{
	char *dot = strchr(pattern, '.'), *digits = dot;
	int number = 0;

	while (digits && digits > pattern && digits[-1] >= '0' && digits[-1] <= '9')
		digits--;
	if (!dot || digits == dot || digits == pattern || dot - digits > 4)
		return -1;
	for (const char *at = digits; at < dot; at++)
		number = number * 10 + *at - '0';
	memmove(digits, dot, strlen(dot) + 1);
	return number;
}

static int offer(struct expansion *expansion, const struct notation_box *where, const char *own)
{
	struct notation_reader *reader = &expansion->reader;
	struct pmu_selection selection;
	char full[NOTATION_TEXT_MAX];
	int error;

	snprintf(full, sizeof(full), "%s.%s", where->box->name, own);
	if (fnmatch(expansion->pattern, full, FNM_CASEFOLD) != 0 &&
	    fnmatch(expansion->pattern, own, FNM_CASEFOLD) != 0)
		return 0;
	expansion->matches++;
	reader->used = 0;
	notation_put_box(reader, where);
	notation_put(reader, "%s%s", own, expansion->rest);
	error = parse_own(reader, &selection);
	return error ? error : expansion->found(expansion->arg, &selection);
}

static int offer_box(struct expansion *expansion, const struct notation_box *where)
{
	const struct pmu_box *box = where->box;
	char own[NOTATION_TEXT_MAX];
	int error = 0;

	for (size_t i = 0; i < box->event_count && !error; i++) {
		const struct pmu_event *event = &box->events[i];

		for (size_t u = 0; u < (event->umask_count ? event->umask_count : 1) && !error;
		     u++) {
			notation_own_name(event, event->umask_count ? &event->umasks[u] : NULL, own,
					  sizeof(own));
			error = offer(expansion, where, own);
		}
	}
	for (unsigned i = 0; i < box->fixed_count && !error; i++) {
		const struct pmu_register *reg = pmu_box_register(box, PMU_ROLE_FIXED_COUNTER, i);

		error = offer(expansion, where, *reg->event ? reg->event : "clock");
	}
	return error;
}

static int expand(struct expansion *expansion)
{
	struct notation_box where = {.instance = take_instance(expansion->pattern)};
	const struct pmu_box *box = NULL;
	int error = 0;

	while (!error && (box = notation_next_box(&expansion->reader, box, &where.pmu))) {
		where.box = box;
		error = offer_box(expansion, &where);
	}
	if (!error && !expansion->matches)
		return error_set(expansion->reader.ctx, PMU_E_UNKNOWN, "no event matches \"%s\"",
				 expansion->reader.text);
	return error;
}

int pmu_notation_expand(struct pmu_ctx *ctx, const struct pmu_pmu *pmu, const char *text,
			int (*found)(void *arg, const struct pmu_selection *selection), void *arg)
{
	const size_t length = strcspn(text, ":{ ");
	struct pmu_selection selection;
	struct expansion expansion = {
	    .reader = {.ctx = ctx, .pmu = pmu, .text = text}, .found = found, .arg = arg};
	int error;

	if (!memchr(text, '*', length) && !memchr(text, '?', length)) {
		error = pmu_notation_parse(ctx, pmu, text, &selection);
		return error ? error : found(arg, &selection);
	}
	if (memchr(text, '/', length) || length >= sizeof(expansion.pattern)) {
		error = pmu_notation_parse(ctx, pmu, text, &selection);
		return error ? error : found(arg, &selection);
	}
	snprintf(expansion.pattern, sizeof(expansion.pattern), "%.*s", (int)length, text);
	expansion.rest = text + length;
	return expand(&expansion);
}
