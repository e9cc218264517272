/* Whether an emulated machine can produce what is selected: a count of 0 would say that it can. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "catalog/binding.h"
#include "catalog/description.h"
#include "catalog/select.h"
#include "event/settings.h"
#include "event/umask.h"

#define CORES_MAX 64 /* of the machines that there may be */

struct possible {
	const struct pmu_selection *selection;
	const struct pmu_machine *machine; /* NULL: any */
	const struct signal_desc *signal;
	char *why;
	size_t size;
};

__attribute__((format(printf, 2, 3))) static bool refuse(const struct possible *possible,
							 const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(possible->why, possible->size, format, arguments);
	va_end(arguments);
	return false;
}

static bool is_alone(const struct possible *possible)
{
	return possible->machine && possible->machine->sockets == 1;
}

static bool has_uarch(const struct possible *possible)
{
	const struct pmu_machine *machine = possible->machine;

	return !machine || (machine->uarch && strcmp(machine->uarch, "none"));
}

static bool has_tlbs(const struct possible *possible)
{
	return !possible->machine ||
	       (has_uarch(possible) && !strcmp(possible->machine->translation, "tlb"));
}

static bool has_large_pages(const struct possible *possible)
{
	return !possible->machine ||
	       (has_tlbs(possible) && strcmp(possible->machine->large_pages, "none"));
}

/* Qualifiers that the machine emits. */
static uint32_t qualifiers_of(const struct possible *possible)
{
	uint32_t all = (uint32_t)((1ull << possible->signal->qualifier_count) - 1);

	return all & ~possible->signal->never &
	       ~(is_alone(possible) ? possible->signal->several_sockets : 0) &
	       ~(has_tlbs(possible) ? 0 : possible->signal->tlbs) &
	       ~(has_large_pages(possible) ? 0 : possible->signal->large_pages);
}

static uint32_t below(unsigned count)
{
	return count < 32 ? (1u << count) - 1 : UINT32_MAX;
}

/* The values of an attribute that signals of the machine have, bit n for value n. */
static uint32_t values_of(const struct possible *possible, unsigned attribute)
{
	const struct pmu_machine *machine = possible->machine;

	switch ((enum binding_attribute)attribute) {
	case ATTRIBUTE_REQUEST:
		return possible->signal->requests;
	case ATTRIBUTE_STATE:
		return possible->signal->states &
		       ~(is_alone(possible) ? possible->signal->several_sockets_states : 0);
	case ATTRIBUTE_MESSAGE:
		return possible->signal->messages;
	case ATTRIBUTE_NODE:
		return machine ? below(machine->sockets) : UINT32_MAX;
	case ATTRIBUTE_RANK:
		return machine ? below(machine->ranks) : UINT32_MAX;
	case ATTRIBUTE_BANK:
		return machine ? below(machine->banks) : UINT32_MAX;
	default:
		return UINT32_MAX;
	}
}

/* Values that a filter field means: as pmon/select.c decodes it. */
static uint32_t meant_by(const struct pmu_encoding *encoding, uint64_t value)
{
	uint32_t values = 0;

	if (!encoding->codes && encoding->set)
		return (uint32_t)value;
	if (!encoding->codes)
		return value < 32 ? 1u << value : 0;
	for (unsigned i = 0; i < encoding->count; i++)
		if (encoding->codes[i] != BINDING_NO_CODE &&
		    (encoding->set ? value >> encoding->codes[i] & 1 : value == encoding->codes[i]))
			values |= 1u << i;
	return values;
}

static bool thread_is_there(const struct possible *possible, const struct pmu_encoding *encoding,
			    uint64_t value)
{
	unsigned cores = possible->machine ? possible->machine->cores : CORES_MAX;

	/* The machine's cores have one thread each. */
	return (encoding->none_care && (value & encoding->none_care) == encoding->none_value) ||
	       (value / encoding->threads < cores && value % encoding->threads == 0);
}

