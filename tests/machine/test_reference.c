/* A million random accesses of several cores: the machine and the obvious model agree after each.
 */
#include <stdlib.h>
#include <string.h>

#include "machine/access.h"
#include "machine/llc_index.h"
#include "machine/miss.h"
#include "reference.h"
#include "support/cmocka.h"
#include "support/random.h"

#define DATA_BASE  0x10000000u
#define DATA_PAGES 100
#define CODE_BASE  0x20000000u
#define CODE_PAGES 8
#define ACCESSES   1000000
#define LOOK_OVER  10000 /* accesses between comparisons of every line */

struct fixture {
	struct pmu_machine desc;
	void *state;
	struct machine *machine;
	struct machine_address_space *space;
	struct machine_hart *cores[8];
	struct reference *reference;
	uint64_t data_lines[DATA_PAGES * PAGE_LINES], code_lines[CODE_PAGES * PAGE_LINES];
	uint64_t seen[2]; /* sums over what the machine, the reference emitted */
	uint64_t random;
	uint8_t enabled[SIGNAL_COUNT];
};

/* Order does not matter, so signals are summed; a sum of mixed words hides nothing in
 * practice. */
static uint64_t mix(const struct signal *signal)
{
	uint64_t word = signal->id | (uint64_t)signal->qualifiers << 8 |
			(uint64_t)signal->request << 24 | (uint64_t)signal->state << 36 |
			(uint64_t)signal->socket << 40 | (uint64_t)signal->unit << 44;

	if (signal->id == SIGNAL_LLC_LOOKUP || signal->id == SIGNAL_LLC_REQUEST ||
	    signal->id == SIGNAL_LLC_VICTIM)
		word |= (uint64_t)signal->node << 52;
	word *= 0x9e3779b97f4a7c15;
	word ^= word >> 29;
	word *= 0xbf58476d1ce4e5b9;
	return word ^ word >> 32;
}

/* What both emit; the rest depends on time. */
static bool compared(const struct signal *signal)
{
	switch (signal->id) {
	case SIGNAL_LLC_LOOKUP:
	case SIGNAL_LLC_VICTIM:
	case SIGNAL_LLC_REQUEST:
	case SIGNAL_LLC_OUTCOME:
	case SIGNAL_HOME_REQUEST:
	case SIGNAL_HOME_RESPONSE:
	case SIGNAL_HOME_LOCAL_RESPONSE:
	case SIGNAL_HOME_MEMORY_READ:
	case SIGNAL_HOME_MEMORY_WRITE:
		return true;
	default:
		return false;
	}
}

static void machine_says(void *subscriber, const struct signal *signal)
{
	struct fixture *fixture = subscriber;

	if (compared(signal))
		fixture->seen[0] += mix(signal);
}

static void reference_says(void *arg, const struct signal *signal)
{
	struct fixture *fixture = arg;

	fixture->seen[1] += mix(signal);
}

static struct reference_place locate(void *arg, uint64_t line)
{
	struct fixture *fixture = arg;
	struct llc_index index = llc_index_of(fixture->machine, (uint32_t)line);

	return (struct reference_place){index.slice, index.set};
}

enum kind { LOAD, STORE, LOCKED, FETCH, STREAM };

/* By what L2 is told: which lines its prefetchers ask for depends on time. */
static void prefetch_both(struct fixture *fixture, unsigned core, unsigned number, uint64_t line)
{
	static const enum signal_request requests[] = {
	    REQUEST_READ_DATA,	   REQUEST_READ_CODE,	  REQUEST_READ_OWN,
	    REQUEST_PREFETCH_DATA, REQUEST_PREFETCH_CODE, REQUEST_PREFETCH_OWN,
	};
	const enum signal_request request = requests[number % 6];
	const struct prefetch_plan plan = {.requests = {{(uint32_t)line, request}}, .count = 1};
	struct machine_hart *hart = fixture->cores[core];

	lock_acquire(&hart->core->caches, hart->thread);
	miss_prefetch(hart, &plan, REQUEST_READ_DATA, machine_now(fixture->machine));
	reference_prefetch(fixture->reference, core, line, request);
}

