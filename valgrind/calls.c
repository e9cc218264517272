#include "pub_tool_basics.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_tooliface.h"

#include "libvex_guest_amd64.h"

#include "calls.h"
#include "feed/clock.h"
#include "guest.h"

#define HERE	   __attribute__((noinline))
#define ACCESS_MAX 64

/* What a block is but for its address, as a word. */
#define BRANCH_BITS	  1
#define INSTRUCTIONS_BITS 15
#define BYTES_BITS	  16

UWord call_pack(const struct machine_block *block)
{
	tl_assert(block->branches < 1 << BRANCH_BITS &&
		  block->instructions < 1 << INSTRUCTIONS_BITS && block->bytes < 1 << BYTES_BITS);
	return (((UWord)block->ticks << BYTES_BITS | block->bytes) << INSTRUCTIONS_BITS |
		block->instructions)
		   << BRANCH_BITS |
	       block->branches;
}

static struct machine_block unpack(Addr address, UWord word)
{
	return (struct machine_block){
	    .address = address,
	    .branches = word % (1 << BRANCH_BITS),
	    .instructions = (word >> BRANCH_BITS) % (1 << INSTRUCTIONS_BITS),
	    .bytes = (word >> (BRANCH_BITS + INSTRUCTIONS_BITS)) % (1 << BYTES_BITS),
	    .ticks = (uint32_t)(word >> (BRANCH_BITS + INSTRUCTIONS_BITS + BYTES_BITS)),
	};
}

static HERE void first_block(Addr address, UWord word)
{
	struct machine_block block = unpack(address, word);

	guest_enter();
	feed_run(guest.current, &block);
}

/* The constants of the code that runs most come with it: what they are kept in would be one more
 * line of the host's caches. */
void call_block(Addr address, UWord word, VexGuestAMD64State *state)
{
	struct machine_block block = unpack(address, word);

	guest.state = state;
	if (__builtin_expect(!guest.hart, 0))
		first_block(address, word);
	else
		machine_run(guest.hart, &block);
}

void call_planned_block(const struct machine_plan *plan, VexGuestAMD64State *state)
{
	guest.state = state;
	if (__builtin_expect(!guest.hart, 0))
		guest_enter();
	machine_run_planned(guest.hart, plan);
}

void call_repeating_block(struct feed_repeat *repeat, VexGuestAMD64State *state)
{
	guest.state = state;
	if (!guest.hart)
		guest_enter();
	feed_run_repeating(guest.current, repeat);
}

/* The superblock that follows would be executed before the machine is asked. */
static void look_at_others(void)
{
	if (machine_hart_has_met(guest.hart))
		guest_end_slice();
}

static HERE void load_missed(Addr address, UWord word)
{
	const struct feed_access access = feed_access_unpack(word);

	/* The host has it when the guest loads it, after this. */
	__builtin_prefetch((const void *)address);
	machine_load(guest.hart, address, access.size, &access.registers);
	look_at_others();
}

static HERE void load_late(Addr address, UWord word)
{
	const struct feed_access access = feed_access_unpack(word);

	machine_load_late(guest.hart, address, &access.registers);
}

/* Constants are unpacked only where they matter. */
void call_load(Addr address, UWord word)
{
	if (!machine_load_hits(guest.hart, address, feed_access_size(word)))
		load_missed(address, word);
	else if (machine_load_waits(guest.hart, address, feed_access_registers(word)))
		load_late(address, word);
}

static HERE void store_missed(Addr address, UWord word)
{
	const struct feed_access access = feed_access_unpack(word);

	machine_store(guest.hart, address, access.size, &access.registers);
	look_at_others();
}

void call_store(Addr address, UWord word)
{
	if (!machine_store_hits(guest.hart, address, feed_access_size(word)))
		store_missed(address, word);
}

void call_locked(Addr address, UWord word)
{
	const struct feed_access access = feed_access_unpack(word);

	feed_locked(guest.current, address, true, &access);
	look_at_others();
}

void call_store_masked(Addr address, const struct feed_access *access)
{
	feed_store_masked(guest.current, address, access);
	look_at_others();
}

void call_mixed(Addr address, UWord size, UWord store, UWord word)
{
	const struct feed_access access = feed_access_unpack(word);

	for (; size > ACCESS_MAX; size -= ACCESS_MAX, address += ACCESS_MAX)
		feed_mixed(guest.current, address, ACCESS_MAX, store, &access);
	feed_mixed(guest.current, address, (uint32_t)size, store, &access);
	look_at_others();
}

void call_store_nt(Addr address, UWord size)
{
	machine_store_nt(guest.hart, address, (uint32_t)size);
}

void call_prefetch(Addr address, UWord word)
{
	const struct feed_access access = feed_access_unpack(word);

	machine_prefetch(guest.hart, address, (enum machine_hint)access.size, &access.registers);
}

void call_flush(Addr address)
{
	machine_flush(guest.hart, address);
}

void call_string(Addr address, UWord store, const struct feed_repeat *repeat)
{
	feed_string(guest.current, address, store, repeat);
}

ULong call_time_stamp(void)
{
	return feed_clock_tsc(&guest.process, guest.current);
}

/* Linux keeps the CPU's number, and above it the node's, in IA32_TSC_AUX. */
void call_time_stamp_of_cpu(VexGuestAMD64State *state)
{
	const ULong time = call_time_stamp();
	const UInt core = machine_hart_core(guest.hart);

	state->guest_RAX = (UInt)time;
	state->guest_RDX = time >> 32;
	state->guest_RCX = machine_socket_of(guest.process.machine, core) << 12 | core;
}

void call_place(UWord place)
{
	machine_at(guest.hart, place);
}

void call_placed_block(UWord place)
{
	if (!guest.hart)
		guest_enter();
	feed_at_block(&guest.causes, guest.current, place);
}

void call_mark(const struct feed_mark *mark, Addr name)
{
	feed_causes_mark(&guest.causes, guest.current, mark, name);
}
