#include "cli/show.h"

#include "cli/list.h"

#define UMASK_TEXT_MAX 24

/* A field of another register that selects what is counted. @first: of several */
static void show_fixed_field(const struct show *show, bool first,
			     const struct pmu_fixed_field *fixed)
{
	unsigned copy;

	fprintf(show->cli->out, "  %-12s %s %u:%u = 0x%llX", first ? "sets" : "",
		pmu_register_pattern(pmu_fixed_field_register(fixed)), pmu_fixed_field_high(fixed),
		pmu_fixed_field_low(fixed), (unsigned long long)pmu_fixed_field_value(fixed));
	if (pmu_fixed_field_copy(fixed, &copy))
		fprintf(show->cli->out, ", copy %u", copy);
	fputc('\n', show->cli->out);
}

/* Modifiers that go with a unit mask. */
static void show_given(const struct show *show, const struct pmu_umask *umask)
{
	const struct pmu_implied *implied = pmu_umask_implied(umask, 0);

	if (!implied)
		return;
	fprintf(show->cli->out, "  %-12s   with", "");
	for (size_t i = 0; (implied = pmu_umask_implied(umask, i)); i++)
		fprintf(show->cli->out, " %s=%llu",
			pmu_modifier_name(pmu_implied_modifier(implied)),
			(unsigned long long)pmu_implied_value(implied));
	fputc('\n', show->cli->out);
}

/* Its value and bits; nothing where fields of other registers are what it selects. */
static void write_bits(const struct pmu_umask *umask, char text[UMASK_TEXT_MAX])
{
	char bits[9];

	*text = '\0';
	if (pmu_umask_fixed_fields(umask))
		return;
	for (int bit = 7; bit >= 0; bit--)
		bits[7 - bit] = !(pmu_umask_care(umask) >> bit & 1) ? 'x'
				: pmu_umask_value(umask) >> bit & 1 ? '1'
								    : '0';
	bits[8] = '\0';
	snprintf(text, UMASK_TEXT_MAX, " 0x%02X  b%s", pmu_umask_value(umask), bits);
}

/* What else the manual says of an event. */
static void show_attributes(const struct show *show, const struct pmu_event *event)
{
	const char *word = pmu_event_attribute(event, 0);

	if (!word)
		return;
	fprintf(show->cli->out, "  %-12s %s", "also", word);
	for (size_t i = 1; (word = pmu_event_attribute(event, i)); i++)
		fprintf(show->cli->out, ", %s", word);
	fputc('\n', show->cli->out);
}

/* Modifiers that a unit mask needs. */
static void show_needs(const struct show *show, const struct pmu_box *box,
		       const struct pmu_umask *umask)
{
	const struct pmu_modifier *modifier;
	const char *before = "  needs ";

	for (size_t i = 0; (modifier = pmu_box_modifier(box, i)); i++) {
		if (!pmu_umask_needs(umask, modifier))
			continue;
		fprintf(show->cli->out, "%s%s", before, pmu_modifier_name(modifier));
		before = ", ";
	}
}

static void show_filters(const struct show *show, const struct pmu_box *box,
			 const struct pmu_event *event)
{
	const struct pmu_modifier *modifier;
	bool any = false;

	for (size_t i = 0; (modifier = pmu_box_modifier(box, i)); i++) {
		if (!pmu_event_takes(event, modifier))
			continue;
		if (any)
			fputs(", ", show->cli->out);
		else
			fprintf(show->cli->out, "  %-12s ", "filters");
		fputs(pmu_modifier_name(modifier), show->cli->out);
		any = true;
	}
	if (any)
		fputc('\n', show->cli->out);
}

/* Unit masks that count as much together. */
static void show_sum(const struct show *show, const struct pmu_umask *umask)
{
	const char *part = pmu_umask_part(umask, 0);

	if (!part)
		return;
	fprintf(show->cli->out, "  %-12s   = %s", "", part);
	for (size_t i = 1; (part = pmu_umask_part(umask, i)); i++)
		fprintf(show->cli->out, " + %s", part);
	fputc('\n', show->cli->out);
}

static void show_absence(const struct show *show, const struct pmu_box *box,
			 const struct pmu_event *event, const struct pmu_umask *umask)
{
	char why[LIST_WHY_MAX];

	if (pmu_event_model(event) == PMU_MODEL_ABSENT ||
	    list_model(show->machine, box, event, umask, why) != PMU_MODEL_ABSENT)
		return;
	fprintf(show->cli->out, "  not modelled%s%s%s", *why ? " (" : "", why, *why ? ")" : "");
}

static void show_umasks(const struct show *show, const struct pmu_box *box,
			const struct pmu_event *event)
{
	for (size_t i = 0; i < pmu_event_umasks(event); i++) {
		const struct pmu_umask *umask = pmu_event_umask(event, i);
		char bits[UMASK_TEXT_MAX];

		if (show->umask && umask != pmu_find_umask(event, show->umask))
			continue;
		write_bits(umask, bits);
		fprintf(show->cli->out, "  %-12s .%-20s%s", i ? "" : "unit masks",
			pmu_umask_name(umask), bits);
		show_needs(show, box, umask);
		fprintf(show->cli->out, "%s", pmu_umask_is_alone(umask) ? "  alone" : "");
		show_absence(show, box, event, umask);
		fprintf(show->cli->out, "  %s\n", pmu_umask_desc(umask));
		show_sum(show, umask);
		for (size_t j = 0; j < pmu_umask_fixed_fields(umask); j++)
			show_fixed_field(show, !j, pmu_umask_fixed_field(umask, j));
		show_given(show, umask);
	}
	if (pmu_event_unit_mask(event))
		fprintf(show->cli->out, "  %-12s 0x%02X\n", "unit mask",
			pmu_event_unit_mask(event));
	if (pmu_event_umasks(event) > 1)
		show_line(show, "combining",
			  pmu_event_combine(event) == PMU_COMBINE_ONE
			      ? "one unit mask at a time"
			      : "unit masks may be added with +");
}

void show_event(const struct show *show, const struct pmu_box *box, const struct pmu_event *event)
{
	char counters[40], set[CLI_SET_MAX];

	fprintf(show->cli->out, "event %s/%s.%s\n", pmu_box_pmu_name(box), pmu_box_name(box),
		pmu_event_name(event));
	show_line(show, "title", pmu_event_title(event));
	show_line(show, "category", pmu_event_category(event));
	show_line(show, "counts", pmu_event_desc(event));
	fprintf(show->cli->out, "  %-12s 0x%02X%s\n", "code", pmu_event_code(event),
		pmu_event_ext(event) ? " with the extended select bit" : "");
	show_line(show, "counters", cli_counters(pmu_event_counters(event), counters));
	if (pmu_event_max_increment(event))
		fprintf(show->cli->out, "  %-12s %u a cycle at most\n", "increment",
			pmu_event_max_increment(event));
	show_umasks(show, box, event);
	show_filters(show, box, event);
	show_line(show, "of set", cli_set_text(event, set));
	show_attributes(show, event);
	for (size_t i = 0; i < pmu_event_fixed_fields(event); i++)
		show_fixed_field(show, !i, pmu_event_fixed_field(event, i));
	fprintf(show->cli->out, "  %-12s %s%s%s\n", "emulated",
		cli_model_name(pmu_event_model(event)), *pmu_event_model_note(event) ? ": " : "",
		pmu_event_model_note(event));
	show_line(show, "source", pmu_event_source(event));
}
