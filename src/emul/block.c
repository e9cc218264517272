#include "emul/block.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "catalog/binding.h"
#include "catalog/machine_image.h"
#include "emul/prefetchers.h"

#define BLOCK_MAGIC   0x62616c756d70 /* "pmulab" */
#define BLOCK_VERSION 9
#define BLOCK_ALIGN   4096

/* For an access that is under way elsewhere: microseconds, unless its program is stopped. */
#define ACCESS_PATIENCE_NS 3000000000u
#define PASS_PATIENCE_NS   100000000u

#define LOOK_NS 10000000u /* who waits for an interrupt catches up with the machine that often */

/*
 * The block: this header, the machine's description, the machine's state, and the state of the
 * PMUs: those that the machine has, and further ones that the same signals reach.
 */
struct block_header {
	uint64_t magic;
	uint32_t version, image_size; /* of the description, bytes */
	uint64_t machine_offset, pmon_offset, pmon_size, size;
	uint32_t pmu_count;
	uint32_t joined;	       /* other processes have a view of the block */
	uint8_t enabled[SIGNAL_COUNT]; /* what any of several PMUs subscribes to */
	uint32_t needed;	       /* of several PMUs: see struct signal_port */
	uint64_t attribution_offset;   /* of the table behind the PMUs; 0: there is none */
};

struct emul_pmu {
	struct pmon *pmon;
	struct signal_port port;
	void *mapped; /* its state, where it is no part of the block's mapping; else NULL */
};

struct emul {
	int fd;
	struct block_header *block;
	size_t size; /* of the mapping */
	const struct pmu_machine *desc;
	struct pmu_machine *read_desc; /* read from another process's block; NULL: the caller's */
	struct machine *machine;
	struct emul_pmu pmus[EMUL_PMUS_MAX];
	unsigned pmu_count;
	struct attribution attribution; /* table NULL: nobody asks */
	size_t attribution_bytes;	/* mapped by themselves; 0: a part of the block's mapping */
	uint32_t clock_mhz[PMON_CLOCKS];
	/* The machine's time as it was asked for last, in ticks and in cycles of each clock. */
	uint64_t ticks;
	struct pmon_time time;
};

void emul_processor_name(const struct pmu_machine *desc, char name[EMUL_NAME_BYTES])
{
	snprintf(name, EMUL_NAME_BYTES, "%s @ %u.%02uGHz", desc->brand, desc->core_mhz / 1000,
		 desc->core_mhz % 1000 / 10);
}

static size_t align_up(size_t size)
{
	return (size + BLOCK_ALIGN - 1) & ~(size_t)(BLOCK_ALIGN - 1);
}

/* How many of each kind of unit a socket has, as the machine numbers them. */
static void count_units(const struct pmu_machine *desc, uint32_t counts[UNIT_COUNT])
{
	counts[UNIT_SLICE] = desc->slices;
	counts[UNIT_HOME] = desc->home_agents;
	counts[UNIT_CHANNEL] = desc->home_agents * desc->channels;
	counts[UNIT_CORE] = desc->cores;
}

/* What happens in a unit without an instance of its box would be counted nowhere. */
static int check_units(const struct pmon_config *config, struct pmu_ctx *ctx,
		       const struct pmu_machine *desc)
{
	const struct pmu_unit_binding *units = config->pmu->units;
	uint32_t counts[UNIT_COUNT] = {0};

	count_units(desc, counts);
	for (unsigned kind = 0; kind < UNIT_COUNT; kind++) {
		unsigned box = units ? units[kind].box : BINDING_NO_BOX;

		if (box == BINDING_NO_BOX || units[kind].instance != BINDING_EACH)
			continue;
		if (counts[kind] > (unsigned)__builtin_popcount(config->present[box]))
			return error_set(
			    ctx, PMU_E_UNSUPPORTED,
			    "machine %s has %u units for box %s, but %d instances of it",
			    desc->name, counts[kind], config->pmu->boxes[box].name,
			    __builtin_popcount(config->present[box]));
	}
	return 0;
}

