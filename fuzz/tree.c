/*
 * A computer whose files hold anything: /proc/cpuinfo, PCI functions and their names, MSRs, as the
 * input spoils those of a working one. Discovery and a measurement end in a result or a message.
 */
#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pmulab/session.h"

#define MSR_BYTES    (8 * 0x1000) /* in a plain file, register n is at byte 8 n */
#define CONFIG_BYTES 4096
#define DEVICES	     "sys/bus/pci/devices"

/* 334291-001 tables 1-2 and 1-3, section 1.6: the UBox, CAPIDs, a home agent, a memory channel. */
static const struct function {
	const char *name;
	uint32_t id;
	struct {
		uint16_t offset;
		uint32_t value;
	} set[2];
} functions[] = {
    {"0000:7f:10.5", 0x6f1e8086, {{0x40, 0}, {0x54, 0xfffff8}}},
    {"0000:7f:1e.3", 0x6fc08086, {{0x94, 0x40}, {0x98, 0xf}}},
    {"0000:7f:12.1", 0x6f308086, {{0}, {0}}},
    {"0000:7f:14.0", 0x6fb48086, {{0}, {0}}},
};
#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

static const char cpuinfo[] = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
			      "model\t\t: 79\nmodel name\t: E5\nstepping\t: 1\n"
			      "physical id\t: 0\ncore id\t\t: 0\n\n";

struct input {
	const uint8_t *data;
	size_t size, at;
};

static uint8_t next(struct input *input)
{
	return input->at < input->size ? input->data[input->at++] : 0;
}

static uint32_t next_number(struct input *input, unsigned bytes)
{
	uint32_t number = 0;

	while (bytes--)
		number = number << 8 | next(input);
	return number;
}

