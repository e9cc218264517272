/* Programs that a forked process executes by itself, with what a plugin brings. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/option.h"
#include "emul/child.h"
#include "emul/epic.h"
#include "emul/program.h"
#include "emul/report.h"

struct task {
	const struct pmu_program *program;
	struct emul_epic *epic;
	struct emul_report *report; /* memory that both processes see */
};

int program_load_executor(struct pmu_program *program, struct pmu_ctx *ctx)
{
	/* It stays: registers of the machine are answered by code of it until the program ends. */
	void *plugin = dlopen(program->plugin, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	void *symbol = plugin ? dlsym(plugin, EMUL_EXECUTE) : NULL;

	if (!symbol)
		return error_set(ctx, PMU_E_IO, "cannot load %s: %s", program->plugin, dlerror());
	memcpy(&program->execute, &symbol, sizeof(symbol));
	return 0;
}

static void begins(void *arg)
{
	((struct task *)arg)->report->began = 1;
}

/* In the child. */
static void execute(void *arg)
{
	struct task *task = arg;
	const struct emul_execution execution = {
	    .epic = task->epic,
	    .path = task->program->program,
	    .argv = task->program->argv,
	    .envp = environ,
	    .begins = begins,
	    .arg = task,
	};
	struct pmu_ctx *ctx = NULL;
	struct emul_report *report = task->report;

	if (pmu_ctx_new(&ctx))
		return;
	task->program->execute(ctx, &execution);
	snprintf(report->refusal, sizeof(report->refusal), "%s", pmu_message(ctx));
}

static int run(struct task *task, struct pmu_ctx *ctx, struct pmu_program_result *found)
{
	const struct pmu_child_options options = {.size = sizeof(options),
						  .guard = task->program->options.guard};
	char *const *argv = task->program->argv;
	struct pmu_child *child;
	int error = child_new_calling(&child, ctx, argv, &options, execute, task);

	if (error)
		return error;
	error = pmu_child_run(child, ctx, found);
	pmu_child_free(child);
	emul_epic_settle(task->epic);
	found->ran = task->report->began;
	if (error || found->ran)
		return error;
	return error_set(ctx, PMU_E_UNSUPPORTED, "%s never began to run: %s", argv[0],
			 *task->report->refusal ? task->report->refusal : "its process ended");
}

int program_run_executor(const struct pmu_program *program, struct pmu_ctx *ctx,
			 struct emul_epic *epic, struct pmu_program_result *result)
{
	struct pmu_program_result found = {.size = sizeof(found), .exit = CHILD_FAILED};
	struct task task = {.program = program, .epic = epic};
	int error, given = 0;

	task.report = mmap(NULL, sizeof(*task.report), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (task.report == MAP_FAILED)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for %s", program->argv[0]);
	error = run(&task, ctx, &found);
	munmap(task.report, sizeof(*task.report));
	if (result)
		given = option_give(result, &found, sizeof(found));
	return error ? error : given;
}

int program_run_natively(const struct pmu_program *program, struct pmu_ctx *ctx, int watch,
			 struct pmu_program_result *result)
{
	const struct pmu_child_options options = {.size = sizeof(options),
						  .guard = program->options.guard};
	struct pmu_child *child;
	int error = pmu_child_new(&child, ctx, program->argv, &options);

	if (error)
		return error;
	child_watch(child, watch);
	error = pmu_child_run(child, ctx, result);
	pmu_child_free(child);
	return error;
}
