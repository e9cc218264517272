#include "feed/ia64/space.h"

#include "feed/ia64/process.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define REGION_SIZE  (1ull << 44)
#define FIRST_REGION 1u
#define LAST_REGION  4u
#define DELTAS	     (1u << 20)
#define REGION(a)    ((a) >> 61)
#define OFFSET(a)    ((a) & ((1ull << 61) - 1))
#define ROUND_UP(n)  (((n) + IA64_PAGE - 1) & ~(uint64_t)(IA64_PAGE - 1))

/* What is mapped, sorted, without overlaps. */
struct range {
	uint64_t start, end;
	int prot;
};

struct ia64_space {
	uint64_t *delta;
	char *window[8];
	pthread_rwlock_t lock;
	struct range *ranges;
	size_t count, room;
	uint64_t next; /* where mmap looks first */
};

static int add_window(struct ia64_space *s, unsigned region)
{
	void *p =
	    mmap(NULL, REGION_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return -errno;
	s->window[region] = p;
	s->delta[(uint64_t)region << 17] = (uintptr_t)p - ((uint64_t)region << 61);
	return 0;
}

int ia64_space_new(struct ia64_space **space)
{
	struct ia64_space *s = calloc(1, sizeof(*s));
	int rc = 0;

	if (!s)
		return -ENOMEM;
	pthread_rwlock_init(&s->lock, NULL);
	s->next = 1ull << 61;
	s->delta = mmap(NULL, DELTAS * sizeof(*s->delta), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (s->delta == MAP_FAILED) {
		s->delta = NULL;
		rc = -ENOMEM;
		goto fail;
	}
	/* Other entries are 0: there, guest addresses are no addresses of the host at all. */
	for (unsigned i = 0; i < 8; i++) {
		s->delta[i] = IA64_DELTA_POISON;
		s->delta[DELTAS - 1 - i] = IA64_DELTA_POISON;
	}
	for (unsigned r = FIRST_REGION; rc == 0 && r <= LAST_REGION; r++)
		rc = add_window(s, r);
	if (rc != 0)
		goto fail;
	*space = s;
	return 0;
fail:
	ia64_space_free(s);
	return rc;
}

void ia64_space_free(struct ia64_space *s)
{
	if (!s)
		return;
	for (unsigned r = 0; r < 8; r++)
		if (s->window[r])
			munmap(s->window[r], REGION_SIZE);
	if (s->delta)
		munmap(s->delta, DELTAS * sizeof(*s->delta));
	pthread_rwlock_destroy(&s->lock);
	free(s->ranges);
	free(s);
}

const uint64_t *ia64_space_delta(const struct ia64_space *s)
{
	return s->delta;
}

void *ia64_space_host(const struct ia64_space *s, uint64_t address, uint64_t size)
{
	char *window = s->window[REGION(address)];

	if (!window || size > REGION_SIZE || OFFSET(address) > IA64_REGION_LIMIT - size)
		return NULL;
	return window + OFFSET(address);
}

uint64_t ia64_space_guest(const struct ia64_space *s, const void *host)
{
	for (unsigned r = FIRST_REGION; r <= LAST_REGION; r++) {
		uintptr_t offset = (uintptr_t)host - (uintptr_t)s->window[r];

		if (offset < REGION_SIZE)
			return (uint64_t)r << 61 | offset;
	}
	return 0;
}

/* -- Ranges ------------------------------------------------------------------------------------ */

/* The first range that ends above address. */
static size_t find(const struct ia64_space *s, uint64_t address)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (s->ranges[mid].end > address)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

static int make_room(struct ia64_space *s, size_t more)
{
	size_t room = s->room ? s->room : 64;
	struct range *ranges;

	while (room < s->count + more)
		room *= 2;
	if (room == s->room)
		return 0;
	ranges = realloc(s->ranges, room * sizeof(*ranges));
	if (!ranges)
		return -ENOMEM;
	s->ranges = ranges;
	s->room = room;
	return 0;
}

static void insert(struct ia64_space *s, size_t at, struct range r)
{
	memmove(s->ranges + at + 1, s->ranges + at, (s->count - at) * sizeof(*s->ranges));
	s->ranges[at] = r;
	s->count++;
}

static void erase(struct ia64_space *s, size_t at)
{
	s->count--;
	memmove(s->ranges + at, s->ranges + at + 1, (s->count - at) * sizeof(*s->ranges));
}

/* Cuts a range in two at address, if one lies across it. */
static void cut(struct ia64_space *s, uint64_t address)
{
	size_t i = find(s, address);
	struct range upper;

	if (i == s->count || s->ranges[i].start >= address)
		return;
	upper = s->ranges[i];
	upper.start = address;
	s->ranges[i].end = address;
	insert(s, i + 1, upper);
}

static void forget(struct ia64_space *s, uint64_t start, uint64_t end)
{
	size_t i;

	cut(s, start);
	cut(s, end);
	i = find(s, start);
	while (i < s->count && s->ranges[i].start < end)
		erase(s, i);
}

static void remember(struct ia64_space *s, uint64_t start, uint64_t end, int prot)
{
	forget(s, start, end);
	insert(s, find(s, start), (struct range){start, end, prot});
}

/* A free place of that size at or above `from` in its region, or 0. */
static uint64_t gap(const struct ia64_space *s, uint64_t from, uint64_t size)
{
	uint64_t limit = (REGION(from) << 61) + IA64_REGION_LIMIT;

	for (size_t i = find(s, from); from + size <= limit; i++) {
		if (i == s->count || s->ranges[i].start >= from + size)
			return from;
		from = s->ranges[i].end;
	}
	return 0;
}

/* -- Mapping ----------------------------------------------------------------------------------- */

/* Reading is all that executing needs here. */
static int host_prot(int prot)
{
	return (prot & (PROT_READ | PROT_WRITE)) | (prot & PROT_EXEC ? PROT_READ : 0);
}

static uint64_t choose(struct ia64_space *s, uint64_t hint, uint64_t size)
{
	uint64_t at = 0;

	if (hint && ia64_space_host(s, hint, size))
		at = gap(s, hint, size) == hint ? hint : 0;
	if (!at)
		at = gap(s, s->next, size);
	if (!at)
		at = gap(s, 1ull << 61, size);
	return at;
}

static int64_t map_locked(struct ia64_space *s, uint64_t hint, uint64_t size, int prot, int flags,
			  int fd, off_t offset)
{
	uint64_t at = hint;
	void *host;
	int rc;

	if (!(flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)))
		at = choose(s, ROUND_UP(hint), size);
	if (!at || !ia64_space_host(s, at, size))
		return -ENOMEM;
	if (flags & MAP_FIXED_NOREPLACE && gap(s, at, size) != at)
		return -EEXIST;
	rc = make_room(s, 3);
	if (rc != 0)
		return rc;
	flags = (flags & ~MAP_FIXED_NOREPLACE) | MAP_FIXED | MAP_NORESERVE;
	host = mmap(ia64_space_host(s, at, size), size, host_prot(prot), flags, fd, offset);
	if (host == MAP_FAILED)
		return -errno;
	remember(s, at, at + size, prot);
	return (int64_t)at;
}

int64_t ia64_space_map(struct ia64_space *s, uint64_t hint, uint64_t size, int prot, int flags,
		       int fd, off_t offset)
{
	int64_t rc;

	size = ROUND_UP(size);
	if (size == 0)
		return -EINVAL;
	if (flags & MAP_FIXED && hint % IA64_PAGE)
		return -EINVAL;
	pthread_rwlock_wrlock(&s->lock);
	rc = map_locked(s, hint, size, prot, flags, fd, offset);
	pthread_rwlock_unlock(&s->lock);
	return rc;
}

/* The window keeps the place: it is reserved again, not given back. */
static int reserve_again(struct ia64_space *s, uint64_t address, uint64_t size)
{
	void *host = ia64_space_host(s, address, size);

	if (!host)
		return -EINVAL;
	if (mmap(host, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
		 0) == MAP_FAILED)
		return -errno;
	return 0;
}

int ia64_space_unmap(struct ia64_space *s, uint64_t address, uint64_t size)
{
	int rc;

	size = ROUND_UP(size);
	if (address % IA64_PAGE || size == 0)
		return -EINVAL;
	pthread_rwlock_wrlock(&s->lock);
	rc = make_room(s, 2);
	if (rc == 0)
		rc = reserve_again(s, address, size);
	if (rc == 0)
		forget(s, address, address + size);
	pthread_rwlock_unlock(&s->lock);
	return rc;
}

static bool all_mapped(const struct ia64_space *s, uint64_t start, uint64_t end)
{
	for (size_t i = find(s, start); start < end; i++) {
		if (i == s->count || s->ranges[i].start > start)
			return false;
		start = s->ranges[i].end;
	}
	return true;
}

int ia64_space_protect(struct ia64_space *s, uint64_t address, uint64_t size, int prot)
{
	void *host;
	int rc;

	size = ROUND_UP(size);
	if (address % IA64_PAGE)
		return -EINVAL;
	if (size == 0)
		return 0;
	host = ia64_space_host(s, address, size);
	if (!host)
		return -ENOMEM;
	pthread_rwlock_wrlock(&s->lock);
	rc = make_room(s, 2);
	if (rc == 0 && !all_mapped(s, address, address + size))
		rc = -ENOMEM;
	if (rc == 0 && mprotect(host, size, host_prot(prot)) != 0)
		rc = -errno;
	if (rc == 0) {
		size_t i;

		cut(s, address);
		cut(s, address + size);
		for (i = find(s, address); i < s->count && s->ranges[i].start < address + size; i++)
			s->ranges[i].prot = prot;
	}
	pthread_rwlock_unlock(&s->lock);
	return rc;
}

static int64_t remap_locked(struct ia64_space *s, uint64_t address, uint64_t size, uint64_t to_size,
			    int flags, uint64_t to)
{
	size_t i = find(s, address);
	int prot;

	if (i == s->count || s->ranges[i].start > address || s->ranges[i].end < address + size)
		return -EFAULT;
	prot = s->ranges[i].prot;
	if (!(flags & MREMAP_FIXED)) {
		uint64_t end = address + size;

		if (to_size <= size || gap(s, end, to_size - size) == end)
			to = address;
		else if (flags & MREMAP_MAYMOVE)
			to = choose(s, 0, to_size);
		else
			to = 0;
	}
	if (!to || !ia64_space_host(s, to, to_size))
		return -ENOMEM;
	if (to == address && to_size > size &&
	    reserve_again(s, address + size, to_size - size) == 0)
		munmap(ia64_space_host(s, address + size, to_size - size), to_size - size);
	if (mremap(ia64_space_host(s, address, size), size, to_size,
		   to == address ? 0 : MREMAP_MAYMOVE | MREMAP_FIXED,
		   ia64_space_host(s, to, to_size)) == MAP_FAILED)
		return -errno;
	forget(s, address, address + size);
	remember(s, to, to + to_size, prot);
	if (to != address)
		reserve_again(s, address, size);
	else if (to_size < size)
		reserve_again(s, address + to_size, size - to_size);
	return (int64_t)to;
}

int64_t ia64_space_remap(struct ia64_space *s, uint64_t address, uint64_t size, uint64_t to_size,
			 int flags, uint64_t to)
{
	int64_t rc;

	size = ROUND_UP(size);
	to_size = ROUND_UP(to_size);
	if (address % IA64_PAGE || to % IA64_PAGE || !size || !to_size ||
	    !ia64_space_host(s, address, size))
		return -EINVAL;
	pthread_rwlock_wrlock(&s->lock);
	rc = make_room(s, 6);
	if (rc == 0)
		rc = remap_locked(s, address, size, to_size, flags, to);
	pthread_rwlock_unlock(&s->lock);
	return rc;
}

/* -- Questions --------------------------------------------------------------------------------- */

bool ia64_space_allows(struct ia64_space *s, uint64_t address, unsigned rights)
{
	int prot = (rights & 1 ? PROT_READ : 0) | (rights & 2 ? PROT_WRITE : 0) |
		   (rights & 4 ? PROT_EXEC : 0);
	bool allows;
	size_t i;

	pthread_rwlock_rdlock(&s->lock);
	i = find(s, address);
	allows =
	    i < s->count && s->ranges[i].start <= address && (s->ranges[i].prot & prot) == prot;
	pthread_rwlock_unlock(&s->lock);
	return allows;
}

bool ia64_space_executed(struct ia64_space *s, uint64_t address, uint64_t size)
{
	bool found = false;

	pthread_rwlock_rdlock(&s->lock);
	for (size_t i = find(s, address); i < s->count && s->ranges[i].start < address + size; i++)
		found |= s->ranges[i].prot & PROT_EXEC;
	pthread_rwlock_unlock(&s->lock);
	return found;
}

/* -- Copies ------------------------------------------------------------------------------------ */

static int guarded_copy(struct ia64_cpu *c, void *to, const void *from, size_t size)
{
	if (sigsetjmp(c->guard, 0)) {
		c->guarded = false;
		return -EFAULT;
	}
	c->guarded = true;
	__asm__ volatile("" ::: "memory");
	memcpy(to, from, size);
	__asm__ volatile("" ::: "memory");
	c->guarded = false;
	return 0;
}

int ia64_copy_in(struct ia64_cpu *c, void *to, uint64_t from, size_t size)
{
	const void *host = ia64_space_host(c->process->space, from, size);

	return host ? guarded_copy(c, to, host, size) : -EFAULT;
}

int ia64_copy_out(struct ia64_cpu *c, uint64_t to, const void *from, size_t size)
{
	void *host = ia64_space_host(c->process->space, to, size);

	return host ? guarded_copy(c, host, from, size) : -EFAULT;
}

int ia64_space_fetch(struct ia64_cpu *c, uint64_t address, struct ia64_bundle *bundle)
{
	if (!ia64_space_allows(c->process->space, address, 4))
		return ia64_space_allows(c->process->space, address, 0) ? -EACCES : -EFAULT;
	return ia64_copy_in(c, bundle, address, sizeof(*bundle));
}
