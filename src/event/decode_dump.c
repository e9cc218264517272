/*
 * What a counter counts, by all registers that say so: its control, fields of other registers that
 * select the event or its unit mask, and filters. The inverse of pmu_event_encode().
 */
#include <string.h>

#include "base/error.h"
#include "catalog/find.h"
#include "event/filter.h"
#include "event/settings.h"
#include "event/umask.h"
#include "pmulab/event.h"

/* The registers of one box instance, and which counter is asked for. */
struct dump {
	const struct pmu_box *box;
	unsigned instance, counter;
	const struct pmu_register_value *values;
	size_t count;
};

/* An event, and one of its unit masks where fields of other registers select that. */
struct candidate {
	const struct pmu_event *event;
	const struct pmu_umask *row;	    /* NULL: the control says it, or there is none */
	const struct pmu_register *missing; /* says more, and is not in the dump; NULL: none */
	unsigned bits;			    /* of other registers that speak for it */
	unsigned set;			    /* of those that the user would have set otherwise */
	bool excluded;			    /* other registers speak against it */
};

/*
 * The value of a register; what is said later holds. Instances may share registers, but those of
 * each core are its own, although all are at the same addresses.
 */
static bool find_value(const struct dump *dump, const struct pmu_register *reg, uint64_t *value)
{
	uint32_t address = pmu_register_address(dump->box, reg, dump->instance);

	for (size_t i = dump->count; i-- > 0;) {
		const struct pmu_register_value *given = &dump->values[i];

		if (given->box != dump->box || given->reg->space != reg->space ||
		    (dump->box->scope == PMU_SCOPE_CORE && given->instance != dump->instance) ||
		    pmu_register_address(given->box, given->reg, given->instance) != address)
			continue;
		*value = given->value;
		return true;
	}
	return false;
}

static uint64_t bits_at(uint64_t value, unsigned hi, unsigned lo)
{
	return (value & pmu_mask(hi, lo)) >> lo;
}

/* Whether the user may set these bits for the event, whatever it asks for by itself. */
static bool is_open(const struct dump *dump, const struct pmu_event *event,
		    const struct pmu_fixed_field *fixed)
{
	for (size_t i = 0; i < dump->box->modifier_count; i++) {
		const struct pmu_modifier *modifier = &dump->box->modifiers[i];

		if (modifier->reg && filter_in(event->filters, modifier) &&
		    modifier->reg + (modifier->copied ? event_copy(event, dump->counter) : 0) ==
			fixed->reg &&
		    modifier->hi >= fixed->lo && modifier->lo <= fixed->hi)
			return true;
	}
	return false;
}

/* Holds the fields that a candidate asks for against the dump. */
static void weigh(const struct dump *dump, struct candidate *candidate,
		  const struct pmu_fixed_field *fixed_fields, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct pmu_fixed_field *fixed = &fixed_fields[i];
		uint64_t value;

		if (fixed->copy != PMU_COPY_ALL &&
		    fixed->copy != event_copy(candidate->event, dump->counter))
			continue;
		if (!find_value(dump, fixed->reg, &value)) {
			if (!candidate->missing)
				candidate->missing = fixed->reg;
		} else if (bits_at(value, fixed->hi, fixed->lo) == fixed->value) {
			candidate->bits += fixed->hi - fixed->lo + 1u;
		} else if (is_open(dump, candidate->event, fixed)) {
			candidate->set += fixed->hi - fixed->lo + 1u;
		} else {
			candidate->excluded = true;
		}
	}
}

/* Unit masks of one value that go with different values of a filter: the filter tells them apart.
 */
static void weigh_given(const struct dump *dump, struct candidate *candidate, uint8_t umask)
{
	const struct pmu_event *event = candidate->event;
	const struct pmu_modifier *filter = NULL;
	unsigned rows = 0;
	uint64_t value;

	for (size_t i = 0; i < event->umask_count; i++) {
		const struct pmu_umask *row = &event->umasks[i];

		rows += row->value == umask;
		for (size_t j = 0; row->value == umask && j < row->implied_count; j++)
			if (row->implied[j].modifier->reg)
				filter = row->implied[j].modifier;
	}
	if (rows > 1 && filter && !find_value(dump, filter->reg, &value))
		candidate->missing = filter->reg;
}

