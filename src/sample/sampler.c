#include "sample/sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "catalog/description.h"
#include "emul/program.h"

#define PERIOD_MAX (UINT64_C(1) << 31)

int sampler_read(struct pmu_sampler *sampler, struct pmu_ctx *ctx, unsigned socket, unsigned core,
		 const struct pmu_register *reg, uint64_t *value)
{
	struct pmu_access_op op = {
	    .socket = socket,
	    .core = core,
	    .space = reg->space,
	    .width = reg->width,
	    .address = pmu_register_address(sampler_box_of(sampler, reg), reg,
					    sampler_instance(sampler, reg, core)),
	    .reg = reg->name,
	};
	int error = pmu_bus_read(sampler->bus, ctx, &op);

	*value = op.value;
	return error;
}

int sampler_write(struct pmu_sampler *sampler, struct pmu_ctx *ctx, unsigned socket, unsigned core,
		  const struct pmu_register *reg, uint64_t value)
{
	const struct pmu_access_op op = {
	    .socket = socket,
	    .core = core,
	    .space = reg->space,
	    .width = reg->width,
	    .address = pmu_register_address(sampler_box_of(sampler, reg), reg,
					    sampler_instance(sampler, reg, core)),
	    .value = value,
	    .reg = reg->name,
	};

	return pmu_bus_write(sampler->bus, ctx, &op);
}

static int open_session(struct pmu_sampler *sampler, struct pmu_ctx *ctx)
{
	int error = pmu_emul_bus(&sampler->bus, ctx, sampler->emul);

	if (!error)
		error = pmu_session_new(&sampler->session, ctx, sampler->bus);
	if (error)
		return error;
	sampler->shared = mmap(NULL, sizeof(*sampler->shared), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sampler->shared == MAP_FAILED) {
		sampler->shared = NULL;
		return error_set(ctx, PMU_E_NOMEM, "out of memory for samples");
	}
	return 0;
}

int pmu_sampler_new(struct pmu_sampler **out, struct pmu_ctx *ctx, struct pmu_emul *emul)
{
	const struct pmu_machine *machine = pmu_emul_machine(emul);
	struct pmu_sampler *sampler;
	int error;

	if (!emul_epic_of(emul))
		return error_set(ctx, PMU_E_UNSUPPORTED,
				 "%s: samples are taken on machines with IA-64 cores only",
				 machine->name);
	sampler = calloc(1, sizeof(*sampler));
	if (!sampler)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for samples");
	sampler->emul = emul;
	sampler->info.machine = machine->name;
	sampler->info.pmu = machine->pmu;
	sampler->info.cpus = machine->sockets * machine_cpus(machine);
	error = open_session(sampler, ctx);
	if (error)
		pmu_sampler_free(sampler);
	else
		*out = sampler;
	return error;
}

void pmu_sampler_free(struct pmu_sampler *sampler)
{
	if (!sampler)
		return;
	sample_output_free(sampler->output);
	pmu_session_free(sampler->session);
	pmu_bus_free(sampler->bus);
	for (unsigned i = 0; i < sampler->event_count; i++)
		free(sampler->events[i].name);
	if (sampler->shared)
		munmap(sampler->shared, sizeof(*sampler->shared));
	free(sampler);
}

uint64_t pmu_sampler_samples(const struct pmu_sampler *sampler)
{
	return sampler->shared->samples;
}

static const struct pmu_modifier *interrupt_modifier(const struct pmu_box *box)
{
	for (size_t i = 0; i < box->modifier_count; i++)
		if (box->modifiers[i].role == PMU_FIELD_OVERFLOW_ENABLE && !box->modifiers[i].reg)
			return &box->modifiers[i];
	return NULL;
}

static int check(const struct pmu_sampler *sampler, struct pmu_ctx *ctx,
		 const struct pmu_selection *selection, uint64_t period, const char *name)
{
	const struct pmu_box *box = selection->box;

	if (period < 1 || period > PERIOD_MAX)
		return error_set(ctx, PMU_E_RANGE, "%s: a period is 1 to %llu, not %llu", name,
				 (unsigned long long)PERIOD_MAX, (unsigned long long)period);
	if (!selection->event || box->scope != PMU_SCOPE_CORE || !interrupt_modifier(box) ||
	    !pmu_box_register(box, PMU_ROLE_GLOBAL_STATUS, 0))
		return error_set(ctx, PMU_E_UNSUPPORTED,
				 "%s: only counters of cores interrupt; this is one of %s", name,
				 box->name);
	if (pmu_selection_model_on(selection, pmu_emul_machine(sampler->emul), NULL, 0) ==
	    PMU_MODEL_ABSENT)
		return error_set(ctx, PMU_E_UNSUPPORTED, "%s is not modelled on %s: no samples",
				 name, sampler->info.machine);
	if (sampler->event_count == PMU_SAMPLE_EVENTS_MAX)
		return error_set(ctx, PMU_E_CONFLICT, "%s: more than %d events", name,
				 PMU_SAMPLE_EVENTS_MAX);
	return 0;
}

