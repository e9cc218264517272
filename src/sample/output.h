/*
 * A file that a program's process writes to although it has no descriptor of it: what is put goes
 * to memory that both processes share, and a thread of the process that made it writes it. So
 * nothing is lost with the program, however it ends, and it cannot close the file.
 */
#ifndef SAMPLE_OUTPUT_H
#define SAMPLE_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

struct sample_output;

/**
 * Begins to write at the file's present offset.
 * @param descriptor  stays the caller's
 * @return 0 or -errno
 */
int sample_output_new(struct sample_output **output, int descriptor);
/** Puts bytes, all of them together; waits where there is no room. From any process or thread. */
void sample_output_put(struct sample_output *output, const void *bytes, size_t count);
/** Writes what was put, and ends. @return bytes written, or -errno of what could not be */
int64_t sample_output_end(struct sample_output *output);
/** NULL is allowed. */
void sample_output_free(struct sample_output *output);

#endif
