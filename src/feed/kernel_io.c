#include "feed/kernel_io.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "feed/memory.h"
#include "machine/copy.h"

#define PIPE_PAGES  16	  /* that Linux gives a pipe */
#define NULL_DEVICE 0x103 /* /dev/null: major 1, minor 3 */

enum form { BUFFER, VECTOR, MESSAGE };

/* A system call that copies; its first argument is the descriptor. */
static const struct io_call {
	int16_t number; /* those of x86-64, this computer's too */
	bool reads;
	uint8_t form;	/* of its second argument */
	uint8_t offset; /* argument: where in the file; 0: where the descriptor stands */
} io_calls[] = {
    {0 /* read */, true, BUFFER, 0},	   {1 /* write */, false, BUFFER, 0},
    {17 /* pread64 */, true, BUFFER, 3},   {18 /* pwrite64 */, false, BUFFER, 3},
    {19 /* readv */, true, VECTOR, 0},	   {20 /* writev */, false, VECTOR, 0},
    {44 /* sendto */, false, BUFFER, 0},   {45 /* recvfrom */, true, BUFFER, 0},
    {46 /* sendmsg */, false, MESSAGE, 0}, {47 /* recvmsg */, true, MESSAGE, 0},
    {295 /* preadv */, true, VECTOR, 3},   {296 /* pwritev */, false, VECTOR, 3},
    {327 /* preadv2 */, true, VECTOR, 3},  {328 /* pwritev2 */, false, VECTOR, 3},
};

struct guest_vector {
	uint64_t address, bytes;
};

/* The begin of what sendmsg() and recvmsg() take. */
struct guest_message {
	uint64_t name, name_bytes, vectors, count;
};

static const struct io_call *find_call(int64_t number)
{
	for (size_t i = 0; i < sizeof(io_calls) / sizeof(io_calls[0]); i++)
		if (io_calls[i].number == number)
			return &io_calls[i];
	return NULL;
}

void feed_kernel_io_syscall(const struct feed_process *process, struct feed_thread *thread,
			    int64_t number, const uint64_t *arguments)
{
	if (machine_has_kernel_io(process->machine) && find_call(number))
		memcpy(thread->arguments, arguments, sizeof(thread->arguments));
}

uint64_t feed_file_number(uint64_t a, uint64_t b)
{
	return ((a ^ b * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd)) | 1;
}

/* Where in a pipe or socket the next bytes are: what this process has read or written there. */
static uint64_t advance(struct feed_process *process, uint64_t file, bool reads, uint64_t bytes)
{
	struct feed_stream *stream = &process->streams[(file >> 8) % FEED_STREAMS];
	uint64_t *position = &stream->positions[reads], offset;

	if (stream->file != file)
		*stream = (struct feed_stream){.file = file};
	offset = *position;
	*position += bytes;
	return offset;
}

/* Where a regular file was read or written. */
static uint64_t file_offset(const struct io_call *call, const uint64_t *arguments, int fd,
			    uint64_t bytes)
{
	long position;

	if (call->offset && arguments[call->offset] != UINT64_MAX)
		return arguments[call->offset];
	position = syscall(SYS_lseek, (long)fd, 0L, (long)SEEK_CUR);
	return position > (long)bytes ? (uint64_t)position - bytes : 0;
}

/* What of the copy the descriptor tells. @return whether anything is copied */
static bool describe(struct machine_copy *copy, struct feed_process *process,
		     const struct io_call *call, const uint64_t *arguments)
{
	const int fd = (int)arguments[0];
	struct stat status;

	copy->reads = call->reads;
	copy->pages = UINT64_MAX;
	if (syscall(SYS_fstat, (long)fd, &status))
		return false;
	copy->file = feed_file_number(status.st_dev, status.st_ino);
	switch (status.st_mode & S_IFMT) {
	case S_IFREG:
		if (syscall(SYS_fcntl, (long)fd, (long)F_GETFL, 0L) & O_DIRECT)
			return false;
		copy->offset = file_offset(call, arguments, fd, copy->bytes);
		return true;
	case S_IFIFO:
	case S_IFSOCK:
		copy->pages = PIPE_PAGES;
		copy->offset = advance(process, copy->file, call->reads, copy->bytes);
		return true;
	case S_IFCHR:
		copy->file = MACHINE_NO_FILE;
		return call->reads || status.st_rdev != NULL_DEVICE;
	default:
		return false;
	}
}

/* @param copy  what is still to be copied */
static void copy_piece(const struct feed_thread *thread, struct machine_copy *copy,
		       struct guest_vector piece)
{
	struct machine_copy part = *copy;

	part.address = piece.address;
	if (part.bytes > piece.bytes)
		part.bytes = piece.bytes;
	machine_copy(thread->core, &part);
	copy->bytes -= part.bytes;
	copy->offset += part.bytes;
}

static void copy_vectors(const struct feed_thread *thread, struct machine_copy *copy,
			 struct guest_vector vectors, uint64_t guest_base)
{
	for (uint64_t i = 0; i < vectors.bytes && copy->bytes; i++) {
		struct guest_vector piece;

		if (feed_memory_read(&piece, guest_base + vectors.address + i * sizeof(piece),
				     sizeof(piece)) != sizeof(piece))
			return;
		copy_piece(thread, copy, piece);
	}
}

void feed_kernel_io_return(struct feed_process *process, const struct feed_thread *thread,
			   int64_t number, int64_t result, uint64_t guest_base)
{
	const struct io_call *call = find_call(number);
	const uint64_t *arguments = thread->arguments;
	struct guest_vector data = {arguments[1], arguments[2]};
	struct machine_copy copy = {.bytes = (uint64_t)result};
	struct guest_message message;

	if (!call || result <= 0 || !thread->core || !machine_has_kernel_io(process->machine) ||
	    !describe(&copy, process, call, arguments))
		return;
	if (call->form == BUFFER) {
		copy_piece(thread, &copy, data);
		return;
	}
	if (call->form == MESSAGE) {
		if (feed_memory_read(&message, guest_base + arguments[1], sizeof(message)) !=
		    sizeof(message))
			return;
		data = (struct guest_vector){message.vectors, message.count};
	}
	copy_vectors(thread, &copy, data, guest_base);
}
