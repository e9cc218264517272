#define FUSE_USE_VERSION 35

#include "device/files.h"

#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/error.h"
#include "device/msr.h"
#include "device/register_file.h"
#include "device/run_file.h"
#include "device/runs.h"
#include "perf/perf.h"
#include "sysfs/cpuid.h"

#define WORKERS		4
#define ACCESS_BYTES	4096   /* of one read or write of a device */
#define TIMEOUT_SECONDS 3600.0 /* for the kernel's caches: nothing of the tree changes */

struct worker {
	struct device_files *files;
	pthread_t thread;
	struct fuse_buf buffer;
	bool runs;
};

struct device_files {
	struct device_contents contents;
	struct fuse_session *session;
	int end;     /* an event: the threads end */
	int waiting; /* for that, or for a request */
	struct worker workers[WORKERS];
};

/* Inode numbers are indices of nodes, the root being 1. */
static fuse_ino_t inode_of(uint32_t node)
{
	return node + FUSE_ROOT_ID;
}

static uint32_t index_of(fuse_ino_t inode)
{
	return (uint32_t)(inode - FUSE_ROOT_ID);
}

static const struct device_contents *contents_of(fuse_req_t request)
{
	return &((struct device_files *)fuse_req_userdata(request))->contents;
}

static const struct device_node *node_of(fuse_req_t request, fuse_ino_t inode)
{
	return &contents_of(request)->tree->nodes[index_of(inode)];
}

static void fill_status(const struct device_node *node, uint32_t index, struct stat *status)
{
	static const mode_t types[] = {
	    [DEVICE_FOLDER] = S_IFDIR, [DEVICE_TEXT] = S_IFREG,	     [DEVICE_LINK] = S_IFLNK,
	    [DEVICE_PERF] = S_IFREG,   [DEVICE_MSR] = S_IFREG,	     [DEVICE_CPUID] = S_IFREG,
	    [DEVICE_CONFIG] = S_IFREG, [DEVICE_REGISTERS] = S_IFREG, [DEVICE_RUN] = S_IFREG,
	    [DEVICE_WATCH] = S_IFREG,
	};

	*status = (struct stat){
	    .st_ino = inode_of(index),
	    .st_mode = types[node->kind] | node->mode,
	    .st_nlink = node->kind == DEVICE_FOLDER ? 2 : 1,
	    .st_size = node->kind == DEVICE_CONFIG ? PCI_CONFIG_BYTES : (off_t)node->length,
	};
}

static void serve_lookup(fuse_req_t request, fuse_ino_t folder, const char *name)
{
	const struct device_tree *tree = contents_of(request)->tree;
	uint32_t child = tree_child(tree, index_of(folder), name);
	struct fuse_entry_param entry = {
	    .attr_timeout = TIMEOUT_SECONDS,
	    .entry_timeout = TIMEOUT_SECONDS,
	};

	if (child == DEVICE_NONE) {
		fuse_reply_err(request, ENOENT);
		return;
	}
	entry.ino = inode_of(child);
	fill_status(&tree->nodes[child], child, &entry.attr);
	fuse_reply_entry(request, &entry);
}

static void serve_getattr(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *info)
{
	struct stat status;

	(void)info;
	fill_status(node_of(request, inode), index_of(inode), &status);
	fuse_reply_attr(request, &status, TIMEOUT_SECONDS);
}

/* Opening for writing truncates, as the shell does it: devices have no length to change. */
static void serve_setattr(fuse_req_t request, fuse_ino_t inode, struct stat *wanted, int which,
			  struct fuse_file_info *info)
{
	(void)wanted;
	if (which & ~(FUSE_SET_ATTR_SIZE | FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_MTIME |
		      FUSE_SET_ATTR_CTIME | FUSE_SET_ATTR_ATIME_NOW | FUSE_SET_ATTR_MTIME_NOW))
		fuse_reply_err(request, EPERM);
	else
		serve_getattr(request, inode, info);
}

static void serve_readlink(fuse_req_t request, fuse_ino_t inode)
{
	fuse_reply_readlink(request, node_of(request, inode)->text);
}

static void notify(struct fuse_pollhandle *handle)
{
	fuse_lowlevel_notify_poll(handle);
	fuse_pollhandle_destroy(handle);
}