/* Whether @b is to be preferred: it leaves less to the user, more speaks for it, or it is as likely
 * and lacks nothing. */
static bool is_better(const struct candidate *a, const struct candidate *b)
{
	if (b->excluded || !a->event)
		return !b->excluded;
	if (a->set != b->set)
		return b->set < a->set;
	if (a->bits != b->bits)
		return b->bits > a->bits;
	return a->missing && !b->missing;
}

struct choice {
	struct candidate best;
	unsigned possible; /* candidates that nothing speaks against */
};

static void offer(struct choice *choice, const struct candidate *candidate)
{
	choice->possible += !candidate->excluded;
	if (is_better(&choice->best, candidate))
		choice->best = *candidate;
}

static bool selects_by_fixed_fields(const struct pmu_event *event)
{
	for (size_t i = 0; i < event->umask_count; i++)
		if (event->umasks[i].fixed_field_count)
			return true;
	return false;
}

static void offer_event(struct choice *choice, const struct dump *dump,
			const struct pmu_event *event, uint8_t umask)
{
	struct candidate whole = {.event = event};

	weigh(dump, &whole, event->fixed_fields, event->fixed_field_count);
	if (!selects_by_fixed_fields(event)) {
		whole.excluded |= !umask_find(event, &umask);
		weigh_given(dump, &whole, umask);
		offer(choice, &whole);
		return;
	}
	for (size_t i = 0; i < event->umask_count; i++) {
		struct candidate candidate = whole;

		candidate.row = &event->umasks[i];
		weigh(dump, &candidate, candidate.row->fixed_fields,
		      candidate.row->fixed_field_count);
		offer(choice, &candidate);
	}
}

/* What the counter's control says, where the box has such controls. */
struct control {
	bool known;
	uint64_t value, code;
	bool ext;
	uint8_t umask;
};

static struct control read_control(const struct dump *dump)
{
	const struct pmu_register *reg =
	    pmu_box_register(dump->box, PMU_ROLE_COUNTER_CTL, dump->counter);
	const struct pmu_selector *selector = &dump->box->selector;
	struct control control = {0};

	if (!reg || !selector->ev_sel || !find_value(dump, reg, &control.value))
		return control;
	control.known = true;
	control.code = pmu_field_value(selector->ev_sel, control.value);
	if (selector->ev_sel_ext)
		control.ext = pmu_field_value(selector->ev_sel_ext, control.value);
	if (selector->umask)
		control.umask = (uint8_t)pmu_field_value(selector->umask, control.value);
	if (selector->occ_sel)
		control.umask |= (uint8_t)(pmu_field_value(selector->occ_sel, control.value) << 6);
	return control;
}

/* The instance that the control is for, where several share it and bits in it say which. */
static unsigned instance_of(const struct dump *dump, const struct control *control)
{
	const struct pmu_box *box = dump->box;
	const struct pmu_register *reg = pmu_box_register(box, PMU_ROLE_COUNTER_CTL, dump->counter);
	uint32_t bits = 0;

	for (size_t i = 0; i < box->instance_count; i++)
		bits |= box->instances[i].control;
	for (unsigned i = 0; bits && i < box->instance_count; i++)
		if (pmu_register_address(box, reg, i) ==
			pmu_register_address(box, reg, dump->instance) &&
		    (control->value & bits) == box->instances[i].control)
			return i;
	return dump->instance;
}

/* The next event that the counter may count by its control; any, where it has none. */
static const struct pmu_event *next_event(const struct dump *dump, const struct control *control,
					  const struct pmu_event *event)
{
	const struct pmu_box *box = dump->box;

	if (box->selector.ev_sel)
		return find_coded_event(box, event, dump->counter, control->code, control->ext);
	event = event ? event + 1 : box->events;
	return event < box->events + box->event_count ? event : NULL;
}

/* Settings */

