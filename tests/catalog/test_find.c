/* Look-ups over the whole catalog, and addresses that the manuals print. */
#include <ctype.h>
#include <string.h>

#include "catalog/entries.h"
#include "support/cmocka.h"

#define PCI(device, function, offset) ((device) << 15 | (function) << 12 | (offset))

static const struct pmu_pmu *xeon(void)
{
	const struct pmu_pmu *pmu = pmu_find_pmu("Xeon-E5v4");

	assert_non_null(pmu);
	return pmu;
}

/* The name with upper and lower case exchanged. */
static const char *other_case(const char *name)
{
	static char text[128];
	size_t i;

	for (i = 0; name[i]; i++)
		text[i] =
		    (char)(isupper((unsigned char)name[i]) ? tolower(name[i]) : toupper(name[i]));
	text[i] = '\0';
	return text;
}

static void check_box(const struct pmu_box *box)
{
	for (size_t i = 0; i < box->event_count; i++) {
		const struct pmu_event *event = &box->events[i];
		const struct pmu_event *found = pmu_find_event(box, event->name);

		assert_ptr_equal(pmu_find_event(box, other_case(event->name)), found);
		/* A name with several codes is found by its first one. */
		while (found != event) {
			assert_non_null(found);
			found = pmu_next_event(box, found);
		}
		for (size_t j = 0; j < event->umask_count; j++)
			assert_ptr_equal(pmu_find_umask(event, other_case(event->umasks[j].name)),
					 &event->umasks[j]);
	}
	for (size_t i = 0; i < box->register_count; i++) {
		const struct pmu_register *reg = &box->registers[i];

		assert_ptr_equal(pmu_find_register(box, other_case(reg->name)), reg);
		if (reg->role == PMU_ROLE_COUNTER || reg->role == PMU_ROLE_COUNTER_CTL)
			assert_ptr_equal(pmu_box_register(box, reg->role, reg->index), reg);
	}
	for (size_t i = 0; i < box->metric_count; i++)
		assert_ptr_equal(pmu_find_metric(box, other_case(box->metrics[i].name)),
				 &box->metrics[i]);
	for (size_t i = 0; i < box->modifier_count; i++)
		assert_ptr_equal(pmu_find_modifier(box, other_case(box->modifiers[i].name)),
				 &box->modifiers[i]);
}

static void test_everything_is_found(void **state)
{
	const struct pmu_pmu *pmus;
	size_t count;

	(void)state;
	pmus = catalog_pmus(&count);
	assert_true(count >= 1);
	for (size_t i = 0; i < count; i++) {
		assert_ptr_equal(pmu_find_pmu(other_case(pmus[i].name)), &pmus[i]);
		for (size_t j = 0; j < pmus[i].box_count; j++) {
			const struct pmu_box *box = &pmus[i].boxes[j];

			assert_ptr_equal(pmu_find_box(&pmus[i], other_case(box->name)), box);
			check_box(box);
		}
	}
}

static void test_nothing_else_is_found(void **state)
{
	const struct pmu_box *cbo = pmu_find_box(xeon(), "cbo");

	(void)state;
	assert_null(pmu_find_pmu("xeon"));
	assert_null(pmu_find_box(xeon(), "cbo3"));
	assert_null(pmu_find_event(cbo, ""));
	assert_null(pmu_find_event(cbo, "CLOCKTICK"));
	assert_null(pmu_find_event(cbo, "CLOCKTICKSS"));
	assert_null(pmu_find_event(cbo, "zzz"));
	assert_null(pmu_find_event(cbo, "CAS_COUNT"));
	assert_null(pmu_find_umask(pmu_find_event(cbo, "CLOCKTICKS"), "ALL"));
	assert_null(pmu_find_register(cbo, "Cn_MSR_PMON_BOX_FILTER"));
	assert_null(pmu_box_register(cbo, PMU_ROLE_FIXED_COUNTER, 0));
	assert_null(pmu_box_register(cbo, PMU_ROLE_COUNTER, 4));
}

/* One name in two boxes is two events: CLOCKTICKS of §2.3.4 and §2.5.3. */
static void test_same_name(void **state)
{
	const struct pmu_event *cbo = pmu_find_event(pmu_find_box(xeon(), "cbo"), "CLOCKTICKS");
	const struct pmu_event *ha = pmu_find_event(pmu_find_box(xeon(), "ha"), "CLOCKTICKS");

	(void)state;
	assert_non_null(cbo);
	assert_non_null(ha);
	assert_ptr_not_equal(cbo, ha);
	assert_null(pmu_find_event(pmu_find_box(xeon(), "imc"), "CLOCKTICKS"));
}

