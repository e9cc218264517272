/* What a guest executes, by execve, in an emulator like this one. */
#ifndef PLUGIN_EXEC_H
#define PLUGIN_EXEC_H

#include "emul/report.h"
#include "feed/exec.h"

/** @param report  NULL: there is none. Paths that this emulator was given, for others like it */
void exec_init(const char *machine, const char *report);

/**
 * As exec_init(), where the guest is a tool, which sees the machine and does not run on it.
 * @param path  of @report, which is told if the tool cannot see all of it; both NULL: there is none
 */
void exec_init_tool(const char *path, struct emul_report *report);

/**
 * A guest thread is in a system call for which feed_is_exec() holds. If the machine can run the
 * program, an emulator of it takes the process's place, and this does not return. Otherwise the
 * call is QEMU's: it starts the program natively, which @report is told, or fails.
 * @param process     and @thread: NULL for a tool
 * @param arguments   six
 * @param guest_base  host address of guest address 0
 */
void exec_guest(struct feed_process *process, struct feed_thread *thread, int64_t number,
		const uint64_t *arguments, uint64_t guest_base, struct emul_report *report);

/** QEMU's call came back. */
void exec_guest_failed(void);

#endif
