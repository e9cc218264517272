/*
 * What the filters and the irregular unit masks let pass. Each signal is reported once; the
 * expected counts follow from the tables of 334291-001 named at each test.
 */
#include "fixture.h"

static struct fixture fixture;

/* Events, by code. */
#define LLC_LOOKUP    0x34
#define TOR_INSERTS   0x35
#define TOR_OCCUPANCY 0x36
#define LLC_VICTIMS   0x37
#define RD_CAS_RANK0  0xB0
#define RD_CAS_RANK1  0xB1
#define WR_CAS_RANK1  0xB9
#define ADDR_OPC      0x20

static int setup(void **state UNUSED)
{
	fixture_up(&fixture);
	return 0;
}

static int teardown(void **state UNUSED)
{
	fixture_down(&fixture);
	return 0;
}

static void emit(struct signal signal)
{
	signal_emit(&fixture.port, signal);
}

static uint64_t count_cbo(uint32_t control, uint32_t filter0, uint32_t filter1,
			  void (*traffic)(void))
{
	fixture_down(&fixture);
	fixture_up(&fixture);
	fixture_set_msr(&fixture, C_FILTER0(3), filter0);
	fixture_set_msr(&fixture, C_FILTER1(3), filter1);
	fixture_set_msr(&fixture, C_CTL(3, 1), EN | control);
	traffic();
	fixture_at(&fixture, 100000);
	return fixture_msr(&fixture, C_CTR(3, 1));
}

#define STATE(bits) ((uint32_t)(bits) << 17)
#define OPC(opcode) ((uint32_t)(opcode) << 20)
#define NC	    (1u << 30)
#define ISOC	    (1u << 31)

/* In state s of I S E M F, s + 1 data reads; in state I two writes; in M three remote snoops. */
static void lookups(void)
{
	uint64_t time = 0;

	for (unsigned s = 0; s < 5; s++)
		for (unsigned i = 0; i <= s; i++)
			emit((struct signal){
			    .id = SIGNAL_LLC_LOOKUP,
			    .unit = 3,
			    .time = time++,
			    .state = (uint8_t)s,
			    .node = i & 1,
			    .core = 1,
			    .qualifiers =
				QUALIFIER_LLC_LOOKUP_DATA_READ | QUALIFIER_LLC_LOOKUP_READ,
			});
	for (unsigned i = 0; i < 5; i++)
		emit((struct signal){
		    .id = SIGNAL_LLC_LOOKUP,
		    .unit = 3,
		    .time = time++,
		    .state = i < 2 ? SIGNAL_STATE_I : SIGNAL_STATE_M,
		    .node = 1,
		    .core = i < 2 ? 2 : SIGNAL_NO_CORE,
		    .thread = i < 2 ? 1 : 0,
		    .qualifiers = i < 2 ? QUALIFIER_LLC_LOOKUP_WRITE : QUALIFIER_LLC_LOOKUP_SNOOP,
		});
}

