#include "perf/devices.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "catalog/entries.h"
#include "notation/names.h"

#define FIRST_TYPE  32 /* dynamic types of the kernel's begin with 6; others may be there */
#define CONFIG_BITS 64

/* What the generic numbers of <linux/perf_event.h> are called. */
static const char *const generic[PERF_COUNT_HW_MAX] = {
    [PERF_COUNT_HW_CPU_CYCLES] = "cpu-cycles",
    [PERF_COUNT_HW_INSTRUCTIONS] = "instructions",
    [PERF_COUNT_HW_CACHE_REFERENCES] = "cache-references",
    [PERF_COUNT_HW_CACHE_MISSES] = "cache-misses",
    [PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = "branch-instructions",
    [PERF_COUNT_HW_BRANCH_MISSES] = "branch-misses",
    [PERF_COUNT_HW_BUS_CYCLES] = "bus-cycles",
    [PERF_COUNT_HW_REF_CPU_CYCLES] = "ref-cycles",
};

/* The same of caches: what, what is done to it, and with what result. */
static const char *const caches[PERF_COUNT_HW_CACHE_MAX] = {
    [PERF_COUNT_HW_CACHE_L1D] = "L1-dcache", [PERF_COUNT_HW_CACHE_L1I] = "L1-icache",
    [PERF_COUNT_HW_CACHE_LL] = "LLC",	     [PERF_COUNT_HW_CACHE_DTLB] = "dTLB",
    [PERF_COUNT_HW_CACHE_ITLB] = "iTLB",     [PERF_COUNT_HW_CACHE_BPU] = "branch",
    [PERF_COUNT_HW_CACHE_NODE] = "node",
};
static const char *const cache_ops[PERF_COUNT_HW_CACHE_OP_MAX][PERF_COUNT_HW_CACHE_RESULT_MAX] = {
    [PERF_COUNT_HW_CACHE_OP_READ] = {"loads", "load-misses"},
    [PERF_COUNT_HW_CACHE_OP_WRITE] = {"stores", "store-misses"},
    [PERF_COUNT_HW_CACHE_OP_PREFETCH] = {"prefetches", "prefetch-misses"},
};

static bool is_core(const struct pmu_box *box)
{
	return box->scope == PMU_SCOPE_CORE;
}

void perf_devices(const struct pmu_machine *machine,
		  bool (*found)(void *arg, const struct perf_device_of *device), void *arg)
{
	const struct pmu_pmu *pmu = pmu_find_pmu(machine->pmu);
	uint32_t type = FIRST_TYPE;

	for (const struct pmu_box *box = pmu->boxes; box < pmu->boxes + pmu->box_count; box++) {
		const char *name = notation_kernel_name(box);
		uint32_t present = is_core(box) ? 1 : pmu_machine_instances(machine, box);

		for (unsigned i = 0; name && i < 32; i++) {
			struct perf_device_of device = {
			    .box = box, .instance = i, .type = is_core(box) ? PERF_TYPE_RAW : type};

			if (!(present >> i & 1))
				continue;
			type += !is_core(box);
			notation_fill(name, i, 0, device.name, sizeof(device.name));
			if (found(arg, &device))
				return;
		}
	}
}

/* Filter registers of 32 bits follow each other in config1, in the order of their addresses. */
static int filter_shift(const struct pmu_box *box, const struct pmu_register *reg)
{
	int before = 0;

	for (size_t i = 0; i < box->register_count; i++) {
		const struct pmu_register *other = &box->registers[i];

		if (other->role != PMU_ROLE_FILTER)
			continue;
		if (other->width != 32)
			return -1;
		before += other->offset < reg->offset;
	}
	return before < 2 ? 32 * before : -1;
}

/* @return the word of the configuration, and where the field is in it; -1: in none */
static int place_of(const struct pmu_box *box, const struct pmu_modifier *modifier, unsigned *lo)
{
	int shift;

	*lo = modifier->lo;
	if (!modifier->reg)
		return 0;
	shift = is_core(box) || modifier->reg->role != PMU_ROLE_FILTER
		    ? -1
		    : filter_shift(box, modifier->reg);
	*lo += (unsigned)(shift < 0 ? 0 : shift);
	return shift < 0 ? -1 : 1;
}

int perf_format(const struct pmu_box *box, const struct pmu_modifier *modifier, char name[32],
		char text[32])
{
	const char *theirs = notation_field_name(box, PMU_TOOL_PERF, modifier);
	unsigned lo, hi;
	int word = place_of(box, modifier, &lo);

	if (!theirs || word < 0)
		return 0;
	hi = lo + modifier->hi - modifier->lo;
	snprintf(name, 32, "%s", theirs);
	return hi == lo ? snprintf(text, 32, "config%s:%u", word ? "1" : "", lo)
			: snprintf(text, 32, "config%s:%u-%u", word ? "1" : "", lo, hi);
}

/* Takes bits out of a word. */
static uint64_t take(uint64_t *word, unsigned hi, unsigned lo)
{
	const uint64_t mask = (hi - lo == 63 ? 0 : UINT64_C(1) << (hi - lo + 1)) - 1;
	uint64_t value = *word >> lo & mask;

	*word &= ~(mask << lo);
	return value;
}

struct writer {
	char *text;
	size_t used;
};

__attribute__((format(printf, 2, 3))) static void put(struct writer *writer, const char *format,
						      ...)
{
	va_list arguments;

	va_start(arguments, format);
	writer->used += (size_t)vsnprintf(writer->text + writer->used,
					  PERF_TEXT_BYTES - writer->used, format, arguments);
	va_end(arguments);
	if (writer->used >= PERF_TEXT_BYTES)
		writer->used = PERF_TEXT_BYTES - 1;
}

static void put_code(struct writer *writer, const struct pmu_box *box, uint64_t *config)
{
	const struct pmu_field *code = pmu_box_event_select(box), *umask = pmu_box_unit_mask(box);
	const struct pmu_field *ext = box->selector.ev_sel_ext;
	uint64_t event = code ? take(config, code->hi, code->lo) : 0;

	if (ext)
		event |= take(config, ext->hi, ext->lo) << (code->hi - code->lo + 1);
	put(writer, "event=%#llx", (unsigned long long)event);
	if (umask)
		event = take(config, umask->hi, umask->lo);
	if (umask && event)
		put(writer, ",umask=%#llx", (unsigned long long)event);
}

/* @return whether all bits belong to fields */
static bool put_event(struct writer *writer, const struct pmu_box *box, uint64_t words[2])
{
	const char *filter = notation_kernel_filter(box);

	put_code(writer, box, &words[0]);
	for (size_t i = 0; i < box->modifier_count; i++) {
		const struct pmu_modifier *modifier = &box->modifiers[i];
		char name[32], text[32];
		unsigned lo;
		int word;
		uint64_t value;

		if (!perf_format(box, modifier, name, text))
			continue;
		word = place_of(box, modifier, &lo);
		value = take(&words[word], lo + modifier->hi - modifier->lo, lo);
		if (value)
			put(writer, ",%s=%#llx", name, (unsigned long long)value);
	}
	if (filter && words[1]) {
		put(writer, ",%s=%#llx", filter, (unsigned long long)words[1]);
		words[1] = 0;
	}
	return !words[0] && !words[1];
}

struct wanted {
	uint32_t type;
	struct perf_device_of *device;
	bool found;
};

static bool has_type(void *arg, const struct perf_device_of *device)
{
	struct wanted *wanted = arg;

	if (device->type != wanted->type)
		return false;
	*wanted->device = *device;
	wanted->found = true;
	return true;
}

/* perf_event_open(2): cache, operation and result in a byte each. */
static int put_cache(struct writer *writer, uint64_t config)
{
	const uint64_t cache = config & 0xff, op = config >> 8 & 0xff, result = config >> 16;

	if (cache >= PERF_COUNT_HW_CACHE_MAX || op >= PERF_COUNT_HW_CACHE_OP_MAX ||
	    result >= PERF_COUNT_HW_CACHE_RESULT_MAX)
		return -EINVAL;
	put(writer, "%s-%s", caches[cache], cache_ops[op][result]);
	return 0;
}

int perf_attr_text(const struct pmu_machine *machine, const struct perf_event_attr *attr,
		   struct perf_device_of *device, char text[PERF_TEXT_BYTES])
{
	const bool is_cache = attr->type == PERF_TYPE_HW_CACHE;
	const bool is_generic = attr->type == PERF_TYPE_HARDWARE || is_cache;
	struct wanted wanted = {is_generic ? PERF_TYPE_RAW : attr->type, device, false};
	struct writer writer = {text, 0};
	uint64_t words[2] = {attr->config, attr->config1};
	bool known;

	perf_devices(machine, has_type, &wanted);
	if (!wanted.found || attr->config2)
		return wanted.found ? -EINVAL : -ENOENT;
	if (is_cache)
		return put_cache(&writer, attr->config);
	if (is_generic) {
		if (attr->config >= PERF_COUNT_HW_MAX || !generic[attr->config])
			return -ENOENT;
		put(&writer, "%s", generic[attr->config]);
		return 0;
	}
	put(&writer, "%s/", device->name);
	known = put_event(&writer, device->box, words);
	put(&writer, "/");
	return known ? 0 : -EINVAL;
}
