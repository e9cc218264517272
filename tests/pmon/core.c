/*
 * The counters of a core by the processor's manual (325384, architectural performance monitoring
 * version 3): addresses, enables, widths, overflow, what faults.
 */
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

#define TSC	     0x10u
#define PMC(k)	     (0xC1u + (k))
#define A_PMC(k)     (0x4C1u + (k))
#define EVTSEL(k)    (0x186u + (k))
#define FIXED(k)     (0x309u + (k))
#define FIXED_CTRL   0x38Du
#define STATUS	     0x38Eu
#define CTRL	     0x38Fu
#define OVF_CTRL     0x390u
#define DEBUGCTL     0x1D9u
#define MPERF	     0xE7u
#define APERF	     0xE8u
#define CAPABILITIES 0x345u
#define PEBS_ENABLE  0x3F1u
#define MISC_ENABLE  0x1A0u

#define USR	    (1u << 16)
#define OS	    (1u << 17)
#define CORE_EDGE   (1u << 18)
#define INT	    (1u << 20)
#define CMASK(n)    ((uint64_t)(n) << 24)
#define FREEZE	    (1u << 12)
#define EN_FIXED(k) (1ull << (32 + (k)))
#define EN_PMC(k)   (1ull << (k))
#define ALL	    0x7000000ffull

/* Event codes of 325384's table of architectural events. */
#define CYCLES	     EVENT(0x3C, 0x00)
#define REF_CYCLES   EVENT(0x3C, 0x01)
#define INSTRUCTIONS EVENT(0xC0, 0x00)
#define REFERENCES   EVENT(0x2E, 0x4F)
#define MISSES	     EVENT(0x2E, 0x41)
#define BRANCHES     EVENT(0xC4, 0x00)
#define MISPREDICTED EVENT(0xC5, 0x00)

static struct fixture fixture;

static int setup(void **state UNUSED)
{
	fixture_up(&fixture);
	return 0;
}

static int teardown(void **state UNUSED)
{
	fixture_down(&fixture);
	return 0;
}

static int read_at(unsigned socket, unsigned core, uint32_t address, uint64_t *value)
{
	struct pmon_access access = {.socket = socket,
				     .core = core,
				     .space = PMU_SPACE_MSR,
				     .address = address,
				     .width = 64};

	return pmon_read(fixture.pmon, &access, &fixture.now, value);
}

static int write_at(unsigned socket, unsigned core, uint32_t address, uint64_t value)
{
	struct pmon_access access = {.socket = socket,
				     .core = core,
				     .space = PMU_SPACE_MSR,
				     .address = address,
				     .width = 64};

	return pmon_write(fixture.pmon, &access, &fixture.now, value);
}

static void tell(unsigned socket, unsigned core, uint16_t id, uint64_t amount)
{
	struct signal signal = {
	    .id = id, .socket = (uint8_t)socket, .unit = (uint8_t)core, .duration = amount};

	signal_emit(&fixture.port, signal);
}

/* Of core 0 of socket 0. */
static void happen(uint16_t id, uint64_t amount)
{
	tell(0, 0, id, amount);
}

static void test_resets(void **state UNUSED)
{
	static const uint32_t zero[] = {
	    TSC,	PMC(0), PMC(7), A_PMC(7), EVTSEL(0), EVTSEL(7), FIXED(0), FIXED(2),
	    FIXED_CTRL, STATUS, CTRL,	OVF_CTRL, DEBUGCTL,  MPERF,	APERF,	  PEBS_ENABLE};

	for (size_t i = 0; i < sizeof(zero) / sizeof(zero[0]); i++)
		assert_int_equal(fixture_msr(&fixture, zero[i]), 0);
	/* Full-width writes and freeze in SMM; no PEBS; branch records with flags of transactions.
	 */
	assert_int_equal(fixture_msr(&fixture, CAPABILITIES), 0x3004);
	/* Fast strings, counters, no BTS, no PEBS, no turbo. */
	assert_int_equal(fixture_msr(&fixture, MISC_ENABLE),
			 1ull << 38 | 1 << 12 | 1 << 11 | 1 << 7 | 1);
}

