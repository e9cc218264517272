/* The tables of docs/machine.md, "Slices" and "Home agent and the other socket", row by row. */
#include "machine_fixture.h"

#include "machine/address_space.h"
#include "machine/llc_index.h"

#define PAGES 1024
#define LINE  0x40u /* address of the line that everything is about; node 0 is its home */

/* Virtual and physical addresses are the same: pages are placed in order, on node 0. */
static void fixture_up_small(struct fixture *fixture)
{
	struct pmu_machine desc = small_machine();

	fixture_up(fixture, &desc);
	enter_all(fixture);
	for (unsigned page = 0; page < PAGES; page++)
		assert_int_equal(address_space_frame(fixture->space, page, fixture->cores[0]),
				 page);
}

static void load(struct fixture *fixture, unsigned core, uint64_t address)
{
	machine_load(fixture->cores[core], address, 8, &plain);
}

static void store(struct fixture *fixture, unsigned core, uint64_t address)
{
	machine_store(fixture->cores[core], address, 8, &plain);
}

static void fetch(struct fixture *fixture, unsigned core, uint64_t address)
{
	struct machine_block block;

	machine_block_init(fixture->machine, &block, address, 4, 1, 0, 0);
	machine_run(fixture->cores[core], &block);
}

static void stream(struct fixture *fixture, unsigned core, uint64_t address)
{
	for (unsigned part = 0; part < 4; part++)
		machine_store_nt(fixture->cores[core], address + 16 * part, 16);
}

/* Takes LINE out of the LLC of @core's socket by filling its set with others. */
static void displace(struct fixture *fixture, unsigned core)
{
	const struct llc_index wanted = llc_index_of(fixture->machine, LINE / 64);
	unsigned filled = 0;

	for (uint32_t line = 64; filled < fixture->desc.llc.ways; line++) {
		struct llc_index index = llc_index_of(fixture->machine, line);

		assert_true(line < PAGES * 64);
		if (index.slice != wanted.slice || index.set != wanted.set)
			continue;
		load(fixture, core, line * 64ull);
		filled++;
	}
	assert_int_equal(
	    machine_peek(fixture->machine, MACHINE_LLC, core / fixture->desc.cores, LINE), 'I');
}

/* Brings LINE into socket 1 (cores 2 and 3) in a state, and out of socket 0. */
static void prepare(struct fixture *fixture, char state)
{
	switch (state) {
	case 'E':
		load(fixture, 2, LINE);
		break;
	case 'M':
		store(fixture, 2, LINE);
		load(fixture, 3, LINE); /* so that the LLC has the data */
		break;
	case 'F':
		fetch(fixture, 2, LINE);
		break;
	case 'S':
		load(fixture, 2, LINE);
		load(fixture, 0, LINE);
		displace(fixture, 0);
		break;
	default:
		break;
	}
	assert_int_equal(machine_peek(fixture->machine, MACHINE_LLC, 1, LINE), state);
	assert_int_equal(machine_peek(fixture->machine, MACHINE_LLC, 0, LINE), 'I');
}

struct row {
	char had;	   /* state in the snooped slice */
	uint32_t response; /* QUALIFIER_HOME_RESPONSE_* */
	char keeps;	   /* state left there */
	char gets;	   /* state in the requester's slice */
	unsigned writes;   /* data to memory by the snoop */
	bool was_clean;	   /* rspi_was_fse */
};

typedef void request(struct fixture *fixture, unsigned core, uint64_t address);

