/*
 * A program's address space, inside the host's. Linux gives an IA-64 program regions 1 to 4 of the
 * eight that address bits 63:61 choose, 2^44 bytes of each; each has a window of that size here, so
 * that an access needs one addition: host = guest + delta[guest / 2^44].
 */
#ifndef FEED_IA64_SPACE_H
#define FEED_IA64_SPACE_H

#include "feed/ia64/cpu.h"
#include "feed/ia64/decode.h"

#include <sys/types.h>

#define IA64_REGION_LIMIT ((1ull << 44) - 16384) /* of offsets within a region */

struct ia64_space;

int ia64_space_new(struct ia64_space **space);
void ia64_space_free(struct ia64_space *space);
const uint64_t *ia64_space_delta(const struct ia64_space *space);

/** Host address of a guest range, or NULL if it is not inside one region. */
void *ia64_space_host(const struct ia64_space *space, uint64_t address, uint64_t size);
/** Guest address of a host address, or 0. */
uint64_t ia64_space_guest(const struct ia64_space *space, const void *host);

/* As mmap, munmap, mprotect, mremap; guest addresses, negative errno. prot and flags are the
 * host's. Without MAP_FIXED a free place is found from `hint`, else in region 1. */
int64_t ia64_space_map(struct ia64_space *space, uint64_t hint, uint64_t size, int prot, int flags,
		       int fd, off_t offset);
int ia64_space_unmap(struct ia64_space *space, uint64_t address, uint64_t size);
int ia64_space_protect(struct ia64_space *space, uint64_t address, uint64_t size, int prot);
int64_t ia64_space_remap(struct ia64_space *space, uint64_t address, uint64_t size,
			 uint64_t to_size, int flags, uint64_t to);

/** Whether the page allows reading (1), writing (2) and executing (4) as `rights` asks. */
bool ia64_space_allows(struct ia64_space *space, uint64_t address, unsigned rights);
/** Whether a page of the range is executable. */
bool ia64_space_executed(struct ia64_space *space, uint64_t address, uint64_t size);

/** Reads a bundle: 0, -EFAULT without a page, -EACCES without the right to execute. */
int ia64_space_fetch(struct ia64_cpu *c, uint64_t address, struct ia64_bundle *bundle);

/* Copies that a bad guest address makes fail with -EFAULT. */
int ia64_copy_in(struct ia64_cpu *c, void *to, uint64_t from, size_t size);
int ia64_copy_out(struct ia64_cpu *c, uint64_t to, const void *from, size_t size);

#endif
