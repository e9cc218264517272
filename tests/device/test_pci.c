/* Configuration space against the registers behind it, and the functions that there are. */
#include <string.h>

#include "device/pci.h"
#include "support/cmocka.h"

/* 334291-001 table 2-112: channel 0 of iMC 0 is D20:F0. */
#define CTR0	0xA0
#define CTL0	0xD8
#define BOX_CTL 0xF4
#define STATUS	0xF8

struct fixture {
	struct pmu_ctx *ctx;
	struct device_access device;
	struct pci_functions functions;
};

static struct fixture fixture;

static int fixture_up_machine(const char *name)
{
	fixture = (struct fixture){0};
	assert_int_equal(pmu_ctx_new(&fixture.ctx), 0);
	assert_int_equal(emul_new(&fixture.device.emul, fixture.ctx, pmu_find_machine(name)), 0);
	assert_int_equal(device_pci_init(&fixture.functions, fixture.ctx, &fixture.device), 0);
	return 0;
}

static int fixture_up_small(void **state)
{
	(void)state;
	return fixture_up_machine("xeon-e5v4-4c");
}

static int fixture_up_large(void **state)
{
	(void)state;
	return fixture_up_machine("xeon-e5-2699v4-2s");
}

static int fixture_down(void **state)
{
	(void)state;
	device_pci_fini(&fixture.functions);
	emul_free(fixture.device.emul);
	pmu_ctx_free(fixture.ctx);
	return 0;
}

static const struct pci_function *find(unsigned bus, unsigned device, unsigned function)
{
	for (size_t i = 0; i < fixture.functions.count; i++) {
		const struct pci_function *candidate = &fixture.functions.all[i];

		if (candidate->bus == bus && candidate->device == device &&
		    candidate->function == function)
			return candidate;
	}
	return NULL;
}

static uint64_t read_config(const struct pci_function *function, size_t size, off_t offset)
{
	uint64_t value = 0;

	assert_int_equal(device_pci_read(&fixture.device, function, &value, size, offset), size);
	return value;
}

static void write_config(const struct pci_function *function, size_t size, off_t offset,
			 uint64_t value)
{
	assert_int_equal(device_pci_write(&fixture.device, function, &value, size, offset), size);
}

static uint64_t read_register(unsigned socket, uint32_t address, unsigned width)
{
	const struct pmon_access access = {
	    .socket = socket, .space = PMU_SPACE_PCI, .address = address, .width = width};
	uint64_t value;

	assert_int_equal(emul_read(fixture.device.emul, &access, &value), 0);
	return value;
}

/* A socket's buses: 00 and ff of one; 00 and 7f, 80 and ff of two. I/O has devices 0 to 7. */
static void sockets_have_their_buses(void **state)
{
	(void)state;
	for (unsigned socket = 0; socket < 2; socket++) {
		unsigned io = socket * 0x80, uncore = io + 0x7f;

		assert_non_null(find(uncore, 20, 0));
		assert_int_equal(find(uncore, 20, 0)->socket, socket);
		assert_non_null(find(uncore, 18, 5));
		assert_non_null(find(io, 5, 6));
		assert_null(find(uncore, 5, 6));
		/* CPUBUSNO: where PCM looks for the uncore's bus. */
		assert_int_equal(read_config(find(io, 5, 0), 4, 0x108) & 0xffff, uncore << 8 | io);
	}
}

/* The small machine has one home agent and four channels, all on the first controller. */
static void only_what_the_part_has_is_there(void **state)
{
	(void)state;
	assert_non_null(find(0xff, 18, 1));
	assert_null(find(0xff, 18, 5));
	assert_non_null(find(0xff, 21, 1));
	assert_null(find(0xff, 23, 0));
	assert_null(find(0xff, 10, 2));
	for (size_t i = 0; i < fixture.functions.count; i++)
		assert_int_not_equal(fixture.functions.all[i].device_id, 0);
}

static void header_says_what_it_is(void **state)
{
	const struct pci_function *ha = find(0xff, 18, 1);

	(void)state;
	/* 334291-001 table 1-3: HA0 is 0x6F30. */
	assert_int_equal(read_config(ha, 4, 0), 0x6f308086);
	assert_int_equal(read_config(ha, 2, 0), 0x8086);
	assert_int_equal(read_config(ha, 2, 2), 0x6f30);
	assert_int_equal(read_config(ha, 1, 1), 0x80);
	/* Performance counters, and one function of several. */
	assert_int_equal(read_config(ha, 4, 8) >> 8, 0x110100);
	assert_int_equal(read_config(ha, 1, 0xe), 0x80);
	assert_int_equal(read_config(ha, 4, 0x34), 0);
}

