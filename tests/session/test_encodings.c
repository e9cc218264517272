/*
 * What a session writes is what encode gives, for every event and unit mask of every PMU of the
 * catalog, with each modifier that they take, and for several events at once.
 */
#include <stdio.h>
#include <string.h>

#include "session/session.h"
#include "support/cmocka.h"

#define TEXT_MAX   512
#define WRITES_MAX 4096
#define EVENTS_MAX 3

struct recorder {
	struct pmu_access_op writes[WRITES_MAX];
	size_t count;
};

struct fixture {
	struct pmu_ctx *ctx;
	struct pmu_bus *bus;
	struct pmu_session *session;
	const struct pmu_pmu *pmu;
	struct recorder recorder;
};

static void record(void *arg, bool write, const struct pmu_access_op *op)
{
	struct recorder *recorder = arg;

	if (!write)
		return;
	assert_true(recorder->count < WRITES_MAX);
	recorder->writes[recorder->count++] = *op;
}

static void fixture_up(struct fixture *fixture, const struct pmu_pmu *pmu)
{
	*fixture = (struct fixture){.pmu = pmu};
	assert_int_equal(pmu_ctx_new(&fixture->ctx), 0);
	assert_int_equal(
	    pmu_bus_dry_run(&fixture->bus, fixture->ctx, pmu, 1, record, &fixture->recorder), 0);
}

static void fixture_down(struct fixture *fixture)
{
	pmu_bus_free(fixture->bus);
	pmu_ctx_free(fixture->ctx);
}

/* A value for a modifier: the first that has a name, or 1. */
static void append_setting(const struct pmu_box *box, const struct pmu_modifier *modifier,
			   char text[TEXT_MAX])
{
	const char *value = "1";
	size_t used = strlen(text);

	for (size_t i = box->mnemonic_count; i-- > 0;)
		if (!strcmp(box->mnemonics[i].field, modifier->name))
			value = box->mnemonics[i].name;
	snprintf(text + used, TEXT_MAX - used, ":%s=%s", modifier->name, value);
}

/* The event with the filters that it cannot do without. */
static void print_event(const struct pmu_box *box, const struct pmu_event *event,
			const struct pmu_umask *umask, char text[TEXT_MAX])
{
	/* A unit mask that only narrows others, or counts only beside another one. */
	const struct pmu_umask *beside = NULL;

	for (size_t i = 0; umask && i < event->umask_count && !beside; i++) {
		const struct pmu_umask *other = &event->umasks[i];

		if (*umask->needs ? !strcmp(other->group, umask->needs)
				  : !strcmp(umask->name, "NID") && other->value != umask->value)
			beside = other;
	}
	snprintf(text, TEXT_MAX, "%s/%s.%s%s%s%s%s", box->pmu, box->name, event->name,
		 umask ? "." : "", umask ? umask->name : "", beside ? "+" : "",
		 beside ? beside->name : "");
	for (size_t i = 0; i < box->modifier_count; i++) {
		const struct pmu_modifier *filter = &box->modifiers[i];

		uint64_t needed = (umask ? umask->filters : 0) | (beside ? beside->filters : 0) |
				  (event->needs & (~event->needs + 1)) |
				  (filter->set ? event->filters : 0);

		if (needed >> filter->number & 1)
			append_setting(box, filter, text);
	}
}

static bool is_box_control(const struct pmu_register *reg)
{
	return reg->role == PMU_ROLE_BOX_CTL;
}

/* Whether a write does what an encoding asks for; the session keeps the box frozen meanwhile. */
static bool does(const struct pmu_access_op *op, const struct pmu_write *write, uint64_t mask)
{
	if (is_box_control(write->reg))
		mask &= ~pmu_field_bits(write->reg, PMU_FIELD_FREEZE, 0);
	return op->space == write->space && op->address == write->address &&
	       !((op->value ^ write->value) & mask);
}

static size_t last_write_to(const struct recorder *recorder, unsigned core,
			    const struct pmu_write *write)
{
	size_t i = recorder->count;

	while (i-- > 0)
		if (recorder->writes[i].space == write->space && recorder->writes[i].core == core &&
		    recorder->writes[i].address == write->address)
			return i;
	fail_msg("%s is not written", write->reg->name);
	return 0;
}

/* All writes of an encoding, in its order, and nothing else is left in its registers. */
static void check_encoding(struct fixture *fixture, const char *text,
			   const struct pmu_selection *selection, unsigned instance,
			   unsigned counter)
{
	unsigned core = selection->box->scope == PMU_SCOPE_CORE ? instance : 0;
	const struct recorder *recorder = &fixture->recorder;
	struct pmu_write writes[PMU_EVENT_WRITES];
	int count = pmu_event_encode(fixture->ctx, selection, instance, counter, writes);
	size_t at = 0;

	if (count < 0)
		fail_msg("%s: %s", text, pmu_message(fixture->ctx));
	for (int i = 0; i < count; i++, at++) {
		while (at < recorder->count &&
		       !(recorder->writes[at].core == core &&
			 does(&recorder->writes[at], &writes[i], UINT64_MAX)))
			at++;
		if (at == recorder->count)
			fail_msg("%s on %s%u: %s = 0x%llX is not written", text,
				 selection->box->name, instance, writes[i].reg->name,
				 (unsigned long long)writes[i].value);
		if ((i + 1 == count || writes[i + 1].address != writes[i].address) &&
		    last_write_to(recorder, core, &writes[i]) != at)
			fail_msg("%s on %s%u: %s is written again", text, selection->box->name,
				 instance, writes[i].reg->name);
	}
}

