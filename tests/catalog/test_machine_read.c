/* Machines of the user's own: what is read, what is refused, and where the message points. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "catalog/description.h"
#include "pmulab/event.h"
#include "support/cmocka.h"

static struct pmu_ctx *ctx;

static int fixture_up(void **state)
{
	(void)state;
	return pmu_ctx_new(&ctx);
}

static int fixture_down(void **state)
{
	(void)state;
	pmu_ctx_free(ctx);
	return 0;
}

static struct pmu_machine *parse(const char *text)
{
	struct pmu_machine *machine = NULL;

	if (pmu_machine_parse(&machine, ctx, text, strlen(text), "mine.json"))
		fail_msg("%s", pmu_message(ctx));
	return machine;
}

static void changes_what_it_is_based_on(void **state)
{
	const struct pmu_machine *base = pmu_find_machine("xeon-e5v4-4c");
	struct pmu_machine *machine =
	    parse("{\"base\": \"xeon-e5v4-4c\", \"name\": \"mine\", \"core_mhz\": 3000,"
		  " \"llc\": {\"ways\": 16}, \"straps\": {\"CAPID5\": null},"
		  " \"msrs\": {\"0xE2\": \"0x1E000008\"}}");

	(void)state;
	assert_string_equal(machine->name, "mine");
	assert_int_equal(machine->core_mhz, 3000);
	assert_int_equal(machine->llc.ways, 16);
	assert_int_equal(machine->llc.sets, base->llc.sets);
	assert_int_equal(machine->t_rfc, base->t_rfc);
	assert_string_equal(machine->brand, base->brand);
	assert_int_equal(machine->cpuid_count, base->cpuid_count);
	assert_int_equal(machine->strap_count, base->strap_count - 1);
	assert_int_equal(machine->msr_count, base->msr_count);
	for (size_t i = 0; i < machine->msr_count; i++)
		if (machine->msrs[i].address == 0xE2)
			assert_int_equal(machine->msrs[i].value, 0x1E000008);
	pmu_machine_free(machine);
}

static void has_no_limit_that_it_does_not_name(void **state)
{
	struct pmu_machine *machine = parse("{\"base\": \"xeon-e5v4-4c\", \"name\": \"mine\","
					    " \"t_faw\": null, \"bank_groups\": null}");

	(void)state;
	assert_int_equal(machine->t_faw, 0);
	assert_int_equal(machine->bank_groups, 0);
	assert_int_equal(machine->t_rrd_s, pmu_find_machine("xeon-e5v4-4c")->t_rrd_s);
	pmu_machine_free(machine);
}

static void same(const struct pmu_machine *a, const struct pmu_machine *b)
{
	assert_string_equal(a->text, b->text);
	assert_string_equal(a->name, b->name);
	assert_int_equal(!a->core, !b->core);
	if (a->core)
		assert_string_equal(a->core, b->core);
	else
		assert_string_equal(a->flags, b->flags);
	assert_int_equal(a->memory_bytes, b->memory_bytes);
	assert_int_equal(a->t_wtr, b->t_wtr);
	assert_int_equal(a->t_faw, b->t_faw);
	assert_memory_equal(&a->llc, &b->llc, sizeof(a->llc));
	assert_int_equal(a->cpuid_count, b->cpuid_count);
	assert_memory_equal(a->cpuid, b->cpuid, a->cpuid_count * sizeof(*a->cpuid));
	assert_int_equal(a->strap_count, b->strap_count);
	for (size_t i = 0; i < a->strap_count; i++) {
		assert_string_equal(a->straps[i].reg, b->straps[i].reg);
		assert_int_equal(a->straps[i].value, b->straps[i].value);
	}
}

/* What a table was made of gives the same machine again. */
static void built_in_ones_are_their_text(void **state)
{
	size_t count;
	const struct pmu_machine *machines = catalog_machines(&count);

	(void)state;
	assert_true(count >= 4);
	for (size_t i = 0; i < count; i++) {
		struct pmu_machine *machine = parse(machines[i].text);

		same(machine, &machines[i]);
		pmu_machine_free(machine);
	}
}