static int describe(struct pmon_config *config, struct pmu_ctx *ctx, const struct pmu_machine *desc)
{
	*config = (struct pmon_config){
	    .pmu = pmu_find_pmu(desc->pmu),
	    .sockets = desc->sockets,
	    .straps = desc->straps,
	    .strap_count = desc->strap_count,
	    .clock_mhz = {[PMU_CLOCK_UCLK] = desc->uclk_mhz,
			  [PMU_CLOCK_DCLK] = desc->dclk_mhz,
			  [PMU_CLOCK_CORE] = desc->core_mhz,
			  [PMU_CLOCK_PCLK] = desc->pclk_mhz,
			  [PMU_CLOCK_QFCLK] = desc->qfclk_mhz},
	    .totals = machine_totals(),
	};
	if (!config->pmu)
		return error_set(ctx, PMU_E_UNKNOWN,
				 "machine %s names PMU %s, which the catalog does not have",
				 desc->name, desc->pmu);
	for (size_t i = 0; i < config->pmu->box_count; i++)
		config->present[i] = pmu_machine_instances(desc, &config->pmu->boxes[i]);
	return check_units(config, ctx, desc);
}

/* Where several PMUs listen: each counts what it subscribes to. */
static void fan_out(void *subscriber, const struct signal *signal)
{
	const struct emul *emul = subscriber;

	for (unsigned i = 0; i < emul->pmu_count; i++)
		signal_emit(&emul->pmus[i].port, *signal);
}

static void fan_report(void *subscriber, const struct signal *signal, uint64_t count)
{
	const struct emul *emul = subscriber;

	for (unsigned i = 0; i < emul->pmu_count; i++)
		emul->pmus[i].port.report(emul->pmus[i].pmon, signal, count);
}

static void fan_report_end(void *subscriber, enum signal_unit kind, unsigned socket, unsigned unit,
			   uint64_t now)
{
	const struct emul *emul = subscriber;

	for (unsigned i = 0; i < emul->pmu_count; i++)
		emul->pmus[i].port.report_end(emul->pmus[i].pmon, kind, socket, unit, now);
}

/* The one PMU that most machines have is reached directly. */
static void connect(struct emul *emul)
{
	const struct signal_port fan = {
	    .subscriber = emul,
	    .emit = fan_out,
	    .enabled = emul->block->enabled,
	    .needed = &emul->block->needed,
	    .report = fan_report,
	    .report_end = fan_report_end,
	};

	struct signal_port port = emul->pmu_count == 1 ? emul->pmus[0].port : fan;

	if (emul->attribution.table) {
		port.cause_of = attribution_cause;
		port.asker = &emul->attribution;
		port.cause = &emul->attribution.cause;
	}
	machine_connect(emul->machine, &port);
}

/* From here on @table has what causes counts. */
static void use_attribution(struct emul *emul, struct attribution_table *table)
{
	emul->attribution = (struct attribution){.table = table, .machine = emul->machine};
	for (unsigned i = 0; i < emul->pmu_count; i++)
		pmon_attribution(emul->pmus[i].pmon, attribution_add, &emul->attribution);
	connect(emul);
}

/* After each register access: it may change what a PMU subscribes to. */
static void join_enabled(struct emul *emul)
{
	if (emul->pmu_count == 1)
		return;
	for (unsigned id = 0; id < SIGNAL_COUNT; id++) {
		uint8_t enabled = 0;

		for (unsigned i = 0; i < emul->pmu_count; i++)
			enabled |= emul->pmus[i].port.enabled[id];
		emul->block->enabled[id] = enabled;
	}
	emul->block->needed = 0;
	for (unsigned i = 0; i < emul->pmu_count; i++)
		emul->block->needed += *emul->pmus[i].port.needed;
}

/* Adds a view of a PMU's state. */
static int open_pmu(struct emul *emul, struct pmu_ctx *ctx, const struct pmon_config *config,
		    void *state, bool fresh)
{
	struct emul_pmu *pmu = &emul->pmus[emul->pmu_count];
	int error;

	*pmu = (struct emul_pmu){0};
	error = pmon_open(&pmu->pmon, ctx, config, state, fresh);
	if (error)
		return error;
	pmon_port(pmu->pmon, &pmu->port);
	emul->pmu_count++;
	return 0;
}