static int start(struct fixture *fixture, const struct pmu_selection *selections, size_t count)
{
	int error = 0;

	assert_int_equal(pmu_session_new(&fixture->session, fixture->ctx, fixture->bus), 0);
	fixture->recorder.count = 0;
	for (size_t i = 0; i < count && !error; i++) {
		error = pmu_session_add(fixture->session, fixture->ctx, &selections[i]);
		error = error < 0 ? error : 0;
	}
	return error ? error : pmu_session_start(fixture->session, fixture->ctx);
}

/* Something for counter 0, which others show. */
static void find_companion(struct fixture *fixture, const struct pmu_box *box,
			   struct pmu_selection *selection)
{
	for (size_t i = 0; i < box->event_count; i++) {
		const struct pmu_event *event = &box->events[i];
		char text[TEXT_MAX];

		if (event->counters != 1)
			continue;
		print_event(box, event, event->umask_count ? event->umasks : NULL, text);
		if (!pmu_event_parse(fixture->ctx, NULL, text, selection))
			return;
	}
	fail_msg("nothing of %s has to be on counter 0", box->name);
}

/* Starts a session with the event alone, in every instance (-1) or one. @return whether it can be
 * written so */
static bool check_event(struct fixture *fixture, const char *text, int instance)
{
	struct pmu_selection selections[2];
	size_t count = 1;

	if (pmu_event_parse(fixture->ctx, NULL, text, &selections[0]))
		return false;
	if (selections[0].event && selections[0].event->measure == PMU_MEASURE_COUNTER0)
		find_companion(fixture, selections[0].box, &selections[count++]);
	selections[0].one_instance = instance >= 0;
	selections[0].instance = instance >= 0 ? (unsigned)instance : 0;
	if (start(fixture, selections, count))
		fail_msg("%s: %s", text, pmu_message(fixture->ctx));
	for (size_t u = 0; u < fixture->session->unit_count; u++) {
		const struct session_unit *unit = &fixture->session->units[u];

		for (size_t r = unit->first_row; r != SESSION_NONE;
		     r = fixture->session->rows[r].next)
			if (fixture->session->rows[r].event == 0)
				check_encoding(fixture, text, &selections[0], unit->instance,
					       fixture->session->rows[r].counter);
	}
	pmu_session_free(fixture->session);
	return true;
}

/* The event with each modifier that it takes; comparisons need a threshold. */
static unsigned check_modifiers(struct fixture *fixture, const struct pmu_box *box,
				const char *event)
{
	unsigned checked = 0;

	for (size_t i = 0; i < box->modifier_count; i++) {
		const struct pmu_modifier *modifier = &box->modifiers[i];
		const struct pmu_modifier *needed = pmu_find_modifier(box, modifier->needs);
		char text[TEXT_MAX];

		for (size_t m = 0; m < box->modifier_count && !needed; m++)
			if (box->modifiers[m].role == PMU_FIELD_THRESHOLD &&
			    (modifier->role == PMU_FIELD_INVERT ||
			     modifier->role == PMU_FIELD_EDGE ||
			     modifier->role == PMU_FIELD_OCCUPANCY_INVERT ||
			     modifier->role == PMU_FIELD_OCCUPANCY_EDGE))
				needed = &box->modifiers[m];
		snprintf(text, sizeof(text), "%s", event);
		append_setting(box, modifier, text);
		if (needed)
			append_setting(box, needed, text);
		checked += check_event(fixture, text, (int)box->instance_count - 1);
	}
	return checked;
}

struct checked {
	unsigned encodings, modified;
};

static struct checked check_box(struct fixture *fixture, const struct pmu_box *box)
{
	struct checked checked = {0};

	for (size_t e = 0; e < box->event_count; e++) {
		const struct pmu_event *event = &box->events[e];

		for (size_t u = 0; u < event->umask_count || u == 0; u++) {
			char text[TEXT_MAX];

			print_event(box, event, event->umask_count ? &event->umasks[u] : NULL,
				    text);
			if (!check_event(fixture, text, -1))
				fail_msg("%s: %s", text, pmu_message(fixture->ctx));
			checked.encodings++;
			checked.modified += check_modifiers(fixture, box, text);
		}
	}
	for (unsigned i = 0; i < box->fixed_count; i++) {
		const struct pmu_register *counter =
		    pmu_box_register(box, PMU_ROLE_FIXED_COUNTER, i);
		char text[TEXT_MAX];

		snprintf(text, sizeof(text), "%s/%s.%s", box->pmu, box->name,
			 *counter->event ? counter->event : "clock");
		assert_true(check_event(fixture, text, -1));
		checked.encodings++;
	}
	return checked;
}

