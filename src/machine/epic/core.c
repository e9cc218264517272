#include "machine/epic/core.h"

#include <string.h>

#define CELL_ROW(cell, signal, qualifiers) {SIGNAL_##signal, qualifiers},
const struct signal_cell epic_cells[] = {EPIC_CELLS(CELL_ROW)};
#undef CELL_ROW
const size_t epic_cell_count = EPIC_CELL_COUNT;

static size_t cache_bytes(const struct epic_cache_params *p)
{
	return (size_t)p->sets * p->ways * sizeof(struct line);
}

static size_t tlb_bytes(const struct epic_tlb_params *p)
{
	return sizeof(struct tlb_pages) + p->entries * sizeof(struct tlb_entry);
}

size_t epic_size(const struct epic_params *p)
{
	return sizeof(struct epic_core) + sizeof(struct epic_shared) + cache_bytes(&p->l1i) +
	       cache_bytes(&p->l1d) + cache_bytes(&p->l2i) + cache_bytes(&p->l2d) +
	       cache_bytes(&p->l3) + tlb_bytes(&p->itlb1) + tlb_bytes(&p->itlb2) +
	       tlb_bytes(&p->dtlb1) + tlb_bytes(&p->dtlb2);
}

/* @return what follows its lines */
static char *make_cache(struct cache *cache, const struct epic_cache_params *p, char *memory)
{
	*cache = (struct cache){(void *)memory, p->sets, p->ways, p->line_log2};
	return memory + cache_bytes(p);
}

static char *make_tlb(struct tlb *tlb, const struct epic_tlb_params *p, char *memory)
{
	*tlb = (struct tlb){(void *)memory, p->entries, p->page_log2};
	return memory + tlb_bytes(p);
}

static bool is_usual(unsigned use)
{
	return use <= EPIC_USE_STORE && use != EPIC_USE_MULTIMEDIA;
}

static void copy_latencies(struct epic_core *core, const struct epic_params *params)
{
	for (unsigned via = 0; via < EPIC_VIAS; via++) {
		const uint8_t *latencies = params->latencies[via];

		for (unsigned use = 0; use < EPIC_USES; use++)
			if (is_usual(use) && latencies[use] > core->usual[via])
				core->usual[via] = latencies[use];
		for (unsigned use = 0; use < EPIC_USES; use++)
			core->differs[via][use] = (int8_t)(latencies[use] - core->usual[via]);
	}
}

bool epic_is_late(const struct epic_core *core, unsigned use)
{
	for (unsigned via = 0; via < EPIC_VIAS; via++)
		if (core->differs[via][use] > 0)
			return true;
	return false;
}

static void reset_thread(struct epic_core *core)
{
	core->deadline = UINT64_MAX;
	core->fetch.chunk = core->fetch.page = core->fetch.line = UINT64_MAX;
	core->turn.parked = true;
	core->turn.urgency = EPIC_URGENCY;
	core->turn.cause = SWITCH_NONE;
}

struct epic_core *epic_init(void *memory, const struct epic_params *params)
{
	struct epic_core *core = memory;
	char *next = (char *)(core + 1);

	core->shared = (void *)next;
	next += sizeof(struct epic_shared);
	next = make_cache(&core->l1i, &params->l1i, next);
	next = make_cache(&core->l1d, &params->l1d, next);
	next = make_cache(&core->l2i, &params->l2i, next);
	next = make_cache(&core->l2d, &params->l2d, next);
	next = make_cache(&core->l3, &params->l3, next);
	next = make_tlb(&core->itlb1, &params->itlb1, next);
	next = make_tlb(&core->itlb2, &params->itlb2, next);
	next = make_tlb(&core->dtlb1, &params->dtlb1, next);
	make_tlb(&core->dtlb2, &params->dtlb2, next);
	core->params = params;
	copy_latencies(core, params);
	core->shared->foreground = core->shared->threads[0] = core;
	core->shared->requests.size = params->requests;
	core->shared->fills.size = params->fills;
	core->shared->victims.size = params->victims;
	core->shared->buffers.size = params->line_buffers;
	core->shared->data.size = params->data;
	core->shared->first.fills.size = params->first_fills;
	core->shared->reads.low = CELL_READING_LOW;
	core->shared->queue.low = CELL_QUEUE_LOW;
	core->shared->snoops.low = CELL_SNOOPS_LOW;
	reset_thread(core);
	return core;
}

size_t epic_thread_size(void)
{
	return sizeof(struct epic_core);
}

struct epic_core *epic_init_thread(void *memory, struct epic_core *first)
{
	struct epic_core *core = memory;

	*core = *first; /* with its caches and TLBs */
	core->shared->threads[1] = core;
	return core;
}

void epic_connect(struct epic_core *core, struct fabric *fabric, unsigned number, unsigned mhz)
{
	core->fabric = fabric;
	core->number = number;
	core->mhz = mhz;
}

uint64_t epic_cycles(const struct epic_core *core, uint64_t ns)
{
	return ns / 1000 * core->mhz + ns % 1000 * core->mhz / 1000;
}

uint64_t epic_fabric_time(const struct epic_core *core, uint64_t cycle)
{
	return cycle * core->params->fabric.mhz / core->mhz;
}

uint64_t epic_next_ip(const struct epic_core *core)
{
	return core->at;
}

uint64_t epic_cycle(const struct epic_core *core)
{
	return core->cycle;
}

const uint64_t *epic_clock(const struct epic_core *core)
{
	return &core->cycle;
}

const uint64_t *epic_totals(const struct epic_core *core, enum signal_bank bank)
{
	return core->totals[bank];
}

void epic_watch(struct epic_core *core, const struct epic_watch *watch)
{
	core->watch = *watch;
	core->marking = watch->mark;
	core->watched = watch->cycles || watch->group;
}

void epic_set_deadline(struct epic_core *core, uint64_t cycle)
{
	core->deadline = cycle;
}
