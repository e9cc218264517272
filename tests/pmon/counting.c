/*
 * Counting against a slow reference that looks at every single cycle: increment, threshold, invert,
 * edge, counter (334291-001 §1.4), on random scripts of pulses, spans and numbers, with freezes in
 * between.
 */
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

#define CYCLES	   6000
#define MESSAGES   300
#define ALL_CYCLES (CYCLES + 6000) /* until after the last access */
#define COUNTERS   4

/* Small and the same everywhere, so that a failing case can be run again. */
static uint64_t random_state;

static uint32_t random_below(uint32_t bound)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((random_state >> 33) % bound);
}

enum measure { CLOCK, COUNT, OCCUPANCY, NONEMPTY };

/* A box and an event of it, as the manual and catalog/signals.json describe them. */
struct subject {
	const char *name;
	enum { CBO, HA_BOX, IMC } box;
	uint16_t signal;
	enum signal_kind kind;
	enum measure measure;
	unsigned code;
	unsigned qualifier_count;   /* emitted qualifiers: bit 0 to here, one at a time */
	uint32_t qualifiers[8];	    /* by unit mask bit */
	uint32_t default_qualifier; /* holds while nothing is open */
	bool counter0;		    /* counters 1 to 3 see counter 0 */
};

static const struct subject subjects[] = {
    {"ha.CLOCKTICKS", HA_BOX, SIGNAL_HOME_REQUEST, SIGNAL_SPAN, CLOCK, 0x00, 1, {0}, 0, false},
    {"cbo.LLC_VICTIMS",
     CBO,
     SIGNAL_LLC_VICTIM,
     SIGNAL_PULSE,
     COUNT,
     0x37,
     4,
     {1, 2, 4, 8},
     0,
     false},
    {"ha.REQUESTS",
     HA_BOX,
     SIGNAL_HOME_REQUEST,
     SIGNAL_SPAN,
     COUNT,
     0x01,
     6,
     {1, 2, 4, 8, 16, 32},
     0,
     false},
    {"ha.TRACKER_OCCUPANCY",
     HA_BOX,
     SIGNAL_HOME_REQUEST,
     SIGNAL_SPAN,
     OCCUPANCY,
     0x04,
     6,
     {0, 0, 1, 2, 4, 8, 16, 32},
     0,
     false},
    {"ha.TRACKER_CYCLES_NE",
     HA_BOX,
     SIGNAL_HOME_REQUEST,
     SIGNAL_SPAN,
     NONEMPTY,
     0x03,
     6,
     {1 | 4 | 16, 2 | 8 | 32},
     0,
     false},
    {"imc.MAJOR_MODES",
     IMC,
     SIGNAL_DRAM_MODE,
     SIGNAL_SPAN,
     NONEMPTY,
     0x07,
     4,
     {1, 2, 4, 8},
     1,
     false},
    {"imc.WPQ_CYCLES_NE",
     IMC,
     SIGNAL_DRAM_WRITE_QUEUE,
     SIGNAL_LEVEL,
     NONEMPTY,
     0x21,
     0,
     {0},
     0,
     false},
    /* TOR_OCCUPANCY: umask bit 2 evictions, bit 4 writebacks. */
    {"cbo.COUNTER0_OCCUPANCY",
     CBO,
     SIGNAL_LLC_REQUEST,
     SIGNAL_SPAN,
     OCCUPANCY,
     0x36,
     6,
     {0, 0, QUALIFIER_LLC_REQUEST_EVICTION, 0, QUALIFIER_LLC_REQUEST_WRITEBACK},
     0,
     true},
};

struct message {
	uint64_t time, duration;
	uint32_t qualifiers;
};

struct pipeline {
	uint32_t wanted; /* qualifiers */
	bool all;	 /* no unit mask */
	unsigned thresh;
	bool invert, edge;
	uint64_t control;
	uint64_t count;
	int high;
};

static struct {
	struct fixture fixture;
	const struct subject *subject;
	struct message messages[MESSAGES];
	unsigned message_count;
	struct pipeline pipelines[COUNTERS];
	/* In each cycle: messages that a counter wants, and messages at all. */
	unsigned wanted[COUNTERS][ALL_CYCLES], open[ALL_CYCLES];
} test;