/* Neither a ninth counter nor energy, temperature or the branch before an exception. */
static void test_absent(void **state UNUSED)
{
	static const uint32_t absent[] = {0xC9, 0x18E, 0x30C, 0x4C9, 0x606, 0x611, 0x19C, 0x1DD};
	uint64_t value;

	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
		assert_int_equal(read_at(0, 0, absent[i], &value), PMU_E_UNKNOWN);
		assert_int_equal(write_at(0, 0, absent[i], 0), PMU_E_UNKNOWN);
	}
	/* The fixture has eight cores in each of two sockets. */
	assert_int_equal(read_at(1, 7, CTRL, &value), 0);
	assert_int_equal(read_at(1, 8, CTRL, &value), PMU_E_UNKNOWN);
	assert_int_equal(read_at(2, 0, CTRL, &value), PMU_E_UNKNOWN);
}

/* What no event of the box counts, such as what another instruction set does, goes nowhere, also
   where an emitter does not ask who subscribes. */
static void test_signals_of_others(void **state UNUSED)
{
	void *before = malloc(fixture.size);

	assert_non_null(before);
	fixture_set_msr(&fixture, FIXED_CTRL, 0x222);
	fixture_set_msr(&fixture, CTRL, EN_FIXED(0) | EN_FIXED(1) | EN_FIXED(2));
	fixture_set_msr(&fixture, C_CTL(0, 0), EN | EVENT(0x34, 0x11));
	memcpy(before, fixture.state, fixture.size);
	for (uint16_t id = SIGNAL_PIPE_RETIRED; id < SIGNAL_COUNT; id++) {
		const struct signal signal = {.id = id, .duration = 5};

		assert_int_equal(fixture.port.enabled[id], 0);
		fixture.port.emit(fixture.port.subscriber, &signal);
	}
	assert_memory_equal(fixture.state, before, fixture.size);
	happen(SIGNAL_CORE_RETIRED, 5);
	assert_int_equal(fixture_msr(&fixture, FIXED(0)), 5);
	free(before);
}

/* Each core has its own, and what belongs to the socket is the same from each. */
static void test_cores_are_apart(void **state UNUSED)
{
	uint64_t value;

	assert_int_equal(write_at(1, 3, CTRL, EN_FIXED(0)), 0);
	assert_int_equal(write_at(1, 3, FIXED_CTRL, 2), 0);
	tell(1, 3, SIGNAL_CORE_RETIRED, 11);
	tell(1, 2, SIGNAL_CORE_RETIRED, 100);
	tell(0, 3, SIGNAL_CORE_RETIRED, 1000);
	for (unsigned socket = 0; socket < 2; socket++)
		for (unsigned core = 0; core < 8; core++) {
			assert_int_equal(read_at(socket, core, FIXED(0), &value), 0);
			assert_int_equal(value, socket == 1 && core == 3 ? 11 : 0);
		}
	assert_int_equal(write_at(0, 5, C_FILTER0(1), 0x2a), 0);
	assert_int_equal(read_at(0, 2, C_FILTER0(1), &value), 0);
	assert_int_equal(value, 0x2a);
}

struct counted {
	uint32_t event;
	uint16_t signal;
};

static const struct counted counted[] = {
    {CYCLES, SIGNAL_CORE_CYCLES},	 {REF_CYCLES, SIGNAL_CORE_BASE_CYCLES},
    {INSTRUCTIONS, SIGNAL_CORE_RETIRED}, {REFERENCES, SIGNAL_CORE_LLC_REFERENCE},
    {MISSES, SIGNAL_CORE_LLC_MISS},	 {BRANCHES, SIGNAL_CORE_BRANCHES},
};
#define COUNTED (sizeof(counted) / sizeof(counted[0]))

/* Every architectural event on every counter adds up its own signal and no other. */
static void test_events(void **state UNUSED)
{
	fixture_set_msr(&fixture, CTRL, ALL);
	for (unsigned k = 0; k < 8; k++)
		for (size_t e = 0; e < COUNTED; e++) {
			fixture_set_msr(&fixture, EVTSEL(k), EN | USR | counted[e].event);
			fixture_set_msr(&fixture, PMC(k), 0);
			for (size_t s = 0; s < COUNTED; s++)
				happen(counted[s].signal, 1ull << 8 * s);
			assert_int_equal(fixture_msr(&fixture, PMC(k)), 1ull << 8 * e);
		}
	fixture_set_msr(&fixture, EVTSEL(0), EN | USR | MISPREDICTED);
	fixture_set_msr(&fixture, PMC(0), 0);
	for (size_t s = 0; s < COUNTED; s++)
		happen(counted[s].signal, 5);
	assert_int_equal(fixture_msr(&fixture, PMC(0)), 0);
}