/* 334291-001 tables 2-1, 2-5, 2-13, 2-61, 2-112 */
static const struct {
	const char *box, *name;
	unsigned instance;
	uint32_t address;
} addresses[] = {
    {"ubox", "U_MSR_PMON_GLOBAL_CTL", 0, 0x700},
    {"ubox", "U_MSR_PMON_GLOBAL_STATUS", 0, 0x701},
    {"ubox", "U_MSR_PMON_UCLK_FIXED_CTR", 0, 0x704},
    {"ubox", "U_MSR_PMON_CTL1", 0, 0x706},
    {"cbo", "Cn_MSR_PMON_BOX_STATUS", 5, 0xe57},
    {"cbo", "Cn_MSR_PMON_CTL3", 5, 0xe54},
    {"cbo", "Cn_MSR_PMON_CTR3", 6, 0xe6b},
    {"cbo", "Cn_MSR_PMON_BOX_FILTER1", 3, 0xe36},
    {"cbo", "Cn_MSR_PMON_CTL0", 23, 0xf71},
    {"ha", "HAn_PCI_PMON_CTR3", 0, PCI(18, 1, 0xb8)},
    {"ha", "HAn_PCI_PMON_BOX_CTL", 1, PCI(18, 5, 0xf4)},
    {"imc", "MC_CHy_PCI_PMON_CTL2", 2, PCI(21, 0, 0xe0)},
    {"imc", "MC_CHy_PCI_PMON_FIXED_CTR", 7, PCI(24, 1, 0xd0)},
};

static void test_addresses(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		const struct pmu_box *box = pmu_find_box(xeon(), addresses[i].box);
		const struct pmu_register *reg = pmu_find_register(box, addresses[i].name);

		assert_non_null(reg);
		assert_int_equal(pmu_register_address(box, reg, addresses[i].instance),
				 addresses[i].address);
	}
}

/* Fields cover every bit, from the top one down, and make up the register's reset value. */
static void test_fields(void **state)
{
	const struct pmu_pmu *pmu = xeon();

	(void)state;
	for (size_t i = 0; i < pmu->box_count; i++) {
		for (size_t j = 0; j < pmu->boxes[i].register_count; j++) {
			const struct pmu_register *reg = &pmu->boxes[i].registers[j];
			unsigned next = reg->width;
			uint64_t reset = 0, enabled = 0, ones = 0;

			for (size_t k = 0; k < reg->field_count; k++) {
				const struct pmu_field *field = &reg->fields[k];

				assert_int_equal(field->hi, next - 1);
				assert_true(field->lo <= field->hi);
				next = field->lo;
				reset |= field->reset << field->lo;
				enabled |= field->enabled << field->lo;
				if (field->must == PMU_MUST_WRITE_1)
					ones |= pmu_mask(field->hi, field->lo);
			}
			assert_int_equal(next, 0);
			assert_int_equal(reset, reg->reset);
			assert_int_equal(enabled, reg->enabled);
			assert_int_equal(ones, reg->ones);
		}
	}
}

/* linux arch/x86/events/intel/uncore_snbep.c: bdx_uncore_pci_ids, snbep_uncore_pci_ids */
static const struct {
	const char *pmu, *box, *name;
	uint16_t device_id;
} kernel_functions[] = {
    {"xeon-e5v4", "ha", "uncore_ha_0", 0x6f30},
    {"xeon-e5v4", "ha", "uncore_ha_1", 0x6f38},
    {"xeon-e5v4", "imc", "uncore_imc_0", 0x6fb0},
    {"xeon-e5v4", "imc", "uncore_imc_1", 0x6fb1},
    {"xeon-e5v4", "imc", "uncore_imc_2", 0x6fb4},
    {"xeon-e5v4", "imc", "uncore_imc_3", 0x6fb5},
    {"xeon-e5v4", "imc", "uncore_imc_4", 0x6fd0},
    {"xeon-e5v4", "imc", "uncore_imc_5", 0x6fd1},
    {"xeon-e5v4", "imc", "uncore_imc_6", 0x6fd4},
    {"xeon-e5v4", "imc", "uncore_imc_7", 0x6fd5},
    {"xeon-e5v4", "irp", "uncore_irp", 0x6f39},
    {"xeon-e5v4", "qpi", "uncore_qpi_0", 0x6f32},
    {"xeon-e5v4", "qpi", "uncore_qpi_1", 0x6f33},
    {"xeon-e5v4", "qpi", "uncore_qpi_2", 0x6f3a},
    {"xeon-e5v4", "r2pcie", "uncore_r2pcie", 0x6f34},
    {"xeon-e5v4", "r3qpi", "uncore_r3qpi_0", 0x6f36},
    {"xeon-e5v4", "r3qpi", "uncore_r3qpi_1", 0x6f37},
    {"xeon-e5v4", "r3qpi", "uncore_r3qpi_2", 0x6f3e},
    {"xeon-e5", "ha", "uncore_ha", 0x3c46},
    {"xeon-e5", "imc", "uncore_imc_0", 0x3cb0},
    {"xeon-e5", "imc", "uncore_imc_1", 0x3cb1},
    {"xeon-e5", "imc", "uncore_imc_2", 0x3cb4},
    {"xeon-e5", "imc", "uncore_imc_3", 0x3cb5},
    {"xeon-e5", "qpi", "uncore_qpi_0", 0x3c41},
    {"xeon-e5", "qpi", "uncore_qpi_1", 0x3c42},
    {"xeon-e5", "r2pcie", "uncore_r2pcie", 0x3c43},
    {"xeon-e5", "r3qpi", "uncore_r3qpi_0", 0x3c44},
    {"xeon-e5", "r3qpi", "uncore_r3qpi_1", 0x3c45},
};

