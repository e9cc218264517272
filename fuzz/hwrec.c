/*
 * Any register values and any bytes are decoded as any record or refused with a message, and any
 * line is a register of a dump or refused. fuzz/run builds and runs it.
 *
 * Input: which record; in memory, its bytes; in registers, which kind, which register is missing,
 * and eight bytes for each of the others. Where there is no such record, a line.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/hwrec.h"

#define VALUES_MAX 64
#define NO_RECORD  0xff

struct input {
	const uint8_t *data;
	size_t left;
};

static uint8_t take_byte(struct input *input)
{
	if (input->left == 0)
		return 0;
	input->left--;
	return *input->data++;
}

static uint64_t take_word(struct input *input)
{
	uint64_t word = 0;

	for (int i = 0; i < 8; i++)
		word = word << 8 | take_byte(input);
	return word;
}

struct seen {
	const struct pmu_hwrec *record;
	unsigned entries;
};

static void on_record(void *arg, const struct pmu_hwrec_kind *kind, bool captured)
{
	struct seen *seen = arg;

	(void)captured;
	assert(!kind == (seen->record->kind_count == 0));
}

static void on_entry(void *arg, unsigned row, const struct pmu_hwrec_kind *kind)
{
	struct seen *seen = arg;

	assert(row < seen->record->ring.count && *kind->name);
	seen->entries++;
	assert(seen->entries <= seen->record->ring.count);
}

static void on_value(void *arg, const struct pmu_hwrec_value *value)
{
	(void)arg;
	assert(*value->field->name);
	assert(!value->meaning || value->meaning->value == value->value);
	assert(value->field->type != PMU_HWREC_FLAG || value->value <= 1);
}

static void on_note(void *arg, const char *text)
{
	(void)arg;
	assert(*text);
}

static const struct pmu_hwrec_visitor visitor = {.size = sizeof(visitor),
						 .record = on_record,
						 .entry = on_entry,
						 .value = on_value,
						 .note = on_note};

static void check_memory(struct pmu_ctx *ctx, const struct pmu_hwrec *record, struct input *input)
{
	struct seen seen = {.record = record};
	uint8_t *bytes = malloc(record->size);

	if (!bytes)
		return;
	for (uint32_t i = 0; i < record->size; i++)
		bytes[i] = take_byte(input);
	assert(pmu_hwrec_decode_bytes(ctx, record, bytes, &visitor, &seen) == 0);
	free(bytes);
}

static void check_registers(struct pmu_ctx *ctx, const struct pmu_box *box,
			    const struct pmu_hwrec *record, struct input *input)
{
	struct pmu_register_value values[VALUES_MAX];
	struct seen seen = {.record = record};
	unsigned kind = take_byte(input), missing = take_byte(input), number = 0;
	size_t count = 0;
	int error;

	for (size_t i = 0; i < box->register_count && count < VALUES_MAX; i++) {
		const struct pmu_register *reg = &box->registers[i];

		if (pmu_hwrec_register(record, reg) == reg && number++ != missing)
			values[count++] = (struct pmu_register_value){
			    .box = box, .reg = reg, .value = take_word(input)};
	}
	(void)pmu_hwrec_in_dump(record, values, count);
	error = pmu_hwrec_decode(ctx, record,
				 kind < record->kind_count ? record->kinds[kind].name : NULL,
				 values, count, &visitor, &seen);
	assert(error == 0 || error == PMU_E_UNKNOWN || error == PMU_E_CONFLICT);
	assert(error == 0 || *pmu_message(ctx));
}

static void check_line(struct pmu_ctx *ctx, const struct input *input)
{
	struct pmu_register_value value;
	char *line = malloc(input->left + 1);
	int result;

	if (!line)
		return;
	memcpy(line, input->data, input->left);
	line[input->left] = '\0';
	result = pmu_dump_parse(ctx, NULL, line, &value);
	assert(result >= 0 || *pmu_message(ctx));
	if (result > 0) {
		assert(value.instance < value.box->instance_count);
		assert(value.reg->width == 64 || value.value >> value.reg->width == 0);
	}
	free(line);
}

/* The @number-th record of the catalog; NULL where there are fewer. */
static const struct pmu_hwrec *find_record(unsigned number, const struct pmu_box **box)
{
	size_t count;
	const struct pmu_pmu *pmus = catalog_pmus(&count);

	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < pmus[i].box_count; j++) {
			*box = &pmus[i].boxes[j];
			if (number < (*box)->record_count)
				return &(*box)->records[number];
			number -= (unsigned)(*box)->record_count;
		}
	}
	return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	const struct pmu_hwrec *record;
	const struct pmu_box *box;
	struct pmu_ctx *ctx;

	if (pmu_ctx_new(&ctx))
		return 0;
	record = find_record(size ? take_byte(&input) : NO_RECORD, &box);
	if (!record)
		check_line(ctx, &input);
	else if (record->size)
		check_memory(ctx, record, &input);
	else
		check_registers(ctx, box, record, &input);
	pmu_ctx_free(ctx);
	return 0;
}
