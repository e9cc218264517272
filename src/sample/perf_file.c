#include "sample/perf_file.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct record {
	char *bytes;
	size_t used;
};

static void put(struct record *r, const void *bytes, size_t count)
{
	assert(r->used + count <= PERF_FILE_RECORD_MAX);
	memcpy(r->bytes + r->used, bytes, count);
	r->used += count;
}

static void put_u32(struct record *r, uint32_t value)
{
	put(r, &value, sizeof(value));
}

static void put_u64(struct record *r, uint64_t value)
{
	put(r, &value, sizeof(value));
}

/* With its end, and zeros to a multiple of 8; long ones are cut. */
static void put_text(struct record *r, const char *text)
{
	static const char zeros[8];
	size_t length = strnlen(text, PATH_MAX - 1);

	put(r, text, length);
	put(r, zeros, 8 - length % 8);
}

static void begin(struct record *r, void *bytes, uint32_t type, uint16_t misc)
{
	const struct perf_event_header header = {.type = type, .misc = misc};

	*r = (struct record){.bytes = bytes};
	put(r, &header, sizeof(header));
}

static size_t end(const struct record *r)
{
	struct perf_event_header header;

	memcpy(&header, r->bytes, sizeof(header));
	header.size = (uint16_t)r->used;
	memcpy(r->bytes, &header, sizeof(header));
	return r->used;
}

/* Records other than samples end in what samples begin with. */
static size_t end_with_origin(struct record *r, const struct perf_file_origin *origin)
{
	put_u32(r, origin->process);
	put_u32(r, origin->thread);
	put_u64(r, origin->time_ns);
	put_u64(r, origin->cpu);
	put_u64(r, 1); /* identifier of an event */
	return end(r);
}

