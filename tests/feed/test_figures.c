/*
 * The tables of latencies and bandwidths in docs/machine.md, against what the machines give, and of
 * loops of one core, and of ten, against what is published too.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "machine/access.h"
#include "support/cmocka.h"
#include "support/prefetchers.h"

#define KB	  1024u
#define MB	  (1024u * KB)
#define LINE	  64u
#define ACCESS	  16u /* bytes an instruction */
#define WIDE	  32u /* of the loops */
#define NEAR	  0.15
#define PAGE	  4096u
#define CODE	  0x400000u
#define DATA	  0x10000000ull
#define CORES_MAX 64

/* Arrays that begin alike in large pages would have their rows in the same banks. */
#define APART (35 * 32 * KB + 12 * KB)

static const struct machine_insn independent;

#define ALL 0xFu /* prefetchers */

struct fixture {
	struct pmu_machine machine_desc;
	const struct pmu_machine *desc;
	void *state;
	struct machine *machine;
	struct machine_address_space *space;
};

static void open_fixture(struct fixture *fixture, const struct pmu_machine *desc)
{
	size_t size = machine_state_size(desc);

	/* Published figures are of large pages. */
	fixture->machine_desc = *desc;
	fixture->machine_desc.translation = "none";
	fixture->desc = &fixture->machine_desc;
	fixture->state =
	    mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(fixture->state != MAP_FAILED);
	assert_int_equal(machine_open(&fixture->machine, NULL, fixture->desc, fixture->state, true),
			 0);
	assert_int_equal(machine_address_space_new(&fixture->space, fixture->machine), 0);
}

static void close_fixture(struct fixture *fixture)
{
	machine_address_space_free(fixture->space);
	machine_close(fixture->machine);
	munmap(fixture->state, machine_state_size(fixture->desc));
}

static double to_ns(const struct fixture *fixture, uint64_t ticks)
{
	return (double)ticks * 1e9 / (double)machine_ticks_per_second(fixture->machine);
}

/* The core with nothing outstanding. */
static uint64_t settled_time(struct machine_hart *core)
{
	machine_hart_pause(core);
	machine_hart_resume(core);
	return machine_hart_time(core);
}

/* A linear congruence of full period (Hull and Dobell) visits every line once, in disorder. */
static void chase(struct machine_hart *core, uint64_t lines)
{
	static const struct machine_insn dependent = {.address_registers = 1, .loads_registers = 1};
	uint64_t line = 0;

	for (uint64_t i = 0; i < lines; i++) {
		machine_load(core, DATA + line * LINE, 8, &dependent);
		line = (line * 1664525 + 1013904223) & (lines - 1);
	}
}

/* Pages are placed where they are touched first: on @node. */
static void touch(struct fixture *fixture, unsigned node, uint64_t bytes)
{
	struct machine_hart *cores[CORES_MAX];
	unsigned count = node * fixture->desc->cores + 1;

	for (unsigned i = 0; i < count; i++)
		cores[i] = machine_hart_enter(fixture->machine, fixture->space, 0);
	for (uint64_t offset = 0; offset < bytes; offset += PAGE)
		machine_load(cores[count - 1], DATA + offset, 8, &independent);
	for (unsigned i = 0; i < count; i++)
		machine_hart_leave(cores[i]);
}

/*
 * Nanoseconds a hop on core 0, the second time round a ring in memory of @node. Without
 * prefetchers, as those measure it who switch them off.
 */
static double hop_ns(const struct pmu_machine *desc, uint64_t bytes, unsigned node)
{
	const uint64_t lines = bytes / LINE;
	struct machine_hart *core;
	struct fixture fixture;
	uint64_t begin, end;
	double ns;

	open_fixture(&fixture, desc);
	switch_prefetchers_off(fixture.machine);
	touch(&fixture, node, bytes);
	core = machine_hart_enter(fixture.machine, fixture.space, 0);
	chase(core, lines);
	begin = settled_time(core);
	chase(core, lines);
	end = settled_time(core);
	machine_hart_leave(core);
	ns = to_ns(&fixture, end - begin);
	close_fixture(&fixture);
	return ns / (double)lines;
}

enum direction { READ, WRITE, STREAM };

