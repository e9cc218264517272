#include "feed/ia64/alat.h"

#include "feed/ia64/process.h"

#include <string.h>

static void refilter(struct ia64_cpu *c)
{
	c->alat_filter = 0;
	for (unsigned i = 0; i < IA64_ALAT_ENTRIES; i++)
		if (c->alat[i].tag)
			c->alat_filter |= ia64_alat_bits(c->alat[i].address, c->alat[i].size);
}

static struct ia64_alat_entry *find(struct ia64_cpu *c, unsigned tag)
{
	for (unsigned i = 0; i < IA64_ALAT_ENTRIES; i++)
		if (c->alat[i].tag == tag)
			return &c->alat[i];
	return NULL;
}

/* What memory holds now; other threads store without looking at this table. */
static bool unchanged(const struct ia64_cpu *c, const struct ia64_alat_entry *e)
{
	return !c->process->threaded || memcmp(ia64_host(c, e->address), e->value, e->size) == 0;
}

void ia64_alat_insert(struct ia64_cpu *c, unsigned tag, uint64_t address, unsigned size)
{
	struct ia64_alat_entry *e = find(c, tag);

	if (!e)
		e = find(c, 0);
	if (!e) {
		e = &c->alat[c->alat_next];
		c->alat_next = (c->alat_next + 1) % IA64_ALAT_ENTRIES;
	}
	e->tag = tag;
	e->address = address;
	e->size = size;
	if (c->process->threaded)
		memcpy(e->value, ia64_host(c, address), size);
	refilter(c);
}

void ia64_alat_remove(struct ia64_cpu *c, unsigned tag)
{
	struct ia64_alat_entry *e = find(c, tag);

	if (e) {
		e->tag = 0;
		refilter(c);
	}
}

void ia64_alat_clear(struct ia64_cpu *c)
{
	memset(c->alat, 0, sizeof(c->alat));
	c->alat_filter = 0;
}

void ia64_alat_stored(struct ia64_cpu *c, uint64_t address, unsigned size)
{
	for (unsigned i = 0; i < IA64_ALAT_ENTRIES; i++) {
		struct ia64_alat_entry *e = &c->alat[i];

		if (e->tag && address < e->address + e->size && e->address < address + size)
			e->tag = 0;
	}
	refilter(c);
}

bool ia64_alat_has(const struct ia64_cpu *c, unsigned tag)
{
	const struct ia64_alat_entry *e = find((struct ia64_cpu *)c, tag);

	return e && unchanged(c, e);
}

bool ia64_alat_matches(const struct ia64_cpu *c, unsigned tag, uint64_t address, unsigned size)
{
	const struct ia64_alat_entry *e = find((struct ia64_cpu *)c, tag);

	return e && e->address == address && e->size == size && unchanged(c, e);
}
