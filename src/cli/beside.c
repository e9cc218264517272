#include "cli/beside.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

int beside_start(pthread_t *thread, void *(*work)(void *), void *arg)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(thread, NULL, work, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

double beside_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

bool beside_wait(sem_t *ended, double until)
{
	const struct timespec when = {
	    .tv_sec = (time_t)until,
	    .tv_nsec = (long)((until - (double)(time_t)until) * 1e9),
	};

	while (sem_clockwait(ended, CLOCK_MONOTONIC, &when))
		if (errno == ETIMEDOUT)
			return false;
	return true;
}