static void test_fixed(void **state UNUSED)
{
	static const uint16_t signals[] = {SIGNAL_CORE_RETIRED, SIGNAL_CORE_CYCLES,
					   SIGNAL_CORE_REFERENCE_CYCLES};

	fixture_set_msr(&fixture, CTRL, ALL);
	for (unsigned k = 0; k < 3; k++) {
		fixture_set_msr(&fixture, FIXED_CTRL, 2ull << 4 * k);
		for (unsigned s = 0; s < 3; s++)
			happen(signals[s], s + 1);
		for (unsigned s = 0; s < 3; s++)
			assert_int_equal(fixture_msr(&fixture, FIXED(s)), s == k ? s + 1 : 0);
		fixture_set_msr(&fixture, FIXED(k), 0);
	}
}

/* A counter needs the global bit, its own, and the ring in which programs run. */
static void test_enables(void **state UNUSED)
{
	fixture_set_msr(&fixture, EVTSEL(2), EN | USR | INSTRUCTIONS);
	fixture_set_msr(&fixture, FIXED_CTRL, 0x333);
	happen(SIGNAL_CORE_RETIRED, 1);
	fixture_set_msr(&fixture, CTRL, EN_PMC(2));
	happen(SIGNAL_CORE_RETIRED, 10);
	fixture_set_msr(&fixture, EVTSEL(2), USR | INSTRUCTIONS);
	happen(SIGNAL_CORE_RETIRED, 100);
	fixture_set_msr(&fixture, EVTSEL(2), EN | OS | INSTRUCTIONS);
	happen(SIGNAL_CORE_RETIRED, 1000);
	fixture_set_msr(&fixture, EVTSEL(2), EN | OS | USR | INSTRUCTIONS);
	happen(SIGNAL_CORE_RETIRED, 10000);
	fixture_set_msr(&fixture, CTRL, EN_FIXED(0) | EN_PMC(1));
	happen(SIGNAL_CORE_RETIRED, 100000);
	assert_int_equal(fixture_msr(&fixture, PMC(2)), 10010);
	assert_int_equal(fixture_msr(&fixture, FIXED(0)), 100000);
	fixture_set_msr(&fixture, FIXED_CTRL, 0x331); /* kernel only */
	happen(SIGNAL_CORE_RETIRED, 1);
	assert_int_equal(fixture_msr(&fixture, FIXED(0)), 100000);
}

/* So many cycles with @least or more, and so often it rose to that. */
static void tell_level(uint16_t id, uint32_t qualifiers, unsigned least, uint64_t cycles,
		       uint64_t rises)
{
	struct signal signal = {
	    .id = id, .qualifiers = qualifiers, .least = (uint8_t)least, .duration = cycles};

	signal_emit_sum(&fixture.port, &signal);
	signal.rise = true;
	signal.duration = rises;
	signal_emit_sum(&fixture.port, &signal);
}

/* DSB2MITE_SWITCHES.PENALTY_CYCLES: a sum does not say how many there were in a cycle. */
static void test_thresholds_count_nothing(void **state UNUSED)
{
	const uint64_t penalties = EN | USR | EVENT(0xAB, 0x02);
	const struct signal nine = {.id = SIGNAL_CORE_FRONT_PENALTY,
				    .qualifiers = QUALIFIER_CORE_FRONT_PENALTY_SWITCHED,
				    .duration = 9};

	fixture_set_msr(&fixture, CTRL, ALL);
	fixture_set_msr(&fixture, EVTSEL(0), penalties | CMASK(1));
	fixture_set_msr(&fixture, EVTSEL(1), penalties | CORE_EDGE);
	fixture_set_msr(&fixture, EVTSEL(2), penalties | CMASK(1) | INVERT);
	/* inv does nothing without cmask. */
	fixture_set_msr(&fixture, EVTSEL(3), penalties | INVERT);
	signal_emit_sum(&fixture.port, &nine);
	happen(SIGNAL_CORE_CYCLES, 20);
	assert_int_equal(fixture_msr(&fixture, PMC(0)), 0);
	assert_int_equal(fixture_msr(&fixture, PMC(1)), 0);
	assert_int_equal(fixture_msr(&fixture, PMC(2)), 0);
	assert_int_equal(fixture_msr(&fixture, PMC(3)), 9);
}

