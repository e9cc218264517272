#include "session/session.h"

#include <stdlib.h>

#include "base/error.h"
#include "bus/bus.h"
#include "bus/hardware.h"
#include "session/busy.h"
#include "session/groups.h"
#include "session/guardian.h"
#include "session/selection.h"

uint32_t *session_present(const struct pmu_session *session, unsigned socket,
			  const struct pmu_box *box)
{
	return &session->present[socket * session->pmu->box_count +
				 (size_t)(box - session->pmu->boxes)];
}

/* A register that freezes all; without it boxes are stopped one by one. */
static void find_global(struct pmu_session *session)
{
	const struct pmu_pmu *pmu = session->pmu;

	for (const struct pmu_box *box = pmu->boxes; box < pmu->boxes + pmu->box_count; box++) {
		const struct pmu_register *ctl = pmu_box_register(box, PMU_ROLE_GLOBAL_CTL, 0);

		if (!ctl || !pmu_field_by_role(ctl, PMU_FIELD_FREEZE, 0))
			continue;
		session->global_box = box;
		session->global_ctl = ctl;
		session->global_status = pmu_box_register(box, PMU_ROLE_GLOBAL_STATUS, 0);
		return;
	}
}

int pmu_session_new(struct pmu_session **out, struct pmu_ctx *ctx, struct pmu_bus *bus)
{
	struct pmu_session *session = calloc(1, sizeof(*session));
	int error;

	if (!session)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for a session");
	session->bus = bus;
	session->pmu = pmu_bus_pmu(bus);
	session->sockets = pmu_bus_sockets(bus);
	session->global_found = calloc(session->sockets, sizeof(*session->global_found));
	session->present =
	    calloc(session->sockets * session->pmu->box_count, sizeof(*session->present));
	session->nodes = calloc(session->sockets, sizeof(*session->nodes));
	if (!session->global_found || !session->present || !session->nodes) {
		error = error_set(ctx, PMU_E_NOMEM, "out of memory for a session");
		goto fail;
	}
	find_global(session);
	error = session_discover(session, ctx);
	if (error)
		goto fail;
	*out = session;
	return 0;
fail:
	pmu_session_free(session);
	return error;
}

int session_new_for(struct pmu_session **session, struct pmu_ctx *ctx,
		    const struct pmu_session *whole)
{
	int error = pmu_session_new(session, ctx, whole->bus);

	if (error || !whole->only)
		return error;
	error = pmu_session_only(*session, ctx, whole->only);
	if (error) {
		pmu_session_free(*session);
		*session = NULL;
	}
	return error;
}

bool session_counts_on(const struct pmu_session *session, unsigned socket)
{
	for (size_t i = 0; i < session->unit_count; i++)
		if (session->units[i].socket == socket)
			return true;
	return !session->only;
}

void pmu_session_free(struct pmu_session *session)
{
	if (!session)
		return;
	/* Nobody is left to be told: what cannot be restored stays frozen. */
	pmu_session_end(session, NULL);
	groups_free(session);
	free(session->found.ops);
	free(session->plan.ops);
	session_layout_free(session);
	guardian_free(session->guardian);
	free(session->events);
	free(session->nodes);
	free(session->present);
	free(session->only);
	free(session->global_found);
	free(session);
}

static bool is_present(const struct pmu_session *session, const struct pmu_selection *selection)
{
	uint32_t wanted = selection->one_instance ? 1u << selection->instance : UINT32_MAX;

	for (unsigned socket = 0; socket < session->sockets; socket++)
		if (*session_present(session, socket, selection->box) & wanted)
			return true;
	return false;
}

static int check_selection(const struct pmu_session *session, struct pmu_ctx *ctx,
			   const struct pmu_selection *selection)
{
	char text[PMU_EVENT_TEXT_MAX];

	if (session->state != SESSION_NEW || session->units || session->parts)
		return error_set(ctx, PMU_E_STATE,
				 "events cannot be added to a session that has been started");
	if (selection->pmu != session->pmu)
		return error_set(ctx, PMU_E_UNKNOWN, "an event of %s cannot be counted on %s",
				 selection->pmu->name, session->pmu->name);
	if (is_present(session, selection))
		return 0;
	pmu_event_print(selection, text, sizeof(text));
	if (!selection->one_instance)
		return error_set(ctx, PMU_E_UNSUPPORTED, "%s: this part has no %s%s", text,
				 selection->box->name,
				 session->only ? " where it is asked for" : "");
	return error_set(ctx, PMU_E_UNSUPPORTED, "%s: this part has no %s%u%s", text,
			 selection->box->name, selection->instance,
			 session->only ? " where it is asked for" : "");
}

