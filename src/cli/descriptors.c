#include "cli/descriptors.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define FIRST_OTHER 3 /* after standard error */

int descriptors_fill(void)
{
	for (int fd = 0; fd < FIRST_OTHER; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		/* The lowest number that is free is this one. For reading: a write is refused. */
		if (open("/dev/null", O_RDONLY) != fd)
			return -1;
	}
	return 0;
}

static int add(struct descriptors *inherited, int fd)
{
	int *numbers = realloc(inherited->numbers, (inherited->count + 1) * sizeof(*numbers));

	if (!numbers)
		return -1;
	inherited->numbers = numbers;
	numbers[inherited->count++] = fd;
	return 0;
}

/* Where there is no /proc: every number there may be. */
static int try_all(struct descriptors *inherited)
{
	long limit = sysconf(_SC_OPEN_MAX);
	int error = 0;

	for (int fd = FIRST_OTHER; fd < limit && !error; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			error = add(inherited, fd);
	return error;
}

int descriptors_note(struct descriptors *inherited)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;
	int error = 0;

	*inherited = (struct descriptors){0};
	if (!folder)
		return try_all(inherited);
	while (!error && (entry = readdir(folder))) {
		int fd = atoi(entry->d_name);

		if (fd >= FIRST_OTHER && fd != dirfd(folder))
			error = add(inherited, fd);
	}
	closedir(folder);
	return error;
}

void descriptors_release(struct descriptors *inherited)
{
	free(inherited->numbers);
	*inherited = (struct descriptors){0};
}

void descriptors_close_on_exec(const struct descriptors *inherited)
{
	/* Libraries open files too, and do not mark them: libpci's are PCI functions. */
	if (close_range(FIRST_OTHER, ~0U, CLOSE_RANGE_CLOEXEC)) {
		long limit = sysconf(_SC_OPEN_MAX);

		for (int fd = FIRST_OTHER; fd < limit; fd++)
			fcntl(fd, F_SETFD, FD_CLOEXEC);
	}
	for (size_t i = 0; i < inherited->count; i++)
		fcntl(inherited->numbers[i], F_SETFD, 0);
}