static void check_row(const struct row *row, request *ask, enum signal_request request,
		      unsigned own_writes)
{
	struct fixture fixture;
	const struct signal *found = NULL;

	fixture_up_small(&fixture);
	prepare(&fixture, row->had);
	subscribe_to_all(&fixture);
	ask(&fixture, 0, LINE);
	for (size_t i = 0; i < fixture.count; i++)
		if (fixture.signals[i].id == SIGNAL_HOME_REQUEST &&
		    fixture.signals[i].request == request)
			found = &fixture.signals[i];
	assert_non_null(found);
	assert_int_equal(found->address, LINE);
	assert_int_equal(found->socket, 0);
	assert_int_equal(found->node, 0);
	assert_int_equal(found->unit, LINE / 64 % fixture.desc.home_agents);
	assert_int_equal(count_signals(&fixture, SIGNAL_HOME_RESPONSE, 0), 1);
	assert_int_equal(count_signals(&fixture, SIGNAL_HOME_RESPONSE, row->response), 1);
	assert_int_equal(count_signals(&fixture, SIGNAL_HOME_LOCAL_RESPONSE, row->response), 1);
	assert_int_equal(
	    count_signals(&fixture, SIGNAL_HOME_MEMORY_WRITE, QUALIFIER_HOME_MEMORY_WRITE_FULL),
	    row->writes + own_writes);
	assert_int_equal(
	    count_signals(&fixture, SIGNAL_LLC_OUTCOME, QUALIFIER_LLC_OUTCOME_SNOOPED_CLEAN),
	    row->was_clean);
	assert_int_equal(machine_peek(fixture.machine, MACHINE_LLC, 1, LINE), row->keeps);
	assert_int_equal(machine_peek(fixture.machine, MACHINE_LLC, 0, LINE), row->gets);
	for (unsigned core = 2; core < 4; core++) {
		char left = machine_peek(fixture.machine, MACHINE_L1D, core, LINE);

		assert_true(left == 'I' || (left == 'S' && row->keeps == 'S'));
	}
	fixture_down(&fixture);
}

#define CHECK_ROWS(rows, ...)                                                                      \
	for (size_t i = 0; i < sizeof(rows) / sizeof((rows)[0]); i++)                              \
	check_row(&(rows)[i], __VA_ARGS__)

static void snoops_for_rd_data(void **unused)
{
	static const struct row rows[] = {
	    {'I', QUALIFIER_HOME_RESPONSE_INVALID, 'I', 'E', 0, false},
	    {'S', QUALIFIER_HOME_RESPONSE_SHARED, 'S', 'F', 0, false},
	    {'F', QUALIFIER_HOME_RESPONSE_SHARED_FORWARDED, 'S', 'F', 0, false},
	    {'E', QUALIFIER_HOME_RESPONSE_SHARED_FORWARDED, 'S', 'F', 0, false},
	    {'M', QUALIFIER_HOME_RESPONSE_WRITTEN_BACK, 'S', 'F', 1, false},
	};

	(void)unused;
	CHECK_ROWS(rows, load, REQUEST_READ_DATA, 0);
}

static void snoops_for_rd_code(void **unused)
{
	static const struct row rows[] = {
	    {'I', QUALIFIER_HOME_RESPONSE_INVALID, 'I', 'F', 0, false},
	    {'S', QUALIFIER_HOME_RESPONSE_SHARED, 'S', 'F', 0, false},
	    {'F', QUALIFIER_HOME_RESPONSE_SHARED_FORWARDED, 'S', 'F', 0, false},
	    {'E', QUALIFIER_HOME_RESPONSE_SHARED_FORWARDED, 'S', 'F', 0, false},
	    {'M', QUALIFIER_HOME_RESPONSE_WRITTEN_BACK, 'S', 'F', 1, false},
	};

	(void)unused;
	CHECK_ROWS(rows, fetch, REQUEST_READ_CODE, 0);
}