/* What a descriptor has of its own. @return false: out of memory */
static bool open_descriptor(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *info)
{
	switch (node_of(request, inode)->kind) {
	case DEVICE_PERF:
		info->fh = (uintptr_t)perf_descriptor_new(contents_of(request)->perf);
		return info->fh;
	case DEVICE_RUN:
		info->fh = (uintptr_t)calloc(1, sizeof(struct register_file_result));
		return info->fh;
	case DEVICE_WATCH:
		info->fh = (uintptr_t)device_watch_new(contents_of(request)->access->runs, notify);
		return info->fh;
	default:
		return true;
	}
}

/* Every access goes to the device, at its own offset and of its own size. */
static void serve_open(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *info)
{
	info->direct_io = 1;
	if (!open_descriptor(request, inode, info)) {
		fuse_reply_err(request, ENOMEM);
		return;
	}
	fuse_reply_open(request, info);
}

static struct perf_event *event_of(const struct fuse_file_info *info)
{
	return (struct perf_event *)(uintptr_t)info->fh;
}

static struct register_file_result *result_of(const struct fuse_file_info *info)
{
	return (struct register_file_result *)(uintptr_t)info->fh;
}

static struct device_watch *watch_of(const struct fuse_file_info *info)
{
	return (struct device_watch *)(uintptr_t)info->fh;
}

static void serve_release(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *info)
{
	if (node_of(request, inode)->kind == DEVICE_PERF)
		perf_descriptor_free(contents_of(request)->perf, event_of(info));
	else if (node_of(request, inode)->kind == DEVICE_RUN)
		free(result_of(info));
	else if (node_of(request, inode)->kind == DEVICE_WATCH)
		device_watch_free(watch_of(info));
	fuse_reply_err(request, 0);
}

static void read_text(fuse_req_t request, const struct device_node *node, size_t size, off_t offset)
{
	size_t from = (size_t)offset < node->length ? (size_t)offset : node->length;
	size_t left = node->length - from;

	fuse_reply_buf(request, node->text + from, size < left ? size : left);
}

static void reply_read(fuse_req_t request, const char *buffer, ssize_t bytes)
{
	if (bytes < 0)
		fuse_reply_err(request, (int)-bytes);
	else
		fuse_reply_buf(request, buffer, (size_t)bytes);
}

/* A copy: who has the answer may close the file, which frees the result. */
static void reply_result(fuse_req_t request, struct register_file_result result, size_t size)
{
	fuse_reply_buf(request, (const char *)&result,
		       size < sizeof(result) ? size : sizeof(result));
}

static void serve_read(fuse_req_t request, fuse_ino_t inode, size_t size, off_t offset,
		       struct fuse_file_info *info)
{
	const struct device_contents *contents = contents_of(request);
	const struct device_node *node = node_of(request, inode);
	char buffer[ACCESS_BYTES];

	if (size > sizeof(buffer) && node->kind != DEVICE_TEXT)
		size = sizeof(buffer);
	switch (node->kind) {
	case DEVICE_TEXT:
		read_text(request, node, size, offset);
		break;
	case DEVICE_MSR:
		reply_read(request, buffer,
			   device_msr_read(contents->access, node->number, buffer, size, offset));
		break;
	case DEVICE_CPUID:
		reply_read(request, buffer,
			   cpuid_read(emul_desc(contents->access->emul), node->number, buffer, size,
				      offset));
		break;
	case DEVICE_CONFIG:
		reply_read(request, buffer,
			   device_pci_read(contents->access,
					   &contents->functions->all[node->number], buffer, size,
					   offset));
		break;
	case DEVICE_PERF:
		reply_read(
		    request, buffer,
		    perf_descriptor_read(contents->perf, event_of(info), buffer, size, offset));
		break;
	case DEVICE_REGISTERS:
		reply_read(
		    request, buffer,
		    register_file_read(contents->access, node->number, buffer, size, offset));
		break;
	case DEVICE_RUN:
		reply_result(request, *result_of(info), size);
		break;
	case DEVICE_WATCH:
		reply_read(request, buffer, device_watch_read(watch_of(info), buffer, size));
		break;
	default:
		fuse_reply_err(request, EISDIR);
	}
}

