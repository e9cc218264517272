#include "feed/clock.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "feed/memory.h"

enum {
	GUEST_NANOSLEEP = 35,
	GUEST_WAIT4 = 61,
	GUEST_GETTIMEOFDAY = 96,
	GUEST_GETRUSAGE = 98,
	GUEST_TIMES = 100,
	GUEST_TIME = 201,
	GUEST_CLOCK_GETTIME = 228,
	GUEST_CLOCK_NANOSLEEP = 230,
	GUEST_WAITID = 247,
};

enum { GUEST_TIMER_ABSTIME = 1 };

/* Clocks of processor time, of others than the caller: ~id << 3 | what. Linux, posix-timers.h. */
enum { CPU_CLOCK_KIND = 3, CPU_CLOCK_SCHED = 2, CPU_CLOCK_OF_THREAD = 4, CPU_CLOCK_SHIFT = 3 };

#define CHILD_AT 16 /* in siginfo_t: si_pid */

#define NS_PER_SECOND  1000000000u
#define NS_PER_USER_HZ 10000000u /* in which times() counts */

/* struct timespec and struct timeval, as the system has them */
struct guest_time {
	int64_t seconds, fraction;
};

/* Of a clock that shows the time of day, or the time since power on; UINT64_MAX: of others. */
static uint64_t offset_of(const struct feed_process *process, uint64_t clock)
{
	switch (clock) {
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
	case CLOCK_TAI:
		return machine_clock(process->machine);
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_MONOTONIC_COARSE:
	case CLOCK_BOOTTIME:
		return 0;
	default:
		return UINT64_MAX;
	}
}

static uint64_t ticks_of(const struct machine *machine, uint64_t ns)
{
	const uint64_t per_second = machine_ticks_per_second(machine);

	return ns / NS_PER_SECOND * per_second +
	       (uint64_t)((double)(ns % NS_PER_SECOND) * (double)per_second / NS_PER_SECOND);
}

static uint64_t ticks_of_thread(const struct feed_thread *thread)
{
	return thread->core ? machine_hart_time(thread->core) : thread->not_before;
}

static uint64_t ns_of(const struct machine *machine, uint64_t ticks)
{
	const uint64_t per_second = machine_ticks_per_second(machine);

	return ticks / per_second * NS_PER_SECOND +
	       (uint64_t)((double)(ticks % per_second) * NS_PER_SECOND / (double)per_second);
}

static uint64_t own_time_ns(const struct feed_process *process, const struct feed_thread *thread)
{
	return ns_of(process->machine, ticks_of_thread(thread));
}

/* Of an ended thread the system knows no clock; of other processes it shows its own. */
static void ask_cpu(const struct feed_process *process, struct feed_thread *thread, uint64_t clock)
{
	struct feed_clock_call *call = &thread->clock_call;
	const uint32_t id = ~(uint32_t)((int32_t)clock >> CPU_CLOCK_SHIFT);
	const bool is_other = (int32_t)clock < 0 && (clock & CPU_CLOCK_KIND) == CPU_CLOCK_SCHED;

	if (clock == CLOCK_PROCESS_CPUTIME_ID) {
		call->of_cpu = true;
	} else if (clock == CLOCK_THREAD_CPUTIME_ID) {
		call->of_cpu = true;
		call->whose = thread->tid;
	} else if (is_other && clock & CPU_CLOCK_OF_THREAD) {
		call->whose = id ? id : thread->tid;
		for (unsigned i = 0; i < process->threads_seen; i++)
			call->of_cpu |= process->threads[i].tid == call->whose;
	} else if (is_other) {
		call->of_cpu = !id || id == (uint32_t)getpid();
	}
}

