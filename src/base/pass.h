/* Messages over a socket between processes, with descriptors along. */
#ifndef BASE_PASS_H
#define BASE_PASS_H

#include <stddef.h>

#define PASS_MAX 4 /* descriptors of a message */

/** @param count  of descriptors, which stay the caller's. @return 0, or -1 with errno */
int pass_send(int socket, const void *data, size_t bytes, const int *descriptors, unsigned count);

/**
 * Receives a message of just so many bytes. Descriptors that come are closed on exec.
 * @param count  that are wanted: those that did not come are -1
 * @return 0, or -1 with errno, which is 0 where the other end is closed or says something else
 */
int pass_receive(int socket, void *data, size_t bytes, int *descriptors, unsigned count);

#endif
