/* Files of a machine with IA-64 cores: registers, and one that runs programs on it. */
#ifndef DEVICE_REGISTER_FILE_H
#define DEVICE_REGISTER_FILE_H

#include <stddef.h>
#include <sys/types.h>

#include "device/access.h"
#include "sysfs/tree.h"

struct device_runs;

#define REGISTER_FILE_RUN "dev/cpu/run"

/* What a tool asks for, and reads from the same descriptor when it is over. */
struct register_file_result {
	int error; /* 0: it ran */
	int exit;
	char message[256];
};
/* In front of the words of the arguments, and of the environment, each with its end. */
struct register_file_request {
	uint32_t arguments, settings;
};
#define REGISTER_FILE_REQUEST_MAX (100u << 10) /* bytes */

/** Adds the files of all CPUs. */
void register_files_add(struct device_tree *tree, const struct pmu_machine *machine);

/**
 * Reads or writes a register.
 * @param number  of the node
 * @return bytes; -EINVAL for a part of a register, -EIO where none answers, -EBUSY while a program
 *         runs
 */
ssize_t register_file_read(const struct device_access *device, uint32_t number, void *buffer,
			   size_t size, off_t offset);
ssize_t register_file_write(const struct device_access *device, uint32_t number, const void *buffer,
			    size_t size, off_t offset);

/** NULL: out of memory. */
struct device_runs *device_runs_new(struct emul_epic *epic);
void device_runs_free(struct device_runs *runs);
/** Nothing runs, and nothing begins until the second call. @return whether it is so */
bool device_runs_hold(struct device_runs *runs);
void device_runs_let(struct device_runs *runs);
/**
 * Runs a program for a thread of another process, to its end.
 * @return @size, *result telling what came of it; or -EINVAL, -EBUSY
 */
ssize_t device_runs_run(struct device_runs *runs, pid_t thread, const char *request, size_t size,
			struct register_file_result *result);

#endif