/* The kernel finds its PMUs by device id, and numbers them. */
static void test_kernel_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(kernel_functions) / sizeof(kernel_functions[0]); i++) {
		const struct pmu_box *box =
		    pmu_find_box(pmu_find_pmu(kernel_functions[i].pmu), kernel_functions[i].box);
		const char *number = strstr(box->kernel, "{i}");
		const char *name = kernel_functions[i].name;
		size_t stem = number ? (size_t)(number - box->kernel) : strlen(box->kernel);
		unsigned instance = number ? (unsigned)(name[stem] - '0') : 0;

		assert_int_equal(strlen(name), stem + !!number);
		assert_memory_equal(name, box->kernel, stem);
		assert_true(instance < box->instance_count);
		assert_int_equal(box->instances[instance].device_id, kernel_functions[i].device_id);
	}
}

/* Vendor and device of each function, as lspci shows them of an E5-2600 v4 (ROCm/ROCm issue 1006).
 */
static void test_identification(void **state)
{
	const struct pmu_box *imc = pmu_find_box(xeon(), "imc"), *cfg = pmu_find_box(xeon(), "cfg");
	const struct pmu_register *id = pmu_find_register(imc, "MC_CHy_PCI_ID");

	(void)state;
	assert_int_equal(pmu_register_address(imc, id, 0), PCI(0x14, 0, 0));
	assert_int_equal(pmu_register_reset(imc, id, 0), 0x6fb08086);
	assert_int_equal(pmu_register_address(imc, id, 3), PCI(0x15, 1, 0));
	assert_int_equal(pmu_register_reset(imc, id, 3), 0x6fb58086);
	assert_int_equal(pmu_register_address(imc, id, 4), PCI(0x17, 0, 0));
	assert_int_equal(pmu_register_reset(imc, id, 4), 0x6fd08086);
	id = pmu_find_register(imc, "MC_CHy_PCI_PMON_CTL0");
	assert_int_equal(pmu_register_reset(imc, id, 4), id->reset);
	for (size_t i = 0; i < cfg->register_count; i++)
		assert_int_equal(pmu_register_reset(cfg, &cfg->registers[i], 0),
				 cfg->registers[i].reset);
}

static void check_place(const struct pmu_field *field, unsigned hi, unsigned lo)
{
	assert_non_null(field);
	assert_int_equal(field->hi, hi);
	assert_int_equal(field->lo, lo);
}

/* 334291-001 tables 2-16, 2-159; 323602-001 table 3-4 */
static void test_selectors(void **state)
{
	const struct pmu_selector *cbo = &pmu_find_box(xeon(), "cbo")->selector;
	const struct pmu_selector *pcu = &pmu_find_box(xeon(), "pcu")->selector;
	const struct pmu_selector *core =
	    &pmu_find_box(pmu_find_pmu("itanium-9300"), "core")->selector;
	const struct pmu_selector *cfg = &pmu_find_box(xeon(), "cfg")->selector;

	(void)state;
	check_place(cbo->ev_sel, 7, 0);
	check_place(cbo->umask, 15, 8);
	assert_null(cbo->ev_sel_ext);
	assert_null(cbo->occ_sel);
	check_place(pcu->ev_sel, 7, 0);
	check_place(pcu->ev_sel_ext, 21, 21);
	check_place(pcu->occ_sel, 15, 14);
	assert_null(pcu->umask);
	check_place(core->ev_sel, 15, 8);
	check_place(core->umask, 19, 16);
	assert_null(cfg->ev_sel);
}