static uint32_t counter_address(unsigned k)
{
	switch (test.subject->box) {
	case CBO:
		return C_CTR(1, k);
	case HA_BOX:
		return HA(1, PCI_CTR(k));
	default:
		return MC(1, PCI_CTR(k));
	}
}

static uint32_t box_address(uint32_t msr, uint32_t pci_offset)
{
	if (test.subject->box == CBO)
		return msr;
	return test.subject->box == HA_BOX ? HA(1, pci_offset) : MC(1, pci_offset);
}

static uint64_t get(uint32_t address)
{
	return test.subject->box == CBO ? fixture_msr(&test.fixture, address)
					: fixture_pci(&test.fixture, address);
}

static void set(uint32_t address, uint64_t value)
{
	if (test.subject->box == CBO)
		fixture_set_msr(&test.fixture, address, value);
	else
		fixture_set_pci(&test.fixture, address, value);
}

/* The reference: walks every cycle of every message. */
static void lay_out_cycles(void)
{
	memset(test.wanted, 0, sizeof(test.wanted));
	memset(test.open, 0, sizeof(test.open));
	for (unsigned i = 0; i < test.message_count; i++) {
		const struct message *m = &test.messages[i];
		uint64_t end = m->time + (test.subject->measure == COUNT ? 1 : m->duration);

		if (test.subject->kind == SIGNAL_LEVEL) /* holds until the next one */
			end = i + 1 < test.message_count ? test.messages[i + 1].time : ALL_CYCLES;
		for (uint64_t cycle = m->time; cycle < end && cycle < ALL_CYCLES; cycle++) {
			unsigned number = test.subject->kind == SIGNAL_LEVEL ? m->duration : 1;

			test.open[cycle] += number;
			for (unsigned k = 0; k < COUNTERS; k++)
				if (test.pipelines[k].all ||
				    (m->qualifiers & test.pipelines[k].wanted))
					test.wanted[k][cycle] += number;
		}
	}
}

static unsigned slow_increment(unsigned k, uint64_t cycle)
{
	bool by_default = test.pipelines[k].wanted & test.subject->default_qualifier;

	if (test.subject->measure == CLOCK)
		return 1;
	if (test.subject->measure != NONEMPTY)
		return test.wanted[k][cycle];
	return test.wanted[k][cycle] > 0 || (test.open[cycle] == 0 && by_default);
}

static bool slow_compare(const struct pipeline *pipeline, unsigned increment)
{
	return pipeline->invert ? increment < pipeline->thresh : increment >= pipeline->thresh;
}

static void slow_cycle(unsigned k, uint64_t cycle, bool running)
{
	struct pipeline *pipeline = &test.pipelines[k];
	unsigned increment = slow_increment(k, cycle);
	bool high = slow_compare(pipeline, increment);

	if (running && pipeline->thresh == 0)
		pipeline->count += increment;
	else if (running && pipeline->edge)
		pipeline->count += high && !pipeline->high;
	else if (running)
		pipeline->count += high;
	pipeline->high = high;
}

static void emit(const struct message *m)
{
	fixture_span(&test.fixture, test.subject->signal, 1, m->qualifiers, m->time, m->duration);
}

static int by_time(const void *a, const void *b)
{
	const struct message *x = a, *y = b;

	return (x->time > y->time) - (x->time < y->time);
}

/* Bursts and pauses, short and long. */
static void make_script(void)
{
	uint32_t span = 1u << (4 + random_below(9)), crowd = 1 + random_below(60);

	test.message_count = 1 + random_below(MESSAGES);
	for (unsigned i = 0; i < test.message_count; i++) {
		struct message *m = &test.messages[i];

		m->time = random_below(CYCLES / crowd) * (random_below(8) ? crowd : 1);
		if (m->time >= CYCLES)
			m->time = CYCLES - 1;
		m->duration =
		    test.subject->kind == SIGNAL_LEVEL ? random_below(4) : random_below(span);
		m->qualifiers = test.subject->qualifier_count
				    ? 1u << random_below(test.subject->qualifier_count)
				    : 0;
	}
	qsort(test.messages, test.message_count, sizeof(test.messages[0]), by_time);
}

