#include "pmon/ia64/pmu.h"
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

/* Whether the counter looks at the field that takes both threads' events. */
static bool takes_both(const struct pmu_box *box, unsigned counter)
{
	for (size_t i = 0; i < box->modifier_count; i++)
		if (box->modifiers[i].role == PMU_FIELD_ANY_THREAD)
			return !box->modifiers[i].counters ||
			       box->modifiers[i].counters >> counter & 1;
	return false;
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
	if (takes_both(box, i))
		d->both = place_in(box, d->control, PMU_FIELD_ANY_THREAD);
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

/* Value of a counter now. */
static uint64_t current(const struct pmon_ia64 *pmu, const struct counter *c)
{
	return c->on && !c->threshold ? c->value + pmon_ia64_sum(pmu, c) - c->start : c->value;
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
	pmu->wants.marks = pmu->wants.matches = pmu->wants.cycles = false;
	for (unsigned i = 0; i < pmu->counter_count; i++)
		pmon_ia64_select(pmu, i);
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
		c->start = pmon_ia64_sum(pmu, c);
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
		now = pmon_ia64_sum(pmu, c);
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

void pmon_ia64_request(struct pmon_ia64 *pmu)
{
	pmu->own[OWN_REQUEST]++;
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

/* The bit that makes the monitor privileged which has the register. */
static const struct place *privileged(const struct pmon_ia64 *pmu, uint16_t reg)
{
	int counter = counter_of(pmu, reg);

	return counter < 0 ? pmon_ia64_capture_privileged(pmu, reg)
			   : &pmu->descs[counter].privileged;
}

uint64_t pmon_ia64_read_by_program(struct pmon_ia64 *pmu, uint32_t number)
{
	uint64_t value = 0;
	uint16_t reg;

	if (find(pmu, PMU_SPACE_PMD, number, &reg) || pmon_ia64_get(pmu, privileged(pmu, reg)))
		return 0;
	pmon_ia64_read(pmu, PMU_SPACE_PMD, number, &value);
	return value;
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
		c->start = pmon_ia64_sum(pmu, c);
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

void pmon_ia64_other_changed(struct pmon_ia64 *pmu, uint64_t now)
{
	if (pmon_ia64_counts_other(pmu))
		configure(pmu, now);
}

bool pmon_ia64_counts_other(const struct pmon_ia64 *pmu)
{
	for (unsigned i = 0; i < pmu->counter_count; i++)
		if (pmu->counters[i].on && pmu->counters[i].both)
			return true;
	return false;
}

void pmon_ia64_copy_levels(struct pmon_ia64 *pmu, const struct pmon_ia64 *from, uint64_t now)
{
	pmon_ia64_monitors(pmu, from->user, from->system, now);
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

uint64_t pmon_ia64_overflowed(const struct pmon_ia64 *pmu)
{
	uint64_t counters = 0;

	for (unsigned i = 0; i < pmu->counter_count; i++)
		if (pmu->regs[pmu->status] & pmu->descs[i].status)
			counters |= UINT64_C(1) << pmu->box->registers[pmu->descs[i].data].offset;
	return counters;
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