static int wire(struct emul *emul, struct pmu_ctx *ctx, bool fresh)
{
	const struct block_header *block = emul->block;
	struct pmon_config config;
	char *base = (char *)emul->block;
	int error = describe(&config, ctx, emul->desc);

	if (!error && block->pmon_size != align_up(pmon_state_size(&config)))
		error = error_set(ctx, PMU_E_UNSUPPORTED,
				  "the PMUs were made by another version of this program");
	if (error)
		return error;
	error = machine_open(&emul->machine, ctx, emul->desc, base + block->machine_offset, fresh);
	for (uint32_t i = 0; i < block->pmu_count && !error; i++)
		error = open_pmu(emul, ctx, &config,
				 base + block->pmon_offset + i * block->pmon_size, fresh);
	if (error)
		return error;
	memcpy(emul->clock_mhz, config.clock_mhz, sizeof(emul->clock_mhz));
	if (block->attribution_offset)
		use_attribution(emul,
				(struct attribution_table *)(base + block->attribution_offset));
	else
		connect(emul);
	return 0;
}

int emul_new(struct emul **out, struct pmu_ctx *ctx, const struct pmu_machine *desc)
{
	struct block_header header = {
	    .magic = BLOCK_MAGIC, .version = BLOCK_VERSION, .pmu_count = 1};
	struct pmon_config config;
	struct emul *emul;
	int error = machine_check(ctx, desc);

	if (!error)
		error = describe(&config, ctx, desc);
	if (error)
		return error;
	header.image_size = (uint32_t)machine_image_size(desc);
	header.machine_offset = align_up(sizeof(header) + header.image_size);
	header.pmon_offset = header.machine_offset + align_up(machine_state_size(desc));
	header.pmon_size = align_up(pmon_state_size(&config));
	header.size = header.pmon_offset + header.pmon_size;

	emul = calloc(1, sizeof(*emul));
	if (!emul)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for a machine");
	emul->desc = desc;
	emul->size = header.size;
	emul->fd = memfd_create("pmulab", MFD_CLOEXEC);
	if (emul->fd < 0 || ftruncate(emul->fd, (off_t)header.size)) {
		error = error_set(ctx, PMU_E_IO, "no shared memory for %s (%zu MB): %s", desc->name,
				  emul->size >> 20, strerror(errno));
		goto fail;
	}
	emul->block = mmap(NULL, emul->size, PROT_READ | PROT_WRITE, MAP_SHARED, emul->fd, 0);
	if (emul->block == MAP_FAILED) {
		emul->block = NULL;
		error = error_set(ctx, PMU_E_NOMEM, "cannot map %s (%zu MB): %s", desc->name,
				  emul->size >> 20, strerror(errno));
		goto fail;
	}
	*emul->block = header;
	machine_image_write(desc, emul->block + 1);
	error = wire(emul, ctx, true);
	if (error)
		goto fail;
	*out = emul;
	return 0;
fail:
	emul_free(emul);
	return error;
}

/* Of a file's header, which may hold anything. */
static uint64_t pmus_end(const struct block_header *header)
{
	const uint64_t offset = header->attribution_offset;

	return offset > header->pmon_offset && offset < header->size ? offset : header->size;
}

/* The descriptor comes from another process: nothing in it is taken on trust. */
static bool header_fits(const struct block_header *header, size_t file_size)
{
	return header->magic == BLOCK_MAGIC && header->version == BLOCK_VERSION &&
	       header->size == file_size &&
	       sizeof(*header) + header->image_size <= header->machine_offset &&
	       header->machine_offset < header->pmon_offset && header->pmon_offset < header->size &&
	       header->pmu_count > 0 && header->pmu_count <= EMUL_PMUS_MAX &&
	       header->pmon_size == (pmus_end(header) - header->pmon_offset) / header->pmu_count;
}

static bool sizes_fit(const struct emul *emul, const struct block_header *header)
{
	const uint64_t offset = header->attribution_offset;

	return header->pmon_offset - header->machine_offset >= machine_state_size(emul->desc) &&
	       (!offset ||
		(offset < header->size && offset % BLOCK_ALIGN == 0 &&
		 attribution_fits((const struct attribution_table *)((char *)emul->block + offset),
				  header->size - offset)));
}

