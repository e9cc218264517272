#include "cli/samples.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/text.h"

static bool same_key(const struct samples_group *a, const struct samples_group *b)
{
	return a->event == b->event && a->key == b->key && a->to == b->to;
}

static size_t slot_of(const struct samples *s, const struct samples_group *group)
{
	uint64_t hash = (group->key ^ group->to << 17 ^ group->event) * 0x9E3779B97F4A7C15u;
	size_t i = (size_t)(hash >> 32) & (s->capacity - 1);

	while (s->groups[i].samples && !same_key(&s->groups[i], group))
		i = (i + 1) & (s->capacity - 1);
	return i;
}

/* @return 0 or -1: out of memory */
static int grow(struct samples *s)
{
	struct samples old = *s;

	s->capacity = old.capacity ? 2 * old.capacity : 1024;
	s->groups = calloc(s->capacity, sizeof(*s->groups));
	if (!s->groups) {
		*s = old;
		return -1;
	}
	for (size_t i = 0; i < old.capacity; i++)
		if (old.groups[i].samples)
			s->groups[slot_of(s, &old.groups[i])] = old.groups[i];
	free(old.groups);
	return 0;
}

static int add(struct samples *s, const struct samples_group *one)
{
	struct samples_group *group;

	if (2 * s->count >= s->capacity && grow(s))
		return -1;
	group = &s->groups[slot_of(s, one)];
	if (!group->samples) {
		s->count++;
		*group = *one;
		return 0;
	}
	group->samples += one->samples;
	group->period += one->period;
	group->latency += one->latency;
	group->latencies += one->latencies;
	group->mispredicted += one->mispredicted;
	group->least += one->least;
	return 0;
}

static int add_branches(struct samples *s, const struct pmu_sample *sample)
{
	int error = 0;

	for (size_t i = 0; i < sample->branch_count && !error; i++) {
		const struct pmu_sample_branch *branch = &sample->branches[i];

		error = add(s, &(struct samples_group){.event = sample->event,
						       .key = branch->from,
						       .to = branch->to,
						       .samples = 1,
						       .mispredicted = branch->mispredicted});
	}
	return error;
}

static int add_retired(struct samples *s, const struct pmu_sample *sample)
{
	int error = 0;

	for (size_t i = 0; i < sample->retired_count && !error; i++)
		error = add(s, &(struct samples_group){.event = sample->event,
						       .key = sample->retired[i].ip,
						       .samples = 1,
						       .period = sample->retired[i].cycles,
						       .least = sample->retired[i].least});
	return error;
}

/* Powers of two. */
static uint64_t range_of(uint64_t latency)
{
	uint64_t low = 1;

	while (low <= latency / 2)
		low *= 2;
	return latency ? low : 0;
}

static int add_sample(struct samples *s, const struct pmu_sample *sample)
{
	struct samples_group one = {
	    .event = sample->event,
	    .key = sample->ip,
	    .samples = 1,
	    .period = sample->period,
	    .latency = sample->has_latency ? sample->latency : 0,
	    .latencies = sample->has_latency,
	    .least = sample->has_latency && sample->latency_least,
	};

	switch (s->by) {
	case SAMPLES_BY_BRANCH:
		return add_branches(s, sample);
	case SAMPLES_BY_RETIRED:
		return add_retired(s, sample);
	case SAMPLES_BY_DATA:
		one.key = sample->data_address;
		return sample->has_data ? add(s, &one) : 0;
	case SAMPLES_BY_LATENCY:
		one.key = range_of(sample->latency);
		return sample->has_latency ? add(s, &one) : 0;
	case SAMPLES_BY_THREAD:
		one.key = sample->thread;
		one.to = sample->cpu;
		return add(s, &one);
	default:
		return add(s, &one);
	}
}

static int out_of_memory(const struct samples *s)
{
	return cli_error(s->cli, EXIT_FAILED, "out of memory for samples");
}

int samples_read(struct samples *s, const char *path)
{
	struct pmu_sample sample = {.size = sizeof(sample)};
	int more, error = pmu_samples_open(&s->file, s->cli->ctx, path);

	if (error)
		return cli_fail(s->cli, error);
	s->periods = calloc(pmu_samples_events(s->file), sizeof(*s->periods));
	s->samples = calloc(pmu_samples_events(s->file), sizeof(*s->samples));
	if (!s->periods || !s->samples)
		return out_of_memory(s);
	while ((more = pmu_samples_next(s->file, s->cli->ctx, &sample)) > 0) {
		s->periods[sample.event] += sample.period;
		s->samples[sample.event]++;
		if (add_sample(s, &sample))
			return out_of_memory(s);
	}
	if (more < 0)
		return cli_fail(s->cli, more);
	s->mapping_count = pmu_samples_mappings(s->file, NULL, 0);
	s->mappings = calloc(s->mapping_count + 1, sizeof(*s->mappings));
	if (!s->mappings)
		return out_of_memory(s);
	pmu_samples_mappings(s->file, s->mappings, s->mapping_count);
	return 0;
}