static void write_file(int root, const char *path, const void *bytes, size_t size, off_t whole)
{
	int fd = openat(root, path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert(fd >= 0);
	assert(pwrite(fd, bytes, size, 0) == (ssize_t)size);
	assert(whole < (off_t)size || !ftruncate(fd, whole));
	close(fd);
}

static void write_function(int root, const struct function *function)
{
	uint8_t bytes[CONFIG_BYTES] = {0};
	char path[64];

	memcpy(bytes, &function->id, 4);
	for (unsigned i = 0; i < 2; i++)
		if (function->set[i].offset)
			memcpy(bytes + function->set[i].offset, &function->set[i].value, 4);
	snprintf(path, sizeof(path), DEVICES "/%s/config", function->name);
	write_file(root, path, bytes, sizeof(bytes), 0);
}

static void make_folders(int root)
{
	static const char *const folders[] = {"proc", "dev",	 "dev/cpu",	"dev/cpu/0",
					      "sys",  "sys/bus", "sys/bus/pci", DEVICES};
	char path[64];

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		mkdirat(root, folders[i], 0755);
	for (size_t i = 0; i < FUNCTIONS; i++) {
		snprintf(path, sizeof(path), DEVICES "/%s", functions[i].name);
		mkdirat(root, path, 0755);
	}
}

static void make_files(int root)
{
	write_file(root, "proc/cpuinfo", cpuinfo, sizeof(cpuinfo) - 1, 0);
	write_file(root, "dev/cpu/0/msr", "", 0, MSR_BYTES);
	for (size_t i = 0; i < FUNCTIONS; i++)
		write_function(root, &functions[i]);
}

/* @return -1 where an earlier step has spoilt its name */
static int open_any(int root, struct input *input)
{
	size_t which = next(input) % (FUNCTIONS + 2);
	char path[64] = "proc/cpuinfo";

	if (which == FUNCTIONS)
		snprintf(path, sizeof(path), "dev/cpu/0/msr");
	else if (which < FUNCTIONS)
		snprintf(path, sizeof(path), DEVICES "/%s/config", functions[which].name);
	return openat(root, path, O_RDWR | O_CLOEXEC);
}

/* A function more, by a name of any bytes; empty folders are taken away again. */
static void add_function(int root, struct input *input, char name[32])
{
	char path[64];
	unsigned length = 1 + next(input) % 30;

	for (unsigned i = 0; i < length; i++) {
		name[i] = (char)next(input);
		if (!name[i] || name[i] == '/')
			name[i] = ':';
	}
	name[length] = '\0';
	if (name[0] == '.')
		name[0] = '0';
	snprintf(path, sizeof(path), DEVICES "/%s", name);
	if (mkdirat(root, path, 0755))
		name[0] = '\0';
}

static void remove_function(int root, const char *name)
{
	char path[64];

	if (!*name)
		return;
	snprintf(path, sizeof(path), DEVICES "/%s", name);
	unlinkat(root, path, AT_REMOVEDIR);
}

static void spoil(int root, struct input *input)
{
	uint8_t kind = next(input) % 8;
	int fd = open_any(root, input);
	uint32_t value;

	if (fd < 0)
		return;
	if (kind == 0) {
		assert(!ftruncate(fd, (off_t)next_number(input, 2)));
	} else if (kind == 1) {
		/* The rest is the file, as it is. */
		size_t left = input->size - input->at;

		assert(!ftruncate(fd, 0));
		assert(pwrite(fd, input->data + input->at, left, 0) == (ssize_t)left);
		input->at = input->size;
	} else {
		off_t offset = (off_t)next_number(input, 2) % MSR_BYTES;

		value = next_number(input, 4);
		assert(pwrite(fd, &value, 4, offset) == 4);
	}
	close(fd);
}

static void measure(struct pmu_ctx *ctx, struct pmu_bus *bus)
{
	static const char *const events[] = {"cbo0.LLC_VICTIMS.M_STATE", "ha.CLOCKTICKS",
					     "imc.CAS_COUNT.RD"};
	const struct pmu_count *counts;
	struct pmu_session *session;
	size_t count;
	int error = pmu_session_new(&session, ctx, bus);

	if (error) {
		assert(*pmu_message(ctx));
		return;
	}
	for (unsigned i = 0; i < 3; i++) {
		struct pmu_selection selection;

		if (!pmu_event_parse(ctx, pmu_bus_pmu(bus), events[i], &selection))
			pmu_session_add(session, ctx, &selection);
	}
	error = pmu_session_start(session, ctx);
	if (!error)
		error = pmu_session_stop(session, ctx);
	if (!error)
		error = pmu_session_read(session, ctx, &counts, &count);
	assert(!error || *pmu_message(ctx));
	error = pmu_session_end(session, ctx);
	assert(!error || *pmu_message(ctx));
	pmu_session_free(session);
}

static char root_path[] = "/dev/shm/pmulab-fuzz-XXXXXX";

static void remove_tree(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", root_path);
	if (system(command))
		fprintf(stderr, "%s is left\n", root_path);
}

static int open_root(void)
{
	int root = mkdtemp(root_path) ? open(root_path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

	assert(root >= 0);
	atexit(remove_tree);
	make_folders(root);
	return root;
}

/* Where a name is no function's, libpci ends by a call of ours, with its folder open for good. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libpci\nleak:__alloc_dir\n";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int root = -1;
	static struct pmu_ctx *ctx;
	const struct pmu_host_options options = {.size = sizeof(options), .root = root_path};
	struct input input = {data, size, 0};
	struct pmu_bus *bus;
	char name[32] = "";

	if (root < 0)
		root = open_root();
	if (!ctx && pmu_ctx_new(&ctx))
		return 0;
	make_files(root);
	if (next(&input) & 1)
		add_function(root, &input, name);
	while (input.at < input.size)
		spoil(root, &input);
	if (pmu_bus_host(&bus, ctx, &options)) {
		assert(*pmu_message(ctx));
	} else {
		measure(ctx, bus);
		pmu_bus_free(bus);
	}
	remove_function(root, name);
	return 0;
}
