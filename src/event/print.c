#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/name.h"
#include "event/settings.h"
#include "event/umask.h"
#include "event/value.h"
#include "pmulab/event.h"

/* Text that is written as far as there is room, and measured in any case. */
struct output {
	char *text;
	size_t size, length;
};

static size_t room(const struct output *output)
{
	return output->length < output->size ? output->size - output->length : 0;
}

static char *end(const struct output *output)
{
	return room(output) ? output->text + output->length : NULL;
}

__attribute__((format(printf, 2, 3))) static void put(struct output *output, const char *format,
						      ...)
{
	va_list arguments;

	va_start(arguments, format);
	output->length += (size_t)vsnprintf(end(output), room(output), format, arguments);
	va_end(arguments);
}

/* Whether the box alone does not say which is meant: another PMU has one of that name. */
static bool is_box_ambiguous(const struct pmu_selection *selection)
{
	const struct pmu_pmu *pmus;
	size_t count;

	pmus = catalog_pmus(&count);
	for (size_t i = 0; i < count; i++)
		if (&pmus[i] != selection->pmu && !pmus[i].qualified &&
		    pmu_find_box(&pmus[i], selection->box->name))
			return true;
	return selection->pmu->qualified;
}

static void put_umasks(struct output *output, uint8_t umask, const struct pmu_umask *const *rows,
		       size_t count)
{
	for (size_t i = 0; i < count; i++)
		put(output, "%c%s", i ? '+' : '.', rows[i]->name);
	if (count == 0)
		put(output, ".0x%02" PRIx8, umask);
}

static void put_setting(struct output *output, const struct pmu_box *box,
			const struct pmu_setting *setting)
{
	const struct pmu_modifier *modifier = setting->modifier;

	put(output, ":%s", modifier->name);
	if (modifier->hi == modifier->lo && setting->value == 1)
		return;
	put(output, "=");
	output->length += (size_t)value_print(box, setting, end(output), room(output));
}

/* Whether a setting follows from the unit masks, or from none of its kind being named. */
static bool is_implied(const struct pmu_selection *selection, const struct pmu_setting *setting,
		       const struct pmu_umask *const *rows, size_t count)
{
	uint64_t value;

	if (umask_gives(rows, count, setting->modifier, &value))
		return value == setting->value && !setting->nodes;
	return settings_are_all(selection, setting->modifier);
}

/* Switches off what the unit masks would switch on. */
static void put_withdrawn(struct output *output, const struct pmu_selection *selection,
			  const struct pmu_umask *const *rows, size_t count)
{
	for (size_t i = 0; i < selection->box->modifier_count; i++) {
		const struct pmu_modifier *modifier = &selection->box->modifiers[i];
		uint64_t value;

		if (umask_gives(rows, count, modifier, &value) && value &&
		    !settings_of(selection, modifier))
			put(output, ":%s=0", modifier->name);
	}
}

static const char *fixed_name(const struct pmu_selection *selection)
{
	const struct pmu_register *reg =
	    pmu_box_register(selection->box, PMU_ROLE_FIXED_COUNTER, selection->fixed);

	return *reg->event ? reg->event : "clock";
}

int pmu_event_print(const struct pmu_selection *selection, char *text, size_t size)
{
	struct output output = {.text = text, .size = size};
	const struct pmu_umask *rows[UMASK_ROWS];
	size_t count = 0;

	if (is_box_ambiguous(selection))
		put(&output, "%s/", selection->pmu->name);
	put(&output, "%s", selection->box->name);
	if (selection->one_instance)
		put(&output, "%u", selection->instance);
	put(&output, ".%s", selection->event ? selection->event->name : fixed_name(selection));
	if (selection->event && selection->event->umask_count) {
		count = umask_rows(selection, rows);
		put_umasks(&output, selection->umask, rows, count);
	}
	for (size_t i = 0; i < selection->setting_count; i++)
		if (!is_implied(selection, &selection->settings[i], rows, count))
			put_setting(&output, selection->box, &selection->settings[i]);
	put_withdrawn(&output, selection, rows, count);
	return (int)output.length;
}
