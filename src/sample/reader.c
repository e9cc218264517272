/* Reads files of samples. What they hold is untrusted: every offset and length is checked. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/option.h"
#include "catalog/entries.h"
#include "sample/perf_file.h"

#define FEATURE_MAX  (1u << 20)
#define MAPPINGS_MAX 1024

struct read_event {
	char *name;
	struct pmu_selection selection;
	struct capture_event capture;
};

struct pmu_samples {
	FILE *file;
	char *path;
	struct perf_file_header header;
	bool branches;
	uint64_t next, end; /* of the records */
	char *machine;
	const struct pmu_pmu *pmu;
	struct read_event events[PMU_SAMPLE_EVENTS_MAX];
	size_t event_count;
	const struct pmu_box *requests; /* what captures requests; NULL: no event does */
	struct pmu_mapping mappings[MAPPINGS_MAX];
	size_t mapping_count;
	/* Of the sample read last. */
	struct pmu_register_value registers[CAPTURE_REGISTERS];
	struct capture capture;
	_Alignas(8) char record[PERF_FILE_RECORD_MAX + 1];
};

static int malformed(const struct pmu_samples *s, struct pmu_ctx *ctx, const char *what)
{
	return error_set(ctx, PMU_E_SYNTAX, "%s: %s", s->path, what);
}

static int read_on(struct pmu_samples *s, struct pmu_ctx *ctx, void *bytes, size_t count)
{
	if (fread(bytes, 1, count, s->file) == count)
		return 0;
	if (ferror(s->file))
		return error_set(ctx, PMU_E_IO, "cannot read %s: %s", s->path, strerror(errno));
	return malformed(s, ctx, "it ends too early");
}

static int read_at(struct pmu_samples *s, struct pmu_ctx *ctx, uint64_t offset, void *bytes,
		   size_t count)
{
	if (offset > INT64_MAX || fseeko(s->file, (off_t)offset, SEEK_SET))
		return malformed(s, ctx, "it points beyond its end");
	return read_on(s, ctx, bytes, count);
}

struct text {
	const char *bytes;
	size_t left;
};

static bool take(struct text *t, void *bytes, size_t count)
{
	if (t->left < count)
		return false;
	memcpy(bytes, t->bytes, count);
	t->bytes += count;
	t->left -= count;
	return true;
}

/* @return the text, which is the caller's; NULL: there is none */
static char *take_text(struct text *t)
{
	uint32_t length;
	char *text = NULL;

	if (!take(t, &length, sizeof(length)) || length > t->left)
		return NULL;
	text = strndup(t->bytes, length);
	t->bytes += length;
	t->left -= length;
	return text;
}

static int no_feature(const struct pmu_samples *s, struct pmu_ctx *ctx)
{
	return malformed(s, ctx, "pmulab record has not written it");
}

/* @param bytes  receives the section, the caller's */
static int read_feature(struct pmu_samples *s, struct pmu_ctx *ctx, unsigned feature,
			struct text *text, char **bytes)
{
	struct perf_file_section section;
	unsigned before = 0;
	int error;

	*text = (struct text){NULL, 0};
	if (!(s->header.features[0] >> feature & 1))
		return no_feature(s, ctx);
	for (unsigned i = 0; i < feature; i++)
		before += s->header.features[0] >> i & 1;
	error = read_at(s, ctx, s->end + before * sizeof(section), &section, sizeof(section));
	if (error)
		return error;
	if (section.size > FEATURE_MAX)
		return malformed(s, ctx, "a section is too large");
	*bytes = malloc(section.size + 1);
	if (!*bytes)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for %s", s->path);
	error = read_at(s, ctx, section.offset, *bytes, section.size);
	*text = (struct text){*bytes, section.size};
	if (error)
		free(*bytes);
	return error;
}

