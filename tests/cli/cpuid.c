/* Prints, for each CPU that is named: APIC id, general counters, CPUs of the socket, own number. */
#define _GNU_SOURCE
#include <cpuid.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>

static unsigned long long ticks_of_100_ms(void)
{
	unsigned long long before = __rdtsc();

	nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
	return __rdtsc() - before;
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
	printf("%llu\n", ticks_of_100_ms());
	return 0;
}
