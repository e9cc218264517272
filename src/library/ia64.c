/* An IA-64 program in the place of this one, and the emulated core that it may run on. */
#include "pmulab/ia64.h"

#include "base/error.h"
#include "base/option.h"
#include "bus/epic.h"
#include "emul/epic.h"
#include "feed/ia64/core_feed.h"
#include "feed/ia64/count.h"
#include "feed/ia64/load.h"
#include "feed/ia64/run.h"
#include "feed/ia64/signal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct pmu_ia64_core {
	struct emul_epic *epic;
	struct ia64_core_feed *feed;
	void (*ended)(void *arg);
	void *arg;
};

/* The user's monitors: PSR.up, which the program may change. */
static void monitors(void *arg, bool on)
{
	emul_epic_monitors(((struct pmu_ia64_core *)arg)->epic, on);
}

static void end(void *arg)
{
	struct pmu_ia64_core *core = arg;

	epic_settle(emul_epic_core(core->epic));
	if (core->ended)
		core->ended(core->arg);
}

int pmu_ia64_core_new(struct pmu_ia64_core **out, struct pmu_ctx *ctx)
{
	struct pmu_ia64_core *core = calloc(1, sizeof(*core));
	int error;

	if (!core)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for a core");
	error = emul_epic_new(&core->epic, ctx, NULL);
	if (!error && ia64_core_feed_new(&core->feed, emul_epic_core(core->epic), end, core))
		error = error_set(ctx, PMU_E_NOMEM, "out of memory for a core");
	if (error) {
		pmu_ia64_core_free(core);
		return error;
	}
	ia64_core_feed_monitors(core->feed, monitors, core);
	*out = core;
	return 0;
}

void pmu_ia64_core_free(struct pmu_ia64_core *core)
{
	if (!core)
		return;
	ia64_core_feed_free(core->feed);
	emul_epic_free(core->epic);
	free(core);
}

int pmu_ia64_core_bus(struct pmu_bus **bus, struct pmu_ctx *ctx, struct pmu_ia64_core *core)
{
	return bus_epic(bus, ctx, core->epic);
}

unsigned pmu_ia64_core_other_threads(const struct pmu_ia64_core *core)
{
	return ia64_core_feed_others(core->feed);
}

static int refuse(struct pmu_ctx *ctx, const char *what, int rc)
{
	switch (rc) {
	case -ENOEXEC:
		return error_set(ctx, PMU_E_UNSUPPORTED, "%s: not an IA-64 Linux program", what);
	case -ELIBBAD:
		return error_set(ctx, PMU_E_UNSUPPORTED,
				 "%s: dynamically linked: only static programs run", what);
	case -ENOENT:
		return error_set(ctx, PMU_E_UNKNOWN, "%s: %s", what, strerror(-rc));
	case -ENOMEM:
		return error_set(ctx, PMU_E_NOMEM, "%s: %s", what, strerror(-rc));
	default:
		return error_set(ctx, PMU_E_IO, "%s: %s", what, strerror(-rc));
	}
}

/* Nothing of the calling process has changed where this fails. */
static int prepare(struct ia64_process **process, struct ia64_cpu **cpu, const char *path,
		   char *const *argv, char *const *envp, const struct ia64_observer *observer)
{
	int rc = ia64_process_new(process, observer);

	if (rc)
		return rc;
	rc = ia64_cpu_new(cpu, *process);
	if (rc)
		goto fail_cpu;
	rc = ia64_load(*cpu, path, argv, envp);
	if (!rc)
		return 0;
	ia64_cpu_free(*cpu);
fail_cpu:
	ia64_process_free(*process);
	return rc;
}

int pmu_ia64_exec(struct pmu_ctx *ctx, const char *path, char *const *argv, char *const *envp,
		  const struct pmu_ia64_options *given)
{
	struct pmu_ia64_options options = {0};
	const struct ia64_observer *observer = NULL;
	struct ia64_counter *counter = NULL;
	struct ia64_process *process;
	struct ia64_cpu *cpu;
	int rc, error = option_take(ctx, &options, sizeof(options), given);

	if (!error && options.counts && options.core)
		error = error_set(ctx, PMU_E_CONFLICT,
				  "instructions are not counted one by one on an emulated core");
	if (error)
		return error;
	rc = options.counts ? ia64_counter_new(&counter, options.counts) : 0;
	if (rc)
		return refuse(ctx, options.counts, rc);
	if (counter)
		observer = ia64_counter_observer(counter);
	if (options.core) {
		options.core->ended = options.ended;
		options.core->arg = options.arg;
		observer = ia64_core_feed_observer(options.core->feed);
	}
	rc = prepare(&process, &cpu, path, argv, envp, observer);
	if (rc) {
		ia64_counter_free(counter);
		return refuse(ctx, path, rc);
	}
	rc = ia64_signals_start(process);
	if (!rc)
		rc = ia64_signals_thread(cpu);
	if (rc)
		return refuse(ctx, path, rc);
	ia64_run(cpu);
	for (;;) /* the first thread ended; the last one ends the process */
		pause();
}