static void serve_write(fuse_req_t request, fuse_ino_t inode, const char *buffer, size_t size,
			off_t offset, struct fuse_file_info *info)
{
	const struct device_contents *contents = contents_of(request);
	const struct device_node *node = node_of(request, inode);
	ssize_t bytes = -EACCES;

	if (node->kind == DEVICE_MSR)
		bytes = device_msr_write(contents->access, node->number, buffer, size, offset);
	else if (node->kind == DEVICE_CONFIG)
		bytes = device_pci_write(contents->access, &contents->functions->all[node->number],
					 buffer, size, offset);
	else if (node->kind == DEVICE_PERF)
		bytes = perf_descriptor_request(contents->perf, event_of(info), buffer, size);
	else if (node->kind == DEVICE_REGISTERS)
		bytes = register_file_write(contents->access, node->number, buffer, size, offset);
	else if (node->kind == DEVICE_RUN)
		bytes = device_runs_run(contents->access->runs, fuse_req_ctx(request)->pid, buffer,
					size, result_of(info));
	else if (node->kind == DEVICE_WATCH)
		bytes =
		    device_watch_write(watch_of(info), fuse_req_ctx(request)->pid, buffer, size);
	if (bytes < 0)
		fuse_reply_err(request, (int)-bytes);
	else
		fuse_reply_write(request, (size_t)bytes);
}

static void serve_poll(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *info,
		       struct fuse_pollhandle *handle)
{
	unsigned ready = POLLIN | POLLRDNORM | POLLOUT | POLLWRNORM;

	if (node_of(request, inode)->kind == DEVICE_WATCH) {
		if (!device_watch_poll(watch_of(info), handle))
			ready = POLLOUT | POLLWRNORM;
	} else if (handle) {
		fuse_pollhandle_destroy(handle);
	}
	fuse_reply_poll(request, ready);
}

/* An entry's position is its node: reading goes on behind it. lseek() sets any position. */
static uint32_t entry_behind(const struct device_tree *tree, uint32_t folder, off_t position)
{
	if (position == 0)
		return tree->nodes[folder].first_child;
	return (uint64_t)position < tree->count ? tree->nodes[position].next : DEVICE_NONE;
}

static void serve_readdir(fuse_req_t request, fuse_ino_t inode, size_t size, off_t position,
			  struct fuse_file_info *info)
{
	const struct device_tree *tree = contents_of(request)->tree;
	uint32_t child = entry_behind(tree, index_of(inode), position);
	char buffer[ACCESS_BYTES];
	size_t used = 0;

	(void)info;
	if (size > sizeof(buffer))
		size = sizeof(buffer);
	for (; child != DEVICE_NONE; child = tree->nodes[child].next) {
		struct stat status;
		size_t length;

		fill_status(&tree->nodes[child], child, &status);
		length = fuse_add_direntry(request, buffer + used, size - used,
					   tree->nodes[child].name, &status, (off_t)child);
		if (length > size - used)
			break;
		used += length;
	}
	fuse_reply_buf(request, buffer, used);
}

static const struct fuse_lowlevel_ops operations = {
    .lookup = serve_lookup,
    .getattr = serve_getattr,
    .setattr = serve_setattr,
    .readlink = serve_readlink,
    .open = serve_open,
    .release = serve_release,
    .read = serve_read,
    .write = serve_write,
    .poll = serve_poll,
    .readdir = serve_readdir,
};

/*
 * All that passes between the kernel and libfuse: libfuse ignores some errors, and says others to
 * standard error by itself. -1 with ENOENT: who asked was interrupted, and waits for no answer;
 * with ENODEV: the file system is gone.
 */
static ssize_t send_answer(int fd, struct iovec *parts, int count, void *argument)
{
	const struct device_files *files = argument;
	ssize_t length;

	do
		length = writev(fd, parts, count);
	while (length < 0 && errno == EINTR);
	if (length < 0 && errno != ENOENT)
		files->contents.broken();
	return length;
}

static ssize_t read_request(int fd, void *buffer, size_t size, void *argument)
{
	const struct device_files *files = argument;
	ssize_t length = read(fd, buffer, size);

	if (length < 0 && errno != EINTR && errno != EAGAIN && errno != ENOENT && errno != ENODEV)
		files->contents.broken();
	return length;
}