static void make_pipeline(unsigned k)
{
	struct pipeline *p = &test.pipelines[k];
	unsigned umask = random_below(256), code = test.subject->code;

	memset(p, 0, sizeof(*p));
	p->thresh = random_below(3) ? random_below(6) : 0;
	p->invert = random_below(2);
	p->edge = random_below(2);
	for (unsigned bit = 0; bit < 8; bit++) {
		if (!test.subject->qualifiers[bit])
			umask &= ~(1u << bit); /* a bit that means something else */
		if (umask >> bit & 1)
			p->wanted |= test.subject->qualifiers[bit];
	}
	p->all = test.subject->qualifier_count == 0;
	if (test.subject->counter0 && k > 0) {
		p->wanted = test.pipelines[0].wanted;
		code = 0x1f;
		umask = 0;
	}
	p->control = EN | THRESH(p->thresh) | (p->invert ? INVERT : 0) | (p->edge ? EDGE : 0) |
		     EVENT(code, umask);
	if (p->thresh == 0)
		p->invert = p->edge = false; /* they need a threshold */
	/* Before the script nothing is there. */
	p->high = slow_compare(p, test.subject->measure == CLOCK		  ? 1
				  : (p->wanted & test.subject->default_qualifier) ? 1
										  : 0);
	p->count = random_below(2) ? COUNTER_LIMIT - 1 - random_below(3000) : random_below(1000);
}

static void shuffle(struct message *messages, unsigned count)
{
	for (unsigned i = 0; i + 1 < count; i++) {
		unsigned other = i + random_below(count - i);
		struct message swap = messages[i];

		messages[i] = messages[other];
		messages[other] = swap;
	}
}

/*
 * Messages of cycles before @until, from @next on; @disorder at a time out of order, but not over
 * more cycles than src/pmon/pmon.h promises to put right.
 */
static unsigned deliver(unsigned next, uint64_t until, unsigned disorder)
{
	struct message batch[MESSAGES];
	unsigned count = 0;

	while (next < test.message_count && test.messages[next].time < until)
		batch[count++] = test.messages[next++];
	for (unsigned i = 0; disorder && i + disorder <= count; i += disorder)
		if (batch[i + disorder - 1].time - batch[i].time < 2048)
			shuffle(&batch[i], disorder);
	for (unsigned i = 0; i < count; i++)
		emit(&batch[i]);
	return next;
}

static void check_counters(unsigned seed)
{
	uint64_t status = 0, shift = test.subject->box == IMC; /* bit 0 is the fixed counter's */

	for (unsigned k = 0; k < COUNTERS; k++) {
		const struct pipeline *p = &test.pipelines[k];
		uint64_t counted = get(counter_address(k));

		if (counted != p->count % COUNTER_LIMIT)
			fail_msg("%s, seed %u, counter %u, control %#llx: %llu, not %llu",
				 test.subject->name, seed, k, (unsigned long long)p->control,
				 (unsigned long long)counted,
				 (unsigned long long)(p->count % COUNTER_LIMIT));
		if (p->count >= COUNTER_LIMIT)
			status |= 1ull << (k + shift);
	}
	assert_int_equal(get(box_address(C_STATUS(1), PCI_STATUS)), status);
}

static void at(uint64_t cycle)
{
	if (test.subject->box == IMC)
		fixture_at_dram(&test.fixture, cycle);
	else
		fixture_at(&test.fixture, cycle);
}

