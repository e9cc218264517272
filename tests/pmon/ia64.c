/* The PMU of an IA-64 core by the manual's registers (323602-001 §3.3), fed with totals by hand. */
#include "pmon/ia64/pmu.h"

#include <string.h>

#include "catalog/entries.h"
#include "support/cmocka.h"

enum { CYCLES, RETIRED, BUBBLE_FETCH, BUBBLE_STACK, L1D_READ, LOAD, L2D_READ, L2D_WRITE, CELLS };

static const struct signal_cell cells[CELLS] = {
    [CYCLES] = {SIGNAL_CORE_CYCLES, QUALIFIER_CORE_CYCLES_RUNNING},
    [RETIRED] = {SIGNAL_PIPE_RETIRED, 0},
    [BUBBLE_FETCH] = {SIGNAL_PIPE_BUBBLE, QUALIFIER_PIPE_BUBBLE_FETCH},
    [BUBBLE_STACK] = {SIGNAL_PIPE_BUBBLE, QUALIFIER_PIPE_BUBBLE_STACK},
    [L1D_READ] = {SIGNAL_L1D_READ, 0},
    [LOAD] = {SIGNAL_PIPE_LOAD, 0},
    [L2D_READ] = {SIGNAL_L2D_REFERENCE, QUALIFIER_L2D_REFERENCE_READ},
    [L2D_WRITE] = {SIGNAL_L2D_REFERENCE, QUALIFIER_L2D_REFERENCE_WRITE},
};

struct fixture {
	struct pmon_ia64 *pmu;
	uint64_t totals[SIGNAL_BANKS][CELLS];
	uint64_t now;
};

/* Event codes, and control bits: levels, overflow interrupt, privileged, instruction set. */
#define CYCLES_CODE	   0x12u
#define RETIRED_CODE	   0x08u
#define BUBBLE_CODE	   0x00u
#define READS_CODE	   0xc2u
#define LOADS_CODE	   0xcdu
#define L2D_CODE	   0xe6u
#define USER		   (8ull | 2ull << 24 | 15ull << 27)
#define OI		   (1ull << 5)
#define PM		   (1ull << 6)
#define ALL		   (1ull << 26)
#define EVENT(code, umask) (USER | (uint64_t)(code) << 8 | (uint64_t)(umask) << 16)

static void set_pmc(struct fixture *r, unsigned n, uint64_t value)
{
	assert_int_equal(pmon_ia64_write(r->pmu, PMU_SPACE_PMC, n, value, r->now), 0);
}

static void set_pmd(struct fixture *r, unsigned n, uint64_t value)
{
	assert_int_equal(pmon_ia64_write(r->pmu, PMU_SPACE_PMD, n, value, r->now), 0);
}

static void set_ibr(struct fixture *r, unsigned n, uint64_t value)
{
	assert_int_equal(pmon_ia64_write(r->pmu, PMU_SPACE_IBR, n, value, r->now), 0);
}

static uint64_t read_register(struct fixture *r, unsigned space, unsigned n)
{
	uint64_t value = 0;

	assert_int_equal(pmon_ia64_read(r->pmu, space, n, &value), 0);
	return value;
}

static uint64_t pmc(struct fixture *r, unsigned n)
{
	return read_register(r, PMU_SPACE_PMC, n);
}

static uint64_t pmd(struct fixture *r, unsigned n)
{
	return read_register(r, PMU_SPACE_PMD, n);
}

/* A cycle in which a cell grows; the PMU is asked as a core asks it. */
static void cycle(struct fixture *r, unsigned cell, uint64_t count)
{
	for (unsigned bank = 0; bank < SIGNAL_BANKS; bank++)
		r->totals[bank][cell] += count;
	r->now++;
	if (pmon_ia64_wants(r->pmu)->cycles)
		pmon_ia64_cycles(r->pmu, 1);
	if (r->now >= pmon_ia64_wants(r->pmu)->deadline)
		pmon_ia64_deadline(r->pmu, r->now);
}

static int fixture_up(void **state)
{
	static struct fixture fixture;
	struct pmon_ia64_source source = {.cells = cells, .count = CELLS};
	const struct pmu_pmu *pmu = pmu_find_pmu("itanium-9300");

	memset(&fixture, 0, sizeof(fixture));
	for (unsigned bank = 0; bank < SIGNAL_BANKS; bank++)
		source.totals[bank] = fixture.totals[bank];
	assert_non_null(pmu);
	fixture.pmu = test_calloc(1, pmon_ia64_size(&pmu->boxes[0]));
	assert_int_equal(pmon_ia64_init(fixture.pmu, NULL, &pmu->boxes[0], &source), 0);
	pmon_ia64_monitors(fixture.pmu, true, true, 0);
	*state = &fixture;
	return 0;
}

static int fixture_down(void **state)
{
	test_free(((struct fixture *)*state)->pmu);
	return 0;
}

static void test_reset_values(void **state)
{
	struct fixture *r = *state;

	assert_int_equal(pmc(r, 0), 0);
	assert_int_equal(pmc(r, 38), 0xdb6);
	assert_int_equal(pmc(r, 41), 0x2078fefefefe);
	assert_int_equal(pmd(r, 4), 0);
	assert_int_equal(pmon_ia64_write(r->pmu, PMU_SPACE_PMC, 31, 0, 0), PMU_E_UNKNOWN);
}

