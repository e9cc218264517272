/* Runs a program on an emulated machine, under QEMU with our plugin. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "cli/cli.h"
#include "system/system.h"

/* What the shell says where a program cannot be run. */
enum {
	RUN_NOT_EXECUTABLE = 126,
	RUN_NOT_FOUND = 127,
};

/* Everything that is found out before anything is programmed or started. */
struct run {
	char *qemu;
	char *plugin;  /* feeds the machine; for a tool it only tells that it began */
	char *guest;   /* is loaded into a tool; NULL for a program */
	char *program; /* the ELF file to emulate; a script's interpreter */
	char **argv;   /* program's arguments, argv[0] as the user wrote it */
	char *cpu;     /* whose CPUID it sees */
	int watch;     /* a descriptor whose hanging up ends the program; -1: none */
};

/**
 * Finds the emulator, the plugin and the program, which is to run on @machine; says what is
 * missing.
 * @return 0, or the exit code: RUN_NOT_FOUND, RUN_NOT_EXECUTABLE, EXIT_FAILED
 */
int run_prepare(const struct cli *cli, struct run *run, char **argv,
		const struct pmu_machine *machine);
/** The same for a tool that looks at the machine from outside: it runs under no plugin. */
int run_prepare_tool(const struct cli *cli, struct run *run, char **argv,
		     const struct pmu_machine *machine);
void run_release(struct run *run);
/** Frees a list of words that ends with NULL; NULL is allowed. */
void run_free_argv(char **argv);

/**
 * Runs the program to its end. Its input, output and signals are its own.
 * @param block  descriptor of the machine's block; -1 for a tool
 * @param exit   receives its exit code, or 128 + signal as a shell says it
 * @return 0, or an exit code where it never began to run, said
 */
int run_program(const struct cli *cli, const struct run *run, int block, int *exit);

#endif
