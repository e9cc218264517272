#include "pmon/ia64/pmu.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "pmon/ia64/capture.h"

/* A register may stand under several names, for what its bits mean in several modes. */
static uint16_t first_name(const struct pmu_box *box, size_t reg)
{
	size_t r = 0;

	while (box->registers[r].space != box->registers[reg].space ||
	       box->registers[r].offset != box->registers[reg].offset)
		r++;
	return (uint16_t)r;
}

struct place pmon_ia64_place(const struct pmu_box *box, enum pmu_field_role role, unsigned number)
{
	for (size_t r = 0; r < box->register_count; r++) {
		const struct pmu_field *field = pmu_field_by_role(&box->registers[r], role, number);

		if (field)
			return (struct place){first_name(box, r), field->lo,
					      pmu_mask(field->hi, field->lo)};
	}
	return (struct place){0};
}

static struct place place_in(const struct pmu_box *box, uint16_t reg, enum pmu_field_role role)
{
	const struct pmu_field *field = pmu_field_by_role(&box->registers[reg], role, 0);

	return field ? (struct place){reg, field->lo, pmu_mask(field->hi, field->lo)}
		     : (struct place){0};
}

static int find_role(const struct pmu_box *box, enum pmu_role role, unsigned index, uint16_t *reg)
{
	for (size_t r = 0; r < box->register_count; r++) {
		if (box->registers[r].role == role && box->registers[r].index == index) {
			*reg = (uint16_t)r;
			return 0;
		}
	}
	return PMU_E_UNSUPPORTED;
}

static uint64_t stored_bits(const struct pmu_register *reg)
{
	uint64_t bits = 0;

	for (size_t f = 0; f < reg->field_count; f++) {
		const struct pmu_field *field = &reg->fields[f];

		if (field->access == PMU_ACCESS_RW || field->access == PMU_ACCESS_RWV ||
		    field->access == PMU_ACCESS_RWS)
			bits |= pmu_mask(field->hi, field->lo);
	}
	return bits;
}

static int describe_counter(struct pmon_ia64 *pmu, unsigned i)
{
	const struct pmu_box *box = pmu->box;
	struct counter_desc *d = &pmu->descs[i];
	const struct pmu_field *sets;

	if (find_role(box, PMU_ROLE_COUNTER, i, &d->data) ||
	    find_role(box, PMU_ROLE_COUNTER_CTL, i, &d->control))
		return PMU_E_UNSUPPORTED;
	d->event = place_in(box, d->control, PMU_FIELD_EVENT_SELECT);
	d->umask = place_in(box, d->control, PMU_FIELD_UNIT_MASK);
	d->threshold = place_in(box, d->control, PMU_FIELD_THRESHOLD);
	d->states = place_in(box, d->control, PMU_FIELD_STATES);
	d->levels = place_in(box, d->control, PMU_FIELD_PRIVILEGE_LEVELS);
	d->privileged = place_in(box, d->control, PMU_FIELD_PRIVILEGED_MONITOR);
	d->sets = place_in(box, d->control, PMU_FIELD_INSTRUCTION_SETS);
	d->interrupt = place_in(box, d->control, PMU_FIELD_OVERFLOW_ENABLE);
	sets = pmu_field_by_role(&box->registers[d->control], PMU_FIELD_INSTRUCTION_SETS, 0);
	d->sets_right = sets ? sets->enabled : 0;
	d->status = pmu_overflow_bit(box, &box->registers[pmu->status], false, i);
	return d->event.mask && d->levels.mask && d->status ? 0 : PMU_E_UNSUPPORTED;
}