static int read_text(struct pmu_samples *s, struct pmu_ctx *ctx, unsigned feature, char **text)
{
	struct text section = {0};
	char *bytes = NULL;
	int error = read_feature(s, ctx, feature, &section, &bytes);

	if (error)
		return error;
	*text = take_text(&section);
	free(bytes);
	return *text ? 0 : no_feature(s, ctx);
}

static int find_pmu(struct pmu_samples *s, struct pmu_ctx *ctx)
{
	const size_t length = strlen(PERF_FILE_CPUID);
	char *text = NULL;
	int error = read_text(s, ctx, PERF_FILE_CPUID_TEXT, &text);

	if (error)
		return error;
	if (strncmp(text, PERF_FILE_CPUID, length) != 0) {
		error = no_feature(s, ctx);
	} else {
		s->pmu = pmu_find_pmu(text + length);
		if (!s->pmu)
			error = error_set(ctx, PMU_E_UNKNOWN, "%s: the catalog has no PMU %s",
					  s->path, text + length);
	}
	free(text);
	return error;
}

static int read_event(struct pmu_samples *s, struct pmu_ctx *ctx, struct text *text,
		      uint32_t attr_size)
{
	struct read_event *event = &s->events[s->event_count];
	uint32_t ids;
	uint64_t id;
	int error;

	if (attr_size > text->left)
		return malformed(s, ctx, "it has no events");
	text->bytes += attr_size;
	text->left -= attr_size;
	if (!take(text, &ids, sizeof(ids)) || ids != 1)
		return malformed(s, ctx, "it has no events");
	event->name = take_text(text);
	if (!event->name)
		return malformed(s, ctx, "it has an event without a name");
	s->event_count++;
	if (!take(text, &id, sizeof(id)) || id != s->event_count)
		return malformed(s, ctx, "its events are not in order");
	error = pmu_event_parse(ctx, s->pmu, event->name, &event->selection);
	if (!error)
		capture_event_init(&event->capture, &event->selection);
	if (!error && event->capture.requests)
		s->requests = event->capture.requests;
	return error;
}

static int read_events(struct pmu_samples *s, struct pmu_ctx *ctx)
{
	struct text text = {0};
	char *bytes = NULL;
	uint32_t count = 0, attr_size = 0;
	int error = read_feature(s, ctx, PERF_FILE_EVENT_DESC, &text, &bytes);

	if (error)
		return error;
	if (!take(&text, &count, sizeof(count)) || !take(&text, &attr_size, sizeof(attr_size)) ||
	    !count || count > PMU_SAMPLE_EVENTS_MAX)
		error = malformed(s, ctx, "it has no events");
	for (uint32_t i = 0; i < count && !error; i++)
		error = read_event(s, ctx, &text, attr_size);
	for (size_t i = 1; i < s->event_count && !error; i++)
		if (s->events[i].selection.box != s->events[0].selection.box)
			error = malformed(s, ctx, "its events are of several boxes");
	free(bytes);
	return error;
}

static int read_header(struct pmu_samples *s, struct pmu_ctx *ctx)
{
	const struct perf_file_header *header = &s->header;
	struct perf_file_attr attr;
	int error = read_at(s, ctx, 0, &s->header, sizeof(s->header));

	if (error)
		return error;
	if (header->magic != PERF_FILE_MAGIC || header->size != sizeof(*header) ||
	    header->attr_size != sizeof(attr))
		return no_feature(s, ctx);
	if (!header->features[0])
		return malformed(s, ctx, "its recording was interrupted");
	if (header->data.offset > INT64_MAX || header->data.size > INT64_MAX - header->data.offset)
		return malformed(s, ctx, "it points beyond its end");
	s->next = header->data.offset;
	s->end = header->data.offset + header->data.size;
	error = read_at(s, ctx, header->attrs.offset, &attr, sizeof(attr));
	if (error)
		return error;
	s->branches = attr.attr.sample_type & PERF_SAMPLE_BRANCH_STACK;
	if ((attr.attr.sample_type & ~(uint64_t)PERF_SAMPLE_BRANCH_STACK) != PERF_FILE_SAMPLE_TYPE)
		return no_feature(s, ctx);
	return 0;
}

