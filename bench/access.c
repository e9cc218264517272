/*
 * Time of a memory access on the emulated machine by where it hits, and of a register access.
 *
 *     bench_access [load|store PLACE none|twelve|prefetch]
 *
 * With arguments: that one sweep under callgrind, of which only the accesses are instrumented;
 * prints how many they are.
 */
#include <stdbool.h>
#include <string.h>

#include "bus/emulated.h"
#include "emul/block.h"
#include "machine/access.h"
#include "measure.h"
#include "pmulab/session.h"

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_STOP_INSTRUMENTATION
#endif

#define BASE 0x10000000u

static const struct machine_insn insn = {0};

struct sweep {
	struct machine_hart *core;
	uint64_t bytes, stride;
	size_t count;
	uint64_t at;
};

typedef void access_fn(struct machine_hart *core, uint64_t address, uint32_t size,
		       const struct machine_insn *insn);

/* The loop itself is to cost as little as can be beside an access. */
static inline __attribute__((always_inline)) void accesses(struct sweep *sweep, access_fn *access)
{
	struct machine_hart *core = sweep->core;
	const uint64_t stride = sweep->stride;
	uint64_t at = sweep->at, end;

	for (size_t left = sweep->count; left; left -= (end - sweep->at) / stride, sweep->at = at) {
		at = sweep->at < sweep->bytes ? sweep->at : 0;
		sweep->at = at;
		end = at + left * stride < sweep->bytes ? at + left * stride : sweep->bytes;
		for (; at < end; at += stride)
			access(core, BASE + at, 8, &insn);
	}
}

static void loads(void *arg)
{
	accesses(arg, machine_load);
}

static void stores(void *arg)
{
	accesses(arg, machine_store);
}

static const struct kind {
	const char *name;
	void (*run)(void *sweep);
} kinds[] = {{"load", loads}, {"store", stores}};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static const struct place {
	const char *where;
	uint64_t bytes, stride;
	size_t count;
} places[] = {
    {"L1D, same line", 64, 8, 1 << 22}, {"L1D", 24 << 10, 64, 1 << 21},
    {"L2", 192 << 10, 64, 1 << 19},	{"LLC", 6 << 20, 64, 1 << 18},
    {"memory", 64 << 20, 64, 1 << 18},
};
#define PLACES (sizeof(places) / sizeof(places[0]))

static void instrumented(struct machine_hart *core, const struct kind *kind,
			 const struct place *place)
{
	struct sweep sweep = {core, place->bytes, place->stride, place->bytes / place->stride, 0};

	kind->run(&sweep);
	kind->run(&sweep);
	sweep.count = 1 << 16;
	CALLGRIND_START_INSTRUMENTATION;
	kind->run(&sweep);
	CALLGRIND_STOP_INSTRUMENTATION;
	printf("%zu\n", sweep.count);
}

static void sweeps(struct machine_hart *core, const char *how)
{
	for (size_t i = 0; i < PLACES * KINDS; i++) {
		const struct kind *kind = &kinds[i / PLACES];
		const struct place *place = &places[i % PLACES];
		struct sweep sweep = {core, place->bytes, place->stride, place->count, 0};
		char what[80];

		snprintf(what, sizeof(what), "%s, %s, %s", kind->name, place->where, how);
		measure(what, kind->run, &sweep, (double)place->count);
	}
}

struct registers {
	struct pmu_bus *bus;
	struct pmu_ctx *ctx;
	struct pmu_access_op op;
};

static void reads(void *arg)
{
	struct registers *registers = arg;

	for (int i = 0; i < 1 << 14; i++)
		if (pmu_bus_read(registers->bus, registers->ctx, &registers->op))
			abort();
}

static void add(struct pmu_session *session, struct pmu_ctx *ctx, const char *event)
{
	struct pmu_selection selection;

	if (pmu_event_parse(ctx, NULL, event, &selection) ||
	    pmu_session_add(session, ctx, &selection) < 0) {
		fprintf(stderr, "%s\n", pmu_message(ctx));
		exit(1);
	}
}

static const struct way {
	const char *name, *how;
	bool counting, prefetching;
} ways[] = {
    {"none", "nothing counted", false, false},
    {"twelve", "twelve events", true, false},
    {"prefetch", "prefetchers on", false, true},
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

/* @param place  the one to instrument, with accesses of @kind; NULL: all are timed */
static void run(const struct way *way, const struct kind *kind, const struct place *place)
{
	const bool counting = way->counting;
	static const char *const events[] = {
	    "cbo.LLC_LOOKUP.ANY:state=any",
	    "cbo.TOR_OCCUPANCY.MISS_ALL",
	    "cbo.TOR_INSERTS.ALL",
	    "cbo.LLC_VICTIMS.M_STATE",
	    "ha.REQUESTS.READS",
	    "ha.REQUESTS.WRITES",
	    "ha.TRACKER_OCCUPANCY.READS_LOCAL",
	    "ha.IMC_READS.NORMAL",
	    "imc.CAS_COUNT.RD",
	    "imc.CAS_COUNT.WR",
	    "imc.ACT_COUNT.RD",
	    "imc.PRE_COUNT.PAGE_MISS",
	};
	struct registers registers = {.op = {.space = PMU_SPACE_MSR, .width = 64, .reg = "CTR0"}};
	struct pmu_session *session;
	struct machine_address_space *space;
	struct machine_hart *core;
	struct machine *machine;
	struct pmu_bus *bus;
	struct pmu_ctx *ctx;

	if (pmu_ctx_new(&ctx) ||
	    pmu_bus_emulated(&bus, ctx, pmu_find_machine("xeon-e5-2699v4-2s")) ||
	    pmu_session_new(&session, ctx, bus))
		exit(1);
	for (size_t i = 0; counting && i < sizeof(events) / sizeof(events[0]); i++)
		add(session, ctx, events[i]);
	if (counting && pmu_session_start(session, ctx))
		exit(1);
	machine = emul_machine(bus_emulated_emul(bus));
	if (machine_address_space_new(&space, machine))
		exit(1);
	core = machine_hart_enter(machine, space, 0);
	if (!way->prefetching)
		machine_set_prefetchers(machine, machine_hart_core(core), 0);
	if (place)
		instrumented(core, kind, place);
	else
		sweeps(core, way->how);
	machine_hart_leave(core);
	if (counting && !place) {
		const struct pmu_box *box = pmu_find_box(pmu_bus_pmu(bus), "cbo");

		registers.bus = bus;
		registers.ctx = ctx;
		registers.op.address =
		    pmu_register_address(box, pmu_box_register(box, PMU_ROLE_COUNTER, 0), 0);
		measure("read of a counter register", reads, &registers, 1 << 14);
	}
	machine_address_space_free(space);
	pmu_session_free(session);
	pmu_bus_free(bus);
	pmu_ctx_free(ctx);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc != 4 && i < WAYS; i++)
		run(&ways[i], NULL, NULL);
	if (argc != 4)
		return 0;
	for (size_t i = 0; i < KINDS * PLACES * WAYS; i++) {
		const struct kind *kind = &kinds[i / (PLACES * WAYS)];
		const struct place *place = &places[i / WAYS % PLACES];
		const struct way *way = &ways[i % WAYS];

		if (!strcmp(argv[1], kind->name) && !strcmp(argv[2], place->where) &&
		    !strcmp(argv[3], way->name)) {
			run(way, kind, place);
			return 0;
		}
	}
	return 2;
}
