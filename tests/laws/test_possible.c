/*
 * What signals.json says never happens: mixed traffic on machines of one and two sockets, every
 * signal of it looked at. And what selections make of it.
 */
#include <stdio.h>
#include <string.h>

#include "catalog/signal.h"
#include "machine/access.h"
#include "machine/machine.h"
#include "pmulab/event.h"
#include "support/cmocka.h"
#include "support/random.h"

#define ACCESSES  60000
#define LINES	  40000
#define BASE	  0x10000000u
#define CODE	  0x400000u
#define HARTS_MAX 32

struct recorder {
	uint32_t qualifiers[SIGNAL_COUNT], requests[SIGNAL_COUNT], states[SIGNAL_COUNT];
	bool seen[SIGNAL_COUNT];
};

static void record(void *subscriber, const struct signal *signal)
{
	struct recorder *recorder = subscriber;

	recorder->seen[signal->id] = true;
	recorder->qualifiers[signal->id] |= signal->qualifiers;
	recorder->requests[signal->id] |= 1u << signal->request;
	recorder->states[signal->id] |= 1u << signal->state;
}

/* Loads, stores, streaming stores and code of several cores, many of them at the same lines. */
static void mix(struct machine *machine, const struct pmu_machine *desc)
{
	const struct machine_insn insn = {0};
	struct machine_address_space *space;
	/* More than one socket has cores, if there is another. */
	const unsigned hart_count = desc->cores + 4 * (desc->sockets > 1);
	struct machine_hart *harts[HARTS_MAX];
	struct machine_block blocks[64];
	uint64_t random = 1;

	assert_int_equal(machine_address_space_new(&space, machine), 0);
	for (unsigned i = 0; i < hart_count; i++)
		harts[i] = machine_hart_enter(machine, space, 0);
	for (unsigned i = 0; i < 64; i++)
		machine_block_init(machine, &blocks[i], i < 32 ? CODE + 4096 * i : BASE + 64 * i,
				   64, 16, 1, 0);
	for (unsigned i = 0; i < ACCESSES; i++) {
		struct machine_hart *hart = harts[next_random(&random) % hart_count];
		uint64_t address = BASE + 64 * (next_random(&random) % (i % 3 ? 256 : LINES));

		machine_run(hart, &blocks[next_random(&random) % 64]);
		switch (next_random(&random) % 5) {
		case 0:
		case 1:
			machine_load(hart, address, 8, &insn);
			break;
		case 2:
			machine_store_nt(hart, address, i % 2 ? 64 : 8);
			break;
		default:
			machine_store(hart, address, 8, &insn);
		}
	}
	for (unsigned i = 0; i < hart_count; i++)
		machine_hart_leave(harts[i]);
	machine_drain(machine);
	machine_address_space_free(space);
}

static uint32_t all_qualifiers(const struct signal_desc *signal)
{
	return (uint32_t)((1ull << signal->qualifier_count) - 1);
}

/* @return signals with something that is said to happen and did not: for people to look at */
static unsigned compare(const struct recorder *recorder, bool alone)
{
	unsigned unseen = 0;

	for (unsigned id = 1; id < SIGNAL_COUNT; id++) {
		const struct signal_desc *signal = &signal_table[id];
		/* The machines have TLBs, and no large pages. */
		uint32_t not =
		    signal->never | signal->large_pages | (alone ? signal->several_sockets : 0);
		uint32_t missing = all_qualifiers(signal) & ~not &~recorder->qualifiers[id] &
				   ~signal->default_qualifier;

		if (!recorder->seen[id])
			continue;
		if (recorder->qualifiers[id] & not ||
		    recorder->requests[id] & ~signal->requests & ~1u ||
		    recorder->states[id] &
			~(signal->states & ~(alone ? signal->several_sockets_states : 0)))
			fail_msg("%s: qualifiers %x, requests %x, states %x", signal->name,
				 recorder->qualifiers[id], recorder->requests[id],
				 recorder->states[id]);
		for (unsigned q = 0; q < signal->qualifier_count; q++)
			if (missing >> q & 1) {
				print_message("%s.%s not seen\n", signal->name,
					      signal->qualifiers[q]);
				unseen++;
			}
	}
	return unseen;
}

