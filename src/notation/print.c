#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/name.h"
#include "event/settings.h"
#include "event/umask.h"
#include "notation/names.h"

#define FIXED_EVENT 0xff /* that the kernel counts on a fixed counter: UNCORE_FIXED_EVENT */

/* What is printed, and where. */
struct printer {
	const struct pmu_selection *selection;
	enum pmu_tool tool;
	const struct pmu_umask *rows[UMASK_ROWS];
	size_t row_count;
	char text[NOTATION_TEXT_MAX];
	size_t used;
};

__attribute__((format(printf, 2, 3))) static void put(struct printer *printer, const char *format,
						      ...)
{
	const size_t room = sizeof(printer->text) - printer->used;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(printer->text + printer->used, room, format, arguments);
	va_end(arguments);
	printer->used += (size_t)length < room ? (size_t)length : room - 1;
}

/* In capitals, and with another character between words. */
static void put_words(struct printer *printer, const char *words, char divider)
{
	for (; *words; words++)
		put(printer, "%c", *words == '.' ? divider : toupper((unsigned char)*words));
}

static const char *fixed_name(const struct pmu_selection *selection)
{
	const struct pmu_register *reg =
	    pmu_box_register(selection->box, PMU_ROLE_FIXED_COUNTER, selection->fixed);

	return *reg->event ? reg->event : "clock";
}

/* The tool's own name of the event and one of its unit masks; "": it has none. */
static void name_of(const struct printer *printer, size_t row, char theirs[NOTATION_TEXT_MAX])
{
	const struct pmu_selection *selection = printer->selection;
	char own[NOTATION_TEXT_MAX];

	if (selection->event)
		notation_own_name(selection->event, printer->row_count ? printer->rows[row] : NULL,
				  own, sizeof(own));
	else
		snprintf(own, sizeof(own), "%s", fixed_name(selection));
	notation_tool_name(selection->box, printer->tool, own, theirs, NOTATION_TEXT_MAX);
}

/* What a field is set to, by the user or by the unit mask. @return false: to nothing */
static bool value_of(const struct printer *printer, const struct pmu_modifier *modifier,
		     uint64_t *value)
{
	const struct pmu_setting *setting = settings_of(printer->selection, modifier);

	if (setting) {
		*value = setting->value;
		return true;
	}
	return umask_gives(printer->rows, printer->row_count, modifier, value);
}

/* With all of its register: see put_filter(). */
static bool is_set_whole(const struct printer *printer, const struct pmu_modifier *modifier)
{
	return printer->tool == PMU_TOOL_PERF && modifier->reg && *modifier->reg->perf;
}

/* [separator]FIELD=VALUE of each that is set. @return 0 or PMU_E_UNSUPPORTED */
static int put_fields(struct printer *printer, const char *separator)
{
	const struct pmu_box *box = printer->selection->box;

	for (size_t i = 0; i < box->modifier_count; i++) {
		const struct pmu_modifier *modifier = &box->modifiers[i];
		const char *name = notation_field_name(box, printer->tool, modifier);
		uint64_t value;

		if (!value_of(printer, modifier, &value) ||
		    settings_are_all(printer->selection, modifier) ||
		    is_set_whole(printer, modifier))
			continue;
		if (!name)
			return PMU_E_UNSUPPORTED;
		if (modifier->hi == modifier->lo && value)
			put(printer, "%s%s", separator, name);
		else
			put(printer, "%s%s=0x%llx", separator, name, (unsigned long long)value);
	}
	return 0;
}

/* Registers other than controls and filters, which no other tool's notation sets. */
static bool sets_more(const struct printer *printer)
{
	const struct pmu_selection *selection = printer->selection;
	bool more = selection->event && selection->event->fixed_field_count;

	for (size_t i = 0; i < printer->row_count; i++)
		more = more || printer->rows[i]->fixed_field_count;
	for (size_t i = 0; i < selection->setting_count; i++)
		more = more || selection->settings[i].nodes ||
		       selection->settings[i].modifier->fixed_field_count;
	return more;
}

static unsigned first_counter(const struct pmu_selection *selection)
{
	if (!selection->event)
		return selection->fixed;
	return selection->event->counters ? (unsigned)__builtin_ctz(selection->event->counters) : 0;
}