static void snoops_for_rd_inv_own(void **unused)
{
	static const struct row rows[] = {
	    {'I', QUALIFIER_HOME_RESPONSE_INVALID, 'I', 'E', 0, false},
	    {'S', QUALIFIER_HOME_RESPONSE_INVALID, 'I', 'E', 0, true},
	    {'F', QUALIFIER_HOME_RESPONSE_INVALID_FORWARDED, 'I', 'E', 0, false},
	    {'E', QUALIFIER_HOME_RESPONSE_INVALID_FORWARDED, 'I', 'E', 0, false},
	    {'M', QUALIFIER_HOME_RESPONSE_INVALID_FORWARDED, 'I', 'M', 0, false},
	};

	(void)unused;
	CHECK_ROWS(rows, store, REQUEST_READ_OWN, 0);
}

/* The stream's own write comes on top. */
static void snoops_for_inv_i_to_e(void **unused)
{
	static const struct row rows[] = {
	    {'I', QUALIFIER_HOME_RESPONSE_INVALID, 'I', 'I', 0, false},
	    {'S', QUALIFIER_HOME_RESPONSE_INVALID, 'I', 'I', 0, true},
	    {'F', QUALIFIER_HOME_RESPONSE_INVALID, 'I', 'I', 0, true},
	    {'E', QUALIFIER_HOME_RESPONSE_INVALID, 'I', 'I', 0, true},
	    {'M', QUALIFIER_HOME_RESPONSE_WRITTEN_BACK, 'I', 'I', 1, false},
	};

	(void)unused;
	CHECK_ROWS(rows, stream, REQUEST_OWN, 1);
}

static char peek(const struct fixture *fixture, enum machine_level level, unsigned unit)
{
	return machine_peek(fixture->machine, level, unit, LINE);
}

/* A core of the same socket has the line in M, E, S, or dropped it silently. */
static void reads_that_hit(void **unused)
{
	struct fixture fixture;

	(void)unused;
	fixture_up_small(&fixture);
	store(&fixture, 0, LINE);
	assert_int_equal(peek(&fixture, MACHINE_L1D, 0), 'M');
	assert_int_equal(peek(&fixture, MACHINE_L2, 0), 'E');
	assert_int_equal(peek(&fixture, MACHINE_LLC, 0), 'E');
	subscribe_to_all(&fixture);
	load(&fixture, 1, LINE);
	assert_int_equal(peek(&fixture, MACHINE_L1D, 0), 'S');
	assert_int_equal(peek(&fixture, MACHINE_L2, 0), 'S');
	assert_int_equal(peek(&fixture, MACHINE_L1D, 1), 'S');
	assert_int_equal(peek(&fixture, MACHINE_LLC, 0), 'M');
	assert_int_equal(machine_peek_core_valid(fixture.machine, 0, LINE), 3);
	/* Ingress, lookup, TOR, and of the last what it is and until when it looks up: no miss. */
	assert_int_equal(fixture.count, 5);
	assert_int_equal(count_signals(&fixture, SIGNAL_HOME_REQUEST, 0), 0);
	fixture_down(&fixture);

	fixture_up_small(&fixture);
	load(&fixture, 0, LINE);
	load(&fixture, 1, LINE);
	assert_int_equal(peek(&fixture, MACHINE_L1D, 0), 'S');
	assert_int_equal(peek(&fixture, MACHINE_L1D, 1), 'S');
	assert_int_equal(peek(&fixture, MACHINE_LLC, 0), 'E');
	fixture_down(&fixture);

	fixture_up_small(&fixture);
	load(&fixture, 0, LINE);
	for (unsigned i = 1; i <= 8; i++) /* out of L1D and L2, no writeback */
		load(&fixture, 0, LINE + i * 512 * 64);
	assert_int_equal(peek(&fixture, MACHINE_L2, 0), 'I');
	assert_int_equal(machine_peek_core_valid(fixture.machine, 0, LINE), 1);
	load(&fixture, 1, LINE);
	assert_int_equal(peek(&fixture, MACHINE_L1D, 1), 'E');
	assert_int_equal(machine_peek_core_valid(fixture.machine, 0, LINE), 2);
	fixture_down(&fixture);
}