static int describe(struct pmon_ia64 *pmu)
{
	const struct pmu_box *box = pmu->box;
	int error = find_role(box, PMU_ROLE_GLOBAL_STATUS, 0, &pmu->status);

	if (error || box->counter_count > COUNTERS)
		return PMU_E_UNSUPPORTED;
	pmu->counter_count = box->counter_count;
	pmu->limit = 1ull << box->counter_width;
	pmu->freeze = pmu_field_bits(&box->registers[pmu->status], PMU_FIELD_FREEZE, 0);
	for (unsigned i = 0; i < pmu->counter_count && !error; i++)
		error = describe_counter(pmu, i);
	pmon_ia64_describe_matching(&pmu->matching, box);
	pmon_ia64_describe_captures(&pmu->captures, box);
	pmu->vector = pmon_ia64_place(box, PMU_FIELD_VECTOR, 0);
	pmu->vector_mask = pmon_ia64_place(box, PMU_FIELD_VECTOR_MASK, 0);
	for (size_t r = 0; r < box->register_count; r++) {
		pmu->regs[r] = box->registers[r].reset;
		pmu->stored[r] = stored_bits(&box->registers[r]);
	}
	return error;
}

static uint64_t sum(const struct pmon_ia64 *pmu, const struct counter *c)
{
	const uint64_t *totals = pmu->source.totals[c->bank];
	uint64_t all = 0;

	if (c->own)
		return *c->own;
	for (unsigned i = 0; i < c->cell_count; i++)
		all += totals[c->cells[i]];
	return all;
}

/* Value of a counter now. */
static uint64_t current(const struct pmon_ia64 *pmu, const struct counter *c)
{
	return c->on && !c->threshold ? c->value + sum(pmu, c) - c->start : c->value;
}

static const struct pmu_event *selected(const struct pmon_ia64 *pmu, unsigned i)
{
	uint64_t code = pmon_ia64_get(pmu, &pmu->descs[i].event);

	for (size_t e = 0; e < pmu->box->event_count; e++)
		if (pmu->box->events[e].code == code)
			return &pmu->box->events[e];
	return NULL;
}

/* Of events that share a code: the one that has the unit mask. */
static bool has_umask(const struct pmu_event *event, unsigned umask)
{
	for (size_t u = 0; u < event->umask_count; u++)
		if (!((umask ^ event->umasks[u].value) & event->umasks[u].care))
			return !event->umasks[u].absent;
	return !event->umask_count;
}

static const struct pmu_event *event_of(const struct pmon_ia64 *pmu, unsigned i, unsigned umask)
{
	const struct pmu_event *event = selected(pmu, i);
	const struct pmu_event *end = pmu->box->events + pmu->box->event_count;
	uint16_t code = event ? event->code : 0;

	for (; event && event < end; event++)
		if (event->code == code && has_umask(event, umask))
			return event->signal && event->counters >> i & 1 ? event : NULL;
	return NULL;
}

/* Whether the event's rows take a signal with these qualifiers. */
static bool takes(const struct pmu_event *event, unsigned umask, uint32_t qualifiers)
{
	bool any = !event->rows;

	for (size_t r = 0; r < event->row_count; r++) {
		const struct pmu_row *row = &event->rows[r];
		bool holds = !row->qualifiers || qualifiers & row->qualifiers;

		if ((umask & row->care) != row->value)
			continue;
		if (row->kind == ROW_ALL && !holds)
			return false;
		any |= row->kind == ROW_ANY && holds;
	}
	return any;
}

static bool has_attribute(const struct pmu_event *event, const char *word)
{
	for (const char *const *a = event->attributes; a && *a; a++)
		if (strcmp(*a, word) == 0)
			return true;
	return false;
}

/* Events of a set count only while the bank's lead counts one of the same. */
static bool led(const struct pmon_ia64 *pmu, const struct pmu_event *event, unsigned i)
{
	for (size_t b = 0; b < pmu->box->bank_count; b++) {
		const struct pmu_bank *bank = &pmu->box->banks[b];
		const struct pmu_event *lead;

		if (!event->set_group[0] || strcmp(bank->group, event->set_group) != 0 ||
		    !(bank->counters >> i & 1))
			continue;
		lead = event_of(pmu, bank->lead,
				(unsigned)pmon_ia64_get(pmu, &pmu->descs[bank->lead].umask));
		return lead && strcmp(lead->set_group, event->set_group) == 0 &&
		       lead->set == event->set;
	}
	return true;
}