static void test_counts_what_the_unit_mask_selects(void **state)
{
	struct fixture *r = *state;

	set_pmc(r, 4, EVENT(BUBBLE_CODE, 0));
	set_pmc(r, 5, EVENT(BUBBLE_CODE, 1));
	set_pmc(r, 6, EVENT(BUBBLE_CODE, 2));
	set_pmc(r, 7, EVENT(BUBBLE_CODE, 3)); /* nothing */
	cycle(r, BUBBLE_FETCH, 1);
	cycle(r, BUBBLE_STACK, 1);
	cycle(r, BUBBLE_STACK, 1);
	assert_int_equal(pmd(r, 4), 3);
	assert_int_equal(pmd(r, 5), 1);
	assert_int_equal(pmd(r, 6), 2);
	assert_int_equal(pmd(r, 7), 0);
}

static void test_counter_restrictions(void **state)
{
	struct fixture *r = *state;

	set_pmc(r, 9, EVENT(BUBBLE_CODE, 0));
	set_pmc(r, 10, EVENT(BUBBLE_CODE, 0)); /* only PMC4 to 9 */
	cycle(r, BUBBLE_FETCH, 1);
	assert_int_equal(pmd(r, 9), 1);
	assert_int_equal(pmd(r, 10), 0);
}

static void test_enables(void **state)
{
	struct fixture *r = *state;
	uint64_t control = EVENT(CYCLES_CODE, 0);

	set_pmc(r, 4, control & ~8ull);		/* not at level 3 */
	set_pmc(r, 5, (control & ~8ull) | 7);	/* only below */
	set_pmc(r, 6, control & ~(2ull << 24)); /* not this instruction set */
	set_pmc(r, 7, control | PM);		/* the system's */
	set_pmc(r, 8, control);			/* the user's */
	cycle(r, CYCLES, 1);
	pmon_ia64_monitors(r->pmu, false, true, r->now); /* rum */
	cycle(r, CYCLES, 1);
	pmon_ia64_monitors(r->pmu, true, false, r->now);
	cycle(r, CYCLES, 1);
	assert_int_equal(pmd(r, 4), 0);
	assert_int_equal(pmd(r, 5), 0);
	assert_int_equal(pmd(r, 6), 0);
	assert_int_equal(pmd(r, 7), 2);
	assert_int_equal(pmd(r, 8), 2);
}

static void test_freeze(void **state)
{
	struct fixture *r = *state;

	set_pmc(r, 4, EVENT(CYCLES_CODE, 0));
	cycle(r, CYCLES, 5);
	set_pmc(r, 0, 1);
	cycle(r, CYCLES, 7);
	assert_int_equal(pmd(r, 4), 5);
	set_pmc(r, 0, 0);
	cycle(r, CYCLES, 1);
	assert_int_equal(pmd(r, 4), 6);
}

/* A carry out of bit 46, with and without an interrupt. */
static void test_overflow(void **state)
{
	struct fixture *r = *state;

	set_pmc(r, 4, EVENT(CYCLES_CODE, 0));
	set_pmd(r, 4, (1ull << 47) - 2);
	assert_int_equal(pmd(r, 4), UINT64_MAX - 1); /* above bit 46 as bit 46 */
	cycle(r, CYCLES, 1);
	assert_int_equal(pmc(r, 0), 0);
	cycle(r, CYCLES, 1);
	assert_int_equal(pmc(r, 0), 1 << 4);
	assert_int_equal(pmd(r, 4), 0);
	cycle(r, CYCLES, 1);
	assert_int_equal(pmd(r, 4), 1); /* it goes on */
	assert_int_equal(pmon_ia64_interrupts(r->pmu), 0);
	set_pmc(r, 15, EVENT(CYCLES_CODE, 0) | OI);
	set_pmd(r, 15, (1ull << 47) - 3);
	for (unsigned i = 0; i < 5; i++)
		cycle(r, CYCLES, 1);
	assert_int_equal(pmc(r, 0), 1 << 15 | 1 << 4 | 1); /* frozen */
	assert_int_equal(pmd(r, 15), 0);
	assert_int_equal(pmd(r, 4), 4); /* by the same cycle */
	assert_int_equal(pmon_ia64_interrupts(r->pmu), 1);
	set_pmc(r, 0, 0);
	cycle(r, CYCLES, 1);
	assert_int_equal(pmd(r, 15), 1);
}

/* However far away: none is lost, and none is late. */
static void test_many_overflows(void **state)
{
	struct fixture *r = *state;
	unsigned found = 0;

	set_pmc(r, 4, EVENT(RETIRED_CODE, 0) | OI);
	for (unsigned n = 1; n <= 100000; n += 1 + n / 8) {
		set_pmd(r, 4, (1ull << 47) - n);
		for (unsigned i = 0; i < n; i++) {
			assert_int_equal(pmc(r, 0), 0);
			cycle(r, RETIRED, 1);
		}
		assert_int_equal(pmc(r, 0), 1 << 4 | 1);
		set_pmc(r, 0, 0);
		found++;
	}
	assert_int_equal(pmon_ia64_interrupts(r->pmu), found);
}