/*
 * UOPS_ISSUED in 10 cycles: 2, 0, 3, 3, 0, 0, 1, 4, 0, 0. So 5 cycles have one or more, after 3
 * others; 4 have two or more, after 3; 3 have three or more, after 2; of 4 there is one.
 */
static void tell_issue(void)
{
	happen(SIGNAL_CORE_UOP_ISSUED, 13);
	tell_level(SIGNAL_CORE_CYCLES_ISSUED, 0, 4, 1, 1);
	tell_level(SIGNAL_CORE_CYCLES_ISSUED, 0, 3, 3, 2);
	tell_level(SIGNAL_CORE_CYCLES_ISSUED, 0, 2, 4, 3);
	tell_level(SIGNAL_CORE_CYCLES_ISSUED, 0, 1, 5, 3);
	happen(SIGNAL_CORE_CYCLES, 10);
}

static void test_thresholds_of_levels(void **state UNUSED)
{
	static const struct {
		uint64_t control, count;
	} counters[] = {
	    {0, 13},
	    {CMASK(1), 5},
	    {CMASK(3), 3},
	    {CMASK(5), 0},
	    {CMASK(1) | INVERT, 5}, /* UOPS_ISSUED.STALL_CYCLES */
	    {CMASK(4) | INVERT, 9},
	    {CMASK(2) | CORE_EDGE, 3},
	    {CMASK(16) | INVERT, 10},
	};
	const uint64_t issued = EN | USR | EVENT(0x0E, 0x01);

	fixture_set_msr(&fixture, CTRL, ALL);
	for (unsigned i = 0; i < 8; i++)
		fixture_set_msr(&fixture, EVTSEL(i), issued | counters[i].control);
	for (unsigned round = 1; round < 4; round++) {
		tell_issue();
		for (unsigned i = 0; i < 8; i++)
			assert_int_equal(fixture_msr(&fixture, PMC(i)), round * counters[i].count);
	}
	/* What ends is as often as what begins. */
	fixture_set_msr(&fixture, EVTSEL(0), issued | CMASK(3) | INVERT | CORE_EDGE);
	fixture_set_msr(&fixture, PMC(0), 0);
	tell_issue();
	assert_int_equal(fixture_msr(&fixture, PMC(0)), 2);
}

/* OFFCORE_REQUESTS_OUTSTANDING: each unit mask has its own numbers. */
static void test_thresholds_by_qualifier(void **state UNUSED)
{
	const uint64_t outstanding = EN | USR | EVENT(0x60, 0);

	fixture_set_msr(&fixture, CTRL, ALL);
	fixture_set_msr(&fixture, EVTSEL(0), outstanding | 0x0100 | CMASK(6));
	fixture_set_msr(&fixture, EVTSEL(1), outstanding | 0x0400 | CMASK(6));
	fixture_set_msr(&fixture, EVTSEL(2), outstanding | 0x0800 | CMASK(6));
	tell_level(SIGNAL_CORE_CYCLES_WAITING, QUALIFIER_CORE_CYCLES_WAITING_DATA, 6, 100, 1);
	tell_level(SIGNAL_CORE_CYCLES_WAITING, QUALIFIER_CORE_CYCLES_WAITING_OWN, 6, 20, 1);
	tell_level(SIGNAL_CORE_CYCLES_WAITING, QUALIFIER_CORE_CYCLES_WAITING_ALL_DATA, 6, 3, 1);
	tell_level(SIGNAL_CORE_CYCLES_WAITING, QUALIFIER_CORE_CYCLES_WAITING_DATA, 5, 7000, 1);
	assert_int_equal(fixture_msr(&fixture, PMC(0)), 100);
	assert_int_equal(fixture_msr(&fixture, PMC(1)), 20);
	assert_int_equal(fixture_msr(&fixture, PMC(2)), 3);
}

