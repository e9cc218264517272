#include "device/channel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/error.h"
#include "base/pass.h"

int channel_new(int ends[2], struct pmu_ctx *ctx)
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return error_set(ctx, PMU_E_IO, "cannot make a socket: %s", strerror(errno));
	return 0;
}

int channel_send(int end, const struct channel_message *message, int fd)
{
	return pass_send(end, message, sizeof(*message), &fd, fd >= 0);
}

int channel_receive(int end, struct channel_message *message, int *fd)
{
	return pass_receive(end, message, sizeof(*message), fd, 1);
}