int emul_attach(struct emul **out, struct pmu_ctx *ctx, int fd)
{
	struct block_header header;
	struct emul *emul;
	struct stat status;
	int error;

	if (fstat(fd, &status) || pread(fd, &header, sizeof(header), 0) != sizeof(header))
		return error_set(ctx, PMU_E_IO, "descriptor %d is no emulated machine: %s", fd,
				 strerror(errno));
	if (!header_fits(&header, (size_t)status.st_size))
		return error_set(ctx, PMU_E_UNSUPPORTED,
				 "descriptor %d is no emulated machine of this version", fd);

	emul = calloc(1, sizeof(*emul));
	if (!emul)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for a machine");
	emul->size = header.size;
	emul->fd = -1; /* the mapping is enough */
	emul->block = mmap(NULL, emul->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (emul->block == MAP_FAILED) {
		emul->block = NULL;
		error =
		    error_set(ctx, PMU_E_IO, "cannot attach to the machine: %s", strerror(errno));
		goto fail;
	}
	error = machine_image_read(&emul->read_desc, ctx, emul->block + 1, header.image_size);
	if (!error)
		error = machine_check(ctx, emul->read_desc);
	if (error)
		goto fail;
	emul->desc = emul->read_desc;
	if (!sizes_fit(emul, &header)) {
		error = error_set(ctx, PMU_E_UNSUPPORTED,
				  "descriptor %d is no emulated machine of this version", fd);
		goto fail;
	}
	error = wire(emul, ctx, false);
	if (error)
		goto fail;
	emul->block->joined = 1;
	*out = emul;
	return 0;
fail:
	emul_free(emul);
	return error;
}

void emul_free(struct emul *emul)
{
	if (!emul)
		return;
	if (emul->machine)
		machine_close(emul->machine);
	for (unsigned i = 0; i < emul->pmu_count; i++) {
		pmon_close(emul->pmus[i].pmon);
		if (emul->pmus[i].mapped)
			munmap(emul->pmus[i].mapped, emul->block->pmon_size);
	}
	if (emul->attribution_bytes)
		munmap(emul->attribution.table, emul->attribution_bytes);
	if (emul->block)
		munmap(emul->block, emul->size);
	if (emul->fd >= 0)
		close(emul->fd);
	free(emul->read_desc);
	free(emul);
}

int emul_fd(const struct emul *emul)
{
	return emul->fd;
}

struct machine *emul_machine(struct emul *emul)
{
	return emul->machine;
}

struct pmon *emul_pmon(struct emul *emul)
{
	return emul->pmus[0].pmon;
}

const struct pmu_machine *emul_desc(const struct emul *emul)
{
	return emul->desc;
}

/* Under the lock. Cycles of a clock that need not divide the machine's ticks: those of whole
   microseconds, and of the rest. */
static const struct pmon_time *time_of(struct emul *emul)
{
	const uint64_t ticks_per_us = machine_ticks_per_second(emul->machine) / 1000000;
	uint64_t now = machine_now(emul->machine);

	if (now == emul->ticks)
		return &emul->time;
	emul->ticks = now;
	for (int clock = 0; clock < PMON_CLOCKS; clock++)
		emul->time.cycles[clock] =
		    now / ticks_per_us * emul->clock_mhz[clock] +
		    now % ticks_per_us * emul->clock_mhz[clock] / ticks_per_us;
	return &emul->time;
}

/* Finds what an access leads to, takes the lock, and brings up to date what the access depends on,
   and nothing else. @written: the value that is to be written; NULL: a read */
static int begin_access(struct emul *emul, const struct pmon *pmon,
			const struct pmon_access *access, const uint64_t *written,
			struct pmon_register_ref *ref, const struct pmon_time **now)
{
	struct pmon_needs needs;
	int error = pmon_find(pmon, access, ref);

	if (error)
		return error;
	if (!machine_lock_within(emul->machine, ACCESS_PATIENCE_NS))
		return PMU_E_BUSY;
	pmon_find_needs(pmon, ref, written, &needs);
	if (needs.slices)
		machine_catch_up_slices(emul->machine, access->socket, needs.slices);
	if (needs.homes)
		machine_catch_up_homes(emul->machine, access->socket, needs.homes);
	if (needs.channels)
		machine_catch_up_channels(emul->machine, access->socket, needs.channels);
	if (needs.cores)
		machine_catch_up_cores(emul->machine, access->socket, needs.cores);
	*now = needs.time ? time_of(emul) : &emul->time;
	return 0;
}

static void end_access(struct emul *emul)
{
	join_enabled(emul);
	machine_unlock(emul->machine);
}

static void catch_up(struct emul *emul)
{
	for (unsigned socket = 0; socket < emul->desc->sockets; socket++) {
		machine_catch_up_slices(emul->machine, socket, UINT32_MAX);
		machine_catch_up_homes(emul->machine, socket, UINT32_MAX);
		machine_catch_up_channels(emul->machine, socket, UINT32_MAX);
		machine_catch_up_cores(emul->machine, socket, UINT32_MAX);
	}
}

static unsigned core_of(const struct emul *emul, const struct pmon_access *access)
{
	return access->socket * emul->desc->cores + access->core;
}

int emul_pmu_read(struct emul *emul, unsigned pmu, const struct pmon_access *access,
		  uint64_t *value)
{
	struct pmon *pmon = emul->pmus[pmu].pmon;
	const struct pmu_register *reg;
	struct pmon_register_ref ref;
	const struct pmon_time *now;
	int error = begin_access(emul, pmon, access, NULL, &ref, &now);

	if (error)
		return error;
	error = pmon_read_found(pmon, &ref, now, value);
	reg = pmon_register_of(pmon, &ref);
	if (!error && reg->role == PMU_ROLE_PREFETCH_CTL)
		*value = prefetchers_read(emul->machine, core_of(emul, access), reg);
	end_access(emul);
	return error;
}

int emul_pmu_write(struct emul *emul, unsigned pmu, const struct pmon_access *access,
		   uint64_t value)
{
	struct pmon *pmon = emul->pmus[pmu].pmon;
	const struct pmu_register *reg;
	struct pmon_register_ref ref;
	const struct pmon_time *now;
	int error = begin_access(emul, pmon, access, &value, &ref, &now);

	if (error)
		return error;
	error = pmon_write_found(pmon, &ref, now, value);
	reg = pmon_register_of(pmon, &ref);
	if (!error && reg->role == PMU_ROLE_PREFETCH_CTL)
		prefetchers_write(emul->machine, core_of(emul, access), reg, value);
	end_access(emul);
	return error;
}

int emul_read(struct emul *emul, const struct pmon_access *access, uint64_t *value)
{
	return emul_pmu_read(emul, 0, access, value);
}

int emul_write(struct emul *emul, const struct pmon_access *access, uint64_t value)
{
	return emul_pmu_write(emul, 0, access, value);
}

/* @param size  of what comes to the end of the block, and is called @what */
static void *grow(struct emul *emul, struct pmu_ctx *ctx, size_t size, const char *what)
{
	struct block_header *block = emul->block;
	void *state = MAP_FAILED;

	if (!ftruncate(emul->fd, (off_t)(block->size + size)))
		state = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, emul->fd,
			     (off_t)block->size);
	if (state != MAP_FAILED)
		return state;
	error_set(ctx, PMU_E_NOMEM, "no memory for %s (%zu MB): %s", what, size >> 20,
		  strerror(errno));
	return NULL;
}