/* One instruction, for ACCESS bytes. */
static void access_once(const struct fixture *fixture, struct machine_hart *core,
			enum direction direction, uint64_t address)
{
	struct machine_block block;

	machine_block_init(fixture->machine, &block, CODE, 4, 1, direction == READ,
			   direction != READ);
	machine_run(core, &block);
	if (direction == READ)
		machine_load(core, address, ACCESS, &independent);
	else if (direction == WRITE)
		machine_store(core, address, ACCESS, &independent);
	else
		machine_store_nt(core, address, ACCESS);
}

/* GB/s of @count cores in step, each of which goes through its part of 256 MB. */
static double gigabytes_per_second(const struct pmu_machine *desc, enum direction direction,
				   unsigned count, uint32_t prefetchers)
{
	const uint64_t bytes = 256 * MB / count / LINE * LINE;
	struct machine_hart *cores[CORES_MAX];
	struct fixture fixture;
	uint64_t begin, end = 0;
	double gigabytes;

	open_fixture(&fixture, desc);
	set_all_prefetchers(fixture.machine, prefetchers);
	for (unsigned i = 0; i < count; i++)
		cores[i] = machine_hart_enter(fixture.machine, fixture.space, 0);
	begin = settled_time(cores[0]);
	for (uint64_t offset = 0; offset < bytes; offset += ACCESS)
		for (unsigned i = 0; i < count; i++)
			access_once(&fixture, cores[i], direction, DATA + i * bytes + offset);
	for (unsigned i = 0; i < count; i++) {
		uint64_t time = settled_time(cores[i]);

		end = time > end ? time : end;
		machine_hart_leave(cores[i]);
	}
	gigabytes = (double)(count * bytes) / to_ns(&fixture, end - begin);
	close_fixture(&fixture);
	return gigabytes;
}

static double l2_cycles(const struct pmu_machine *desc)
{
	return hop_ns(desc, 128 * KB, 0) * desc->core_mhz / 1000;
}

static double llc_ns(const struct pmu_machine *desc)
{
	return hop_ns(desc, 4 * MB, 0);
}

static double local_ns(const struct pmu_machine *desc)
{
	return hop_ns(desc, 256 * MB, 0);
}

static double remote_ns(const struct pmu_machine *desc)
{
	return hop_ns(desc, 256 * MB, 1);
}

static double read_one(const struct pmu_machine *desc)
{
	return gigabytes_per_second(desc, READ, 1, ALL);
}

static double read_one_demand(const struct pmu_machine *desc)
{
	return gigabytes_per_second(desc, READ, 1, 0);
}

static double read_socket(const struct pmu_machine *desc)
{
	return gigabytes_per_second(desc, READ, 12, ALL);
}

static double write_one(const struct pmu_machine *desc)
{
	return gigabytes_per_second(desc, WRITE, 1, ALL);
}

static double write_one_demand(const struct pmu_machine *desc)
{
	return gigabytes_per_second(desc, WRITE, 1, 0);
}

static double stream_one(const struct pmu_machine *desc)
{
	return gigabytes_per_second(desc, STREAM, 1, ALL);
}

/* clang-format off */
static const struct figure {
	const char *row; /* as in docs/machine.md */
	const char *unit;
	double (*measure)(const struct pmu_machine *desc);
	unsigned sockets, cores; /* that the machine must have, else "-" */
} figures[] = {
	{"L2", "cycles", l2_cycles, 1, 1},
	{"LLC", "ns", llc_ns, 1, 1},
	{"local memory", "ns", local_ns, 1, 1},
	{"remote memory", "ns", remote_ns, 2, 1},
	{"read, one core", "GB/s", read_one, 1, 1},
	{"read, one core, no prefetchers", "GB/s", read_one_demand, 1, 1},
	{"read, 12 cores of a socket in step", "GB/s", read_socket, 1, 12},
	{"write, one core (RFO and writeback)", "GB/s", write_one, 1, 1},
	{"write, one core, no prefetchers", "GB/s", write_one_demand, 1, 1},
	{"non-temporal write, one core", "GB/s", stream_one, 1, 1},
};
/* clang-format on */
#define FIGURES (sizeof(figures) / sizeof(figures[0]))