void samples_fini(struct samples *s)
{
	pmu_samples_close(s->file);
	symbols_free(s->symbols);
	free(s->mappings);
	free(s->groups);
	free(s->periods);
	free(s->samples);
}

/* Programs are linked to their addresses: what is mapped stands where symbols say. */
static const char *look_up(const struct samples *s, uint64_t address, struct symbol *symbol)
{
	*symbol = (struct symbol){.address = address};
	for (size_t i = 0; i < s->mapping_count; i++) {
		const struct pmu_mapping *mapping = &s->mappings[i];

		if (address - mapping->address >= mapping->bytes)
			continue;
		symbols_find_address(s->symbols, mapping->path, address, symbol);
		return mapping->path;
	}
	return NULL;
}

static int by_name(const void *left, const void *right)
{
	const struct samples_group *a = left, *b = right;
	int order = number_compare(a->event, b->event);

	if (!order)
		order = text_compare(a->symbol.file, b->symbol.file);
	if (!order)
		order = number_compare(a->symbol.line, b->symbol.line);
	if (!order)
		order = text_compare(a->symbol.function, b->symbol.function);
	if (!order)
		order = number_compare(a->symbol.address, b->symbol.address);
	return order;
}

static int by_size(const void *left, const void *right)
{
	const struct samples_group *a = left, *b = right;
	int order = number_compare(a->event, b->event);

	if (!order)
		order = number_compare(b->period, a->period);
	if (!order)
		order = number_compare(b->samples, a->samples);
	if (!order)
		order = number_compare(a->key, b->key);
	return order ? order : number_compare(a->to, b->to);
}

static int by_key(const void *left, const void *right)
{
	const struct samples_group *a = left, *b = right;
	int order = number_compare(a->event, b->event);

	return order ? order : number_compare(a->key, b->key);
}

static void name_all(struct samples *s)
{
	for (size_t i = 0; i < s->count; i++) {
		struct samples_group *group = &s->groups[i];

		group->module = look_up(s, group->key, &group->symbol);
		if (s->by == SAMPLES_BY_BRANCH && group->to)
			look_up(s, group->to, &group->to_symbol);
		if (s->by == SAMPLES_BY_FUNCTION) {
			group->symbol.file = NULL;
			group->symbol.line = 0;
		}
		/* Lines of a function are one, wherever they begin. */
		if (s->by == SAMPLES_BY_LINE && group->symbol.file && group->symbol.function)
			group->symbol.address = 0;
	}
}

/* Groups of one function or line become one. */
static void join(struct samples *s)
{
	size_t used = 0;

	qsort(s->groups, s->count, sizeof(*s->groups), by_name);
	for (size_t i = 0; i < s->count; i++) {
		struct samples_group *last = used ? &s->groups[used - 1] : NULL;
		const struct samples_group *group = &s->groups[i];

		if (!last || by_name(last, group)) {
			s->groups[used++] = *group;
			continue;
		}
		last->samples += group->samples;
		last->period += group->period;
		last->latency += group->latency;
		last->latencies += group->latencies;
		last->least += group->least;
	}
	s->count = used;
}

int samples_name(struct samples *s, const char *path)
{
	struct stat status;
	size_t used = 0;

	for (size_t i = 0; i < s->capacity; i++)
		if (s->groups[i].samples)
			s->groups[used++] = s->groups[i];
	s->symbols = symbols_new(stat(path, &status) ? 0 : status.st_mtime);
	if (!s->symbols)
		return out_of_memory(s);
	if (s->by != SAMPLES_BY_LATENCY && s->by != SAMPLES_BY_THREAD)
		name_all(s);
	if (s->by == SAMPLES_BY_FUNCTION || s->by == SAMPLES_BY_LINE)
		join(s);
	if (s->count)
		qsort(s->groups, s->count, sizeof(*s->groups),
		      s->by == SAMPLES_BY_LATENCY ? by_key : by_size);
	return 0;
}
