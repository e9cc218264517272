#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "bus/bus.h"
#include "bus/register_trace.h"

#define LINE_MAX_BYTES 256

struct replaying {
	struct pmu_bus bus;
	FILE *file; /* the caller's */
	unsigned line_number;
};

static int get(struct replaying *replaying, struct pmu_ctx *ctx, struct register_trace_line *line)
{
	char text[LINE_MAX_BYTES];

	replaying->line_number++;
	if (!fgets(text, sizeof(text), replaying->file))
		return error_set(ctx, PMU_E_IO, "the register trace ends before line %u",
				 replaying->line_number);
	if (register_trace_get_line(text, line))
		return error_set(ctx, PMU_E_SYNTAX,
				 "line %u of the register trace is no access: %s",
				 replaying->line_number, text);
	return 0;
}

static bool same_access(const struct register_trace_line *line, bool write,
			const struct pmu_access_op *op)
{
	return line->write == write && line->op.socket == op->socket && line->op.core == op->core &&
	       line->op.space == op->space && line->op.address == op->address &&
	       line->op.width == op->width && (!write || line->op.value == op->value);
}

/* The next line, which has to be this access. */
static int replay(struct replaying *replaying, struct pmu_ctx *ctx, bool write,
		  const struct pmu_access_op *op, struct register_trace_line *line)
{
	int error = get(replaying, ctx, line);

	if (error)
		return error;
	if (!same_access(line, write, op))
		return error_set(
		    ctx, PMU_E_IO,
		    "line %u of the register trace has %s of %s (socket %u, value 0x%llX), "
		    "not %s of %s (socket %u, value 0x%llX)",
		    replaying->line_number, line->write ? "a write" : "a read", line->name,
		    line->op.socket, (unsigned long long)line->op.value,
		    write ? "a write" : "a read", op->reg, op->socket,
		    (unsigned long long)op->value);
	if (line->result)
		return error_set(ctx, line->result, "%s failed when the trace was made (line %u)",
				 line->name, replaying->line_number);
	return 0;
}

static int replaying_read(struct pmu_bus *bus, struct pmu_ctx *ctx,
			  const struct bus_register_ref *ref, struct pmu_access_op *op)
{
	struct register_trace_line line;
	int error = replay((struct replaying *)bus, ctx, false, op, &line);

	(void)ref;
	if (error)
		return error;
	op->value = line.op.value;
	return 0;
}

static int replaying_write(struct pmu_bus *bus, struct pmu_ctx *ctx,
			   const struct bus_register_ref *ref, const struct pmu_access_op *op)
{
	struct register_trace_line line;

	(void)ref;
	return replay((struct replaying *)bus, ctx, true, op, &line);
}

static const struct bus_ops replaying_ops = {
    .read = replaying_read,
    .write = replaying_write,
    .time_ns = bus_no_time,
};

int pmu_bus_replaying(struct pmu_bus **out, struct pmu_ctx *ctx, FILE *file)
{
	struct register_trace_header header;
	char text[LINE_MAX_BYTES];
	const struct pmu_pmu *pmu;
	struct replaying *replaying;
	int error;

	if (!fgets(text, sizeof(text), file) || register_trace_get_header(text, &header))
		return error_set(ctx, PMU_E_SYNTAX, "the file is no register trace");
	pmu = pmu_find_pmu(header.pmu);
	if (!pmu)
		return error_set(ctx, PMU_E_UNKNOWN,
				 "the register trace is of %s, which the catalog does not have",
				 header.pmu);
	replaying = calloc(1, sizeof(*replaying));
	if (!replaying)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for a register trace");
	error = bus_init(&replaying->bus, ctx, &replaying_ops, pmu, header.sockets);
	if (error) {
		free(replaying);
		return error;
	}
	replaying->bus.emulated = header.emulated;
	replaying->bus.transport = "a register trace";
	replaying->file = file;
	replaying->line_number = 1;
	*out = &replaying->bus;
	return 0;
}