static struct checked check_pmu(const char *name)
{
	struct checked sum = {0};
	struct fixture fixture;

	fixture_up(&fixture, pmu_find_pmu(name));
	for (size_t i = 0; i < fixture.pmu->box_count; i++) {
		struct checked checked = check_box(&fixture, &fixture.pmu->boxes[i]);

		sum.encodings += checked.encodings;
		sum.modified += checked.modified;
	}
	print_message("%s: %u encodings, %u with modifiers\n", name, sum.encodings, sum.modified);
	fixture_down(&fixture);
	return sum;
}

/* Every event and unit mask that list encodings shows for an Itanium. */
static void test_itanium(void **state)
{
	(void)state;
	assert_int_equal(check_pmu("itanium-9300").encodings, 1175);
}

static void test_nehalem(void **state)
{
	(void)state;
	check_pmu("nehalem");
}

static void test_xeon_e5(void **state)
{
	(void)state;
	check_pmu("xeon-e5");
}

static void test_xeon_e5v4(void **state)
{
	(void)state;
	check_pmu("xeon-e5v4");
}

/* Several events: what each depends on holds. @return whether they can be counted together */
static bool check_together(struct fixture *fixture, const struct pmu_selection *selections)
{
	int error = start(fixture, selections, EVENTS_MAX);

	if (error)
		assert_int_equal(error, PMU_E_CONFLICT);
	for (size_t u = 0; u < fixture->session->unit_count && !error; u++) {
		const struct session_unit *unit = &fixture->session->units[u];
		unsigned core = unit->box->scope == PMU_SCOPE_CORE ? unit->instance : 0;

		for (size_t r = unit->first_row; r != SESSION_NONE;
		     r = fixture->session->rows[r].next) {
			const struct session_row *row = &fixture->session->rows[r];
			struct pmu_write writes[PMU_EVENT_WRITES];
			int count = pmu_event_encode(
			    fixture->ctx, pmu_session_event(fixture->session, row->event),
			    unit->instance, row->counter, writes);

			assert_true(count > 0);
			for (int i = 0; i < count; i++) {
				size_t last = last_write_to(&fixture->recorder, core, &writes[i]);

				if (i + 1 < count && writes[i + 1].address == writes[i].address)
					continue;
				assert_true(does(&fixture->recorder.writes[last], &writes[i],
						 writes[i].mask));
			}
		}
	}
	pmu_session_free(fixture->session);
	return !error;
}

#define TRIALS 150 /* a box */

static unsigned draw(uint64_t *state, size_t below)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)((*state >> 33) % below);
}

static void draw_event(struct fixture *fixture, const struct pmu_box *box, uint64_t *state,
		       struct pmu_selection *selection)
{
	for (;;) {
		const struct pmu_event *event = &box->events[draw(state, box->event_count)];
		const struct pmu_umask *umask =
		    event->umask_count ? &event->umasks[draw(state, event->umask_count)] : NULL;
		char text[TEXT_MAX];

		print_event(box, event, umask, text);
		if (draw(state, 2) && box->modifier_count)
			append_setting(box, &box->modifiers[draw(state, box->modifier_count)],
				       text);
		if (!pmu_event_parse(fixture->ctx, NULL, text, selection))
			return;
	}
}

static void test_together(void **state)
{
	const struct pmu_pmu *pmus;
	uint64_t random = 1;
	size_t count;

	(void)state;
	pmus = catalog_pmus(&count);
	for (size_t p = 0; p < count; p++) {
		struct fixture fixture;

		fixture_up(&fixture, &pmus[p]);
		for (size_t b = 0; b < pmus[p].box_count; b++) {
			const struct pmu_box *box = &pmus[p].boxes[b];
			unsigned together = 0;

			for (unsigned i = 0; i < TRIALS && box->event_count; i++) {
				struct pmu_selection selections[EVENTS_MAX];

				for (size_t e = 0; e < EVENTS_MAX; e++) {
					draw_event(&fixture, box, &random, &selections[e]);
					selections[e].one_instance = true;
					selections[e].instance = 0;
				}
				together += check_together(&fixture, selections);
			}
			/* Events that need no common filter are the rule. */
			if (box->event_count && box->counter_count >= EVENTS_MAX)
				assert_in_range(together, TRIALS / 4, TRIALS);
		}
		fixture_down(&fixture);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_itanium),  cmocka_unit_test(test_nehalem),
	    cmocka_unit_test(test_xeon_e5),  cmocka_unit_test(test_xeon_e5v4),
	    cmocka_unit_test(test_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
