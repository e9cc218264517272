/*
 * Prints, for each CPU that is named: APIC id, general counters, CPUs of the socket, own number.
 * Then the ticks of a tenth of a second, and two times in ns: within them and around them.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>

static long long clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static void print_ticks(void)
{
	long long outer = clock_ns(), inner;
	unsigned long long ticks = __rdtsc();

	inner = clock_ns();
	nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
	inner = clock_ns() - inner;
	ticks = __rdtsc() - ticks;
	printf("%llu %lld %lld\n", ticks, inner, clock_ns() - outer);
}

int main(int argc, char **argv)
{
	unsigned a, b, c, id, version, cores;

	for (int i = 1; i < argc; i++) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(atoi(argv[i]), &set);
		if (sched_setaffinity(0, sizeof(set), &set)) {
			printf("no\n");
			continue;
		}
		__cpuid_count(0xB, 0, a, b, c, id);
		__cpuid_count(0xA, 0, version, b, c, a);
		__cpuid_count(0xB, 1, a, cores, b, c);
		printf("%u %u %u %d\n", id, version >> 8 & 0xFF, cores, sched_getcpu());
	}
	print_ticks();
	return 0;
}
