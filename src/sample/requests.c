/* Samples of requests: what captures those of a core is outside of it, and has a control there. */
#include <string.h>

#include "base/error.h"
#include "sample/sampler.h"

static const struct pmu_register *control_of(const struct pmu_sampler *sampler)
{
	return pmu_box_register(sampler->requests, PMU_ROLE_CAPTURE_CTL, 0);
}

/* Every request, where nothing is asked for. */
static uint64_t every_request(const struct pmu_register *control)
{
	return pmu_field_bits(control, PMU_FIELD_REQUEST_EACH, 0) |
	       pmu_field_bits(control, PMU_FIELD_REQUEST_ANY_OPCODE, 0) |
	       pmu_field_bits(control, PMU_FIELD_REQUEST_CLASSES, 0);
}

static const struct pmu_field *find_field(const struct pmu_register *reg, const char *name,
					  size_t length)
{
	for (size_t f = 0; f < reg->field_count; f++)
		if (strlen(reg->fields[f].name) == length &&
		    strncmp(reg->fields[f].name, name, length) == 0 &&
		    reg->fields[f].access == PMU_ACCESS_RW)
			return &reg->fields[f];
	return NULL;
}

static int set_field(struct pmu_ctx *ctx, const struct pmu_register *control, const char *text,
		     size_t length, uint64_t *bits)
{
	const char *equals = memchr(text, '=', length);
	const size_t name = equals ? (size_t)(equals - text) : length;
	const struct pmu_field *field = find_field(control, text, name);
	uint64_t value, mask;

	if (!field)
		return error_set(ctx, PMU_E_UNKNOWN, "%s has no field \"%.*s\" to write",
				 control->name, (int)name, text);
	if (!equals || !pmu_number_parse(equals + 1, length - name - 1, &value))
		return error_set(ctx, PMU_E_SYNTAX, "%.*s: not FIELD=NUMBER", (int)length, text);
	mask = pmu_mask(field->hi, field->lo);
	if (value > mask >> field->lo)
		return error_set(ctx, PMU_E_RANGE, "%.*s: %s has %u bits", (int)length, text,
				 field->name, field->hi - field->lo + 1u);
	*bits = (*bits & ~mask) | value << field->lo;
	return 0;
}

int pmu_sampler_choose_requests(struct pmu_sampler *sampler, struct pmu_ctx *ctx, const char *text)
{
	uint64_t bits;
	int error = 0;

	if (!sampler->requests)
		return error_set(ctx, PMU_E_UNSUPPORTED,
				 "no event counts requests that are captured");
	bits = sampler->chosen ? sampler->request_control : every_request(control_of(sampler));
	while (*text && !error) {
		size_t length = strcspn(text, ",");

		error = set_field(ctx, control_of(sampler), text, length, &bits);
		text += length + (text[length] == ',');
	}
	if (error)
		return error;
	sampler->request_control = bits;
	sampler->chosen = true;
	return 0;
}

int sampler_find_requests(struct pmu_sampler *sampler, struct pmu_ctx *ctx)
{
	const struct pmu_box *box = sampler->requests;
	int error = 0;

	for (size_t r = 0; box && r < box->record_count && !error; r++)
		error = sampler_add_registers(sampler, ctx, box, &box->records[r]);
	return error;
}

/* Twice: the choice at random begins with the second write. */
static int write_control(struct pmu_sampler *sampler, struct pmu_ctx *ctx, unsigned cpu,
			 uint64_t value)
{
	const unsigned cores = sampler->info.cpus / pmu_bus_sockets(sampler->bus);
	int error = 0;

	for (unsigned i = 0; i < 2 && !error; i++)
		error = sampler_write(sampler, ctx, cpu / cores, cpu % cores, control_of(sampler),
				      value);
	return error;
}

int sampler_capture_requests(struct pmu_sampler *sampler, struct pmu_ctx *ctx, bool on)
{
	const unsigned cpus = sampler->info.cpus / pmu_bus_sockets(sampler->bus);
	uint64_t value = 0;
	int error = 0;

	if (!sampler->requests)
		return 0;
	if (on)
		value = (sampler->chosen ? sampler->request_control
					 : every_request(control_of(sampler))) |
			pmu_field_bits(control_of(sampler), PMU_FIELD_REQUEST_ENABLE, 0);
	for (unsigned cpu = 0; cpu < sampler->info.cpus && !error; cpu++)
		if (cpu % cpus < pmu_emul_machine(sampler->emul)->cores) /* one for both threads */
			error = write_control(sampler, ctx, cpu, value);
	return error;
}
