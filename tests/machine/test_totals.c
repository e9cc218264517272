/*
 * The same accesses on two machines: one emits each signal, the other keeps totals most of the time
 * and reports them. Whatever a signal says, both have it as often, and for as long up to the cycle
 * at which one looks.
 */
#include "machine_fixture.h"

#include "support/random.h"

#define SUMS  4096
#define SPANS 4096
#define LINES 24000u
#define LOOKS 30
#define STEPS 1000

/* What happened of signals that say the same. */
struct sum {
	struct signal key; /* times are 0 */
	uint64_t count, cycles;
};

struct counted {
	struct sum sums[SUMS];
	struct signal spans[SPANS]; /* that may not be over */
	size_t sum_count, span_count;
	const struct machine *machine;
};

struct pair {
	struct fixture told, quiet;
	struct counted one_by_one, reported;
	uint32_t needed;
	uint64_t random;
};

/* Without what totals do not tell apart. */
static struct signal key_of(const struct signal *signal)
{
	struct signal key;

	/* Compared as bytes. */
	memset(&key, 0, sizeof(key));
	key.id = signal->id;
	key.socket = signal->socket;
	key.unit = signal->unit;
	key.qualifiers = signal->qualifiers;
	key.request = signal->request;
	key.state = signal->state;
	key.node = signal->node;
	key.rank = signal->rank;
	return key;
}

static struct sum *sum_of(struct counted *counted, const struct signal *signal)
{
	const struct signal key = key_of(signal);

	for (size_t i = 0; i < counted->sum_count; i++)
		if (!memcmp(&counted->sums[i].key, &key, sizeof(key)))
			return &counted->sums[i];
	assert_true(counted->sum_count < SUMS);
	counted->sums[counted->sum_count].key = key;
	return &counted->sums[counted->sum_count++];
}

/* All machines here have the same clocks and times. */
static uint64_t now_of(const struct counted *counted, const struct signal *signal)
{
	const enum pmu_clock clock =
	    signal_table[signal->id].unit == UNIT_CHANNEL ? PMU_CLOCK_DCLK : PMU_CLOCK_UCLK;

	return machine_now(counted->machine) / machine_ticks_per_cycle(counted->machine, clock);
}

static void note(struct counted *counted, const struct signal *span)
{
	size_t kept = 0;

	for (size_t i = 0; counted->span_count == SPANS && i < SPANS; i++)
		if (counted->spans[i].time + counted->spans[i].duration >
		    now_of(counted, &counted->spans[i]))
			counted->spans[kept++] = counted->spans[i];
	counted->span_count = counted->span_count == SPANS ? kept : counted->span_count;
	assert_true(counted->span_count < SPANS);
	counted->spans[counted->span_count++] = *span;
}

static void count(struct counted *counted, const struct signal *signal)
{
	struct sum *sum;

	if (!machine_totals()[signal->id])
		return;
	sum = sum_of(counted, signal);
	sum->count++;
	if (signal_table[signal->id].kind != SIGNAL_SPAN)
		return;
	sum->cycles += signal->duration;
	note(counted, signal);
}

static void told(void *subscriber, const struct signal *signal)
{
	struct pair *pair = subscriber;

	count(&pair->one_by_one, signal);
}

static void told_for_a_while(void *subscriber, const struct signal *signal)
{
	struct pair *pair = subscriber;

	assert_true(pair->needed || !machine_totals()[signal->id]);
	count(&pair->reported, signal);
}

static void report(void *subscriber, const struct signal *signal, uint64_t count)
{
	struct pair *pair = subscriber;
	struct sum *sum;

	assert_true(machine_totals()[signal->id]);
	if (!count) {
		note(&pair->reported, signal);
		return;
	}
	sum = sum_of(&pair->reported, signal);
	sum->count += count;
	sum->cycles += signal->duration;
}

static void end(void *subscriber, enum signal_unit kind, unsigned socket, unsigned unit,
		uint64_t now)
{
	(void)subscriber;
	(void)kind;
	(void)socket;
	(void)unit;
	(void)now;
}

/* Up to now. */
static uint64_t cycles_of(const struct counted *counted, const struct sum *sum)
{
	uint64_t cycles = sum->cycles;

	for (size_t i = 0; i < counted->span_count; i++) {
		const struct signal *span = &counted->spans[i], key = key_of(span);
		const uint64_t now = now_of(counted, span), over = span->time + span->duration;

		if (!memcmp(&key, &sum->key, sizeof(key)) && over > now)
			cycles -= over - (span->time > now ? span->time : now);
	}
	return cycles;
}

