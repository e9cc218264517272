/* A program that is to run on a machine, and all that it takes. */
#ifndef EMUL_PROGRAM_H
#define EMUL_PROGRAM_H

#include "emul/execute.h"
#include "emul/report.h"
#include "pmulab/program.h"

#define PROGRAM_SETTINGS 3

/* Everything that is found out before anything is programmed or started. */
struct pmu_program {
	struct pmu_program_options options;
	char *emulator;
	/* Feeds the machine; for a tool it only tells that it began. Of Valgrind: the folder. */
	char *plugin;
	char *guest;   /* is loaded into a tool; NULL for a program */
	char *program; /* the ELF file to emulate; a script's interpreter */
	char **argv;   /* its arguments, argv[0] as the user wrote it */
	char *cpu;     /* whose CPUID it sees */
	const char *settings[PROGRAM_SETTINGS]; /* of a tool's environment; NULL last */
	/* What it executed in its last run that ran natively; the last one stands for others. */
	bool hints_ignored;
	struct emul_native natives[EMUL_NATIVES_MAX + 1];
	size_t native_count;
	/* Executes it, where the machine's cores are IA-64 ones and nothing above but the program
	 * and the plugin is there; else NULL. */
	emul_execute *execute;
};

/** Frees a list of words that ends with NULL; NULL is allowed. */
void program_free_argv(char **argv);

/** Loads the plugin that executes it. @return 0 or PMU_E_IO */
int program_load_executor(struct pmu_program *program, struct pmu_ctx *ctx);
/** Runs it to its end by what was loaded. */
int program_run_executor(const struct pmu_program *program, struct pmu_ctx *ctx,
			 struct emul_epic *epic, struct pmu_program_result *result);

/** Runs a tool that needs no emulator. @param watch  as program_run() */
int program_run_natively(const struct pmu_program *program, struct pmu_ctx *ctx, int watch,
			 struct pmu_program_result *result);

/**
 * Runs it to its end.
 * @param machine  whose files it finds; NULL: the computer's
 * @param block  descriptor of the machine's block; -1 for a tool
 * @param watch  a descriptor whose hanging up ends the program; -1: none
 */
int program_run(struct pmu_program *program, struct pmu_ctx *ctx, const struct pmu_machine *machine,
		int block, int watch, struct pmu_program_result *result);

#endif