static const struct pmu_field *role(const char *pmu, const char *box, const char *reg,
				    enum pmu_field_role role, unsigned counter)
{
	const struct pmu_box *found = pmu_find_box(pmu_find_pmu(pmu), box);

	return pmu_field_by_role(pmu_find_register(found, reg), role, counter);
}

/* One role, many spellings: the bits are those of the manuals' tables. */
static void test_roles(void **state)
{
	(void)state;
	/* 334291-001 tables 2-2, 2-14, 2-16, 2-18, 2-161 */
	check_place(role("xeon-e5v4", "ubox", "U_MSR_PMON_GLOBAL_CTL", PMU_FIELD_UNFREEZE, 0), 29,
		    29);
	check_place(role("xeon-e5v4", "cbo", "Cn_MSR_PMON_BOX_CTL", PMU_FIELD_FREEZE, 0), 8, 8);
	check_place(role("xeon-e5v4", "cbo", "Cn_MSR_PMON_CTL3", PMU_FIELD_ENABLE, 0), 22, 22);
	check_place(role("xeon-e5v4", "cbo", "Cn_MSR_PMON_CTL3", PMU_FIELD_THRESHOLD, 0), 31, 24);
	check_place(role("xeon-e5v4", "cbo", "Cn_MSR_PMON_BOX_FILTER1", PMU_FIELD_NODES, 0), 15, 0);
	check_place(role("xeon-e5v4", "pcu", "PCU_MSR_PMON_BOX_FILTER", PMU_FIELD_BAND, 2), 23, 16);
	/* 253669 §18.2.2, §18.8: one register, a field for each counter */
	check_place(role("nehalem", "core", "IA32_PERFEVTSEL1", PMU_FIELD_THRESHOLD, 0), 31, 24);
	check_place(role("nehalem", "core", "IA32_FIXED_CTR_CTRL", PMU_FIELD_USER, 2), 9, 9);
	check_place(role("nehalem", "core", "IA32_PERF_GLOBAL_CTRL", PMU_FIELD_ENABLE, 3), 3, 3);
	check_place(role("nehalem", "core", "IA32_PERF_GLOBAL_CTRL", PMU_FIELD_FIXED_ENABLE, 1), 33,
		    33);
	check_place(
	    role("nehalem", "uncore", "MSR_UNCORE_PERF_GLOBAL_STATUS", PMU_FIELD_FIXED_OVERFLOW, 0),
	    32, 32);
	/* 323602-001 tables 3-7, 5-11, 5-27, 5-46 */
	check_place(role("itanium-9300", "core", "PMC7", PMU_FIELD_EVENT_SELECT, 0), 15, 8);
	check_place(role("itanium-9300", "core", "PMC0", PMU_FIELD_FREEZE, 0), 0, 0);
	check_place(role("itanium-9300", "bbox", "B_CSR_PERF_CTL1", PMU_FIELD_EVENT_SELECT, 7), 47,
		    42);
	check_place(role("itanium-9300", "rbox", "R_CSR_PERF_CNT_CTRL_2", PMU_FIELD_COUNT_HIGH, 0),
		    15, 0);
	check_place(role("itanium-9300", "zbox", "Z_CSR_PMU_CNT_STATUS", PMU_FIELD_OVERFLOW, 4), 4,
		    4);
	/* There is none. */
	assert_null(role("itanium-9300", "core", "PMC7", PMU_FIELD_ENABLE, 0));
	assert_null(role("nehalem", "core", "IA32_PERF_GLOBAL_CTRL", PMU_FIELD_ENABLE, 4));
	assert_int_equal(
	    pmu_field_bits(pmu_find_register(pmu_find_box(xeon(), "cbo"), "Cn_MSR_PMON_BOX_CTL"),
			   PMU_FIELD_UNFREEZE, 0),
	    0);
}

/* What a counter's overflow sets in a status register of @box. */
static uint64_t overflow(const char *pmu, const char *box, const char *reg, bool fixed,
			 unsigned counter)
{
	const struct pmu_box *found = pmu_find_box(pmu_find_pmu(pmu), box);

	return pmu_overflow_bit(found, pmu_find_register(found, reg), fixed, counter);
}

