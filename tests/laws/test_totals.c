/*
 * Counters that get totals, against the same counters that are told of each signal: two machines
 * with the same programs and registers, of which one has a counter more, with a threshold.
 */
#include "emul/block.h"
#include "machine/access.h"
#include "pmon/fixture.h"
#include "support/random.h"

#define ROUNDS 50
#define STEPS  2000
#define LINES  24000u
#define CORES  4 /* of both sockets */
#define SLICES 4

struct side {
	struct pmu_machine desc;
	struct emul *emul;
	struct machine_address_space *space;
	struct machine_hart *harts[CORES];
};

static struct side told, quiet;
static uint64_t state_of_random = 7919;

static uint32_t draw(uint32_t below)
{
	return (uint32_t)(next_random(&state_of_random) >> 16) % below;
}

static void open_side(struct side *side)
{
	side->desc = *pmu_find_machine("xeon-e5-2699v4-2s");
	side->desc.cores = CORES / 2;
	side->desc.slices = SLICES;
	side->desc.llc.sets = 64;
	side->desc.memory_bytes = 1 << 28;
	assert_int_equal(emul_new(&side->emul, NULL, &side->desc), 0);
	assert_int_equal(machine_address_space_new(&side->space, emul_machine(side->emul)), 0);
	for (unsigned i = 0; i < CORES; i++) {
		side->harts[i] = machine_hart_enter(emul_machine(side->emul), side->space, 0);
		assert_non_null(side->harts[i]);
		machine_hart_pause(side->harts[i]);
	}
}

static void close_side(struct side *side)
{
	for (unsigned i = 0; i < CORES; i++)
		machine_hart_leave(side->harts[i]);
	machine_address_space_free(side->space);
	emul_free(side->emul);
}

static void set(struct side *side, unsigned socket, enum pmu_space space, uint32_t address,
		uint64_t value)
{
	const unsigned width = space == PMU_SPACE_MSR ? 64 : 32;

	assert_int_equal(emul_write(side->emul, AT(socket, space, address, width), value), 0);
}

static void set_both(unsigned socket, enum pmu_space space, uint32_t address, uint64_t value)
{
	set(&told, socket, space, address, value);
	set(&quiet, socket, space, address, value);
}

static uint64_t get(struct side *side, unsigned socket, enum pmu_space space, uint32_t address)
{
	uint64_t value = 0;

	assert_int_equal(emul_read(side->emul, AT(socket, space, address, 64), &value), 0);
	return value;
}

static void compare_one(unsigned socket, enum pmu_space space, uint32_t address)
{
	assert_int_equal(get(&told, socket, space, address), get(&quiet, socket, space, address));
}

static void compare(void)
{
	for (unsigned socket = 0; socket < 2; socket++) {
		for (unsigned k = 0; k < 4; k++) {
			for (unsigned n = 0; n < SLICES; n++)
				compare_one(socket, PMU_SPACE_MSR, C_CTR(n, k));
			compare_one(socket, PMU_SPACE_PCI, HA(0, PCI_CTR(k)));
			compare_one(socket, PMU_SPACE_PCI, MC(0, PCI_CTR(k)));
			compare_one(socket, PMU_SPACE_PCI, MC(1, PCI_CTR(k)));
		}
		for (unsigned n = 0; n < SLICES; n++)
			compare_one(socket, PMU_SPACE_MSR, C_STATUS(n));
	}
}

/* A counter that is about to overflow, or not. */
static uint64_t start_value(void)
{
	if (draw(4))
		return 0;
	return (1ull << 48) - 1 - (draw(2) ? 1ull << 32 : 0) - draw(20000);
}

static void program_slice(unsigned socket, unsigned n)
{
	/* TOR_INSERTS, TOR_OCCUPANCY, LLC_LOOKUP, LLC_VICTIMS, RxR_INSERTS, RxR_OCCUPANCY */
	static const uint8_t codes[] = {0x35, 0x36, 0x34, 0x37, 0x13, 0x11};

	set_both(socket, PMU_SPACE_MSR, C_FILTER0(n), draw(2) ? 0x3fu << 17 : draw(64) << 17);
	set_both(socket, PMU_SPACE_MSR, C_FILTER1(n), draw(2) ? 3 : draw(4) | 0x182ull << 20);
	for (unsigned k = 0; k < 4; k++) {
		/* Occupancies count on counter 0 alone. */
		uint8_t code = k ? codes[draw(sizeof(codes))] : codes[draw(2) ? 1 : 5];

		set_both(socket, PMU_SPACE_MSR, C_CTL(n, k),
			 EN | EVENT(code, draw(3) ? 0x08 : draw(256)));
		set_both(socket, PMU_SPACE_MSR, C_CTR(n, k), start_value());
	}
}

