/*
 * What the guest's code calls: what it does goes to its core. Constants come with the code. Include
 * Valgrind's pub_tool_tooliface.h and libvex_guest_amd64.h before.
 */
#ifndef VALGRIND_CALLS_H
#define VALGRIND_CALLS_H

#include "feed/causes.h"

/** What a block is but for its address, as a word. */
UWord call_pack(const struct machine_block *block);

/* A block is entered: a packed one, one with a plan, one that ends with a repeated instruction. */
void call_block(Addr address, UWord word, VexGuestAMD64State *state);
void call_planned_block(const struct machine_plan *plan, VexGuestAMD64State *state);
void call_repeating_block(struct feed_repeat *repeat, VexGuestAMD64State *state);

/* Accesses: @word is of feed_access_pack(). Those of one size, of its instruction: */
void call_load(Addr address, UWord word);
void call_store(Addr address, UWord word);
void call_locked(Addr address, UWord word);
void call_store_masked(Addr address, const struct feed_access *access);
/* Of any size, */
void call_mixed(Addr address, UWord size, UWord store, UWord word);
void call_store_nt(Addr address, UWord size);
/* without an access, where @word has the hint for a size; */
void call_prefetch(Addr address, UWord word);
void call_flush(Addr address);
/* and of a repeated instruction. */
void call_string(Addr address, UWord store, const struct feed_repeat *repeat);

/* RDTSC and RDTSCP, where programs have the machine's clocks. */
ULong call_time_stamp(void);
void call_time_stamp_of_cpu(VexGuestAMD64State *state);

/* For who asks what causes counts: before an instruction, a block; at a mark with a name. */
void call_place(UWord place);
void call_placed_block(UWord place);
void call_mark(const struct feed_mark *mark, Addr name);

#endif
