/* Nanoseconds a signal costs, by who subscribes. Asserts nothing: run with meson benchmark. */
#include <stdio.h>
#include <time.h>

#include "fixture.h"

#define ROUNDS 20000000u

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* TOR entries of 300 cycles, one every 20 cycles: 15 at a time. */
static void measure(struct fixture *fixture, const char *what, unsigned instance)
{
	struct signal signal = {
	    .id = SIGNAL_LLC_REQUEST,
	    .unit = (uint8_t)instance,
	    .qualifiers = QUALIFIER_LLC_REQUEST_CORE | QUALIFIER_LLC_REQUEST_MISS |
			  QUALIFIER_LLC_REQUEST_LOCAL,
	    .request = REQUEST_READ_DATA,
	    .duration = 300,
	};
	double start = seconds();

	for (unsigned i = 0; i < ROUNDS; i++) {
		signal.time += 20;
		signal_emit(&fixture->port, signal);
	}
	printf("%-40s %6.1f ns\n", what, 1e9 * (seconds() - start) / ROUNDS);
}

static void measure_control(const char *what, unsigned counter, uint32_t control)
{
	struct fixture fixture;

	fixture_up(&fixture);
	fixture_set_msr(&fixture, C_FILTER1(3), 0x182u << 20);
	fixture_set_msr(&fixture, C_CTL(3, counter), control);
	measure(&fixture, what, 3);
	fixture_down(&fixture);
}

int main(void)
{
	struct fixture fixture;

	fixture_up(&fixture);
	measure(&fixture, "nobody subscribes", 3);
	fixture_set_msr(&fixture, C_CTL(2, 1), EN | EVENT(0x35, 0x08));
	measure(&fixture, "another instance subscribes", 3);
	fixture_down(&fixture);
	measure_control("one plain counter, all", 1, EN | EVENT(0x35, 0x08));
	measure_control("one plain counter, opcode and miss", 1, EN | EVENT(0x35, 0x03));
	measure_control("one counter of occupancy", 0, EN | EVENT(0x36, 0x08));
	measure_control("one counter of occupancy, thresh", 0, EN | THRESH(4) | EVENT(0x36, 0x08));
	return 0;
}
