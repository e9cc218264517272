#include "feed/ia64/rse.h"

#include <string.h>

#define SLOT(address) ((address) >> 3 & 63)

int ia64_rse_count(uint64_t from, uint64_t to)
{
	int64_t words = (int64_t)(to - from) / 8;

	return (int)(words - ((int64_t)SLOT(from) + words) / 64);
}

/* Memory of the backing store, privilege and byte order of which are RSC's: both the program's. */
static void *word(struct ia64_cpu *c, uint64_t address, bool write)
{
	if (ia64_host_valid(c, address))
		return ia64_host(c, address);
	c->fault = IA64_FAULT_DATA;
	c->fault_address = address;
	c->fault_write = write;
	c->fault_denied = false;
	siglongjmp(c->escape, 2);
}

static void store(struct ia64_cpu *c, uint64_t address, uint64_t value)
{
	volatile uint64_t *host = word(c, address, true);

	__asm__ volatile("" ::: "memory");
	*host = value;
	__asm__ volatile("" ::: "memory");
}

static uint64_t load(struct ia64_cpu *c, uint64_t address)
{
	const volatile uint64_t *host = word(c, address, false);
	uint64_t value;

	__asm__ volatile("" ::: "memory");
	value = *host;
	__asm__ volatile("" ::: "memory");
	return value;
}

static void store_collection(struct ia64_cpu *c)
{
	if (SLOT(c->bspstore) == 63) {
		store(c, c->bspstore, c->rnat & INT64_MAX);
		c->bspstore += 8;
		c->rnat = 0;
	}
}

/* Stores the lowest dirty register. */
static void spill_one(struct ia64_cpu *c)
{
	unsigned i = (c->bof - c->dirty) % IA64_SAVED;
	uint64_t bit;

	store_collection(c);
	bit = 1ull << SLOT(c->bspstore);
	store(c, c->bspstore, c->saved[i]);
	c->rnat = c->saved_nat[i] ? c->rnat | bit : c->rnat & ~bit;
	c->saved_nat[i] = 0;
	c->bspstore += 8;
	c->dirty--;
}

/* Loads the register below bspstore, which becomes dirty. */
static void fill_one(struct ia64_cpu *c)
{
	uint64_t address = c->bspstore - 8;
	unsigned i = (c->bof - c->dirty - 1) % IA64_SAVED;
	uint64_t rnat = c->rnat;

	if (SLOT(address) == 63) {
		rnat = load(c, address);
		address -= 8;
	}
	c->saved[i] = load(c, address);
	c->saved_nat[i] = rnat >> SLOT(address) & 1;
	c->nats |= c->saved_nat[i];
	c->rnat = rnat;
	c->bspstore = address;
	c->dirty++;
}

/* gr[32...] to saved[] and back, `n` registers from number `first`. */
static void save(struct ia64_cpu *c, uint32_t first, unsigned n)
{
	unsigned at = first % IA64_SAVED;
	unsigned part = n < IA64_SAVED - at ? n : IA64_SAVED - at;

	memcpy(c->saved + at, c->gr + 32, part * sizeof(c->gr[0]));
	memcpy(c->saved, c->gr + 32 + part, (n - part) * sizeof(c->gr[0]));
	if (c->nats) {
		memcpy(c->saved_nat + at, c->nat + 32, part);
		memcpy(c->saved_nat, c->nat + 32 + part, n - part);
	}
}

static void restore(struct ia64_cpu *c, uint32_t first, unsigned n)
{
	unsigned at = first % IA64_SAVED;
	unsigned part = n < IA64_SAVED - at ? n : IA64_SAVED - at;

	memcpy(c->gr + 32, c->saved + at, part * sizeof(c->gr[0]));
	memcpy(c->gr + 32 + part, c->saved, (n - part) * sizeof(c->gr[0]));
	if (c->nats) {
		memcpy(c->nat + 32, c->saved_nat + at, part);
		memcpy(c->nat + 32 + part, c->saved_nat, n - part);
		memset(c->saved_nat + at, 0, part);
		memset(c->saved_nat, 0, n - part);
	}
}

