#include "base/pass.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(PASS_MAX * sizeof(int))];
};

int pass_send(int socket, const void *data, size_t bytes, const int *descriptors, unsigned count)
{
	struct iovec part = {(void *)data, bytes};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	union control control = {0};
	ssize_t length;

	assert(count <= PASS_MAX);
	if (count) {
		message.msg_control = control.bytes;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
		control.header = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
						  .cmsg_type = SCM_RIGHTS,
						  .cmsg_len = CMSG_LEN(count * sizeof(int))};
		memcpy(CMSG_DATA(&control.header), descriptors, count * sizeof(int));
	}
	do
		length = sendmsg(socket, &message, MSG_NOSIGNAL);
	while (length < 0 && errno == EINTR);
	return length == (ssize_t)bytes ? 0 : -1;
}

/* More than are wanted are not kept open. */
static void take(const union control *control, size_t length, int *descriptors, unsigned count)
{
	size_t come = 0;

	if (length >= CMSG_LEN(0) && control->header.cmsg_type == SCM_RIGHTS)
		come = (control->header.cmsg_len - CMSG_LEN(0)) / sizeof(int);
	for (size_t i = 0; i < come; i++) {
		int fd;

		memcpy(&fd, CMSG_DATA(&control->header) + i * sizeof(int), sizeof(fd));
		if (i < count)
			descriptors[i] = fd;
		else
			close(fd);
	}
}

int pass_receive(int socket, void *data, size_t bytes, int *descriptors, unsigned count)
{
	struct iovec part = {data, bytes};
	union control control = {0};
	struct msghdr message = {
	    .msg_iov = &part,
	    .msg_iovlen = 1,
	    .msg_control = control.bytes,
	    .msg_controllen = sizeof(control.bytes),
	};
	ssize_t length;

	for (unsigned i = 0; i < count; i++)
		descriptors[i] = -1;
	do
		length = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (length < 0 && errno == EINTR);
	if (length >= 0)
		errno = 0;
	else
		return -1;
	take(&control, message.msg_controllen, descriptors, count);
	return length == (ssize_t)bytes ? 0 : -1;
}
