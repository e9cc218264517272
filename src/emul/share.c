#include "emul/share.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/name.h"
#include "base/pass.h"

#define PREFIX	       "pmulab/"
#define CONNECTED_MAX  256
#define HANDED	       2	/* descriptors */
#define ANSWER_SECONDS 5	/* then nobody answers: a machine does at once */
#define NAP_NS	       10000000 /* where nobody can be let in for now */

/* Names go to other people's terminals: printable ASCII, and nothing that divides lists of them. */
static bool is_name(const char *name, size_t most)
{
	size_t length = strlen(name);

	for (const char *c = name; *c; c++)
		if (*c <= ' ' || *c > '~' || *c == ',')
			return false;
	return length >= 1 && length <= most;
}

/* So that a terminal shows what others chose. @return length, as snprintf() has it */
static void put_name(char *text, size_t size, const char *name)
{
	size_t used = 0;

	*text = '\0';
	for (; *name && used < size; name++)
		used += (size_t)snprintf(text + used, size - used,
					 *name > ' ' && *name <= '~' ? "%c" : "\\x%02X",
					 (unsigned char)*name);
	if (used >= size)
		strcpy(text + size - sizeof("..."), "...");
}

static int address_of(struct sockaddr_un *address, socklen_t *length, struct pmu_ctx *ctx,
		      const char *name)
{
	size_t most = sizeof(address->sun_path) - sizeof(PREFIX);

	if (!is_name(name, most)) {
		char shown[128];

		put_name(shown, sizeof(shown), name);
		return error_set(ctx, PMU_E_RANGE,
				 "\"%s\": a machine's name has 1 to %zu characters of ASCII, no "
				 "blanks, commas and control characters",
				 shown, most);
	}
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	/* A first byte of 0: no file. */
	memcpy(address->sun_path + 1, PREFIX, strlen(PREFIX));
	memcpy(address->sun_path + 1 + strlen(PREFIX), name, strlen(name));
	*length =
	    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(PREFIX) + strlen(name));
	return 0;
}

struct emul_offer {
	int block, extra;
	int end;   /* an event: withdraw */
	int spare; /* a descriptor to be let go where there is no other; -1: it is used up */
	pthread_t thread;
	struct pollfd watched[2 + CONNECTED_MAX]; /* end, listener, connections */
	nfds_t count;
};

/*
 * The machine's locks know their owners by thread id: those of another PID namespace mean nothing
 * here. The kernel shows a process that this one cannot name as 0.
 */
static bool is_near(int connection, struct ucred *peer)
{
	socklen_t length = sizeof(*peer);

	return !getsockopt(connection, SOL_SOCKET, SO_PEERCRED, peer, &length) && peer->pid;
}

/* Either way: the name is free to all, and who joins runs among the owner's files. */
static bool is_trusted(int connection)
{
	struct ucred peer;

	return is_near(connection, &peer) && (peer.uid == 0 || peer.uid == geteuid());
}

static int send_descriptors(int connection, const int descriptors[HANDED])
{
	const char byte = HANDED;

	return pass_send(connection, &byte, 1, descriptors, HANDED);
}

static int accept_next(const struct emul_offer *offer)
{
	return accept4(offer->watched[1].fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
}

/*
 * Out of descriptors: who waits is let in to be turned away, else poll() would tell of him for ever
 * and he would wait for as long.
 */
static void turn_away(struct emul_offer *offer)
{
	int connection = -1;

	if (offer->spare >= 0) {
		close(offer->spare);
		connection = accept_next(offer);
	}
	if (connection >= 0)
		close(connection);
	else
		nap();
	offer->spare = fcntl(offer->end, F_DUPFD_CLOEXEC, 0);
}

/* Who is not allowed in, or too many, finds the connection closed. */
static void welcome(struct emul_offer *offer)
{
	const int descriptors[HANDED] = {offer->block, offer->extra};
	int connection = accept_next(offer);

	if (connection < 0 && errno != EAGAIN && errno != ECONNABORTED && errno != EINTR)
		turn_away(offer);
	if (connection < 0)
		return;
	if (offer->count == 2 + CONNECTED_MAX || !is_trusted(connection) ||
	    send_descriptors(connection, descriptors)) {
		close(connection);
		return;
	}
	offer->watched[offer->count++] = (struct pollfd){.fd = connection, .events = POLLIN};
}

/* Who joined says nothing: whatever comes is the end. */
static void drop_ended(struct emul_offer *offer)
{
	for (nfds_t i = offer->count; i-- > 2;) {
		if (!offer->watched[i].revents)
			continue;
		close(offer->watched[i].fd);
		offer->watched[i] = offer->watched[--offer->count];
	}
}

static void *serve(void *argument)
{
	struct emul_offer *offer = argument;

	while (!offer->watched[0].revents) {
		if (poll(offer->watched, offer->count, -1) < 0) {
			nap();
			continue;
		}
		drop_ended(offer);
		if (offer->watched[1].revents)
			welcome(offer);
	}
	return NULL;
}

static int listen_at(struct pmu_ctx *ctx, const char *name)
{
	struct sockaddr_un address;
	socklen_t length = 0;
	char names[256];
	int fd, error = address_of(&address, &length, ctx, name);

	if (error)
		return error;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return error_set(ctx, PMU_E_IO, "no socket: %s", strerror(errno));
	if (!bind(fd, (struct sockaddr *)&address, length) && !listen(fd, 16))
		return fd;
	if (errno == EADDRINUSE) {
		emul_names(names, sizeof(names));
		error = error_set(ctx, PMU_E_CONFLICT,
				  "a machine named \"%s\" exists already; taken: %s", name, names);
	} else {
		error = error_set(ctx, PMU_E_IO, "cannot offer the machine as \"%s\": %s", name,
				  strerror(errno));
	}
	close(fd);
	return error;
}

static int start(struct emul_offer *offer)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&offer->thread, NULL, serve, offer);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