#define COLUMNS_MAX 16
#define CELL_MAX    64

/* The cells of a row of a table in Markdown. @return their number, 0 where it is none */
static unsigned split(const char *line, char cells[COLUMNS_MAX][CELL_MAX])
{
	unsigned count = 0;

	if (*line++ != '|')
		return 0;
	for (const char *end; (end = strchr(line, '|')); line = end + 1) {
		assert_true(count < COLUMNS_MAX);
		while (*line == ' ')
			line++;
		snprintf(cells[count], CELL_MAX, "%.*s", (int)(end - line), line);
		for (size_t last = strlen(cells[count]); last && cells[count][last - 1] == ' ';)
			cells[count][--last] = 0;
		count++;
	}
	return count;
}

/* Opens the file where the rows of the table begin that has @first in its corner. */
static FILE *open_table(const char *path, const char *first, char head[COLUMNS_MAX][CELL_MAX],
			unsigned *columns)
{
	FILE *file = fopen(path, "r");
	char line[1024];

	if (!file)
		fail_msg("%s cannot be read", path);
	while (fgets(line, sizeof(line), file)) {
		*columns = split(line, head);
		if (*columns > 2 && !strcmp(head[0], first) &&
		    (pmu_find_machine(head[1]) || pmu_find_machine(head[2]))) {
			assert_non_null(fgets(line, sizeof(line), file)); /* |---|---| */
			return file;
		}
	}
	fail_msg("%s has no table of machines with \"%s\"", path, first);
	return NULL;
}

/* As many digits as are printed there. @return whether they are wrong */
static bool check_cell(const struct figure *figure, const struct pmu_machine *desc,
		       const char *cell)
{
	const char *point = strchr(cell, '.');
	char expected[CELL_MAX] = "-";

	if (desc->sockets >= figure->sockets && desc->cores >= figure->cores)
		snprintf(expected, sizeof(expected), "%.*f %s",
			 point ? (int)strspn(point + 1, "0123456789") : 0, figure->measure(desc),
			 figure->unit);
	if (!strcmp(cell, expected))
		return false;
	print_error("%s, %s: %s, not %s\n", figure->row, desc->name, expected, cell);
	return true;
}

struct arguments {
	const char *path, *machine; /* NULL: all */
};

/* Those with cores of another kind have other figures. */
static size_t count_machines(void)
{
	size_t all, count = 0;
	const struct pmu_machine *machines = catalog_machines(&all);

	for (size_t i = 0; i < all; i++)
		count += !machines[i].core;
	return count;
}

/* Every built-in machine has a column and every figure a row, and there are no others. */
static void the_table_is_right(void **state)
{
	char head[COLUMNS_MAX][CELL_MAX], cells[COLUMNS_MAX][CELL_MAX], line[1024];
	unsigned columns = 0, wrong = 0;
	size_t row = 0;
	const struct arguments *arguments = *state;
	FILE *file = open_table(arguments->path, "", head, &columns);

	assert_int_equal(columns, count_machines() + 1);
	for (; fgets(line, sizeof(line), file) && split(line, cells); row++) {
		assert_true(row < FIGURES);
		assert_string_equal(cells[0], figures[row].row);
		for (unsigned i = 1; i < columns; i++) {
			const struct pmu_machine *desc = pmu_find_machine(head[i]);

			assert_non_null(desc);
			for (unsigned j = 1; j < i; j++)
				assert_string_not_equal(head[i], head[j]);
			if (!arguments->machine || !strcmp(head[i], arguments->machine))
				wrong += check_cell(&figures[row], desc, cells[i]);
		}
	}
	assert_int_equal(row, FIGURES);
	assert_int_equal(wrong, 0);
	fclose(file);
}

/* What a loop does to the elements of its arrays. */
static const struct loop {
	const char *name;
	unsigned loaded, stored; /* the first arrays, and the last */
	unsigned arrays;
	unsigned bytes; /* an element, as kerncraft counts them */
} loops[] = {
    {"load", 1, 0, 1, 8},    /* s = a[i] */
    {"update", 1, 1, 1, 16}, /* a[i] = s * a[i] */
    {"copy", 1, 1, 2, 16},   /* a[i] = b[i] */
    {"daxpy", 2, 1, 2, 24},  /* a[i] = a[i] + s * b[i] */
    {"triad", 3, 1, 4, 32},  /* a[i] = b[i] + c[i] * d[i] */
};
#define LOOPS (sizeof(loops) / sizeof(loops[0]))