static void catch_up(const struct fixture *fixture)
{
	struct machine *machine = fixture->machine;

	machine_lock(machine);
	for (unsigned socket = 0; socket < fixture->desc.sockets; socket++) {
		machine_catch_up_slices(machine, socket, UINT32_MAX);
		machine_catch_up_homes(machine, socket, UINT32_MAX);
		machine_catch_up_channels(machine, socket, UINT32_MAX);
	}
	machine_unlock(machine);
}

static void compare(struct pair *pair)
{
	catch_up(&pair->told);
	catch_up(&pair->quiet);
	assert_int_equal(machine_now(pair->told.machine), machine_now(pair->quiet.machine));
	assert_int_equal(pair->one_by_one.sum_count, pair->reported.sum_count);
	for (size_t i = 0; i < pair->one_by_one.sum_count; i++) {
		const struct sum *sum = &pair->one_by_one.sums[i];
		const struct sum *other = sum_of(&pair->reported, &sum->key);

		assert_int_equal(sum->count, other->count);
		assert_int_equal(cycles_of(&pair->one_by_one, sum),
				 cycles_of(&pair->reported, other));
	}
}

/* A line of rep stosq. */
static void store_string(struct machine_hart *core, uint64_t address)
{
	machine_store_string(core, address, &plain);
	machine_store_string(core, address + 32, &plain);
	machine_string_line(core, address + 56);
}

static void do_access(struct fixture *fixture, unsigned core, unsigned kind, uint64_t address)
{
	switch (kind) {
	case 3:
		store_string(fixture->cores[core], address & ~63ull);
		break;
	case 4:
		if (address % 256 == 0)
			machine_flush(fixture->cores[core], address);
		else
			machine_prefetch(fixture->cores[core], address,
					 (enum machine_hint)(address / 64 % 4 - 1), &plain);
		break;
	case 0:
		machine_store(fixture->cores[core], address, 8, &plain);
		break;
	case 1:
		machine_locked(fixture->cores[core], address, 8, &plain);
		break;
	case 2:
		machine_store_nt(fixture->cores[core], address, 8);
		break;
	default:
		machine_load(fixture->cores[core], address, 8, &plain);
	}
}

static void step_both(struct pair *pair, unsigned cores)
{
	const uint64_t random = next_random(&pair->random);
	const unsigned core = (unsigned)(random >> 40) % cores, kind = (unsigned)(random >> 8) % 8;
	const uint64_t address = (random >> 12) % LINES * 64 + 8 * (random % 8);

	do_access(&pair->told, core, kind, address);
	do_access(&pair->quiet, core, kind, address);
}

static void open_pair(struct pair *pair, unsigned sockets)
{
	struct pmu_machine desc = small_machine();
	struct signal_port port = {.subscriber = pair, .emit = told};

	memset(pair, 0, sizeof(*pair));
	pair->random = 12345;
	desc.sockets = sockets;
	fixture_up(&pair->told, &desc);
	fixture_up(&pair->quiet, &desc);
	memset(pair->told.enabled, 1, sizeof(pair->told.enabled));
	memset(pair->quiet.enabled, 1, sizeof(pair->quiet.enabled));
	port.enabled = pair->told.enabled;
	machine_connect(pair->told.machine, &port);
	port = (struct signal_port){
	    .subscriber = pair,
	    .emit = told_for_a_while,
	    .enabled = pair->quiet.enabled,
	    .needed = &pair->needed,
	    .report = report,
	    .report_end = end,
	};
	machine_connect(pair->quiet.machine, &port);
	pair->one_by_one.machine = pair->told.machine;
	pair->reported.machine = pair->quiet.machine;
	enter_all(&pair->told);
	enter_all(&pair->quiet);
}

/* @param cores  that run, in turns */
static void totals_are_sums(unsigned sockets, unsigned cores)
{
	static struct pair pair;

	open_pair(&pair, sockets);
	for (unsigned i = cores; i < 2 * sockets; i++) {
		machine_hart_pause(pair.told.cores[i]);
		machine_hart_pause(pair.quiet.cores[i]);
	}
	for (unsigned look = 0; look < LOOKS; look++) {
		pair.needed = look % 5 == 4;
		for (unsigned i = 0; i < STEPS; i++)
			step_both(&pair, cores);
		compare(&pair);
	}
	machine_drain(pair.told.machine);
	pair.needed = 0;
	machine_drain(pair.quiet.machine);
	compare(&pair);
	fixture_down(&pair.told);
	fixture_down(&pair.quiet);
}

static void of_one_core(void **unused)
{
	(void)unused;
	totals_are_sums(1, 1);
	totals_are_sums(2, 1);
}

static void of_several_cores(void **unused)
{
	(void)unused;
	totals_are_sums(1, 2);
	totals_are_sums(2, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(of_one_core),
	    cmocka_unit_test(of_several_cores),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