int pmu_session_add(struct pmu_session *session, struct pmu_ctx *ctx,
		    const struct pmu_selection *selection)
{
	struct session_event *events;
	int error = session_discover_cores(session, ctx, selection->box);

	if (!error)
		error = check_selection(session, ctx, selection);
	if (error)
		return error;
	/* What repeats another event's count means something else with each of them. */
	for (size_t i = 0; i < session->event_count; i++)
		if (selection_equal(&session->events[i].selection, selection) &&
		    !selection_follows_counter0(selection))
			return (int)i;
	events = realloc(session->events, (session->event_count + 1) * sizeof(*events));
	if (!events)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for an event");
	session->events = events;
	events[session->event_count] = (struct session_event){
	    .selection = *selection,
	    .counter = selection->event ? 0 : selection->fixed,
	    .counted = !(pmu_bus_is_emulated(session->bus) &&
			 pmu_selection_model_on(selection, pmu_bus_machine(session->bus), NULL,
						0) == PMU_MODEL_ABSENT),
	};
	return (int)session->event_count++;
}

static bool in_list(const unsigned *list, size_t count, unsigned number)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == number)
			return true;
	return false;
}

/* Whether one PMU can count those of a group, by a session of its own that is never started. */
static int try_group(struct pmu_session *session, struct pmu_ctx *ctx, unsigned group)
{
	struct pmu_session *trial;
	int error = session_new_for(&trial, ctx, session);

	if (error)
		return error;
	for (size_t i = 0; i < session->event_count && error >= 0; i++)
		if (session->events[i].group == group)
			error = pmu_session_add(trial, ctx, &session->events[i].selection);
	error = error < 0 ? error : session_assign(trial, ctx);
	pmu_session_free(trial);
	return error;
}

int pmu_session_group(struct pmu_session *session, struct pmu_ctx *ctx, const unsigned *events,
		      size_t count)
{
	const unsigned group = session->group_count + 1;
	unsigned *before = calloc(session->event_count + 1, sizeof(*before));
	unsigned *joined = calloc(count + 1, sizeof(*joined));
	size_t joined_count = 0;
	int error = 0;

	if (!before || !joined)
		error = error_set(ctx, PMU_E_NOMEM, "out of memory for a group of events");
	for (size_t i = 0; i < count && !error; i++) {
		if (events[i] >= session->event_count)
			error =
			    error_set(ctx, PMU_E_RANGE, "no event %u in the session", events[i]);
		else if (session->events[events[i]].group)
			joined[joined_count++] = session->events[events[i]].group;
	}
	if (error)
		goto done;
	for (unsigned i = 0; i < session->event_count; i++) {
		struct session_event *event = &session->events[i];

		before[i] = event->group;
		if (in_list(events, count, i) || in_list(joined, joined_count, event->group))
			event->group = group;
	}
	error = try_group(session, ctx, group);
	for (size_t i = 0; i < session->event_count && error; i++)
		session->events[i].group = before[i];
	session->group_count += !error;
done:
	free(before);
	free(joined);
	return error;
}

void pmu_session_spread(struct pmu_session *session)
{
	session->spread = true;
}

int pmu_session_divide(struct pmu_session *session, struct pmu_ctx *ctx)
{
	int error;

	if (session->state != SESSION_NEW || session->units || session->parts)
		return error_set(ctx, PMU_E_STATE, "the events of the session are assigned");
	session->divided = true;
	error = groups_make(session, ctx);
	session->divided = !error;
	return error;
}

size_t pmu_session_pmus(const struct pmu_session *session)
{
	return session->part_count ? session->part_count : 1;
}

int pmu_session_pmu_of(const struct pmu_session *session, unsigned event)
{
	return event < session->event_count ? (int)session->events[event].part : PMU_E_RANGE;
}

const char *pmu_session_reason(const struct pmu_session *session, size_t pmu)
{
	return groups_reason(session, pmu);
}

void pmu_session_force(struct pmu_session *session)
{
	session->forced = true;
}

int pmu_session_guard(struct pmu_session *session, struct pmu_ctx *ctx,
		      const struct pmu_guard_options *options)
{
	struct pmu_bus *bus = bus_untraced(session->bus);
	struct guardian *guardian;
	int error;

	if (session->state != SESSION_NEW || session->guardian)
		return error_set(ctx, PMU_E_STATE,
				 "a guardian is asked for once, before the session is started");
	error = guardian_new(&guardian, ctx, options);
	if (error)
		return error;
	if (bus_hardware_host(bus))
		error = guardian_find_left(guardian, ctx, bus, session->forced);
	if (error || !bus_hardware_host(bus))
		guardian_free(guardian);
	else
		session->guardian = guardian;
	return error;
}

