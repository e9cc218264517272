#include "feed/ia64/exec.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "feed/ia64/load.h"
#include "feed/ia64/run.h"
#include "feed/ia64/signal.h"

static int refuse(struct pmu_ctx *ctx, const char *what, int rc)
{
	switch (rc) {
	case -ENOEXEC:
		return error_set(ctx, PMU_E_UNSUPPORTED, "%s: not an IA-64 Linux program", what);
	case -ELIBBAD:
		return error_set(ctx, PMU_E_UNSUPPORTED,
				 "%s: dynamically linked, and its linker is not found: set "
				 "PMULAB_IA64_ROOT to a folder with IA-64 libraries",
				 what);
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

int ia64_exec(struct pmu_ctx *ctx, const char *path, char *const *argv, char *const *envp,
	      const struct ia64_observer *observer, void (*begins)(void *arg), void *arg)
{
	struct ia64_process *process;
	struct ia64_cpu *cpu;
	int rc = prepare(&process, &cpu, path, argv, envp, observer);

	if (!rc)
		rc = ia64_signals_start(process);
	if (!rc)
		rc = ia64_signals_thread(cpu);
	if (rc)
		return refuse(ctx, path, rc);
	if (begins)
		begins(arg);
	ia64_run(cpu);
	for (;;) /* the first thread ended; the last one ends the process */
		pause();
}
