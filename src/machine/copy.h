/*
 * What the system copies between a program's memory and a file's pages, which it keeps for all
 * programs: read(), write() and the like. As Linux does on these cores, by rep movsb.
 */
#ifndef MACHINE_COPY_H
#define MACHINE_COPY_H

#include "machine/access.h"

#define MACHINE_NO_FILE 0 /* zeros that are read, data that nobody keeps */

struct machine_copy {
	uint64_t file;	/* a number that tells it from others, or MACHINE_NO_FILE */
	uint64_t pages; /* of the file, which are used in turns; UINT64_MAX: no such */
	uint64_t offset;
	uint64_t address; /* of the program's memory, virtual */
	uint64_t bytes;
	bool reads; /* from the file */
};

/** For the thread that holds the core, between blocks. May wait for other threads. */
void machine_copy(struct machine_hart *core, const struct machine_copy *copy);

#endif