static void access_both(struct fixture *fixture, unsigned core, enum kind kind, uint64_t address,
			uint64_t line)
{
	static const struct machine_insn insn = {0};
	struct machine_hart *c = fixture->cores[core];
	struct machine_block block;
	unsigned offset = (unsigned)(address % 64) & ~7u;

	machine_hart_resume(c);
	switch (kind) {
	case LOAD:
		machine_load(c, address & ~7ull, 8, &insn);
		reference_load(fixture->reference, core, line);
		break;
	case STORE:
		machine_store(c, address & ~7ull, 8, &insn);
		reference_store(fixture->reference, core, line);
		break;
	case LOCKED:
		machine_locked(c, address & ~7ull, 8, &insn);
		reference_store(fixture->reference, core, line);
		break;
	case FETCH:
		machine_block_init(fixture->machine, &block, address, 1, 1, 0, 0);
		machine_run(c, &block);
		reference_fetch(fixture->reference, core, line);
		break;
	case STREAM:
		machine_store_nt(c, address & ~7ull, 8);
		reference_store_nt(fixture->reference, core, line, offset, 8);
		break;
	}
	machine_hart_pause(c);
}

static void compare_line(const struct fixture *fixture, uint64_t line)
{
	const struct machine *m = fixture->machine;
	const struct reference *r = fixture->reference;
	uint64_t address = line * 64;

	for (unsigned core = 0; core < fixture->desc.sockets * fixture->desc.cores; core++) {
		assert_int_equal(machine_peek(m, MACHINE_L1D, core, address),
				 reference_state(r, REFERENCE_L1D, core, line));
		assert_int_equal(machine_peek(m, MACHINE_L1I, core, address),
				 reference_state(r, REFERENCE_L1I, core, line));
		assert_int_equal(machine_peek(m, MACHINE_L2, core, address),
				 reference_state(r, REFERENCE_L2, core, line));
	}
	for (unsigned socket = 0; socket < fixture->desc.sockets; socket++) {
		assert_int_equal(machine_peek(m, MACHINE_LLC, socket, address),
				 reference_state(r, REFERENCE_LLC, socket, line));
		assert_int_equal(machine_peek_core_valid(m, socket, address),
				 reference_core_valid(r, socket, line));
	}
}

static void compare_all(const struct fixture *fixture)
{
	for (unsigned i = 0; i < DATA_PAGES * PAGE_LINES; i++)
		compare_line(fixture, fixture->data_lines[i]);
	for (unsigned i = 0; i < CODE_PAGES * PAGE_LINES; i++)
		compare_line(fixture, fixture->code_lines[i]);
}

/* Places every page by a first touch, half of them on each socket; frames go out in order. */
static void touch_pages(struct fixture *fixture)
{
	uint64_t node_lines = fixture->desc.memory_bytes / 64, next[2] = {0};

	for (unsigned page = 0; page < DATA_PAGES + CODE_PAGES; page++) {
		unsigned socket = page % fixture->desc.sockets;
		bool code = page >= DATA_PAGES;
		uint64_t line = socket * node_lines + next[socket]++ * PAGE_LINES;
		uint64_t address =
		    code ? CODE_BASE + (page - DATA_PAGES) * 4096ull : DATA_BASE + page * 4096ull;
		uint64_t *lines = code ? fixture->code_lines + (page - DATA_PAGES) * PAGE_LINES
				       : fixture->data_lines + page * PAGE_LINES;

		for (unsigned i = 0; i < PAGE_LINES; i++)
			lines[i] = line + i;
		access_both(fixture, socket * fixture->desc.cores, code ? FETCH : LOAD, address,
			    line);
	}
}