static void check_machine(const char *name)
{
	static uint8_t enabled[SIGNAL_COUNT];
	const struct pmu_machine *desc = pmu_find_machine(name);
	struct recorder recorder = {0};
	const struct signal_port port = {
	    .subscriber = &recorder, .emit = record, .enabled = enabled};
	struct machine *machine;
	void *state;

	memset(enabled, 1, sizeof(enabled));
	state = test_calloc(1, machine_state_size(desc) + 4096);
	assert_int_equal(machine_open(&machine, NULL, desc,
				      (char *)state + 4096 - (uintptr_t)state % 4096, true),
			 0);
	machine_connect(machine, &port);
	mix(machine, desc);
	print_message("%s: %u not seen\n", name, compare(&recorder, desc->sockets == 1));
	machine_close(machine);
	test_free(state);
}

static void nothing_that_never_happens(void **state)
{
	(void)state;
	check_machine("xeon-e5v4-4c");
	check_machine("xeon-e5-2650v4-2s");
}

static void check(const char *pmu, const char *event, const char *machine, enum pmu_model model,
		  const char *says)
{
	struct pmu_selection selection;
	struct pmu_ctx *ctx;
	char why[256];

	assert_int_equal(pmu_ctx_new(&ctx), 0);
	if (pmu_event_parse(ctx, pmu_find_pmu(pmu), event, &selection))
		fail_msg("%s", pmu_message(ctx));
	if (pmu_selection_model_on(&selection, machine ? pmu_find_machine(machine) : NULL, why,
				   sizeof(why)) != model ||
	    !strstr(why, says))
		fail_msg("%s on %s: \"%s\"", event, machine ? machine : "any", why);
	pmu_ctx_free(ctx);
}