/* Tables 2-18, 2-21. */
static void test_lookup(void **state UNUSED)
{
	const struct {
		unsigned umask;
		uint32_t filter0, filter1;
		uint32_t control;
		uint64_t count;
	} cases[] = {
	    {0x03, STATE(0x7F), 0, 0, 15}, /* data reads: 1 + 2 + 3 + 4 + 5 */
	    {0x03, STATE(0x01), 0, 0, 1},  /* I */
	    {0x03, STATE(0x02), 0, 0, 2},  /* S */
	    {0x03, STATE(0x04), 0, 0, 3},  /* E */
	    {0x03, STATE(0x08), 0, 0, 4},  /* M */
	    {0x03, STATE(0x10), 0, 0, 5},  /* F */
	    {0x03, STATE(0x60), 0, 0, 0},  /* D and M': never */
	    {0x03, STATE(0x12), 0, 0, 7},  /* F and S */
	    {0x05, STATE(0x7F), 0, 0, 2},  /* writes */
	    {0x09, STATE(0x7F), 0, 0, 3},  /* remote snoops */
	    {0x11, STATE(0x7F), 0, 0, 20}, /* any */
	    {0x21, STATE(0x7F), 0, 0, 15}, /* reads */
	    {0x0D, STATE(0x7F), 0, 0, 5},  /* writes or remote snoops */
	    {0x03, STATE(0), 0, 0, 0},	   /* no state: nothing */
	    {0x02, STATE(0x7F), 0, 0, 0},  /* without bit 0: nothing */
	    {0x01, STATE(0x7F), 0, 0, 0},  /* bit 0 selects nothing itself */
	    /* Bit 6 narrows to nodes; of s + 1 reads, (s + 1) / 2 are for node 1. */
	    {0x43, STATE(0x7F), 0x2, 0, 6},
	    {0x43, STATE(0x7F), 0x1, 0, 9},
	    {0x43, STATE(0x7F), 0x3, 0, 15},
	    {0x43, STATE(0x7F), 0x4, 0, 0},
	    {0x43, STATE(0x7F), 0x0, 0, 0},
	    {0x03, STATE(0x7F), 0x2, 0, 15}, /* without bit 6 the node does not matter */
	    /* The thread matters with tid_en only. */
	    {0x11, STATE(0x7F) | 5, 0, 0, 20},
	    {0x11, STATE(0x7F) | 5, 0, TID_EN, 2},
	    {0x11, STATE(0x7F) | 2, 0, TID_EN, 15},
	    {0x11, STATE(0x7F) | 0x3F, 0, TID_EN, 3},
	    {0x11, STATE(0x7F), 0, TID_EN, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(count_cbo(EVENT(LLC_LOOKUP, cases[i].umask) | cases[i].control,
					   cases[i].filter0, cases[i].filter1, lookups),
				 cases[i].count);
}

/*
 * 1 DRd hit local, 2 DRd misses local, 4 DRd misses remote, 8 RFO misses remote, 16 WbMtoI hits
 * local, 32 evictions local, 64 evictions remote that miss. Local is node 0.
 */
static void transactions(void)
{
	static const struct {
		unsigned count;
		enum signal_request request;
		uint32_t qualifiers;
	} kinds[] = {
	    {1, REQUEST_READ_DATA, QUALIFIER_LLC_REQUEST_CORE | QUALIFIER_LLC_REQUEST_LOCAL},
	    {2, REQUEST_READ_DATA,
	     QUALIFIER_LLC_REQUEST_CORE | QUALIFIER_LLC_REQUEST_MISS | QUALIFIER_LLC_REQUEST_LOCAL},
	    {4, REQUEST_READ_DATA,
	     QUALIFIER_LLC_REQUEST_CORE | QUALIFIER_LLC_REQUEST_MISS |
		 QUALIFIER_LLC_REQUEST_REMOTE},
	    {8, REQUEST_READ_OWN,
	     QUALIFIER_LLC_REQUEST_CORE | QUALIFIER_LLC_REQUEST_MISS |
		 QUALIFIER_LLC_REQUEST_REMOTE},
	    {16, REQUEST_WRITEBACK,
	     QUALIFIER_LLC_REQUEST_CORE | QUALIFIER_LLC_REQUEST_WRITEBACK |
		 QUALIFIER_LLC_REQUEST_LOCAL},
	    /* No requests of the IRQ: whatever the request is must not match. */
	    {32, REQUEST_READ_DATA, QUALIFIER_LLC_REQUEST_EVICTION | QUALIFIER_LLC_REQUEST_LOCAL},
	    {64, REQUEST_READ_OWN,
	     QUALIFIER_LLC_REQUEST_EVICTION | QUALIFIER_LLC_REQUEST_MISS |
		 QUALIFIER_LLC_REQUEST_REMOTE},
	};
	uint64_t time = 0;

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		for (unsigned i = 0; i < kinds[k].count; i++)
			emit((struct signal){
			    .id = SIGNAL_LLC_REQUEST,
			    .unit = 3,
			    .time = time++,
			    .duration = 10,
			    .request = (uint8_t)kinds[k].request,
			    .qualifiers = kinds[k].qualifiers,
			    .node = kinds[k].qualifiers & QUALIFIER_LLC_REQUEST_REMOTE ? 1 : 0,
			    .core = 1,
			});
}

/* Tables 2-19, 2-20, 2-40, 2-41: every row, by the sum of what it must count. */
static void test_tor(void **state UNUSED)
{
	const struct {
		unsigned umask;
		uint32_t filter1;
		uint64_t count;
	} cases[] = {
	    {0x01, OPC(0x182), 1 + 2 + 4}, /* OPCODE */
	    {0x01, OPC(0x180), 8},
	    {0x01, OPC(0x1C4), 16},
	    {0x01, OPC(0x181), 0},
	    {0x03, OPC(0x182), 2 + 4},		 /* MISS_OPCODE */
	    {0x04, 0, 32 + 64},			 /* EVICTION */
	    {0x08, 0, 127},			 /* ALL */
	    {0x08, OPC(0x180) | 0x8, 127},	 /* ALL takes no filter */
	    {0x0A, 0, 2 + 4 + 8 + 64},		 /* MISS_ALL */
	    {0x10, 0, 16},			 /* WB */
	    {0x21, OPC(0x182), 1 + 2},		 /* LOCAL_OPCODE */
	    {0x23, OPC(0x182), 2},		 /* MISS_LOCAL_OPCODE */
	    {0x28, 0, 1 + 2 + 16 + 32},		 /* LOCAL */
	    {0x2A, 0, 2},			 /* MISS_LOCAL */
	    {0x41, OPC(0x182) | 0x1, 1 + 2},	 /* NID_OPCODE, node 0 */
	    {0x41, OPC(0x182) | 0x2, 4},	 /* node 1 */
	    {0x41, OPC(0x182) | 0x3, 1 + 2 + 4}, /* both */
	    {0x41, OPC(0x182), 0},		 /* none */
	    {0x43, OPC(0x182) | 0x1, 2},	 /* NID_MISS_OPCODE */
	    {0x44, 0x2, 64},			 /* NID_EVICTION */
	    {0x48, 0x1, 1 + 2 + 16 + 32},	 /* NID_ALL */
	    {0x4A, 0x2, 4 + 8 + 64},		 /* NID_MISS_ALL */
	    {0x50, 0x1, 16},			 /* NID_WB */
	    {0x50, 0x2, 0},
	    {0x81, OPC(0x182), 4},	/* REMOTE_OPCODE */
	    {0x83, OPC(0x180), 8},	/* MISS_REMOTE_OPCODE */
	    {0x88, 0, 4 + 8 + 64},	/* REMOTE */
	    {0x8A, 0, 4 + 8 + 64},	/* MISS_REMOTE */
	    {0x02, 0, 0},		/* narrows nothing */
	    {0x01, OPC(0x182) | NC, 0}, /* the machine makes none of these */
	    {0x01, OPC(0x182) | ISOC, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(count_cbo(EVENT(TOR_INSERTS, cases[i].umask), 0, cases[i].filter1,
					   transactions),
				 cases[i].count);
		/* Each stays for 10 cycles. */
		fixture_down(&fixture);
		fixture_up(&fixture);
		fixture_set_msr(&fixture, C_FILTER1(3), cases[i].filter1);
		fixture_set_msr(&fixture, C_CTL(3, 0), EN | EVENT(TOR_OCCUPANCY, cases[i].umask));
		transactions();
		fixture_at(&fixture, 100000);
		assert_int_equal(fixture_msr(&fixture, C_CTR(3, 0)), 10 * cases[i].count);
	}
}

/* §2.3.1.1: several thresholds of one queue, and filters that act through counter 0. */
static void test_counter0_occupancy(void **state UNUSED)
{
	fixture_set_msr(&fixture, C_FILTER1(3), OPC(0x182));
	fixture_set_msr(&fixture, C_CTL(3, 0), EN | EVENT(TOR_OCCUPANCY, 0x01));
	fixture_set_msr(&fixture, C_CTL(3, 1), EN | EVENT(0x1f, 0));
	fixture_set_msr(&fixture, C_CTL(3, 2), EN | EVENT(0x1f, 0) | THRESH(1));
	fixture_set_msr(&fixture, C_CTL(3, 3), EN | EVENT(0x1f, 0) | THRESH(4));
	transactions();
	fixture_at(&fixture, 1000);
	assert_int_equal(fixture_msr(&fixture, C_CTR(3, 0)), 70);
	assert_int_equal(fixture_msr(&fixture, C_CTR(3, 1)), 70);
	/* DRds begin in cycles 0 to 6, each for 10 cycles. */
	assert_int_equal(fixture_msr(&fixture, C_CTR(3, 2)), 16);
	assert_int_equal(fixture_msr(&fixture, C_CTR(3, 3)), 10); /* 3 to 12 */
	/* Counter 0 itself cannot look at itself. */
	fixture_set_msr(&fixture, C_CTL(3, 0), EN | EVENT(0x1f, 0));
	fixture_at(&fixture, 2000);
	assert_int_equal(fixture_msr(&fixture, C_CTR(3, 0)), 70);
}

static void victims(void)
{
	static const uint32_t states[] = {QUALIFIER_LLC_VICTIM_M, QUALIFIER_LLC_VICTIM_E,
					  QUALIFIER_LLC_VICTIM_S, QUALIFIER_LLC_VICTIM_F};

	for (unsigned s = 0; s < 4; s++)
		for (unsigned i = 0; i < 2u << s; i++)
			emit((struct signal){
			    .id = SIGNAL_LLC_VICTIM,
			    .unit = 3,
			    .time = 100 * s + i,
			    .qualifiers = states[s],
			    .node = i & 1,
			    .core = SIGNAL_NO_CORE,
			});
}

/* Table 2-22: 2 M, 4 E, 8 S, 16 F, half of each of node 1. */
static void test_victim(void **state UNUSED)
{
	const struct {
		unsigned umask;
		uint32_t nodes;
		uint64_t count;
	} cases[] = {
	    {0x01, 0, 2},   {0x02, 0, 4},   {0x04, 0, 8},    {0x08, 0, 16},   {0x0F, 0, 30},
	    {0x10, 0, 0},   {0x11, 0, 2},   {0x41, 0x2, 1},  {0x4F, 0x2, 15}, {0x4F, 0x3, 30},
	    {0x4F, 0x4, 0}, {0x40, 0x3, 0}, {0x0F, 0x2, 30},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(
		    count_cbo(EVENT(LLC_VICTIMS, cases[i].umask), 0, cases[i].nodes, victims),
		    cases[i].count);
	/* §2.3.2.3: victims belong to no thread. */
	assert_int_equal(count_cbo(TID_EN | EVENT(LLC_VICTIMS, 0x0F), 0x3F, 0, victims), 30);
	assert_int_equal(count_cbo(TID_EN | EVENT(LLC_VICTIMS, 0x0F), 0x04, 0, victims), 0);
}

/* Reads: bank + 1 in each bank of rank 0, one in each of rank 1. Writes: two in each of rank 1. */
static void columns(void)
{
	uint64_t time = 0;

	for (unsigned bank = 0; bank < 16; bank++) {
		struct signal cas = {.id = SIGNAL_DRAM_CAS, .unit = 1, .bank = (uint8_t)bank};

		for (unsigned i = 0; i <= bank; i++) {
			cas.time = time++;
			cas.qualifiers = i ? QUALIFIER_DRAM_CAS_READ : QUALIFIER_DRAM_CAS_UNDERFILL;
			emit(cas);
		}
		cas.rank = 1;
		cas.time = time++;
		cas.qualifiers = QUALIFIER_DRAM_CAS_READ;
		emit(cas);
		cas.qualifiers = QUALIFIER_DRAM_CAS_WRITE_IN_WRITE_MODE;
		emit(cas);
		cas.qualifiers = QUALIFIER_DRAM_CAS_WRITE_IN_READ_MODE;
		emit(cas);
	}
}

/* Table 2-128: 0 to 15 a bank, 16 all, 17 to 20 four banks each. */
static void test_rank_bank(void **state UNUSED)
{
	const uint64_t groups[] = {1 + 2 + 3 + 4, 5 + 6 + 7 + 8, 9 + 10 + 11 + 12,
				   13 + 14 + 15 + 16};

	for (unsigned umask = 0; umask < 24; umask++) {
		uint64_t expected = umask < 16	  ? umask + 1
				    : umask == 16 ? 136
				    : umask <= 20 ? groups[umask - 17]
						  : 0;
		uint64_t banks = umask < 16 ? 1 : umask == 16 ? 16 : umask <= 20 ? 4 : 0;

		fixture_down(&fixture);
		fixture_up(&fixture);
		fixture_set_pci(&fixture, MC(1, PCI_CTL(0)), EN | EVENT(RD_CAS_RANK0, umask));
		fixture_set_pci(&fixture, MC(1, PCI_CTL(1)), EN | EVENT(RD_CAS_RANK1, umask));
		fixture_set_pci(&fixture, MC(1, PCI_CTL(2)), EN | EVENT(WR_CAS_RANK1, umask));
		columns();
		assert_int_equal(fixture_pci(&fixture, MC(1, PCI_CTR(0))), expected);
		assert_int_equal(fixture_pci(&fixture, MC(1, PCI_CTR(1))), banks);
		assert_int_equal(fixture_pci(&fixture, MC(1, PCI_CTR(2))), 2 * banks);
	}
}

/* Table 2-266: RdData is HOM0 0010, InvItoE HOM0 1000. */
static void requests(void)
{
	static const struct {
		unsigned count;
		enum signal_request request;
		uint64_t address;
	} kinds[] = {
	    {1, REQUEST_READ_DATA, 0x123456789000}, {2, REQUEST_READ_DATA, 0x123456789FC0},
	    {4, REQUEST_READ_DATA, 0x12345678A000}, {8, REQUEST_OWN, 0x123456789040},
	    {16, REQUEST_OWN, 0x023456789000},
	};

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		for (unsigned i = 0; i < kinds[k].count; i++)
			emit((struct signal){
			    .id = SIGNAL_HOME_REQUEST,
			    .unit = 1,
			    .time = 100 * k + i,
			    .duration = 5,
			    .request = (uint8_t)kinds[k].request,
			    .address = kinds[k].address,
			    .qualifiers = QUALIFIER_HOME_REQUEST_READ_LOCAL,
			});
}

/* Tables 2-66 to 2-69: bits 11:0 of the address are not compared, FILT asks for both. */
static void test_addr_opc(void **state UNUSED)
{
	const struct {
		unsigned umask;
		uint64_t count;
	} cases[] = {
	    {0x01, 1 + 2 + 8}, {0x02, 8 + 16}, {0x03, 8}, {0x04, 8 + 16},
	    {0x08, 0},	       {0x10, 0},      {0x05, 8}, {0x00, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fixture_down(&fixture);
		fixture_up(&fixture);
		fixture_set_pci(&fixture, HA(1, HA_ADDRMATCH0), 0x56789FC0);
		fixture_set_pci(&fixture, HA(1, HA_ADDRMATCH1), 0x1234);
		fixture_set_pci(&fixture, HA(1, HA_OPCMATCH), 0x08);
		fixture_set_pci(&fixture, HA(1, PCI_CTL(0)), EN | EVENT(ADDR_OPC, cases[i].umask));
		requests();
		assert_int_equal(fixture_pci(&fixture, HA(1, PCI_CTR(0))), cases[i].count);
	}
}

/* A filter that changes while a counter runs acts from then on. */
static void test_filter_changed_while_running(void **state UNUSED)
{
	fixture_set_msr(&fixture, C_FILTER1(3), OPC(0x182));
	fixture_set_msr(&fixture, C_CTL(3, 1), EN | EVENT(TOR_INSERTS, 0x01));
	transactions();
	fixture_at(&fixture, 1000);
	fixture_set_msr(&fixture, C_FILTER1(3), OPC(0x1C4));
	transactions();
	assert_int_equal(fixture_msr(&fixture, C_CTR(3, 1)), 7 + 16);
}

/* Who is reported: the instance and socket of the signal, and nobody else. */
static void test_instances_are_apart(void **state UNUSED)
{
	struct signal signal = {.id = SIGNAL_HOME_MEMORY_READ, .qualifiers = 0};

	fixture_set_pci(&fixture, HA(0, PCI_CTL(0)), EN | EVENT(0x17, 0x01));
	fixture_set_pci(&fixture, HA(1, PCI_CTL(0)), EN | EVENT(0x17, 0x01));
	assert_int_equal(fixture.port.enabled[SIGNAL_HOME_MEMORY_READ], 1);
	assert_int_equal(fixture.port.enabled[SIGNAL_HOME_MEMORY_WRITE], 0);
	emit(signal);
	signal.unit = 1;
	emit(signal);
	emit(signal);
	signal.socket = 1;
	emit(signal);
	assert_int_equal(fixture_pci(&fixture, HA(0, PCI_CTR(0))), 1);
	assert_int_equal(fixture_pci(&fixture, HA(1, PCI_CTR(0))), 2);
	fixture_set_pci(&fixture, HA(0, PCI_CTL(0)), 0);
	assert_int_equal(fixture.port.enabled[SIGNAL_HOME_MEMORY_READ], 1);
	fixture_set_pci(&fixture, HA(1, PCI_CTL(0)), 0);
	assert_int_equal(fixture.port.enabled[SIGNAL_HOME_MEMORY_READ], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_lookup, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_tor, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_counter0_occupancy, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_victim, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_rank_bank, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_addr_opc, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_filter_changed_while_running, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_instances_are_apart, setup, teardown),
	};

	return cmocka_run_group_tests_name("pmon filters", tests, NULL, NULL);
}