static const struct fuse_custom_io passage = {.writev = send_answer, .read = read_request};

/* Every failure is reported once, by who needed the file. */
static void ignore(enum fuse_log_level level, const char *format, va_list arguments)
{
	(void)level;
	(void)format;
	(void)arguments;
}

/* @return whether there may be a request; false: the threads end */
static bool wait_for_request(const struct device_files *files)
{
	struct epoll_event event;

	while (epoll_wait(files->waiting, &event, 1, -1) < 0)
		if (errno != EINTR)
			return false;
	return event.data.fd != files->end;
}

/*
 * A thread that is cancelled needs libgcc_s, which may not be there to be loaded: a descriptor that
 * becomes readable ends them instead. Another thread may have taken the request.
 */
static void *work(void *argument)
{
	struct worker *worker = argument;
	struct fuse_session *session = worker->files->session;

	while (wait_for_request(worker->files) && !fuse_session_exited(session)) {
		int bytes = fuse_session_receive_buf(session, &worker->buffer);

		if (bytes == -EINTR || bytes == -EAGAIN)
			continue;
		if (bytes < 0)
			worker->files->contents.broken();
		if (bytes <= 0)
			break;
		fuse_session_process_buf(session, &worker->buffer);
	}
	return NULL;
}

/* Signals are for the thread that waits for the tool. */
static int start_worker(struct device_files *files, struct worker *worker)
{
	sigset_t all, before;
	int error;

	worker->files = files;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&worker->thread, NULL, work, worker);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	worker->runs = !error;
	return error;
}

static int wait_on(const struct device_files *files, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	return epoll_ctl(files->waiting, EPOLL_CTL_ADD, fd, &event);
}

/* Requests are waited for with the end, never in a read. */
static int set_up_waiting(struct device_files *files, int fuse)
{
	files->end = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	files->waiting = epoll_create1(EPOLL_CLOEXEC);
	if (files->end < 0 || files->waiting < 0 || wait_on(files, files->end) ||
	    wait_on(files, fuse) || fcntl(fuse, F_SETFL, O_RDWR | O_NONBLOCK))
		return -1;
	return 0;
}

int device_files_new(struct device_files **out, struct pmu_ctx *ctx,
		     const struct device_contents *contents, int fuse)
{
	char name[] = "pmulab";
	char *argv[] = {name, NULL};
	struct fuse_args arguments = FUSE_ARGS_INIT(1, argv);
	struct device_files *files = calloc(1, sizeof(*files));

	if (!files) {
		close(fuse);
		return error_set(ctx, PMU_E_NOMEM, "out of memory for device files");
	}
	fuse_set_log_func(ignore);
	files->contents = *contents;
	files->end = files->waiting = -1;
	files->session = fuse_session_new(&arguments, &operations, sizeof(operations), files);
	fuse_opt_free_args(&arguments);
	if (!files->session || fuse_session_custom_io(files->session, &passage, fuse)) {
		close(fuse);
		device_files_free(files);
		return error_set(ctx, PMU_E_IO, "libfuse refuses to serve device files");
	}
	if (set_up_waiting(files, fuse)) {
		int error = error_set(ctx, PMU_E_IO, "cannot wait for requests of device files: %s",
				      strerror(errno));

		device_files_free(files);
		return error;
	}
	for (unsigned i = 0; i < WORKERS; i++)
		if (start_worker(files, &files->workers[i])) {
			device_files_free(files);
			return error_set(ctx, PMU_E_NOMEM, "no threads for device files");
		}
	*out = files;
	return 0;
}

void device_files_free(struct device_files *files)
{
	if (!files)
		return;
	if (files->session)
		fuse_session_exit(files->session);
	if (files->end >= 0)
		eventfd_write(files->end, 1);
	for (unsigned i = 0; i < WORKERS; i++) {
		if (files->workers[i].runs)
			pthread_join(files->workers[i].thread, NULL);
		free(files->workers[i].buffer.mem);
	}
	if (files->session)
		fuse_session_destroy(files->session);
	if (files->waiting >= 0)
		close(files->waiting);
	if (files->end >= 0)
		close(files->end);
	free(files);
}
