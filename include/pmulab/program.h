/*
 * Programs that are run while something counts: emulated, on a machine of emul.h, or natively.
 *
 * A program runs in a process of its own, with the caller's input, output and environment. It is
 * killed when the thread that runs it ends. The caller must not wait for, or ignore, that process
 * (SIGCHLD).
 */
#ifndef PMULAB_PROGRAM_H
#define PMULAB_PROGRAM_H

#include <sys/types.h>

#include "pmulab/emul.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* How a program ended. */
struct pmu_program_result {
	size_t size; /* of this struct, set by the caller */
	/* As a shell has it: the program's exit code, 128 + signal; where it never ran, 127 if it
	 * was not found, 126 if it cannot be executed. */
	int exit;
	bool ran;	    /* it began: there is something that can have been counted */
	bool machine_ended; /* it was ended because the machine that it was on is gone */
	double seconds;	    /* of a child, from where it was let go to its end, on the computer */
};

struct pmu_program;

/*
 * What executes an x86-64 program and tells the machine of its instructions and accesses. A machine
 * with IA-64 cores has an executor of its own: there it is PMU_FEED_QEMU, and no QEMU.
 */
enum pmu_feed {
	PMU_FEED_QEMU,	   /* threads run at once on the host's CPUs; all of x86-64 that QEMU has */
	PMU_FEED_VALGRIND, /* faster for floating point; threads run in turns; no AVX-512 */
};

struct pmu_program_options {
	size_t size;	      /* of this struct, set by the caller */
	const char *emulator; /* NULL: qemu-x86_64, or valgrind, in PATH */
	/*
	 * What the emulator loads; NULL: $PMULAB_PLUGIN, the library for QEMU, or $PMULAB_VALGRIND,
	 * the tool for Valgrind, or $PMULAB_IA64, the executor of IA-64 programs; or the one beside
	 * this library.
	 */
	const char *plugin;
	/* What is loaded into a tool; NULL: $PMULAB_GUEST, or the one beside this library. */
	const char *tool_library;
	/* The program is a tool that looks at the machine from outside, by its device files
	 * (device.h): it sees the machine's processor and does not load the machine. */
	bool tool;
	bool host_time; /* a tool's clocks are the computer's, not the machine's */
	bool guard;	/* see struct pmu_child_options */
	enum pmu_feed feed;
};

/**
 * Finds the emulator, its plugin and the program, an ELF file for the machine's processor (x86-64
 * or IA-64) or a script that leads to one, which is to run on such a machine. Nothing is started.
 * @param argv     the program, a path or a name in PATH, and its arguments, NULL last; is copied
 * @param options  NULL: all 0
 * @return 0; PMU_E_UNKNOWN for a program that is not there; PMU_E_UNSUPPORTED for one that cannot
 *         be run; PMU_E_IO for an emulator or plugin that is missing, which the message says;
 *         PMU_E_CONFLICT for an environment that cannot be handed to a tool; PMU_E_NOMEM.
 *         *program is the caller's
 */
int pmu_program_new(struct pmu_program **program, struct pmu_ctx *ctx,
		    const struct pmu_machine *machine, char *const *argv,
		    const struct pmu_program_options *options);
/** Of one that does not run; NULL is allowed. */
void pmu_program_free(struct pmu_program *program);

/**
 * Runs the program on the machine to its end, each of its threads on a core of its own (with IA-64
 * cores the first one only). What it
 * left in flight in the machine has ended when this returns. It may be run again.
 * @param result  may be NULL
 * @return 0 where it ran, however it ended; PMU_E_IO, PMU_E_UNSUPPORTED, PMU_E_UNKNOWN, PMU_E_NOMEM
 *         where it did not: @result says how a shell would report that; PMU_E_CONFLICT for one
 *         that was found for a machine of another processor
 */
int pmu_program_run(struct pmu_program *program, struct pmu_ctx *ctx, struct pmu_emul *emul,
		    struct pmu_program_result *result);

/* A program that an emulated one executed and that ran on the computer, where nothing counts it. */
struct pmu_native {
	const char *path; /* its last 255 characters */
	const char *why;  /* it cannot run on the machine */
	unsigned times;
};

/**
 * The programs that ran natively in the last pmu_program_run(), each once; the 65th stands for
 * all others.
 * @param natives  receives up to @size; the strings belong to @program until it runs again
 * @return how many there are
 */
size_t pmu_program_natives(const struct pmu_program *program, struct pmu_native *natives,
			   size_t size);

/**
 * Whether in the last pmu_program_run() there was code with prefetch instructions or clflush, which
 * did nothing on the machine: with PMU_FEED_QEMU, as QEMU does not tell their addresses.
 */
bool pmu_program_hints_ignored(const struct pmu_program *program);

/* A native process that waits before it becomes the program, for who counts to be told of it. */
struct pmu_child;

struct pmu_child_options {
	size_t size; /* of this struct, set by the caller */
	/*
	 * Until the child is freed no signal ends the calling process but SIGKILL and those of its
	 * own faults: they are passed on to the program, and one that comes before it begins keeps
	 * it from beginning. The caller's handlers are back in force then. For a process that has
	 * one child at a time, and counters to give back.
	 */
	bool guard;
};

/**
 * Starts a process that waits.
 * @param argv     as execvp() has it; must outlive the child
 * @param options  NULL: all 0
 * @return 0, PMU_E_IO, PMU_E_RANGE, PMU_E_NOMEM
 */
int pmu_child_new(struct pmu_child **child, struct pmu_ctx *ctx, char *const *argv,
		  const struct pmu_child_options *options);
/**
 * Starts a process that waits, and whose program is to wait for the end of another process: for who
 * counts while something runs that is no child.
 * @param pid  that process, of any user; 0: it ends by a signal only
 * @return as pmu_child_new(); PMU_E_UNKNOWN where there is no such process
 */
int pmu_child_new_waiting(struct pmu_child **child, struct pmu_ctx *ctx, pid_t pid,
			  const struct pmu_child_options *options);
/** Its process id, for pmu_process_start(). */
pid_t pmu_child_pid(const struct pmu_child *child);
/**
 * Descriptors that a process forked meanwhile has to close, so that the child learns of the end of
 * this one. @param descriptors  receives up to @size @return how many there are
 */
size_t pmu_child_descriptors(const struct pmu_child *child, int *descriptors, size_t size);
/**
 * Lets it become the program and waits for its end; once only.
 * @param result  may be NULL
 * @return 0 where it ran; PMU_E_UNKNOWN for a program that was not found; PMU_E_UNSUPPORTED for one
 *         that cannot be run; PMU_E_STATE where a signal kept it from beginning, or for a second
 *         call
 */
int pmu_child_run(struct pmu_child *child, struct pmu_ctx *ctx, struct pmu_program_result *result);
/** Kills it where it has not run; NULL is allowed. */
void pmu_child_free(struct pmu_child *child);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
