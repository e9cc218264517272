/*
 * Programs that run on a machine with IA-64 cores for tools that see its registers, one at a time.
 */
#ifndef DEVICE_RUNS_H
#define DEVICE_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct device_runs;
struct emul_epic;
struct register_file_result;

/** NULL: out of memory. */
struct device_runs *device_runs_new(struct emul_epic *epic);
/** After the threads that have called the others have ended: what runs ends with them. NULL is
 * allowed. */
void device_runs_free(struct device_runs *runs);
/**
 * Nothing runs, or it stands still at an overflow, and nothing goes on until the second call.
 * @return whether it is so
 */
bool device_runs_hold(struct device_runs *runs);
void device_runs_let(struct device_runs *runs);
/**
 * Runs a program for a thread of another process, to its end.
 * @return @size, *result telling what came of it; or -EINVAL, -EBUSY
 */
ssize_t device_runs_run(struct device_runs *runs, pid_t thread, const char *request, size_t size,
			struct register_file_result *result);

/* A descriptor that starts programs and watches them. */
struct device_watch;
struct fuse_pollhandle;

/** @param notify  says that there is something to read, and destroys the handle. NULL: no memory */
struct device_watch *device_watch_new(struct device_runs *runs,
				      void (*notify)(struct fuse_pollhandle *handle));
/** A program of it goes on, and nobody hears of its overflows. */
void device_watch_free(struct device_watch *watch);
/**
 * Starts a program for a thread of another process, or lets it go on.
 * @return @size; -EBUSY: one runs; -EINVAL: nothing to go on, or no request; -EAGAIN, -ENOMEM
 */
ssize_t device_watch_write(struct device_watch *watch, pid_t thread, const char *buffer,
			   size_t size);
/** @return bytes; -EAGAIN: there is no message yet; -EINVAL: no room for one */
ssize_t device_watch_read(struct device_watch *watch, void *buffer, size_t size);
/** @param handle  is notified of the next message, unless there is one. @return whether there is */
bool device_watch_poll(struct device_watch *watch, struct fuse_pollhandle *handle);

#endif