static bool is_needed(const struct pmu_selection *selection, const struct pmu_modifier *modifier,
		      const struct pmu_umask *const *rows, size_t count)
{
	if (modifier->set)
		return filter_in(selection->event->filters, modifier);
	for (size_t i = 0; i < count; i++)
		if (filter_in(rows[i]->filters, modifier))
			return true;
	return false;
}

/* Whether the counter looks at a filter of another register, and what stands there. */
static bool reads_filter(const struct dump *dump, const struct pmu_event *event,
			 const struct pmu_modifier *modifier, uint64_t control, uint64_t *value)
{
	const struct pmu_modifier *enable = modifier->enable_bit;
	uint64_t word;

	if (!find_value(dump,
			modifier->reg + (modifier->copied ? event_copy(event, dump->counter) : 0),
			&word))
		return false;
	*value = bits_at(word, modifier->hi, modifier->lo);
	return !enable || bits_at(control, enable->hi, enable->lo);
}

/* What a selection's writes leave in a register; filters that nobody writes let all pass. */
static uint64_t value_left(const struct pmu_write *writes, int count,
			   const struct pmu_register *reg)
{
	while (count-- > 0)
		if (writes[count].reg == reg)
			return writes[count].value;
	return reg->role == PMU_ROLE_FILTER ? reg->ones : reg->reset | reg->ones;
}

/* Whether these bits of a register are in the dump as a selection's writes leave them. */
static bool is_left(const struct dump *dump, const struct pmu_write *writes, int count,
		    const struct pmu_fixed_field *bits)
{
	uint64_t value;

	return !find_value(dump, bits->reg, &value) ||
	       bits_at(value ^ value_left(writes, count, bits->reg), bits->hi, bits->lo) == 0;
}

/* Whether the writes of @less leave all that a modifier sets as it is in the dump. */
static bool is_implied(const struct dump *dump, const struct pmu_selection *less,
		       const struct pmu_modifier *modifier)
{
	const unsigned copy = event_copy(less->event, dump->counter);
	const uint32_t counters = less->event->counters;
	const unsigned counter =
	    counters >> dump->counter & 1 ? dump->counter : (unsigned)__builtin_ctz(counters);
	struct pmu_write writes[PMU_EVENT_WRITES];
	int count = pmu_event_encode(NULL, less, dump->instance, counter, writes);
	struct pmu_fixed_field own = {.reg = modifier->reg + (modifier->copied ? copy : 0),
				      .hi = modifier->hi,
				      .lo = modifier->lo};

	if (count < 0 || !is_left(dump, writes, count, &own))
		return false;
	for (size_t i = 0; i < modifier->fixed_field_count; i++) {
		const struct pmu_fixed_field *fixed = &modifier->fixed_fields[i];

		if ((fixed->copy == PMU_COPY_ALL || fixed->copy == copy) &&
		    !is_left(dump, writes, count, fixed))
			return false;
	}
	return true;
}

static void add_setting(struct pmu_selection *selection, const struct pmu_modifier *modifier,
			uint64_t value)
{
	if (selection->setting_count < PMU_EVENT_SETTINGS)
		selection->settings[selection->setting_count++] =
		    (struct pmu_setting){.modifier = modifier, .value = value};
}

/* What is set in the control and in the filters, in the catalog's order. */
static void add_settings(const struct dump *dump, const struct control *control,
			 struct pmu_selection *selection)
{
	const struct pmu_umask *rows[UMASK_ROWS];
	size_t count = selection->event->umask_count ? umask_rows(selection, rows) : 0;

	for (size_t i = 0; i < dump->box->modifier_count; i++) {
		const struct pmu_modifier *modifier = &dump->box->modifiers[i];
		const struct pmu_modifier *filter = modifier->enables;
		uint64_t value;

		if (modifier->filter && !filter_is_used(selection->event, rows, count, modifier))
			continue;
		if (modifier->reg) {
			if (reads_filter(dump, selection->event, modifier, control->value,
					 &value) &&
			    (is_needed(selection, modifier, rows, count) ||
			     !is_implied(dump, selection, modifier)))
				add_setting(selection, modifier, value);
			continue;
		}
		value = bits_at(control->value, modifier->hi, modifier->lo);
		if (control->known && value != modifier->enabled &&
		    !(filter &&
		      reads_filter(dump, selection->event, filter, control->value, &value)))
			add_setting(selection, modifier, value);
	}
}

