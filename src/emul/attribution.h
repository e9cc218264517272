/*
 * Which instruction of which thread made each counter count: a table in the machine's block, which
 * all processes on it write under the machine's lock. A place is an instruction's number: that of
 * its module, and where in its file it is, or, of module 0, its virtual address.
 */
#ifndef EMUL_ATTRIBUTION_H
#define EMUL_ATTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/machine.h"

#define ATTRIBUTION_PATH_BYTES	 512
#define ATTRIBUTION_REGION_BYTES 128

/* A place is a module's number above these bits, and an offset. */
#define ATTRIBUTION_OFFSET_BITS 48
#define ATTRIBUTION_NO_MODULE	0u

struct attribution_context {
	uint32_t process, thread; /* of the host */
	uint32_t region;	  /* 0: none */
};

struct attribution_module {
	uint64_t device, inode;
	char path[ATTRIBUTION_PATH_BYTES]; /* "[vdso]" and the like; cut where it is longer */
};

struct attribution_entry {
	uint64_t place;
	uint32_t context;
	uint64_t counts[];
};

/* The first entries: what no instruction causes, and what there is no room for. */
enum { ATTRIBUTION_NOBODY, ATTRIBUTION_REST, ATTRIBUTION_FIRST };

struct attribution_table;

/* A process's view. */
struct attribution {
	struct attribution_table *table;
	struct machine *machine;
	uint32_t cause; /* of what the machine emits: the index of an entry */
};

/** Bytes of a table with counts of @columns events each. */
size_t attribution_size(unsigned columns);
/** @param memory  zeroed, aligned to 64 */
void attribution_init(struct attribution_table *table, unsigned columns);
/** Whether a table that another process made fits in @size bytes. */
bool attribution_fits(const struct attribution_table *table, size_t size);

unsigned attribution_columns(const struct attribution_table *table);
/** That events of cores are among them: feeds are to account for what their blocks do. */
void attribution_set_accounts(struct attribution_table *table);
bool attribution_accounts(const struct attribution_table *table);

/** For struct signal_port: the cause of a request. @param asker  struct attribution */
uint32_t attribution_cause(void *asker, uint32_t context, uint64_t place);
/** For pmon_attribution(): adds to the present cause. @param arg  struct attribution */
void attribution_add(void *arg, unsigned column, uint64_t amount);

/*
 * Numbers of what feeds tell of, made when they are told first; the lock is taken. 0 where there is
 * no room. @view: struct attribution
 */
uint32_t attribution_context(void *view, uint32_t process, uint32_t thread, uint32_t region);
uint32_t attribution_region(void *view, const char *name);
uint32_t attribution_module(void *view, const char *path, uint64_t device, uint64_t inode);

/* For reading, when nobody writes any more. */
uint32_t attribution_entries(const struct attribution_table *table);
const struct attribution_entry *attribution_entry(const struct attribution_table *table,
						  uint32_t index);
/* NULL: there is none of that number. */
const struct attribution_context *attribution_context_of(const struct attribution_table *table,
							 uint32_t number);
const char *attribution_region_of(const struct attribution_table *table, uint32_t number);
const struct attribution_module *attribution_module_of(const struct attribution_table *table,
						       uint32_t number);

#endif
