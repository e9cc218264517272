/*
 * Any text is a recording of register accesses or refused with a message. A line that is accepted
 * is the same when it is printed and read again; and a recording of a replay is what was replayed,
 * as far as the catalog allows its accesses.
 */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus/register_trace.h"

#define LINE_BYTES 512 /* more than any that is printed */

/* What @put prints of a header or a line. */
struct printed {
	char text[LINE_BYTES];
	FILE *file;
};

static void print_begin(struct printed *printed)
{
	memset(printed->text, 0, sizeof(printed->text));
	printed->file = fmemopen(printed->text, sizeof(printed->text), "w");
	assert(printed->file);
}

static void check_header(const char *text)
{
	struct register_trace_header header = {0}, again = {0};
	struct printed printed;

	if (register_trace_get_header(text, &header))
		return;
	print_begin(&printed);
	assert(!register_trace_put_header(printed.file, &header));
	fclose(printed.file);
	assert(!register_trace_get_header(printed.text, &again));
	assert(!strcmp(header.pmu, again.pmu) && header.sockets == again.sockets &&
	       header.emulated == again.emulated);
}

static void check_line(const char *text)
{
	struct register_trace_line line = {0}, again = {0};
	struct printed printed;

	if (register_trace_get_line(text, &line))
		return;
	print_begin(&printed);
	assert(!register_trace_put_line(printed.file, line.write, &line.op, line.result));
	fclose(printed.file);
	assert(!register_trace_get_line(printed.text, &again));
	assert(line.write == again.write && line.result == again.result);
	assert(!strcmp(line.name, again.name));
	assert(line.op.socket == again.op.socket && line.op.core == again.op.core);
	assert(line.op.space == again.op.space && line.op.address == again.op.address);
	assert(line.op.width == again.op.width && line.op.value == again.op.value);
}

/* One access of the recording. @return whether the bus did as was recorded */
static bool replay_line(struct pmu_bus *bus, struct pmu_ctx *ctx,
			const struct register_trace_line *line)
{
	struct pmu_access_op op = line->op;
	int result = line->write ? pmu_bus_write(bus, ctx, &op) : pmu_bus_read(bus, ctx, &op);

	if (result != line->result) {
		/* The catalog knows better, and says why. */
		assert(result && *pmu_message(ctx));
		return false;
	}
	assert(result || line->write || op.value == line->op.value);
	return true;
}

static void check_replay(struct pmu_ctx *ctx, char *text, size_t size)
{
	FILE *file = fmemopen(text, size, "r");
	struct register_trace_line line;
	struct pmu_bus *bus;
	char *at;

	assert(file);
	if (pmu_bus_replaying(&bus, ctx, file)) {
		assert(*pmu_message(ctx));
		fclose(file);
		return;
	}
	for (at = strchr(text, '\n'); at && at[1]; at = strchr(at + 1, '\n'))
		if (register_trace_get_line(at + 1, &line) || !replay_line(bus, ctx, &line))
			break;
	pmu_bus_free(bus);
	fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct pmu_ctx *ctx;
	char *text = malloc(size + 1), *rest, *line;

	if (!text || (!ctx && pmu_ctx_new(&ctx))) {
		free(text);
		return 0;
	}
	memcpy(text, data, size);
	text[size] = '\0';
	if (strlen(text))
		check_replay(ctx, text, strlen(text));
	check_header(text);
	rest = text;
	while ((line = strsep(&rest, "\n")))
		check_line(line);
	free(text);
	return 0;
}
