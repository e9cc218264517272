/*
 * A session over registers that hold anything, change by themselves and refuse accesses, as the
 * input says. It ends in a result or a message; and where no access failed and nothing changed by
 * itself, controls and filters are as they were found.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "bus/bus.h"
#include "pmulab/session.h"
#include "session/registers.h"

#define REGISTERS_MAX 4096
#define EVENTS_MAX    4
#define SOCKETS_MAX   4

struct cell {
	uint64_t key, found, value;
	const struct pmu_register *reg;
};

struct hostile {
	struct pmu_bus bus;
	const uint8_t *data;
	size_t size, at;
	uint8_t mood; /* how many of 256 accesses go wrong */
	bool disturbed;
	struct cell cells[REGISTERS_MAX];
	size_t count;
};

static uint8_t next(struct hostile *hostile)
{
	return hostile->at < hostile->size ? hostile->data[hostile->at++] : 0;
}

static uint64_t next_value(struct hostile *hostile)
{
	uint64_t value = 0;

	for (unsigned i = next(hostile) % 9; i; i--)
		value = value << 8 | next(hostile);
	return value;
}

/* A register holds what the input says, or as after a reset: a machine that is like others. */
static struct cell *find_cell(struct hostile *hostile, const struct bus_register_ref *ref,
			      const struct pmu_access_op *op)
{
	uint64_t key = (uint64_t)op->socket << 56 | (uint64_t)op->core << 48 |
		       (uint64_t)op->space << 40 | op->address;
	struct cell *cell = hostile->cells;

	while (cell < hostile->cells + hostile->count && cell->key != key)
		cell++;
	if (cell < hostile->cells + hostile->count)
		return cell;
	if (hostile->count == REGISTERS_MAX)
		return NULL;
	hostile->count++;
	*cell = (struct cell){.key = key, .reg = ref->reg, .found = ref->reg->reset};
	if (next(hostile) & 1)
		cell->found = next_value(hostile);
	cell->found &= pmu_mask(op->width - 1u, 0);
	cell->value = cell->found;
	return cell;
}

static int go_wrong(struct hostile *hostile)
{
	static const int errors[] = {PMU_E_UNKNOWN, PMU_E_IO, PMU_E_RIGHTS, PMU_E_UNSUPPORTED};

	if (hostile->mood <= next(hostile))
		return 0;
	hostile->disturbed = true;
	return errors[next(hostile) % 4];
}

static int hostile_read(struct pmu_bus *bus, struct pmu_ctx *ctx,
			const struct bus_register_ref *ref, struct pmu_access_op *op)
{
	struct hostile *hostile = (struct hostile *)bus;
	struct cell *cell = find_cell(hostile, ref, op);
	int error = go_wrong(hostile);

	(void)ctx;
	if (error || !cell)
		return error ? error : PMU_E_IO;
	if (hostile->mood > next(hostile)) {
		hostile->disturbed = true;
		cell->value = next_value(hostile) & pmu_mask(op->width - 1u, 0);
	}
	op->value = cell->value;
	return 0;
}

static int hostile_write(struct pmu_bus *bus, struct pmu_ctx *ctx,
			 const struct bus_register_ref *ref, const struct pmu_access_op *op)
{
	struct hostile *hostile = (struct hostile *)bus;
	struct cell *cell = find_cell(hostile, ref, op);
	int error = go_wrong(hostile);

	(void)ctx;
	if (error || !cell)
		return error ? error : PMU_E_IO;
	/* Only what the catalog lets be written comes here. */
	assert(ref->reg->access != PMU_ACCESS_RO && ref->reg->role != PMU_ROLE_DISCOVERY &&
	       ref->reg->role != PMU_ROLE_FREE_COUNTER);
	cell->value = op->value & ~register_clearing(ref->reg);
	return 0;
}

static const struct bus_ops hostile_ops = {.read = hostile_read, .write = hostile_write};

static void add_event(struct hostile *hostile, struct pmu_ctx *ctx, struct pmu_session *session)
{
	const struct pmu_pmu *pmu = hostile->bus.pmu;
	const struct pmu_box *box = &pmu->boxes[next(hostile) % pmu->box_count];
	unsigned pick = next(hostile) | (unsigned)next(hostile) << 8;
	struct pmu_selection selection;
	const struct pmu_event *event;
	char text[256];

	if (!box->event_count)
		return;
	event = &box->events[pick % box->event_count];
	snprintf(text, sizeof(text), "%s/%s.%s%s%s", pmu->name, box->name, event->name,
		 event->umask_count ? "." : "",
		 event->umask_count ? event->umasks[pick % event->umask_count].name : "");
	if (!pmu_event_parse(ctx, pmu, text, &selection))
		pmu_session_add(session, ctx, &selection);
}

static bool is_kept(const struct pmu_register *reg)
{
	return reg->role == PMU_ROLE_COUNTER_CTL || reg->role == PMU_ROLE_FIXED_CTL ||
	       reg->role == PMU_ROLE_FILTER;
}

static void check_restored(const struct hostile *hostile)
{
	for (size_t i = 0; i < hostile->count && !hostile->disturbed; i++) {
		const struct cell *cell = &hostile->cells[i];
		uint64_t kept = is_kept(cell->reg) ? register_kept(cell->reg) : 0;

		assert((cell->found & kept) == (cell->value & kept));
	}
}

static void measure(struct hostile *hostile, struct pmu_ctx *ctx)
{
	const struct pmu_count *counts;
	struct pmu_session *session;
	size_t count = 0;
	int error;

	if (pmu_session_new(&session, ctx, &hostile->bus)) {
		return;
	}
	for (unsigned i = 1 + next(hostile) % EVENTS_MAX; i; i--)
		add_event(hostile, ctx, session);
	if (next(hostile) & 1)
		pmu_session_force(session);
	error = pmu_session_start(session, ctx);
	if (!error)
		error = pmu_session_stop(session, ctx);
	if (!error)
		error = pmu_session_read(session, ctx, &counts, &count);
	for (size_t i = 0; i < count && !error; i++)
		assert(counts[i].event < pmu_session_events(session) &&
		       counts[i].socket < hostile->bus.sockets);
	if (!pmu_session_end(session, ctx))
		check_restored(hostile);
	pmu_session_free(session);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct hostile hostile;
	static struct pmu_ctx *ctx;
	const struct pmu_pmu *pmus;
	size_t count;

	if (!ctx && pmu_ctx_new(&ctx))
		return 0;
	hostile.count = 0;
	hostile.data = data;
	hostile.size = size;
	hostile.at = 0;
	hostile.disturbed = false;
	pmus = catalog_pmus(&count);
	if (bus_init(&hostile.bus, ctx, &hostile_ops, &pmus[next(&hostile) % count],
		     1 + next(&hostile) % SOCKETS_MAX))
		return 0;
	hostile.mood = next(&hostile);
	/* Half of all inputs: nothing goes wrong. */
	if (hostile.mood < 128)
		hostile.mood = 0;
	measure(&hostile, ctx);
	return 0;
}
