/* System calls about memory. */
#include "feed/ia64/code.h"
#include "feed/ia64/process.h"
#include "feed/ia64/space.h"
#include "feed/ia64/sys.h"

#include <errno.h>
#include <sys/mman.h>

/* The host's mappings grow neither up nor down by themselves, and are never huge. */
#define FLAGS_KNOWN                                                                                \
	(MAP_SHARED | MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_POPULATE |     \
	 MAP_FIXED_NOREPLACE | MAP_LOCKED)

static int64_t map(struct ia64_cpu *c, const uint64_t *a, uint64_t offset)
{
	struct ia64_space *s = c->process->space;
	int flags = (int)a[3] & FLAGS_KNOWN;
	bool replaced = flags & MAP_FIXED && ia64_space_executed(s, a[0], a[1]);
	int64_t at;

	if (a[0] % IA64_PAGE && flags & MAP_FIXED)
		return -EINVAL;
	at = ia64_space_map(s, a[0], a[1], (int)a[2] & (PROT_READ | PROT_WRITE | PROT_EXEC), flags,
			    (int)a[4], (off_t)offset);
	if (at > 0 && (replaced || a[2] & PROT_EXEC))
		ia64_code_changed(c->process, (uint64_t)at, a[1]);
	return at;
}

int64_t ia64_sys_mmap(struct ia64_cpu *c, const uint64_t *a)
{
	return map(c, a, a[5]);
}

/* The offset counts pages. */
int64_t ia64_sys_mmap2(struct ia64_cpu *c, const uint64_t *a)
{
	return map(c, a, a[5] * IA64_PAGE);
}

int64_t ia64_sys_munmap(struct ia64_cpu *c, const uint64_t *a)
{
	ia64_code_changed(c->process, a[0], a[1]);
	return ia64_space_unmap(c->process->space, a[0], a[1]);
}

int64_t ia64_sys_mprotect(struct ia64_cpu *c, const uint64_t *a)
{
	int rc;

	ia64_code_changed(c->process, a[0], a[1]);
	rc = ia64_space_protect(c->process->space, a[0], a[1],
				(int)a[2] & (PROT_READ | PROT_WRITE | PROT_EXEC));
	ia64_code_changed(c->process, a[0], a[1]);
	return rc;
}

int64_t ia64_sys_mremap(struct ia64_cpu *c, const uint64_t *a)
{
	ia64_code_changed(c->process, a[0], a[1]);
	return ia64_space_remap(c->process->space, a[0], a[1], a[2], (int)a[3], a[4]);
}

static uint64_t page_up(uint64_t a)
{
	return (a + IA64_PAGE - 1) & ~(uint64_t)(IA64_PAGE - 1);
}

/* Returns the break, moved or not. */
int64_t ia64_sys_brk(struct ia64_cpu *c, const uint64_t *a)
{
	struct ia64_process *p = c->process;
	uint64_t end = page_up(p->brk), want = page_up(a[0]);
	int64_t rc = 0;

	if (a[0] < p->brk_start || want >> 61 != p->brk_start >> 61)
		return (int64_t)p->brk;
	if (want > end)
		rc = ia64_space_map(p->space, end, want - end, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	else if (want < end)
		rc = ia64_space_unmap(p->space, want, end - want);
	if (rc >= 0)
		p->brk = a[0];
	return (int64_t)p->brk;
}
