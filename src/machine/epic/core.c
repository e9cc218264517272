#include "machine/epic/core.h"

#include <stdlib.h>

#define CELL_ROW(cell, signal, qualifiers) {SIGNAL_##signal, qualifiers},
const struct signal_cell epic_cells[] = {EPIC_CELLS(CELL_ROW)};
#undef CELL_ROW
const size_t epic_cell_count = EPIC_CELL_COUNT;

static bool make_cache(struct cache *cache, const struct epic_cache_params *p)
{
	*cache = (struct cache){.sets = p->sets, .ways = p->ways, .line_log2 = p->line_log2};
	cache->lines = calloc((size_t)p->sets * p->ways, sizeof(*cache->lines));
	return cache->lines;
}

static bool make_tlb(struct tlb *tlb, const struct epic_tlb_params *p)
{
	*tlb = (struct tlb){.entries = p->entries, .page_log2 = p->page_log2};
	tlb->pages = calloc(p->entries, sizeof(*tlb->pages));
	return tlb->pages;
}

static bool make_parts(struct epic_core *core, const struct epic_params *p)
{
	return make_cache(&core->l1i, &p->l1i) && make_cache(&core->l1d, &p->l1d) &&
	       make_cache(&core->l2i, &p->l2i) && make_cache(&core->l2d, &p->l2d) &&
	       make_cache(&core->l3, &p->l3) && make_tlb(&core->itlb1, &p->itlb1) &&
	       make_tlb(&core->itlb2, &p->itlb2) && make_tlb(&core->dtlb1, &p->dtlb1) &&
	       make_tlb(&core->dtlb2, &p->dtlb2);
}

struct epic_core *epic_new(const struct epic_params *params)
{
	struct epic_core *core = calloc(1, sizeof(*core));

	if (!core)
		return NULL;
	if (!make_parts(core, params)) {
		epic_free(core);
		return NULL;
	}
	core->params = params;
	core->deadline = UINT64_MAX;
	core->fetch.chunk = core->fetch.page = core->fetch.line = UINT64_MAX;
	core->requests.size = params->requests;
	core->fills.size = params->fills;
	return core;
}

void epic_free(struct epic_core *core)
{
	if (!core)
		return;
	free(core->l1i.lines);
	free(core->l1d.lines);
	free(core->l2i.lines);
	free(core->l2d.lines);
	free(core->l3.lines);
	free(core->itlb1.pages);
	free(core->itlb2.pages);
	free(core->dtlb1.pages);
	free(core->dtlb2.pages);
	free(core);
}

uint64_t epic_cycle(const struct epic_core *core)
{
	return core->cycle;
}

const uint64_t *epic_totals(const struct epic_core *core, enum signal_bank bank)
{
	return core->totals[bank];
}

void epic_watch(struct epic_core *core, const struct epic_watch *watch)
{
	core->watch = *watch;
	core->marking = watch->mark;
}

void epic_set_deadline(struct epic_core *core, uint64_t cycle)
{
	core->deadline = cycle;
}