static void test_overflow_bits(void **state)
{
	const struct pmu_box *imc = pmu_find_box(xeon(), "imc"),
			     *ubox = pmu_find_box(xeon(), "ubox");

	(void)state;
	/* 334291-001 table 2-114: the fixed counter comes first; table 2-6: it does not show */
	assert_int_equal(overflow("xeon-e5v4", "imc", "MC_CHy_PCI_PMON_BOX_STATUS", true, 0), 1);
	assert_int_equal(overflow("xeon-e5v4", "imc", "MC_CHy_PCI_PMON_BOX_STATUS", false, 3), 16);
	assert_int_equal(overflow("xeon-e5v4", "ubox", "U_MSR_PMON_BOX_STATUS", true, 0), 0);
	assert_int_equal(overflow("xeon-e5v4", "ubox", "U_MSR_PMON_BOX_STATUS", false, 1), 2);
	assert_int_equal(overflow("xeon-e5v4", "r3qpi", "R3_Ly_PCI_PMON_BOX_STATUS", false, 3), 0);
	/* A field of its own for each. */
	assert_int_equal(overflow("nehalem", "core", "IA32_PERF_GLOBAL_OVF_CTRL", false, 3), 8);
	assert_int_equal(overflow("nehalem", "core", "IA32_PERF_GLOBAL_OVF_CTRL", true, 2),
			 UINT64_C(1) << 34);
	/* 323602-001 table 3-7: PMC0 bits 15:4 are PMD4 to PMD15 */
	assert_int_equal(overflow("itanium-9300", "core", "PMC0", false, 0), 1 << 4);
	assert_int_equal(overflow("itanium-9300", "core", "PMC0", false, 11), 1 << 15);
	/* 334291-001 table 2-3: ov_m1; ov_u and ov_u_fixed */
	assert_int_equal(imc->instances[4].overflow, 1 << 24);
	assert_int_equal(imc->instances[4].fixed_overflow, 1 << 24);
	assert_int_equal(ubox->instances[0].overflow, 2);
	assert_int_equal(ubox->instances[0].fixed_overflow, 1);
}

/* The thread filter of the CBo has a bit that switches it on, the opcode filter has none. */
static void test_enable_bits(void **state)
{
	const struct pmu_box *cbo = pmu_find_box(xeon(), "cbo");
	const struct pmu_modifier *tid = pmu_find_modifier(cbo, "tid");
	const struct pmu_modifier *tid_en = pmu_find_modifier(cbo, "tid_en");

	(void)state;
	assert_ptr_equal(tid->enable_bit, tid_en);
	assert_ptr_equal(tid_en->enables, tid);
	assert_null(tid->enables);
	assert_null(tid_en->enable_bit);
	assert_ptr_equal(tid->reg, pmu_find_register(cbo, "Cn_MSR_PMON_BOX_FILTER0"));
	assert_null(tid_en->reg);
	assert_null(pmu_find_modifier(cbo, "opc")->enable_bit);
	assert_null(pmu_find_modifier(cbo, "edge_det")->enable_bit);
}

/* os and usr of an IA32_PERFEVTSEL are of one kind, of which one has to be set. */
static void test_mode_group(void **state)
{
	const struct pmu_box *core = pmu_find_box(pmu_find_pmu("nehalem"), "core");
	const struct pmu_modifier *os = pmu_find_modifier(core, "os");
	const struct pmu_modifier *usr = pmu_find_modifier(core, "usr");
	uint64_t both = 0;

	(void)state;
	both |= UINT64_C(1) << (os - core->modifiers);
	both |= UINT64_C(1) << (usr - core->modifiers);
	assert_int_equal(os->mode_group, both);
	assert_int_equal(usr->mode_group, both);
	assert_int_equal(pmu_find_modifier(core, "cmask")->mode_group, 0);
}

static void test_mask(void **state)
{
	(void)state;
	assert_int_equal(pmu_mask(0, 0), 1);
	assert_int_equal(pmu_mask(31, 24), 0xff000000);
	assert_int_equal(pmu_mask(63, 63), UINT64_C(1) << 63);
	assert_int_equal(pmu_mask(63, 0), UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_everything_is_found),
	    cmocka_unit_test(test_nothing_else_is_found),
	    cmocka_unit_test(test_same_name),
	    cmocka_unit_test(test_addresses),
	    cmocka_unit_test(test_fields),
	    cmocka_unit_test(test_kernel_order),
	    cmocka_unit_test(test_identification),
	    cmocka_unit_test(test_selectors),
	    cmocka_unit_test(test_roles),
	    cmocka_unit_test(test_overflow_bits),
	    cmocka_unit_test(test_enable_bits),
	    cmocka_unit_test(test_mode_group),
	    cmocka_unit_test(test_mask),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
