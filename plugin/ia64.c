/* Executes a program on an emulated machine with IA-64 cores: a shell around src/feed/ia64. */
#include <errno.h>

#include "base/error.h"
#include "emul/epic.h"
#include "emul/execute.h"
#include "feed/ia64/core_feed.h"
#include "feed/ia64/exec.h"

__attribute__((visibility("default"))) emul_execute pmulab_execute;

static struct epic_core *core(void *arg, unsigned *number)
{
	return emul_epic_take_core(arg, number);
}

static void monitors(void *arg, unsigned number, bool on)
{
	emul_epic_monitors(arg, number, on);
}

static uint64_t monitor(void *arg, unsigned number, uint32_t reg)
{
	return emul_epic_read_monitor(arg, number, reg);
}

static void other_thread(void *arg)
{
	emul_epic_other_thread(arg);
}

int pmulab_execute(struct pmu_ctx *ctx, const struct emul_execution *e)
{
	const struct ia64_core_feed_target target = {
	    .core = core,
	    .monitors = monitors,
	    .monitor = monitor,
	    .other_thread = other_thread,
	    .arg = e->epic,
	};
	struct ia64_core_feed *feed;
	int error;

	if (ia64_core_feed_new(&feed, &target))
		return error_set(ctx, PMU_E_NOMEM, "out of memory for %s", e->path);
	error = ia64_exec(ctx, e->path, e->argv, e->envp, ia64_core_feed_observer(feed), e->begins,
			  e->arg);
	ia64_core_feed_free(feed);
	return error;
}
