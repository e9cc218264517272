/* An IA-64 program in the place of this one. */
#include "pmulab/ia64.h"

#include "base/error.h"
#include "base/option.h"
#include "feed/ia64/count.h"
#include "feed/ia64/load.h"
#include "feed/ia64/run.h"
#include "feed/ia64/signal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

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
	struct ia64_counter *counter = NULL;
	struct ia64_process *process;
	struct ia64_cpu *cpu;
	int rc, error = option_take(ctx, &options, sizeof(options), given);

	if (error)
		return error;
	rc = options.counts ? ia64_counter_new(&counter, options.counts) : 0;
	if (rc)
		return refuse(ctx, options.counts, rc);
	rc = prepare(&process, &cpu, path, argv, envp,
		     counter ? ia64_counter_observer(counter) : NULL);
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