/* Turns an array of `n` elements of `size` bytes up by `by` places. */
static void turn(void *array, unsigned n, unsigned by, size_t size)
{
	char copy[2 * 96 * sizeof(uint64_t)];

	memcpy(copy, array, n * size);
	memcpy((char *)array + by * size, copy, (n - by) * size);
	memcpy(array, copy + (n - by) * size, by * size);
}

static void turn_gr(struct ia64_cpu *c, unsigned by)
{
	turn(c->gr + 32, c->sor * 8, by, sizeof(c->gr[0]));
	if (c->nats)
		turn(c->nat + 32, c->sor * 8, by, sizeof(c->nat[0]));
}

/* The arrays in physical order: register n at its place were its rrb 0. */
static void clear_rrb_gr(struct ia64_cpu *c)
{
	if (c->rrb_gr)
		turn_gr(c, c->rrb_gr);
	c->rrb_gr = 0;
}

void ia64_clear_rrb_pr(struct ia64_cpu *c)
{
	if (c->rrb_pr)
		turn(c->pr + 16, 48, c->rrb_pr, 1);
	c->rrb_pr = 0;
}

void ia64_clear_rrb(struct ia64_cpu *c)
{
	clear_rrb_gr(c);
	ia64_clear_rrb_pr(c);
	c->rrb_fr = 0;
}

static void rotate_gr(struct ia64_cpu *c, unsigned n)
{
	uint64_t last = c->gr[32 + n - 1];

	memmove(c->gr + 33, c->gr + 32, (n - 1) * sizeof(c->gr[0]));
	c->gr[32] = last;
	if (c->nats) {
		uint8_t last_nat = c->nat[32 + n - 1];

		memmove(c->nat + 33, c->nat + 32, n - 1);
		c->nat[32] = last_nat;
	}
	c->rrb_gr = (c->rrb_gr ? c->rrb_gr : n) - 1;
}

void ia64_rotate(struct ia64_cpu *c)
{
	uint8_t last = c->pr[63];

	if (c->sor)
		rotate_gr(c, c->sor * 8u);
	memmove(c->pr + 17, c->pr + 16, 47);
	c->pr[16] = last;
	c->rrb_pr = (c->rrb_pr ? c->rrb_pr : 48) - 1;
	c->rrb_fr = (c->rrb_fr ? c->rrb_fr : 96) - 1;
}

static void push(struct ia64_cpu *c, unsigned n)
{
	if (c->rrb_gr | c->rrb_fr | c->rrb_pr)
		ia64_clear_rrb(c);
	save(c, c->bof, n);
	memmove(c->gr + 32, c->gr + 32 + n, (c->sof - n) * sizeof(c->gr[0]));
	if (c->nats)
		memmove(c->nat + 32, c->nat + 32 + n, c->sof - n);
	c->bof += n;
	c->dirty += n;
	c->bsp = ia64_rse_skip(c->bsp, n);
	c->sof -= n;
	c->sol = c->sor = 0;
}

void ia64_rse_call(struct ia64_cpu *c)
{
	push(c, c->sol);
}

void ia64_rse_cover(struct ia64_cpu *c)
{
	push(c, c->sof);
}

void ia64_rse_alloc(struct ia64_cpu *c, unsigned sof, unsigned sol, unsigned sor)
{
	while (c->dirty && c->dirty + sof > IA64_STACKED)
		spill_one(c);
	c->sof = sof;
	c->sol = sol;
	c->sor = sor;
}

