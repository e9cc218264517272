#include "bus/perf_device.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"

#define DEVICES	 "sys/bus/event_source/devices"
#define TEXT_MAX 256
#define FILE_MAX 4096 /* bytes of a file in sysfs: a page */

/* The first line of a file of the device, without its end. */
static int read_line(struct pmu_ctx *ctx, const struct perf_device *device, const char *root,
		     const char *leaf, char line[TEXT_MAX])
{
	char *path, *text = NULL;
	int error;

	if (asprintf(&path, "%s/" DEVICES "/%s/%s", root, device->name, leaf) < 0)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for a path");
	error = file_read(ctx, path, FILE_MAX, &text, NULL);
	if (!error && !*text)
		error = error_set(ctx, PMU_E_IO, "%s is empty", path);
	if (!error)
		snprintf(line, TEXT_MAX, "%.*s", (int)strcspn(text, "\n"), text);
	free(text);
	free(path);
	return error;
}

/* "3", "0-7": @return where the text goes on, or NULL. */
static const char *parse_range(const char *text, unsigned long limit, unsigned long *low,
			       unsigned long *high)
{
	char *end;

	if (*text < '0' || *text > '9')
		return NULL;
	*low = *high = strtoul(text, &end, 10);
	if (*end == '-' && end[1] >= '0' && end[1] <= '9')
		*high = strtoul(end + 1, &end, 10);
	return *low <= *high && *high < limit && (*end == ',' || !*end) ? end : NULL;
}

static int parse_cpus(struct perf_device *device, struct pmu_ctx *ctx, const char *text)
{
	const char *at = text;

	while (true) {
		unsigned long low, high;

		at = parse_range(at, INT_MAX, &low, &high);
		if (!at || device->cpu_count + (high - low) >= PERF_DEVICE_CPUS)
			return error_set(ctx, PMU_E_SYNTAX,
					 "cpumask of %s: \"%s\" is no list of at most %d CPUs",
					 device->name, text, PERF_DEVICE_CPUS);
		for (; low <= high; low++)
			device->cpus[device->cpu_count++] = (int)low;
		if (!*at)
			return 0;
		at++;
	}
}

int perf_format_parse(struct perf_format *format, struct pmu_ctx *ctx, const char *text)
{
	static const char *const words[] = {"config:", "config1:", "config2:"};
	const char *at = NULL;
	unsigned bits = 0;

	for (uint8_t word = 0; word < 3; word++) {
		if (strncmp(text, words[word], strlen(words[word])))
			continue;
		format->word = word;
		at = text + strlen(words[word]);
	}
	format->range_count = 0;
	while (at) {
		unsigned long low, high;

		at = parse_range(at, 64, &low, &high);
		if (!at || format->range_count == 8)
			break;
		bits += (unsigned)(high - low) + 1;
		format->ranges[format->range_count].lo = (uint8_t)low;
		format->ranges[format->range_count++].hi = (uint8_t)high;
		if (!*at)
			return bits <= 64 ? 0
					  : error_set(ctx, PMU_E_SYNTAX,
						      "\"%s\" has more than 64 bits", text);
		at++;
	}
	return error_set(ctx, PMU_E_SYNTAX,
			 "\"%s\" is not a format; valid is, for example, config1:0-7,21", text);
}

static int add_format(struct perf_device *device, struct pmu_ctx *ctx, const char *root,
		      const char *name)
{
	struct perf_format *format = &device->formats[device->format_count];
	char leaf[PERF_NAME_MAX + sizeof("format/")], line[TEXT_MAX];
	int error;

	if (device->format_count == PERF_DEVICE_FORMATS || strlen(name) >= PERF_NAME_MAX)
		return error_set(ctx, PMU_E_UNSUPPORTED,
				 "the kernel's %s has too many or too long formats", device->name);
	snprintf(leaf, sizeof(leaf), "format/%s", name);
	error = read_line(ctx, device, root, leaf, line);
	/* What is no field of a config word cannot be asked for. */
	if (error || perf_format_parse(format, NULL, line))
		return error;
	snprintf(format->name, sizeof(format->name), "%s", name);
	device->format_count++;
	return 0;
}

static int read_formats(struct perf_device *device, struct pmu_ctx *ctx, const char *root)
{
	struct dirent *entry;
	char *folder;
	DIR *formats;
	int error = 0;

	if (asprintf(&folder, "%s/" DEVICES "/%s/format", root, device->name) < 0)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for a path");
	formats = opendir(folder);
	if (!formats)
		error = error_set(ctx, PMU_E_IO, "cannot read %s: %s", folder, strerror(errno));
	while (!error && (entry = readdir(formats)))
		if (entry->d_name[0] != '.')
			error = add_format(device, ctx, root, entry->d_name);
	if (formats)
		closedir(formats);
	free(folder);
	return error;
}

static int no_device(struct pmu_ctx *ctx, const char *name)
{
	return error_set(ctx, PMU_E_UNKNOWN, "the kernel has no PMU %s", name);
}

int perf_device_open(struct perf_device *device, struct pmu_ctx *ctx, const char *root,
		     const char *name)
{
	char line[TEXT_MAX], *end;
	int error;

	*device = (struct perf_device){0};
	if (strlen(name) >= PERF_NAME_MAX)
		return no_device(ctx, name);
	snprintf(device->name, sizeof(device->name), "%s", name);
	error = read_line(ctx, device, root, "type", line);
	if (error)
		return error == PMU_E_UNKNOWN ? no_device(ctx, name) : error;
	device->type = (uint32_t)strtoul(line, &end, 10);
	if (end == line || *end)
		return error_set(ctx, PMU_E_SYNTAX, "type of %s: \"%s\" is no number", name, line);
	error = read_line(ctx, device, root, "cpumask", line);
	if (!error)
		error = parse_cpus(device, ctx, line);
	return error ? error : read_formats(device, ctx, root);
}

static const struct perf_format *find_format(const struct perf_device *device, const char *name)
{
	for (unsigned i = 0; i < device->format_count; i++)
		if (!strcmp(device->formats[i].name, name))
			return &device->formats[i];
	return NULL;
}

static uint64_t scatter(const struct perf_format *format, uint64_t *value)
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < format->range_count; i++) {
		unsigned lo = format->ranges[i].lo, width = format->ranges[i].hi - lo + 1u;
		uint64_t mask = UINT64_MAX >> (64 - width);

		bits |= (*value & mask) << lo;
		*value = width == 64 ? 0 : *value >> width;
	}
	return bits;
}

int perf_device_put(const struct perf_device *device, struct pmu_ctx *ctx,
		    struct perf_event_attr *attr, const char *name, uint64_t value)
{
	const struct perf_format *format = find_format(device, name);
	uint64_t rest = value, bits;

	if (!format && !value)
		return 0;
	if (!format)
		return error_set(ctx, PMU_E_UNSUPPORTED,
				 "the kernel's %s has no field %s: that needs registers",
				 device->name, name);
	bits = scatter(format, &rest);
	if (rest)
		return error_set(ctx, PMU_E_RANGE, "0x%llX does not fit %s of the kernel's %s",
				 (unsigned long long)value, name, device->name);
	switch (format->word) {
	case 0:
		attr->config |= bits;
		break;
	case 1:
		attr->config1 |= bits;
		break;
	default:
		attr->config2 |= bits;
		break;
	}
	return 0;
}