/* What happens once a cycle at most is as many cycles; what never happens twice in a row, edges. */
static void test_thresholds_of_single_ones(void **state UNUSED)
{
	static const struct {
		uint64_t control, count;
	} counters[] = {
	    {MISSES | CMASK(1), 30},
	    {MISSES | CMASK(2), 0},
	    {MISSES | CMASK(1) | INVERT, 970},
	    {MISSES | CMASK(2) | INVERT, 1000},
	    {MISSES | CMASK(1) | CORE_EDGE, 0}, /* not known */
	    {MISPREDICTED | CMASK(1) | CORE_EDGE, 4},
	    {CYCLES | CMASK(1), 1000},
	    {CYCLES | CMASK(2) | INVERT, 1000},
	};

	fixture_set_msr(&fixture, CTRL, ALL);
	for (unsigned i = 0; i < 8; i++)
		fixture_set_msr(&fixture, EVTSEL(i), EN | USR | counters[i].control);
	for (unsigned round = 0; round < 2; round++) {
		happen(SIGNAL_CORE_LLC_MISS, 15);
		happen(SIGNAL_CORE_MISPREDICTED, 2);
		happen(SIGNAL_CORE_CYCLES, 500);
	}
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(fixture_msr(&fixture, PMC(i)), counters[i].count);
	fixture_set_msr(&fixture, EVTSEL(0), EN | USR | CYCLES | CMASK(1) | INVERT);
	fixture_set_msr(&fixture, PMC(0), 0);
	happen(SIGNAL_CORE_CYCLES, 500);
	assert_int_equal(fixture_msr(&fixture, PMC(0)), 0);
}

/* What is known before its cycle is taken off later, also where the counter is stopped between. */
static void test_thresholds_of_stopped_counters(void **state UNUSED)
{
	const uint64_t none = USR | MISSES | CMASK(1) | INVERT;

	fixture_set_msr(&fixture, CTRL, ALL);
	fixture_set_msr(&fixture, EVTSEL(0), EN | none);
	happen(SIGNAL_CORE_LLC_MISS, 3);
	fixture_set_msr(&fixture, EVTSEL(0), none);
	fixture_set_msr(&fixture, CTRL, 0);
	fixture_set_msr(&fixture, CTRL, ALL);
	fixture_set_msr(&fixture, EVTSEL(0), EN | none);
	happen(SIGNAL_CORE_CYCLES, 2);
	assert_int_equal(fixture_msr(&fixture, PMC(0)), 0);
	happen(SIGNAL_CORE_CYCLES, 10);
	assert_int_equal(fixture_msr(&fixture, PMC(0)), 9);
	/* Another event has nothing to do with it. */
	happen(SIGNAL_CORE_LLC_MISS, 3);
	fixture_set_msr(&fixture, EVTSEL(0), EN | USR | REFERENCES | CMASK(1) | INVERT);
	happen(SIGNAL_CORE_CYCLES, 10);
	assert_int_equal(fixture_msr(&fixture, PMC(0)), 19);
}

/* CYCLE_ACTIVITY.STALLS_L2_MISS, CYCLES_FE_WAS_OK: a unit mask has a signal for what goes with it.
 */
static void test_thresholds_of_unit_masks(void **state UNUSED)
{
	const uint64_t activity = EN | USR | EVENT(0xA3, 0x05), idq = EN | USR | EVENT(0x9C, 0x01);
	const struct signal none = {
	    .id = SIGNAL_CORE_DELIVERY, .qualifiers = QUALIFIER_CORE_DELIVERY_NONE, .duration = 8};
	struct signal stall = {
	    .id = SIGNAL_CORE_STALL, .qualifiers = QUALIFIER_CORE_STALL_FETCH, .duration = 8};

	fixture_set_msr(&fixture, CTRL, ALL);
	fixture_set_msr(&fixture, EVTSEL(0), activity | CMASK(5));
	fixture_set_msr(&fixture, EVTSEL(1), activity | CMASK(4));
	fixture_set_msr(&fixture, EVTSEL(2), idq | CMASK(1) | INVERT);
	fixture_set_msr(&fixture, EVTSEL(3), idq | CMASK(4));
	signal_emit_sum(&fixture.port, &none);
	signal_emit_sum(&fixture.port, &stall);
	stall.qualifiers = QUALIFIER_CORE_STALL_LOAD_FAR;
	stall.duration = 50;
	signal_emit_sum(&fixture.port, &stall);
	happen(SIGNAL_CORE_CYCLES, 100);
	assert_int_equal(fixture_msr(&fixture, PMC(0)), 50);
	assert_int_equal(fixture_msr(&fixture, PMC(1)), 0);
	assert_int_equal(fixture_msr(&fixture, PMC(2)), 92);
	assert_int_equal(fixture_msr(&fixture, PMC(3)), 8);
}