static const char *thing(unsigned attribute)
{
	static const char *const things[] = {
	    [ATTRIBUTE_REQUEST] = "request", [ATTRIBUTE_STATE] = "state",
	    [ATTRIBUTE_NODE] = "node",	     [ATTRIBUTE_THREAD] = "core",
	    [ATTRIBUTE_ADDRESS] = "address", [ATTRIBUTE_RANK] = "rank",
	    [ATTRIBUTE_BANK] = "bank",	     [ATTRIBUTE_UNIT] = "unit",
	    [ATTRIBUTE_MESSAGE] = "message",
	};

	return things[attribute];
}

/* Whether what a filter is set to lets anything pass; one that is not set lets everything. */
static bool filter_passes(const struct possible *possible, const struct pmu_modifier *filter)
{
	const struct pmu_setting *setting = settings_of(possible->selection, filter);
	const struct pmu_encoding *encoding = filter->encoding;
	uint32_t values;

	/* What a mask leaves out of the comparison can be anything. */
	if (!setting || !encoding || encoding->mask || encoding->attribute == ATTRIBUTE_ADDRESS)
		return true;
	if (encoding->attribute == ATTRIBUTE_THREAD)
		return thread_is_there(possible, encoding, setting->value) ||
		       refuse(possible, "%s=0x%" PRIX64 ": the machine has no such core or thread",
			      filter->name, setting->value);
	values = meant_by(encoding, setting->value);
	if (setting->nodes & PMU_NODES_MINE || (setting->nodes && !is_alone(possible)) ||
	    values & values_of(possible, encoding->attribute))
		return true;
	if (setting->nodes)
		return refuse(possible, "%s: the machine has one socket", filter->name);
	return refuse(possible, "%s=0x%" PRIX64 ": the machine produces no such %s", filter->name,
		      setting->value, thing(encoding->attribute));
}

static bool term_holds(const struct possible *possible, const struct pmu_row_term *term)
{
	const struct pmu_setting *setting;
	uint32_t values = term->values;
	uint64_t value;

	if (term->kind == TERM_FIELD)
		return filter_passes(possible, term->modifier);
	if (term->kind == TERM_IS) {
		setting = settings_of(possible->selection, term->modifier);
		value = setting ? setting->value : 0;
		return value == values || refuse(possible,
						 "%s=%" PRIu64 ": the machine produces nothing of "
						 "the kind",
						 term->modifier->name, value);
	}
	if (term->kind == TERM_PATTERN)
		values = 1u << (possible->selection->umask >> term->lo & ((1u << term->bits) - 1));
	return values & values_of(possible, term->attribute) ||
	       refuse(possible, "the machine produces no such %s", thing(term->attribute));
}

/* Why the machine emits none of some qualifiers. */
static const char *why_none(const struct possible *possible, uint32_t qualifiers)
{
	const struct signal_desc *signal = possible->signal;

	if (qualifiers & signal->tlbs && !has_tlbs(possible))
		return "translation takes no time on the machine";
	if (qualifiers & signal->large_pages && !has_large_pages(possible))
		return "the machine has no large pages";
	if (is_alone(possible) && !(qualifiers & signal->never))
		return "the machine has one socket";
	return "the machine produces nothing of the kind";
}

static bool is_emitted(const struct possible *possible, uint32_t qualifiers)
{
	return !qualifiers || qualifiers & qualifiers_of(possible) ||
	       refuse(possible, "%s", why_none(possible, qualifiers));
}

static bool signal_holds(struct possible *possible, unsigned signal, uint32_t qualifiers)
{
	possible->signal = &signal_table[signal];
	if (possible->signal->uarch && !has_uarch(possible))
		return refuse(possible, "the machine describes no out-of-order core");
	return is_emitted(possible, qualifiers);
}

/* Where each unit mask has a signal of its own, one of those named has to be emitted. */
static bool umasks_hold(struct possible *possible)
{
	const struct pmu_umask *rows[UMASK_ROWS];
	const size_t count = umask_rows(possible->selection, rows);
	struct threshold_count cycles;

	if (umask_cycles(possible->selection, &cycles))
		return cycles.signal == SIGNAL_NONE ||
		       signal_holds(possible, cycles.signal, cycles.qualifiers);
	for (size_t i = 0; i < count; i++)
		if (signal_holds(possible, rows[i]->signal, rows[i]->qualifiers))
			return true;
	return !count;
}