int pmu_samples_open(struct pmu_samples **out, struct pmu_ctx *ctx, const char *path)
{
	struct pmu_samples *s = calloc(1, sizeof(*s));
	int error = 0;

	if (!s)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for %s", path);
	s->path = strdup(path);
	s->file = s->path ? fopen(path, "re") : NULL;
	if (!s->file)
		error = s->path
			    ? error_set(ctx, PMU_E_IO, "cannot read %s: %s", path, strerror(errno))
			    : error_set(ctx, PMU_E_NOMEM, "out of memory for %s", path);
	if (!error)
		error = read_header(s, ctx);
	if (!error)
		error = find_pmu(s, ctx);
	if (!error)
		error = read_text(s, ctx, PERF_FILE_CPUDESC, &s->machine);
	if (!error)
		error = read_events(s, ctx);
	if (!error && fseeko(s->file, (off_t)s->next, SEEK_SET))
		error = malformed(s, ctx, "it points beyond its end");
	if (error)
		pmu_samples_close(s);
	else
		*out = s;
	return error;
}

void pmu_samples_close(struct pmu_samples *s)
{
	if (!s)
		return;
	if (s->file)
		fclose(s->file);
	for (size_t i = 0; i < s->event_count; i++)
		free(s->events[i].name);
	for (size_t i = 0; i < s->mapping_count; i++)
		free((char *)s->mappings[i].path);
	free(s->machine);
	free(s->path);
	free(s);
}

const struct pmu_pmu *pmu_samples_pmu(const struct pmu_samples *s)
{
	return s->pmu;
}

const char *pmu_samples_machine(const struct pmu_samples *s)
{
	return s->machine;
}

size_t pmu_samples_events(const struct pmu_samples *s)
{
	return s->event_count;
}

const char *pmu_samples_event(const struct pmu_samples *s, size_t index)
{
	return index < s->event_count ? s->events[index].name : NULL;
}

size_t pmu_samples_mappings(const struct pmu_samples *s, struct pmu_mapping *mappings, size_t size)
{
	for (size_t i = 0; i < size && i < s->mapping_count; i++)
		mappings[i] = s->mappings[i];
	return s->mapping_count;
}

static int add_mapping(struct pmu_samples *s, struct pmu_ctx *ctx, struct text *t)
{
	struct pmu_mapping *mapping = &s->mappings[s->mapping_count];
	uint32_t process, ignored[1 + 6 + 2];

	if (s->mapping_count == MAPPINGS_MAX)
		return 0;
	*mapping = (struct pmu_mapping){0};
	if (!take(t, &process, sizeof(process)) || !take(t, ignored, sizeof(ignored[0])) ||
	    !take(t, &mapping->address, sizeof(mapping->address)) ||
	    !take(t, &mapping->bytes, sizeof(mapping->bytes)) ||
	    !take(t, &mapping->offset, sizeof(mapping->offset)) || !take(t, ignored, 8 * 4))
		return malformed(s, ctx, "a mapping is too short");
	mapping->process = process;
	mapping->path = strndup(t->bytes, t->left);
	if (!mapping->path)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for %s", s->path);
	s->mapping_count++;
	return 0;
}

static const struct pmu_register *find_register(const struct pmu_box *box, uint32_t space,
						uint32_t number)
{
	for (size_t r = 0; r < box->register_count; r++)
		if (box->registers[r].space == space && box->registers[r].offset == number)
			return &box->registers[r];
	return NULL;
}

