#include "cli/beside.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

static int start_thread(pthread_t *thread, void *(*work)(void *), void *arg)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(thread, NULL, work, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

static void release(struct beside *beside)
{
	pmu_ctx_free(beside->ctx);
	sem_destroy(&beside->ended);
}

int beside_begin(struct beside *beside, const struct cli *cli, const char *purpose,
		 void *(*work)(void *), void *arg)
{
	int error;

	beside->error = 0;
	if (pmu_ctx_new(&beside->ctx))
		return cli_error(cli, EXIT_FAILED, "cannot %s: out of memory", purpose);
	sem_init(&beside->ended, 0, 0);
	beside->began = beside_now();
	error = start_thread(&beside->thread, work, arg);
	if (!error)
		return 0;
	release(beside);
	return cli_error(cli, EXIT_FAILED, "cannot %s: %s", purpose, strerror(error));
}

bool beside_failed(struct beside *beside, int error)
{
	if (error && !beside->error) {
		beside->error = error;
		snprintf(beside->message, sizeof(beside->message), "%s", pmu_message(beside->ctx));
	}
	return beside->error;
}

void beside_join(struct beside *beside)
{
	sem_post(&beside->ended);
	pthread_join(beside->thread, NULL);
}

int beside_end(struct beside *beside, const struct cli *cli)
{
	release(beside);
	return beside->error ? cli_error(cli, EXIT_FAILED, "%s", beside->message) : 0;
}

double beside_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

bool beside_wait(struct beside *beside, double until)
{
	const struct timespec when = {
	    .tv_sec = (time_t)until,
	    .tv_nsec = (long)((until - (double)(time_t)until) * 1e9),
	};

	while (sem_clockwait(&beside->ended, CLOCK_MONOTONIC, &when))
		if (errno == ETIMEDOUT)
			return false;
	return true;
}