static void program_others(unsigned socket)
{
	/* REQUESTS, TRACKER_OCCUPANCY, IMC_READS, IMC_WRITES, SNOOP_RESP, SNOOPS_RSP_AFTER_DATA,
	 * SNOOP_OCCUPANCY, TRACKER_PENDING_OCCUPANCY */
	static const uint8_t home[] = {0x01, 0x04, 0x17, 0x1a, 0x21, 0x0a, 0x09, 0x05};
	/* ACT_COUNT, PRE_COUNT, CAS_COUNT, RPQ_INSERTS, RPQ_OCCUPANCY */
	static const uint8_t channel[] = {0x01, 0x02, 0x04, 0x10, 0x80};

	for (unsigned k = 0; k < 4; k++) {
		set_both(socket, PMU_SPACE_PCI, HA(0, PCI_CTL(k)),
			 EN | EVENT(home[draw(sizeof(home))], 1 + draw(255)));
		for (unsigned y = 0; y < 2; y++)
			set_both(socket, PMU_SPACE_PCI, MC(y, PCI_CTL(k)),
				 EN | EVENT(channel[draw(sizeof(channel))], 1 + draw(15)));
	}
}

static void step(struct side *side, unsigned core, unsigned kind, uint64_t address)
{
	static const struct machine_insn plain;

	switch (kind) {
	case 0:
	case 1:
		machine_store(side->harts[core], address, 8, &plain);
		break;
	case 2:
		machine_store_nt(side->harts[core], address, 8);
		break;
	default:
		machine_load(side->harts[core], address, 8, &plain);
	}
}

static void run(struct side *side, unsigned core, unsigned steps, uint64_t random)
{
	machine_hart_resume(side->harts[core]);
	for (unsigned i = 0; i < steps; i++) {
		const uint64_t drawn = next_random(&random);

		step(side, core, (unsigned)(drawn >> 8) % 9,
		     0x100000 + (drawn >> 20) % LINES * 64 + 8 * (drawn % 8));
		if (!(drawn >> 50 & 63))
			get(side, drawn >> 60 & 1, PMU_SPACE_MSR, C_CTR(drawn >> 56 & 3, 0));
	}
	machine_hart_pause(side->harts[core]);
}

static void run_both(void)
{
	const unsigned core = draw(CORES), steps = draw(STEPS);
	const uint64_t random = 1 + draw(1u << 30);

	run(&told, core, steps, random);
	run(&quiet, core, steps, random);
}

static void freeze_or_thaw(unsigned socket)
{
	const uint32_t whole = draw(4) ? 0x20000000u : 0x80000000u;

	set_both(socket, PMU_SPACE_MSR, C_BOX_CTL(draw(SLICES)), draw(4) ? 0x30000 : 0x30100);
	set_both(socket, PMU_SPACE_MSR, GLOBAL_CTL, whole);
}

static void test_same_counts(void **unused)
{
	(void)unused;
	open_side(&told);
	open_side(&quiet);
	set(&told, 0, PMU_SPACE_PCI, HA(1, PCI_CTL(3)), EN | THRESH(2) | EVENT(0x01, 0x03));
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned socket = 0; socket < 2; socket++) {
			for (unsigned n = 0; n < SLICES; n++)
				program_slice(socket, n);
			program_others(socket);
			set_both(socket, PMU_SPACE_MSR, GLOBAL_CTL, 0x20000000);
		}
		for (unsigned i = 0; i < 6; i++) {
			run_both();
			compare();
			if (!draw(3))
				freeze_or_thaw(draw(2));
			if (!draw(3))
				program_slice(draw(2), draw(SLICES));
		}
	}
	machine_drain(emul_machine(told.emul));
	machine_drain(emul_machine(quiet.emul));
	compare();
	close_side(&told);
	close_side(&quiet);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_same_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