static bool row_holds(const struct possible *possible, const struct pmu_row *row)
{
	if (!is_emitted(possible, row->qualifiers))
		return false;
	for (unsigned i = 0; i < row->term_count; i++)
		if (!term_holds(possible, &row->terms[i]))
			return false;
	return true;
}

/* One alternative that is in force has to hold, and all that narrows. */
static bool rows_hold(const struct possible *possible)
{
	const struct pmu_event *event = possible->selection->event;
	bool any = false, alternatives = false;

	for (size_t i = 0; i < event->row_count; i++) {
		const struct pmu_row *row = &event->rows[i];
		bool holds;

		if ((possible->selection->umask & row->care) != row->value)
			continue;
		holds = row_holds(possible, row);
		if (row->kind == ROW_ALL && !holds)
			return false;
		alternatives |= row->kind == ROW_ANY;
		any |= row->kind == ROW_ANY && holds;
	}
	return any || !alternatives;
}

/* A filter that a bit of the control switches on narrows whatever the event. */
static bool switches_pass(const struct possible *possible)
{
	const struct pmu_selection *selection = possible->selection;

	for (size_t i = 0; i < selection->setting_count; i++) {
		const struct pmu_modifier *modifier = selection->settings[i].modifier;

		if (modifier->enable_bit && !filter_passes(possible, modifier))
			return false;
	}
	return true;
}

/* Of what each row of a filter's bits lets pass, the machine has to emit something. */
static bool selects_hold(const struct possible *possible)
{
	const struct pmu_selection *selection = possible->selection;

	for (size_t i = 0; i < selection->setting_count; i++) {
		const struct pmu_setting *setting = &selection->settings[i];
		const struct pmu_field *field = select_field(setting->modifier);

		for (size_t s = 0; field && s < field->select_count; s++)
			if (!(setting->value & field->any) &&
			    !(select_qualifiers(&field->selects[s], setting->value) &
			      qualifiers_of(possible)))
				return refuse(possible,
					      "%s=0x%" PRIX64
					      ": the machine produces nothing of the kind",
					      setting->modifier->name, setting->value);
	}
	return true;
}

static bool is_produced(struct possible *possible)
{
	const struct pmu_event *event = possible->selection->event;

	if (event->by_umask)
		return umasks_hold(possible);
	possible->signal = &signal_table[event->signal];
	if (!event->row_count)
		return selects_hold(possible) &&
		       (!possible->signal->qualifier_count || qualifiers_of(possible) ||
			refuse(possible, "the machine has one socket"));
	return rows_hold(possible) && switches_pass(possible);
}

/* Why it is absent. */
static const char *note_of(const struct pmu_selection *selection)
{
	struct threshold_count cycles;

	if (!selection->event)
		return "";
	if (selection->event->model != PMU_MODEL_ABSENT &&
	    threshold_asks(umask_threshold(selection)) && !umask_cycles(selection, &cycles))
		return "the machine has no count of it for each cycle";
	return selection->event->model_note;
}

enum pmu_model pmu_selection_model_on(const struct pmu_selection *selection,
				      const struct pmu_machine *machine, char *why, size_t size)
{
	const struct pmu_event *event = selection->event;
	char unread[1];
	struct possible possible = {selection, machine, NULL, why ? why : unread, why ? size : 1};
	enum pmu_model model = umask_model(selection);

	if (possible.size)
		*possible.why = '\0';
	if (model == PMU_MODEL_ABSENT) {
		refuse(&possible, "%s", note_of(selection));
		return model;
	}
	if (!event || event->measure == PMU_MEASURE_CLOCK ||
	    event->measure == PMU_MEASURE_COUNTER0 ||
	    (event->signal == SIGNAL_NONE && !event->by_umask) || umask_never_happens(selection))
		return model;
	if (is_produced(&possible)) {
		if (possible.size)
			*possible.why = '\0';
		return model;
	}
	return PMU_MODEL_ABSENT;
}

enum pmu_model pmu_selection_model(const struct pmu_selection *selection)
{
	return pmu_selection_model_on(selection, NULL, NULL, 0);
}