size_t perf_file_put_comm(void *bytes, const struct perf_file_origin *origin, const char *name)
{
	struct record r;

	begin(&r, bytes, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	put_u32(&r, origin->process);
	put_u32(&r, origin->thread);
	put_text(&r, name);
	return end_with_origin(&r, origin);
}

size_t perf_file_put_fork(void *bytes, const struct perf_file_origin *origin)
{
	struct record r;

	begin(&r, bytes, PERF_RECORD_FORK, 0);
	put_u32(&r, origin->process);
	put_u32(&r, origin->process);
	put_u32(&r, origin->thread);
	put_u32(&r, origin->process);
	put_u64(&r, origin->time_ns);
	return end_with_origin(&r, origin);
}

size_t perf_file_put_mmap(void *bytes, const struct perf_file_origin *origin,
			  const struct pmu_mapping *mapping, bool code)
{
	static const uint64_t no_inode[3];
	struct record r;

	begin(&r, bytes, PERF_RECORD_MMAP2,
	      PERF_RECORD_MISC_USER | (code ? 0 : PERF_RECORD_MISC_MMAP_DATA));
	put_u32(&r, origin->process);
	put_u32(&r, origin->thread);
	put_u64(&r, mapping->address);
	put_u64(&r, mapping->bytes);
	put_u64(&r, mapping->offset);
	put(&r, no_inode, sizeof(no_inode));
	put_u32(&r, PROT_READ | (code ? PROT_EXEC : PROT_WRITE));
	put_u32(&r, MAP_PRIVATE);
	put_text(&r, mapping->path);
	return end_with_origin(&r, origin);
}

/* Raw data: where the program was interrupted, and registers. */
static void put_raw(struct record *r, const struct perf_file_sample *s)
{
	put_u32(r, (uint32_t)(12 + PERF_FILE_REGISTER * s->register_count));
	put_u32(r, (uint32_t)s->register_count);
	put_u64(r, s->next_ip);
	for (size_t i = 0; i < s->register_count; i++) {
		put_u32(r, s->registers[i].reg->space);
		put_u32(r, s->registers[i].reg->offset);
		put_u64(r, s->registers[i].value);
	}
}

/* perf knows branches that were taken. */
static void put_branches(struct record *r, const struct capture *c)
{
	size_t at = r->used;
	uint64_t count = 0;

	put_u64(r, 0);
	for (unsigned i = 0; i < c->branch_count; i++) {
		const struct perf_branch_entry entry = {
		    .from = c->branches[i].from,
		    .to = c->branches[i].to,
		    .mispred = c->branches[i].mispredicted,
		    .predicted = !c->branches[i].mispredicted,
		};

		if (!c->branches[i].taken)
			continue;
		put(r, &entry, sizeof(entry));
		count++;
	}
	memcpy(r->bytes + at, &count, sizeof(count));
}

size_t perf_file_put_sample(void *bytes, const struct perf_file_info *info,
			    const struct perf_file_sample *s)
{
	struct record r;

	begin(&r, bytes, PERF_RECORD_SAMPLE,
	      PERF_RECORD_MISC_USER | (s->precise ? PERF_RECORD_MISC_EXACT_IP : 0));
	put_u64(&r, s->event + 1);
	put_u64(&r, s->ip);
	put_u32(&r, s->origin.process);
	put_u32(&r, s->origin.thread);
	put_u64(&r, s->origin.time_ns);
	put_u64(&r, s->capture->has_data ? s->capture->data : 0);
	put_u64(&r, s->origin.cpu);
	put_u64(&r, s->period);
	put_raw(&r, s);
	if (info->branches)
		put_branches(&r, s->capture);
	put_u64(&r, s->capture->has_latency ? s->capture->latency : 0);
	return end(&r);
}

static void describe(struct perf_event_attr *attr, const struct perf_file_info *info,
		     unsigned event)
{
	*attr = (struct perf_event_attr){
	    .type = PERF_TYPE_RAW,
	    .size = sizeof(*attr),
	    .config = info->codes[event],
	    .sample_period = info->periods[event],
	    .sample_type = PERF_FILE_SAMPLE_TYPE | (info->branches ? PERF_SAMPLE_BRANCH_STACK : 0),
	    .branch_sample_type =
		info->branches ? PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY : 0,
	    .disabled = 1,
	    .exclude_kernel = 1,
	    .exclude_hv = 1,
	    .sample_id_all = 1,
	    /* Names and mappings are told of once, by the first event's records. */
	    .mmap = event == 0,
	    .mmap2 = event == 0,
	    .comm = event == 0,
	    .task = event == 0,
	};
}

static uint64_t ids_offset(const struct perf_file_info *info, unsigned event)
{
	return sizeof(struct perf_file_header) + info->event_count * sizeof(struct perf_file_attr) +
	       event * sizeof(uint64_t);
}

static uint64_t data_offset(const struct perf_file_info *info)
{
	return ids_offset(info, info->event_count);
}

static int write_at(int descriptor, const void *bytes, size_t count, uint64_t offset)
{
	const char *next = bytes;

	while (count) {
		ssize_t done = pwrite(descriptor, next, count, (off_t)offset);

		if (done < 0 && errno != EINTR)
			return -errno;
		if (done > 0) {
			next += done;
			offset += (uint64_t)done;
			count -= (size_t)done;
		}
	}
	return 0;
}

/* A file without features was not written to its end. */
static int write_header(int descriptor, const struct perf_file_info *info, uint64_t bytes,
			uint64_t features)
{
	struct perf_file_header header = {
	    .magic = PERF_FILE_MAGIC,
	    .size = sizeof(header),
	    .attr_size = sizeof(struct perf_file_attr),
	    .attrs = {sizeof(header), info->event_count * sizeof(struct perf_file_attr)},
	    .data = {data_offset(info), bytes},
	    .features = {features},
	};

	return write_at(descriptor, &header, sizeof(header), 0);
}

int perf_file_begin(int descriptor, const struct perf_file_info *info)
{
	int error = write_header(descriptor, info, 0, 0);

	for (unsigned i = 0; i < info->event_count && !error; i++) {
		struct perf_file_attr attr = {.ids = {ids_offset(info, i), sizeof(uint64_t)}};
		uint64_t id = i + 1;

		describe(&attr.attr, info, i);
		error = write_at(descriptor, &attr, sizeof(attr),
				 sizeof(struct perf_file_header) + i * sizeof(attr));
		if (!error)
			error = write_at(descriptor, &id, sizeof(id), attr.ids.offset);
	}
	if (!error && lseek(descriptor, (off_t)data_offset(info), SEEK_SET) < 0)
		error = -errno;
	return error;
}

/* Its length with the end, and what it is filled up to. */
static void print_text(FILE *file, const char *text)
{
	size_t length = strlen(text) + 1;
	uint32_t padded = (uint32_t)((length + PERF_FILE_TEXT_ALIGN - 1) / PERF_FILE_TEXT_ALIGN) *
			  PERF_FILE_TEXT_ALIGN;

	fwrite(&padded, sizeof(padded), 1, file);
	fwrite(text, 1, length, file);
	for (size_t i = length; i < padded; i++)
		fputc(0, file);
}

static void print_u32(FILE *file, uint32_t value)
{
	fwrite(&value, sizeof(value), 1, file);
}

static void print_events(FILE *file, const struct perf_file_info *info)
{
	print_u32(file, info->event_count);
	print_u32(file, sizeof(struct perf_event_attr));
	for (unsigned i = 0; i < info->event_count; i++) {
		struct perf_event_attr attr;
		uint64_t id = i + 1;

		describe(&attr, info, i);
		fwrite(&attr, sizeof(attr), 1, file);
		print_u32(file, 1);
		print_text(file, info->names[i]);
		fwrite(&id, sizeof(id), 1, file);
	}
}

static void print_feature(FILE *file, const struct perf_file_info *info, unsigned feature)
{
	char text[256];
	uint32_t words = 0;

	switch (feature) {
	case PERF_FILE_ARCH:
		print_text(file, "ia64");
		break;
	case PERF_FILE_NRCPUS:
		print_u32(file, info->cpus);
		print_u32(file, info->cpus);
		break;
	case PERF_FILE_CPUDESC:
		print_text(file, info->machine);
		break;
	case PERF_FILE_CPUID_TEXT:
		snprintf(text, sizeof(text), "%s%s", PERF_FILE_CPUID, info->pmu);
		print_text(file, text);
		break;
	case PERF_FILE_CMDLINE:
		while (info->argv[words])
			words++;
		print_u32(file, words);
		for (uint32_t i = 0; i < words; i++)
			print_text(file, info->argv[i]);
		break;
	default:
		print_events(file, info);
		break;
	}
}

int perf_file_end(int descriptor, const struct perf_file_info *info, uint64_t bytes)
{
	static const unsigned features[] = {PERF_FILE_ARCH,    PERF_FILE_NRCPUS,
					    PERF_FILE_CPUDESC, PERF_FILE_CPUID_TEXT,
					    PERF_FILE_CMDLINE, PERF_FILE_EVENT_DESC};
	const unsigned count = sizeof(features) / sizeof(features[0]);
	struct perf_file_section sections[sizeof(features) / sizeof(features[0])];
	const uint64_t table = data_offset(info) + bytes, base = table + sizeof(sections);
	char *text = NULL;
	size_t used = 0;
	uint64_t bits = 0;
	FILE *file = open_memstream(&text, &used);
	int error = 0;

	if (!file)
		return -ENOMEM;
	for (unsigned i = 0; i < count; i++) {
		fflush(file);
		sections[i].offset = base + used;
		print_feature(file, info, features[i]);
		fflush(file);
		sections[i].size = base + used - sections[i].offset;
		bits |= 1u << features[i];
	}
	if (fclose(file))
		error = -ENOMEM;
	if (!error)
		error = write_at(descriptor, sections, sizeof(sections), table);
	if (!error)
		error = write_at(descriptor, text, used, base);
	free(text);
	return error ? error : write_header(descriptor, info, bytes, bits);
}
