/* The tables of docs/machine.md, "Slices" and "Home agent and the other socket", row by row. */
#include "machine_fixture.h"

#include "machine/address_space.h"
#include "machine/llc_index.h"

#define PAGES 1024
#define LINE  0x40u /* address of the line that everything is about; node 0 is its home */

/* Virtual and physical addresses are the same: pages are placed in order, on node 0. */
static void open_scene(struct scene *scene)
{
	struct pmu_machine desc = small_machine();

	open_machine(scene, &desc);
	enter_all(scene);
	for (unsigned page = 0; page < PAGES; page++)
		assert_int_equal(address_space_frame(scene->space, page, 0, 1), page);
}

static void load(struct scene *scene, unsigned core, uint64_t address)
{
	machine_load(scene->cores[core], address, 8, &plain);
}

static void store(struct scene *scene, unsigned core, uint64_t address)
{
	machine_store(scene->cores[core], address, 8, &plain);
}

static void fetch(struct scene *scene, unsigned core, uint64_t address)
{
	struct machine_block block;

	machine_block_init(scene->machine, &block, address, 4, 1, 0, 0);
	machine_run(scene->cores[core], &block);
}

static void stream(struct scene *scene, unsigned core, uint64_t address)
{
	for (unsigned part = 0; part < 4; part++)
		machine_store_nt(scene->cores[core], address + 16 * part, 16);
}

/* Takes LINE out of the LLC of @core's socket by filling its set with others. */
static void displace(struct scene *scene, unsigned core)
{
	const struct llc_index wanted = llc_index_of(scene->machine, LINE / 64);
	unsigned filled = 0;

	for (uint32_t line = 64; filled < scene->desc.llc.ways; line++) {
		struct llc_index index = llc_index_of(scene->machine, line);

		assert_true(line < PAGES * 64);
		if (index.slice != wanted.slice || index.set != wanted.set)
			continue;
		load(scene, core, line * 64ull);
		filled++;
	}
	assert_int_equal(machine_peek(scene->machine, MACHINE_LLC, core / scene->desc.cores, LINE),
			 'I');
}

/* Brings LINE into socket 1 (cores 2 and 3) in a state, and out of socket 0. */
static void prepare(struct scene *scene, char state)
{
	switch (state) {
	case 'E':
		load(scene, 2, LINE);
		break;
	case 'M':
		store(scene, 2, LINE);
		load(scene, 3, LINE); /* so that the LLC has the data */
		break;
	case 'F':
		fetch(scene, 2, LINE);
		break;
	case 'S':
		load(scene, 2, LINE);
		load(scene, 0, LINE);
		displace(scene, 0);
		break;
	default:
		break;
	}
	assert_int_equal(machine_peek(scene->machine, MACHINE_LLC, 1, LINE), state);
	assert_int_equal(machine_peek(scene->machine, MACHINE_LLC, 0, LINE), 'I');
}

struct row {
	char had;	   /* state in the snooped slice */
	uint32_t response; /* QUALIFIER_HOME_RESPONSE_* */
	char keeps;	   /* state left there */
	char gets;	   /* state in the requester's slice */
	unsigned writes;   /* data to memory by the snoop */
	bool was_clean;	   /* rspi_was_fse */
};

typedef void request(struct scene *scene, unsigned core, uint64_t address);

