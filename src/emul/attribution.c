#include "emul/attribution.h"

#include <string.h>

#define CONTEXTS_MAX 65536
#define MODULES_MAX  4096
#define REGIONS_MAX  4096
#define ENTRIES_MAX  (1u << 20)
#define BYTES_MAX    ((size_t)1 << 30) /* of entries: address space, not memory */

/* Valid when zeroed but for columns and capacity; number n of each list is at n - 1. */
struct attribution_table {
	uint32_t columns, capacity, used;
	uint32_t context_count, module_count, region_count;
	uint32_t accounts; /* not 0: see attribution_set_accounts() */
	struct attribution_context contexts[CONTEXTS_MAX];
	struct attribution_module modules[MODULES_MAX];
	char regions[REGIONS_MAX][ATTRIBUTION_REGION_BYTES];
	uint32_t slots[2 * ENTRIES_MAX]; /* by hash: an entry's index; 0: none */
	_Alignas(64) char entries[];
};

static size_t entry_bytes(unsigned columns)
{
	return sizeof(struct attribution_entry) + columns * sizeof(uint64_t);
}

static uint32_t capacity_of(unsigned columns)
{
	const size_t most = BYTES_MAX / entry_bytes(columns);

	return most < ENTRIES_MAX ? (uint32_t)most : ENTRIES_MAX;
}

size_t attribution_size(unsigned columns)
{
	return sizeof(struct attribution_table) + capacity_of(columns) * entry_bytes(columns);
}

void attribution_init(struct attribution_table *table, unsigned columns)
{
	table->columns = columns;
	table->capacity = capacity_of(columns);
	table->used = ATTRIBUTION_FIRST;
}

bool attribution_fits(const struct attribution_table *table, size_t size)
{
	return size >= sizeof(*table) && table->capacity == capacity_of(table->columns) &&
	       size >= attribution_size(table->columns) && table->used <= table->capacity;
}

unsigned attribution_columns(const struct attribution_table *table)
{
	return table->columns;
}

void attribution_set_accounts(struct attribution_table *table)
{
	table->accounts = 1;
}

bool attribution_accounts(const struct attribution_table *table)
{
	return table->accounts != 0;
}

static struct attribution_entry *entry_at(struct attribution_table *table, uint32_t index)
{
	return (struct attribution_entry *)(table->entries + index * entry_bytes(table->columns));
}

static uint32_t hash(uint32_t context, uint64_t place)
{
	const uint64_t mixed = (place ^ (uint64_t)context << 40) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint32_t)(mixed >> 32) % (2 * ENTRIES_MAX);
}

static uint32_t add_entry(struct attribution_table *table, uint32_t context, uint64_t place)
{
	struct attribution_entry *entry;

	if (table->used == table->capacity)
		return ATTRIBUTION_REST;
	entry = entry_at(table, table->used);
	entry->place = place;
	entry->context = context;
	return table->used++;
}

uint32_t attribution_cause(void *asker, uint32_t context, uint64_t place)
{
	struct attribution_table *table = ((struct attribution *)asker)->table;
	uint32_t slot = hash(context, place), index;

	/* Twice as many slots as entries: an empty one is near. */
	while ((index = table->slots[slot])) {
		const struct attribution_entry *entry = entry_at(table, index);

		if (entry->place == place && entry->context == context)
			return index;
		slot = (slot + 1) % (2 * ENTRIES_MAX);
	}
	index = add_entry(table, context, place);
	if (index != ATTRIBUTION_REST)
		table->slots[slot] = index;
	return index;
}

void attribution_add(void *arg, unsigned column, uint64_t amount)
{
	const struct attribution *view = arg;

	/* A queue may still hold what was there before the table was. */
	if (column < view->table->columns && view->cause < view->table->used)
		entry_at(view->table, view->cause)->counts[column] += amount;
}

static uint32_t find_context(struct attribution_table *table,
			     const struct attribution_context *context)
{
	for (uint32_t i = table->context_count; i; i--)
		if (!memcmp(&table->contexts[i - 1], context, sizeof(*context)))
			return i;
	if (table->context_count == CONTEXTS_MAX)
		return 0;
	table->contexts[table->context_count] = *context;
	return ++table->context_count;
}

uint32_t attribution_context(void *view, uint32_t process, uint32_t thread, uint32_t region)
{
	const struct attribution_context context = {process, thread, region};
	struct attribution *own = view;
	uint32_t number;

	machine_lock(own->machine);
	number = find_context(own->table, &context);
	machine_unlock(own->machine);
	return number;
}

static void copy_text(char *to, size_t size, const char *from)
{
	for (size_t i = 0; i < size - 1 && from[i]; i++)
		to[i] = from[i];
}

static uint32_t find_region(struct attribution_table *table, const char *name)
{
	for (uint32_t i = 0; i < table->region_count; i++)
		if (!strncmp(table->regions[i], name, ATTRIBUTION_REGION_BYTES - 1))
			return i + 1;
	if (table->region_count == REGIONS_MAX)
		return 0;
	copy_text(table->regions[table->region_count], ATTRIBUTION_REGION_BYTES, name);
	return ++table->region_count;
}

uint32_t attribution_region(void *view, const char *name)
{
	struct attribution *own = view;
	uint32_t number;

	machine_lock(own->machine);
	number = find_region(own->table, name);
	machine_unlock(own->machine);
	return number;
}

static uint32_t find_module(struct attribution_table *table, const char *path, uint64_t device,
			    uint64_t inode)
{
	struct attribution_module *module = table->modules;

	for (uint32_t i = 0; i < table->module_count; i++, module++)
		if (module->device == device && module->inode == inode &&
		    !strncmp(module->path, path, ATTRIBUTION_PATH_BYTES - 1))
			return i + 1;
	if (table->module_count == MODULES_MAX)
		return 0;
	module->device = device;
	module->inode = inode;
	copy_text(module->path, ATTRIBUTION_PATH_BYTES, path);
	return ++table->module_count;
}

uint32_t attribution_module(void *view, const char *path, uint64_t device, uint64_t inode)
{
	struct attribution *own = view;
	uint32_t number;

	machine_lock(own->machine);
	number = find_module(own->table, path, device, inode);
	machine_unlock(own->machine);
	return number;
}

uint32_t attribution_entries(const struct attribution_table *table)
{
	return table->used;
}

const struct attribution_entry *attribution_entry(const struct attribution_table *table,
						  uint32_t index)
{
	return (const struct attribution_entry *)(table->entries +
						  index * entry_bytes(table->columns));
}

const struct attribution_context *attribution_context_of(const struct attribution_table *table,
							 uint32_t number)
{
	return number && number <= table->context_count ? &table->contexts[number - 1] : NULL;
}

const char *attribution_region_of(const struct attribution_table *table, uint32_t number)
{
	return number && number <= table->region_count ? table->regions[number - 1] : NULL;
}

const struct attribution_module *attribution_module_of(const struct attribution_table *table,
						       uint32_t number)
{
	return number && number <= table->module_count ? &table->modules[number - 1] : NULL;
}
