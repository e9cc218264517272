/* Which instructions and data events are constrained to: ranges, encodings, tag channels. */
#include <assert.h>

#include "pmon/ia64/state.h"

void pmon_ia64_describe_matching(struct matching *m, const struct pmu_box *box)
{
	m->any_address = pmon_ia64_place(box, PMU_FIELD_ANY_ADDRESS, 0);
	m->invert = pmon_ia64_place(box, PMU_FIELD_INVERT_ADDRESS, 0);
	m->fine = pmon_ia64_place(box, PMU_FIELD_FINE_RANGE, 0);
	for (unsigned i = 0; i < MATCHERS; i++) {
		m->mask[i] = pmon_ia64_place(box, PMU_FIELD_MATCH_MASK, i);
		m->encoding[i] = pmon_ia64_place(box, PMU_FIELD_MATCH_ENCODING, i);
		m->m[i] = pmon_ia64_place(box, PMU_FIELD_MATCH_M, i);
		m->i[i] = pmon_ia64_place(box, PMU_FIELD_MATCH_I, i);
		m->f[i] = pmon_ia64_place(box, PMU_FIELD_MATCH_F, i);
		m->b[i] = pmon_ia64_place(box, PMU_FIELD_MATCH_B, i);
	}
	for (unsigned i = 0; i < CHANNELS; i++) {
		m->any_opcode[i] = pmon_ia64_place(box, PMU_FIELD_ANY_OPCODE, i);
		m->any_range[i] = pmon_ia64_place(box, PMU_FIELD_ANY_RANGE, i);
		m->tag[i] = pmon_ia64_place(box, PMU_FIELD_DATA_TAG, i);
		m->tag_enable[i] = pmon_ia64_place(box, PMU_FIELD_DATA_TAG_ENABLE, i);
		m->address[i] = pmon_ia64_place(box, PMU_FIELD_RANGE_ADDRESS, i);
		m->address_mask[i] = pmon_ia64_place(box, PMU_FIELD_RANGE_MASK, i);
		m->levels[i] = pmon_ia64_place(box, PMU_FIELD_RANGE_LEVELS, i);
		m->data[i] = pmon_ia64_place(box, PMU_FIELD_DATA_RANGE_ADDRESS, i);
		m->data_mask[i] = pmon_ia64_place(box, PMU_FIELD_DATA_RANGE_MASK, i);
	}
}

/* Mask bits say what is compared; what lies above the mask's field always is. */
static bool in_range(const struct pmon_ia64 *pmu, const struct place *base,
		     const struct place *mask, uint64_t address, uint64_t of)
{
	uint64_t compared = pmon_ia64_get(pmu, mask) | ~(mask->mask >> mask->lo);

	return !((pmon_ia64_get(pmu, base) ^ address) & compared & of);
}

/* Bounds of two pairs, neither of them inside; above bit 15 they have to be the same. */
static bool in_fine_range(const struct pmon_ia64 *pmu, unsigned channel, uint64_t ip)
{
	const struct matching *m = &pmu->matching;
	uint64_t low = pmon_ia64_get(pmu, &m->address[channel]) & 0xFFFF;
	uint64_t high = pmon_ia64_get(pmu, &m->address[channel + 2]) & 0xFFFF;

	return in_range(pmu, &m->address[channel], &m->address_mask[channel], ip, ~0xFFFFull) &&
	       (ip & 0xFFFF) > low && (ip & 0xFFFF) < high;
}

static bool address_passes(const struct pmon_ia64 *pmu, unsigned channel, uint64_t ip)
{
	const struct matching *m = &pmu->matching;
	bool any = pmon_ia64_get(pmu, &m->any_range[channel]);
	bool in;

	if (any || (channel == 0 && pmon_ia64_get(pmu, &m->any_address)))
		return true;
	if (pmon_ia64_get(pmu, &m->fine) && channel < 2)
		in = in_fine_range(pmu, channel, ip);
	else
		in = in_range(pmu, &m->address[channel], &m->address_mask[channel], ip, ~0ull);
	if (channel == 0 && pmon_ia64_get(pmu, &m->invert))
		in = !in;
	return in && pmon_ia64_get(pmu, &m->levels[channel]) >> LEVEL & 1;
}

static bool unit_passes(const struct pmon_ia64 *pmu, unsigned matcher,
			const struct detail_code *code)
{
	const struct matching *m = &pmu->matching;
	bool takes_m = pmon_ia64_get(pmu, &m->m[matcher]);
	bool takes_i = pmon_ia64_get(pmu, &m->i[matcher]);

	if (code->either)
		return takes_m && takes_i;
	switch (code->unit) {
	case 'M':
		return takes_m;
	case 'I':
		return takes_i;
	case 'F':
		return pmon_ia64_get(pmu, &m->f[matcher]);
	default:
		return pmon_ia64_get(pmu, &m->b[matcher]);
	}
}

