/* What goes on beside a program that is measured, in a thread of its own. */
#ifndef CLI_BESIDE_H
#define CLI_BESIDE_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>

/** Starts a thread that gets no signals: they are for the one that runs the program. @return 0 or a
 * number of errno */
int beside_start(pthread_t *thread, void *(*work)(void *), void *arg);

/** Seconds of this computer's clock that nobody sets. */
double beside_now(void);

/** Waits for @ended. @param until  and no longer, by beside_now(). @return whether it was posted */
bool beside_wait(sem_t *ended, double until);

#endif