static void test_no_overflow_is_lost(void **state)
{
	struct fixture *r = *state;

	set_pmc(r, 4, EVENT(RETIRED_CODE, 0) | OI);
	for (unsigned n = 0; n < 100000; n++) {
		set_pmd(r, 4, (1ull << 47) - 1 - n % 3);
		for (unsigned i = 0; i <= n % 3; i++)
			cycle(r, RETIRED, 1);
		assert_int_equal(pmc(r, 0), 1 << 4 | 1);
		set_pmc(r, 0, 0);
	}
	assert_int_equal(pmon_ia64_interrupts(r->pmu), 100000);
}

static void test_threshold_is_strict(void **state)
{
	struct fixture *r = *state;

	for (unsigned t = 0; t < 4; t++)
		set_pmc(r, 4 + t, EVENT(RETIRED_CODE, 0) | (uint64_t)t << 20);
	cycle(r, RETIRED, 1);
	cycle(r, RETIRED, 2);
	cycle(r, RETIRED, 3);
	assert_int_equal(pmd(r, 4), 6);
	assert_int_equal(pmd(r, 5), 2);
	assert_int_equal(pmd(r, 6), 1);
	assert_int_equal(pmd(r, 7), 0);
}

/* PMC5 leads the sets of the first-level data cache. */
static void test_sets(void **state)
{
	struct fixture *r = *state;

	set_pmc(r, 6, EVENT(READS_CODE, 0));
	cycle(r, L1D_READ, 1);
	assert_int_equal(pmd(r, 6), 0);
	set_pmc(r, 5, EVENT(LOADS_CODE, 0)); /* another set */
	cycle(r, L1D_READ, 1);
	assert_int_equal(pmd(r, 6), 0);
	set_pmc(r, 5, EVENT(READS_CODE, 0));
	cycle(r, L1D_READ, 1);
	assert_int_equal(pmd(r, 6), 1);
	assert_int_equal(pmd(r, 5), 1);
}

/* §4.8.4: PMC4 has the unit mask of PMD5 and PMD8 too, PMC6 that of PMD7 and PMD9. */
static void test_shared_unit_masks(void **state)
{
	struct fixture *r = *state;

	set_pmc(r, 4, EVENT(L2D_CODE, 1)); /* reads */
	set_pmc(r, 5, EVENT(L2D_CODE, 2));
	set_pmc(r, 8, EVENT(L2D_CODE, 3));
	set_pmc(r, 7, EVENT(L2D_CODE, 1));
	set_pmc(r, 6, EVENT(L2D_CODE, 2)); /* writes */
	cycle(r, L2D_READ, 100);
	cycle(r, L2D_WRITE, 7);
	assert_int_equal(pmd(r, 4), 100);
	assert_int_equal(pmd(r, 5), 100);
	assert_int_equal(pmd(r, 8), 100);
	assert_int_equal(pmd(r, 6), 7);
	assert_int_equal(pmd(r, 7), 7);
	set_pmc(r, 4, EVENT(L2D_CODE, 3)); /* both */
	cycle(r, L2D_READ, 10);
	cycle(r, L2D_WRITE, 1);
	assert_int_equal(pmd(r, 5), 111);
	assert_int_equal(pmd(r, 7), 8);
}

/* §4.8.4: and .all, which takes the other thread's. */
static void test_shared_threads(void **state)
{
	struct fixture *r = *state;
	const struct pmu_box *box = &pmu_find_pmu("itanium-9300")->boxes[0];
	struct pmon_ia64_source source = {.cells = cells, .count = CELLS, .other = r->pmu};
	struct pmon_ia64 *own = r->pmu;

	for (unsigned bank = 0; bank < SIGNAL_BANKS; bank++)
		source.totals[bank] = r->totals[bank];
	r->pmu = test_calloc(1, pmon_ia64_size(box));
	assert_int_equal(pmon_ia64_init(r->pmu, NULL, box, &source), 0);
	pmon_ia64_monitors(r->pmu, true, true, 0);
	set_pmc(r, 4, EVENT(L2D_CODE, 1) | ALL);
	set_pmc(r, 5, EVENT(L2D_CODE, 1));
	set_pmc(r, 6, EVENT(L2D_CODE, 1));
	set_pmc(r, 9, EVENT(L2D_CODE, 1) | ALL);
	cycle(r, L2D_READ, 100); /* of each thread */
	assert_int_equal(pmd(r, 4), 200);
	assert_int_equal(pmd(r, 5), 200);
	assert_int_equal(pmd(r, 6), 100);
	assert_int_equal(pmd(r, 9), 100);
	test_free(r->pmu);
	r->pmu = own;
}

static unsigned mark(struct fixture *r, uint64_t ip, uint64_t encoding, char unit, bool either)
{
	const struct detail_code code = {ip, encoding, (uint8_t)unit, either};

	return pmon_ia64_mark(r->pmu, &code);
}

#define ALL_MARKS 31u

static void test_everything_is_marked_after_reset(void **state)
{
	struct fixture *r = *state;

	assert_int_equal(mark(r, 0x4000, 0x123, 'M', true), ALL_MARKS);
	assert_int_equal(mark(r, 0x4000, 0x123, 'B', false), ALL_MARKS);
	assert_true(pmon_ia64_mark_data(r->pmu, 0, 0x6000));
	assert_false(pmon_ia64_wants(r->pmu)->marks);
}

