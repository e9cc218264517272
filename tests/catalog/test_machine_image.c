/* Descriptions as images: each key comes back, and what is damaged is refused or harmless. */
#include <stdlib.h>
#include <string.h>

#include "catalog/machine_image.h"
#include "support/cmocka.h"

/* Text and lists of both; numbers are compared as bytes, with the pointers taken from one. */
static void compare(const struct pmu_machine *a, const struct pmu_machine *b)
{
	struct pmu_machine copy = *b;

	assert_string_equal(a->name, b->name);
	assert_string_equal(a->title, b->title);
	assert_string_equal(a->pmu, b->pmu);
	assert_string_equal(a->events, b->events);
	assert_string_equal(a->source, b->source);
	assert_string_equal(a->brand, b->brand);
	assert_string_equal(a->flags, b->flags);
	assert_string_equal(a->qemu_cpu, b->qemu_cpu);
	assert_string_equal(a->uarch, b->uarch);
	assert_string_equal(a->translation, b->translation);
	assert_string_equal(a->large_pages, b->large_pages);
	assert_string_equal(a->text, b->text);
	assert_int_equal(a->part_count, b->part_count);
	assert_int_equal(a->strap_count, b->strap_count);
	for (size_t i = 0; i < a->part_count; i++) {
		assert_string_equal(a->parts[i].box, b->parts[i].box);
		assert_int_equal(a->parts[i].instances, b->parts[i].instances);
	}
	for (size_t i = 0; i < a->strap_count; i++) {
		assert_string_equal(a->straps[i].reg, b->straps[i].reg);
		assert_int_equal(a->straps[i].value, b->straps[i].value);
	}
	assert_memory_equal(a->cpuid, b->cpuid, a->cpuid_count * sizeof(a->cpuid[0]));
	assert_memory_equal(a->msrs, b->msrs, a->msr_count * sizeof(a->msrs[0]));
	for (size_t i = 0; i < a->function_count; i++) {
		assert_int_equal(a->functions[i].device, b->functions[i].device);
		assert_int_equal(a->functions[i].function, b->functions[i].function);
		assert_int_equal(a->functions[i].id, b->functions[i].id);
		assert_int_equal(a->functions[i].class_code, b->functions[i].class_code);
		assert_int_equal(a->functions[i].buses, b->functions[i].buses);
	}
	copy.name = a->name, copy.title = a->title, copy.pmu = a->pmu, copy.events = a->events;
	copy.source = a->source, copy.brand = a->brand, copy.flags = a->flags;
	copy.qemu_cpu = a->qemu_cpu, copy.uarch = a->uarch, copy.text = a->text,
	copy.translation = a->translation, copy.large_pages = a->large_pages, copy.cpuid = a->cpuid;
	copy.msrs = a->msrs, copy.functions = a->functions, copy.parts = a->parts;
	copy.straps = a->straps;
	assert_memory_equal(a, &copy, sizeof(copy));
}

static char *image_of(const struct pmu_machine *desc, size_t *size)
{
	char *image;

	*size = machine_image_size(desc);
	image = calloc(1, *size);
	assert_non_null(image);
	machine_image_write(desc, image);
	return image;
}

static void every_key_comes_back(void **state)
{
	const struct pmu_machine *machines;
	size_t count;

	(void)state;
	machines = catalog_machines(&count);
	assert_true(count > 0);
	for (size_t i = 0; i < count; i++) {
		struct pmu_machine *read;
		size_t size;
		char *image;

		if (machines[i].core) /* it is not shared by an image */
			continue;
		image = image_of(&machines[i], &size);
		assert_int_equal(machine_image_read(&read, NULL, image, size), 0);
		/* Nothing in it leads to the original. */
		memset(image, 0xff, size);
		compare(&machines[i], read);
		free(read);
		free(image);
	}
}

/* What it may be read for: a sanitizer sees whatever lies outside. */
static size_t look_at_all(const struct pmu_machine *desc)
{
	const char *texts[] = {desc->name,   desc->title,	desc->pmu,	   desc->events,
			       desc->source, desc->brand,	desc->flags,	   desc->qemu_cpu,
			       desc->uarch,  desc->translation, desc->large_pages, desc->text};
	size_t sum = 0;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		sum += strlen(texts[i]);
	for (size_t i = 0; i < desc->part_count; i++)
		sum += strlen(desc->parts[i].box) + desc->parts[i].instances;
	for (size_t i = 0; i < desc->strap_count; i++)
		sum += strlen(desc->straps[i].reg) + desc->straps[i].value;
	for (size_t i = 0; i < desc->cpuid_count; i++)
		sum += desc->cpuid[i].edx;
	for (size_t i = 0; i < desc->msr_count; i++)
		sum += desc->msrs[i].value;
	for (size_t i = 0; i < desc->function_count; i++)
		sum += desc->functions[i].buses;
	return sum;
}

static void damage_leads_nowhere(void **state)
{
	const struct pmu_machine *desc = pmu_find_machine("xeon-e5v4-4c");
	size_t size, refused = 0, sum = 0;
	char *image = image_of(desc, &size);

	(void)state;
	for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
		const uint64_t values[] = {0, 8, size - 8, size, UINT64_MAX - 7, UINT64_MAX / 2};

		for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
			struct pmu_machine *read;
			uint64_t kept;

			memcpy(&kept, image + at, sizeof(kept));
			memcpy(image + at, &values[i], sizeof(kept));
			if (machine_image_read(&read, NULL, image, size)) {
				refused++;
			} else {
				sum += look_at_all(read);
				free(read);
			}
			memcpy(image + at, &kept, sizeof(kept));
		}
	}
	assert_true(refused > 0 && sum > 0);
	free(image);
}

static void cut_short(void **state)
{
	const struct pmu_machine *desc = pmu_find_machine("xeon-e5v4-4c");
	struct pmu_machine *read;
	size_t size;
	char *image = image_of(desc, &size);

	(void)state;
	for (size_t less = 8; less <= size; less += 8) {
		char *cut = malloc(size - less);

		assert_true(cut || size == less);
		memcpy(cut, image, size - less);
		if (!machine_image_read(&read, NULL, cut, size - less)) {
			look_at_all(read);
			free(read);
		}
		free(cut);
	}
	free(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_key_comes_back),
	    cmocka_unit_test(damage_leads_nowhere),
	    cmocka_unit_test(cut_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
