#include <inttypes.h>
#include <string.h>

#include "bus/register_trace.h"

#define VERSION 2

static unsigned space_of(const char *name)
{
	unsigned space = 0;

	while (space < PMU_SPACE_COUNT && strcmp(pmu_space_name(space), name))
		space++;
	return space;
}

int register_trace_put_header(FILE *file, const struct register_trace_header *header)
{
	int written = fprintf(file, "pmulab-register-trace %d %s sockets=%u emulated=%d\n", VERSION,
			      header->pmu, header->sockets, header->emulated);

	return written < 0 ? PMU_E_IO : 0;
}

int register_trace_put_line(FILE *file, bool write, const struct pmu_access_op *op, int result)
{
	int written =
	    fprintf(file, "%s %u %u %s 0x%" PRIx32 " %u 0x%" PRIx64 " %d %s\n",
		    write ? "write" : "read", op->socket, op->core, pmu_space_name(op->space),
		    op->address, op->width, op->value, result, op->reg);

	return written < 0 ? PMU_E_IO : 0;
}

int register_trace_get_header(const char *text, struct register_trace_header *header)
{
	unsigned version, emulated;

	if (sscanf(text, "pmulab-register-trace %u %63s sockets=%u emulated=%u", &version,
		   header->pmu, &header->sockets, &emulated) != 4)
		return PMU_E_SYNTAX;
	if (version != VERSION || header->sockets == 0 || header->sockets > PMU_SOCKETS_MAX ||
	    emulated > 1)
		return PMU_E_SYNTAX;
	header->emulated = emulated;
	return 0;
}

int register_trace_get_line(const char *text, struct register_trace_line *line)
{
	char direction[8], space[8];
	unsigned width;

	if (sscanf(text, "%7s %u %u %7s %" SCNx32 " %u %" SCNx64 " %d %63s", direction,
		   &line->op.socket, &line->op.core, space, &line->op.address, &width,
		   &line->op.value, &line->result, line->name) != 9)
		return PMU_E_SYNTAX;
	if (strcmp(direction, "write") && strcmp(direction, "read"))
		return PMU_E_SYNTAX;
	if (space_of(space) == PMU_SPACE_COUNT)
		return PMU_E_SYNTAX;
	if ((width != 32 && width != 64) || line->result > 0)
		return PMU_E_SYNTAX;
	line->write = !strcmp(direction, "write");
	line->op.space = (uint8_t)space_of(space);
	line->op.width = (uint8_t)width;
	line->op.reg = line->name;
	return 0;
}