static bool enabled(const struct pmon_ia64 *pmu, const struct counter_desc *d)
{
	bool privileged = pmon_ia64_get(pmu, &d->privileged);

	return !(pmu->regs[pmu->status] & pmu->freeze) &&
	       pmon_ia64_get(pmu, &d->levels) >> LEVEL & 1 &&
	       (!d->sets.mask || pmon_ia64_get(pmu, &d->sets) == d->sets_right) &&
	       (privileged ? pmu->system : pmu->user);
}

static uint8_t bank_of(const struct pmu_event *event)
{
	return has_attribute(event, "DAR")   ? SIGNAL_BY_DATA
	       : has_attribute(event, "OPC") ? SIGNAL_BY_MARK
	       : has_attribute(event, "IAR") ? SIGNAL_BY_ADDRESS
					     : SIGNAL_ALL;
}

/* What the PMU itself counts. */
static const uint64_t *own_total(const struct pmon_ia64 *pmu, unsigned signal)
{
	return signal == SIGNAL_CAPTURE_FETCH	    ? &pmu->own[OWN_FETCH]
	       : signal == SIGNAL_CAPTURE_DATA	    ? &pmu->own[OWN_DATA]
	       : signal == SIGNAL_CAPTURE_BRANCH    ? &pmu->own[OWN_BRANCH]
	       : signal == SIGNAL_CORE_INTERRUPTION ? &pmu->own[OWN_INTERRUPTION]
						    : NULL;
}

#define STATES(signal, i, s, e)                                                                    \
	{                                                                                          \
		SIGNAL_##signal, i, s, e, QUALIFIER_##signal##_M                                   \
	}

/* Signals that tell the state of a line, and how. */
static const struct {
	uint16_t signal;
	uint32_t i, s, e, m;
} with_states[] = {
    STATES(L3_READ, QUALIFIER_L3_READ_I, QUALIFIER_L3_READ_S, QUALIFIER_L3_READ_E),
    STATES(L3_WRITE, QUALIFIER_L3_WRITE_I, QUALIFIER_L3_WRITE_S, QUALIFIER_L3_WRITE_E),
    STATES(L3_INSERT, QUALIFIER_L3_INSERT_I, QUALIFIER_L3_INSERT_S, QUALIFIER_L3_INSERT_E),
    STATES(L3_REPLACED, 0, 0, 0),
};

/* Whether the states that the control chooses have the cell. */
static bool state_passes(const struct signal_cell *cell, uint64_t chosen)
{
	for (size_t n = 0; n < sizeof(with_states) / sizeof(with_states[0]); n++)
		if (with_states[n].signal == cell->signal)
			return cell->qualifiers & ((chosen & 1 ? with_states[n].i : 0) |
						   (chosen & 2 ? with_states[n].s : 0) |
						   (chosen & 4 ? with_states[n].e : 0) |
						   (chosen & 8 ? with_states[n].m : 0));
	return true;
}

/* Whether it adds up what only instructions with marks make. */
static bool needs_marks(const struct pmon_ia64 *pmu, const struct counter *c)
{
	for (unsigned i = 0; i < c->cell_count; i++) {
		const struct signal_cell *cell = &pmu->source.cells[c->cells[i]];

		if (cell->signal == SIGNAL_PIPE_MARKED ||
		    (cell->signal == SIGNAL_CORE_CYCLES &&
		     cell->qualifiers & QUALIFIER_CORE_CYCLES_MARKED))
			return true;
	}
	return false;
}

