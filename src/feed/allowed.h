/*
 * Files whose text says on which CPUs and nodes a process may be, or what each CPU has done: the
 * computer's text, with the machine's CPUs in it. /proc/stat, the status of processes, and what
 * cpuset says of control groups. For tools, /proc/net/dev without the computer's devices.
 */
#ifndef FEED_ALLOWED_H
#define FEED_ALLOWED_H

#include "feed/process.h"

/** Whether a path may lead to such a file. */
bool feed_allowed_is_asked(const char *path);
/** A guest has opened such a path: gives the descriptor the text that holds for the machine. */
void feed_allowed_open(const struct feed_process *process, int fd, bool closes_on_exec);

#endif