static void all_widths_reach_registers(void **state)
{
	const struct pci_function *channel = find(0xff, 20, 0);
	const uint32_t counter = 20u << 15 | CTR0;

	(void)state;
	write_config(channel, 8, CTR0, 0x123456789abc);
	assert_int_equal(read_register(0, counter, 64), 0x123456789abc);
	assert_int_equal(read_config(channel, 8, CTR0), 0x123456789abc);
	assert_int_equal(read_config(channel, 4, CTR0), 0x56789abc);
	assert_int_equal(read_config(channel, 4, CTR0 + 4), 0x1234);
	assert_int_equal(read_config(channel, 2, CTR0 + 2), 0x5678);
	assert_int_equal(read_config(channel, 1, CTR0 + 5), 0x12);
	/* Across dwords, and not aligned. */
	assert_int_equal(read_config(channel, 4, CTR0 + 3), 0x00123456);
	write_config(channel, 4, CTR0 + 4, 0x7777);
	assert_int_equal(read_register(0, counter, 64), 0x777756789abc);
	write_config(channel, 1, CTR0 + 1, 0xee);
	assert_int_equal(read_register(0, counter, 64), 0x77775678eebc);
	write_config(channel, 4, CTL0, 0x00400304);
	write_config(channel, 2, CTL0, 0x0c04);
	assert_int_equal(read_register(0, 20u << 15 | CTL0, 32), 0x00400c04);
}

/* The home agent counts cycles: CLOCKTICKS. */
static void count_cycles_from(const struct pci_function *ha, uint64_t from)
{
	write_config(ha, 4, BOX_CTL, 0x30100);
	write_config(ha, 4, CTL0, 1u << 22);
	write_config(ha, 8, CTR0, from);
	write_config(ha, 4, BOX_CTL, 0x30000);
}

static uint64_t read_later(const struct pci_function *ha)
{
	emul_pass(fixture.device.emul, 1000);
	return read_config(ha, 8, CTR0);
}

/* 334291-001 table 2-63: writing 1 to ov clears it; writing other bytes writes nothing to it. */
static void other_bytes_clear_no_overflow(void **state)
{
	const struct pci_function *ha = find(0xff, 18, 1);

	(void)state;
	count_cycles_from(ha, 0xfffffffffff0);
	read_later(ha);
	assert_int_equal(read_config(ha, 4, STATUS), 1);
	write_config(ha, 1, STATUS + 1, 0);
	write_config(ha, 2, STATUS + 2, 0);
	assert_int_equal(read_config(ha, 4, STATUS), 1);
	write_config(ha, 1, STATUS, 1);
	assert_int_equal(read_config(ha, 4, STATUS), 0);
}

/* 334291-001 table 2-62: frz is bit 8, rst_ctrs and rst_ctrl are bits 1 and 0. */
static void bytes_of_box_control_act_alone(void **state)
{
	const struct pci_function *ha = find(0xff, 18, 1);
	uint64_t frozen;

	(void)state;
	count_cycles_from(ha, 0);
	write_config(ha, 1, BOX_CTL + 1, 1);
	frozen = read_later(ha);
	write_config(ha, 1, BOX_CTL + 2, 3);
	assert_int_equal(read_later(ha), frozen);
	write_config(ha, 1, BOX_CTL, 2);
	assert_int_equal(read_later(ha), 0);
	write_config(ha, 1, BOX_CTL + 1, 0);
	assert_true(read_later(ha) > 0);
	write_config(ha, 1, BOX_CTL + 2, 3);
	assert_true(read_later(ha) > 0);
	write_config(ha, 1, BOX_CTL, 1);
	assert_int_equal(read_config(ha, 4, CTL0), 0);
}

/* 334291-001 table 2-169: on QPI, rst (bit 17) holds the counter until it is written as 0. */
static void other_bytes_do_not_end_rst(void **state)
{
	const struct pci_function *qpi = find(0x7f, 8, 2);

	(void)state;
	write_config(qpi, 4, CTL0, 1u << 17);
	write_config(qpi, 1, CTL0, 0x14);
	write_config(qpi, 8, CTR0, 1234);
	assert_int_equal(read_config(qpi, 8, CTR0), 0);
	write_config(qpi, 1, CTL0 + 2, 0);
	write_config(qpi, 8, CTR0, 1234);
	assert_int_equal(read_config(qpi, 8, CTR0), 1234);
	assert_int_equal(read_config(qpi, 4, CTL0), 0x14);
}

static void count_violation(void *arg, const struct pmon_violation *violation)
{
	(void)violation;
	++*(unsigned *)arg;
}

