/*
 * What a core does for an access that the L0 filter does not know: the look-up, of a physical line.
 * Inline, for who accesses.
 */
#ifndef MACHINE_LOOK_H
#define MACHINE_LOOK_H

#include "machine/miss.h"
#include "machine/prefetch.h"
#include "machine/waits.h"

static inline void touch(struct machine_hart *core, uint64_t address, uint32_t size)
{
	core->touched = address;
	core->touched_size = size;
}

/*
 * A line of which L1 has no use; the core's caches are held until it has been asked for.
 * @param registers  that form the address
 */
static MACHINE_INLINE struct found get_beyond_l1(struct machine_hart *core,
						 const struct private_want *want,
						 uint32_t registers, struct private_look look)
{
	const enum private_level level = private_beyond_l1(want, &look);
	uint64_t issued, end;

	if (level == PRIVATE_BELOW)
		return machine_is_quiet(core->machine)
			   ? miss_get_quiet(core, want->l1, want->request, want->line, registers,
					    look)
			   : miss_get(core, want->l1, want->request, want->line, registers, look);
	issued = miss_issue(core, want->request, registers);
	end = l2_give(core, want->request, issued);
	if (__builtin_expect(core->tracked, 0))
		end = waits_get_line(core, want->request, want->line, issued, end);
	else if (want->request != REQUEST_OWN && prefetch_on(core->core))
		end = prefetch_hit(core, want->line, want->request, end);
	else
		lock_release(&core->core->caches, core->thread);
	return (struct found){level, look.slot, end};
}

static MACHINE_INLINE struct found get(struct machine_hart *core, struct machine_l1 *l1,
				       enum signal_request request, uint32_t line,
				       uint32_t registers)
{
	const struct private_want want = {core->machine, core->core, l1, line, request};
	struct private_look look = {0};

	lock_acquire(&core->core->caches, core->thread);
	look.slot = l1_find(l1->words, line);
	if (!l1_use(&want, look.slot))
		return get_beyond_l1(core, &want, registers, look);
	lock_release(&core->core->caches, core->thread);
	return (struct found){PRIVATE_L1, look.slot, 0};
}

/* Of a line that L1 has: it may have yet to come. */
static inline struct found check_prefetched(struct machine_hart *core, uint64_t line,
					    struct found found)
{
	uint64_t end;

	if (found.level != PRIVATE_L1 || !(core->prefetched >> line % L1_SETS & 1))
		return found;
	end = mshr_take_prefetch(core, line);
	return end ? (struct found){PRIVATE_BELOW, found.slot, end} : found;
}

#endif