static void run_case(const struct subject *subject, unsigned seed)
{
	bool box_frozen = false, global_frozen = false;
	unsigned next = 0, disorder;
	uint64_t access = 0;

	random_state = seed * 2654435761u + 12345;
	test.subject = subject;
	disorder = subject->kind == SIGNAL_LEVEL ? 0 : random_below(3) * 5;
	fixture_up(&test.fixture);
	make_script();
	for (unsigned k = 0; k < COUNTERS; k++) {
		make_pipeline(k);
		set(counter_address(k), test.pipelines[k].count);
	}
	for (unsigned k = 0; k < COUNTERS; k++)
		set(box_address(C_CTL(1, k), PCI_CTL(k)), test.pipelines[k].control);

	lay_out_cycles();
	while (access < CYCLES + 600) {
		uint64_t until = access + 1 + random_below(random_below(2) ? 1500 : 5000);

		next = deliver(next, until, disorder);
		for (; access < until; access++)
			for (unsigned k = 0; k < COUNTERS; k++)
				slow_cycle(k, access, !box_frozen && !global_frozen);
		at(access);
		check_counters(seed);
		switch (random_below(4)) {
		case 0:
			box_frozen = !box_frozen;
			set(box_address(C_BOX_CTL(1), PCI_BOX_CTL), box_frozen ? BOX_FRZ : BOX_GO);
			break;
		case 1:
			global_frozen = !global_frozen;
			fixture_set_msr(&test.fixture, GLOBAL_CTL,
					global_frozen ? FRZ_ALL : UNFRZ_ALL);
			break;
		}
	}
	fixture_down(&test.fixture);
}

static void test_random_scripts(void **state UNUSED)
{
	for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++)
		for (unsigned seed = 1; seed <= 500; seed++)
			run_case(&subjects[i], seed);
}

/* One slot of 5 cycles, then two that overlap: all that is said of it can be counted by hand. */
static void test_by_hand(void **state UNUSED)
{
	const struct {
		uint32_t control;
		uint64_t count;
	} cases[] = {
	    {0, 5 + 10 + 10},		    /* entries a cycle, added up */
	    {THRESH(1), 5 + 16},	    /* cycles with at least one */
	    {THRESH(2), 4},		    /* with at least two: 24 to 27 */
	    {THRESH(3), 0},		    /* with three: never */
	    {THRESH(1) | EDGE, 2},	    /* from none to some */
	    {THRESH(2) | EDGE, 1},	    /* from one to two */
	    {THRESH(1) | INVERT, 100 - 21}, /* cycles with none */
	    {THRESH(1) | INVERT | EDGE, 2}, /* from some to none */
	    {THRESH(2) | INVERT, 100 - 4},
	    {INVERT, 25}, /* without threshold neither does anything */
	    {EDGE, 25},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fixture_up(&test.fixture);
		fixture_set_pci(&test.fixture, HA(0, PCI_CTL(3)),
				EN | EVENT(0x04, 0x04) | cases[i].control);
		fixture_span(&test.fixture, SIGNAL_HOME_REQUEST, 0,
			     QUALIFIER_HOME_REQUEST_READ_LOCAL, 10, 5);
		fixture_span(&test.fixture, SIGNAL_HOME_REQUEST, 0,
			     QUALIFIER_HOME_REQUEST_READ_LOCAL, 18, 10);
		fixture_span(&test.fixture, SIGNAL_HOME_REQUEST, 0,
			     QUALIFIER_HOME_REQUEST_READ_LOCAL, 24, 10);
		fixture_at(&test.fixture, 100);
		assert_int_equal(fixture_pci(&test.fixture, HA(0, PCI_CTR(3))), cases[i].count);
		fixture_down(&test.fixture);
	}
}

/* The sum of what was there is exact however late and disordered it is reported, once all is over.
 */
static void test_sum_is_exact_in_any_order(void **state UNUSED)
{
	uint64_t sum = 0, count = 0, end = 0;

	random_state = 99;
	fixture_up(&test.fixture);
	fixture_set_msr(&test.fixture, C_CTL(1, 0), EN | EVENT(0x36, 0x08)); /* TOR_OCCUPANCY.ALL */
	fixture_set_msr(&test.fixture, C_CTL(1, 1), EN | EVENT(0x35, 0x08)); /* TOR_INSERTS.ALL */
	fixture_set_msr(&test.fixture, C_CTL(1, 2), EN | EVENT(0x1f, 0) | THRESH(1) | EDGE);
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t time = i * 3 + random_below(20000), duration = random_below(900);

		fixture_span(&test.fixture, SIGNAL_LLC_REQUEST, 1, QUALIFIER_LLC_REQUEST_CORE, time,
			     duration);
		sum += duration;
		count++;
		if (time + duration > end)
			end = time + duration;
	}
	fixture_at(&test.fixture, end);
	assert_int_equal(fixture_msr(&test.fixture, C_CTR(1, 0)), sum);
	assert_int_equal(fixture_msr(&test.fixture, C_CTR(1, 1)), count);
	fixture_down(&test.fixture);
}

