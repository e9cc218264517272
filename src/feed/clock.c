#include "feed/clock.h"

#include <time.h>

#include "feed/memory.h"

enum {
	GUEST_NANOSLEEP = 35,
	GUEST_GETTIMEOFDAY = 96,
	GUEST_TIME = 201,
	GUEST_CLOCK_GETTIME = 228,
	GUEST_CLOCK_NANOSLEEP = 230,
};

enum { GUEST_TIMER_ABSTIME = 1 };

#define NS_PER_SECOND 1000000000u

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

static uint64_t own_time_ns(const struct feed_process *process, const struct feed_thread *thread)
{
	const uint64_t per_second = machine_ticks_per_second(process->machine),
		       ticks = ticks_of_thread(thread);

	return ticks / per_second * NS_PER_SECOND +
	       (uint64_t)((double)(ticks % per_second) * NS_PER_SECOND / (double)per_second);
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
		call->at = guest_base + arguments[1];
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

static uint64_t time_of_call(const struct feed_process *process, const struct feed_thread *thread)
{
	return own_time_ns(process, thread) + thread->clock_call.offset;
}

static void tell(const struct feed_process *process, const struct feed_thread *thread,
		 uint64_t fractions_ns)
{
	const struct feed_clock_call *call = &thread->clock_call;
	struct guest_time time;
	uint64_t ns;

	if (!call->at || call->offset == UINT64_MAX)
		return;
	ns = time_of_call(process, thread);
	time.seconds = (int64_t)(ns / NS_PER_SECOND);
	time.fraction = (int64_t)(ns % NS_PER_SECOND / fractions_ns);
	feed_memory_write(call->at, &time, sizeof(time));
}

static int64_t tell_seconds(const struct feed_process *process, const struct feed_thread *thread)
{
	const int64_t seconds = (int64_t)(time_of_call(process, thread) / NS_PER_SECOND);

	if (thread->clock_call.at)
		feed_memory_write(thread->clock_call.at, &seconds, sizeof(seconds));
	return seconds;
}

int64_t feed_clock_return(const struct feed_process *process, struct feed_thread *thread,
			  int64_t number, int64_t result)
{
	if (!machine_clock(process->machine) || result < 0)
		return result;
	switch (number) {
	case GUEST_CLOCK_GETTIME:
		tell(process, thread, 1);
		break;
	case GUEST_GETTIMEOFDAY:
		tell(process, thread, 1000);
		break;
	case GUEST_TIME:
		return process->answers ? tell_seconds(process, thread) : result;
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