static void test_address_range(void **state)
{
	struct fixture *r = *state;

	set_pmc(r, 4, EVENT(RETIRED_CODE, 0));
	set_pmc(r, 32, 0xf01ffffffffff); /* all encodings; ig_ad = inv = 0 */
	set_pmc(r, 38, 0xdb6 & ~2ull);	 /* channel 0 */
	set_ibr(r, 0, 0x4000);
	set_ibr(r, 1, 8ull << 56 | 0xffffffffffff00); /* level 3, 256 bytes */
	assert_true(pmon_ia64_wants(r->pmu)->marks);
	assert_int_equal(mark(r, 0x40f0, 0, 'I', false), ALL_MARKS);
	assert_int_equal(mark(r, 0x4100, 0, 'I', false), ALL_MARKS & ~3u);
	assert_int_equal(mark(r, 1ull << 61 | 0x4000, 0, 'I', false), ALL_MARKS & ~3u);
	set_pmc(r, 32, 0xf01ffffffffff | 1ull << 56); /* inverted */
	assert_int_equal(mark(r, 0x40f0, 0, 'I', false), ALL_MARKS & ~3u);
	assert_int_equal(mark(r, 0x4100, 0, 'I', false), ALL_MARKS);
	set_pmc(r, 32, 0xf01ffffffffff);
	set_ibr(r, 1, 1ull << 63 | 8ull << 56 | 0xffffffffffff00); /* x */
	assert_int_equal(mark(r, 0x40f0, 0, 'I', false), ALL_MARKS);
	assert_int_equal(mark(r, 0x4100, 0, 'I', false), ALL_MARKS & ~3u);
	set_ibr(r, 1, 1ull << 56 | 0xffffffffffff00); /* level 0 only */
	assert_int_equal(mark(r, 0x40f0, 0, 'I', false), ALL_MARKS & ~3u);
}

/* Both bounds are outside, and bits 63:16 have to be equal. */
static void test_fine_range(void **state)
{
	struct fixture *r = *state;

	set_pmc(r, 32, 0xf01ffffffffff);
	set_pmc(r, 38, (0xdb6 & ~0x82ull) | 1 << 13);
	set_ibr(r, 0, 0x14020);
	set_ibr(r, 1, 8ull << 56 | 0xffffffffffffff);
	set_ibr(r, 4, 0x14050);
	set_ibr(r, 5, 8ull << 56 | 0xffffffffffffff);
	assert_int_equal(mark(r, 0x14020, 0, 'I', false) & 3, 0);
	assert_int_equal(mark(r, 0x14030, 0, 'I', false) & 3, 3);
	assert_int_equal(mark(r, 0x14040, 0, 'I', false) & 3, 3);
	assert_int_equal(mark(r, 0x14050, 0, 'I', false) & 3, 0);
	assert_int_equal(mark(r, 0x24030, 0, 'I', false) & 3, 0);
}

static void test_encodings(void **state)
{
	struct fixture *r = *state;

	set_pmc(r, 32, 3ull << 56 | 8ull << 48 | 0xff); /* M slots, all but the low byte */
	set_pmc(r, 33, 0x1200);
	assert_int_equal(mark(r, 0, 0x12ff, 'M', false), ALL_MARKS);
	assert_int_equal(mark(r, 0, 0x1300, 'M', false), ALL_MARKS & ~(2u | 8u));
	assert_int_equal(mark(r, 0, 0x12ff, 'I', false), ALL_MARKS & ~(2u | 8u));
	assert_int_equal(mark(r, 0, 0x12ff, 'M', true), ALL_MARKS & ~(2u | 8u));
	set_pmc(r, 32, 3ull << 56 | 12ull << 48 | 0xff); /* M and I: those that both take too */
	assert_int_equal(mark(r, 0, 0x12ff, 'M', true), ALL_MARKS);
	set_pmc(r, 36, 1); /* channel 0 does not look */
	assert_int_equal(mark(r, 0, 0, 'B', false), ALL_MARKS & ~8u);
	set_pmc(r, 34, 3ull << 56);
	set_pmc(r, 35, 0x77);
	assert_int_equal(mark(r, 0, 0x12ff, 'M', false), ALL_MARKS & ~(4u | 16u));
}

static void test_data_ranges(void **state)
{
	struct fixture *r = *state;
	const uint64_t reset = 0x2078fefefefe;

	assert_int_equal(pmon_ia64_write(r->pmu, PMU_SPACE_DBR, 0, 0x6000, 0), 0);
	assert_int_equal(pmon_ia64_write(r->pmu, PMU_SPACE_DBR, 1, 0xfffffffffff000, 0), 0);
	set_pmc(r, 41, (reset & ~0x18ull) | 2 << 3); /* data only */
	assert_true(pmon_ia64_mark_data(r->pmu, 0, 0x6ff8));
	assert_false(pmon_ia64_mark_data(r->pmu, SIGNAL_MARK_CHANNEL, 0x7000));
	set_pmc(r, 41, reset & ~0x18ull); /* data and instruction */
	assert_false(pmon_ia64_mark_data(r->pmu, 0, 0x6ff8));
	assert_true(pmon_ia64_mark_data(r->pmu, SIGNAL_MARK_CHANNEL, 0x6ff8));
	set_pmc(r, 41, (reset & ~0x18ull) | 1 << 3); /* instruction only */
	assert_true(pmon_ia64_mark_data(r->pmu, SIGNAL_MARK_CHANNEL, 0x7000));
	assert_false(pmon_ia64_mark_data(r->pmu, 0, 0x6ff8));
	set_pmc(r, 41, reset & ~(0x18ull | 1ull << 45)); /* not enabled */
	assert_true(pmon_ia64_mark_data(r->pmu, 0, 0x7000));
}