static void ownership_that_hits(void **unused)
{
	struct fixture fixture;

	(void)unused;
	fixture_up_small(&fixture);
	store(&fixture, 0, LINE);
	subscribe_to_all(&fixture);
	store(&fixture, 1, LINE);
	assert_int_equal(peek(&fixture, MACHINE_L1D, 0), 'I');
	assert_int_equal(peek(&fixture, MACHINE_L2, 0), 'I');
	assert_int_equal(peek(&fixture, MACHINE_L1D, 1), 'M');
	assert_int_equal(peek(&fixture, MACHINE_LLC, 0), 'M');
	assert_int_equal(machine_peek_core_valid(fixture.machine, 0, LINE), 2);
	assert_int_equal(count_signals(&fixture, SIGNAL_HOME_REQUEST, 0), 0);
	fixture_down(&fixture);

	/* S in this socket, F in the other. */
	fixture_up_small(&fixture);
	load(&fixture, 0, LINE);
	load(&fixture, 2, LINE);
	assert_int_equal(peek(&fixture, MACHINE_LLC, 0), 'S');
	assert_int_equal(peek(&fixture, MACHINE_LLC, 1), 'F');
	subscribe_to_all(&fixture);
	store(&fixture, 0, LINE);
	assert_int_equal(
	    count_signals(&fixture, SIGNAL_LLC_OUTCOME, QUALIFIER_LLC_OUTCOME_OWN_HIT_SHARED), 1);
	assert_int_equal(
	    count_signals(&fixture, SIGNAL_HOME_REQUEST, QUALIFIER_HOME_REQUEST_OWN_LOCAL), 1);
	assert_int_equal(count_signals(&fixture, SIGNAL_LLC_REQUEST,
				       QUALIFIER_LLC_REQUEST_CORE | QUALIFIER_LLC_REQUEST_MISS),
			 1);
	assert_int_equal(count_signals(&fixture, SIGNAL_HOME_MEMORY_READ, 0), 0);
	assert_int_equal(peek(&fixture, MACHINE_LLC, 0), 'E');
	assert_int_equal(peek(&fixture, MACHINE_LLC, 1), 'I');
	assert_int_equal(peek(&fixture, MACHINE_L1D, 0), 'M');
	assert_int_equal(peek(&fixture, MACHINE_L1D, 2), 'I');
	fixture_down(&fixture);
}

/*
 * Pushes LINE out of core 0's L1D, whose set has eight ways; the eighth line falls in LINE's set of
 * L2 too.
 */
static void leave_l1d(struct fixture *fixture)
{
	for (unsigned i = 1; i <= 8; i++)
		load(fixture, 0, LINE + i * 64 * 64);
	assert_int_equal(peek(fixture, MACHINE_L1D, 0), 'I');
}

static size_t count_writebacks(const struct fixture *fixture, enum signal_request request)
{
	size_t count = 0;

	for (size_t i = 0; i < fixture->count; i++)
		count += fixture->signals[i].id == SIGNAL_LLC_REQUEST &&
			 fixture->signals[i].request == request &&
			 fixture->signals[i].qualifiers & QUALIFIER_LLC_REQUEST_WRITEBACK;
	return count;
}

