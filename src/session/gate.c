#include "session/gate.h"

#include <stdio.h>

/* 253669 has pmc and fixed for a core, pc and fc for the uncore of Nehalem. */
static uint64_t counter_bit(const struct pmu_register *gate, bool fixed, unsigned index)
{
	static const char *const names[][2] = {{"en_pmc", "en_fixed"}, {"en_pc", "en_fc"}};
	uint64_t bit = 0;

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]) && !bit; i++)
		bit = register_numbered_bits(gate, names[i][fixed], index);
	return bit;
}

const struct pmu_register *gate_of(const struct pmu_box *box)
{
	const struct pmu_register *gate = pmu_box_register(box, PMU_ROLE_GLOBAL_CTL, 0);

	if (!gate || !(counter_bit(gate, false, 0) | counter_bit(gate, true, 0)))
		return NULL;
	return gate;
}

/* Bits of the counters that the session uses. */
static uint64_t own_bits(const struct pmu_session *session, const struct session_unit *unit)
{
	const struct pmu_register *gate = gate_of(unit->box);
	uint64_t bits = 0;

	for (size_t r = unit->first_row; r != SESSION_NONE; r = session->rows[r].next) {
		const struct session_event *event = &session->events[session->rows[r].event];

		bits |= counter_bit(gate, !event->selection.event, event->counter);
	}
	return bits;
}

int gate_keep(struct pmu_session *session, struct pmu_ctx *ctx)
{
	int error = 0;

	for (size_t i = 0; i < session->unit_count && !error; i++) {
		struct session_unit *unit = &session->units[i];
		struct register_at at = {unit->box, gate_of(unit->box), unit->socket,
					 unit->instance};

		if (at.reg)
			error = register_read(session->bus, ctx, &at, &unit->gate_found);
	}
	return error;
}

/* One that fails does not keep the others from being written. */
static int write_gates(struct pmu_session *session, struct pmu_ctx *ctx,
		       uint64_t (*value)(uint64_t found, uint64_t own))
{
	int error = 0;

	for (size_t i = 0; i < session->unit_count; i++) {
		const struct session_unit *unit = &session->units[i];
		struct register_at at = {unit->box, gate_of(unit->box), unit->socket,
					 unit->instance};
		int failed;

		if (!at.reg)
			continue;
		failed = register_write(session->bus, error ? NULL : ctx, &at,
					value(unit->gate_found, own_bits(session, unit)));
		error = error ? error : failed;
	}
	return error;
}

static uint64_t opened(uint64_t found, uint64_t own)
{
	return found | own;
}

static uint64_t closed(uint64_t found, uint64_t own)
{
	return found & ~own;
}

static uint64_t as_found(uint64_t found, uint64_t own)
{
	(void)own;
	return found;
}

int gate_open(struct pmu_session *session, struct pmu_ctx *ctx)
{
	return write_gates(session, ctx, opened);
}

int gate_close(struct pmu_session *session, struct pmu_ctx *ctx)
{
	return write_gates(session, ctx, closed);
}

int gate_restore(struct pmu_session *session, struct pmu_ctx *ctx)
{
	return write_gates(session, ctx, as_found);
}
