#include "feed/arena.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT   64 /* a line of the host */
#define CHUNK_BYTES ((size_t)256 << 10)

struct feed_chunk {
	struct feed_chunk *next;
	size_t size; /* bytes that follow */
	_Alignas(ALIGNMENT) char memory[];
};

static size_t align_up(size_t size)
{
	return (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

static_assert(sizeof(struct feed_chunk) % ALIGNMENT == 0, "chunks begin aligned");

static int add_chunk(struct feed_arena *arena, size_t size)
{
	struct feed_chunk *chunk;

	if (size < CHUNK_BYTES)
		size = CHUNK_BYTES;
	chunk = aligned_alloc(ALIGNMENT, sizeof(*chunk) + align_up(size));
	if (!chunk)
		return -1;
	chunk->next = arena->chunks;
	chunk->size = size;
	arena->chunks = chunk;
	arena->used = 0;
	return 0;
}

void *feed_arena_alloc(struct feed_arena *arena, size_t size)
{
	void *memory;

	size = align_up(size);
	if ((!arena->chunks || arena->chunks->size - arena->used < size) && add_chunk(arena, size))
		return NULL;
	memory = arena->chunks->memory + arena->used;
	arena->used += size;
	return memset(memory, 0, size);
}

void feed_arena_empty(struct feed_arena *arena)
{
	while (arena->chunks) {
		struct feed_chunk *chunk = arena->chunks;

		arena->chunks = chunk->next;
		free(chunk);
	}
	arena->used = 0;
}