static void modified_lines_come_down(void **unused)
{
	struct fixture fixture;

	(void)unused;
	fixture_up_small(&fixture);
	store(&fixture, 0, LINE);
	leave_l1d(&fixture);
	assert_int_equal(peek(&fixture, MACHINE_L2, 0), 'M');
	subscribe_to_all(&fixture);
	for (unsigned i = 2; i <= 9; i++)
		load(&fixture, 0, LINE + i * 512 * 64);
	assert_int_equal(peek(&fixture, MACHINE_L2, 0), 'I');
	assert_int_equal(count_writebacks(&fixture, REQUEST_WRITEBACK), 1);
	assert_int_equal(peek(&fixture, MACHINE_LLC, 0), 'M');
	assert_int_equal(machine_peek_core_valid(fixture.machine, 0, LINE), 0);
	fixture_down(&fixture);

	/* L1D reads it again before L2 lets go of it. */
	fixture_up_small(&fixture);
	store(&fixture, 0, LINE);
	leave_l1d(&fixture);
	load(&fixture, 0, LINE);
	assert_int_equal(peek(&fixture, MACHINE_L1D, 0), 'E');
	subscribe_to_all(&fixture);
	for (unsigned i = 2; i <= 9; i++) {
		load(&fixture, 0, LINE + i * 512 * 64);
		load(&fixture, 0, LINE); /* keeps it recent in L1D only */
	}
	assert_int_equal(peek(&fixture, MACHINE_L2, 0), 'I');
	assert_int_equal(peek(&fixture, MACHINE_L1D, 0), 'E');
	assert_int_equal(count_writebacks(&fixture, REQUEST_WRITEBACK_KEEP), 1);
	assert_int_equal(count_writebacks(&fixture, REQUEST_WRITEBACK), 0);
	assert_int_equal(machine_peek_core_valid(fixture.machine, 0, LINE), 1);
	fixture_down(&fixture);
}

static void streams_meet_modified_lines(void **unused)
{
	struct fixture fixture;

	(void)unused;
	fixture_up_small(&fixture);
	store(&fixture, 0, LINE);
	subscribe_to_all(&fixture);
	stream(&fixture, 0, LINE); /* the core's own copy goes first */
	assert_int_equal(count_writebacks(&fixture, REQUEST_WRITEBACK), 1);
	assert_int_equal(
	    count_signals(&fixture, SIGNAL_LLC_OUTCOME, QUALIFIER_LLC_OUTCOME_STREAM_MET_MODIFIED),
	    1);
	assert_int_equal(
	    count_signals(&fixture, SIGNAL_HOME_REQUEST, QUALIFIER_HOME_REQUEST_WRITE_LOCAL), 2);
	assert_int_equal(
	    count_signals(&fixture, SIGNAL_HOME_REQUEST, QUALIFIER_HOME_REQUEST_OWN_LOCAL), 1);
	assert_int_equal(peek(&fixture, MACHINE_LLC, 0), 'I');
	assert_int_equal(peek(&fixture, MACHINE_L1D, 0), 'I');
	fixture_down(&fixture);
}

static void parts_of_lines_are_gathered(void **unused)
{
	struct fixture fixture;

	(void)unused;
	fixture_up_small(&fixture);
	subscribe_to_all(&fixture);
	for (unsigned line = 0; line < 10; line++)
		machine_store_nt(fixture.cores[0], line * 64, 16);
	assert_int_equal(fixture.count, 0);
	machine_store_nt(fixture.cores[0], 0, 16); /* line 1 is now the oldest */
	machine_store_nt(fixture.cores[0], 10 * 64, 16);
	assert_int_equal(
	    count_signals(&fixture, SIGNAL_HOME_MEMORY_WRITE, QUALIFIER_HOME_MEMORY_WRITE_PARTIAL),
	    1);
	for (size_t i = 0; i < fixture.count; i++) {
		if (fixture.signals[i].id == SIGNAL_HOME_REQUEST)
			assert_int_equal(fixture.signals[i].address, 64);
		if (fixture.signals[i].id == SIGNAL_LLC_REQUEST &&
		    fixture.signals[i].qualifiers & QUALIFIER_LLC_REQUEST_CORE)
			assert_int_equal(fixture.signals[i].request, REQUEST_STREAM_PART);
	}
	machine_store_nt(fixture.cores[0], 16, 48); /* the rest of line 0 */
	assert_int_equal(
	    count_signals(&fixture, SIGNAL_HOME_MEMORY_WRITE, QUALIFIER_HOME_MEMORY_WRITE_FULL), 1);
	machine_drain(fixture.machine);
	assert_int_equal(
	    count_signals(&fixture, SIGNAL_HOME_MEMORY_WRITE, QUALIFIER_HOME_MEMORY_WRITE_PARTIAL),
	    10);
	fixture_down(&fixture);
}

