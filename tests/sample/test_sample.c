/* Files of samples: written and read again, and read with bytes that are wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "catalog/entries.h"
#include "sample/output.h"
#include "sample/perf_file.h"

#define SAMPLES 20u
#define EVENT	"itanium-9300/core.DATA_EAR_EVENTS"
#define NEXT_IP 0x4000000000000141ull

struct fixture {
	struct pmu_ctx *ctx;
	char path[64];
	unsigned char *bytes; /* of the whole file */
	size_t size;
};

static const struct {
	unsigned space, number;
	uint64_t value;
} registers[] = {
    {PMU_SPACE_PMC, 40, 0x2000008 | 15}, /* plm, ism; cache mode */
    {PMU_SPACE_PMD, 32, 0x6000000000004480},
    {PMU_SPACE_PMD, 33, 1u << 14 | 280}, /* stat, latency */
    {PMU_SPACE_PMD, 36, 0x4000000000000100 | 1u << 3 | 1u << 2 | 1},
};

static size_t find_registers(const struct pmu_box *box, struct pmu_register_value *values)
{
	size_t count = 0;

	for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++) {
		for (size_t r = 0; r < box->register_count; r++) {
			const struct pmu_register *reg = &box->registers[r];

			if (reg->space != registers[i].space || reg->offset != registers[i].number)
				continue;
			values[count++] = (struct pmu_register_value){
			    .box = box, .reg = reg, .value = registers[i].value};
			break;
		}
	}
	return count;
}

static void write_file(struct fixture *f)
{
	static char name[] = "pmulab", *const argv[] = {name, NULL};
	const struct perf_file_info info = {.machine = "itanium-9300-1s",
					    .pmu = "itanium-9300",
					    .cpus = 4,
					    .argv = argv,
					    .event_count = 1,
					    .names = {EVENT},
					    .codes = {0xC8},
					    .periods = {10}};
	const struct pmu_mapping mapping = {1, 0x4000000000000000, 0x1000, 0, "/prog"};
	struct perf_file_origin origin = {1, 1, 2, 5};
	struct pmu_register_value values[8];
	struct pmu_selection selection;
	struct sample_output *output;
	struct capture_event event;
	struct capture capture;
	char bytes[PERF_FILE_RECORD_MAX];
	int fd = open(f->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(pmu_event_parse(f->ctx, NULL, EVENT, &selection), 0);
	struct perf_file_sample sample = {
	    .origin = origin,
	    .ip = 1,
	    .next_ip = NEXT_IP,
	    .period = 10,
	    .capture = &capture,
	    .registers = values,
	    .register_count = find_registers(selection.box, values),
	};

	assert_int_equal(sample.register_count, 4);
	capture_event_init(&event, &selection);
	capture_decode(&capture, &event, values, 4);
	assert_int_equal(perf_file_begin(fd, &info), 0);
	assert_int_equal(sample_output_new(&output, fd), 0);
	sample_output_put(output, bytes, perf_file_put_comm(bytes, &origin, "prog"));
	sample_output_put(output, bytes, perf_file_put_mmap(bytes, &origin, &mapping, true));
	for (unsigned i = 0; i < SAMPLES; i++) {
		sample.origin.time_ns = i;
		sample_output_put(output, bytes, perf_file_put_sample(bytes, &info, &sample));
	}
	assert_int_equal(perf_file_end(fd, &info, (uint64_t)sample_output_end(output)), 0);
	sample_output_free(output);
	f->size = (size_t)lseek(fd, 0, SEEK_END);
	f->bytes = malloc(f->size);
	assert_int_equal(pread(fd, f->bytes, f->size, 0), f->size);
	close(fd);
}

static int fixture_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_int_equal(pmu_ctx_new(&f->ctx), 0);
	snprintf(f->path, sizeof(f->path), "/tmp/pmulab-sample-%d", getpid());
	write_file(f);
	*state = f;
	return 0;
}

static int fixture_down(void **state)
{
	struct fixture *f = *state;

	unlink(f->path);
	pmu_ctx_free(f->ctx);
	free(f->bytes);
	free(f);
	return 0;
}