static const struct level {
	const char *name;
	uint64_t bytes; /* of all arrays */
	unsigned rounds;
} levels[] = {{"L2", 160 * KB, 20}, {"L3", 7 * MB, 2}, {"memory", 160 * MB, 1}};
#define LEVELS (sizeof(levels) / sizeof(levels[0]))

/* WIDE bytes of each array. */
static void iterate(struct fixture *fixture, struct machine_hart *core, const struct loop *loop,
		    uint64_t length, uint64_t offset)
{
	struct machine_block block;

	machine_block_init(fixture->machine, &block, CODE, 16, loop->loaded + loop->stored,
			   loop->loaded, loop->stored);
	machine_run(core, &block);
	for (unsigned i = 0; i < loop->loaded; i++)
		machine_load(core, DATA + i * length + offset, WIDE, &independent);
	for (unsigned i = loop->arrays - loop->stored; i < loop->arrays; i++)
		machine_store(core, DATA + i * length + offset, WIDE, &independent);
}

static void go_round(struct fixture *fixture, struct machine_hart *core, const struct loop *loop,
		     uint64_t bytes)
{
	const uint64_t apart = bytes > MB ? APART : 0;

	for (uint64_t offset = 0; offset < bytes; offset += WIDE)
		iterate(fixture, core, loop, bytes + apart, offset);
}

/* GB/s of one core, once the caches have what they can have of its arrays. */
static double loop_gigabytes_per_second(const struct pmu_machine *desc, const struct loop *loop,
					const struct level *level)
{
	const uint64_t bytes = level->bytes / loop->arrays / LINE * LINE;
	struct machine_hart *core;
	struct fixture fixture;
	uint64_t begin, end;
	double ns;

	open_fixture(&fixture, desc);
	core = machine_hart_enter(fixture.machine, fixture.space, 0);
	go_round(&fixture, core, loop, bytes);
	begin = machine_hart_time(core);
	for (unsigned i = 0; i < level->rounds; i++)
		go_round(&fixture, core, loop, bytes);
	end = machine_hart_time(core);
	machine_hart_leave(core);
	ns = to_ns(&fixture, end - begin);
	close_fixture(&fixture);
	return (double)(level->rounds * bytes / 8 * loop->bytes) / ns;
}

/* @param published  GB/s at the clock of the machine. @return whether one of both is wrong */
static bool check_loop(const struct pmu_machine *desc, const struct loop *loop,
		       const struct level *level, const char *printed, const char *published)
{
	const double got = loop_gigabytes_per_second(desc, loop, level), there = atof(published);
	char text[CELL_MAX];

	snprintf(text, sizeof(text), "%.1f", got);
	if (!strcmp(text, printed) && fabs(got - there) <= NEAR * there)
		return false;
	print_error("%s, %s from %s: %s, printed %s, published %s\n", desc->name, loop->name,
		    level->name, text, printed, published);
	return true;
}

/* Every loop has a row for each level, with what is published behind the machine's column. */
static void loops_are_near(void **state)
{
	char head[COLUMNS_MAX][CELL_MAX], cells[COLUMNS_MAX][CELL_MAX], line[1024];
	unsigned columns = 0, wrong = 0;
	const struct arguments *arguments = *state;
	FILE *file = open_table(arguments->path, "lines in", head, &columns);

	for (unsigned i = 0; i < LEVELS * LOOPS; i++) {
		const struct level *level = &levels[i / LOOPS];
		const struct loop *loop = &loops[i % LOOPS];

		assert_non_null(fgets(line, sizeof(line), file));
		assert_int_equal(split(line, cells), columns);
		assert_string_equal(cells[0], level->name);
		assert_string_equal(cells[1], loop->name);
		for (unsigned j = 2; j + 1 < columns; j += 2) {
			const struct pmu_machine *desc = pmu_find_machine(head[j]);

			assert_non_null(desc);
			if (!arguments->machine || !strcmp(head[j], arguments->machine))
				wrong += check_loop(desc, loop, level, cells[j], cells[j + 1]);
		}
	}
	assert_non_null(fgets(line, sizeof(line), file));
	assert_int_equal(split(line, cells), 0);
	assert_int_equal(wrong, 0);
	fclose(file);
}

