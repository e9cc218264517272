/*
 * Affinity of a tool's threads: the machine's CPUs need not be there. A thread is on the first CPU
 * of the set it chose, as far as it can tell; where it really runs is the kernel's affair. Threads,
 * and what the tool executes, have the main thread's choice until they make their own.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "guest.h"

#define CPUS_MAX 1024

/* Hands the main thread's choice on to what the tool executes: CPUs, by commas. */
#define VARIABLE   "PMULAB_AFFINITY"
#define LIST_BYTES (CPUS_MAX * 5)

struct affinity {
	cpu_set_t set;
	bool chosen; /* not yet: all CPUs */
};

static struct affinity of_process;
static _Thread_local struct affinity of_thread;

static void all_cpus(cpu_set_t *set)
{
	int count = get_nprocs_conf();

	CPU_ZERO(set);
	for (int cpu = 0; cpu < count && cpu < CPUS_MAX; cpu++)
		CPU_SET(cpu, set);
}

static const struct affinity *affinity_of_thread(void)
{
	return of_thread.chosen ? &of_thread : &of_process;
}

int guest_cpu(void)
{
	const struct affinity *affinity = affinity_of_thread();

	for (int cpu = 0; affinity->chosen && cpu < CPUS_MAX; cpu++)
		if (CPU_ISSET(cpu, &affinity->set))
			return cpu;
	return 0;
}

/* The main thread's only: others may be reading the environment. */
static void hand_on(const cpu_set_t *set)
{
	char list[LIST_BYTES] = "";
	size_t used = 0;

	for (int cpu = 0; cpu < CPUS_MAX; cpu++)
		if (CPU_ISSET(cpu, set))
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%d,", cpu);
	setenv(VARIABLE, list, 1);
}

void guest_affinity_begin(void)
{
	const char *list = getenv(VARIABLE);

	CPU_ZERO(&of_process.set);
	for (; list && *list; list += strcspn(list, ",") + 1) {
		long cpu = strtol(list, NULL, 10);

		if (cpu >= 0 && cpu < CPUS_MAX)
			CPU_SET(cpu, &of_process.set);
	}
	of_process.chosen = CPU_COUNT(&of_process.set);
}

/* @return 0 or the error as errno has it */
static int choose(size_t size, const cpu_set_t *wanted)
{
	cpu_set_t set, valid;

	CPU_ZERO(&set);
	memcpy(&set, wanted, size < sizeof(set) ? size : sizeof(set));
	all_cpus(&valid);
	CPU_AND(&set, &set, &valid);
	if (!CPU_COUNT(&set))
		return EINVAL;
	of_thread = (struct affinity){set, true};
	if (syscall(SYS_gettid) == getpid()) {
		of_process = of_thread;
		hand_on(&set);
	}
	return 0;
}

static void tell(size_t size, cpu_set_t *set)
{
	const struct affinity *affinity = affinity_of_thread();
	cpu_set_t chosen = affinity->set;

	if (!affinity->chosen)
		all_cpus(&chosen);
	memset(set, 0, size);
	memcpy(set, &chosen, size < sizeof(chosen) ? size : sizeof(chosen));
}

static bool is_self(pid_t thread)
{
	return thread == 0 || thread == (pid_t)syscall(SYS_gettid);
}

/* Other threads are left where they are. */
EXPORT int sched_setaffinity(pid_t thread, size_t size, const cpu_set_t *set)
{
	int error = is_self(thread) ? choose(size, set) : 0;

	errno = error ? error : errno;
	return error ? -1 : 0;
}

EXPORT int sched_getaffinity(pid_t thread, size_t size, cpu_set_t *set)
{
	(void)thread;
	tell(size, set);
	return 0;
}

EXPORT int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *set)
{
	return pthread_equal(thread, pthread_self()) ? choose(size, set) : 0;
}

EXPORT int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *set)
{
	(void)thread;
	tell(size, set);
	return 0;
}

EXPORT int sched_getcpu(void)
{
	return guest_cpu();
}