static void check_row(const struct row *row, request *ask, enum signal_request request,
		      unsigned own_writes)
{
	struct scene scene;
	const struct signal *found = NULL;

	open_scene(&scene);
	prepare(&scene, row->had);
	subscribe_to_all(&scene);
	ask(&scene, 0, LINE);
	for (size_t i = 0; i < scene.count; i++)
		if (scene.signals[i].id == SIGNAL_HOME_REQUEST &&
		    scene.signals[i].request == request)
			found = &scene.signals[i];
	assert_non_null(found);
	assert_int_equal(found->address, LINE);
	assert_int_equal(found->socket, 0);
	assert_int_equal(found->node, 0);
	assert_int_equal(found->unit, LINE / 64 % scene.desc.home_agents);
	assert_int_equal(count_signals(&scene, SIGNAL_HOME_RESPONSE, 0), 1);
	assert_int_equal(count_signals(&scene, SIGNAL_HOME_RESPONSE, row->response), 1);
	assert_int_equal(count_signals(&scene, SIGNAL_HOME_LOCAL_RESPONSE, row->response), 1);
	assert_int_equal(
	    count_signals(&scene, SIGNAL_HOME_MEMORY_WRITE, QUALIFIER_HOME_MEMORY_WRITE_FULL),
	    row->writes + own_writes);
	assert_int_equal(
	    count_signals(&scene, SIGNAL_LLC_OUTCOME, QUALIFIER_LLC_OUTCOME_SNOOPED_CLEAN),
	    row->was_clean);
	assert_int_equal(machine_peek(scene.machine, MACHINE_LLC, 1, LINE), row->keeps);
	assert_int_equal(machine_peek(scene.machine, MACHINE_LLC, 0, LINE), row->gets);
	for (unsigned core = 2; core < 4; core++) {
		char left = machine_peek(scene.machine, MACHINE_L1D, core, LINE);

		assert_true(left == 'I' || (left == 'S' && row->keeps == 'S'));
	}
	close_machine(&scene);
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

static char peek(const struct scene *scene, enum machine_level level, unsigned unit)
{
	return machine_peek(scene->machine, level, unit, LINE);
}

/* A core of the same socket has the line in M, E, S, or dropped it silently. */
static void reads_that_hit(void **unused)
{
	struct scene scene;

	(void)unused;
	open_scene(&scene);
	store(&scene, 0, LINE);
	assert_int_equal(peek(&scene, MACHINE_L1D, 0), 'M');
	assert_int_equal(peek(&scene, MACHINE_L2, 0), 'E');
	assert_int_equal(peek(&scene, MACHINE_LLC, 0), 'E');
	subscribe_to_all(&scene);
	load(&scene, 1, LINE);
	assert_int_equal(peek(&scene, MACHINE_L1D, 0), 'S');
	assert_int_equal(peek(&scene, MACHINE_L2, 0), 'S');
	assert_int_equal(peek(&scene, MACHINE_L1D, 1), 'S');
	assert_int_equal(peek(&scene, MACHINE_LLC, 0), 'M');
	assert_int_equal(machine_peek_core_valid(scene.machine, 0, LINE), 3);
	assert_int_equal(scene.count, 3); /* ingress, lookup, TOR: no miss */
	assert_int_equal(count_signals(&scene, SIGNAL_HOME_REQUEST, 0), 0);
	close_machine(&scene);

	open_scene(&scene);
	load(&scene, 0, LINE);
	load(&scene, 1, LINE);
	assert_int_equal(peek(&scene, MACHINE_L1D, 0), 'S');
	assert_int_equal(peek(&scene, MACHINE_L1D, 1), 'S');
	assert_int_equal(peek(&scene, MACHINE_LLC, 0), 'E');
	close_machine(&scene);

	open_scene(&scene);
	load(&scene, 0, LINE);
	for (unsigned i = 1; i <= 8; i++) /* out of L1D and L2, no writeback */
		load(&scene, 0, LINE + i * 512 * 64);
	assert_int_equal(peek(&scene, MACHINE_L2, 0), 'I');
	assert_int_equal(machine_peek_core_valid(scene.machine, 0, LINE), 1);
	load(&scene, 1, LINE);
	assert_int_equal(peek(&scene, MACHINE_L1D, 1), 'E');
	assert_int_equal(machine_peek_core_valid(scene.machine, 0, LINE), 2);
	close_machine(&scene);
}

static void ownership_that_hits(void **unused)
{
	struct scene scene;

	(void)unused;
	open_scene(&scene);
	store(&scene, 0, LINE);
	subscribe_to_all(&scene);
	store(&scene, 1, LINE);
	assert_int_equal(peek(&scene, MACHINE_L1D, 0), 'I');
	assert_int_equal(peek(&scene, MACHINE_L2, 0), 'I');
	assert_int_equal(peek(&scene, MACHINE_L1D, 1), 'M');
	assert_int_equal(peek(&scene, MACHINE_LLC, 0), 'M');
	assert_int_equal(machine_peek_core_valid(scene.machine, 0, LINE), 2);
	assert_int_equal(count_signals(&scene, SIGNAL_HOME_REQUEST, 0), 0);
	close_machine(&scene);

	/* S in this socket, F in the other. */
	open_scene(&scene);
	load(&scene, 0, LINE);
	load(&scene, 2, LINE);
	assert_int_equal(peek(&scene, MACHINE_LLC, 0), 'S');
	assert_int_equal(peek(&scene, MACHINE_LLC, 1), 'F');
	subscribe_to_all(&scene);
	store(&scene, 0, LINE);
	assert_int_equal(
	    count_signals(&scene, SIGNAL_LLC_OUTCOME, QUALIFIER_LLC_OUTCOME_OWN_HIT_SHARED), 1);
	assert_int_equal(
	    count_signals(&scene, SIGNAL_HOME_REQUEST, QUALIFIER_HOME_REQUEST_OWN_LOCAL), 1);
	assert_int_equal(count_signals(&scene, SIGNAL_LLC_REQUEST,
				       QUALIFIER_LLC_REQUEST_CORE | QUALIFIER_LLC_REQUEST_MISS),
			 1);
	assert_int_equal(count_signals(&scene, SIGNAL_HOME_MEMORY_READ, 0), 0);
	assert_int_equal(peek(&scene, MACHINE_LLC, 0), 'E');
	assert_int_equal(peek(&scene, MACHINE_LLC, 1), 'I');
	assert_int_equal(peek(&scene, MACHINE_L1D, 0), 'M');
	assert_int_equal(peek(&scene, MACHINE_L1D, 2), 'I');
	close_machine(&scene);
}

/*
 * Pushes LINE out of core 0's L1D, whose set has eight ways; the eighth line falls in LINE's set of
 * L2 too.
 */
static void leave_l1d(struct scene *scene)
{
	for (unsigned i = 1; i <= 8; i++)
		load(scene, 0, LINE + i * 64 * 64);
	assert_int_equal(peek(scene, MACHINE_L1D, 0), 'I');
}

static size_t count_requests(const struct scene *scene, enum signal_request request)
{
	size_t count = 0;

	for (size_t i = 0; i < scene->count; i++)
		count += scene->signals[i].id == SIGNAL_LLC_REQUEST &&
			 scene->signals[i].request == request &&
			 scene->signals[i].qualifiers & QUALIFIER_LLC_REQUEST_WRITEBACK;
	return count;
}

static void modified_lines_come_down(void **unused)
{
	struct scene scene;

	(void)unused;
	open_scene(&scene);
	store(&scene, 0, LINE);
	leave_l1d(&scene);
	assert_int_equal(peek(&scene, MACHINE_L2, 0), 'M');
	subscribe_to_all(&scene);
	for (unsigned i = 2; i <= 9; i++)
		load(&scene, 0, LINE + i * 512 * 64);
	assert_int_equal(peek(&scene, MACHINE_L2, 0), 'I');
	assert_int_equal(count_requests(&scene, REQUEST_WRITEBACK), 1);
	assert_int_equal(peek(&scene, MACHINE_LLC, 0), 'M');
	assert_int_equal(machine_peek_core_valid(scene.machine, 0, LINE), 0);
	close_machine(&scene);

	/* L1D reads it again before L2 lets go of it. */
	open_scene(&scene);
	store(&scene, 0, LINE);
	leave_l1d(&scene);
	load(&scene, 0, LINE);
	assert_int_equal(peek(&scene, MACHINE_L1D, 0), 'E');
	subscribe_to_all(&scene);
	for (unsigned i = 2; i <= 9; i++) {
		load(&scene, 0, LINE + i * 512 * 64);
		load(&scene, 0, LINE); /* keeps it recent in L1D only */
	}
	assert_int_equal(peek(&scene, MACHINE_L2, 0), 'I');
	assert_int_equal(peek(&scene, MACHINE_L1D, 0), 'E');
	assert_int_equal(count_requests(&scene, REQUEST_WRITEBACK_KEEP), 1);
	assert_int_equal(count_requests(&scene, REQUEST_WRITEBACK), 0);
	assert_int_equal(machine_peek_core_valid(scene.machine, 0, LINE), 1);
	close_machine(&scene);
}

static void streams_meet_modified_lines(void **unused)
{
	struct scene scene;

	(void)unused;
	open_scene(&scene);
	store(&scene, 0, LINE);
	subscribe_to_all(&scene);
	stream(&scene, 0, LINE); /* the core's own copy goes first */
	assert_int_equal(count_requests(&scene, REQUEST_WRITEBACK), 1);
	assert_int_equal(
	    count_signals(&scene, SIGNAL_LLC_OUTCOME, QUALIFIER_LLC_OUTCOME_STREAM_MET_MODIFIED),
	    1);
	assert_int_equal(
	    count_signals(&scene, SIGNAL_HOME_REQUEST, QUALIFIER_HOME_REQUEST_WRITE_LOCAL), 2);
	assert_int_equal(
	    count_signals(&scene, SIGNAL_HOME_REQUEST, QUALIFIER_HOME_REQUEST_OWN_LOCAL), 1);
	assert_int_equal(peek(&scene, MACHINE_LLC, 0), 'I');
	assert_int_equal(peek(&scene, MACHINE_L1D, 0), 'I');
	close_machine(&scene);
}

static void parts_of_lines_are_gathered(void **unused)
{
	struct scene scene;

	(void)unused;
	open_scene(&scene);
	subscribe_to_all(&scene);
	for (unsigned line = 0; line < 10; line++)
		machine_store_nt(scene.cores[0], line * 64, 16);
	assert_int_equal(scene.count, 0);
	machine_store_nt(scene.cores[0], 0, 16); /* line 1 is now the oldest */
	machine_store_nt(scene.cores[0], 10 * 64, 16);
	assert_int_equal(
	    count_signals(&scene, SIGNAL_HOME_MEMORY_WRITE, QUALIFIER_HOME_MEMORY_WRITE_PARTIAL),
	    1);
	for (size_t i = 0; i < scene.count; i++) {
		if (scene.signals[i].id == SIGNAL_HOME_REQUEST)
			assert_int_equal(scene.signals[i].address, 64);
		if (scene.signals[i].id == SIGNAL_LLC_REQUEST &&
		    scene.signals[i].qualifiers & QUALIFIER_LLC_REQUEST_CORE)
			assert_int_equal(scene.signals[i].request, REQUEST_STREAM_PART);
	}
	machine_store_nt(scene.cores[0], 16, 48); /* the rest of line 0 */
	assert_int_equal(
	    count_signals(&scene, SIGNAL_HOME_MEMORY_WRITE, QUALIFIER_HOME_MEMORY_WRITE_FULL), 1);
	machine_drain(scene.machine);
	assert_int_equal(
	    count_signals(&scene, SIGNAL_HOME_MEMORY_WRITE, QUALIFIER_HOME_MEMORY_WRITE_PARTIAL),
	    10);
	close_machine(&scene);
}

/* An access over the end of a line is two. */
static void splits_are_two_accesses(void **unused)
{
	struct machine_statistics stats;
	struct scene scene;

	(void)unused;
	open_scene(&scene);
	machine_load(scene.cores[0], 64 - 4, 8, &plain);
	machine_store(scene.cores[0], 256 - 1, 2, &plain);
	machine_store_nt(scene.cores[0], 1024 - 8, 16);
	machine_statistics(scene.machine, &stats);
	assert_int_equal(stats.loads, 2);
	assert_int_equal(stats.stores, 2);
	assert_int_equal(stats.nt_stores, 2);
	assert_int_equal(machine_peek(scene.machine, MACHINE_L1D, 0, 0), 'E');
	assert_int_equal(machine_peek(scene.machine, MACHINE_L1D, 0, 64), 'E');
	assert_int_equal(machine_peek(scene.machine, MACHINE_L1D, 0, 192), 'M');
	assert_int_equal(machine_peek(scene.machine, MACHINE_L1D, 0, 256), 'M');
	close_machine(&scene);
}

/* Socket 1 asks for a line of node 0, whose own socket is then the snooped one. */
static void remote_requests(void **unused)
{
	struct scene scene;

	(void)unused;
	open_scene(&scene);
	subscribe_to_all(&scene);
	load(&scene, 3, LINE);
	assert_int_equal(
	    count_signals(&scene, SIGNAL_HOME_REQUEST, QUALIFIER_HOME_REQUEST_READ_REMOTE), 1);
	assert_int_equal(count_signals(&scene, SIGNAL_HOME_DATA, QUALIFIER_HOME_DATA_TO_LINK), 1);
	assert_int_equal(count_signals(&scene, SIGNAL_HOME_SNOOP, QUALIFIER_HOME_SNOOP_REMOTE), 1);
	assert_int_equal(count_signals(&scene, SIGNAL_HOME_LOCAL_RESPONSE, 0), 0);
	for (size_t i = 0; i < scene.count; i++) {
		const struct signal *s = &scene.signals[i];

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
	close_machine(&scene);
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
