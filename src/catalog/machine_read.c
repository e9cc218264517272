/*
 * Machines' descriptions: JSON to struct pmu_machine. The tables of the built-in machines are made
 * by this too (machine_table.c), so that a machine of the user's own meets the same checks.
 */
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/name.h"
#include "catalog/entries.h"
#include "catalog/machine_keys.h"

#define MACHINE_NAME_MAX 63
#define CPUID_REGS	 4
#define ENERGY_UNIT_MAX	 31 /* five bits of the register that tells it */

/* A machine that was read: texts stand in @root. */
struct machine_read {
	struct pmu_machine machine;
	json_t *root;
	char *text;
};

struct reader {
	struct pmu_ctx *ctx;
	const char *from;
};

/** @param key  where it is wrong */
__attribute__((format(printf, 4, 5))) static int wrong(const struct reader *reader, int code,
						       const char *key, const char *format, ...)
{
	char *text = NULL;
	va_list arguments;
	int error;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	error = error_set(reader->ctx, code, "%s: %s: %s", reader->from, key, text ? text : "");
	free(text);
	return error;
}

static bool is_printable(const char *text)
{
	for (; *text; text++)
		if (iscntrl((unsigned char)*text))
			return false;
	return true;
}

/* A number, or a text that is one: JSON has no hexadecimal. */
static int read_number(const struct reader *reader, const char *key, const json_t *value,
		       uint64_t limit, uint64_t *number)
{
	if (json_is_integer(value) && json_integer_value(value) >= 0) {
		*number = (uint64_t)json_integer_value(value);
	} else if (json_is_string(value) && isdigit((unsigned char)*json_string_value(value))) {
		char *end;

		errno = 0;
		*number = strtoull(json_string_value(value), &end, 0);
		if (errno || *end)
			return wrong(reader, PMU_E_SYNTAX, key, "\"%s\" is no number",
				     json_string_value(value));
	} else {
		return wrong(reader, PMU_E_SYNTAX, key, "is no number from 0 to %#llx",
			     (unsigned long long)limit);
	}
	if (*number > limit)
		return wrong(reader, PMU_E_RANGE, key, "%#llx is more than %#llx",
			     (unsigned long long)*number, (unsigned long long)limit);
	return 0;
}

static int read_u32(const struct reader *reader, const char *key, const json_t *value,
		    uint32_t *number)
{
	uint64_t wide = 0;
	int error = read_number(reader, key, value, UINT32_MAX, &wide);

	*number = (uint32_t)wide;
	return error;
}

static int read_text(const struct reader *reader, const char *key, const json_t *value,
		     const char **text)
{
	if (!json_is_string(value) || !*json_string_value(value) ||
	    !is_printable(json_string_value(value)))
		return wrong(reader, PMU_E_SYNTAX, key, "is no printable text");
	*text = json_string_value(value);
	return 0;
}

/* An entry whose keys are numbers of 32 bits and nothing else. */
struct member {
	const char *name;
	uint32_t value;
};

static int read_members(const struct reader *reader, const char *key, json_t *value,
			struct member *members, size_t count)
{
	const char *name;
	json_t *entry;
	size_t found = 0;

	if (!json_is_object(value))
		return wrong(reader, PMU_E_SYNTAX, key, "not an entry");
	json_object_foreach(value, name, entry)
	{
		size_t i = 0;
		int error;

		while (i < count && strcmp(members[i].name, name))
			i++;
		if (i == count)
			return wrong(reader, PMU_E_UNKNOWN, key, "unknown key \"%s\"", name);
		error = read_u32(reader, key, entry, &members[i].value);
		if (error)
			return error;
		found++;
	}
	for (size_t i = 0; found < count && i < count; i++)
		if (!json_object_get(value, members[i].name))
			return wrong(reader, PMU_E_SYNTAX, key, "%s is missing", members[i].name);
	return 0;
}

static int read_cache(const struct reader *reader, const char *key, json_t *value,
		      struct pmu_cache *cache)
{
	struct member members[] = {{"sets", 0}, {"ways", 0}, {"latency", 0}};
	int error = read_members(reader, key, value, members, 3);

	*cache = (struct pmu_cache){members[0].value, members[1].value, members[2].value};
	return error;
}

