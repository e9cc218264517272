/*
 * What the emitter adds to counters by itself, against the same signals received one by one: two
 * fixtures with the same registers, of which one is told everything: a counter that reports
 * overflows counts in a box that has no signals.
 */
#include "fixture.h"

#define ROUNDS	  60
#define SIGNALS	  2000
#define INSTANCES 4 /* boxes of a kind that get signals */

static struct fixture tapped, told;
static uint64_t state_of_random;

static uint32_t draw(uint32_t below)
{
	state_of_random = state_of_random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((state_of_random >> 33) % below);
}

static void set_both(uint32_t address, uint64_t value)
{
	fixture_set_msr(&tapped, address, value);
	fixture_set_msr(&told, address, value);
}

/* TOR_INSERTS, TOR_OCCUPANCY, LLC_LOOKUP, LLC_VICTIMS, RxR_INSERTS, RxR_OCCUPANCY, MISC,
   COUNTER0_OCCUPANCY */
static const uint8_t codes[] = {0x35, 0x36, 0x34, 0x37, 0x13, 0x11, 0x39, 0x1f};

static void program_counter(unsigned instance, unsigned k)
{
	uint32_t thresh = draw(8) ? 0 : THRESH(draw(3));
	/* Occupancies count on counter 0 alone. */
	uint8_t code = k ? codes[draw(sizeof(codes))] : codes[draw(2) ? 1 : 5];

	set_both(C_CTL(instance, k), EN | thresh | EVENT(code, draw(3) ? 0x08 : draw(256)));
	if (!draw(6))
		set_both(C_CTR(instance, k),
			 (1ull << 48) - 1 - draw(2) * (1ull << 32) - draw(20000));
}

static void program(unsigned instance)
{
	set_both(C_FILTER0(instance), draw(2) ? 0x3fu << 17 : draw(64) << 17);
	set_both(C_FILTER1(instance), draw(2) ? 3 : draw(4) | (uint64_t)draw(512) << 20);
	for (unsigned k = 0; k < 4; k++)
		program_counter(instance, k);
}

static struct signal random_signal(uint64_t time)
{
	static const uint16_t ids[] = {SIGNAL_LLC_LOOKUP, SIGNAL_LLC_VICTIM, SIGNAL_LLC_REQUEST,
				       SIGNAL_LLC_INGRESS, SIGNAL_LLC_OUTCOME};
	struct signal signal = {
	    .id = ids[draw(sizeof(ids) / sizeof(ids[0]))],
	    .unit = (uint8_t)draw(INSTANCES),
	    .qualifiers = 1 + draw(63),
	    .time = time,
	    .request = (uint8_t)draw(REQUEST_COUNT),
	    .state = (uint8_t)draw(SIGNAL_STATE_COUNT),
	    .node = (uint8_t)draw(2),
	    .core = (uint8_t)draw(4),
	};

	if (signal_table[signal.id].kind == SIGNAL_SPAN)
		signal.duration = draw(draw(20) ? 400 : 3000);
	return signal;
}

static void compare(uint64_t cycle)
{
	fixture_at(&tapped, cycle);
	fixture_at(&told, cycle);
	for (unsigned n = 0; n < INSTANCES; n++)
		for (unsigned k = 0; k < 4; k++)
			assert_int_equal(fixture_msr(&tapped, C_CTR(n, k)),
					 fixture_msr(&told, C_CTR(n, k)));
	for (unsigned n = 0; n < INSTANCES; n++)
		assert_int_equal(fixture_msr(&tapped, C_STATUS(n)),
				 fixture_msr(&told, C_STATUS(n)));
}

static void freeze_or_thaw(void)
{
	unsigned n = draw(INSTANCES);

	set_both(C_BOX_CTL(n), draw(2) ? 0x30100 : 0x30000);
	if (!draw(4))
		set_both(GLOBAL_CTL, draw(2) ? 0x80000000u : 0x20000000u);
}

/* Reads in the middle of spans, freezes there, and thaws. */
static void test_same_counts(void **state)
{
	uint64_t cycle = 10000;

	(void)state;
	fixture_up(&tapped);
	fixture_up(&told);
	fixture_set_pci(&told, HA(0, PCI_CTL(0)), EN | OV_EN | EVENT(0x01, 0x03));
	fixture_at(&tapped, cycle);
	fixture_at(&told, cycle);
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned n = 0; n < INSTANCES; n++)
			program(n);
		set_both(GLOBAL_CTL, 0x20000000);
		for (unsigned i = 0; i < SIGNALS; i++) {
			struct signal signal = random_signal(cycle + draw(50));

			signal_emit(&tapped.port, signal);
			signal_emit(&told.port, signal);
			cycle += draw(30);
			if (!draw(100))
				compare(cycle += 50);
			if (!draw(300)) {
				compare(cycle += 50);
				freeze_or_thaw();
			}
			if (!draw(500)) {
				compare(cycle += 50);
				program(draw(INSTANCES));
			}
			if (!draw(100)) {
				compare(cycle += 50);
				program_counter(draw(INSTANCES), draw(4));
			}
		}
		compare(cycle += 50);
	}
	fixture_down(&tapped);
	fixture_down(&told);
}

