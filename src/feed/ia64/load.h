/* Programs from files to memory. */
#ifndef FEED_IA64_LOAD_H
#define FEED_IA64_LOAD_H

#include "feed/ia64/cpu.h"

/**
 * Loads a program, with its dynamic linker, and sets the thread up to start it, stack and backing
 * store included. Negative errno; -ENOEXEC for a file that is no IA-64 program, -ELIBBAD for one
 * whose dynamic linker is not found, in the root or on this computer.
 */
int ia64_load(struct ia64_cpu *c, const char *path, char *const *argv, char *const *envp);

#endif
