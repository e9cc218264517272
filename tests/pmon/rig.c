#include "rig.h"

#include <string.h>
#include <sys/mman.h>

void rig_open_pmu(struct rig *rig, const struct pmu_pmu *pmu)
{
	static const struct pmu_strap straps[] = {{"CAPID4", RIG_CAPID4}, {"CAPID5", RIG_CAPID5}};
	struct pmon_config config = {
	    .pmu = pmu,
	    .sockets = 2,
	    .straps = straps,
	    .strap_count = 2,
	    .clock_mhz = {[PMU_CLOCK_UCLK] = RIG_UCLK_MHZ, [PMU_CLOCK_DCLK] = RIG_DCLK_MHZ},
	};

	memset(rig, 0, sizeof(*rig));
	for (size_t i = 0; i < pmu->box_count; i++)
		config.present[i] = strcmp(pmu->boxes[i].name, "cbo") ? 0xff : RIG_CAPID5;
	assert_int_equal(pmu_ctx_new(&rig->ctx), 0);
	rig->size = pmon_state_size(&config);
	/* As the emulated computer has it: zeroed, and there only where it is touched. */
	rig->state =
	    mmap(NULL, rig->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(rig->state, MAP_FAILED);
	assert_int_equal(pmon_open(&rig->pmon, rig->ctx, &config, rig->state, true), 0);
	pmon_port(rig->pmon, &rig->port);
}

void rig_open(struct rig *rig)
{
	const struct pmu_pmu *pmu = pmu_find_pmu("xeon-e5v4");

	assert_non_null(pmu);
	rig_open_pmu(rig, pmu);
}

void rig_close(struct rig *rig)
{
	pmon_close(rig->pmon);
	pmu_ctx_free(rig->ctx);
	munmap(rig->state, rig->size);
}

uint64_t rig_msr_of(struct rig *rig, unsigned socket, uint32_t address)
{
	uint64_t value;

	assert_int_equal(
	    pmon_read(rig->pmon, AT(socket, PMU_SPACE_MSR, address, 64), &rig->now, &value), 0);
	return value;
}

void rig_set_msr_of(struct rig *rig, unsigned socket, uint32_t address, uint64_t value)
{
	assert_int_equal(
	    pmon_write(rig->pmon, AT(socket, PMU_SPACE_MSR, address, 64), &rig->now, value), 0);
}

uint64_t rig_msr(struct rig *rig, uint32_t address)
{
	return rig_msr_of(rig, 0, address);
}

void rig_set_msr(struct rig *rig, uint32_t address, uint64_t value)
{
	rig_set_msr_of(rig, 0, address, value);
}

static unsigned pci_width(uint32_t address)
{
	uint32_t offset = address & 0xfff;

	return (offset >= 0xA0 && offset < 0xC0) || offset == PCI_FIXED_CTR ? 64 : 32;
}

uint64_t rig_pci(struct rig *rig, uint32_t address)
{
	uint64_t value;

	assert_int_equal(pmon_read(rig->pmon, AT(0, PMU_SPACE_PCI, address, pci_width(address)),
				   &rig->now, &value),
			 0);
	return value;
}

void rig_set_pci(struct rig *rig, uint32_t address, uint64_t value)
{
	assert_int_equal(pmon_write(rig->pmon, AT(0, PMU_SPACE_PCI, address, pci_width(address)),
				    &rig->now, value),
			 0);
}

void rig_at(struct rig *rig, uint64_t uncore_cycle)
{
	rig->now.cycles[PMU_CLOCK_UCLK] = uncore_cycle;
	rig->now.cycles[PMU_CLOCK_DCLK] = uncore_cycle * RIG_DCLK_MHZ / RIG_UCLK_MHZ;
}

void rig_at_dram(struct rig *rig, uint64_t dram_cycle)
{
	rig->now.cycles[PMU_CLOCK_DCLK] = dram_cycle;
	rig->now.cycles[PMU_CLOCK_UCLK] = dram_cycle * RIG_UCLK_MHZ / RIG_DCLK_MHZ;
}

void rig_span(struct rig *rig, uint16_t id, unsigned instance, uint32_t qualifiers, uint64_t time,
	      uint64_t duration)
{
	struct signal signal = {
	    .id = id,
	    .unit = (uint8_t)instance,
	    .qualifiers = qualifiers,
	    .time = time,
	    .duration = duration,
	};

	signal_emit(&rig->port, signal);
}

void rig_pulse(struct rig *rig, uint16_t id, unsigned instance, uint32_t qualifiers, uint64_t time)
{
	rig_span(rig, id, instance, qualifiers, time, 0);
}
