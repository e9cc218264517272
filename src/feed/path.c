#include "feed/path.h"

#include <string.h>

#define SYSTEM "/sys/devices/system"

/* Adds a name, or goes back by one. @return whether there is room */
static bool step(char joined[FEED_PATH_BYTES], size_t *used, const char *name, size_t length)
{
	if (!length || (length == 1 && *name == '.'))
		return true;
	if (length == 2 && name[0] == '.' && name[1] == '.') {
		while (*used && joined[--*used] != '/')
			;
		return true;
	}
	if (*used + 1 + length >= FEED_PATH_BYTES)
		return false;
	joined[(*used)++] = '/';
	memcpy(joined + *used, name, length);
	*used += length;
	return true;
}

static bool walk(char joined[FEED_PATH_BYTES], size_t *used, const char *path)
{
	while (*path) {
		size_t length = strcspn(path, "/");

		if (!step(joined, used, path, length))
			return false;
		path += length + (path[length] == '/');
	}
	return true;
}

bool feed_path_join(char joined[FEED_PATH_BYTES], const char *folder, const char *path)
{
	size_t used = 0;

	if ((*path != '/' && !walk(joined, &used, folder)) || !walk(joined, &used, path))
		return false;
	if (!used)
		joined[used++] = '/';
	joined[used] = '\0';
	return true;
}

/* @return what follows the name in the path, where it is the first; else NULL */
static const char *behind(const char *path, const char *name)
{
	size_t length = strlen(name);

	if (strncmp(path, name, length) != 0 || (path[length] && path[length] != '/'))
		return NULL;
	return path + length;
}

bool feed_path_is_machine(const char *path)
{
	const char *rest = behind(path, SYSTEM);

	if (rest)
		return !*rest || behind(rest, "/cpu") || behind(rest, "/node");
	return !strcmp(path, "/proc/cpuinfo");
}

static bool is_among(const char *path, const char *const *names)
{
	for (; *names; names++)
		if (behind(path, *names))
			return true;
	return false;
}

bool feed_path_may_be_machine(const char *path)
{
	static const char *const above[] = {"sys", "proc", NULL}, *const any[] = {
								      "sys",	 "devices",
								      "system",	 "cpu",
								      "node",	 "proc",
								      "cpuinfo", NULL};
	const bool from_root = *path == '/';

	/* Folders that are left again are for the next step to find. */
	if (strstr(path, "../"))
		return true;
	while (*path == '/' || (*path == '.' && path[1] == '/'))
		path++;
	return is_among(path, from_root ? above : any);
}