/* All arrays: here, more than the LLC has, and published, each allocated by itself. */
struct arrays {
	uint64_t bytes, published;
};

#define PIECE	       (2u * MB)
#define PIECES_MAX     64
#define LOOP_CORES_MAX 10

static uint64_t rounded_up(uint64_t bytes, uint64_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

/* From the begin of one array to that of the next: in large pages as those published. */
static uint64_t array_distance(const struct loop *loop, const struct arrays *arrays)
{
	const uint64_t published = rounded_up(arrays->published / loop->arrays + PAGE, PAGE);

	return rounded_up(arrays->bytes / loop->arrays, PIECE) + published % PIECE;
}

/* Large pages come in any order. */
static void place_pieces(struct machine_hart *core, uint64_t bytes)
{
	const unsigned count = (unsigned)(rounded_up(bytes, PIECE) / PIECE);
	unsigned order[PIECES_MAX];

	assert_true(count <= PIECES_MAX);
	srand(1);
	for (unsigned i = 0; i < count; i++) {
		const unsigned other = (unsigned)rand() % (i + 1);

		order[i] = order[other];
		order[other] = i;
	}
	for (unsigned i = 0; i < count; i++)
		for (uint64_t offset = 0; offset < PIECE; offset += PAGE)
			machine_load(core, DATA + order[i] * (uint64_t)PIECE + offset, 8,
				     &independent);
}

/* Each core its part of the arrays, whoever is behind the others next. */
static void go_round_together(struct fixture *fixture, struct machine_hart **cores, unsigned count,
			      const struct loop *loop, uint64_t distance, uint64_t part)
{
	uint64_t done[LOOP_CORES_MAX] = {0};

	for (unsigned running = count; running;) {
		unsigned next = count;

		for (unsigned i = 0; i < count; i++)
			if (done[i] < part && (next == count || machine_hart_time(cores[i]) <
								    machine_hart_time(cores[next])))
				next = i;
		iterate(fixture, cores[next], loop, distance, next * part + done[next]);
		done[next] += WIDE;
		running -= done[next] >= part;
	}
}

/* GB/s of @count cores. */
static double shared_gigabytes_per_second(const struct pmu_machine *desc, const struct loop *loop,
					  const struct arrays *arrays, unsigned count)
{
	const uint64_t part = arrays->bytes / loop->arrays / count / LINE * LINE;
	const uint64_t distance = array_distance(loop, arrays);
	struct machine_hart *cores[LOOP_CORES_MAX] = {NULL};
	struct fixture fixture;
	uint64_t ticks = 0;
	double ns;

	open_fixture(&fixture, desc);
	for (unsigned i = 0; i < count; i++)
		cores[i] = machine_hart_enter(fixture.machine, fixture.space, 0);
	place_pieces(cores[0], loop->arrays * distance);
	go_round_together(&fixture, cores, count, loop, distance, part);
	for (unsigned i = 0; i < count; i++)
		ticks -= machine_hart_time(cores[i]);
	go_round_together(&fixture, cores, count, loop, distance, part);
	for (unsigned i = 0; i < count; i++)
		ticks += machine_hart_time(cores[i]);
	for (unsigned i = 0; i < count; i++)
		machine_hart_leave(cores[i]);
	ns = to_ns(&fixture, ticks) / count;
	close_fixture(&fixture);
	return (double)(count * part / 8 * loop->bytes) / ns;
}

/* A row of the table: cores, loop, here, published, and by how much it differs.
 * @return whether it is wrong */
static bool check_shared(const struct pmu_machine *desc, const struct loop *loop, unsigned count,
			 char cells[][CELL_MAX])
{
	static const struct arrays arrays = {40 * MB, 300000000};
	const double got = shared_gigabytes_per_second(desc, loop, &arrays, count);
	const double there = atof(cells[3]);
	char here[CELL_MAX], apart[CELL_MAX];

	snprintf(here, sizeof(here), "%.1f", got);
	snprintf(apart, sizeof(apart), "%+.0f %%", 100 * (got / there - 1));
	if (!strcmp(here, cells[2]) && !strcmp(apart, cells[4]))
		return false;
	print_error("%s, %s of %u cores: %s, printed %s, published %s: %s, printed %s\n",
		    desc->name, loop->name, count, here, cells[2], cells[3], apart, cells[4]);
	return true;
}

/* Every loop has a row for each number of cores. */
static void loops_of_several_cores_are_as_printed(void **state)
{
	static const unsigned counts[] = {1, 2, 4, 8};
	const size_t rows = sizeof(counts) / sizeof(counts[0]) * LOOPS;
	char head[COLUMNS_MAX][CELL_MAX], cells[COLUMNS_MAX][CELL_MAX], line[1024];
	const struct arguments *arguments = *state;
	unsigned columns = 0, wrong = 0;
	FILE *file = open_table(arguments->path, "cores", head, &columns);
	const struct pmu_machine *desc = pmu_find_machine(head[2]);

	assert_int_equal(columns, 5);
	assert_non_null(desc);
	for (size_t i = 0; i < rows; i++) {
		assert_non_null(fgets(line, sizeof(line), file));
		assert_int_equal(split(line, cells), columns);
		assert_int_equal(atoi(cells[0]), counts[i / LOOPS]);
		assert_string_equal(cells[1], loops[i % LOOPS].name);
		if (!arguments->machine || !strcmp(head[2], arguments->machine))
			wrong += check_shared(desc, &loops[i % LOOPS], counts[i / LOOPS], cells);
	}
	assert_non_null(fgets(line, sizeof(line), file));
	assert_int_equal(split(line, cells), 0);
	assert_int_equal(wrong, 0);
	fclose(file);
}

/* What the channels of a socket move at most, GB/s. */
static double peak(const struct pmu_machine *desc)
{
	return desc->home_agents * desc->channels * desc->dclk_mhz * 2 * 8 / 1000.0;
}

/* Of another part, whose memory has another clock: parts of what its channels can move. */
static void loops_of_ten_cores_are_near(void **state)
{
	static const struct arrays arrays = {60 * MB, 375000000};
	char head[COLUMNS_MAX][CELL_MAX], cells[COLUMNS_MAX][CELL_MAX], line[1024];
	const struct arguments *arguments = *state;
	unsigned columns = 0, wrong = 0;
	FILE *file = open_table(arguments->path, "ten cores", head, &columns);
	const struct pmu_machine *desc = pmu_find_machine(head[1]);

	assert_non_null(desc);
	for (size_t i = 0; i < LOOPS; i++) {
		char here[CELL_MAX];
		double got;

		assert_non_null(fgets(line, sizeof(line), file));
		assert_int_equal(split(line, cells), columns);
		assert_string_equal(cells[0], loops[i].name);
		if (arguments->machine && strcmp(head[1], arguments->machine))
			continue;
		got = 100 * shared_gigabytes_per_second(desc, &loops[i], &arrays, 10) / peak(desc);
		snprintf(here, sizeof(here), "%.0f %%", got);
		if (!strcmp(here, cells[1]) && fabs(got - atof(cells[2])) <= NEAR * atof(cells[2]))
			continue;
		print_error("%s of ten cores: %s, printed %s, published %s\n", loops[i].name, here,
			    cells[1], cells[2]);
		wrong++;
	}
	assert_int_equal(wrong, 0);
	fclose(file);
}

int main(int argc, char **argv)
{
	struct arguments arguments = {argc > 1 ? argv[1] : "docs/machine.md",
				      argc > 2 ? argv[2] : NULL};
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_prestate(the_table_is_right, &arguments),
	    cmocka_unit_test_prestate(loops_are_near, &arguments),
	    cmocka_unit_test_prestate(loops_of_several_cores_are_as_printed, &arguments),
	    cmocka_unit_test_prestate(loops_of_ten_cores_are_near, &arguments),
	};

	if (arguments.machine && !pmu_find_machine(arguments.machine))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
