/* Paths that guests name, without looking at the files. */
#ifndef FEED_PATH_H
#define FEED_PATH_H

#include <stdbool.h>
#include <stddef.h>

#define FEED_PATH_BYTES 512 /* longer ones are none that the machine has */

/**
 * A path from the root without "//", "." and "..", which is taken to lead to the folder before it.
 * @param folder  where @path begins, if that is not the root
 * @return whether there is room
 */
bool feed_path_join(char joined[FEED_PATH_BYTES], const char *folder, const char *path);

/** Whether a path as above names a file that the machine has in the computer's place. */
bool feed_path_is_machine(const char *path);
/** Whether a path, from the root or from some folder, may name one: most do not. */
bool feed_path_may_be_machine(const char *path);

#endif
