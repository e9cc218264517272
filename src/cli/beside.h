/* What goes on beside a program that is measured, in a thread of its own. */
#ifndef CLI_BESIDE_H
#define CLI_BESIDE_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>

#include "cli/cli.h"

struct beside {
	struct pmu_ctx *ctx; /* of the thread */
	double began;	     /* by beside_now() */
	int error;	     /* the first one */
	char message[1024];
	pthread_t thread;
	sem_t ended;
};

/** Begins the thread, which gets no signals: they are for the one that runs the program.
 * @param purpose  for the message if it fails: "cannot PURPOSE: ..."
 * @return 0; else an exit code, said, and nothing is to be ended */
int beside_begin(struct beside *beside, const struct cli *cli, const char *purpose,
		 void *(*work)(void *), void *arg);

/** Keeps the first error of beside->ctx with its message. @return whether there is one */
bool beside_failed(struct beside *beside, int error);

/** The program has ended: waits until the thread has. beside->ctx stays. */
void beside_join(struct beside *beside);

/** Frees what beside_begin() made. @return 0; else the exit code of the first error, said */
int beside_end(struct beside *beside, const struct cli *cli);

/** Seconds of this computer's clock that nobody sets. */
double beside_now(void);

/** In the thread: waits until the program has ended. @param until  and no longer, by beside_now().
 * @return whether it has */
bool beside_wait(struct beside *beside, double until);

#endif