/* @return false where it is none */
static bool take_registers(struct pmu_samples *s, struct text *t, struct pmu_sample *sample)
{
	const struct pmu_box *box = s->events[0].selection.box;
	uint32_t bytes, count;

	if (!take(t, &bytes, sizeof(bytes)) || !take(t, &count, sizeof(count)) ||
	    count > CAPTURE_REGISTERS || bytes != 12 + count * PERF_FILE_REGISTER ||
	    !take(t, &sample->next_ip, sizeof(sample->next_ip)))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		struct pmu_register_value *value = &s->registers[i];
		uint32_t space, number;

		if (!take(t, &space, sizeof(space)) || !take(t, &number, sizeof(number)))
			return false;
		*value = (struct pmu_register_value){.box = box,
						     .reg = find_register(box, space, number)};
		if (!value->reg && s->requests)
			*value = (struct pmu_register_value){
			    .box = s->requests, .reg = find_register(s->requests, space, number)};
		if (!value->reg || !take(t, &value->value, sizeof(value->value)))
			return false;
	}
	sample->registers = s->registers;
	sample->register_count = count;
	return true;
}

/* @return false where it is none */
static bool take_sample(struct pmu_samples *s, struct text *t, struct pmu_sample *sample)
{
	uint64_t id, address, cpu;

	if (!take(t, &id, sizeof(id)) || !id || id > s->event_count ||
	    !take(t, &sample->ip, sizeof(sample->ip)) ||
	    !take(t, &sample->process, sizeof(sample->process)) ||
	    !take(t, &sample->thread, sizeof(sample->thread)) ||
	    !take(t, &sample->time_ns, sizeof(sample->time_ns)) ||
	    !take(t, &address, sizeof(address)) || !take(t, &cpu, sizeof(cpu)) ||
	    !take(t, &sample->period, sizeof(sample->period)) || !take_registers(s, t, sample))
		return false;
	sample->event = (unsigned)id - 1;
	sample->cpu = (unsigned)cpu;
	return true;
}

/* The branches and the weight say what the registers do, in perf's way. */
static void decode(struct pmu_samples *s, struct pmu_sample *sample)
{
	struct capture *c = &s->capture;

	capture_decode(c, &s->events[sample->event].capture, s->registers, sample->register_count);
	sample->captured = c->has_instruction;
	sample->has_data = c->has_data;
	sample->data_address = c->data;
	sample->has_latency = c->has_latency;
	sample->latency = c->latency;
	sample->latency_least = c->latency_least;
	sample->branches = c->branches;
	sample->branch_count = c->branch_count;
	sample->retired = c->retired;
	sample->retired_count = c->retired_count;
}

static int read_record(struct pmu_samples *s, struct pmu_ctx *ctx, struct perf_event_header *header,
		       struct text *body)
{
	int error;

	if (s->end - s->next < sizeof(*header))
		return malformed(s, ctx, "a record is too short");
	error = read_on(s, ctx, header, sizeof(*header));
	if (error)
		return error;
	if (header->size < sizeof(*header) || header->size > s->end - s->next)
		return malformed(s, ctx, "a record has no length");
	error = read_on(s, ctx, s->record, header->size - sizeof(*header));
	*body = (struct text){s->record, header->size - sizeof(*header)};
	s->next += header->size;
	return error;
}

int pmu_samples_next(struct pmu_samples *s, struct pmu_ctx *ctx, struct pmu_sample *given)
{
	while (s->next < s->end) {
		struct pmu_sample sample = {.size = sizeof(sample)};
		struct perf_event_header header;
		struct text body = {NULL, 0};
		int error = read_record(s, ctx, &header, &body);

		if (!error && header.type == PERF_RECORD_MMAP2)
			error = add_mapping(s, ctx, &body);
		if (error)
			return error;
		if (header.type != PERF_RECORD_SAMPLE)
			continue;
		if (!take_sample(s, &body, &sample))
			return malformed(s, ctx, "a sample is none of this PMU");
		decode(s, &sample);
		error = option_give(given, &sample, sizeof(sample));
		if (error)
			return error_set(ctx, error, "the size of the sample is not set");
		return 1;
	}
	return 0;
}