static int read_power(const struct reader *reader, const char *key, json_t *value,
		      struct pmu_power *power)
{
	struct member members[] = {
	    {"static_mw", 0}, {"core_mw", 0}, {"lookup_pj", 0}, {"dram_mw", 0}, {"cas_pj", 0}};
	int error = read_members(reader, key, value, members, 5);

	*power = (struct pmu_power){members[0].value, members[1].value, members[2].value,
				    members[3].value, members[4].value};
	return error;
}

static int read_part(const struct reader *reader, const char *name, json_t *value, void *entry)
{
	struct pmu_part *part = entry;

	part->box = name;
	return read_u32(reader, name, value, &part->instances);
}

static int read_strap(const struct reader *reader, const char *name, json_t *value, void *entry)
{
	struct pmu_strap *strap = entry;

	strap->reg = name;
	return read_number(reader, name, value, UINT64_MAX, &strap->value);
}

static int read_key_number(const struct reader *reader, const char *text, char **end,
			   uint32_t *number)
{
	unsigned long long value;

	errno = 0;
	value = strtoull(text, end, 0);
	if (!isdigit((unsigned char)*text) || errno || value > UINT32_MAX)
		return wrong(reader, PMU_E_SYNTAX, text, "is no number of 32 bits");
	*number = (uint32_t)value;
	return 0;
}

/* "LEAF" or "LEAF.SUBLEAF": [eax, ebx, ecx, edx]. */
static int read_cpuid(const struct reader *reader, const char *name, json_t *value, void *entry)
{
	struct pmu_cpuid *cpuid = entry;
	uint32_t *regs[CPUID_REGS] = {&cpuid->eax, &cpuid->ebx, &cpuid->ecx, &cpuid->edx};
	char *end;
	int error = read_key_number(reader, name, &end, &cpuid->leaf);

	if (!error && *end == '.')
		error = read_key_number(reader, end + 1, &end, &cpuid->subleaf);
	if (error)
		return error;
	if (*end || !json_is_array(value) || json_array_size(value) != CPUID_REGS)
		return wrong(reader, PMU_E_SYNTAX, name,
			     "is no \"LEAF[.SUBLEAF]\": [eax, ebx, ecx, edx]");
	for (size_t i = 0; !error && i < CPUID_REGS; i++)
		error = read_u32(reader, name, json_array_get(value, i), regs[i]);
	return error;
}

/* {"KIND": unit}: a meter, in 2^-unit J. */
static int read_meter(const struct reader *reader, const char *name, json_t *value,
		      struct pmu_msr *msr)
{
	static const char *const meters[] = {
	    [PMU_METER_PACKAGE_ENERGY] = "package_energy",
	    [PMU_METER_CORE_ENERGY] = "core_energy",
	    [PMU_METER_DRAM_ENERGY] = "dram_energy",
	};
	const char *kind = json_object_iter_key(json_object_iter(value));
	uint64_t unit = 0;

	for (uint16_t i = 1; kind && i < sizeof(meters) / sizeof(meters[0]); i++)
		if (!strcmp(meters[i], kind))
			msr->meter = i;
	if (!msr->meter || json_object_size(value) != 1)
		return wrong(reader, PMU_E_SYNTAX, name,
			     "is neither a number nor one of package_energy, core_energy and "
			     "dram_energy with the unit's exponent");
	if (read_number(reader, name, json_object_get(value, kind), ENERGY_UNIT_MAX, &unit))
		return PMU_E_RANGE;
	msr->unit = (uint16_t)unit;
	return 0;
}

static int read_msr(const struct reader *reader, const char *name, json_t *value, void *entry)
{
	struct pmu_msr *msr = entry;
	char *end;
	int error = read_key_number(reader, name, &end, &msr->address);

	if (!error && *end)
		error = wrong(reader, PMU_E_SYNTAX, name, "is no address");
	if (error)
		return error;
	return json_is_object(value) ? read_meter(reader, name, value, msr)
				     : read_number(reader, name, value, UINT64_MAX, &msr->value);
}