/* -- Captures --------------------------------------------------------------------------------- */

#define CAPTURE_USER (8ull | 2ull << 24)

static void miss(struct fixture *r, const struct detail_miss *m, uint64_t now)
{
	pmon_ia64_miss(r->pmu, m, now);
}

static void test_data_cache_misses(void **state)
{
	struct fixture *r = *state;
	struct detail_miss m = {.ip = 0x4010,
				.address = 0x6000000000001238,
				.slot = 1,
				.bundle = 1,
				.latency = 31,
				.cache = true};

	set_pmc(r, 4, EVENT(0xc8, 0));
	set_pmc(r, 40, CAPTURE_USER | 3ull << 16); /* >= 32 */
	assert_true(pmon_ia64_wants(r->pmu)->misses);
	miss(r, &m, 100);
	assert_int_equal(pmd(r, 36), 0);
	m.latency = 32;
	miss(r, &m, 101);
	assert_int_equal(pmd(r, 32), 0x6000000000001238);
	assert_int_equal(pmd(r, 33), 32 | 1 << 14);
	assert_int_equal(pmd(r, 36), 0x4000 | 8 | 4 | 1); /* the first bundle, vl, bn, slot */
	m.address = 0x6000000000005678;
	miss(r, &m, 107); /* not 7 clocks later */
	assert_int_equal(pmd(r, 32), 0x6000000000001238);
	m.latency = 8192;
	m.stack = true;
	miss(r, &m, 108);
	assert_int_equal(pmd(r, 32), 0x6000000000005678);
	assert_int_equal(pmd(r, 33), 1 << 13 | 1 << 14); /* the latency overflowed */
	assert_int_equal(pmd(r, 36) & 8, 0);
	assert_int_equal(pmd(r, 4), 2);
	set_pmc(r, 40, CAPTURE_USER | 11ull << 16); /* nothing */
	m.latency = 100000;
	miss(r, &m, 1000);
	assert_int_equal(pmd(r, 4), 2);
}

static void test_data_tlb_and_alat_misses(void **state)
{
	struct fixture *r = *state;
	struct detail_miss m = {.ip = 0x4000, .address = 0x123, .slot = 2, .tlb = true};

	set_pmc(r, 40, CAPTURE_USER | 1 << 7 | 4ull << 16); /* walks */
	miss(r, &m, 1);
	assert_int_equal(pmd(r, 33) >> 14, 0);
	m.walk = true;
	miss(r, &m, 2);
	assert_int_equal(pmd(r, 33) >> 14, 2);
	set_pmc(r, 40, CAPTURE_USER | 1 << 7 | 2ull << 16); /* hits of the second level */
	m.walk = false;
	miss(r, &m, 3);
	assert_int_equal(pmd(r, 33) >> 14, 1);
	set_pmc(r, 40, CAPTURE_USER | 2 << 7);
	m = (struct detail_miss){.ip = 0x5000, .slot = 0, .alat = true};
	miss(r, &m, 4);
	assert_int_equal(pmd(r, 36), 0x5000 | 8);
}

static void test_captures_need_their_enables(void **state)
{
	struct fixture *r = *state;

	set_pmc(r, 40, 7 | 2ull << 24); /* not at level 3 */
	assert_false(pmon_ia64_wants(r->pmu)->misses);
	set_pmc(r, 40, 8); /* not this instruction set */
	assert_false(pmon_ia64_wants(r->pmu)->misses);
	set_pmc(r, 37, 8); /* has no such field */
	assert_true(pmon_ia64_wants(r->pmu)->fetches);
	set_pmc(r, 40, CAPTURE_USER);
	set_pmc(r, 0, 1);
	assert_false(pmon_ia64_wants(r->pmu)->misses);
	set_pmc(r, 0, 0);
	assert_true(pmon_ia64_wants(r->pmu)->misses);
	pmon_ia64_monitors(r->pmu, false, true, 0);
	assert_false(pmon_ia64_wants(r->pmu)->misses);
}

