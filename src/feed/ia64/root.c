#include "feed/ia64/root.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

const char *ia64_rooted(const char *root, const char *path, char room[PATH_MAX])
{
	int length;

	if (!root || path[0] != '/')
		return path;
	length = snprintf(room, PATH_MAX, "%s%s", root, path);
	if (length >= PATH_MAX || faccessat(AT_FDCWD, room, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
		return path;
	return room;
}