#define MINE "{\"base\": \"xeon-e5v4-4c\", "

static const struct {
	const char *text;
	int error;
	const char *message;
} refused[] = {
    {"", PMU_E_SYNTAX, "mine.json:1:0: "},
    {"[]", PMU_E_SYNTAX, "mine.json: not an entry"},
    {"{\"name\": \"a\",\n \"name\": \"b\"}", PMU_E_SYNTAX, "mine.json:2:"},
    {"{}", PMU_E_SYNTAX, "mine.json: name: is missing"},
    {"{\"base\": \"xeon\"}", PMU_E_UNKNOWN,
     "mine.json: base: no machine or part of machines is \"xeon\""},
    {"{\"base\": \"xeon-e5v4-4d\"}", PMU_E_UNKNOWN,
     "mine.json: base: no machine or part of machines is \"xeon-e5v4-4d\"; did you mean "
     "xeon-e5v4-4c?"},
    {"{\"base\": 4}", PMU_E_UNKNOWN, "mine.json: base: names no known description"},
    {"{\"base\": \"broadwell-ep\", \"name\": \"a\"}", PMU_E_SYNTAX, "mine.json: title: is missing"},
    /* It stands in what that machine is based on. */
    {MINE "\"dclk_mhz\": null}", PMU_E_SYNTAX, "mine.json: dclk_mhz: is missing"},
    {MINE "\"ways\": 4}", PMU_E_UNKNOWN, "mine.json: ways: is no key of a machine"},
    {MINE "\"core\": \"itanium-9300\"}", PMU_E_UNKNOWN,
     "mine.json: stepping: is no key of a machine with \"core\""},
    {"{\"base\": \"itanium-9300-1s\", \"slices\": 4}", PMU_E_UNKNOWN,
     "mine.json: slices: is no key of a machine with \"core\""},
    {MINE "\"name\": \"a b\"}", PMU_E_SYNTAX, "mine.json: name: is no name"},
    {MINE "\"name\": \"\\u001b[31m\"}", PMU_E_SYNTAX, "mine.json: name: is no printable text"},
    {MINE "\"title\": \"\"}", PMU_E_SYNTAX, "mine.json: title: is no printable text"},
    {MINE "\"pmu\": \"xeon-e6\"}", PMU_E_UNKNOWN, "mine.json: pmu: the catalog has no \"xeon-e6\""},
    {MINE "\"cores\": -1}", PMU_E_SYNTAX, "mine.json: cores: is no number from 0 to 0xffffffff"},
    {MINE "\"cores\": 4.5}", PMU_E_SYNTAX, "mine.json: cores: is no number"},
    {MINE "\"cores\": \"0x1g\"}", PMU_E_SYNTAX, "mine.json: cores: \"0x1g\" is no number"},
    {MINE "\"cores\": \"0x100000000\"}", PMU_E_RANGE,
     "mine.json: cores: 0x100000000 is more than 0xffffffff"},
    {MINE "\"l2\": {\"way\": 8}}", PMU_E_UNKNOWN, "mine.json: l2: unknown key \"way\""},
    {MINE "\"l2\": {\"ways\": null}}", PMU_E_SYNTAX, "mine.json: l2: ways is missing"},
    {MINE "\"l2\": 8}", PMU_E_SYNTAX, "mine.json: l2: not an entry"},
    {MINE "\"instances\": {\"cbx\": 1}}", PMU_E_UNKNOWN,
     "mine.json: instances: xeon-e5v4 has no box \"cbx\""},
    {MINE "\"instances\": {\"ha\": 4}}", PMU_E_RANGE, "mine.json: instances: ha: 0x4"},
    {MINE "\"instances\": {\"ha\": 0}}", PMU_E_RANGE, "mine.json: instances: ha: 0"},
    {MINE "\"straps\": {\"CAPID9\": 1}}", PMU_E_UNKNOWN,
     "mine.json: straps: xeon-e5v4 has no register \"CAPID9\""},
    {MINE "\"straps\": {\"CAPID5\": \"0x100000000\"}}", PMU_E_RANGE,
     "mine.json: straps: CAPID5: 0x100000000 has more than 32 bits"},
    {MINE "\"cpuid\": {\"x\": [0, 0, 0, 0]}}", PMU_E_SYNTAX, "mine.json: x: is no number"},
    {MINE "\"cpuid\": {\"7.0.0\": [0, 0, 0, 0]}}", PMU_E_SYNTAX, "mine.json: 7.0.0: is no \"LEAF"},
    {MINE "\"cpuid\": {\"7\": [0, 0, 0]}}", PMU_E_SYNTAX, "mine.json: 7: is no \"LEAF"},
    {MINE "\"msrs\": {\"0xE2x\": 0}}", PMU_E_SYNTAX, "mine.json: 0xE2x: is no address"},
    {MINE "\"msrs\": {\"0xF0\": {\"energy\": 14}}}", PMU_E_SYNTAX,
     "mine.json: 0xF0: is neither a number nor one of package_energy"},
    {MINE "\"msrs\": {\"0xF0\": {\"core_energy\": 32}}}", PMU_E_RANGE,
     "mine.json: 0xF0: 0x20 is more than 0x1f"},
    {MINE "\"power\": {\"core_w\": 1}}", PMU_E_UNKNOWN, "mine.json: power: unknown key \"core_w\""},
    /* 334291-001 table 2-12: PMON_CTL0 of CBo 0. */
    {MINE "\"msrs\": {\"0xE01\": 0}}", PMU_E_CONFLICT, "mine.json: msrs: 0xe01 is a register of"},
    {MINE "\"functions\": {\"32.0\": {\"id\": 0, \"class\": 0, \"buses\": 0}}}", PMU_E_SYNTAX,
     "mine.json: 32.0: is no DEVICE.FUNCTION"},
    {MINE "\"functions\": {\"1.0\": {\"id\": 65536, \"class\": 0, \"buses\": 0}}}", PMU_E_RANGE,
     "mine.json: 1.0: id has 16 bits"},
};

