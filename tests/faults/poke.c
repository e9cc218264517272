/*
 * What runs while something is measured: it reads and writes registers as files, and ends.
 *
 * usage: poke [wait] FILE:OFFSET[=VALUE]...
 *
 * 8 bytes each; what is read goes to standard output. wait: for a tenth of a second before.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int poke(char *text)
{
	char *value = strrchr(text, '='), *offset;
	uint64_t data = value ? strtoull(value + 1, NULL, 0) : 0;
	ssize_t done;
	off_t at;
	int fd;

	if (value)
		*value = '\0';
	offset = strrchr(text, ':');
	if (!offset)
		return 1;
	*offset = '\0';
	at = (off_t)strtoull(offset + 1, NULL, 0);
	fd = open(text, value ? O_RDWR : O_RDONLY);
	if (fd < 0)
		return 1;
	done = value ? pwrite(fd, &data, sizeof(data), at) : pread(fd, &data, sizeof(data), at);
	close(fd);
	if (!value && done == (ssize_t)sizeof(data))
		printf("0x%llx\n", (unsigned long long)data);
	return done != (ssize_t)sizeof(data);
}

int main(int argc, char **argv)
{
	bool wait = argc > 1 && !strcmp(argv[1], "wait");

	if (wait)
		usleep(100000);
	for (int i = 1 + wait; i < argc; i++)
		if (poke(argv[i])) {
			perror(argv[i]);
			return 1;
		}
	return 0;
}