static int read_function(const struct reader *reader, const char *name, json_t *value, void *entry)
{
	struct pmu_function *function = entry;
	struct member members[] = {{"id", 0}, {"class", 0}, {"buses", 0}};
	int error, used = 0;

	if (sscanf(name, "%2hhu.%1hhu%n", &function->device, &function->function, &used) != 2 ||
	    name[used] || function->device > 31 || function->function > 7)
		return wrong(reader, PMU_E_SYNTAX, name, "is no DEVICE.FUNCTION");
	error = read_members(reader, name, value, members, 3);
	if (!error && (members[0].value > UINT16_MAX || members[1].value > 0xFFFFFF ||
		       members[2].value > 0xFFC || members[2].value % 4))
		error = wrong(reader, PMU_E_RANGE, name,
			      "id has 16 bits, class 24, buses is the offset of a dword");
	function->id = (uint16_t)members[0].value;
	function->class_code = members[1].value;
	function->buses = (uint16_t)members[2].value;
	return error;
}

struct list {
	size_t size; /* of an entry, bytes */
	int (*read)(const struct reader *reader, const char *name, json_t *value, void *entry);
};

static const struct list lists[] = {
    [KEY_PARTS] = {sizeof(struct pmu_part), read_part},
    [KEY_STRAPS] = {sizeof(struct pmu_strap), read_strap},
    [KEY_CPUID] = {sizeof(struct pmu_cpuid), read_cpuid},
    [KEY_MSRS] = {sizeof(struct pmu_msr), read_msr},
    [KEY_FUNCTIONS] = {sizeof(struct pmu_function), read_function},
};

static int read_list(const struct reader *reader, const struct machine_key *key, json_t *value,
		     struct pmu_machine *machine)
{
	const struct list *list = &lists[key->kind];
	void **entries = (void **)((char *)machine + key->offset);
	size_t *count = (size_t *)((char *)machine + key->count);
	const char *name;
	json_t *entry;

	if (!json_is_object(value))
		return wrong(reader, PMU_E_SYNTAX, key->name, "not an entry");
	if (!json_object_size(value))
		return 0;
	*entries = calloc(json_object_size(value), list->size);
	if (!*entries)
		return wrong(reader, PMU_E_NOMEM, key->name, "out of memory");
	json_object_foreach(value, name, entry)
	{
		int error = list->read(reader, name, entry, (char *)*entries + *count * list->size);

		if (error)
			return error;
		++*count;
	}
	return 0;
}

static int read_key(const struct reader *reader, const struct machine_key *key, json_t *value,
		    struct pmu_machine *machine)
{
	void *member = (char *)machine + key->offset;

	switch (key->kind) {
	case KEY_TEXT:
		return read_text(reader, key->name, value, member);
	case KEY_NUMBER:
		return read_u32(reader, key->name, value, member);
	case KEY_LONG:
		return read_number(reader, key->name, value, UINT64_MAX, member);
	case KEY_CACHE:
		return read_cache(reader, key->name, value, member);
	case KEY_POWER:
		return read_power(reader, key->name, value, member);
	default:
		return read_list(reader, key, value, machine);
	}
}

static int read_keys(const struct reader *reader, json_t *root, struct pmu_machine *machine)
{
	unsigned family = json_object_get(root, "core") ? MACHINE_EPIC : MACHINE_X86;
	const char *name;
	json_t *value;

	json_object_foreach(root, name, value)
	{
		size_t i = 0;

		while (i < machine_key_count && strcmp(machine_keys[i].name, name))
			i++;
		if (i == machine_key_count)
			return wrong(reader, PMU_E_UNKNOWN, name, "is no key of a machine");
		if (!(machine_keys[i].of & family))
			return wrong(reader, PMU_E_UNKNOWN, name,
				     "is no key of a machine %s \"core\"",
				     family == MACHINE_EPIC ? "with" : "without");
	}
	for (size_t i = 0; i < machine_key_count; i++) {
		int error;

		if (!(machine_keys[i].of & family))
			continue;
		value = json_object_get(root, machine_keys[i].name);
		if (!value && machine_keys[i].optional)
			continue;
		if (!value)
			return wrong(reader, PMU_E_SYNTAX, machine_keys[i].name, "is missing");
		error = read_key(reader, &machine_keys[i], value, machine);
		if (error)
			return error;
	}
	return 0;
}