static int print_likwid(struct printer *printer)
{
	const struct pmu_selection *selection = printer->selection;
	const struct pmu_box_names *names = &selection->box->names;
	const char *pattern = selection->event ? names->likwid : names->likwid_fixed;
	char counter[64], name[NOTATION_TEXT_MAX];

	name_of(printer, 0, name);
	if (!pattern || printer->row_count > 1 || !*name)
		return PMU_E_UNSUPPORTED;
	put_words(printer, name, '_');
	notation_fill(pattern, selection->instance, first_counter(selection), counter,
		      sizeof(counter));
	put(printer, ":%s", counter);
	return put_fields(printer, ":");
}

/* EVENT[:UMASK]... */
static int put_attributes(struct printer *printer)
{
	const size_t rows = printer->row_count ? printer->row_count : 1;

	for (size_t i = 0; i < rows; i++) {
		char theirs[NOTATION_TEXT_MAX], *dot;

		name_of(printer, i, theirs);
		if (!*theirs)
			return PMU_E_UNSUPPORTED;
		dot = strchr(theirs, '.');
		if (dot)
			*dot = '\0';
		if (i == 0)
			put_words(printer, theirs, '_');
		if (dot)
			put(printer, ":");
		if (dot)
			put_words(printer, dot + 1, '_');
	}
	return 0;
}

static int print_libpfm4(struct printer *printer)
{
	const struct pmu_selection *selection = printer->selection;
	const struct pmu_box_names *names = &selection->box->names;
	char pmu[64], theirs[NOTATION_TEXT_MAX];
	int error;

	name_of(printer, 0, theirs);
	/* Fixed counters go by names of libpfm4's own. */
	if (!names->libpfm4 || (!selection->event && name_equal(fixed_name(selection), theirs)))
		return PMU_E_UNSUPPORTED;
	notation_fill(names->libpfm4, selection->instance, 0, pmu, sizeof(pmu));
	put(printer, "%s::%s", pmu, names->intel ? names->intel : "");
	error = put_attributes(printer);
	return error ? error : put_fields(printer, ":");
}

static uint64_t field_of(const struct pmu_field *field, uint64_t control)
{
	return field ? pmu_field_value(field, control) : 0;
}

/* The kernel's name of the box: of all instances without the number. */
static void put_kernel_box(struct printer *printer, const char *pattern)
{
	const struct pmu_selection *selection = printer->selection;
	size_t stem = strcspn(pattern, "{");
	char name[64];

	if (selection->one_instance) {
		notation_fill(pattern, selection->instance, 0, name, sizeof(name));
		put(printer, "%s", name);
		return;
	}
	while (pattern[stem] && stem && pattern[stem - 1] == '_')
		stem--;
	put(printer, "%.*s", (int)stem, pattern);
}

static int print_perf_fixed(struct printer *printer)
{
	const struct pmu_selection *selection = printer->selection;
	char theirs[NOTATION_TEXT_MAX];

	if (selection->box->scope != PMU_SCOPE_CORE) {
		put(printer, "/event=0x%x/", FIXED_EVENT);
		return selection->setting_count ? PMU_E_UNSUPPORTED : 0;
	}
	notation_tool_name(selection->box, PMU_TOOL_PERF, fixed_name(selection), theirs,
			   sizeof(theirs));
	printer->used = 0;
	put(printer, "%s", theirs);
	return selection->setting_count || strchr(theirs, '.') ? PMU_E_UNSUPPORTED : 0;
}

/* The filter register that perf sets as one. @return 0 or PMU_E_UNSUPPORTED */
static int put_filter(struct printer *printer)
{
	const struct pmu_selection *selection = printer->selection;
	struct pmu_write writes[PMU_EVENT_WRITES];
	int count = pmu_event_encode(NULL, selection, selection->instance, first_counter(selection),
				     writes);

	for (int w = 0; w < count; w++)
		if (*writes[w].reg->perf && writes[w].value)
			put(printer, ",%s=0x%llx", writes[w].reg->perf,
			    (unsigned long long)writes[w].value);
	return count < 0 ? PMU_E_UNSUPPORTED : 0;
}

