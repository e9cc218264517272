/* What the files of the tool share. Valgrind's types stay out of what the layers' headers see. */
#ifndef VALGRIND_OWN_H
#define VALGRIND_OWN_H

#include <stdbool.h>
#include <stddef.h>

/** Memory that the guest does not see, of which Valgrind knows; (void *)-1 where there is none. */
void *own_map(size_t size);
void *own_map_shared(int fd, size_t size, long offset);
void own_unmap(void *address, size_t size);

/**
 * Loads the decoder, a shared library that needs next to nothing: tools are static, and Debian has
 * no archive of it. @return NULL, or what is wrong
 */
const char *own_load_decoder(const char *path);

/** The guest cannot go on: says why and ends. */
_Noreturn void own_give_up(const char *why);

#endif
