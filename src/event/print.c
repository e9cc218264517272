#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/name.h"
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

/* Whether another PMU has a box of that name, so that the box alone does not say which. */
static bool is_box_ambiguous(const struct pmu_selection *selection)
{
	const struct pmu_pmu *pmus;
	size_t count;

	pmus = pmu_catalog(&count);
	for (size_t i = 0; i < count; i++)
		if (&pmus[i] != selection->pmu && pmu_find_box(&pmus[i], selection->box->name))
			return true;
	return false;
}

static void put_umasks(struct output *output, const struct pmu_event *event, uint8_t umask)
{
	const struct pmu_umask *rows[UMASK_ROWS];
	size_t count;

	if (event->umask_count == 0)
		return;
	count = umask_rows(event, umask, rows);
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
	output->length +=
	    (size_t)value_print(box, modifier, setting->value, end(output), room(output));
}

int pmu_event_print(const struct pmu_selection *selection, char *text, size_t size)
{
	struct output output = {.text = text, .size = size};

	if (is_box_ambiguous(selection))
		put(&output, "%s/", selection->pmu->name);
	put(&output, "%s", selection->box->name);
	if (selection->instance >= 0)
		put(&output, "%d", selection->instance);
	put(&output, ".%s", selection->event ? selection->event->name : "clock");
	if (selection->event)
		put_umasks(&output, selection->event, selection->umask);
	for (size_t i = 0; i < selection->setting_count; i++)
		put_setting(&output, selection->box, &selection->settings[i]);
	return (int)output.length;
}
