/* Memory for what is freed together. */
#ifndef FEED_ARENA_H
#define FEED_ARENA_H

#include <stddef.h>

struct feed_chunk;

struct feed_arena {
	struct feed_chunk *chunks; /* the first is the one that is being filled */
	size_t used;		   /* bytes of it */
};

/** Zeroed memory, aligned to 64, until the arena is emptied; NULL where there is none. */
void *feed_arena_alloc(struct feed_arena *arena, size_t size);
/** Frees everything; the arena can be used again. A zeroed arena is empty. */
void feed_arena_empty(struct feed_arena *arena);

#endif