/* Sets up what a counter adds up. Its value is that of now. */
static void configure_counter(struct pmon_ia64 *pmu, unsigned i)
{
	const struct counter_desc *d = &pmu->descs[i];
	struct counter *c = &pmu->counters[i];
	unsigned umask = (unsigned)pmon_ia64_get(pmu, &d->umask);
	const struct pmu_event *event = event_of(pmu, i, umask);

	c->on = false;
	c->cell_count = 0;
	c->own = NULL;
	if (!event || !enabled(pmu, d) || !led(pmu, event, i))
		return;
	for (size_t n = 0; n < pmu->source.count; n++) {
		if (pmu->source.cells[n].signal == event->signal &&
		    takes(event, umask, pmu->source.cells[n].qualifiers) &&
		    state_passes(&pmu->source.cells[n], pmon_ia64_get(pmu, &d->states))) {
			assert(c->cell_count < CELLS);
			c->cells[c->cell_count++] = (uint16_t)n;
		}
	}
	c->own = own_total(pmu, event->signal);
	c->on = c->own || c->cell_count;
	/* Cycles are qualified by what their unit mask selects, and not all of them. */
	c->bank =
	    pmu->constrained && event->signal != SIGNAL_CORE_CYCLES ? bank_of(event) : SIGNAL_ALL;
	c->threshold = (uint8_t)pmon_ia64_get(pmu, &d->threshold);
	c->start = c->last = sum(pmu, c);
	pmu->wants.marks |= c->bank != SIGNAL_ALL || needs_marks(pmu, c);
	pmu->wants.cycles |= c->on && c->threshold;
}

/* An event can grow by so many in a cycle, at the very most: a group and the register stack's. */
#define MOST_A_CYCLE 1024u

static void schedule(struct pmon_ia64 *pmu, uint64_t now)
{
	uint64_t room = UINT64_MAX;

	for (unsigned i = 0; i < pmu->counter_count; i++) {
		const struct counter *c = &pmu->counters[i];
		uint64_t left = pmu->limit - current(pmu, c);

		if (c->on && left < room)
			room = left;
	}
	pmu->wants.deadline = room == UINT64_MAX ? UINT64_MAX : now + room / MOST_A_CYCLE;
}

/* Keeps what was counted, and counts on from there by what the registers say. */
static void configure(struct pmon_ia64 *pmu, uint64_t now)
{
	pmu->constrained = pmon_ia64_constrained(pmu);
	for (unsigned i = 0; i < pmu->counter_count; i++)
		pmu->counters[i].value = current(pmu, &pmu->counters[i]);
	pmu->wants.marks = pmu->wants.cycles = false;
	for (unsigned i = 0; i < pmu->counter_count; i++)
		configure_counter(pmu, i);
	pmon_ia64_configure_captures(pmu);
	pmon_ia64_configure_ip(pmu, now);
	pmu->wants.marks |=
	    pmu->constrained && (pmu->wants.misses || pmu->wants.fetches || pmu->wants.branches);
	schedule(pmu, now);
}

/* A carry out of the top bit. */
static void overflow(struct pmon_ia64 *pmu, unsigned i)
{
	const struct counter_desc *d = &pmu->descs[i];

	pmu->regs[pmu->status] |= d->status;
	if (pmon_ia64_get(pmu, &d->interrupt)) {
		pmu->regs[pmu->status] |= pmu->freeze;
		pmu->interrupts++;
	}
}

void pmon_ia64_deadline(struct pmon_ia64 *pmu, uint64_t now)
{
	bool over = false;

	for (unsigned i = 0; i < pmu->counter_count; i++) {
		struct counter *c = &pmu->counters[i];
		uint64_t value = current(pmu, c);

		if (!c->on || value < pmu->limit)
			continue;
		over = true;
		c->value = value & (pmu->limit - 1);
		c->start = sum(pmu, c);
		overflow(pmu, i);
	}
	if (over)
		configure(pmu, now);
	else
		schedule(pmu, now);
}

void pmon_ia64_cycles(struct pmon_ia64 *pmu, uint64_t count)
{
	for (unsigned i = 0; i < pmu->counter_count; i++) {
		struct counter *c = &pmu->counters[i];
		uint64_t now;

		if (!c->on || !c->threshold)
			continue;
		now = sum(pmu, c);
		if ((now - c->last) / count > c->threshold)
			c->value += count;
		c->last = now;
	}
}

