/* Register files as a tool has them. */
#include "pmulab/registers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "device/register_file.h"

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

void pmu_registers_close(struct pmu_registers *registers)
{
	if (!registers)
		return;
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

static int ask(struct pmu_ctx *ctx, const char *request, size_t size, int *exit)
{
	struct register_file_result result = {0};
	int file = open("/" REGISTER_FILE_RUN, O_RDWR | O_CLOEXEC), error = 0;

	if (file < 0)
		return error_set(ctx, PMU_E_UNKNOWN, "cannot open /" REGISTER_FILE_RUN ": %s",
				 strerror(errno));
	if (write(file, request, size) != (ssize_t)size)
		error = error_set(ctx, errno == EBUSY ? PMU_E_BUSY : PMU_E_IO,
				  "cannot run a program on the machine: %s", strerror(errno));
	else if (pread(file, &result, sizeof(result), 0) != sizeof(result))
		error = error_set(ctx, PMU_E_IO, "the machine has ended");
	close(file);
	if (!error && result.error)
		error = error_set(ctx, result.error, "%.*s", (int)sizeof(result.message),
				  result.message);
	if (!error && exit)
		*exit = result.exit;
	return error;
}

int pmu_registers_run(struct pmu_registers *registers, struct pmu_ctx *ctx, char *const *argv,
		      int *exit)
{
	char *request = malloc(REGISTER_FILE_REQUEST_MAX), *next;
	struct register_file_request head;
	int error;

	(void)registers;
	if (!request)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for a program's arguments");
	next = put_words(request + sizeof(head), request + REGISTER_FILE_REQUEST_MAX, argv,
			 &head.arguments);
	if (next)
		next =
		    put_words(next, request + REGISTER_FILE_REQUEST_MAX, environ, &head.settings);
	memcpy(request, &head, sizeof(head));
	error = next ? ask(ctx, request, (size_t)(next - request), exit)
		     : error_set(ctx, PMU_E_RANGE, "arguments and environment take more than %u KB",
				 REGISTER_FILE_REQUEST_MAX >> 10);
	free(request);
	return error;
}
