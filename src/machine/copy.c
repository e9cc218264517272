#include "machine/copy.h"

#include "machine/address_space.h"
#include "machine/control.h"
#include "machine/file_pages.h"

#define PAGE_BYTES (1u << PAGE_LOG2)

static const struct machine_insn no_registers;

/* The page of a file, which has one place and one frame for all processes. @return its address */
static uint64_t page_address(struct machine_hart *core, uint64_t file, uint64_t page)
{
	struct machine *machine = core->machine;
	const struct page_cache_entry *entry;
	uint64_t place;

	machine_hold(machine, core->thread);
	entry = file_pages_get(machine, file, page, machine_socket(machine, core->number), false);
	place = ADDRESS_SYSTEM_PAGE + entry->frame - 1;
	address_space_set(core->space, place, entry->frame - 1);
	machine_let_go(machine);
	return place << PAGE_LOG2;
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

/* Who defers waits has what others need to go on: it waits with its next block. */
static void wait_for_others(struct machine_hart *core)
{
	if (core->machine->defer)
		core->attention = 0;
	else
		machine_hart_wait(core);
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
		wait_for_others(core);
		offset += size;
		address += size;
	}
}
