#include "feed/maps.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#define READ_BYTES 4096
#define LINE_BYTES (PATH_MAX + 128)

/* @return what follows the number */
static const char *read_number(const char *text, unsigned base, uint64_t *number)
{
	uint64_t value = 0;

	for (;; text++) {
		unsigned digit = (unsigned)(*text - '0');

		if (digit > 9)
			digit = *text >= 'a' && *text <= 'f' ? (unsigned)(*text - 'a') + 10 : base;
		if (digit >= base)
			break;
		value = value * base + digit;
	}
	*number = value;
	return text;
}

static const char *skip(const char *text, char mark)
{
	while (*text && *text != mark)
		text++;
	return *text ? text + 1 : text;
}

/* "begin-end rwxp offset major:minor inode   path" */
static struct feed_map parse(const char *line)
{
	struct feed_map map = {0};
	const char *rights, *text = read_number(line, 16, &map.begin);

	text = read_number(skip(text, '-'), 16, &map.end);
	rights = skip(text, ' ');
	text = skip(rights, ' ');
	if (text >= rights + 4) {
		map.writable = rights[1] == 'w';
		map.is_private = rights[3] == 'p';
	}
	text = read_number(text, 16, &map.offset);
	text = read_number(skip(text, ' '), 16, &map.major);
	text = read_number(skip(text, ':'), 16, &map.minor);
	text = read_number(skip(text, ' '), 10, &map.inode);
	while (*text == ' ')
		text++;
	map.path = text;
	return map;
}

void feed_maps_read(void (*take)(void *arg, const struct feed_map *map), void *arg)
{
	char bytes[READ_BYTES], line[LINE_BYTES];
	size_t used = 0;
	long length;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	while ((length = read(fd, bytes, sizeof(bytes))) > 0) {
		for (long i = 0; i < length; i++) {
			struct feed_map map;

			if (bytes[i] != '\n') {
				if (used < sizeof(line) - 1)
					line[used++] = bytes[i];
				continue;
			}
			line[used] = '\0';
			used = 0;
			map = parse(line);
			take(arg, &map);
		}
	}
	close(fd);
}