static int print_perf(struct printer *printer)
{
	const struct pmu_selection *selection = printer->selection;
	const struct pmu_selector *selector = &selection->box->selector;
	const char *kernel = notation_kernel_name(selection->box);
	uint64_t control;
	int error;

	if (!kernel)
		return PMU_E_UNSUPPORTED;
	put_kernel_box(printer, kernel);
	if (!selection->event)
		return print_perf_fixed(printer);
	control = pmu_event_control(selection);
	put(printer, "/event=0x%llx",
	    (unsigned long long)(field_of(selector->ev_sel, control) |
				 field_of(selector->ev_sel_ext, control) << 8));
	if (field_of(selector->umask, control))
		put(printer, ",umask=0x%llx",
		    (unsigned long long)field_of(selector->umask, control));
	if (field_of(selector->occ_sel, control))
		put(printer, ",occ_sel=0x%llx",
		    (unsigned long long)field_of(selector->occ_sel, control));
	error = put_fields(printer, ",");
	if (!error && notation_kernel_filter(selection->box))
		error = put_filter(printer);
	put(printer, "/");
	return error;
}

/* config1 and config2: the box's first two filter registers, whole. */
static int put_configs(struct printer *printer)
{
	const struct pmu_selection *selection = printer->selection;
	struct pmu_write writes[PMU_EVENT_WRITES];
	const struct pmu_register *regs[2] = {NULL};
	int count = pmu_event_encode(NULL, selection, selection->instance, first_counter(selection),
				     writes);

	for (size_t i = 0; i < selection->box->modifier_count; i++) {
		const struct pmu_register *reg = selection->box->modifiers[i].reg;

		if (reg && !regs[0])
			regs[0] = reg;
		else if (reg && reg != regs[0] && !regs[1])
			regs[1] = reg;
	}
	for (int w = 0; w < count; w++) {
		if (writes[w].reg->role == PMU_ROLE_COUNTER_CTL)
			continue;
		/* Of a core, PCM's are other registers. */
		if (selection->box->scope == PMU_SCOPE_CORE ||
		    (writes[w].reg != regs[0] && writes[w].reg != regs[1]))
			return PMU_E_UNSUPPORTED;
		put(printer, ",config%d=0x%llx", writes[w].reg == regs[0] ? 1 : 2,
		    (unsigned long long)writes[w].value);
	}
	return count < 0 ? count : 0;
}

static int print_pcm(struct printer *printer)
{
	const struct pmu_selection *selection = printer->selection;
	char name[NOTATION_TEXT_MAX];
	int error = 0;

	/* PCM counts in all instances. */
	if (!selection->box->names.pcm || selection->one_instance)
		return PMU_E_UNSUPPORTED;
	if (!selection->event &&
	    (selection->box->scope == PMU_SCOPE_CORE || selection->setting_count))
		return PMU_E_UNSUPPORTED;
	put(printer, "%s/", selection->box->names.pcm);
	if (selection->event) {
		put(printer, "config=0x%llx", (unsigned long long)pmu_event_control(selection));
		error = put_configs(printer);
	} else {
		put(printer, "fixed");
	}
	name_of(printer, 0, name);
	put(printer, ",name=");
	put_words(printer, name, '.');
	put(printer, "/");
	return error;
}

int pmu_notation_print(const struct pmu_selection *selection, enum pmu_tool tool, char *text,
		       size_t size)
{
	static int (*const print[])(struct printer *) = {
	    [PMU_TOOL_PERF] = print_perf,
	    [PMU_TOOL_LIKWID] = print_likwid,
	    [PMU_TOOL_LIBPFM4] = print_libpfm4,
	    [PMU_TOOL_PCM] = print_pcm,
	};
	struct printer printer = {.selection = selection, .tool = tool};
	int error;

	if (selection->event && selection->event->umask_count)
		printer.row_count = umask_rows(selection, printer.rows);
	if (sets_more(&printer))
		return PMU_E_UNSUPPORTED;
	error = print[tool](&printer);
	return error ? error : snprintf(text, size, "%s", printer.text);
}