void pmon_ia64_interruption(struct pmon_ia64 *pmu, unsigned vector)
{
	uint64_t differs = pmon_ia64_get(pmu, &pmu->vector) ^ vector >> 4;

	if (!(differs & ~pmon_ia64_get(pmu, &pmu->vector_mask)))
		pmu->own[OWN_INTERRUPTION]++;
}

static int find(const struct pmon_ia64 *pmu, unsigned space, uint32_t number, uint16_t *reg)
{
	for (size_t r = 0; r < pmu->box->register_count; r++) {
		const struct pmu_register *candidate = &pmu->box->registers[r];

		if (candidate->space == space && candidate->offset == number) {
			*reg = (uint16_t)r;
			return 0;
		}
	}
	return PMU_E_UNKNOWN;
}

static int counter_of(const struct pmon_ia64 *pmu, uint16_t reg)
{
	for (unsigned i = 0; i < pmu->counter_count; i++)
		if (pmu->descs[i].data == reg)
			return (int)i;
	return -1;
}

/* Above the count a counter reads as its top bit. */
static uint64_t counter_read(const struct pmon_ia64 *pmu, uint64_t value)
{
	value &= pmu->limit - 1;
	return value & pmu->limit >> 1 ? value | ~(pmu->limit - 1) : value;
}

int pmon_ia64_read(struct pmon_ia64 *pmu, unsigned space, uint32_t number, uint64_t *value)
{
	uint16_t reg;
	int error = find(pmu, space, number, &reg);
	int counter;

	if (error)
		return error;
	counter = counter_of(pmu, reg);
	*value =
	    counter < 0 ? pmu->regs[reg] : counter_read(pmu, current(pmu, &pmu->counters[counter]));
	return 0;
}

int pmon_ia64_write(struct pmon_ia64 *pmu, unsigned space, uint32_t number, uint64_t value,
		    uint64_t now)
{
	uint16_t reg;
	int error = find(pmu, space, number, &reg);
	int counter;

	if (error)
		return error;
	counter = counter_of(pmu, reg);
	if (counter >= 0) {
		struct counter *c = &pmu->counters[counter];

		c->value = value & (pmu->limit - 1);
		c->start = sum(pmu, c);
		schedule(pmu, now);
		return 0;
	}
	pmu->regs[reg] = (pmu->regs[reg] & ~pmu->stored[reg]) | (value & pmu->stored[reg]);
	configure(pmu, now);
	return 0;
}

void pmon_ia64_monitors(struct pmon_ia64 *pmu, bool user, bool system, uint64_t now)
{
	pmu->user = user;
	pmu->system = system;
	configure(pmu, now);
}

const struct pmon_ia64_wants *pmon_ia64_wants(const struct pmon_ia64 *pmu)
{
	return &pmu->wants;
}

bool pmon_ia64_interrupted(const struct pmon_ia64 *pmu)
{
	return pmu->interrupts != pmu->taken && !pmu->captures.ips.on;
}

void pmon_ia64_take_interrupt(struct pmon_ia64 *pmu)
{
	pmu->taken = pmu->interrupts;
}

bool pmon_ia64_frozen(const struct pmon_ia64 *pmu)
{
	return pmu->regs[pmu->status] & pmu->freeze;
}

uint64_t pmon_ia64_interrupts(const struct pmon_ia64 *pmu)
{
	return pmu->interrupts;
}

size_t pmon_ia64_size(const struct pmu_box *box)
{
	return sizeof(struct pmon_ia64) + 2 * box->register_count * sizeof(uint64_t);
}

int pmon_ia64_init(void *memory, struct pmu_ctx *ctx, const struct pmu_box *box,
		   const struct pmon_ia64_source *source)
{
	struct pmon_ia64 *pmu = memory;
	int error;

	pmu->box = box;
	pmu->source = *source;
	pmu->regs = (uint64_t *)(pmu + 1);
	pmu->stored = pmu->regs + box->register_count;
	error = describe(pmu);
	if (error)
		return error_set(ctx, error, "the emulated PMU does not fit box %s", box->name);
	configure(pmu, 0);
	return 0;
}