/* With the interrupt on, in whatever way it was asked for. */
static int let_interrupt(struct pmu_ctx *ctx, struct pmu_selection *selection)
{
	const struct pmu_modifier *modifier = interrupt_modifier(selection->box);

	for (unsigned i = 0; i < selection->setting_count; i++) {
		if (selection->settings[i].modifier == modifier) {
			selection->settings[i].value = 1;
			return 0;
		}
	}
	if (selection->setting_count == PMU_EVENT_SETTINGS)
		return error_set(ctx, PMU_E_CONFLICT, "an event has at most %d fields",
				 PMU_EVENT_SETTINGS - 1);
	selection->settings[selection->setting_count++] =
	    (struct pmu_setting){.modifier = modifier, .value = 1};
	return 0;
}

int pmu_sampler_add(struct pmu_sampler *sampler, struct pmu_ctx *ctx,
		    const struct pmu_selection *selection, uint64_t period)
{
	struct sampled_event *event = &sampler->events[sampler->event_count];
	char name[PMU_EVENT_TEXT_MAX];
	int added, error;

	pmu_event_print(selection, name, sizeof(name));
	error = check(sampler, ctx, selection, period, name);
	if (error)
		return error;
	*event = (struct sampled_event){.selection = *selection, .period = period};
	error = let_interrupt(ctx, &event->selection);
	if (error)
		return error;
	added = pmu_session_add(sampler->session, ctx, &event->selection);
	if (added < 0)
		return added;
	if ((unsigned)added < sampler->event_count)
		return error_set(ctx, PMU_E_CONFLICT, "%s is given twice", name);
	event->name = strdup(name);
	if (!event->name)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for an event");
	capture_event_init(&event->capture, selection);
	sampler->box = selection->box;
	if (event->capture.requests)
		sampler->requests = event->capture.requests;
	sampler->event_count++;
	return 0;
}

static bool is_known(const struct pmu_sampler *sampler, const struct pmu_register *reg)
{
	for (size_t i = 0; i < sampler->register_count; i++)
		if (sampler->registers[i]->space == reg->space &&
		    sampler->registers[i]->offset == reg->offset)
			return true;
	return false;
}

static uint64_t emptied_bits(const struct pmu_register *reg)
{
	static const enum pmu_field_role roles[] = {PMU_FIELD_CAPTURE_STATUS,
						    PMU_FIELD_CAPTURE_VALID, PMU_FIELD_TRACE_INDEX,
						    PMU_FIELD_TRACE_FULL};
	uint64_t bits = 0;

	for (size_t f = 0; f < reg->field_count; f++)
		for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
			if (reg->fields[f].role == roles[i])
				bits |= pmu_mask(reg->fields[f].hi, reg->fields[f].lo);
	return reg->role == PMU_ROLE_CAPTURE ? bits : 0;
}

int sampler_add_registers(struct pmu_sampler *sampler, struct pmu_ctx *ctx,
			  const struct pmu_box *box, const struct pmu_hwrec *record)
{
	for (size_t r = 0; r < box->register_count; r++) {
		const struct pmu_register *reg = &box->registers[r];

		if (!pmu_hwrec_register(record, reg) || is_known(sampler, reg))
			continue;
		if (sampler->register_count == CAPTURE_REGISTERS)
			return error_set(ctx, PMU_E_UNSUPPORTED, "%s has more than %d registers",
					 record->name, CAPTURE_REGISTERS);
		sampler->emptied[sampler->register_count] = emptied_bits(reg);
		sampler->registers[sampler->register_count++] = reg;
	}
	return 0;
}

/* Whether what the session has programmed lets the record be captured. */
static int look_at_record(struct pmu_sampler *sampler, struct pmu_ctx *ctx,
			  const struct pmu_hwrec *record, bool *enabled)
{
	struct pmu_register_value values[CAPTURE_REGISTERS];
	size_t count = 0;
	int error = 0;

	for (size_t r = 0; r < sampler->box->register_count && !error; r++) {
		const struct pmu_register *reg = &sampler->box->registers[r];

		if (reg->role == PMU_ROLE_CAPTURE || !pmu_hwrec_register(record, reg) ||
		    count == CAPTURE_REGISTERS)
			continue;
		values[count] = (struct pmu_register_value){.box = sampler->box, .reg = reg};
		error = sampler_read(sampler, ctx, 0, 0, reg, &values[count++].value);
	}
	*enabled = !error && pmu_hwrec_is_enabled(record, values, count);
	return error;
}