static void test_fetch_misses(void **state)
{
	struct fixture *r = *state;
	struct detail_fetch f = {.address = 0x4020, .latency = 15, .cache = true};

	set_pmc(r, 37, 8 | 2 << 12 | 0xFCu << 5); /* >= 16 */
	pmon_ia64_fetch(r->pmu, &f);
	assert_int_equal(pmd(r, 34) & 3, 0);
	f.latency = 16;
	pmon_ia64_fetch(r->pmu, &f);
	assert_int_equal(pmd(r, 34), 0x4020 | 1);
	assert_int_equal(pmd(r, 35), 16);
	set_pmc(r, 37, 8 | 2 << 5); /* TLB, walks */
	f = (struct detail_fetch){.address = 0x8000, .tlb = true};
	pmon_ia64_fetch(r->pmu, &f);
	assert_int_equal(pmd(r, 34), 0x4020 | 1);
	f.walk = true;
	pmon_ia64_fetch(r->pmu, &f);
	assert_int_equal(pmd(r, 34), 0x8000 | 2);
	set_pmc(r, 37, 8 | 1 << 12 | 7 << 5); /* nothing */
	f.address = 0xC000;
	pmon_ia64_fetch(r->pmu, &f);
	assert_int_equal(pmd(r, 34), 0x8000 | 2);
}

#define TRACE_ALL (8u | 0x3f00u)

static void branch(struct fixture *r, uint64_t ip, uint64_t target, unsigned bundle, uint64_t now)
{
	const struct detail_branch b = {.ip = ip,
					.target = target,
					.slot = 2,
					.bundle = bundle,
					.taken = target != 0,
					.path_right = true,
					.target_right = true};

	pmon_ia64_branch(r->pmu, &b, now);
}

static void test_trace_of_branches(void **state)
{
	struct fixture *r = *state;

	set_pmc(r, 39, TRACE_ALL);
	branch(r, 0x4010, 0x5000, 1, 10); /* source, in the second bundle, and target */
	branch(r, 0x7000, 0, 0, 20);	  /* not taken */
	branch(r, 0x7000, 0x8000, 0, 30);
	branch(r, 0x8010, 0x9000, 1, 31); /* stands for the target */
	set_pmc(r, 0, 1);
	assert_int_equal(pmd(r, 48), 0x4000 | 2 << 2 | 1);
	assert_int_equal(pmd(r, 49), 0x5000 | 2);
	assert_int_equal(pmd(r, 50), 0x7000 | 3 << 2 | 1);
	assert_int_equal(pmd(r, 51), 0x7000 | 2 << 2 | 1);
	assert_int_equal(pmd(r, 52), 0x8000 | 2 << 2 | 1);
	assert_int_equal(pmd(r, 53), 0x9000 | 2); /* written although it was disabled meanwhile */
	assert_int_equal(pmd(r, 38), 6);
	assert_int_equal(pmd(r, 39), 1 | 1ull << 32); /* b1 of PMD48 and PMD52 */
}

/* Table 3-26: of a bundle's branches in one cycle the slot of the first taken one, or 3. */
static void test_trace_of_a_bundle(void **state)
{
	struct fixture *r = *state;
	struct detail_branch b = {
	    .ip = 0x4000, .target = 0x4000, .path_right = true, .target_right = true};

	set_pmc(r, 4, EVENT(0x11, 0));
	set_pmc(r, 39, TRACE_ALL);
	for (unsigned turn = 0; turn < 3; turn++)
		for (b.slot = 0; b.slot < 3; b.slot++) {
			b.taken = b.slot == 2 && turn < 2;
			pmon_ia64_branch(r->pmu, &b, 100 + turn);
		}
	set_pmc(r, 0, 1);
	assert_int_equal(pmd(r, 38), 3);
	assert_int_equal(pmd(r, 48), 0x4000 | 2 << 2 | 1);
	assert_int_equal(pmd(r, 49), 0x4000 | 2 << 2 | 1);
	assert_int_equal(pmd(r, 50), 0x4000 | 3 << 2 | 1);
	assert_int_equal(pmd(r, 4), 3);
}

/* Table 3-25: drt leaves out targets of taken IP-relative branches, if tm = 2 and brt = 0. */
static void test_trace_without_targets(void **state)
{
	static const struct {
		uint32_t control;
		uint8_t kind;
		bool target;
	} rows[] = {{0x3e10, DETAIL_BRANCH_IP_RELATIVE, false},
		    {0x3e00, DETAIL_BRANCH_IP_RELATIVE, true},
		    {0x3e10, DETAIL_BRANCH_RETURN, true},
		    {0x3f10, DETAIL_BRANCH_IP_RELATIVE, true},
		    {0x7e10, DETAIL_BRANCH_IP_RELATIVE, true}};
	struct fixture *r = *state;

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct detail_branch b = {.ip = 0x4000,
						.target = 0x5000,
						.kind = rows[i].kind,
						.taken = true,
						.path_right = true,
						.target_right = true};

		set_pmd(r, 38, 0);
		set_pmc(r, 39, 8 | rows[i].control);
		pmon_ia64_branch(r->pmu, &b, 100 * i);
		set_pmc(r, 0, 1);
		assert_int_equal(pmd(r, 48), 0x4000 | 1);
		assert_int_equal(pmd(r, 38), rows[i].target ? 2 : 1);
		if (rows[i].target)
			assert_int_equal(pmd(r, 49), 0x5000 | 2);
		set_pmc(r, 0, 0);
	}
}

