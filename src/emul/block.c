#include "emul/block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "catalog/binding.h"
#include "catalog/machine_image.h"
#include "emul/block_state.h"

#define BLOCK_MAGIC   0x62616c756d70 /* "pmulab" */
#define BLOCK_VERSION 10
#define BLOCK_ALIGN   4096

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
	const enum signal_kind kind = signal_table[signal->id].kind;
	const struct emul *emul = subscriber;

	for (unsigned i = 0; i < emul->pmu_count; i++)
		if (kind == SIGNAL_ACCUMULATOR || kind == SIGNAL_CYCLES)
			signal_emit_sum(&emul->pmus[i].port, signal);
		else
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
	block_catch_up(emul);
	error = open_pmu(emul, ctx, &config, state, true);
	if (error) {
		munmap(state, emul->block->pmon_size);
	} else {
		emul->pmus[number].mapped = state;
		pmon_copy_levels(emul->pmus[number].pmon, emul->pmus[0].pmon);
		emul->block->size += emul->block->pmon_size;
		emul->block->pmu_count = emul->pmu_count;
		block_join_enabled(emul);
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
	block_catch_up(emul);
	error = pmon_attribute(emul->pmus[pmu].pmon, ref, column);
	if (!error && desc->boxes[ref->box].scope == PMU_SCOPE_CORE)
		attribution_set_accounts(emul->attribution.table);
	block_join_enabled(emul);
	machine_unlock(emul->machine);
	return error;
}