/*
 * Told when it is half over: what has passed is added at once, what is to come in its time. Through
 * a threshold, nothing can be put into cycles that are final: it begins late.
 */
static void test_told_late(void **state UNUSED)
{
	fixture_up(&test.fixture);
	fixture_set_pci(&test.fixture, HA(0, PCI_CTL(0)), EN | EVENT(0x04, 0x04));
	fixture_set_pci(&test.fixture, HA(0, PCI_CTL(1)), EN | EVENT(0x04, 0x04) | THRESH(1));
	fixture_at(&test.fixture, 1000);
	fixture_pci(&test.fixture, HA(0, PCI_CTR(0)));
	fixture_pci(&test.fixture, HA(0, PCI_CTR(1)));
	fixture_span(&test.fixture, SIGNAL_HOME_REQUEST, 0, QUALIFIER_HOME_REQUEST_READ_LOCAL, 700,
		     1000);
	fixture_at(&test.fixture, 1100);
	assert_int_equal(fixture_pci(&test.fixture, HA(0, PCI_CTR(0))), 400);
	assert_int_equal(fixture_pci(&test.fixture, HA(0, PCI_CTR(1))), 100);
	fixture_at(&test.fixture, 5000);
	assert_int_equal(fixture_pci(&test.fixture, HA(0, PCI_CTR(0))), 1000);
	assert_int_equal(fixture_pci(&test.fixture, HA(0, PCI_CTR(1))), 1000);
	fixture_down(&test.fixture);
}

/* What a read does not show stays open: counter 1 takes the late half into its own cycles. */
static void test_a_read_settles_its_own_counter(void **state UNUSED)
{
	fixture_up(&test.fixture);
	fixture_set_pci(&test.fixture, HA(0, PCI_CTL(0)), EN | EVENT(0x04, 0x04));
	fixture_set_pci(&test.fixture, HA(0, PCI_CTL(1)), EN | EVENT(0x04, 0x04) | THRESH(1));
	fixture_at(&test.fixture, 1000);
	fixture_pci(&test.fixture, HA(0, PCI_CTR(0)));
	fixture_span(&test.fixture, SIGNAL_HOME_REQUEST, 0, QUALIFIER_HOME_REQUEST_READ_LOCAL, 700,
		     1000);
	fixture_at(&test.fixture, 1100);
	assert_int_equal(fixture_pci(&test.fixture, HA(0, PCI_CTR(1))), 400);
	fixture_down(&test.fixture);
}

/* More at once than a counter can keep in mind: nothing is lost. */
static void test_crowd(void **state UNUSED)
{
	fixture_up(&test.fixture);
	fixture_set_pci(&test.fixture, HA(0, PCI_CTL(0)), EN | EVENT(0x04, 0x04));
	for (unsigned i = 0; i < 5000; i++)
		fixture_span(&test.fixture, SIGNAL_HOME_REQUEST, 0,
			     QUALIFIER_HOME_REQUEST_READ_LOCAL, i, 100000);
	fixture_at(&test.fixture, 1000000);
	assert_int_equal(fixture_pci(&test.fixture, HA(0, PCI_CTR(0))), 5000ull * 100000);
	fixture_down(&test.fixture);
}

/*
 * A counter programmed anew while it counts: from then on it counts what it is reported now. What
 * was open before the change of event stays out; a change of threshold alone goes on with it.
 */
