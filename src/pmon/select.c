#include "pmon/select.h"

#include <string.h>

/* Everything a unit mask may depend on. */
struct selection {
	const struct pmon_box *box;
	const struct pmon_unit *unit;
	const struct pmu_event *event;
	unsigned umask;
};

const struct pmu_event *pmon_event(const struct pmon_box *box, unsigned index, uint64_t control)
{
	const struct pmon_control *fields = &box->counters[index].fields;
	uint64_t code = pmon_field_get(fields->ev_sel, control);
	bool ext = control & fields->ev_sel_ext.mask;

	if (box->counters[index].fixed)
		return NULL;
	for (size_t i = 0; i < box->box->event_count; i++) {
		const struct pmu_event *event = &box->box->events[i];

		if (event->code == code && event->ext == ext)
			return event;
	}
	return NULL;
}

uint64_t pmon_control_in_effect(const struct pmon_box *box, const struct pmon_unit *unit,
				unsigned index)
{
	const struct pmon_counter_desc *desc = &box->counters[index];
	uint64_t control = unit->regs[desc->control];

	if (!(box->box->quirks & PMU_QUIRK_CONTROL_TWICE))
		return control;
	return (control & ~desc->fields.ev_sel.mask) | (uint64_t)unit->counters[index].ev_sel
							   << desc->fields.ev_sel.lo;
}

static uint64_t filter_value(const struct selection *s, struct pmon_filter filter)
{
	if (filter.reg == PMON_NO_REGISTER)
		return 0;
	return pmon_field_get(filter.field, s->unit->regs[filter.reg]);
}

static void want_any(struct pmon_listen *listen, uint32_t facets)
{
	listen->checks |= CHECK_ANY;
	listen->any |= facets;
}

/* FILTER1.nid is a mask: bit n stands for node n (334291-001 tables 2-19, 2-40). */
static void want_nid(const struct selection *s, struct pmon_listen *listen)
{
	listen->checks |= CHECK_NID;
	listen->nids = (uint32_t)filter_value(s, s->box->nid);
}

static bool select_or(const struct selection *s, struct pmon_listen *listen)
{
	uint32_t facets = 0;

	for (unsigned bit = 0; bit < 8; bit++)
		if (s->umask >> bit & 1)
			facets |= s->event->facets[bit];
	want_any(listen, facets);
	return facets != 0;
}

/*
 * 334291-001 §2.3.6 LLC_LOOKUP, table 2-21: nothing counts without bit 0 and a state; bits 1 to 5
 * say which look-ups, bit 6 qualifies them.
 */
static bool select_lookup(const struct selection *s, struct pmon_listen *listen)
{
	static const uint32_t kinds[] = {
	    FACET_CBO_LOOKUP_DATA_READ, FACET_CBO_LOOKUP_WRITE, FACET_CBO_LOOKUP_REMOTE_SNOOP,
	    FACET_CBO_LOOKUP_ANY,	FACET_CBO_LOOKUP_READ,
	};

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (s->umask >> (i + 1) & 1)
			want_any(listen, kinds[i]);
	listen->checks |= CHECK_STATE;
	listen->states = (uint32_t)filter_value(s, s->box->state);
	if (s->umask & 1 << 6)
		want_nid(s, listen);
	return (s->umask & 1) && listen->any && listen->states;
}

/*
 * 334291-001 tables 2-40, 2-41: bits 0 (opcode), 2 (eviction), 3 (all) and 4 (writeback) name
 * transactions, any of them; bits 1 (miss), 5 (local), 6 (node) and 7 (remote) each narrow the
 * choice. Only requests of the IRQ have an opcode to match (table 2-19); the machine makes neither
 * isochronous nor non-coherent ones.
 */
static bool select_tor(const struct selection *s, struct pmon_listen *listen)
{
	bool special = filter_value(s, s->box->isoc) || filter_value(s, s->box->nc);

	if (!(s->umask & (1 << 3))) {
		want_any(listen, (s->umask & 1 << 2 ? FACET_CBO_TOR_EVICTION : 0) |
				     (s->umask & 1 << 4 ? FACET_CBO_TOR_WB : 0));
		if ((s->umask & 1) && !special) {
			listen->checks |= CHECK_OR_OPCODE;
			listen->opcode_facet = FACET_CBO_TOR_REQUEST;
			listen->opcode = (uint16_t)filter_value(s, s->box->opc);
		}
	}
	listen->all = (s->umask & 1 << 1 ? FACET_CBO_TOR_MISS : 0) |
		      (s->umask & 1 << 5 ? FACET_CBO_TOR_LOCAL : 0) |
		      (s->umask & 1 << 7 ? FACET_CBO_TOR_REMOTE : 0);
	if (listen->all)
		listen->checks |= CHECK_ALL;
	if (s->umask & 1 << 6)
		want_nid(s, listen);
	return !(listen->checks & CHECK_ANY) || listen->any || (listen->checks & CHECK_OR_OPCODE);
}

/* 334291-001 table 2-22: bits 0 to 3 name states, bit 4 (no line replaced) never happens here. */
static bool select_victim(const struct selection *s, struct pmon_listen *listen)
{
	static const uint32_t states[] = {FACET_CBO_VICTIM_M, FACET_CBO_VICTIM_E,
					  FACET_CBO_VICTIM_S, FACET_CBO_VICTIM_F};

	for (unsigned bit = 0; bit < 4; bit++)
		if (s->umask >> bit & 1)
			want_any(listen, states[bit]);
	if (s->umask & 1 << 6)
		want_nid(s, listen);
	return listen->any != 0;
}

