#include "machine/copy.h"

#include "machine/address_space.h"
#include "machine/control.h"

#define PAGE_BYTES (1u << PAGE_LOG2)
/* Where the system has pages of files: beyond what programs can address. */
#define SYSTEM_PAGE (UINT64_C(1) << (47 - PAGE_LOG2))

static const struct machine_insn no_registers;

static unsigned first_of_set(uint64_t file, uint64_t page)
{
	const uint64_t mixed = (file + page) * UINT64_C(0x9e3779b97f4a7c15);

	return (unsigned)(mixed >> 40) % (PAGE_CACHE_PAGES / PAGE_CACHE_WAYS) * PAGE_CACHE_WAYS;
}

static unsigned find_page(const struct page_cache *cache, uint64_t file, uint64_t page)
{
	const unsigned first = first_of_set(file, page);
	unsigned oldest = first;

	for (unsigned i = first; i < first + PAGE_CACHE_WAYS; i++) {
		const struct page_cache_entry *entry = &cache->entries[i];

		if (entry->frame && entry->file == file && entry->page == page)
			return i;
		if (cache->age - entry->age > cache->age - cache->entries[oldest].age)
			oldest = i;
	}
	return oldest;
}

/* The page of a file, which has one place and one frame for all processes. @return its address */
static uint64_t page_address(struct machine_hart *core, uint64_t file, uint64_t page)
{
	struct machine *machine = core->machine;
	struct page_cache *cache = &machine->state->page_cache;
	struct page_cache_entry *entry;
	uint64_t place;

	machine_hold(machine, core->thread);
	cache->age++;
	place = find_page(cache, file, page);
	entry = &cache->entries[place];
	entry->file = file;
	entry->page = page;
	entry->age = cache->age;
	if (!entry->frame)
		entry->frame =
		    1 + address_space_next_frame(machine, machine_socket(machine, core->number));
	address_space_set(core->space, SYSTEM_PAGE + place, entry->frame - 1);
	machine_let_go(machine);
	return (SYSTEM_PAGE + place) << PAGE_LOG2;
}

/* @return bytes from @address to the end of its piece, at most @most */
static uint32_t piece(uint64_t address, uint64_t most)
{
	const uint32_t left = MACHINE_STRING_BYTES - address % MACHINE_STRING_BYTES;

	return left < most ? left : (uint32_t)most;
}

static void store_piece(struct machine_hart *core, uint64_t to, uint32_t bytes)
{
	if (bytes < MACHINE_STRING_BYTES) {
		machine_end_string(core);
		machine_store(core, to, bytes, &no_registers);
		return;
	}
	machine_store_string(core, to, &no_registers);
	if ((to + bytes) % LINE_BYTES == 0)
		machine_string_line(core, to + bytes - 1);
}

/* @param from, to  addresses; 0: zeros are stored, or nothing keeps what is loaded */
static void move(struct machine_hart *core, uint64_t from, uint64_t to, uint64_t bytes)
{
	for (uint32_t size; bytes; bytes -= size) {
		size = piece(to ? to : from, bytes);
		if (from) {
			machine_load(core, from, size, &no_registers);
			from += size;
		}
		if (to) {
			store_piece(core, to, size);
			to += size;
		}
		core->progress->time += core->machine->core_ticks;
	}
	machine_end_string(core);
}

void machine_copy(struct machine_hart *core, const struct machine_copy *copy)
{
	uint64_t offset = copy->offset, address = copy->address;

	for (uint64_t left = copy->bytes, size; left; left -= size) {
		uint64_t kept = 0;

		size = PAGE_BYTES - offset % PAGE_BYTES;
		size = size < left ? size : left;
		if (copy->file != MACHINE_NO_FILE)
			kept = page_address(core, copy->file, offset / PAGE_BYTES % copy->pages) +
			       offset % PAGE_BYTES;
		move(core, copy->reads ? kept : address, copy->reads ? address : kept, size);
		machine_hart_wait(core);
		offset += size;
		address += size;
	}
}