/* 334291-001 table 2-62: bits 17:16 have to be 1 in what is written. */
static void rules_are_those_of_written_bytes(void **state)
{
	const struct pci_function *ha = find(0xff, 18, 1);
	unsigned violations = 0;

	(void)state;
	pmon_strict(emul_pmon(fixture.device.emul), count_violation, &violations);
	write_config(ha, 1, BOX_CTL + 1, 1);
	write_config(ha, 1, BOX_CTL, 2);
	write_config(ha, 2, BOX_CTL, 0x100);
	assert_int_equal(violations, 0);
	write_config(ha, 1, BOX_CTL + 2, 1);
	assert_int_equal(violations, 1);
}

static void remember(void *arg, const struct pmon_access *access, bool write, uint64_t value,
		     int error)
{
	(void)access;
	assert_true(write);
	assert_int_equal(error, 0);
	*(uint64_t *)arg = value;
}

/* A trace has the whole register; of it nothing that a write of 1 clears, unless it is written. */
static void traces_have_whole_dwords(void **state)
{
	const struct pci_function *ha = find(0xff, 18, 1);
	uint64_t written = 0;

	(void)state;
	count_cycles_from(ha, 0xfffffffffff0);
	read_later(ha);
	fixture.device.accessed = remember;
	fixture.device.arg = &written;
	write_config(ha, 1, CTL0, 0x01);
	assert_int_equal(written, 1u << 22 | 0x01);
	write_config(ha, 1, STATUS + 1, 0);
	assert_int_equal(written, 0);
}

static void writes_elsewhere_do_nothing(void **state)
{
	const struct pci_function *channel = find(0xff, 20, 0);

	(void)state;
	write_config(channel, 4, 0, 0xffffffff);
	write_config(channel, 4, 0x40, 0xffffffff);
	assert_int_equal(read_config(channel, 2, 0), 0x8086);
	assert_int_equal(read_config(channel, 4, 0x40), 0);
}

static void the_space_ends_at_4096_bytes(void **state)
{
	const struct pci_function *channel = find(0xff, 20, 0);
	char bytes[8];

	(void)state;
	assert_int_equal(device_pci_read(&fixture.device, channel, bytes, 8, 4092), 4);
	assert_int_equal(device_pci_read(&fixture.device, channel, bytes, 8, 4096), 0);
	assert_int_equal(device_pci_read(&fixture.device, channel, bytes, 8, -1), 0);
	assert_int_equal(device_pci_write(&fixture.device, channel, bytes, 8, 4096), 0);
}

static void files_list_the_functions(void **state)
{
	const struct pmu_machine *machine = pmu_find_machine("xeon-e5v4-4c");
	struct device_tree tree;
	const struct device_node *node;

	(void)state;
	tree_init(&tree);
	device_pci_add_files(&tree, &fixture.functions, machine);
	assert_false(tree.incomplete);
	node = tree_find(&tree, "proc/bus/pci/devices");
	assert_non_null(node);
	/* Bus, device << 3 | function; vendor, device; a line's end after two times seven numbers.
	 */
	assert_non_null(strstr(node->text, "ff91\t80866f30\t0\t"));
	node = tree_find(&tree, "sys/bus/pci/devices/0000:ff:12.1/device");
	assert_string_equal(node->text, "0x6f30\n");
	node = tree_find(&tree, "sys/bus/pci/devices/0000:ff:12.1/class");
	assert_string_equal(node->text, "0x110100\n");
	node = tree_find(&tree, "sys/bus/pci/devices/0000:ff:12.1/config");
	assert_int_equal(node->kind, DEVICE_CONFIG);
	assert_int_equal(fixture.functions.all[node->number].device, 18);
	assert_non_null(tree_find(&tree, "proc/bus/pci/ff/14.0"));
	assert_null(tree_find(&tree, "proc/bus/pci/ff/17.0"));
	tree_fini(&tree);
}

#define SMALL(test) cmocka_unit_test_setup_teardown(test, fixture_up_small, fixture_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(sockets_have_their_buses, fixture_up_large,
					    fixture_down),
	    SMALL(only_what_the_part_has_is_there),
	    SMALL(header_says_what_it_is),
	    SMALL(all_widths_reach_registers),
	    SMALL(other_bytes_clear_no_overflow),
	    SMALL(bytes_of_box_control_act_alone),
	    cmocka_unit_test_setup_teardown(other_bytes_do_not_end_rst, fixture_up_large,
					    fixture_down),
	    SMALL(rules_are_those_of_written_bytes),
	    SMALL(traces_have_whole_dwords),
	    SMALL(writes_elsewhere_do_nothing),
	    SMALL(the_space_ends_at_4096_bytes),
	    SMALL(files_list_the_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
