/* Memory of a guest's, in this process, which may not be there, or not to be written. */
#ifndef FEED_MEMORY_H
#define FEED_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Reads from a host address. @return how many bytes there were */
size_t feed_memory_read(void *bytes, uint64_t address, size_t size);
/** Reads a string. @return whether it was there as a whole, and has found room */
bool feed_memory_text(char *text, size_t size, uint64_t address);
/** @return whether all was written */
bool feed_memory_write(uint64_t address, const void *bytes, size_t size);

#endif
