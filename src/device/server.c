#include "device/server.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "device/channel.h"
#include "device/namespace.h"
#include "device/serving.h"

struct device_server {
	struct emul *emul;
	struct emul_epic *epic; /* one with IA-64 cores, in its stead; else NULL */
	int end;		/* of the channel to the serving process */
	int namespace;		/* the one that this process is in; -1: none yet */
	pid_t pid;		/* of the serving process; 0: none */
};

static int died(struct device_server *server, struct pmu_ctx *ctx)
{
	int status = 0;

	/* It may only be the channel that has failed: it sees that nobody is there, and ends. */
	close(server->end);
	server->end = -1;
	if (waitpid(server->pid, &status, 0) == server->pid)
		server->pid = 0;
	if (WIFSIGNALED(status))
		return error_set(ctx, PMU_E_IO,
				 "the process that serves the machine's files was ended by signal "
				 "%d; its findings are lost",
				 WTERMSIG(status));
	return error_set(ctx, PMU_E_IO, "the process that serves the machine's files has ended");
}

/* @fd goes along; -1: none. @value is sent, and what is answered received. */
static int ask(struct device_server *server, struct pmu_ctx *ctx, int kind, int fd,
	       struct channel_message *message)
{
	int nothing;

	message->kind = kind;
	if (channel_send(server->end, message, fd) ||
	    channel_receive(server->end, message, &nothing))
		return died(server, ctx);
	return 0;
}

static int ask_to(struct device_server *server, struct pmu_ctx *ctx, int kind, int fd)
{
	struct channel_message message = {0};
	int error = ask(server, ctx, kind, fd, &message);

	if (error)
		return error;
	return message.value ? error_set(ctx, message.value, "%s", message.text) : 0;
}

/* Signals are for the process that waits for the tool. */
static int start(struct device_server *server, struct pmu_ctx *ctx,
		 const struct device_options *options, int fuse)
{
	sigset_t all, before;
	int ends[2];
	int error = channel_new(ends, ctx);

	if (error)
		return error;
	fflush(NULL);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	server->pid = fork();
	if (server->pid == 0) {
		close(ends[0]);
		serving_run(server->emul, server->epic, options, ends[1], fuse);
	}
	error = errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(ends[1]);
	if (server->pid > 0) {
		server->end = ends[0];
		return 0;
	}
	close(ends[0]);
	server->pid = 0;
	return error_set(ctx, PMU_E_NOMEM, "no process to serve device files: %s", strerror(error));
}

/* Without a /dev/fuse of its own from the first walk over the files on. */
static int enter(struct device_server *server, struct pmu_ctx *ctx, int fuse)
{
	int error = namespace_enter(ctx, fuse);

	close(fuse);
	if (!error)
		error = ask_to(server, ctx, SERVING_MOUNTED, -1);
	if (!error)
		error = server->epic ? namespace_show_registers(ctx) : namespace_show(ctx);
	if (error)
		return error;
	server->namespace = namespace_open(ctx);
	if (server->namespace < 0)
		return server->namespace;
	return ask_to(server, ctx, SERVING_SHOWN, server->namespace);
}

int device_server_new(struct device_server **out, struct pmu_ctx *ctx,
		      const struct device_options *options)
{
	struct device_server *server = calloc(1, sizeof(*server));
	int fuse, error;

	if (!server)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for device files");
	server->end = server->namespace = -1;
	error = options->machine->core ? emul_epic_new(&server->epic, ctx, options->machine)
				       : emul_new(&server->emul, ctx, options->machine);
	if (error)
		goto fail;
	fuse = error = namespace_open_fuse(ctx);
	if (fuse < 0)
		goto fail;
	error = start(server, ctx, options, fuse);
	if (error) {
		close(fuse);
		goto fail;
	}
	error = enter(server, ctx, fuse);
	if (error)
		goto fail;
	*out = server;
	return 0;
fail:
	device_server_free(server);
	return error;
}

int device_server_watch(const struct device_server *server)
{
	return server->end;
}

int device_server_finish(struct device_server *server, struct pmu_ctx *ctx, int result, int *out)
{
	struct channel_message message = {.value = result};
	int error = ask(server, ctx, SERVING_FINISH, -1, &message);

	if (!error)
		*out = message.value;
	return error;
}

void device_server_free(struct device_server *server)
{
	if (!server)
		return;
	/* Where it was not reported to finish, it sees that nobody is there, and ends the rest. */
	if (server->end >= 0)
		close(server->end);
	while (server->pid && waitpid(server->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	namespace_kill(server->namespace);
	if (server->namespace >= 0)
		close(server->namespace);
	emul_free(server->emul);
	emul_epic_free(server->epic);
	free(server);
}

struct emul *device_server_emul(struct device_server *server)
{
	return server->emul;
}