static void test_reprogrammed_while_running(void **state UNUSED)
{
	fixture_up(&test.fixture);
	fixture_set_pci(&test.fixture, HA(0, PCI_CTL(0)), EN | EVENT(0x04, 0x04));
	fixture_span(&test.fixture, SIGNAL_HOME_REQUEST, 0, QUALIFIER_HOME_REQUEST_READ_LOCAL, 100,
		     400);
	fixture_at(&test.fixture, 200);
	fixture_set_pci(&test.fixture, HA(0, PCI_CTL(0)), EN | EVENT(0x04, 0x04) | THRESH(1));
	fixture_at(&test.fixture, 300);
	assert_int_equal(fixture_pci(&test.fixture, HA(0, PCI_CTR(0))), 200);
	/* No edge where only the control changed. */
	fixture_set_pci(&test.fixture, HA(0, PCI_CTL(0)),
			EN | EVENT(0x04, 0x04) | THRESH(1) | EDGE);
	fixture_at(&test.fixture, 400);
	assert_int_equal(fixture_pci(&test.fixture, HA(0, PCI_CTR(0))), 200);
	fixture_set_pci(&test.fixture, HA(0, PCI_CTL(0)), EN | EVENT(0x04, 0x10));
	fixture_span(&test.fixture, SIGNAL_HOME_REQUEST, 0, QUALIFIER_HOME_REQUEST_WRITE_LOCAL, 450,
		     30);
	fixture_at(&test.fixture, 600);
	assert_int_equal(fixture_pci(&test.fixture, HA(0, PCI_CTR(0))), 230);
	fixture_set_pci(&test.fixture, HA(0, PCI_CTL(0)), EN | EVENT(0x00, 0));
	fixture_at(&test.fixture, 610);
	assert_int_equal(fixture_pci(&test.fixture, HA(0, PCI_CTR(0))), 240);
	fixture_down(&test.fixture);
}

/* A write in the very cycle in which something begins or ends hides neither. */
static void test_write_in_the_cycle_of_an_edge(void **state UNUSED)
{
	const uint32_t rising = EN | EVENT(0x04, 0x04) | THRESH(1) | EDGE;

	fixture_up(&test.fixture);
	fixture_set_pci(&test.fixture, HA(0, PCI_CTL(0)), rising);
	fixture_set_pci(&test.fixture, HA(0, PCI_CTL(1)), rising | INVERT);
	fixture_span(&test.fixture, SIGNAL_HOME_REQUEST, 0, QUALIFIER_HOME_REQUEST_READ_LOCAL, 100,
		     100);
	for (uint64_t cycle = 99; cycle <= 201; cycle++) {
		fixture_at(&test.fixture, cycle);
		fixture_set_pci(&test.fixture, HA(0, PCI_BOX_CTL), BOX_GO);
		fixture_set_pci(&test.fixture, HA(0, PCI_CTL(0)), rising);
	}
	fixture_span(&test.fixture, SIGNAL_HOME_REQUEST, 0, QUALIFIER_HOME_REQUEST_READ_LOCAL, 201,
		     9);
	fixture_set_pci(&test.fixture, HA(0, PCI_BOX_CTL), BOX_GO);
	fixture_at(&test.fixture, 300);
	assert_int_equal(fixture_pci(&test.fixture, HA(0, PCI_CTR(0))), 2);
	assert_int_equal(fixture_pci(&test.fixture, HA(0, PCI_CTR(1))), 2);
	fixture_down(&test.fixture);
}

/* What is open while the box is frozen is still there when it goes on. */
static void test_open_through_a_freeze(void **state UNUSED)
{
	fixture_up(&test.fixture);
	fixture_set_pci(&test.fixture, HA(0, PCI_BOX_CTL), BOX_FRZ);
	fixture_set_pci(&test.fixture, HA(0, PCI_CTL(0)), EN | EVENT(0x04, 0x04));
	fixture_span(&test.fixture, SIGNAL_HOME_REQUEST, 0, QUALIFIER_HOME_REQUEST_READ_LOCAL, 100,
		     400);
	fixture_at(&test.fixture, 350);
	fixture_set_pci(&test.fixture, HA(0, PCI_BOX_CTL), BOX_GO);
	fixture_at(&test.fixture, 5000);
	assert_int_equal(fixture_pci(&test.fixture, HA(0, PCI_CTR(0))), 150);
	fixture_down(&test.fixture);
}

