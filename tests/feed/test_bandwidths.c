/*
 * The table of loops in docs/machine.md, against what the machines give: each figure is as printed
 * there, and within 15 % of the published one beside it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "machine/access.h"
#include "support/cmocka.h"

#define KB	 1024u
#define MB	 (1024u * KB)
#define LINE	 64u
#define ACCESS	 32u /* bytes an instruction */
#define CODE	 0x400000u
#define DATA	 0x10000000ull
#define NEAR	 0.15
#define ARRAYS	 4
#define CELLS	 6
#define CELL_MAX 64

/* Arrays that begin alike in large pages would have their rows in the same banks. */
#define APART (35 * 32 * KB + 12 * KB)

static const struct machine_insn independent;

struct fixture {
	struct pmu_machine desc;
	void *state;
	struct machine *machine;
	struct machine_address_space *space;
};

static void open_fixture(struct fixture *fixture, const char *name)
{
	const struct pmu_machine *desc = pmu_find_machine(name);

	assert_non_null(desc);
	fixture->desc = *desc;
	/* Published figures are of large pages. */
	fixture->desc.translation = "none";
	fixture->state = mmap(NULL, machine_state_size(&fixture->desc), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(fixture->state != MAP_FAILED);
	assert_int_equal(
	    machine_open(&fixture->machine, NULL, &fixture->desc, fixture->state, true), 0);
	assert_int_equal(machine_address_space_new(&fixture->space, fixture->machine), 0);
}

static void close_fixture(struct fixture *fixture)
{
	machine_address_space_free(fixture->space);
	machine_close(fixture->machine);
	munmap(fixture->state, machine_state_size(&fixture->desc));
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

/* ACCESS bytes of each array. */
static void iterate(struct fixture *fixture, struct machine_hart *core, const struct loop *loop,
		    uint64_t length, uint64_t offset)
{
	struct machine_block block;

	machine_block_init(fixture->machine, &block, CODE, 16, loop->loaded + loop->stored,
			   loop->loaded, loop->stored);
	machine_run(core, &block);
	for (unsigned i = 0; i < loop->loaded; i++)
		machine_load(core, DATA + i * length + offset, ACCESS, &independent);
	for (unsigned i = loop->arrays - loop->stored; i < loop->arrays; i++)
		machine_store(core, DATA + i * length + offset, ACCESS, &independent);
}

static void go_round(struct fixture *fixture, struct machine_hart *core, const struct loop *loop,
		     uint64_t bytes)
{
	const uint64_t apart = bytes > MB ? APART : 0;

	for (uint64_t offset = 0; offset < bytes; offset += ACCESS)
		iterate(fixture, core, loop, bytes + apart, offset);
}

/* GB/s of one core, once the caches have what they can have of its arrays. */
static double gigabytes_per_second(const char *name, const struct loop *loop,
				   const struct level *level)
{
	const uint64_t bytes = level->bytes / loop->arrays / LINE * LINE;
	struct machine_hart *core;
	struct fixture fixture;
	uint64_t begin, end;
	double seconds;

	open_fixture(&fixture, name);
	core = machine_hart_enter(fixture.machine, fixture.space, 0);
	go_round(&fixture, core, loop, bytes);
	begin = machine_hart_time(core);
	for (unsigned i = 0; i < level->rounds; i++)
		go_round(&fixture, core, loop, bytes);
	end = machine_hart_time(core);
	machine_hart_leave(core);
	seconds = (double)(end - begin) / (double)machine_ticks_per_second(fixture.machine);
	close_fixture(&fixture);
	return (double)(level->rounds * bytes / 8 * loop->bytes) / seconds / 1e9;
}

/* The cells of a row of a table in Markdown. @return their number, 0 where it is none */
static unsigned split(const char *line, char cells[CELLS][CELL_MAX])
{
	unsigned count = 0;

	while (count < CELLS && sscanf(line, "| %63[^|]", cells[count]) == 1) {
		for (size_t last = strlen(cells[count]); last && cells[count][last - 1] == ' ';)
			cells[count][--last] = 0;
		line = strchr(line + 1, '|');
		count++;
	}
	return count;
}

/* @param published  GB/s at the clock of the machine that was measured */
static unsigned check(const char *machine, const struct loop *loop, const struct level *level,
		      const char *printed, const char *published)
{
	const double got = gigabytes_per_second(machine, loop, level), there = atof(published);
	char text[CELL_MAX];

	snprintf(text, sizeof(text), "%.1f", got);
	if (!strcmp(text, printed) && fabs(got - there) <= NEAR * there)
		return 0;
	print_error("%s, %s from %s: %s, printed %s, published %s\n", machine, loop->name,
		    level->name, text, printed, published);
	return 1;
}

static FILE *open_table(const char *path, char head[CELLS][CELL_MAX])
{
	FILE *file = fopen(path, "r");
	char line[1024];

	if (!file)
		fail_msg("%s cannot be read", path);
	while (fgets(line, sizeof(line), file))
		if (split(line, head) == CELLS && !strcmp(head[0], "lines in") &&
		    fgets(line, sizeof(line), file))
			return file;
	fail_msg("%s has no table of loops", path);
	return NULL;
}

/* Every loop has a row for each level, and there are no others. */
static void the_table_is_near(void **state)
{
	char head[CELLS][CELL_MAX], cells[CELLS][CELL_MAX], line[1024];
	FILE *file = open_table(*state, head);
	unsigned wrong = 0;

	for (unsigned i = 0; i < LEVELS * LOOPS; i++) {
		const struct level *level = &levels[i / LOOPS];
		const struct loop *loop = &loops[i % LOOPS];

		assert_non_null(fgets(line, sizeof(line), file));
		assert_int_equal(split(line, cells), CELLS);
		assert_string_equal(cells[0], level->name);
		assert_string_equal(cells[1], loop->name);
		wrong += check(head[2], loop, level, cells[2], cells[3]);
		wrong += check(head[4], loop, level, cells[4], cells[5]);
	}
	assert_non_null(fgets(line, sizeof(line), file));
	assert_true(*line != '|');
	assert_int_equal(wrong, 0);
	fclose(file);
}

int main(int argc, char **argv)
{
	char *path = argc > 1 ? argv[1] : "docs/machine.md";
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_prestate(the_table_is_near, path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