static void test_writes_of_counters(void **state UNUSED)
{
	fixture_set_msr(&fixture, PMC(0), 0x7fffffff);
	assert_int_equal(fixture_msr(&fixture, PMC(0)), 0x7fffffff);
	fixture_set_msr(&fixture, PMC(0), 0x80000000);
	assert_int_equal(fixture_msr(&fixture, PMC(0)), 0xffff80000000);
	fixture_set_msr(&fixture, PMC(0), 0x123400000001); /* the upper half is not looked at */
	assert_int_equal(fixture_msr(&fixture, PMC(0)), 1);
	fixture_set_msr(&fixture, A_PMC(0), 0x123480000001);
	assert_int_equal(fixture_msr(&fixture, PMC(0)), 0x123480000001);
	assert_int_equal(fixture_msr(&fixture, A_PMC(0)), 0x123480000001);
	assert_int_equal(write_at(0, 0, A_PMC(0), COUNTER_LIMIT), PMU_E_RANGE);
	fixture_set_msr(&fixture, FIXED(1), 0x800000000000);
	assert_int_equal(fixture_msr(&fixture, FIXED(1)), 0x800000000000);
	assert_int_equal(write_at(0, 0, FIXED(1), COUNTER_LIMIT), PMU_E_RANGE);
	assert_int_equal(fixture_msr(&fixture, FIXED(1)), 0x800000000000);
}

static void test_faults(void **state UNUSED)
{
	static const struct {
		uint32_t address;
		uint64_t value;
		int error;
	} faults[] = {
	    {CTRL, EN_PMC(8), PMU_E_RANGE},	  {CTRL, EN_FIXED(3), PMU_E_RANGE},
	    {FIXED_CTRL, 0x1000, PMU_E_RANGE},	  {EVTSEL(0), 1ull << 32, PMU_E_RANGE},
	    {OVF_CTRL, EN_PMC(8), PMU_E_RANGE},	  {DEBUGCTL, 2, PMU_E_RANGE},
	    {PEBS_ENABLE, 1, PMU_E_RANGE},	  {STATUS, 0, PMU_E_RIGHTS},
	    {CAPABILITIES, 0x3000, PMU_E_RIGHTS}, {0xCE, 0, PMU_E_RIGHTS},
	};

	fixture_set_msr(&fixture, CTRL, 0x5);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		uint64_t before = fixture_msr(&fixture, faults[i].address);

		assert_int_equal(write_at(0, 0, faults[i].address, faults[i].value),
				 faults[i].error);
		assert_int_equal(fixture_msr(&fixture, faults[i].address), before);
	}
	/* What tools write to be on the safe side. */
	assert_int_equal(write_at(0, 0, PEBS_ENABLE, 0), 0);
	assert_int_equal(write_at(0, 0, OVF_CTRL, 3ull << 62 | ALL), 0);
}