/* A number emitted before anybody subscribed holds for who subscribes. */
static void test_level_is_remembered(void **state UNUSED)
{
	fixture_up(&test.fixture);
	assert_int_equal(test.fixture.port.enabled[SIGNAL_DRAM_WRITE_QUEUE], 1);
	fixture_span(&test.fixture, SIGNAL_DRAM_WRITE_QUEUE, 2, 0, 100, 17);
	fixture_at_dram(&test.fixture, 1000);
	fixture_set_pci(&test.fixture, MC(2, PCI_CTL(0)), EN | EVENT(0x21, 0));
	fixture_span(&test.fixture, SIGNAL_DRAM_WRITE_QUEUE, 2, 0, 1600, 0);
	fixture_at_dram(&test.fixture, 2000);
	assert_int_equal(fixture_pci(&test.fixture, MC(2, PCI_CTR(0))), 600);
	fixture_down(&test.fixture);
}

/* No event adds up or counts numbers yet: the same catalog, with two events made to do so. */
static void test_level_occupancy(void **state UNUSED)
{
	const struct pmu_pmu *real = pmu_find_pmu("xeon-e5v4");
	struct pmu_box boxes[16];
	struct pmu_event events[128];
	struct pmu_pmu pmu = *real;
	uint64_t expected = 0;

	assert_true(real->box_count <= 16);
	for (size_t b = 0; b < real->box_count; b++) {
		boxes[b] = real->boxes[b];
		if (strcmp(boxes[b].name, "imc"))
			continue;
		assert_true(boxes[b].event_count <= 128);
		for (size_t e = 0; e < boxes[b].event_count; e++) {
			events[e] = boxes[b].events[e];
			if (events[e].code == 0x21)
				events[e].measure = PMU_MEASURE_OCCUPANCY;
			if (events[e].code == 0x22) {
				events[e].signal = SIGNAL_DRAM_WRITE_QUEUE;
				events[e].measure = PMU_MEASURE_COUNT;
			}
		}
		boxes[b].events = events;
	}
	pmu.boxes = boxes;
	fixture_up_for(&test.fixture, &pmu);
	fixture_set_pci(&test.fixture, MC(2, PCI_CTL(0)), EN | EVENT(0x21, 0));
	fixture_set_pci(&test.fixture, MC(2, PCI_CTL(1)), EN | EVENT(0x21, 0) | THRESH(10));
	fixture_set_pci(&test.fixture, MC(2, PCI_CTL(2)), EN | EVENT(0x22, 0));
	fixture_set_pci(&test.fixture, MC(2, PCI_CTL(3)), EN | EVENT(0x22, 0) | THRESH(1));
	/* 1, 2, 3, .. 20, each for 50 cycles, then none. */
	for (unsigned i = 1; i <= 20; i++) {
		fixture_span(&test.fixture, SIGNAL_DRAM_WRITE_QUEUE, 2, 0, 100 + 50 * i, i);
		expected += 50 * i;
	}
	fixture_span(&test.fixture, SIGNAL_DRAM_WRITE_QUEUE, 2, 0, 100 + 50 * 21, 0);
	fixture_at_dram(&test.fixture, 5000);
	assert_int_equal(fixture_pci(&test.fixture, MC(2, PCI_CTR(0))), expected);
	assert_int_equal(fixture_pci(&test.fixture, MC(2, PCI_CTR(1))), 50 * 11);
	assert_int_equal(fixture_pci(&test.fixture, MC(2, PCI_CTR(2))), 21);
	assert_int_equal(fixture_pci(&test.fixture, MC(2, PCI_CTR(3))), 21);
	fixture_down(&test.fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_by_hand),
	    cmocka_unit_test(test_random_scripts),
	    cmocka_unit_test(test_sum_is_exact_in_any_order),
	    cmocka_unit_test(test_told_late),
	    cmocka_unit_test(test_a_read_settles_its_own_counter),
	    cmocka_unit_test(test_crowd),
	    cmocka_unit_test(test_reprogrammed_while_running),
	    cmocka_unit_test(test_write_in_the_cycle_of_an_edge),
	    cmocka_unit_test(test_open_through_a_freeze),
	    cmocka_unit_test(test_level_is_remembered),
	    cmocka_unit_test(test_level_occupancy),
	};

	return cmocka_run_group_tests_name("pmon counting", tests, NULL, NULL);
}