int emul_add_pmu(struct emul *emul, struct pmu_ctx *ctx)
{
	const unsigned number = emul->pmu_count;
	struct pmon_config config;
	void *state;
	int error;

	if (emul->fd < 0 || emul->block->joined || emul->attribution.table)
		return error_set(ctx, PMU_E_STATE, "PMUs are added before others join the machine");
	if (number == EMUL_PMUS_MAX)
		return error_set(ctx, PMU_E_UNSUPPORTED, "more than %d PMUs on one machine",
				 EMUL_PMUS_MAX);
	error = describe(&config, ctx, emul->desc);
	if (error)
		return error;
	state = grow(emul, ctx, emul->block->pmon_size, "one more PMU");
	if (!state)
		return PMU_E_NOMEM;
	if (!machine_lock_within(emul->machine, ACCESS_PATIENCE_NS)) {
		munmap(state, emul->block->pmon_size);
		return error_set(ctx, PMU_E_BUSY,
				 "a program on the machine was stopped in the "
				 "middle of an access");
	}
	/* Totals are of those that were there. */
	catch_up(emul);
	error = open_pmu(emul, ctx, &config, state, true);
	if (error) {
		munmap(state, emul->block->pmon_size);
	} else {
		emul->pmus[number].mapped = state;
		pmon_copy_levels(emul->pmus[number].pmon, emul->pmus[0].pmon);
		emul->block->size += emul->block->pmon_size;
		emul->block->pmu_count = emul->pmu_count;
		join_enabled(emul);
		connect(emul);
	}
	machine_unlock(emul->machine);
	return error ? error : (int)number;
}

