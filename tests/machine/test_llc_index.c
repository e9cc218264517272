/* Lines in the LLC, pages in memory. */
#include "machine_fixture.h"

#include "machine/address_space.h"
#include "machine/llc_index.h"

static void open_with_slices(struct fixture *fixture, uint32_t slices)
{
	struct pmu_machine desc = small_machine();

	desc.slices = slices;
	fixture_up(fixture, &desc);
}

static void division_is_exact(void **unused)
{
	(void)unused;
	for (uint32_t value = 1; value <= 32; value++) {
		const struct divisor divisor = divisor_of(value);

		for (uint32_t line = 0; line < 1u << 31; line += 65521)
			assert_int_equal(divide(&divisor, line), line / value);
		for (uint32_t q = 1; q < (1u << 31) / value; q += 100003) {
			assert_int_equal(divide(&divisor, q * value), q);
			assert_int_equal(divide(&divisor, q * value - 1), q - 1);
		}
		assert_int_equal(divide(&divisor, (1u << 31) - 1), ((1u << 31) - 1) / value);
	}
}

/* Where an inexact inverse shows first: at multiples, and just below them. */
static void check_division_of_times(uint64_t value)
{
	const uint64_t most = (UINT64_C(1) << 62) - 1;
	const struct time_divisor divisor = time_divisor_of(value);

	for (unsigned bits = 0; bits < 62; bits++) {
		const uint64_t q = (most >> bits) / value;

		assert_int_equal(divide_time(&divisor, most >> bits), q);
		assert_int_equal(divide_time(&divisor, q * value), q);
		if (q)
			assert_int_equal(divide_time(&divisor, q * value - 1), q - 1);
	}
	assert_int_equal(divide_time(&divisor, 0), 0);
}

static void division_of_times_is_exact(void **unused)
{
	(void)unused;
	for (uint64_t value = 1; value < 5000; value++)
		check_division_of_times(value);
	for (unsigned bits = 13; bits <= 61; bits++) {
		check_division_of_times((UINT64_C(1) << bits) - 1);
		check_division_of_times(UINT64_C(1) << bits);
		check_division_of_times((UINT64_C(1) << bits) / 3 * 2 + 1);
	}
}

static void a_place_is_of_one_line(void **unused)
{
	struct fixture fixture;

	(void)unused;
	open_with_slices(&fixture, 22);
	for (uint32_t line = 0; line < 1u << 31; line += 99991)
		assert_int_equal(
		    llc_index_line(fixture.machine, llc_index_of(fixture.machine, line)), line);
	fixture_down(&fixture);
}

/* slices * sets consecutive lines, beginning at a multiple of slices, take each set of each slice
 * once.
 */
static void lines_spread_evenly(void **unused)
{
	static uint8_t seen[22][64];
	struct fixture fixture;

	(void)unused;
	open_with_slices(&fixture, 22);
	for (uint32_t line = 22 * 1000; line < 22 * 1000 + 22 * 64; line++) {
		struct llc_index index = llc_index_of(fixture.machine, line);

		assert_int_equal(seen[index.slice][index.set]++, 0);
	}
	fixture_down(&fixture);
}

/*
 * q times an odd number takes, where q goes by steps of 2^s through all of 32 bits, each product of
 * one remainder by 2^s once. A hash is an interval of products, all equally long, so that it holds
 * the quotient of products by slices, rounded down or up.
 */
static void a_period_of_hashes_is_even(void **unused)
{
	(void)unused;
	for (uint32_t slices = 1; slices <= 32; slices++)
		for (unsigned step_log2 = 16; step_log2 <= 28; step_log2 += 4) {
			const uint32_t products = 1u << (32 - step_log2);
			uint32_t counts[32] = {0};

			for (uint32_t i = 0; i < products; i++)
				counts[llc_index_hash(4711 + (i << step_log2), slices)]++;
			for (uint32_t slice = 0; slice < slices; slice++)
				assert_in_range(counts[slice], products / slices,
						(products + slices - 1) / slices);
		}
}

/*
 * Lines of 31 bits see only the beginning of such a period. How far a part of it is from even has
 * bounds, by the continued fraction of stride and multiplier, but no closed form: the fifth is
 * chosen, not derived.
 */
static void strides_spread_over_slices(void **unused)
{
	const uint32_t lines = 22000;
	struct fixture fixture;

	(void)unused;
	open_with_slices(&fixture, 22);
	for (uint32_t stride = 1; stride <= 1 << 16; stride *= 2) {
		uint32_t counts[22] = {0};

		for (uint32_t i = 0; i < lines; i++)
			counts[llc_index_of(fixture.machine, i * stride).slice]++;
		for (uint32_t slice = 0; slice < 22; slice++)
			assert_in_range(counts[slice], lines / 22 * 8 / 10, lines / 22 * 12 / 10);
	}
	fixture_down(&fixture);
}

static void pages_go_to_the_toucher_in_order(void **unused)
{
	const uint32_t node = (uint32_t)(small_machine().memory_bytes / 4096);
	struct machine_hart *here, *there;
	struct fixture fixture;

	(void)unused;
	open_with_slices(&fixture, 4);
	enter_all(&fixture);
	here = fixture.cores[0];
	there = fixture.cores[fixture.desc.cores];
	assert_int_equal(address_space_frame(fixture.space, 0x7fff0, here), 0);
	assert_int_equal(address_space_frame(fixture.space, 0x10, there), node);
	assert_int_equal(address_space_frame(fixture.space, 0xfffffffff, here), 1);
	assert_int_equal(address_space_frame(fixture.space, 0x11, there), node + 1);
	/* Who touches first decides; later ones find it there. */
	assert_int_equal(address_space_frame(fixture.space, 0x10, here), node);
	assert_int_equal(address_space_frame(fixture.space, 0x7fff0, there), 0);
	fixture_down(&fixture);
}

static void spaces_have_pages_of_their_own(void **unused)
{
	struct machine_address_space *other;
	struct fixture fixture;

	(void)unused;
	open_with_slices(&fixture, 4);
	enter_all(&fixture);
	assert_int_equal(machine_address_space_new(&other, fixture.machine), 0);
	assert_int_equal(address_space_frame(fixture.space, 5, fixture.cores[0]), 0);
	assert_int_equal(address_space_frame(other, 5, fixture.cores[0]), 1);
	assert_int_equal(address_space_frame(fixture.space, 5, fixture.cores[0]), 0);
	machine_address_space_free(other);
	fixture_down(&fixture);
}

static void a_full_node_falls_over(void **unused)
{
	struct pmu_machine desc = small_machine();
	struct fixture fixture;

	(void)unused;
	desc.memory_bytes = 8 * 4096;
	fixture_up(&fixture, &desc);
	enter_all(&fixture);
	for (uint32_t page = 0; page < 16; page++)
		assert_int_equal(address_space_frame(fixture.space, page, fixture.cores[0]), page);
	fixture_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(division_is_exact),
	    cmocka_unit_test(division_of_times_is_exact),
	    cmocka_unit_test(a_place_is_of_one_line),
	    cmocka_unit_test(lines_spread_evenly),
	    cmocka_unit_test(a_period_of_hashes_is_even),
	    cmocka_unit_test(strides_spread_over_slices),
	    cmocka_unit_test(pages_go_to_the_toucher_in_order),
	    cmocka_unit_test(spaces_have_pages_of_their_own),
	    cmocka_unit_test(a_full_node_falls_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