/* Leaves out a setting that the event, its unit mask or another setting makes by itself. */
static bool drop_one(const struct dump *dump, struct pmu_selection *selection)
{
	const struct pmu_umask *rows[UMASK_ROWS];
	size_t count = selection->event->umask_count ? umask_rows(selection, rows) : 0;

	for (size_t i = selection->setting_count; i-- > 0;) {
		const struct pmu_modifier *modifier = selection->settings[i].modifier;
		struct pmu_selection less = *selection;
		uint64_t given;

		if (!modifier->reg || is_needed(selection, modifier, rows, count) ||
		    umask_gives(rows, count, modifier, &given))
			continue;
		memmove(&less.settings[i], &less.settings[i + 1],
			(less.setting_count - i - 1u) * sizeof(less.settings[0]));
		less.settings[--less.setting_count] = (struct pmu_setting){0};
		if (!is_implied(dump, &less, modifier))
			continue;
		*selection = less;
		return true;
	}
	return false;
}

/* Choosing */

static int refuse(struct pmu_ctx *ctx, const struct dump *dump, const struct control *control,
		  const struct choice *choice)
{
	const struct pmu_selector *selector = &dump->box->selector;

	if (choice->best.missing)
		return error_set(ctx, PMU_E_UNKNOWN,
				 "the event of %s counter %u depends on %s, which is not given",
				 dump->box->name, dump->counter, choice->best.missing->name);
	if (!selector->ev_sel)
		return error_set(ctx, PMU_E_UNKNOWN, "no event of %s is selected for counter %u",
				 dump->box->name, dump->counter);
	return error_set(ctx, PMU_E_UNKNOWN,
			 "%s has no event of code 0x%02llx%s and unit mask 0x%02x", dump->box->name,
			 (unsigned long long)control->code,
			 control->ext ? " with the extended select bit" : "", control->umask);
}

/* Whether a register that is not in the dump may say that it is another event or unit mask. */
static bool is_open_question(const struct choice *choice)
{
	const struct candidate *best = &choice->best;

	return best->missing &&
	       (choice->possible > 1 || best->row || !best->event->fixed_field_count);
}

int pmu_event_decode_dump(struct pmu_ctx *ctx, const struct pmu_box *box, unsigned instance,
			  unsigned counter, const struct pmu_register_value *values, size_t count,
			  struct pmu_selection *selection)
{
	struct dump dump = {box, instance, counter, values, count};
	const struct control control = read_control(&dump);
	struct choice choice = {0};

	if (box->selector.ev_sel && !control.known)
		return error_set(ctx, PMU_E_UNKNOWN, "the control of counter %u of %s is not given",
				 counter, box->name);
	if (control.known)
		dump.instance = instance_of(&dump, &control);
	for (const struct pmu_event *event = NULL; (event = next_event(&dump, &control, event));)
		offer_event(&choice, &dump, event, control.umask);
	if (!choice.best.event || is_open_question(&choice))
		return refuse(ctx, &dump, &control, &choice);
	*selection = (struct pmu_selection){
	    .pmu = pmu_find_pmu(box->pmu),
	    .box = box,
	    .event = choice.best.event,
	    .umask = choice.best.row ? choice.best.row->value : control.umask,
	};
	if (!choice.best.row)
		umask_find(selection->event, &selection->umask);
	add_settings(&dump, &control, selection);
	while (drop_one(&dump, selection))
		;
	return 0;
}

int pmu_event_decode(struct pmu_ctx *ctx, const struct pmu_box *box, uint64_t control,
		     struct pmu_selection *selection)
{
	const struct pmu_register *reg = pmu_box_register(box, PMU_ROLE_COUNTER_CTL, 0);
	const struct pmu_register_value value = {.box = box, .reg = reg, .value = control};

	if (!box->selector.ev_sel)
		return error_set(ctx, PMU_E_UNKNOWN, "%s has no counter controls", box->name);
	return pmu_event_decode_dump(ctx, box, 0, 0, &value, 1, selection);
}