/* What the session found is kept, then written over. */
static int begin(struct pmu_session *session, struct pmu_ctx *ctx)
{
	int error = session->state == SESSION_NEW ? session_keep(session, ctx) : 0;

	if (error)
		return error;
	/* From here on registers change: pmu_session_free() restores them, even after a failure. */
	session->state = SESSION_STOPPED;
	error = session_program(session, ctx);
	if (!error)
		session->state = SESSION_RUNNING;
	return error;
}

int pmu_session_assign(struct pmu_session *session, struct pmu_ctx *ctx)
{
	int error;

	if (session->units || session->parts)
		return 0;
	error = session_assign(session, ctx);
	if (error == PMU_E_CONFLICT && session->spread && session->bus->ops->another)
		return groups_make(session, ctx);
	return error ? error : session_lay_out(session, ctx);
}

int pmu_session_counter(const struct pmu_session *session, unsigned event, unsigned instance)
{
	if (event >= session->event_count ||
	    instance >= session->events[event].selection.box->instance_count)
		return PMU_E_RANGE;
	if (session->parts)
		return groups_counter(session, event, instance);
	if (!session->units)
		return PMU_E_STATE;
	return session_counter_of(&session->events[event], instance);
}

int pmu_session_start(struct pmu_session *session, struct pmu_ctx *ctx)
{
	int error;

	if (session->state == SESSION_RUNNING)
		return error_set(ctx, PMU_E_STATE, "the session is already counting");
	if (session->state == SESSION_ENDED)
		return error_set(ctx, PMU_E_STATE, "the session has ended");
	if (session->divided)
		return error_set(ctx, PMU_E_STATE, "the session is a plan for others");
	error = pmu_session_assign(session, ctx);
	if (error)
		return error;
	if (session->parts) {
		error = groups_start(session, ctx);
		session->state = error ? SESSION_STOPPED : SESSION_RUNNING;
		return error;
	}
	bus_begin(session->bus);
	error = begin(session, ctx);
	session->started_ns = bus_time_ns(session->bus);
	for (size_t i = 0; i < session->unit_count; i++) {
		session->units[i].lost = false;
		session->units[i].ran_ns = session->started_ns;
	}
	bus_end(session->bus);
	return error;
}

int pmu_session_stop(struct pmu_session *session, struct pmu_ctx *ctx)
{
	int error;

	if (session->state != SESSION_RUNNING)
		return error_set(ctx, PMU_E_STATE, "the session is not counting");
	if (session->parts) {
		session->state = SESSION_STOPPED;
		return groups_stop(session, ctx);
	}
	bus_begin(session->bus);
	error = session_freeze(session, ctx);
	if (!error) {
		session->state = SESSION_STOPPED;
		session->stopped_ns = bus_time_ns(session->bus);
		error = session_busy_check(session, ctx);
	}
	bus_end(session->bus);
	return error;
}

int pmu_session_read(struct pmu_session *session, struct pmu_ctx *ctx,
		     const struct pmu_count **counts, size_t *count)
{
	int error;

	if (session->state != SESSION_RUNNING && session->state != SESSION_STOPPED)
		return error_set(ctx, PMU_E_STATE, "the session is not started");
	if (session->parts)
		return groups_read(session, ctx, counts, count);
	bus_begin(session->bus);
	error = session_collect(session, ctx);
	bus_end(session->bus);
	/* Of what was frozen meanwhile there is still to tell for how long it counted. */
	if (error && error != PMU_E_CONFLICT)
		return error;
	*counts = session->counts;
	*count = session->row_count;
	return error;
}

int pmu_session_end(struct pmu_session *session, struct pmu_ctx *ctx)
{
	int error = groups_end(session, ctx);

	if (!session->parts &&
	    (session->state == SESSION_RUNNING || session->state == SESSION_STOPPED)) {
		bus_begin(session->bus);
		error = session_restore(session, ctx);
		bus_end(session->bus);
	}
	if (session->guardian)
		guardian_end(session->guardian, !error);
	session->state = SESSION_ENDED;
	return error;
}

const struct pmu_selection *pmu_session_event(const struct pmu_session *session, unsigned event)
{
	return event < session->event_count ? &session->events[event].selection : NULL;
}

size_t pmu_session_events(const struct pmu_session *session)
{
	return session->event_count;
}
