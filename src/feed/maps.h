/* The list of what the process has mapped, as the system keeps it. */
#ifndef FEED_MAPS_H
#define FEED_MAPS_H

#include <stdbool.h>
#include <stdint.h>

struct feed_map {
	uint64_t begin, end, offset;  /* addresses of the host; bytes of the file */
	uint64_t major, minor, inode; /* of its device; 0: it has no file */
	bool writable, is_private;
	const char *path; /* "": none; of what is no file a name in brackets */
};

/** Calls @take for each mapping, by rising addresses. */
void feed_maps_read(void (*take)(void *arg, const struct feed_map *map), void *arg);

#endif