/* While others go on, a sum of what they have executed may be less than one before. */
static uint64_t never_less(struct feed_process *process, uint64_t ticks)
{
	uint64_t told = __atomic_load_n(&process->told, __ATOMIC_RELAXED);

	while (told < ticks && !__atomic_compare_exchange_n(&process->told, &told, ticks, true,
							    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		continue;
	return told < ticks ? ticks : told;
}

static uint64_t cpu_ticks(struct feed_process *process, uint32_t whose)
{
	uint64_t ticks = machine_ran(process->machine, (uint32_t)getpid(), whose);

	for (unsigned i = 0; i < process->threads_seen; i++)
		if (!whose || process->threads[i].tid == whose)
			ticks += __atomic_load_n(&process->threads[i].ran, __ATOMIC_RELAXED);
	return whose ? ticks : never_less(process, ticks + process->ran);
}

/* One that is only stopped, or goes on again, the system still has. */
static bool was_reaped(uint32_t process)
{
	return kill((pid_t)process, 0) && errno == ESRCH;
}

/*
 * A child that has been waited for.
 * @return what it and those that it has waited for have executed for, in ticks. The threads of one
 * that a signal has killed are still on their cores.
 */
static uint64_t reap(struct feed_process *process, uint32_t child)
{
	struct machine_times times = {0};
	uint64_t ticks = machine_ran(process->machine, child, 0);

	machine_take_times(process->machine, child, &times);
	ticks += times.own + times.children;
	__atomic_fetch_add(&process->children, ticks, __ATOMIC_SEQ_CST);
	feed_process_keep_times(process);
	return ticks;
}

static uint64_t children_ticks(const struct feed_process *process)
{
	return __atomic_load_n(&process->children, __ATOMIC_RELAXED);
}

/* How long the thread asks to sleep. */
static uint64_t asked_ns(const struct feed_process *process, const struct feed_thread *thread,
			 const struct feed_clock_call *call)
{
	struct guest_time asked;
	uint64_t ns, now;

	if (feed_memory_read(&asked, call->at, sizeof(asked)) != sizeof(asked) ||
	    asked.seconds < 0 || asked.fraction < 0 || call->offset == UINT64_MAX)
		return 0;
	ns = (uint64_t)asked.seconds * NS_PER_SECOND + (uint64_t)asked.fraction;
	if (!call->until)
		return ns;
	now = own_time_ns(process, thread) + call->offset;
	return ns > now ? ns - now : 0;
}

/* waitid() may leave the child to be waited for again. */
static void ask_child(struct feed_clock_call *call, const uint64_t *arguments, uint64_t guest_base)
{
	if (arguments[3] & WNOWAIT)
		return;
	call->at = arguments[4] ? guest_base + arguments[4] : 0;
	if (arguments[2])
		call->child_at = guest_base + arguments[2] + CHILD_AT;
	else if (arguments[0] == P_PID)
		call->child = (uint32_t)arguments[1];
}

void feed_clock_syscall(const struct feed_process *process, struct feed_thread *thread,
			int64_t number, const uint64_t *arguments, uint64_t guest_base)
{
	struct feed_clock_call *call = &thread->clock_call;

	if (!machine_clock(process->machine))
		return;
	*call = (struct feed_clock_call){.offset = UINT64_MAX};
	switch (number) {
	case GUEST_GETTIMEOFDAY:
	case GUEST_TIME:
		call->offset = offset_of(process, CLOCK_REALTIME);
		call->at = arguments[0] ? guest_base + arguments[0] : 0;
		break;
	case GUEST_CLOCK_GETTIME:
		call->offset = offset_of(process, arguments[0]);
		ask_cpu(process, thread, arguments[0]);
		call->at = guest_base + arguments[1];
		break;
	case GUEST_GETRUSAGE:
		call->of_children = (int)arguments[0] == RUSAGE_CHILDREN;
		call->of_cpu = !call->of_children;
		call->whose = (int)arguments[0] == RUSAGE_THREAD ? thread->tid : 0;
		call->at = guest_base + arguments[1];
		break;
	case GUEST_TIMES:
		call->of_cpu = true;
		call->at = arguments[0] ? guest_base + arguments[0] : 0;
		break;
	case GUEST_WAIT4:
		call->at = arguments[3] ? guest_base + arguments[3] : 0;
		break;
	case GUEST_WAITID:
		ask_child(call, arguments, guest_base);
		break;
	case GUEST_NANOSLEEP:
		call->offset = offset_of(process, CLOCK_MONOTONIC);
		call->at = guest_base + arguments[0];
		call->sleep_ns = asked_ns(process, thread, call);
		break;
	case GUEST_CLOCK_NANOSLEEP:
		call->offset = offset_of(process, arguments[0]);
		call->at = guest_base + arguments[2];
		call->until = arguments[1] & GUEST_TIMER_ABSTIME;
		call->sleep_ns = asked_ns(process, thread, call);
		break;
	default:
		break;
	}
}

bool feed_clock_sleeps(const struct feed_thread *thread)
{
	return thread->clock_call.sleep_ns;
}

static uint64_t time_of_call(struct feed_process *process, const struct feed_thread *thread)
{
	const struct feed_clock_call *call = &thread->clock_call;

	return call->of_cpu ? ns_of(process->machine, cpu_ticks(process, call->whose))
			    : own_time_ns(process, thread) + call->offset;
}

static struct guest_time split(uint64_t ns, uint64_t fraction_ns)
{
	return (struct guest_time){(int64_t)(ns / NS_PER_SECOND),
				   (int64_t)(ns % NS_PER_SECOND / fraction_ns)};
}

static void tell(struct feed_process *process, const struct feed_thread *thread,
		 uint64_t fraction_ns)
{
	const struct feed_clock_call *call = &thread->clock_call;
	struct guest_time time;

	if (!call->at || (call->offset == UINT64_MAX && !call->of_cpu))
		return;
	time = split(time_of_call(process, thread), fraction_ns);
	feed_memory_write(call->at, &time, sizeof(time));
}

/* All is time of the program's own: the machine runs no system. */
static void write_usage(uint64_t at, uint64_t ns)
{
	const struct guest_time user_and_system[2] = {split(ns, 1000)};

	feed_memory_write(at, user_and_system, sizeof(user_and_system));
}

static void tell_usage(struct feed_process *process, const struct feed_thread *thread)
{
	const struct feed_clock_call *call = &thread->clock_call;

	if (call->of_cpu)
		write_usage(call->at, time_of_call(process, thread));
	else if (call->of_children)
		write_usage(call->at, ns_of(process->machine, children_ticks(process)));
}

/* @param child  0: none */
static void tell_reaped(struct feed_process *process, const struct feed_thread *thread,
			uint32_t child)
{
	uint64_t ticks;

	if (!child || !was_reaped(child))
		return;
	ticks = reap(process, child);
	if (thread->clock_call.at)
		write_usage(thread->clock_call.at, ns_of(process->machine, ticks));
}

/* The one that waitid() has found. */
static uint32_t child_of(const struct feed_clock_call *call)
{
	uint32_t child = call->child;

	if (call->child_at &&
	    feed_memory_read(&child, call->child_at, sizeof(child)) != sizeof(child))
		return 0;
	return child;
}

/* @return what the call returns: the time since power on */
static int64_t tell_times(struct feed_process *process, const struct feed_thread *thread)
{
	/* User's and system's, and those of children. */
	int64_t times[4] = {0};

	if (thread->clock_call.at) {
		times[0] = (int64_t)(time_of_call(process, thread) / NS_PER_USER_HZ);
		times[2] =
		    (int64_t)(ns_of(process->machine, children_ticks(process)) / NS_PER_USER_HZ);
		feed_memory_write(thread->clock_call.at, times, sizeof(times));
	}
	return (int64_t)(own_time_ns(process, thread) / NS_PER_USER_HZ);
}

static int64_t tell_seconds(struct feed_process *process, const struct feed_thread *thread)
{
	const int64_t seconds = (int64_t)(time_of_call(process, thread) / NS_PER_SECOND);

	if (thread->clock_call.at)
		feed_memory_write(thread->clock_call.at, &seconds, sizeof(seconds));
	return seconds;
}

int64_t feed_clock_return(struct feed_process *process, struct feed_thread *thread, int64_t number,
			  int64_t result)
{
	int64_t ticks;

	if (!machine_clock(process->machine) || result < 0)
		return result;
	switch (number) {
	case GUEST_CLOCK_GETTIME:
		tell(process, thread, 1);
		break;
	case GUEST_GETTIMEOFDAY:
		tell(process, thread, 1000);
		break;
	case GUEST_GETRUSAGE:
		tell_usage(process, thread);
		break;
	case GUEST_TIMES:
		ticks = tell_times(process, thread);
		return process->answers ? ticks : result;
	case GUEST_TIME:
		return process->answers ? tell_seconds(process, thread) : result;
	case GUEST_WAIT4:
		tell_reaped(process, thread, (uint32_t)result);
		break;
	case GUEST_WAITID:
		tell_reaped(process, thread, child_of(&thread->clock_call));
		break;
	case GUEST_NANOSLEEP:
	case GUEST_CLOCK_NANOSLEEP:
		if (!result && thread->core)
			machine_hart_sleep(thread->core,
					   ticks_of(process->machine, thread->clock_call.sleep_ns));
		break;
	default:
		break;
	}
	return result;
}

uint64_t feed_clock_tsc(const struct feed_process *process, const struct feed_thread *thread)
{
	return ticks_of_thread(thread) / machine_ticks_per_cycle(process->machine, PMU_CLOCK_CORE);
}