void ia64_rse_return(struct ia64_cpu *c, uint64_t pfm)
{
	unsigned sof = pfm & 0x7F, n = pfm >> 7 & 0x7F;
	unsigned outputs = sof - n;

	if (c->dirty < n) { /* all or nothing: they lie in two pages at most */
		load(c, ia64_rse_skip(c->bsp, -(int)n));
		load(c, c->bspstore - 8);
	}
	while (c->dirty < n)
		fill_one(c);
	if (c->rrb_gr | c->rrb_fr | c->rrb_pr)
		ia64_clear_rrb(c);
	c->bof -= n;
	c->dirty -= n;
	c->bsp = ia64_rse_skip(c->bsp, -(int)n);
	if (c->dirty + sof > IA64_STACKED) { /* no call left such a frame: it gets none */
		ia64_set_cfm(c, 0);
		return;
	}
	memmove(c->gr + 32 + n, c->gr + 32, outputs * sizeof(c->gr[0]));
	if (c->nats)
		memmove(c->nat + 32 + n, c->nat + 32, outputs);
	restore(c, c->bof, n);
	ia64_set_cfm(c, pfm);
}

void ia64_rse_flush(struct ia64_cpu *c)
{
	while (c->dirty)
		spill_one(c);
	store_collection(c);
}

void ia64_rse_load(struct ia64_cpu *c, unsigned bytes)
{
	uint64_t target = c->bsp - bytes;

	while (c->dirty && c->bspstore < target) { /* too many: they are dropped */
		if (SLOT(c->bspstore) != 63) {
			c->saved_nat[(c->bof - c->dirty) % IA64_SAVED] = 0;
			c->dirty--;
		}
		c->bspstore += 8;
	}
	while (c->bspstore > target && c->dirty + c->sof < IA64_STACKED)
		fill_one(c);
	c->bspstore = target;
}

void ia64_rse_set_bspstore(struct ia64_cpu *c, uint64_t address)
{
	c->bspstore = address & ~7ull;
	c->bsp = ia64_rse_skip(c->bspstore, (int)c->dirty);
}

bool ia64_any_nat(const struct ia64_cpu *c)
{
	unsigned any = 0;

	for (unsigned i = 0; i < 128; i++)
		any |= c->nat[i];
	for (unsigned i = 0; i < IA64_SAVED; i++)
		any |= c->saved_nat[i];
	return any;
}

uint64_t ia64_cfm(const struct ia64_cpu *c)
{
	return c->sof | (uint64_t)c->sol << 7 | (uint64_t)c->sor << 14 | (uint64_t)c->rrb_gr << 18 |
	       (uint64_t)c->rrb_fr << 25 | (uint64_t)c->rrb_pr << 32;
}

/* The arrays are in physical order before this. */
void ia64_set_cfm(struct ia64_cpu *c, uint64_t cfm)
{
	unsigned rotating;

	c->sof = cfm & 0x7F;
	c->sol = cfm >> 7 & 0x7F;
	c->sor = cfm >> 14 & 0xF;
	rotating = c->sor * 8;
	c->rrb_gr = rotating ? (cfm >> 18 & 0x7F) % rotating : 0;
	c->rrb_fr = (cfm >> 25 & 0x7F) % 96;
	c->rrb_pr = (cfm >> 32 & 0x3F) % 48;
	if (c->rrb_gr)
		turn_gr(c, rotating - c->rrb_gr);
	if (c->rrb_pr)
		turn(c->pr + 16, 48, 48 - c->rrb_pr, 1);
}

uint64_t ia64_predicates(const struct ia64_cpu *c)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < 64; i += 8) {
		uint64_t eight;

		memcpy(&eight, c->pr + i, 8);
		value |= (eight * 0x0102040810204080u >> 56) << i;
	}
	if (c->rrb_pr) { /* virtual register v is physical v + rrb */
		uint64_t rotating = value >> 16, n = c->rrb_pr;

		rotating = (rotating << n | rotating >> (48 - n)) & 0xFFFFFFFFFFFF;
		value = (value & 0xFFFF) | rotating << 16;
	}
	return value;
}

void ia64_set_predicates(struct ia64_cpu *c, uint64_t value, uint64_t mask)
{
	for (unsigned i = 1; i < 64; i++) {
		unsigned p = i < 16 ? i : 16 + (i - 16 + 48 - c->rrb_pr) % 48;

		if (mask >> i & 1)
			c->pr[p] = value >> i & 1;
	}
}
