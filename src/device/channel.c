#include "device/channel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/error.h"

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

int channel_new(int ends[2], struct pmu_ctx *ctx)
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return error_set(ctx, PMU_E_IO, "cannot make a socket: %s", strerror(errno));
	return 0;
}

int channel_send(int end, const struct channel_message *message, int fd)
{
	struct iovec data = {(void *)message, sizeof(*message)};
	union control control = {0};
	struct msghdr header = {.msg_iov = &data, .msg_iovlen = 1};
	ssize_t length;

	if (fd >= 0) {
		header.msg_control = control.bytes;
		header.msg_controllen = sizeof(control.bytes);
		control.header = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
						  .cmsg_type = SCM_RIGHTS,
						  .cmsg_len = CMSG_LEN(sizeof(int))};
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	do
		length = sendmsg(end, &header, MSG_NOSIGNAL);
	while (length < 0 && errno == EINTR);
	return length == sizeof(*message) ? 0 : -1;
}

int channel_receive(int end, struct channel_message *message, int *fd)
{
	struct iovec data = {message, sizeof(*message)};
	union control control = {0};
	struct msghdr header = {
	    .msg_iov = &data,
	    .msg_iovlen = 1,
	    .msg_control = control.bytes,
	    .msg_controllen = sizeof(control.bytes),
	};
	ssize_t length;

	do
		length = recvmsg(end, &header, MSG_CMSG_CLOEXEC);
	while (length < 0 && errno == EINTR);
	*fd = -1;
	if (length > 0 && header.msg_controllen >= CMSG_LEN(sizeof(int)) &&
	    control.header.cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(&control.header), sizeof(*fd));
	if (length == sizeof(*message))
		return 0;
	return -1;
}