static void test_trace_wraps(void **state)
{
	struct fixture *r = *state;

	set_pmc(r, 39, TRACE_ALL);
	for (unsigned i = 0; i < 16; i++) {
		assert_int_equal(pmd(r, 38), i);
		branch(r, 0x4000 + i * 0x100, 0, 0, 10 * i);
	}
	assert_int_equal(pmd(r, 38), 1 << 5);
	branch(r, 0xA000, 0, 0, 500);
	assert_int_equal(pmd(r, 38), 1 << 5 | 1);
	assert_int_equal(pmd(r, 48), 0xA000 | 3 << 2 | 1);
	assert_int_equal(pmd(r, 49), 0x4100 | 3 << 2 | 1);
	assert_int_equal(pmon_ia64_write(r->pmu, PMU_SPACE_PMD, 38, 0, 0), 0);
	branch(r, 0xB000, 0, 0, 600);
	assert_int_equal(pmd(r, 48), 0xB000 | 3 << 2 | 1);
	assert_int_equal(pmd(r, 38), 1);
}

/* A filter, and the branches that pass it: by kind, taken, path right, target right. */
static void test_trace_filters(void **state)
{
	static const struct {
		uint32_t control;
		uint8_t kind;
		bool taken, path, target, passes;
	} rows[] = {
	    {0x3f00, DETAIL_BRANCH_CHECK, true, false, false, true},
	    {0x3f00 | 1 << 14, DETAIL_BRANCH_IP_RELATIVE, true, true, true, true},
	    {0x3f00 | 1 << 14, DETAIL_BRANCH_RETURN, true, true, true, false},
	    {0x3f00 | 2 << 14, DETAIL_BRANCH_RETURN, true, true, true, true},
	    {0x3f00 | 3 << 14, DETAIL_BRANCH_INDIRECT, true, true, true, true},
	    {0x3f00 | 3 << 14, DETAIL_BRANCH_CHECK, true, true, true, false},
	    {0x3e00, 0, false, true, true, false}, /* taken ones */
	    {0x3e00, 0, true, true, true, true},
	    {0x3d00, 0, true, true, true, false}, /* others */
	    {0x2b00, 0, true, true, true, true},  /* all predicted right */
	    {0x2b00, 0, true, true, false, false},
	    {0x1f00, 0, true, false, false, true}, /* wrong paths */
	    {0x1f00, 0, true, true, true, false},
	    {0x3700, 0, true, true, false, true}, /* wrong targets */
	    {0x3700, 0, true, true, true, false},
	    {0x3700, 0, true, false, false, false}, /* of a wrong path no target is predicted */
	    {0x1700, 0, true, false, false, false}, /* both: nothing */
	    {0x3f80, 0, true, true, true, false},   /* ds */
	};
	struct fixture *r = *state;

	set_pmc(r, 4, EVENT(0x11, 0));
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct detail_branch b = {.ip = 0x4000,
						.target = 0x5000,
						.kind = rows[i].kind,
						.taken = rows[i].taken,
						.path_right = rows[i].path,
						.target_right = rows[i].target};
		uint64_t before = pmd(r, 4);

		set_pmc(r, 39, 8 | rows[i].control);
		pmon_ia64_branch(r->pmu, &b, 100 * i);
		assert_int_equal(pmd(r, 4) - before, rows[i].passes);
	}
	set_pmc(r, 39, TRACE_ALL);
	set_pmc(r, 42, 4 << 8); /* another mode takes the registers */
	assert_false(pmon_ia64_wants(r->pmu)->branches);
}

#define IP_EAR(delay) (8 | 4ull << 8 | (uint64_t)(delay) << 11)

static void group(struct fixture *r, uint64_t cycle, uint64_t ip, bool flushed)
{
	r->now = cycle;
	pmon_ia64_group(r->pmu, &(struct detail_group){ip, cycle, flushed});
}

/* Table 3-30: cycles in 63:60, bits 63:12 of the address in 59:8, bits 11:4 in 7:0. */
static uint64_t ip_entry(uint64_t cycles, uint64_t ip, uint64_t low)
{
	return (cycles & 15) << 60 | (ip >> 12 & 0xFFFFFFFFFFFFF) << 8 | low;
}

static void test_retired_addresses(void **state)
{
	struct fixture *r = *state;

	set_pmc(r, 42, IP_EAR(5));
	assert_true(pmon_ia64_wants(r->pmu)->groups);
	group(r, 10, 0x4000000000012340, false);
	group(r, 100, 0x5230, true);
	assert_int_equal(pmd(r, 48), ip_entry(10, 0x4000000000012340, 0x34));
	assert_int_equal(pmd(r, 49), ip_entry(63, 0x5230, 0x23));
	assert_int_equal(pmd(r, 39), 0xE << 8); /* more than 48 cycles, flushed */
	assert_int_equal(pmd(r, 38), 2);
	set_pmc(r, 0, 1); /* a freeze in cycle 100: it goes on to 105 */
	assert_true(pmon_ia64_wants(r->pmu)->groups);
	group(r, 103, 0x6000, false);
	group(r, 120, 0x7000, false); /* the last entry, which may be wrong */
	assert_false(pmon_ia64_wants(r->pmu)->groups);
	group(r, 121, 0x8000, false);
	assert_int_equal(pmd(r, 50), ip_entry(3, 0x6000, 0));
	assert_int_equal(pmd(r, 51), ip_entry(2, 0x7000, 0));
	assert_int_equal(pmd(r, 52), 0);
	assert_int_equal(pmd(r, 38), 4);
	set_pmc(r, 0, 0);
	assert_true(pmon_ia64_wants(r->pmu)->groups);
}