int emul_offer(struct emul_offer **out, struct pmu_ctx *ctx, const char *name, int block, int extra)
{
	struct emul_offer *offer;
	int listener = listen_at(ctx, name);

	if (listener < 0)
		return listener;
	offer = calloc(1, sizeof(*offer));
	if (!offer)
		goto no_memory;
	offer->block = block;
	offer->extra = extra;
	offer->end = eventfd(0, EFD_CLOEXEC);
	offer->spare = fcntl(offer->end, F_DUPFD_CLOEXEC, 0);
	offer->watched[0] = (struct pollfd){.fd = offer->end, .events = POLLIN};
	offer->watched[1] = (struct pollfd){.fd = listener, .events = POLLIN};
	offer->count = 2;
	if (offer->end < 0 || start(offer))
		goto no_thread;
	*out = offer;
	return 0;
no_thread:
	if (offer->end >= 0)
		close(offer->end);
	if (offer->spare >= 0)
		close(offer->spare);
	free(offer);
no_memory:
	close(listener);
	return error_set(ctx, PMU_E_NOMEM, "out of memory to offer a machine by name");
}

void emul_withdraw(struct emul_offer *offer)
{
	if (!offer)
		return;
	eventfd_write(offer->end, 1);
	pthread_join(offer->thread, NULL);
	for (nfds_t i = 0; i < offer->count; i++)
		close(offer->watched[i].fd);
	if (offer->spare >= 0)
		close(offer->spare);
	free(offer);
}

/* @return 0, or -1 where the connection ended without them */
static int receive_descriptors(int connection, int descriptors[HANDED])
{
	char byte = 0;

	if (pass_receive(connection, &byte, 1, descriptors, HANDED))
		return -1;
	if (descriptors[HANDED - 1] >= 0)
		return 0;
	if (descriptors[0] >= 0)
		close(descriptors[0]);
	errno = 0;
	return -1;
}

/* Also a listener that is stopped, or that never answers, must not hold up who asks. */
static int open_asking(struct pmu_ctx *ctx)
{
	const struct timeval most = {.tv_sec = ANSWER_SECONDS};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return error_set(ctx, PMU_E_IO, "no socket: %s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most));
	return fd;
}

static int no_answer(struct pmu_ctx *ctx, const char *name)
{
	return error_set(ctx, PMU_E_IO,
			 "machine \"%s\" has not answered for %d s: the process that offers it is "
			 "stopped, or is not pmulab",
			 name, ANSWER_SECONDS);
}

static int not_connected(struct pmu_ctx *ctx, const char *name)
{
	char names[256];

	if (errno == EAGAIN)
		return no_answer(ctx, name);
	emul_names(names, sizeof(names));
	return error_set(ctx, PMU_E_UNKNOWN, "no machine is named \"%s\"; there are: %s", name,
			 names);
}

static int not_let_in(struct pmu_ctx *ctx, const char *name)
{
	return error_set(ctx, PMU_E_RIGHTS,
			 "machine \"%s\" is another user's, or lets nobody in but its own user and "
			 "root, of its own PID namespace, %d at a time",
			 name, CONNECTED_MAX);
}

int emul_join(struct emul_share *share, struct pmu_ctx *ctx, const char *name)
{
	struct sockaddr_un address;
	socklen_t length = 0;
	int descriptors[HANDED];
	int fd, error = address_of(&address, &length, ctx, name);

	if (error)
		return error;
	fd = open_asking(ctx);
	if (fd < 0)
		return fd;
	if (connect(fd, (struct sockaddr *)&address, length)) {
		error = not_connected(ctx, name);
	} else if (!is_trusted(fd)) {
		error = not_let_in(ctx, name);
	} else if (receive_descriptors(fd, descriptors)) {
		error = errno == EAGAIN ? no_answer(ctx, name) : not_let_in(ctx, name);
	}
	if (error) {
		close(fd);
		return error;
	}
	*share = (struct emul_share){descriptors[0], descriptors[1], fd};
	return 0;
}

void emul_part(struct emul_share *share)
{
	close(share->block);
	close(share->extra);
	close(share->connection);
}

/* The kernel lists sockets without a file with '@' in front of their name. */
void emul_names(char *text, size_t size)
{
	FILE *file = fopen("/proc/net/unix", "re");
	char line[256], shown[sizeof(line) * sizeof("\\x00")];

	*text = '\0';
	while (file && fgets(line, sizeof(line), file)) {
		const char *name = strstr(line, " @" PREFIX);
		unsigned flags;

		/* Only the socket that listens; connections have its name too. */
		if (!name || sscanf(line, "%*s %*s %*s %x", &flags) != 1 || !(flags & 0x10000))
			continue;
		line[strcspn(line, "\n")] = '\0';
		put_name(shown, sizeof(shown), name + strlen(" @" PREFIX));
		name_list_add(text, size, ", ", shown);
	}
	if (file)
		fclose(file);
	if (!*text)
		snprintf(text, size, "none");
}
