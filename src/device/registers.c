/* Register files as a tool has them. */
#include "pmulab/registers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/option.h"
#include "device/run_file.h"

static const struct {
	enum pmu_space space;
	const char *name;
} files[] = {
    {PMU_SPACE_PMC, "pmc"}, {PMU_SPACE_PMD, "pmd"},  {PMU_SPACE_IBR, "ibr"},
    {PMU_SPACE_DBR, "dbr"}, {PMU_SPACE_MMIO, "csr"},
};
#define REGISTER_BYTES 8
#define FILES	       (sizeof(files) / sizeof(files[0]))

struct pmu_registers {
	unsigned cpu;
	int files[FILES];
	int watch;	 /* the descriptor of a program that was started; -1: none */
	uint64_t number; /* of the overflow at which it stands still; 0: it does not */
};

static int open_file(struct pmu_registers *registers, struct pmu_ctx *ctx, size_t file)
{
	char path[64];

	snprintf(path, sizeof(path), "/dev/cpu/%u/%s", registers->cpu, files[file].name);
	registers->files[file] = open(path, O_RDWR | O_CLOEXEC);
	if (registers->files[file] >= 0)
		return 0;
	if (errno == EACCES || errno == EPERM)
		return error_set(ctx, PMU_E_RIGHTS, "cannot open %s: %s", path, strerror(errno));
	return error_set(ctx, PMU_E_UNKNOWN,
			 "cannot open %s: %s; pmulab emulate shows it to what it runs, on a "
			 "machine with IA-64 cores",
			 path, strerror(errno));
}

int pmu_registers_open(struct pmu_registers **out, struct pmu_ctx *ctx, unsigned cpu)
{
	struct pmu_registers *registers = calloc(1, sizeof(*registers));
	int error = 0;

	if (!registers)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for registers");
	registers->cpu = cpu;
	registers->watch = -1;
	for (size_t f = 0; f < FILES; f++)
		registers->files[f] = -1;
	for (size_t f = 0; f < FILES && !error; f++)
		error = open_file(registers, ctx, f);
	if (error)
		pmu_registers_close(registers);
	else
		*out = registers;
	return error;
}

static void end_watch(struct pmu_registers *registers)
{
	if (registers->watch >= 0)
		close(registers->watch);
	registers->watch = -1;
	registers->number = 0;
}

void pmu_registers_close(struct pmu_registers *registers)
{
	if (!registers)
		return;
	end_watch(registers);
	for (size_t f = 0; f < FILES; f++)
		if (registers->files[f] >= 0)
			close(registers->files[f]);
	free(registers);
}

/* @return the file, or -1 with *error */
static int file_of(const struct pmu_registers *registers, struct pmu_ctx *ctx, enum pmu_space space,
		   int *error)
{
	for (size_t f = 0; f < FILES; f++)
		if (files[f].space == space)
			return registers->files[f];
	*error = error_set(ctx, PMU_E_RANGE, "no register file of space %d", (int)space);
	return -1;
}

static int failed(struct pmu_ctx *ctx, enum pmu_space space, uint32_t number)
{
	const int error = errno == EBUSY ? PMU_E_BUSY : errno == EIO ? PMU_E_UNKNOWN : PMU_E_IO;

	if (error == PMU_E_BUSY)
		return error_set(ctx, error, "a program runs on the machine");
	return error_set(ctx, error, "register %s 0x%X: %s", pmu_space_name(space), number,
			 strerror(errno));
}

int pmu_registers_read(struct pmu_registers *registers, struct pmu_ctx *ctx, enum pmu_space space,
		       uint32_t number, uint64_t *value)
{
	int error = 0, file = file_of(registers, ctx, space, &error);

	*value = 0;
	if (error)
		return error;
	return pread(file, value, REGISTER_BYTES, number) == REGISTER_BYTES
		   ? 0
		   : failed(ctx, space, number);
}

int pmu_registers_write(struct pmu_registers *registers, struct pmu_ctx *ctx, enum pmu_space space,
			uint32_t number, uint64_t value)
{
	int error = 0, file = file_of(registers, ctx, space, &error);

	if (error)
		return error;
	return pwrite(file, &value, REGISTER_BYTES, number) == REGISTER_BYTES
		   ? 0
		   : failed(ctx, space, number);
}

/* Copies words with their ends. @return where the next goes; NULL: no room */
static char *put_words(char *next, const char *end, char *const *words, uint32_t *count)
{
	for (*count = 0; next && words[*count]; ++*count) {
		size_t length = strlen(words[*count]) + 1;

		if (length > (size_t)(end - next))
			return NULL;
		memcpy(next, words[*count], length);
		next += length;
	}
	return next;
}