/* An access over the end of a line is two. */
static void splits_are_two_accesses(void **unused)
{
	struct machine_statistics stats;
	struct fixture fixture;

	(void)unused;
	fixture_up_small(&fixture);
	machine_load(fixture.cores[0], 64 - 4, 8, &plain);
	machine_store(fixture.cores[0], 256 - 1, 2, &plain);
	machine_store_nt(fixture.cores[0], 1024 - 8, 16);
	machine_statistics(fixture.machine, &stats);
	assert_int_equal(stats.loads, 2);
	assert_int_equal(stats.stores, 2);
	assert_int_equal(stats.nt_stores, 2);
	assert_int_equal(machine_peek(fixture.machine, MACHINE_L1D, 0, 0), 'E');
	assert_int_equal(machine_peek(fixture.machine, MACHINE_L1D, 0, 64), 'E');
	assert_int_equal(machine_peek(fixture.machine, MACHINE_L1D, 0, 192), 'M');
	assert_int_equal(machine_peek(fixture.machine, MACHINE_L1D, 0, 256), 'M');
	fixture_down(&fixture);
}

/* Socket 1 asks for a line of node 0, whose own socket is then the snooped one. */
static void remote_requests(void **unused)
{
	struct fixture fixture;

	(void)unused;
	fixture_up_small(&fixture);
	subscribe_to_all(&fixture);
	load(&fixture, 3, LINE);
	assert_int_equal(
	    count_signals(&fixture, SIGNAL_HOME_REQUEST, QUALIFIER_HOME_REQUEST_READ_REMOTE), 1);
	assert_int_equal(count_signals(&fixture, SIGNAL_HOME_DATA, QUALIFIER_HOME_DATA_TO_LINK), 1);
	assert_int_equal(count_signals(&fixture, SIGNAL_HOME_SNOOP, QUALIFIER_HOME_SNOOP_REMOTE),
			 1);
	assert_int_equal(count_signals(&fixture, SIGNAL_HOME_LOCAL_RESPONSE, 0), 0);
	for (size_t i = 0; i < fixture.count; i++) {
		const struct signal *s = &fixture.signals[i];

		if (s->id == SIGNAL_HOME_REQUEST)
			assert_int_equal(s->node, 1);
		if (s->id == SIGNAL_LLC_LOOKUP && s->socket == 1) {
			assert_int_equal(s->core, 1);
			assert_int_equal(s->thread, 0);
		}
		if (s->id == SIGNAL_LLC_REQUEST && s->socket == 1)
			assert_true(s->qualifiers & QUALIFIER_LLC_REQUEST_REMOTE);
		if (s->id == SIGNAL_LLC_REQUEST && s->socket == 0) {
			assert_int_equal(s->qualifiers, QUALIFIER_LLC_REQUEST_LOCAL);
			assert_int_equal(s->core, SIGNAL_NO_CORE);
		}
		if (s->id == SIGNAL_LLC_LOOKUP || s->id == SIGNAL_LLC_REQUEST)
			assert_int_equal(s->node, 0);
	}
	fixture_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(snoops_for_rd_data),
	    cmocka_unit_test(snoops_for_rd_code),
	    cmocka_unit_test(snoops_for_rd_inv_own),
	    cmocka_unit_test(snoops_for_inv_i_to_e),
	    cmocka_unit_test(reads_that_hit),
	    cmocka_unit_test(ownership_that_hits),
	    cmocka_unit_test(modified_lines_come_down),
	    cmocka_unit_test(streams_meet_modified_lines),
	    cmocka_unit_test(parts_of_lines_are_gathered),
	    cmocka_unit_test(splits_are_two_accesses),
	    cmocka_unit_test(remote_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
