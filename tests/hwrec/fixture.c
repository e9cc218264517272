#include "fixture.h"

int fixture_up_for(void **state, const char *pmu, const char *box)
{
	static struct fixture fixture;

	memset(&fixture, 0, sizeof(fixture));
	assert_int_equal(pmu_ctx_new(&fixture.ctx), 0);
	fixture.box = pmu_find_box(pmu_find_pmu(pmu), box);
	assert_non_null(fixture.box);
	*state = &fixture;
	return 0;
}

int fixture_down(void **state)
{
	struct fixture *fixture = *state;

	pmu_ctx_free(fixture->ctx);
	return 0;
}

void dump_put(struct fixture *dump, const char *name, uint64_t value)
{
	const struct pmu_register *reg = pmu_find_register(dump->box, name);
	size_t i = 0;

	assert_non_null(reg);
	while (i < dump->count && dump->values[i].reg != reg)
		i++;
	assert_true(i < VALUES_MAX);
	dump->values[i] = (struct pmu_register_value){.box = dump->box, .reg = reg, .value = value};
	if (i == dump->count)
		dump->count++;
}

void dump_remove(struct fixture *dump, const char *name)
{
	for (size_t i = 0; i < dump->count; i++)
		if (!strcmp(dump->values[i].reg->name, name))
			dump->values[i] = dump->values[--dump->count];
}

static void on_record(void *arg, const struct pmu_hwrec_kind *kind, bool captured)
{
	struct fixture *dump = arg;

	dump->kind = kind ? kind->name : NULL;
	dump->captured = captured;
}

static void on_entry(void *arg, unsigned row, const struct pmu_hwrec_kind *kind)
{
	struct fixture *dump = arg;

	assert_true(dump->entries < 16);
	dump->entry[dump->entries].row = row;
	dump->entry[dump->entries].kind = kind->name;
	dump->entries++;
}

static void on_value(void *arg, const struct pmu_hwrec_value *value)
{
	struct fixture *dump = arg;

	assert_true(dump->reported_count < REPORTED_MAX);
	dump->reported[dump->reported_count].age = dump->entries - 1;
	dump->reported[dump->reported_count++].value = *value;
}

static void on_note(void *arg, const char *text)
{
	struct fixture *dump = arg;

	assert_true(dump->note_count < 8);
	dump->notes[dump->note_count++] = text;
}

static const struct pmu_hwrec_visitor visitor = {.size = sizeof(visitor),
						 .record = on_record,
						 .entry = on_entry,
						 .value = on_value,
						 .note = on_note};

static void forget(struct fixture *dump)
{
	dump->reported_count = dump->note_count = 0;
	dump->entries = 0;
	dump->captured = false;
	dump->kind = NULL;
}

int dump_decode(struct fixture *dump, const char *name, const char *kind)
{
	const struct pmu_hwrec *record = pmu_find_hwrec(dump->box, name);

	assert_non_null(record);
	forget(dump);
	return pmu_hwrec_decode(dump->ctx, record, kind, dump->values, dump->count, &visitor, dump);
}

int dump_decode_bytes(struct fixture *dump, const char *name, const void *bytes)
{
	const struct pmu_hwrec *record = pmu_find_hwrec(dump->box, name);

	assert_non_null(record);
	forget(dump);
	return pmu_hwrec_decode_bytes(dump->ctx, record, bytes, &visitor, dump);
}

const struct pmu_hwrec_value *reported(const struct fixture *dump, int age, const char *name)
{
	for (size_t i = 0; i < dump->reported_count; i++)
		if (dump->reported[i].age == age &&
		    !strcmp(dump->reported[i].value.field->name, name))
			return &dump->reported[i].value;
	return NULL;
}

uint64_t value_of(const struct fixture *dump, int age, const char *name)
{
	const struct pmu_hwrec_value *value = reported(dump, age, name);

	if (!value)
		fail_msg("nothing reported of %s, entry %d", name, age);
	return value->value;
}

const char *meaning_of(const struct fixture *dump, int age, const char *name)
{
	const struct pmu_hwrec_value *value = reported(dump, age, name);

	assert_non_null(value);
	return value->meaning ? value->meaning->name : "";
}

bool noted(const struct fixture *dump, const char *word)
{
	for (size_t i = 0; i < dump->note_count; i++)
		if (strstr(dump->notes[i], word))
			return true;
	return false;
}

void assert_says(const struct fixture *dump, ...)
{
	va_list words;

	va_start(words, dump);
	for (const char *word; (word = va_arg(words, const char *));)
		if (!strstr(pmu_message(dump->ctx), word))
			fail_msg("\"%s\" does not say %s", pmu_message(dump->ctx), word);
	va_end(words);
}

uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(0x2545F4914F6CDD1D);
}