static void says_what_is_wrong_and_where(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct pmu_machine *machine = NULL;
		int error = pmu_machine_parse(&machine, ctx, refused[i].text,
					      strlen(refused[i].text), "mine.json");

		if (error != refused[i].error ||
		    strncmp(pmu_message(ctx), refused[i].message, strlen(refused[i].message)) != 0)
			fail_msg("%s: %d, %s", refused[i].text, error, pmu_message(ctx));
		assert_null(machine);
	}
}

static void only_regular_files_are_read(void **state)
{
	char path[] = "/tmp/pmulab-machine-XXXXXX";
	struct pmu_machine *machine;

	(void)state;
	assert_non_null(mkdtemp(path));
	assert_int_equal(pmu_machine_read(&machine, ctx, path), PMU_E_IO);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(pmu_machine_read(&machine, ctx, path), PMU_E_IO);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(pmu_machine_read(&machine, ctx, path), PMU_E_IO);
	assert_non_null(strstr(pmu_message(ctx), "No such file"));
}

/* What stat counts without being asked is in the machine's PMU. */
static void their_events_can_be_counted(void **state)
{
	size_t count;
	const struct pmu_machine *machines = catalog_machines(&count);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		char *events = strdup(machines[i].events), *rest = events, *word;

		while ((word = strsep(&rest, ","))) {
			const struct pmu_pmu *pmu = pmu_find_pmu(machines[i].pmu);
			struct pmu_selection event;

			if (pmu_event_parse(ctx, pmu, word, &event))
				fail_msg("%s", pmu_message(ctx));
		}
		free(events);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(changes_what_it_is_based_on),
	    cmocka_unit_test(has_no_limit_that_it_does_not_name),
	    cmocka_unit_test(built_in_ones_are_their_text),
	    cmocka_unit_test(says_what_is_wrong_and_where),
	    cmocka_unit_test(only_regular_files_are_read),
	    cmocka_unit_test(their_events_can_be_counted),
	};

	return cmocka_run_group_tests(tests, fixture_up, fixture_down);
}
