/*
 * perf.data files, as Linux's tools/perf/Documentation/perf.data-file-format.txt describes them:
 * a header, an attribute for each event, records, and sections with what else is to be known.
 */
#ifndef SAMPLE_PERF_FILE_H
#define SAMPLE_PERF_FILE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sample/capture.h"

#define PERF_FILE_MAGIC	     0x32454C4946524550ull /* PERFILE2 */
#define PERF_FILE_TEXT_ALIGN 64u
/* What CPUID says of files of ours; the PMU's name follows. */
#define PERF_FILE_CPUID	     "pmulab:"
#define PERF_FILE_RECORD_MAX 65535u
#define PERF_FILE_REGISTER   16u /* bytes of one: space, number, value */
#define PERF_FILE_SAMPLE_TYPE                                                                      \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
	 PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW |               \
	 PERF_SAMPLE_WEIGHT)

/* Sections behind the records, in this order. */
enum perf_file_feature {
	PERF_FILE_ARCH = 6,
	PERF_FILE_NRCPUS = 7,
	PERF_FILE_CPUDESC = 8,
	PERF_FILE_CPUID_TEXT = 9,
	PERF_FILE_CMDLINE = 11,
	PERF_FILE_EVENT_DESC = 12,
};

struct perf_file_section {
	uint64_t offset, size;
};

struct perf_file_header {
	uint64_t magic, size, attr_size;
	struct perf_file_section attrs, data, event_types;
	uint64_t features[4];
};

struct perf_file_attr {
	struct perf_event_attr attr;
	struct perf_file_section ids;
};

/* What the file is of; identifiers of events are their indices plus 1. */
struct perf_file_info {
	const char *machine, *pmu;
	unsigned cpus;
	bool branches; /* samples have traces of branches */
	char *const *argv;
	unsigned event_count;
	const char *names[PMU_SAMPLE_EVENTS_MAX];
	uint64_t codes[PMU_SAMPLE_EVENTS_MAX], periods[PMU_SAMPLE_EVENTS_MAX];
};

/* What every record says. */
struct perf_file_origin {
	uint32_t process, thread, cpu;
	uint64_t time_ns;
};

struct perf_file_sample {
	struct perf_file_origin origin;
	unsigned event;
	uint64_t ip, next_ip, period;
	bool precise;
	const struct capture *capture;
	const struct pmu_register_value *registers;
	size_t register_count;
};

/** Writes what comes before the records. @return 0 or -errno */
int perf_file_begin(int descriptor, const struct perf_file_info *info);
/** Writes what follows @bytes of records, and the header again. @return 0 or -errno */
int perf_file_end(int descriptor, const struct perf_file_info *info, uint64_t bytes);

/* Records; each writes up to PERF_FILE_RECORD_MAX bytes. @return how many */

size_t perf_file_put_sample(void *bytes, const struct perf_file_info *info,
			    const struct perf_file_sample *sample);
/** The process is called so. */
size_t perf_file_put_comm(void *bytes, const struct perf_file_origin *origin, const char *name);
/** A thread of the process has begun. */
size_t perf_file_put_fork(void *bytes, const struct perf_file_origin *origin);
/** Part of a file was mapped, as code or as data. */
size_t perf_file_put_mmap(void *bytes, const struct perf_file_origin *origin,
			  const struct pmu_mapping *mapping, bool code);

#endif