static void test_retired_addresses_frozen_early(void **state)
{
	struct fixture *r = *state;

	set_pmc(r, 42, IP_EAR(100));
	group(r, 7, 0x2340, false);
	set_pmc(r, 0, 1);
	group(r, 20, 0x9560, false);
	pmon_ia64_monitors(r->pmu, false, true, 30);
	assert_false(pmon_ia64_wants(r->pmu)->groups);
	assert_int_equal(pmd(r, 50), ip_entry(10, 0x9000, 77)); /* 107 - 30 */
	assert_int_equal(pmd(r, 39), 1 << 16);
}

static void test_retired_addresses_wrap(void **state)
{
	struct fixture *r = *state;

	set_pmc(r, 42, IP_EAR(0));
	for (unsigned i = 1; i <= 17; i++)
		group(r, i, 16 * i, false);
	assert_int_equal(pmd(r, 38), 1 << 5 | 1);
	assert_int_equal(pmd(r, 48), ip_entry(1, 0, 17));
	assert_int_equal(pmd(r, 63), ip_entry(1, 0, 16));
	/* Not without a mode, a level, or while everything is frozen already. */
	set_pmc(r, 42, 0);
	assert_false(pmon_ia64_wants(r->pmu)->groups);
	set_pmc(r, 42, IP_EAR(0) & ~15ull);
	assert_false(pmon_ia64_wants(r->pmu)->groups);
	set_pmc(r, 0, 1);
	set_pmc(r, 42, IP_EAR(50));
	assert_false(pmon_ia64_wants(r->pmu)->groups);
}

/* Tables 3-4 and 3-5: those of privileged monitors as 0. */
static void test_what_programs_read(void **state)
{
	static const struct {
		unsigned control, data;
		uint64_t on, privileged;
	} monitors[] = {{4, 4, EVENT(CYCLES_CODE, 0), PM},
			{15, 15, EVENT(CYCLES_CODE, 0), PM},
			{37, 34, 8, 1 << 4},
			{40, 36, CAPTURE_USER, PM},
			{39, 50, CAPTURE_USER, PM}};
	struct fixture *r = *state;

	for (size_t i = 0; i < sizeof(monitors) / sizeof(monitors[0]); i++) {
		set_pmd(r, monitors[i].data, 96);
		set_pmc(r, monitors[i].control, monitors[i].on);
		assert_int_equal(pmon_ia64_read_by_program(r->pmu, monitors[i].data), 96);
		set_pmc(r, monitors[i].control, monitors[i].on | monitors[i].privileged);
		assert_int_equal(pmon_ia64_read_by_program(r->pmu, monitors[i].data), 0);
		set_pmc(r, monitors[i].control, monitors[i].on);
	}
	cycle(r, CYCLES, 4);
	assert_int_equal(pmon_ia64_read_by_program(r->pmu, 4), 100);
	set_pmc(r, 42, IP_EAR(5) | PM); /* has the trace's registers now */
	assert_int_equal(pmon_ia64_read_by_program(r->pmu, 50), 0);
	assert_int_equal(pmon_ia64_read_by_program(r->pmu, 1000), 0);
}

/* Offset bits 14:4; a mask bit of 1 is not compared (table 3-33). */
static void test_interruptions_by_vector(void **state)
{
	struct fixture *r = *state;

	set_pmc(r, 4, EVENT(0x14, 0));
	set_pmc(r, 43, 0x2c0);
	pmon_ia64_interruption(r->pmu, 0x2c00);
	pmon_ia64_interruption(r->pmu, 0x5400);
	assert_int_equal(pmd(r, 4), 1);
	set_pmc(r, 43, 0x2c0 | 0x7ff << 11);
	pmon_ia64_interruption(r->pmu, 0x5400);
	assert_int_equal(pmd(r, 4), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_up, fixture_down)
	    TEST(test_reset_values),
	    TEST(test_counts_what_the_unit_mask_selects),
	    TEST(test_counter_restrictions),
	    TEST(test_enables),
	    TEST(test_freeze),
	    TEST(test_overflow),
	    TEST(test_many_overflows),
	    TEST(test_no_overflow_is_lost),
	    TEST(test_threshold_is_strict),
	    TEST(test_sets),
	    TEST(test_shared_unit_masks),
	    TEST(test_shared_threads),
	    TEST(test_everything_is_marked_after_reset),
	    TEST(test_address_range),
	    TEST(test_fine_range),
	    TEST(test_encodings),
	    TEST(test_data_ranges),
	    TEST(test_data_cache_misses),
	    TEST(test_data_tlb_and_alat_misses),
	    TEST(test_captures_need_their_enables),
	    TEST(test_fetch_misses),
	    TEST(test_trace_of_branches),
	    TEST(test_trace_of_a_bundle),
	    TEST(test_trace_without_targets),
	    TEST(test_trace_wraps),
	    TEST(test_trace_filters),
	    TEST(test_retired_addresses),
	    TEST(test_retired_addresses_frozen_early),
	    TEST(test_retired_addresses_wrap),
	    TEST(test_what_programs_read),
	    TEST(test_interruptions_by_vector),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
