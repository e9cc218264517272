/*
 * perf_event_open(2) in a tool, which the emulator does not have: events are descriptors of a file
 * of the machine's (emul/perf_request.h). Reading and closing them need nothing of ours.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emul/perf_request.h"
#include "guest.h"

#define ATTR_BYTES_MIN 64 /* PERF_ATTR_SIZE_VER0 */

/* @return 0, or -1 with errno */
static int ask(int fd, const struct perf_request *request)
{
	return write(fd, request, sizeof(*request)) == sizeof(*request) ? 0 : -1;
}

static int open_file(int flags)
{
	return open(PERF_FILE, O_RDWR | flags);
}

static bool get_id(int fd, uint64_t *id)
{
	return pread(fd, id, sizeof(*id), PERF_ID_POSITION) == sizeof(*id);
}

/* @return errno of what is no attribute */
static int copy_attr(struct perf_request *request, const struct perf_event_attr *attr)
{
	uint32_t size;

	if (!attr)
		return EFAULT;
	size = attr->size ? attr->size : ATTR_BYTES_MIN;
	if (size < ATTR_BYTES_MIN || size > PERF_ATTR_BYTES)
		return E2BIG;
	request->attr_bytes = size;
	memcpy(request->attr, attr, size);
	return 0;
}

/* As the system call; the arguments as it has them. */
static long open_event(const struct perf_event_attr *attr, pid_t pid, int cpu, int group,
		       unsigned long flags)
{
	struct perf_request request = {
	    .kind = PERF_REQUEST_OPEN, .pid = pid, .cpu = cpu, .flags = flags};
	int fd, error = copy_attr(&request, attr);

	if (!error && group >= 0 && !get_id(group, &request.leader))
		error = EBADF;
	if (error) {
		errno = error;
		return -1;
	}
	fd = open_file(flags & PERF_FLAG_FD_CLOEXEC ? O_CLOEXEC : 0);
	if (fd < 0)
		return -1;
	if (!ask(fd, &request))
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

static long make_call(long number, long a, long b, long c, long d, long e, long f)
{
	static long (*real)(long, ...);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "syscall");
	return real(number, a, b, c, d, e, f);
}

/* Six words are taken, as the C library's own does it. */
EXPORT long syscall(long number, ...)
{
	long words[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		words[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_perf_event_open)
		return open_event((const struct perf_event_attr *)words[0], (pid_t)words[1],
				  (int)words[2], (int)words[3], (unsigned long)words[4]);
	return make_call(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

/* @return as ioctl() */
static int control(int fd, unsigned long command, void *argument)
{
	const struct perf_request request = {
	    .kind = PERF_REQUEST_CONTROL, .command = command, .argument = (uintptr_t)argument};

	if (command != PERF_EVENT_IOC_ID)
		return ask(fd, &request);
	return get_id(fd, argument) ? 0 : -1;
}

EXPORT int ioctl(int fd, unsigned long command, ...)
{
	static int (*real)(int, unsigned long, ...);
	void *argument;
	va_list list;
	uint64_t id;

	va_start(list, command);
	argument = va_arg(list, void *);
	va_end(list);
	/* Drivers have commands of this type too. */
	if (_IOC_TYPE(command) == _IOC_TYPE(PERF_EVENT_IOC_ENABLE) && get_id(fd, &id))
		return control(fd, command, argument);
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "ioctl");
	return real(fd, command, argument);
}

static void tell_exec(void)
{
	const struct perf_request request = {.kind = PERF_REQUEST_EXEC, .pid = getpid()};
	int error = errno, fd = open_file(O_CLOEXEC);

	if (fd >= 0) {
		ask(fd, &request);
		close(fd);
	}
	errno = error;
}

EXPORT int execve(const char *path, char *const *arguments, char *const *variables)
{
	static int (*real)(const char *, char *const *, char *const *);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "execve");
	tell_exec();
	return real(path, arguments, variables);
}

EXPORT int execv(const char *path, char *const *arguments)
{
	return execve(path, arguments, environ);
}

EXPORT int execvp(const char *name, char *const *arguments)
{
	static int (*real)(const char *, char *const *);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "execvp");
	tell_exec();
	return real(name, arguments);
}
