/*
 * The handler of overflow interrupts, in the program's process: it reads what was captured, writes
 * samples, and lets the monitors go on.
 */
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sample/sampler.h"

/* Loaded segments of the program, as the kernel would tell perf of them. */
static void put_segments(struct pmu_sampler *sampler, const struct perf_file_origin *origin)
{
	int fd = open(sampler->path, O_RDONLY | O_CLOEXEC);
	char bytes[PERF_FILE_RECORD_MAX];
	Elf64_Ehdr head;

	if (fd < 0)
		return;
	if (pread(fd, &head, sizeof(head), 0) != sizeof(head))
		head.e_phnum = 0;
	for (unsigned i = 0; i < head.e_phnum; i++) {
		Elf64_Phdr segment;
		struct pmu_mapping mapping = {.process = origin->process, .path = sampler->path};

		if (pread(fd, &segment, sizeof(segment),
			  (off_t)(head.e_phoff + i * sizeof(segment))) != sizeof(segment))
			break;
		if (segment.p_type != PT_LOAD)
			continue;
		mapping.address = segment.p_vaddr;
		mapping.bytes = segment.p_memsz;
		mapping.offset = segment.p_offset;
		sample_output_put(
		    sampler->output, bytes,
		    perf_file_put_mmap(bytes, origin, &mapping, segment.p_flags & PF_X));
	}
	close(fd);
}

/* What the file has to know before the first sample of a process or thread. */
static void introduce(struct pmu_sampler *sampler, struct perf_file_origin origin)
{
	char bytes[PERF_FILE_RECORD_MAX];
	const char *name = strrchr(sampler->path, '/');

	for (unsigned i = 0; i < sampler->thread_count; i++)
		if (sampler->threads[i] == origin.thread)
			return;
	if (!sampler->thread_count) {
		struct perf_file_origin first = {origin.process, origin.process, origin.cpu, 0};

		sample_output_put(
		    sampler->output, bytes,
		    perf_file_put_comm(bytes, &first, name ? name + 1 : sampler->path));
		put_segments(sampler, &first);
		sampler->threads[sampler->thread_count++] = origin.process;
	}
	if (origin.thread == origin.process || sampler->thread_count == SAMPLER_THREADS)
		return;
	sample_output_put(sampler->output, bytes, perf_file_put_fork(bytes, &origin));
	sampler->threads[sampler->thread_count++] = origin.thread;
}

/* Sets a counter that overflowed back, from what it has counted since. @return what it counted */
static uint64_t set_back(struct pmu_sampler *sampler, const struct emul_interrupt *at,
			 const struct sampled_event *event)
{
	uint64_t excess = 0;

	sampler_read(sampler, NULL, at->socket, at->core, event->counter, &excess);
	excess &= sampler->counter_mask;
	sampler_write(sampler, NULL, at->socket, at->core, event->counter,
		      (excess % event->period - event->period) & sampler->counter_mask);
	return (1 + excess / event->period) * event->period;
}

static void put_sample(struct pmu_sampler *sampler, const struct emul_interrupt *at,
		       const struct perf_file_origin *origin, unsigned number,
		       const struct pmu_register_value *values)
{
	const struct sampled_event *event = &sampler->events[number];
	struct capture capture;
	struct perf_file_sample sample = {
	    .origin = *origin,
	    .event = number,
	    .next_ip = at->ip,
	    .period = set_back(sampler, at, event),
	    .capture = &capture,
	    .registers = values,
	    .register_count = sampler->register_count,
	};
	char bytes[PERF_FILE_RECORD_MAX];

	capture_decode(&capture, &event->capture, values, sampler->register_count);
	sample.precise = capture.has_instruction;
	sample.ip = capture.has_instruction ? capture.instruction : at->ip;
	sample_output_put(sampler->output, bytes,
			  perf_file_put_sample(bytes, &sampler->info, &sample));
	sampler->shared->samples++;
}

static void read_registers(struct pmu_sampler *sampler, const struct emul_interrupt *at,
			   struct pmu_register_value *values)
{
	for (size_t i = 0; i < sampler->register_count; i++) {
		values[i] = (struct pmu_register_value){
		    .box = sampler_box_of(sampler, sampler->registers[i]),
		    .instance = sampler_instance(sampler, sampler->registers[i], at->core),
		    .reg = sampler->registers[i]};
		sampler_read(sampler, NULL, at->socket, at->core, values[i].reg, &values[i].value);
		if (sampler->emptied[i])
			sampler_write(sampler, NULL, at->socket, at->core, values[i].reg,
				      values[i].value & ~sampler->emptied[i]);
	}
}

void sampler_handle(void *arg, const struct emul_interrupt *interrupt)
{
	struct pmu_sampler *sampler = arg;
	const uint32_t thread = lock_thread();
	const struct perf_file_origin origin = {
	    .process = (uint32_t)getpid(),
	    .thread = thread,
	    .cpu = interrupt->socket * sampler->info.cpus / pmu_bus_sockets(sampler->bus) +
		   interrupt->core,
	    .time_ns = interrupt->time_ns,
	};
	struct pmu_register_value values[CAPTURE_REGISTERS];
	uint64_t status = 0;

	lock_acquire(&sampler->shared->lock, thread);
	introduce(sampler, origin);
	sampler_read(sampler, NULL, interrupt->socket, interrupt->core, sampler->status, &status);
	read_registers(sampler, interrupt, values);
	for (unsigned i = 0; i < sampler->event_count; i++)
		if (status & sampler->events[i].overflow)
			put_sample(sampler, interrupt, &origin, i, values);
	/* Clears what overflowed, and the freeze. */
	sampler_write(sampler, NULL, interrupt->socket, interrupt->core, sampler->status, 0);
	lock_release(&sampler->shared->lock, thread);
}