/* More spans at once than the first ring of notes holds, half of them over when it is read. */
static void test_open_spans(void **state)
{
	(void)state;
	fixture_up(&tapped);
	fixture_set_msr(&tapped, C_CTL(0, 0), EN | EVENT(0x36, 0x08));
	for (unsigned i = 0; i < 500; i++)
		signal_emit(&tapped.port, (struct signal){.id = SIGNAL_LLC_REQUEST,
							  .qualifiers = QUALIFIER_LLC_REQUEST_CORE,
							  .time = 100 + i,
							  .duration = i % 2 ? 400 : 4000});
	/* Up to cycle 1000: 250 of 400 cycles, and of each other one what has passed. */
	fixture_at(&tapped, 1000);
	assert_int_equal(fixture_msr(&tapped, C_CTR(0, 0)), 250 * 400 + (900 + 402) * 250 / 2);
	fixture_at(&tapped, 10000);
	assert_int_equal(fixture_msr(&tapped, C_CTR(0, 0)), 250 * 400 + 250 * 4000);
	fixture_down(&tapped);
}

static void (*receive)(void *subscriber, const struct signal *signal);
static unsigned handed_over;

static void receive_counted(void *subscriber, const struct signal *signal)
{
	handed_over++;
	receive(subscriber, signal);
}

/* In 100 cycles. @return how many of three requests of CBo 0 were handed over */
static unsigned handed_of_three(struct fixture *fixture)
{
	uint64_t cycle = fixture->now.cycles[PMU_CLOCK_UCLK];

	handed_over = 0;
	for (unsigned i = 0; i < 3; i++)
		signal_emit(&fixture->port,
			    (struct signal){.id = SIGNAL_LLC_REQUEST,
					    .qualifiers = QUALIFIER_LLC_REQUEST_CORE,
					    .time = cycle + i,
					    .duration = 10});
	fixture_at(fixture, cycle + 100);
	return handed_over;
}

/* What a write does not change is added up on as before; of what it changes, one is handed over. */
static void test_writes(void **state)
{
	struct fixture *fixture = &tapped;

	(void)state;
	fixture_up(fixture);
	receive = fixture->port.emit;
	fixture->port.emit = receive_counted;
	assert_int_equal(handed_of_three(fixture), 0);
	fixture_set_msr(fixture, C_CTL(0, 0), EN | EVENT(0x36, 0x08));
	assert_int_equal(handed_of_three(fixture), 1);
	assert_int_equal(handed_of_three(fixture), 0);
	/* Another signal, another box. */
	fixture_set_msr(fixture, C_CTL(0, 2), EN | EVENT(0x34, 0x11));
	fixture_set_msr(fixture, C_CTL(1, 0), EN | EVENT(0x36, 0x08));
	assert_int_equal(handed_of_three(fixture), 0);
	fixture_set_msr(fixture, C_CTL(0, 1), EN | EVENT(0x35, 0x08));
	assert_int_equal(handed_of_three(fixture), 1);
	fixture_set_msr(fixture, C_CTR(0, 1), 7);
	assert_int_equal(handed_of_three(fixture), 1);
	assert_int_equal(handed_of_three(fixture), 0);
	/* Frozen, each is handed over, and counts nothing. */
	fixture_set_msr(fixture, C_BOX_CTL(0), BOX_FRZ);
	assert_int_equal(handed_of_three(fixture), 3);
	fixture_set_msr(fixture, C_BOX_CTL(0), BOX_GO);
	assert_int_equal(handed_of_three(fixture), 1);
	assert_int_equal(handed_of_three(fixture), 0);
	assert_int_equal(fixture_msr(fixture, C_CTR(0, 0)), 8 * 3 * 10);
	assert_int_equal(fixture_msr(fixture, C_CTR(0, 1)), 7 + 4 * 3);
	/* Nobody subscribes any more: the first that is handed over is the last. */
	fixture_set_msr(fixture, C_CTL(0, 0), 0);
	fixture_set_msr(fixture, C_CTL(0, 1), 0);
	assert_int_equal(handed_of_three(fixture), 1);
	assert_int_equal(handed_of_three(fixture), 0);
	fixture_down(fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_same_counts),
	    cmocka_unit_test(test_open_spans),
	    cmocka_unit_test(test_writes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