static void fixture_up(struct fixture *fixture, const struct pmu_machine *like, unsigned sockets,
		       unsigned slices, unsigned llc_sets, unsigned home_agents)
{
	struct signal_port port = {
	    .subscriber = fixture, .emit = machine_says, .enabled = fixture->enabled};

	*fixture = (struct fixture){.desc = *like, .random = 88172645463325252};
	fixture->desc.prefetchers = 0;
	fixture->desc.translation = "none";
	memset(fixture->enabled, 1, sizeof(fixture->enabled));
	fixture->desc.sockets = sockets;
	fixture->desc.cores = 3;
	fixture->desc.slices = slices;
	fixture->desc.llc.sets = llc_sets;
	fixture->desc.memory_bytes = 1 << 27;
	fixture->desc.home_agents = home_agents;
	fixture->state = aligned_alloc(64, (machine_state_size(&fixture->desc) + 63) & ~63ull);
	assert_non_null(fixture->state);
	memset(fixture->state, 0, machine_state_size(&fixture->desc));
	assert_int_equal(
	    machine_open(&fixture->machine, NULL, &fixture->desc, fixture->state, true), 0);
	machine_connect(fixture->machine, &port);
	assert_int_equal(machine_address_space_new(&fixture->space, fixture->machine), 0);
	fixture->reference = reference_new(&fixture->desc, locate, reference_says, fixture);
	for (unsigned core = 0; core < sockets * 3; core++) {
		fixture->cores[core] = machine_hart_enter(fixture->machine, fixture->space, 0);
		assert_non_null(fixture->cores[core]);
	}
	for (unsigned core = 0; core < sockets * 3; core++)
		machine_hart_pause(fixture->cores[core]);
	touch_pages(fixture);
	compare_all(fixture);
	assert_int_equal(fixture->seen[0], fixture->seen[1]);
}

static void fixture_down(struct fixture *fixture)
{
	for (unsigned core = 0; core < fixture->desc.sockets * 3; core++) {
		machine_hart_resume(fixture->cores[core]);
		machine_hart_leave(fixture->cores[core]);
	}
	reference_free(fixture->reference);
	machine_address_space_free(fixture->space);
	machine_close(fixture->machine);
	free(fixture->state);
}

/* A few lines are wanted by everybody, most are not; each phase moves the balance of kinds. */
static void random_access(struct fixture *fixture, unsigned number)
{
	uint64_t random = next_random(&fixture->random);
	unsigned core = (unsigned)(random % (fixture->desc.sockets * 3)), percent, index;
	unsigned phase = number / (ACCESSES / 8);
	enum kind kind;

	random >>= 8;
	percent = (unsigned)(random % 100);
	random >>= 8;
	index = (unsigned)(random >> 8) % (random & 1 ? 256 : DATA_PAGES * PAGE_LINES);
	if (percent < 10) {
		index %= CODE_PAGES * PAGE_LINES;
		access_both(fixture, core, FETCH, CODE_BASE + index * 64ull,
			    fixture->code_lines[index]);
		compare_line(fixture, fixture->code_lines[index]);
		return;
	}
	if (percent < 15) {
		prefetch_both(fixture, core, (unsigned)(random >> 40), fixture->data_lines[index]);
		compare_line(fixture, fixture->data_lines[index]);
		return;
	}
	kind = percent < 50 - 4 * phase ? LOAD
	       : percent < 90		? STORE
	       : percent < 95		? LOCKED
					: STREAM;
	access_both(fixture, core, kind, DATA_BASE + index * 64ull + (random >> 40) % 64,
		    fixture->data_lines[index]);
	compare_line(fixture, fixture->data_lines[index]);
}

static void agree(const struct pmu_machine *like, unsigned sockets, unsigned slices,
		  unsigned llc_sets, unsigned home_agents)
{
	static struct fixture fixture;

	fixture_up(&fixture, like, sockets, slices, llc_sets, home_agents);
	for (unsigned number = 0; number < ACCESSES; number++) {
		random_access(&fixture, number);
		assert_int_equal(fixture.seen[0], fixture.seen[1]);
		if (number % LOOK_OVER == 0)
			compare_all(&fixture);
	}
	compare_all(&fixture);
	fixture_down(&fixture);
}

/* An LLC smaller than the private caches: lines are taken from cores all the time. */
static void two_sockets(void **unused)
{
	(void)unused;
	agree(pmu_find_machine("xeon-e5-2699v4-2s"), 2, 3, 16, 2);
}

static void two_sockets_larger_llc(void **unused)
{
	(void)unused;
	agree(pmu_find_machine("xeon-e5-2699v4-2s"), 2, 5, 64, 1);
}

static void one_socket(void **unused)
{
	(void)unused;
	agree(pmu_find_machine("xeon-e5v4-4c"), 1, 4, 32, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(two_sockets),
	    cmocka_unit_test(two_sockets_larger_llc),
	    cmocka_unit_test(one_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