/* 334291-001 table 2-128: 0 to 15 a bank, 16 all of them, 17 to 20 a group of four. */
static bool select_rank_bank(const struct selection *s, struct pmon_listen *listen)
{
	bool writes = s->event->select_arg & 0x80;

	if (s->umask < 16)
		listen->banks = 1u << s->umask;
	else if (s->umask == 16)
		listen->banks = 0xffff;
	else if (s->umask <= 20)
		listen->banks = 0xfu << (4 * (s->umask - 17));
	else
		return false;
	listen->checks |= CHECK_BANK;
	listen->rank = s->event->select_arg & 0x7f;
	want_any(listen, writes ? FACET_IMC_CAS_WR_WMM | FACET_IMC_CAS_WR_RMM
				: FACET_IMC_CAS_RD_REG | FACET_IMC_CAS_RD_UNDERFILL);
	return true;
}

/*
 * 334291-001 §2.5.1.3, table 2-69: bit 0 the page, bits 1 to 4 the opcode, on any ring (1) or on
 * AD, BL, AK; page and opcode must both match where both are asked for. Addresses are compared from
 * bit 12 up. What is announced are requests, and those travel on AD: nothing ever matches on BL or
 * AK (the data of writebacks carry no opcode of the home class).
 */
static bool select_addr_opc(const struct selection *s, struct pmon_listen *listen)
{
	const unsigned opcode_bits = 0x1e, request_bits = 0x06;
	struct pmon_field lo = s->box->lo_addr.field;

	if (s->umask & 1) {
		uint64_t low = filter_value(s, s->box->lo_addr) << lo.lo;

		listen->checks |= CHECK_PAGE;
		listen->page = (filter_value(s, s->box->hi_addr) << 32 | low) >> 12;
	}
	if (s->umask & opcode_bits) {
		listen->checks |= CHECK_OPCODE;
		listen->opcode = (uint16_t)filter_value(s, s->box->opc);
		return s->umask & request_bits;
	}
	return s->umask & 1;
}

static bool select_umask(const struct selection *s, struct pmon_listen *listen)
{
	switch (s->event->select) {
	case PMU_SELECT_ALL:
		return true;
	case PMU_SELECT_OR:
		return select_or(s, listen);
	case PMU_SELECT_LOOKUP:
		return select_lookup(s, listen);
	case PMU_SELECT_TOR:
		return select_tor(s, listen);
	case PMU_SELECT_VICTIM:
		return select_victim(s, listen);
	case PMU_SELECT_RANK_BANK:
		return select_rank_bank(s, listen);
	case PMU_SELECT_ADDR_OPC:
		return select_addr_opc(s, listen);
	}
	return false;
}

static bool enabled(const struct pmon_box *box, const struct pmon_unit *unit, unsigned index)
{
	const struct pmon_counter_desc *desc = &box->counters[index];

	return (unit->regs[desc->control] & desc->fields.en.mask) && !unit->counters[index].held;
}

/* Unit mask, event and thread filter of counter @index. */
static void select_event(const struct pmon *pmon, const struct pmon_unit *unit, unsigned index,
			 struct pmon_listen *listen)
{
	const struct pmon_box *box = pmon_box(pmon, unit);
	const struct pmon_control *fields = &box->counters[index].fields;
	uint64_t control = pmon_control_in_effect(box, unit, index);
	struct selection s = {
	    .box = box,
	    .unit = unit,
	    .event = pmon_event(box, index, control),
	    .umask = pmon_umask(fields, control),
	};

	if (!s.event || s.event->measure == PMU_MEASURE_NONE || !(s.event->counters >> index & 1))
		return;
	if (s.event->measure == PMU_MEASURE_COUNTER0) {
		/* Counter 0 has to be enabled to show anything (decided). */
		if (index != 0 && enabled(box, unit, 0))
			select_event(pmon, unit, 0, listen);
		return;
	}
	if (!select_umask(&s, listen)) {
		/* Nothing matches: increments of 0, which invert may well count. */
		listen->checks = CHECK_ANY;
		listen->any = 0;
	}
	if ((control & fields->tid_en.mask) && box->tid.reg != PMON_NO_REGISTER) {
		listen->checks |= CHECK_TID;
		listen->tid = (uint8_t)filter_value(&s, box->tid);
	}
	listen->measure = s.event->measure;
	if (s.event->measure != PMU_MEASURE_CLOCK) {
		const struct signal_desc *signal = &signal_table[s.event->signal];

		listen->slot = pmon->routes[s.event->signal].slot;
		listen->level = signal->kind == SIGNAL_LEVEL;
		if (listen->checks & CHECK_ANY)
			listen->default_facet = listen->any & signal->default_facet;
	}
}

void pmon_select(const struct pmon *pmon, const struct pmon_unit *unit, unsigned index,
		 struct pmon_listen *listen)
{
	const struct pmon_box *box = pmon_box(pmon, unit);

	memset(listen, 0, sizeof(*listen));
	if (!enabled(box, unit, index))
		return;
	if (box->counters[index].fixed)
		listen->measure = PMU_MEASURE_CLOCK;
	else
		select_event(pmon, unit, index, listen);
}
