#include "device/clock.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"

#define TICK_NS 5000000 /* what passes while nobody looks comes in pieces of it */
#define ASLEEP_NS                                                                                  \
	10000000000u /* who did not look for longer was stopped, and so was the machine            \
		      */

struct device_clock {
	struct emul *emul;
	pthread_t thread;
	bool ends;
	pthread_mutex_t lock; /* of what follows */
	uint64_t last;	      /* look; host's ns */
};

void device_clock_look(struct device_clock *clock)
{
	uint64_t now, passed;

	if (!clock)
		return;
	pthread_mutex_lock(&clock->lock);
	now = clock_ns();
	passed = now - clock->last;
	emul_pass(clock->emul, passed < ASLEEP_NS ? passed : ASLEEP_NS);
	clock->last = now;
	pthread_mutex_unlock(&clock->lock);
}

static void *follow(void *argument)
{
	struct device_clock *clock = argument;

	while (!__atomic_load_n(&clock->ends, __ATOMIC_RELAXED)) {
		nanosleep(&(struct timespec){.tv_nsec = TICK_NS}, NULL);
		device_clock_look(clock);
	}
	return NULL;
}

int device_clock_new(struct device_clock **out, struct pmu_ctx *ctx, struct emul *emul)
{
	struct device_clock *clock = calloc(1, sizeof(*clock));
	sigset_t all, before;
	int error;

	if (!clock)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for a clock");
	clock->emul = emul;
	clock->last = clock_ns();
	pthread_mutex_init(&clock->lock, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&clock->thread, NULL, follow, clock);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error) {
		free(clock);
		return error_set(ctx, PMU_E_NOMEM, "no thread for a clock");
	}
	*out = clock;
	return 0;
}

void device_clock_free(struct device_clock *clock)
{
	if (!clock)
		return;
	__atomic_store_n(&clock->ends, true, __ATOMIC_RELAXED);
	pthread_join(clock->thread, NULL);
	pthread_mutex_destroy(&clock->lock);
	free(clock);
}