/* Sends a request to a file that runs programs. @return its descriptor, the caller's, or an error
 */
static int send_request(struct pmu_ctx *ctx, const char *path, char *const *argv)
{
	char *request = malloc(REGISTER_FILE_REQUEST_MAX), *next;
	struct register_file_request head;
	const char *end;
	int file;

	if (!request)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for a program's arguments");
	end = request + REGISTER_FILE_REQUEST_MAX;
	next = put_words(request + sizeof(head), end, argv, &head.arguments);
	if (next)
		next = put_words(next, end, environ, &head.settings);
	memcpy(request, &head, sizeof(head));
	file = next ? open(path, O_RDWR | O_CLOEXEC)
		    : error_set(ctx, PMU_E_RANGE, "arguments and environment take more than %u KB",
				REGISTER_FILE_REQUEST_MAX >> 10);
	if (file == -1 && next) {
		file = error_set(ctx, PMU_E_UNKNOWN, "cannot open %s: %s", path, strerror(errno));
	} else if (file >= 0 && write(file, request, (size_t)(next - request)) != next - request) {
		int error = error_set(ctx, errno == EBUSY ? PMU_E_BUSY : PMU_E_IO,
				      "cannot run a program on the machine: %s", strerror(errno));

		close(file);
		file = error;
	}
	free(request);
	return file;
}

static int ended(struct pmu_ctx *ctx, const struct register_file_result *result, int *exit)
{
	if (result->error)
		return error_set(ctx, result->error, "%.*s", (int)sizeof(result->message),
				 result->message);
	if (exit)
		*exit = result->exit;
	return 0;
}

int pmu_registers_run(struct pmu_registers *registers, struct pmu_ctx *ctx, char *const *argv,
		      int *exit)
{
	struct register_file_result result;
	int file = send_request(ctx, "/" REGISTER_FILE_RUN, argv), error;

	(void)registers;
	if (file < 0)
		return file;
	if (pread(file, &result, sizeof(result), 0) == sizeof(result))
		error = ended(ctx, &result, exit);
	else
		error = error_set(ctx, PMU_E_IO, "the machine has ended");
	close(file);
	return error;
}

/* -- Programs that are watched ----------------------------------------------------------------- */

int pmu_registers_start(struct pmu_registers *registers, struct pmu_ctx *ctx, char *const *argv)
{
	int file = registers->watch < 0 ? send_request(ctx, "/" REGISTER_FILE_WATCH, argv)
					: error_set(ctx, PMU_E_BUSY, "a program runs already");

	if (file < 0)
		return file;
	registers->watch = file;
	registers->number = 0;
	return 0;
}

int pmu_registers_descriptor(const struct pmu_registers *registers)
{
	return registers->watch >= 0 ? registers->watch : PMU_E_STATE;
}

static int receive(const struct pmu_registers *registers, struct pmu_ctx *ctx,
		   struct register_file_message *message)
{
	struct pollfd wait = {.fd = registers->watch, .events = POLLIN};
	ssize_t bytes;

	do {
		poll(&wait, 1, -1);
		bytes = read(registers->watch, message, sizeof(*message));
	} while (bytes < 0 && (errno == EAGAIN || errno == EINTR));
	return bytes == sizeof(*message)
		   ? 0
		   : error_set(ctx, PMU_E_IO, "the machine has ended: %s", strerror(errno));
}

int pmu_registers_wait(struct pmu_registers *registers, struct pmu_ctx *ctx,
		       struct pmu_registers_message *message)
{
	struct pmu_registers_message own = {.size = sizeof(own)};
	struct register_file_message received;
	int error;

	if (registers->watch < 0 || registers->number)
		return error_set(ctx, PMU_E_STATE, "%s",
				 registers->number ? "the program stands still"
						   : "no program was started");
	error = receive(registers, ctx, &received);
	if (error)
		return error;
	if (received.number) {
		registers->number = received.number;
		own.kind = PMU_REGISTERS_OVERFLOWED;
		own.cpu = received.cpu;
		own.thread = received.thread;
		own.overflowed = received.overflowed;
		own.ip = received.ip;
		own.time_ns = received.time_ns;
	} else {
		end_watch(registers);
		error = ended(ctx, &received.result, &own.exit);
	}
	return error ? error : option_give(message, &own, sizeof(own));
}

int pmu_registers_resume(struct pmu_registers *registers, struct pmu_ctx *ctx)
{
	const uint64_t number = registers->number;

	if (!number)
		return error_set(ctx, PMU_E_STATE, "no program stands still");
	registers->number = 0;
	return write(registers->watch, &number, sizeof(number)) == sizeof(number)
		   ? 0
		   : error_set(ctx, PMU_E_IO, "cannot let the program go on: %s", strerror(errno));
}
