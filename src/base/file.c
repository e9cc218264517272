#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

#define FIRST_BYTES 4096

static int cannot(struct pmu_ctx *ctx, const char *path, const char *why)
{
	return error_set(ctx, PMU_E_IO, "cannot read %s: %s", path, why);
}

/* @return bytes read, 0 at the end, or -1 */
static ssize_t read_on(int fd, char *to, size_t bytes)
{
	ssize_t done;

	do
		done = read(fd, to, bytes);
	while (done < 0 && errno == EINTR);
	return done;
}

/* Files of the kernel tell no size: only reading finds the end. */
static int read_whole(struct pmu_ctx *ctx, int fd, const char *path, size_t limit, char **text,
		      size_t *length)
{
	size_t capacity = FIRST_BYTES;
	ssize_t done = 0;

	*length = 0;
	*text = malloc(capacity);
	while (*text && (done = read_on(fd, *text + *length, capacity - 1 - *length)) > 0) {
		*length += (size_t)done;
		if (*length > limit)
			return cannot(ctx, path, strerror(EFBIG));
		if (*length == capacity - 1) {
			char *larger = realloc(*text, capacity *= 2);

			if (!larger)
				return error_set(ctx, PMU_E_NOMEM, "out of memory for %s", path);
			*text = larger;
		}
	}
	if (!*text)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for %s", path);
	if (done < 0)
		return cannot(ctx, path, strerror(errno));
	(*text)[*length] = '\0';
	return 0;
}

int file_read_open(struct pmu_ctx *ctx, int fd, const char *path, size_t limit, char **text,
		   size_t *length)
{
	struct stat status;
	size_t bytes;
	int error;

	if (fstat(fd, &status))
		return cannot(ctx, path, strerror(errno));
	if (!S_ISREG(status.st_mode))
		return cannot(ctx, path, "it is no plain file");
	error = read_whole(ctx, fd, path, limit, text, &bytes);
	if (error) {
		free(*text);
		*text = NULL;
	} else if (length) {
		*length = bytes;
	}
	return error;
}

int file_read(struct pmu_ctx *ctx, const char *path, size_t limit, char **text, size_t *length)
{
	/* Not to wait for who writes into a FIFO, nor to become a terminal's process. */
	int error, fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	*text = NULL;
	if (fd < 0)
		return error_set(ctx, errno == ENOENT ? PMU_E_UNKNOWN : PMU_E_IO,
				 "cannot read %s: %s", path, strerror(errno));
	error = file_read_open(ctx, fd, path, limit, text, length);
	close(fd);
	return error;
}