static int find_records(struct pmu_sampler *sampler, struct pmu_ctx *ctx)
{
	int error = 0;

	for (size_t r = 0; r < sampler->box->record_count && !error; r++) {
		const struct pmu_hwrec *record = &sampler->box->records[r];
		bool enabled = false;

		error = look_at_record(sampler, ctx, record, &enabled);
		if (error || !enabled)
			continue;
		error = sampler_add_registers(sampler, ctx, sampler->box, record);
		for (size_t f = 0; f < record->ring.field_count; f++)
			sampler->info.branches |=
			    record->ring.fields[f].role == PMU_HWREC_ROLE_BRANCH_FROM;
	}
	return error;
}

/* The counter of an event overflows when it has counted its period. */
static int arm(struct pmu_sampler *sampler, struct pmu_ctx *ctx, unsigned number)
{
	struct sampled_event *event = &sampler->events[number];
	int counter = pmu_session_counter(sampler->session, number, 0), error = 0;
	const unsigned sockets = pmu_bus_sockets(sampler->bus);

	if (counter < 0)
		return counter;
	event->counter = pmu_box_register(sampler->box, PMU_ROLE_COUNTER, (unsigned)counter);
	event->overflow = pmu_overflow_bit(sampler->box, sampler->status, false, (unsigned)counter);
	for (unsigned cpu = 0; cpu < sampler->info.cpus && !error; cpu++) {
		unsigned cores = sampler->info.cpus / sockets;

		error = sampler_write(sampler, ctx, cpu / cores, cpu % cores, event->counter,
				      -event->period & sampler->counter_mask);
	}
	return error;
}

static int prepare(struct pmu_sampler *sampler, struct pmu_ctx *ctx)
{
	const struct pmu_box *box = sampler->box;
	int error = pmu_session_start(sampler->session, ctx);

	if (error)
		return error;
	sampler->status = pmu_box_register(box, PMU_ROLE_GLOBAL_STATUS, 0);
	sampler->counter_mask = pmu_mask(box->counter_width - 1u, 0);
	error = find_records(sampler, ctx);
	if (!error)
		error = sampler_find_requests(sampler, ctx);
	for (unsigned i = 0; i < sampler->event_count && !error; i++) {
		error = arm(sampler, ctx, i);
		sampler->info.names[i] = sampler->events[i].name;
		sampler->info.periods[i] = sampler->events[i].period;
		sampler->info.codes[i] = sampler->events[i].selection.event->code;
	}
	sampler->info.event_count = sampler->event_count;
	return error;
}

static int file_error(struct pmu_ctx *ctx, const char *path, int error)
{
	return error < 0 ? error_set(ctx, PMU_E_IO, "cannot write %s: %s", path, strerror(-error))
			 : 0;
}

static int sample(struct pmu_sampler *sampler, struct pmu_ctx *ctx, struct pmu_program *program,
		  int descriptor, const char *path, struct pmu_program_result *result)
{
	struct emul_epic *epic = emul_epic_of(sampler->emul);
	int error = file_error(ctx, path, perf_file_begin(descriptor, &sampler->info));
	int64_t bytes;

	if (!error)
		error = file_error(ctx, path, sample_output_new(&sampler->output, descriptor));
	if (error)
		return error;
	error = sampler_capture_requests(sampler, ctx, true);
	if (error)
		return error;
	emul_epic_on_interrupt(epic, sampler_handle, sampler);
	error = pmu_program_run(program, ctx, sampler->emul, result);
	emul_epic_on_interrupt(epic, NULL, NULL);
	sampler_capture_requests(sampler, NULL, false);
	bytes = sample_output_end(sampler->output);
	if (!error && bytes < 0)
		error = file_error(ctx, path, (int)bytes);
	return error ? error
		     : file_error(ctx, path,
				  perf_file_end(descriptor, &sampler->info, (uint64_t)bytes));
}

int pmu_sampler_run(struct pmu_sampler *sampler, struct pmu_ctx *ctx, struct pmu_program *program,
		    const char *path, char *const *argv, struct pmu_program_result *result)
{
	char *resolved;
	int descriptor, error;

	if (sampler->ran || !sampler->event_count)
		return error_set(ctx, PMU_E_STATE, "%s",
				 sampler->ran ? "a sampler runs once" : "there are no events");
	error = prepare(sampler, ctx);
	if (error)
		return error;
	resolved = realpath(program->program, NULL);
	sampler->path = resolved ? resolved : program->program;
	sampler->info.argv = argv;
	descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (descriptor < 0) {
		error = file_error(ctx, path, -errno);
	} else {
		sampler->ran = true;
		error = sample(sampler, ctx, program, descriptor, path, result);
		if (close(descriptor) && !error)
			error = file_error(ctx, path, -errno);
	}
	free(resolved);
	if (error)
		pmu_session_end(sampler->session, NULL);
	else
		error = pmu_session_end(sampler->session, ctx);
	return error;
}