/* A name can be typed as an argument, and stands in file names. */
static bool is_name(const char *name)
{
	if (!isalnum((unsigned char)*name) || strlen(name) > MACHINE_NAME_MAX)
		return false;
	return name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				 "0123456789_.-")] == '\0';
}

static const struct pmu_register *find_register(const struct pmu_pmu *pmu, const char *name)
{
	for (size_t i = 0; i < pmu->box_count; i++) {
		const struct pmu_register *reg = pmu_find_register(&pmu->boxes[i], name);

		if (reg)
			return reg;
	}
	return NULL;
}

static bool has_msr(const struct pmu_pmu *pmu, uint32_t address)
{
	for (const struct pmu_box *box = pmu->boxes; box < pmu->boxes + pmu->box_count; box++)
		for (size_t r = 0; r < box->register_count; r++)
			for (unsigned i = 0; i < box->instance_count; i++)
				if (box->registers[r].space == PMU_SPACE_MSR &&
				    pmu_register_address(box, &box->registers[r], i) == address)
					return true;
	return false;
}

static int check(const struct reader *reader, const struct pmu_machine *machine)
{
	const struct pmu_pmu *pmu = pmu_find_pmu(machine->pmu);

	if (!is_name(machine->name))
		return wrong(reader, PMU_E_SYNTAX, "name",
			     "is no name: letters, digits, \"_.-\", at most %d", MACHINE_NAME_MAX);
	if (!pmu)
		return wrong(reader, PMU_E_UNKNOWN, "pmu", "the catalog has no \"%s\"",
			     machine->pmu);
	for (size_t i = 0; i < machine->part_count; i++) {
		const struct pmu_part *part = &machine->parts[i];
		const struct pmu_box *box = pmu_find_box(pmu, part->box);

		if (!box)
			return wrong(reader, PMU_E_UNKNOWN, "instances", "%s has no box \"%s\"",
				     pmu->name, part->box);
		if (!part->instances || (uint64_t)part->instances >> box->instance_count)
			return wrong(reader, PMU_E_RANGE, "instances",
				     "%s: %#x, of %zu instances, one a bit", box->name,
				     part->instances, box->instance_count);
	}
	for (size_t i = 0; i < machine->msr_count; i++)
		if (has_msr(pmu, machine->msrs[i].address))
			return wrong(reader, PMU_E_CONFLICT, "msrs", "%#x is a register of %s",
				     machine->msrs[i].address, pmu->name);
	for (size_t i = 0; i < machine->strap_count; i++) {
		const struct pmu_strap *strap = &machine->straps[i];
		const struct pmu_register *reg = find_register(pmu, strap->reg);

		if (!reg)
			return wrong(reader, PMU_E_UNKNOWN, "straps", "%s has no register \"%s\"",
				     pmu->name, strap->reg);
		if (reg->width < 64 && strap->value >> reg->width)
			return wrong(reader, PMU_E_RANGE, "straps",
				     "%s: %#llx has more than %u bits", reg->name,
				     (unsigned long long)strap->value, reg->width);
	}
	return 0;
}

int machine_parse(struct pmu_machine **machine, struct pmu_ctx *ctx,
		  const struct machine_sources *bases, const char *text, size_t length,
		  const char *from)
{
	const struct reader reader = {ctx, from};
	struct machine_read *read = calloc(1, sizeof(*read));
	int error;

	if (!read)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for a machine");
	error = machine_source_load(&read->root, ctx, bases, text, length, from);
	if (!error)
		error = read_keys(&reader, read->root, &read->machine);
	if (!error)
		error = check(&reader, &read->machine);
	if (!error) {
		read->text = json_dumps(read->root, JSON_COMPACT);
		if (!read->text)
			error = error_set(ctx, PMU_E_NOMEM, "out of memory for a machine");
	}
	if (error) {
		pmu_machine_free(&read->machine);
		return error;
	}
	read->machine.text = read->text;
	*machine = &read->machine;
	return 0;
}

void pmu_machine_free(struct pmu_machine *machine)
{
	struct machine_read *read = (struct machine_read *)machine;

	if (!read)
		return;
	for (size_t i = 0; i < machine_key_count; i++)
		if (machine_keys[i].count)
			free(*(void **)((char *)machine + machine_keys[i].offset));
	json_decref(read->root);
	free(read->text);
	free(read);
}