int emul_attribution_new(struct emul *emul, struct pmu_ctx *ctx, unsigned columns)
{
	const size_t size = align_up(attribution_size(columns));
	struct attribution_table *table;

	if (emul->fd < 0 || emul->block->joined || emul->attribution.table)
		return error_set(ctx, PMU_E_STATE,
				 "who asks for attribution does so once, before others join the "
				 "machine");
	table = grow(emul, ctx, size, "attribution");
	if (!table)
		return PMU_E_NOMEM;
	attribution_init(table, columns);
	emul->attribution_bytes = size;
	emul->block->attribution_offset = emul->block->size;
	emul->block->size += size;
	use_attribution(emul, table);
	return 0;
}

struct attribution *emul_attribution(struct emul *emul)
{
	return emul->attribution.table ? &emul->attribution : NULL;
}

int emul_attribute(struct emul *emul, unsigned pmu, const struct pmon_counter_ref *ref,
		   unsigned column)
{
	const struct pmu_pmu *desc = pmu_find_pmu(emul->desc->pmu);
	int error;

	if (pmu >= emul->pmu_count || column >= attribution_columns(emul->attribution.table))
		return PMU_E_RANGE;
	if (!machine_lock_within(emul->machine, ACCESS_PATIENCE_NS))
		return PMU_E_BUSY;
	catch_up(emul);
	error = pmon_attribute(emul->pmus[pmu].pmon, ref, column);
	if (!error && desc->boxes[ref->box].scope == PMU_SCOPE_CORE)
		attribution_set_accounts(emul->attribution.table);
	join_enabled(emul);
	machine_unlock(emul->machine);
	return error;
}

uint64_t emul_interrupts(struct emul *emul, unsigned socket, unsigned core)
{
	uint64_t count;

	if (!machine_lock_within(emul->machine, ACCESS_PATIENCE_NS))
		return UINT64_MAX;
	catch_up(emul);
	count = pmon_interrupts(emul->pmus[0].pmon, socket, core, time_of(emul));
	machine_unlock(emul->machine);
	return count;
}

int emul_await_interrupt(struct emul *emul, unsigned socket, unsigned core, uint64_t seen,
			 uint64_t timeout_ns, uint64_t *count)
{
	const uint64_t begin = clock_ns();
	uint64_t nap = 0, passed;

	for (;;) {
		*count = pmon_await_interrupt(emul->pmus[0].pmon, socket, core, seen, nap);
		if (*count != seen)
			return 0;
		passed = clock_ns() - begin;
		*count = emul_interrupts(emul, socket, core);
		if (*count == UINT64_MAX)
			return PMU_E_BUSY;
		if (*count != seen || passed >= timeout_ns)
			return 0;
		nap = timeout_ns - passed < LOOK_NS ? timeout_ns - passed : LOOK_NS;
	}
}

void emul_pass(struct emul *emul, uint64_t ns)
{
	const uint64_t ticks_per_us = machine_ticks_per_second(emul->machine) / 1000000;

	/* Who holds it runs a program, whose time it is. */
	if (!machine_lock_within(emul->machine, PASS_PATIENCE_NS))
		return;
	/* In two parts: whoever was stopped for days passes more than the product holds. */
	machine_pass(emul->machine, ns / 1000 * ticks_per_us + ns % 1000 * ticks_per_us / 1000);
	catch_up(emul);
	machine_unlock(emul->machine);
}
