/*
 * What processes have executed for, kept for who asks when they are not there any more: the program
 * that a process becomes, or its parent. Of those that nobody asks for the latest are there.
 */
#ifndef MACHINE_KEPT_TIMES_H
#define MACHINE_KEPT_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#define KEPT_TIMES_MAX 256

/* Ticks. */
struct machine_times {
	uint64_t own;	   /* of its threads, without those that still have a core */
	uint64_t children; /* of those that it has waited for, and theirs */
};

/* Valid when zeroed. */
struct kept_times {
	struct kept_times_entry {
		uint64_t put; /* how many had been put, plus 1; 0: it is free */
		uint32_t process;
		struct machine_times times;
	} entries[KEPT_TIMES_MAX];
	uint64_t puts;
};

/** See machine_keep_times(). */
void kept_times_put(struct kept_times *kept, uint32_t process, struct machine_times times);
/** See machine_take_times(). */
bool kept_times_take(struct kept_times *kept, uint32_t process, struct machine_times *times);

#endif
