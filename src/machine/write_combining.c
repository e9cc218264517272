#include "machine/write_combining.h"

#include "machine/cause.h"
#include "machine/private.h"
#include "machine/slice.h"

static struct wc_buffer *find(struct core *core, uint32_t line)
{
	for (unsigned i = 0; i < WC_BUFFERS; i++)
		if (core->wc[i].written && core->wc[i].line == line)
			return &core->wc[i];
	return NULL;
}

/* Least recently written; NULL where all are free. */
static struct wc_buffer *oldest(struct core *core)
{
	struct wc_buffer *oldest = NULL;

	for (unsigned i = 0; i < WC_BUFFERS; i++)
		if (core->wc[i].written && (!oldest || core->wc[i].age < oldest->age))
			oldest = &core->wc[i];
	return oldest;
}

static struct wc_buffer *free_one(struct core *core)
{
	for (unsigned i = 0; i < WC_BUFFERS; i++)
		if (!core->wc[i].written)
			return &core->wc[i];
	return NULL;
}

static uint64_t flush(struct machine *machine, unsigned number, struct wc_buffer *buffer,
		      uint64_t now)
{
	enum signal_request request =
	    buffer->written == UINT64_MAX ? REQUEST_STREAM : REQUEST_STREAM_PART;
	uint64_t cycle = (now + machine->uclk_ticks - 1) / machine->uclk_ticks;
	uint32_t before = cause_begin(&machine->port, buffer->cause);
	bool remote = machine_home_node(machine, buffer->line) != machine_socket(machine, number);

	buffer->written = 0;
	machine->cores[number].wc_lines[remote]++;
	now += slice_write(machine, number, request, buffer->line, cycle) * machine->uclk_ticks;
	cause_end(&machine->port, before);
	return now;
}

uint64_t wc_gather(struct machine *machine, unsigned number, struct wc_write write, uint64_t now)
{
	struct core *core = &machine->cores[number];
	struct wc_buffer *buffer = find(core, write.line);
	uint64_t end = now;

	core->nt_stores++;
	if (!buffer) {
		buffer = free_one(core);
		if (!buffer) {
			buffer = oldest(core);
			end = flush(machine, number, buffer, now);
		}
		private_drop(machine, number, write.line, now);
		buffer->line = write.line;
	}
	buffer->written |= write.bytes;
	buffer->cause = cause_now(&machine->port);
	buffer->age = ++core->wc_age;
	if (buffer->written == UINT64_MAX)
		end = machine_max(end, flush(machine, number, buffer, now));
	return end;
}

uint64_t wc_drain(struct machine *machine, unsigned number, uint64_t now)
{
	struct wc_buffer *buffer;
	uint64_t end = now;

	while ((buffer = oldest(&machine->cores[number])))
		end = machine_max(end, flush(machine, number, buffer, now));
	return end;
}