/* The carry out of bit 47, neither one earlier nor one later. */
static void test_overflow(void **state UNUSED)
{
	fixture_set_msr(&fixture, CTRL, ALL);
	fixture_set_msr(&fixture, EVTSEL(3), EN | USR | INT | INSTRUCTIONS);
	fixture_set_msr(&fixture, FIXED_CTRL, 2);
	fixture_set_msr(&fixture, A_PMC(3), COUNTER_LIMIT - 100);
	fixture_set_msr(&fixture, FIXED(0), COUNTER_LIMIT - 101);
	happen(SIGNAL_CORE_RETIRED, 99);
	assert_int_equal(fixture_msr(&fixture, PMC(3)), COUNTER_LIMIT - 1);
	assert_int_equal(fixture_msr(&fixture, STATUS), 0);
	happen(SIGNAL_CORE_RETIRED, 1);
	assert_int_equal(fixture_msr(&fixture, PMC(3)), 0);
	assert_int_equal(fixture_msr(&fixture, STATUS), EN_PMC(3));
	assert_int_equal(pmon_interrupts(fixture.pmon, 0, 0, &fixture.now), 1);
	happen(SIGNAL_CORE_RETIRED, 5);
	/* Counting goes on; the fixed counter overflows without PMI. */
	assert_int_equal(fixture_msr(&fixture, PMC(3)), 5);
	assert_int_equal(fixture_msr(&fixture, FIXED(0)), 4);
	assert_int_equal(fixture_msr(&fixture, STATUS), EN_PMC(3) | EN_FIXED(0));
	assert_int_equal(pmon_interrupts(fixture.pmon, 0, 0, &fixture.now), 1);
	fixture_set_msr(&fixture, OVF_CTRL, EN_PMC(3));
	assert_int_equal(fixture_msr(&fixture, STATUS), EN_FIXED(0));
	assert_int_equal(fixture_msr(&fixture, OVF_CTRL), 0);
	fixture_set_msr(&fixture, OVF_CTRL, ALL);
	assert_int_equal(fixture_msr(&fixture, STATUS), 0);
	/* The uncore is not frozen by it, and no other core learns of it. */
	assert_int_equal(fixture_msr(&fixture, GLOBAL_STATUS), 0);
	assert_int_equal(pmon_interrupts(fixture.pmon, 0, 1, &fixture.now), 0);
}

/* Legacy freeze: a PMI clears the global control; all that was reported with it stays counted. */
static void test_freeze_on_pmi(void **state UNUSED)
{
	fixture_set_msr(&fixture, DEBUGCTL, FREEZE);
	fixture_set_msr(&fixture, EVTSEL(0), EN | USR | INT | INSTRUCTIONS);
	fixture_set_msr(&fixture, FIXED_CTRL, 0x20);
	fixture_set_msr(&fixture, A_PMC(0), COUNTER_LIMIT - 10);
	fixture_set_msr(&fixture, CTRL, EN_PMC(0) | EN_FIXED(1));
	happen(SIGNAL_CORE_RETIRED, 30);
	happen(SIGNAL_CORE_CYCLES, 60);
	assert_int_equal(fixture_msr(&fixture, CTRL), 0);
	assert_int_equal(fixture_msr(&fixture, PMC(0)), 20);
	assert_int_equal(fixture_msr(&fixture, FIXED(1)), 60);
	happen(SIGNAL_CORE_RETIRED, 30);
	happen(SIGNAL_CORE_CYCLES, 60);
	assert_int_equal(fixture_msr(&fixture, PMC(0)), 20);
	assert_int_equal(fixture_msr(&fixture, FIXED(1)), 60);
	assert_int_equal(fixture_msr(&fixture, STATUS), EN_PMC(0));
}

/* Without INT an overflow is no PMI and freezes nothing. */
static void test_no_freeze_without_pmi(void **state UNUSED)
{
	fixture_set_msr(&fixture, DEBUGCTL, FREEZE);
	fixture_set_msr(&fixture, EVTSEL(0), EN | USR | INSTRUCTIONS);
	fixture_set_msr(&fixture, PMC(0), UINT32_MAX);
	fixture_set_msr(&fixture, CTRL, EN_PMC(0));
	happen(SIGNAL_CORE_RETIRED, 1);
	assert_int_equal(fixture_msr(&fixture, CTRL), EN_PMC(0));
	assert_int_equal(fixture_msr(&fixture, STATUS), EN_PMC(0));
	assert_int_equal(pmon_interrupts(fixture.pmon, 0, 0, &fixture.now), 0);
}

