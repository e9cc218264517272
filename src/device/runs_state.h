/* Programs on a machine with IA-64 cores, inside. */
#ifndef DEVICE_RUNS_STATE_H
#define DEVICE_RUNS_STATE_H

#include <pthread.h>

#include "base/eventcount.h"
#include "device/run_file.h"
#include "emul/epic.h"

struct device_watch;

/* What a program's process tells. */
struct runs_shared {
	struct register_file_result result;
	struct eventcount turn; /* odd: the program stands still at an overflow */
	bool watched;		/* somebody hears of overflows */
	bool ended;		/* its process */
	struct emul_interrupt interrupt;
};

struct device_runs {
	struct emul_epic *epic;
	pthread_mutex_t lock;
	bool running, standing;
	struct runs_shared *shared;
	/* Of a program that was started: its process, who watches it, threads that wait for it. */
	pid_t child;
	struct device_watch *watch; /* NULL: nobody does */
	pthread_t waits, tells;
	bool has_threads;
};

/* A request, taken apart. */
struct runs_asked {
	pid_t process;
	char **argv, **envp;
};

/** @return 0 or -EINVAL; *asked to be freed in any case */
int runs_parse(struct runs_asked *asked, pid_t thread, const char *request, size_t size);
void runs_asked_free(struct runs_asked *asked);

/** @return whether nothing else runs: now this does */
bool runs_begin(struct device_runs *runs);
/** It runs no longer; with the lock held. */
void runs_end(struct device_runs *runs);
/** Forks the process that runs it. @return as fork() */
pid_t runs_fork(struct device_runs *runs, const struct runs_asked *asked);
/** Waits until that has ended. @return 0 or -ECHILD */
int runs_wait(pid_t child);

/** watch.c: in the program's process: it stands still until who watches it lets it go on. */
void runs_stand(void *arg, const struct emul_interrupt *interrupt);
/** watch.c: waits for the threads of what was started. */
void runs_join(struct device_runs *runs);

#endif