static bool opcode_passes(const struct pmon_ia64 *pmu, unsigned matcher,
			  const struct detail_code *code)
{
	const struct matching *m = &pmu->matching;
	uint64_t differs = code->encoding ^ pmon_ia64_get(pmu, &m->encoding[matcher]);

	return unit_passes(pmu, matcher, code) &&
	       !(differs & ~pmon_ia64_get(pmu, &m->mask[matcher]));
}

unsigned pmon_ia64_mark(const struct pmon_ia64 *pmu, const struct detail_code *code)
{
	bool opcode[MATCHERS];
	unsigned marks = 0;

	for (unsigned i = 0; i < MATCHERS; i++)
		opcode[i] = opcode_passes(pmu, i, code);
	for (unsigned i = 0; i < CHANNELS; i++) {
		if (!address_passes(pmu, i, code->ip))
			continue;
		if (i == 0)
			marks |= SIGNAL_MARK_ADDRESS;
		if (opcode[i % MATCHERS] || pmon_ia64_get(pmu, &pmu->matching.any_opcode[i]))
			marks |= SIGNAL_MARK_CHANNEL << i;
	}
	return marks;
}

bool pmon_ia64_mark_code(const struct pmon_ia64 *pmu, uint64_t address)
{
	return address_passes(pmu, 0, address);
}

enum tag {
	TAG_BOTH,
	TAG_INSTRUCTION,
	TAG_DATA,
	TAG_ANYTHING,
};

static enum tag tag_of(const struct pmon_ia64 *pmu, unsigned range)
{
	return pmon_ia64_get(pmu, &pmu->matching.tag_enable[range])
		   ? (enum tag)pmon_ia64_get(pmu, &pmu->matching.tag[range])
		   : TAG_ANYTHING;
}

/* Ranges that do not constrain are not looked at; one of the others has to hold. */
bool pmon_ia64_mark_data(const struct pmon_ia64 *pmu, unsigned marks, uint64_t address)
{
	const struct matching *m = &pmu->matching;
	bool marked = marks & SIGNAL_MARK_CHANNEL, constrained = false;

	for (unsigned i = 0; i < CHANNELS; i++) {
		enum tag tag = tag_of(pmu, i);
		bool data = in_range(pmu, &m->data[i], &m->data_mask[i], address, ~0ull);

		if (tag == TAG_ANYTHING)
			continue;
		constrained = true;
		if ((tag == TAG_DATA || marked) && (tag == TAG_INSTRUCTION || data))
			return true;
	}
	return !constrained;
}

bool pmon_ia64_compares_data(const struct pmon_ia64 *pmu)
{
	for (unsigned i = 0; i < CHANNELS; i++)
		if (tag_of(pmu, i) == TAG_BOTH || tag_of(pmu, i) == TAG_DATA)
			return true;
	return false;
}

bool pmon_ia64_constrained(const struct pmon_ia64 *pmu)
{
	const struct matching *m = &pmu->matching;
	bool all_units = pmon_ia64_get(pmu, &m->m[0]) && pmon_ia64_get(pmu, &m->i[0]) &&
			 pmon_ia64_get(pmu, &m->f[0]) && pmon_ia64_get(pmu, &m->b[0]);
	bool all_bits = pmon_ia64_get(pmu, &m->mask[0]) == m->mask[0].mask >> m->mask[0].lo;

	if (!(all_units && all_bits) && !pmon_ia64_get(pmu, &m->any_opcode[0]))
		return true;
	if (!pmon_ia64_get(pmu, &m->any_address) && !pmon_ia64_get(pmu, &m->any_range[0]))
		return true;
	for (unsigned i = 0; i < CHANNELS; i++)
		if (tag_of(pmu, i) != TAG_ANYTHING)
			return true;
	return false;
}

bool pmon_ia64_marks_alike(const struct pmon_ia64 *one, const struct pmon_ia64 *other)
{
	const struct place *places = (const struct place *)&one->matching;

	static_assert(sizeof(struct matching) % sizeof(struct place) == 0, "only places");
	for (size_t i = 0; i < sizeof(struct matching) / sizeof(struct place); i++)
		if (pmon_ia64_get(one, &places[i]) != pmon_ia64_get(other, &places[i]))
			return false;
	return true;
}