/* Opcodes: 334291-001 table 2-20; states: table 2-18; tid: §2.3.2.3; nid: table 2-19. */
static void selections(void **state)
{
	static const struct {
		const char *event, *machine, *says; /* says: what makes it absent; "": it is not */
	} trials[] = {
	    {"cbo.TOR_INSERTS.OPCODE:opc=DRd", NULL, ""},
	    {"cbo.TOR_INSERTS.OPCODE:opc=ItoM", NULL, ""},
	    {"cbo.TOR_INSERTS.OPCODE:opc=0x19E", NULL, "opc=0x19E"},
	    {"cbo.TOR_INSERTS.MISS_OPCODE:opc=0x187", NULL, "no such request"},
	    {"cbo.TOR_INSERTS.OPCODE:opc=DRd:nc=1", NULL, "nc=1"},
	    {"cbo.TOR_INSERTS.ALL:tid_en:tid=0x3E", "xeon-e5v4-4c", "tid=0x3E"},
	    {"cbo.TOR_INSERTS.ALL:tid_en:tid=0x06", "xeon-e5v4-4c", ""},
	    {"cbo.TOR_INSERTS.ALL:tid_en:tid=0x08", "xeon-e5v4-4c", "no such core"},
	    {"cbo.TOR_INSERTS.ALL:tid_en:tid=0x08", "xeon-e5-2650v4-2s", ""},
	    {"cbo.TOR_INSERTS.ALL:tid_en:tid=0x01", NULL, "thread"},
	    {"cbo.TOR_INSERTS.NID_ALL:nid=0x1", "xeon-e5v4-4c", ""},
	    {"cbo.TOR_INSERTS.NID_ALL:nid=0x2", "xeon-e5v4-4c", "no such node"},
	    {"cbo.TOR_INSERTS.NID_ALL:nid=0x2", "xeon-e5-2650v4-2s", ""},
	    {"cbo.TOR_INSERTS.NID_ALL:nid=other_nodes", "xeon-e5v4-4c", "one socket"},
	    {"cbo.TOR_INSERTS.NID_ALL:nid=other_nodes", "xeon-e5-2650v4-2s", ""},
	    {"cbo.TOR_INSERTS.NID_ALL:nid=my_node", "xeon-e5v4-4c", ""},
	    {"cbo.TOR_INSERTS.REMOTE", "xeon-e5v4-4c", "one socket"},
	    {"cbo.TOR_INSERTS.REMOTE", "xeon-e5-2650v4-2s", ""},
	    {"core.DTLB_LOAD_MISSES.STLB_HIT", "xeon-e5v4-4c", ""},
	    {"core.DTLB_LOAD_MISSES.STLB_HIT_2M", NULL, ""},
	    {"core.DTLB_LOAD_MISSES.STLB_HIT_2M", "xeon-e5v4-4c", "no large pages"},
	    {"cbo.LLC_LOOKUP.ANY:state=I", NULL, ""},
	    {"cbo.LLC_LOOKUP.ANY:state=0x20", NULL, "no such state"},
	    {"cbo.LLC_LOOKUP.ANY:state=S", "xeon-e5v4-4c", "no such state"},
	    {"cbo.LLC_LOOKUP.ANY:state=S+I", "xeon-e5v4-4c", ""},
	    {"cbo.LLC_LOOKUP.ANY:state=S", "xeon-e5-2650v4-2s", ""},
	    {"cbo.LLC_VICTIMS.S_STATE", "xeon-e5v4-4c", "one socket"},
	    {"cbo.LLC_LOOKUP.REMOTE_SNOOP:state=I", "xeon-e5v4-4c", "one socket"},
	    {"cbo.LLC_LOOKUP.REMOTE_SNOOP:state=I", "xeon-e5-2650v4-2s", ""},
	    {"ha.REQUESTS.READS", "xeon-e5v4-4c", ""},
	    {"ha.REQUESTS.READS_REMOTE", "xeon-e5v4-4c", "one socket"},
	    {"ha.REQUESTS.READS_REMOTE", "xeon-e5-2650v4-2s", ""},
	    {"cbo.CLOCKTICKS", "xeon-e5v4-4c", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++) {
		struct pmu_selection selection;
		enum pmu_model model;

		assert_int_equal(
		    pmu_event_parse(NULL, pmu_find_pmu("xeon-e5v4"), trials[i].event, &selection),
		    0);
		model = selection.event->model;
		check("xeon-e5v4", trials[i].event, trials[i].machine,
		      *trials[i].says ? PMU_MODEL_ABSENT : model, trials[i].says);
	}
}

/* Of one signal, of two, with one that no machine has; and with thresholds. */
static void sums_of_unit_masks(void **state)
{
	static const struct {
		const char *event, *machine, *says;
		enum pmu_model model;
	} trials[] = {
	    {"core.L2_RQSTS.LD_HIT+RFO_MISS", "xeon-x5570-2s", "", PMU_MODEL_APPROXIMATE},
	    {"core.MEM_LOAD_RETIRED.L2_HIT+LLC_MISS", NULL, "", PMU_MODEL_APPROXIMATE},
	    {"core.MEM_LOAD_RETIRED.L2_HIT+DTLB_MISS", NULL, "locked loads", PMU_MODEL_ABSENT},
	    {"core.L2_LINES_OUT.ANY", NULL, "", PMU_MODEL_EXACT},
	    {"core.L2_LINES_OUT.DEMAND_CLEAN+PREFETCH_CLEAN", NULL, "not told", PMU_MODEL_ABSENT},
	    {"core.UOPS_EXECUTED.PORT0+PORT5", "xeon-x5570-2s", "", PMU_MODEL_APPROXIMATE},
	    {"core.UOPS_EXECUTED.PORT0:cmask=1", "xeon-x5570-2s", "", PMU_MODEL_APPROXIMATE},
	    {"core.UOPS_EXECUTED.PORT0+PORT5:cmask=1", NULL, "for each cycle", PMU_MODEL_ABSENT},
	    {"core.UOPS_EXECUTED.PORT015_STALL_CYCLES", NULL, "for each cycle", PMU_MODEL_ABSENT},
	    {"core.LSD.ACTIVE:cmask=2", NULL, "for each cycle", PMU_MODEL_ABSENT},
	    {"core.CPU_CLK_UNHALTED.TOTAL_CYCLES", NULL, "halted", PMU_MODEL_ABSENT},
	    {"core.DTLB_MISSES.LARGE_WALK_COMPLETED", "xeon-x5570-2s", "no large pages",
	     PMU_MODEL_ABSENT},
	    {"core.OFFCORE_RESPONSE_0.DATA_IN.IO_CSR_MMIO", NULL, "response=0x80",
	     PMU_MODEL_ABSENT},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++)
		check("nehalem", trials[i].event, trials[i].machine, trials[i].model,
		      trials[i].says);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_that_never_happens),
	    cmocka_unit_test(selections),
	    cmocka_unit_test(sums_of_unit_masks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
