/* An IA-64 program in the place of this one. */
#include "pmulab/ia64.h"

#include <string.h>

#include "base/error.h"
#include "base/option.h"
#include "feed/ia64/count.h"
#include "feed/ia64/exec.h"

int pmu_ia64_exec(struct pmu_ctx *ctx, const char *path, char *const *argv, char *const *envp,
		  const struct pmu_ia64_options *given)
{
	struct pmu_ia64_options options = {0};
	struct ia64_counter *counter = NULL;
	int rc, error = option_take(ctx, &options, sizeof(options), given);

	if (error)
		return error;
	rc = options.counts ? ia64_counter_new(&counter, options.counts) : 0;
	if (rc)
		return error_set(ctx, PMU_E_IO, "%s: %s", options.counts, strerror(-rc));
	error = ia64_exec(ctx, path, argv, envp, counter ? ia64_counter_observer(counter) : NULL,
			  NULL, NULL);
	ia64_counter_free(counter);
	return error;
}
