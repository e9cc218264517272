/* A folder with the files of an IA-64 Linux system, in which a program's paths are looked up first.
 */
#ifndef FEED_IA64_ROOT_H
#define FEED_IA64_ROOT_H

#include <limits.h>

#define IA64_ROOT "PMULAB_IA64_ROOT" /* variable of the environment that names it */

/**
 * @param root  NULL: none
 * @param room  for the path there
 * @return what to open instead: in the root if the path is absolute and there is such a file
 */
const char *ia64_rooted(const char *root, const char *path, char room[PATH_MAX]);

#endif