/* TSC runs with time; MPERF and APERF while a thread runs, whatever the enables. */
static void test_clocks(void **state UNUSED)
{
	fixture.now.cycles[PMU_CLOCK_CORE] = 1000;
	assert_int_equal(fixture_msr(&fixture, TSC), 1000);
	fixture_set_msr(&fixture, TSC, 5);
	assert_int_equal(fixture_msr(&fixture, TSC), 5);
	fixture.now.cycles[PMU_CLOCK_CORE] = 1007;
	assert_int_equal(fixture_msr(&fixture, TSC), 12);
	assert_int_equal(fixture_msr_of(&fixture, 1, TSC), 1007);
	assert_int_equal(fixture_msr(&fixture, MPERF), 0);
	assert_true(fixture.port.enabled[SIGNAL_CORE_CYCLES]);
	assert_true(fixture.port.enabled[SIGNAL_CORE_REFERENCE_CYCLES]);
	happen(SIGNAL_CORE_CYCLES, 70);
	happen(SIGNAL_CORE_REFERENCE_CYCLES, 35);
	assert_int_equal(fixture_msr(&fixture, APERF), 70);
	assert_int_equal(fixture_msr(&fixture, MPERF), 35);
	fixture_set_msr(&fixture, MPERF, 1ull << 60);
	happen(SIGNAL_CORE_REFERENCE_CYCLES, 1);
	assert_int_equal(fixture_msr(&fixture, MPERF), (1ull << 60) + 1);
}

/* Nobody subscribes to what nobody counts. */
static void test_enabled(void **state UNUSED)
{
	assert_false(fixture.port.enabled[SIGNAL_CORE_BRANCHES]);
	fixture_set_msr(&fixture, EVTSEL(5), EN | USR | BRANCHES);
	assert_false(fixture.port.enabled[SIGNAL_CORE_BRANCHES]);
	assert_int_equal(write_at(1, 7, EVTSEL(5), EN | USR | BRANCHES), 0);
	assert_int_equal(write_at(1, 7, CTRL, EN_PMC(5)), 0);
	assert_true(fixture.port.enabled[SIGNAL_CORE_BRANCHES]);
	assert_int_equal(write_at(1, 7, CTRL, 0), 0);
	assert_false(fixture.port.enabled[SIGNAL_CORE_BRANCHES]);
}

/* The uncore's freeze is not the core's, and a socket's other units go on as they are. */
static void test_uncore_freeze_leaves_cores(void **state UNUSED)
{
	fixture_set_msr(&fixture, CTRL, EN_FIXED(0));
	fixture_set_msr(&fixture, FIXED_CTRL, 2);
	fixture_set_msr(&fixture, GLOBAL_CTL, FRZ_ALL);
	happen(SIGNAL_CORE_RETIRED, 3);
	assert_int_equal(fixture_msr(&fixture, FIXED(0)), 3);
}

static void count_violations(void *arg, const struct pmon_violation *violation)
{
	(void)violation;
	++*(unsigned *)arg;
}

static void test_strict(void **state UNUSED)
{
	unsigned violations = 0;

	pmon_strict(fixture.pmon, count_violations, &violations);
	fixture_set_msr(&fixture, CTRL, ALL);
	fixture_set_msr(&fixture, EVTSEL(0), EN | USR | INSTRUCTIONS);
	/* The catalog has the architectural events only: others are not wrong. */
	fixture_set_msr(&fixture, EVTSEL(0), EN | USR | EVENT(0xD1, 0x20));
	fixture_set_msr(&fixture, PMC(0), 0);
	fixture_msr(&fixture, PMC(0));
	assert_int_equal(violations, 0);
	write_at(0, 0, EVTSEL(0), 1ull << 40);
	assert_int_equal(violations, 1);
	write_at(0, 0, STATUS, 0);
	assert_int_equal(violations, 2);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	    TEST(test_resets),
	    TEST(test_absent),
	    TEST(test_signals_of_others),
	    TEST(test_cores_are_apart),
	    TEST(test_events),
	    TEST(test_fixed),
	    TEST(test_enables),
	    TEST(test_thresholds_count_nothing),
	    TEST(test_thresholds_of_levels),
	    TEST(test_thresholds_by_qualifier),
	    TEST(test_thresholds_of_single_ones),
	    TEST(test_thresholds_of_stopped_counters),
	    TEST(test_thresholds_of_unit_masks),
	    TEST(test_writes_of_counters),
	    TEST(test_faults),
	    TEST(test_overflow),
	    TEST(test_freeze_on_pmi),
	    TEST(test_no_freeze_without_pmi),
	    TEST(test_clocks),
	    TEST(test_enabled),
	    TEST(test_uncore_freeze_leaves_cores),
	    TEST(test_strict),
	};

	return cmocka_run_group_tests_name("pmon core", tests, NULL, NULL);
}