static void what_was_written_is_read(void **state)
{
	struct fixture *f = *state;
	struct pmu_sample sample = {.size = sizeof(sample)};
	struct pmu_mapping mapping;
	struct pmu_samples *samples;
	unsigned count = 0;

	assert_int_equal(pmu_samples_open(&samples, f->ctx, f->path), 0);
	assert_string_equal(pmu_samples_machine(samples), "itanium-9300-1s");
	assert_int_equal(pmu_samples_events(samples), 1);
	assert_string_equal(pmu_samples_event(samples, 0), EVENT);
	assert_null(pmu_samples_event(samples, 1));
	while (pmu_samples_next(samples, f->ctx, &sample) == 1) {
		assert_int_equal(sample.time_ns, count++);
		assert_int_equal(sample.event, 0);
		assert_int_equal(sample.next_ip, NEXT_IP);
		assert_int_equal(sample.period, 10);
		assert_int_equal(sample.cpu, 2);
		assert_true(sample.captured && sample.has_data && sample.has_latency);
		assert_int_equal(sample.data_address, 0x6000000000004480);
		assert_int_equal(sample.latency, 280);
		assert_false(sample.latency_least);
		assert_int_equal(sample.register_count, 4);
		assert_int_equal(sample.branch_count, 0);
	}
	assert_int_equal(count, SAMPLES);
	assert_int_equal(pmu_samples_mappings(samples, &mapping, 1), 1);
	assert_string_equal(mapping.path, "/prog");
	assert_int_equal(mapping.bytes, 0x1000);
	pmu_samples_close(samples);
}

/* The first bundle of the window, 16 on, and slot 1: 323602-001 table 3-21. */
static void the_instruction_has_its_slot(void **state)
{
	struct fixture *f = *state;
	struct pmu_register_value values[8];
	struct pmu_selection selection;
	struct capture_event event;
	struct capture capture;

	assert_int_equal(pmu_event_parse(f->ctx, NULL, EVENT, &selection), 0);
	capture_event_init(&event, &selection);
	capture_decode(&capture, &event, values, find_registers(selection.box, values));
	assert_true(capture.has_instruction);
	assert_int_equal(capture.instruction, 0x4000000000000111);
}

static void write_bytes(const struct fixture *f, const unsigned char *bytes, size_t size)
{
	FILE *file = fopen(f->path, "we");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

/* @return what ended it; negative: refused */
static int read_all(struct fixture *f)
{
	struct pmu_sample sample = {.size = sizeof(sample)};
	struct pmu_samples *samples;
	int more = pmu_samples_open(&samples, f->ctx, f->path);

	if (more)
		return more;
	while ((more = pmu_samples_next(samples, f->ctx, &sample)) == 1)
		;
	pmu_samples_close(samples);
	return more;
}

static void files_that_end_early_are_refused(void **state)
{
	struct fixture *f = *state;

	for (size_t size = 0; size < f->size - 64; size += 7) {
		write_bytes(f, f->bytes, size);
		assert_true(read_all(f) < 0);
		assert_true(strlen(pmu_message(f->ctx)) > 0);
	}
}

/* Whatever bytes are wrong, it is read or refused. */
static void wrong_bytes_do_no_harm(void **state)
{
	struct fixture *f = *state;
	unsigned char *bytes = malloc(f->size);
	unsigned refused = 0;
	uint64_t seed = 1;

	for (unsigned run = 0; run < 4000; run++) {
		memcpy(bytes, f->bytes, f->size);
		for (unsigned i = 0; i <= run % 4; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			bytes[(seed >> 33) % f->size] = (unsigned char)(seed >> 24);
		}
		write_bytes(f, bytes, f->size);
		refused += read_all(f) < 0;
	}
	assert_in_range(refused, 100, 3900);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(what_was_written_is_read, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(the_instruction_has_its_slot, fixture_up, fixture_down),
	    cmocka_unit_test_setup_teardown(files_that_end_early_are_refused, fixture_up,
					    fixture_down),
	    cmocka_unit_test_setup_teardown(wrong_bytes_do_no_harm, fixture_up, fixture_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
