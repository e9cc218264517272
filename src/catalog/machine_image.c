#include "catalog/machine_image.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "catalog/machine_keys.h"

#define ALIGN 8

/* Where the strings are in what a list holds. */
struct entry {
	size_t bytes, text; /* bytes 0: the key is no list */
	bool has_text;
};

static const struct entry entries[] = {
    [KEY_PARTS] = {sizeof(struct pmu_part), offsetof(struct pmu_part, box), true},
    [KEY_STRAPS] = {sizeof(struct pmu_strap), offsetof(struct pmu_strap, reg), true},
    [KEY_CPUID] = {.bytes = sizeof(struct pmu_cpuid)},
    [KEY_MSRS] = {.bytes = sizeof(struct pmu_msr)},
    [KEY_FUNCTIONS] = {.bytes = sizeof(struct pmu_function)},
};

struct writer {
	char *image; /* NULL: only @used is wanted */
	size_t used;
};

static const void *pointer_at(const void *at)
{
	const void *pointer;

	memcpy(&pointer, at, sizeof(pointer));
	return pointer;
}

static size_t count_at(const struct pmu_machine *desc, const struct machine_key *key)
{
	size_t count;

	memcpy(&count, (const char *)desc + key->count, sizeof(count));
	return count;
}

/* Appends what the pointer at @at of the image leads to. @return where it is in the image */
static size_t put(struct writer *writer, size_t at, const void *bytes, size_t size)
{
	size_t used = writer->used;

	if (writer->image && size) {
		memcpy(writer->image + used, bytes, size);
		memcpy(writer->image + at, &used, sizeof(used));
	}
	writer->used += (size + ALIGN - 1) / ALIGN * ALIGN;
	return used;
}

static void put_text(struct writer *writer, size_t at, const char *text)
{
	put(writer, at, text, strlen(text) + 1);
}

static void put_list(struct writer *writer, size_t at, const char *list, size_t count,
		     const struct entry *entry)
{
	size_t first = put(writer, at, list, count * entry->bytes);

	for (size_t i = 0; entry->has_text && i < count; i++) {
		size_t text = i * entry->bytes + entry->text;

		put_text(writer, first + text, pointer_at(list + text));
	}
}

static void put_all(struct writer *writer, const struct pmu_machine *desc)
{
	for (size_t i = 0; i < machine_key_count; i++) {
		const struct machine_key *key = &machine_keys[i];
		const void *pointer = pointer_at((const char *)desc + key->offset);

		if (!(key->of & MACHINE_X86))
			continue;
		if (key->kind == KEY_TEXT)
			put_text(writer, key->offset, pointer);
		else if (key->count)
			put_list(writer, key->offset, pointer, count_at(desc, key),
				 &entries[key->kind]);
	}
	put_text(writer, offsetof(struct pmu_machine, text), desc->text);
}

size_t machine_image_size(const struct pmu_machine *desc)
{
	struct writer writer = {.used = sizeof(*desc)};

	put_all(&writer, desc);
	return writer.used;
}

void machine_image_write(const struct pmu_machine *desc, void *image)
{
	struct writer writer = {image, sizeof(*desc)};

	memcpy(image, desc, sizeof(*desc));
	put_all(&writer, desc);
}

/* Makes a pointer of the offset at @at. @return whether @count entries of @bytes are there */
static bool take(char *image, size_t size, size_t at, size_t count, size_t bytes)
{
	const char *pointer;
	size_t offset;

	memcpy(&offset, image + at, sizeof(offset));
	/* Not into the struct: what is a number there stays one. */
	if (offset % ALIGN || offset < sizeof(struct pmu_machine) || offset >= size ||
	    count > (size - offset) / bytes)
		return false;
	pointer = image + offset;
	memcpy(image + at, &pointer, sizeof(pointer));
	return true;
}

static bool take_list(char *image, size_t size, const struct machine_key *key)
{
	const struct entry *entry = &entries[key->kind];
	size_t count = count_at((const struct pmu_machine *)(const void *)image, key), first;
	const void *none = NULL;

	if (!count) {
		memcpy(image + key->offset, &none, sizeof(none));
		return true;
	}
	memcpy(&first, image + key->offset, sizeof(first));
	if (!take(image, size, key->offset, count, entry->bytes))
		return false;
	for (size_t i = 0; entry->has_text && i < count; i++)
		if (!take(image, size, first + i * entry->bytes + entry->text, 1, 1))
			return false;
	return true;
}

static bool take_all(char *image, size_t size)
{
	const void *none = NULL;
	bool fits = true;

	memcpy(image + offsetof(struct pmu_machine, core), &none, sizeof(none));

	for (size_t i = 0; fits && i < machine_key_count; i++) {
		const struct machine_key *key = &machine_keys[i];

		if (!(key->of & MACHINE_X86))
			continue;
		if (key->kind == KEY_TEXT)
			fits = take(image, size, key->offset, 1, 1);
		else if (key->count)
			fits = take_list(image, size, key);
	}
	return fits && take(image, size, offsetof(struct pmu_machine, text), 1, 1);
}

int machine_image_read(struct pmu_machine **desc, struct pmu_ctx *ctx, const void *image,
		       size_t size)
{
	/* Ends with a 0, and so do its strings. */
	char *copy = size < sizeof(**desc) ? NULL : calloc(1, size + 1);

	if (size >= sizeof(**desc) && !copy)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for a machine");
	if (copy)
		memcpy(copy, image, size);
	if (!copy || !take_all(copy, size)) {
		free(copy);
		return error_set(ctx, PMU_E_UNSUPPORTED, "the machine's description is damaged");
	}
	*desc = (struct pmu_machine *)(void *)copy;
	return 0;
}
