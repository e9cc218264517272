#include "fixture.h"

#include <string.h>
#include <sys/mman.h>

/* @param sockets  each with @units of its boxes, bit: unit */
static void up(struct fixture *fixture, const struct pmu_pmu *pmu, unsigned sockets, uint32_t units)
{
	static const struct pmu_strap straps[] = {{"CAPID4", FIXTURE_CAPID4},
						  {"CAPID5", FIXTURE_CAPID5}};
	struct pmon_config config = {
	    .pmu = pmu,
	    .sockets = sockets,
	    .straps = straps,
	    .strap_count = 2,
	    .clock_mhz = {[PMU_CLOCK_UCLK] = FIXTURE_UCLK_MHZ,
			  [PMU_CLOCK_DCLK] = FIXTURE_DCLK_MHZ,
			  [PMU_CLOCK_PCLK] = FIXTURE_PCLK_MHZ,
			  [PMU_CLOCK_QFCLK] = FIXTURE_QFCLK_MHZ},
	};

	memset(fixture, 0, sizeof(*fixture));
	for (size_t i = 0; i < pmu->box_count; i++)
		config.present[i] =
		    units & (strcmp(pmu->boxes[i].name, "cbo") ? 0xff : FIXTURE_CAPID5);
	assert_int_equal(pmu_ctx_new(&fixture->ctx), 0);
	fixture->size = pmon_state_size(&config);
	/* As the emulated computer has it: zeroed, and there only where it is touched. */
	fixture->state =
	    mmap(NULL, fixture->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(fixture->state, MAP_FAILED);
	assert_int_equal(pmon_open(&fixture->pmon, fixture->ctx, &config, fixture->state, true), 0);
	pmon_port(fixture->pmon, &fixture->port);
}

void fixture_up_for(struct fixture *fixture, const struct pmu_pmu *pmu)
{
	up(fixture, pmu, 2, UINT32_MAX);
}

void fixture_up_single(struct fixture *fixture, const struct pmu_pmu *pmu)
{
	up(fixture, pmu, 1, 1);
}

void fixture_up(struct fixture *fixture)
{
	const struct pmu_pmu *pmu = pmu_find_pmu("xeon-e5v4");

	assert_non_null(pmu);
	fixture_up_for(fixture, pmu);
}

void fixture_down(struct fixture *fixture)
{
	pmon_close(fixture->pmon);
	pmu_ctx_free(fixture->ctx);
	munmap(fixture->state, fixture->size);
}

uint64_t fixture_msr_of(struct fixture *fixture, unsigned socket, uint32_t address)
{
	uint64_t value;

	assert_int_equal(
	    pmon_read(fixture->pmon, AT(socket, PMU_SPACE_MSR, address, 64), &fixture->now, &value),
	    0);
	return value;
}

void fixture_set_msr_of(struct fixture *fixture, unsigned socket, uint32_t address, uint64_t value)
{
	assert_int_equal(
	    pmon_write(fixture->pmon, AT(socket, PMU_SPACE_MSR, address, 64), &fixture->now, value),
	    0);
}

uint64_t fixture_msr(struct fixture *fixture, uint32_t address)
{
	return fixture_msr_of(fixture, 0, address);
}

void fixture_set_msr(struct fixture *fixture, uint32_t address, uint64_t value)
{
	fixture_set_msr_of(fixture, 0, address, value);
}

static unsigned pci_width(uint32_t address)
{
	uint32_t offset = address & 0xfff;

	return (offset >= 0xA0 && offset < 0xC0) || offset == PCI_FIXED_CTR ? 64 : 32;
}

uint64_t fixture_pci(struct fixture *fixture, uint32_t address)
{
	uint64_t value;

	assert_int_equal(pmon_read(fixture->pmon, AT(0, PMU_SPACE_PCI, address, pci_width(address)),
				   &fixture->now, &value),
			 0);
	return value;
}

void fixture_set_pci(struct fixture *fixture, uint32_t address, uint64_t value)
{
	assert_int_equal(pmon_write(fixture->pmon,
				    AT(0, PMU_SPACE_PCI, address, pci_width(address)),
				    &fixture->now, value),
			 0);
}

void fixture_at(struct fixture *fixture, uint64_t uncore_cycle)
{
	fixture->now.cycles[PMU_CLOCK_UCLK] = uncore_cycle;
	fixture->now.cycles[PMU_CLOCK_DCLK] = uncore_cycle * FIXTURE_DCLK_MHZ / FIXTURE_UCLK_MHZ;
	fixture->now.cycles[PMU_CLOCK_PCLK] = uncore_cycle * FIXTURE_PCLK_MHZ / FIXTURE_UCLK_MHZ;
	fixture->now.cycles[PMU_CLOCK_QFCLK] = uncore_cycle * FIXTURE_QFCLK_MHZ / FIXTURE_UCLK_MHZ;
}

void fixture_at_dram(struct fixture *fixture, uint64_t dram_cycle)
{
	fixture->now.cycles[PMU_CLOCK_DCLK] = dram_cycle;
	fixture->now.cycles[PMU_CLOCK_UCLK] = dram_cycle * FIXTURE_UCLK_MHZ / FIXTURE_DCLK_MHZ;
	fixture->now.cycles[PMU_CLOCK_PCLK] = dram_cycle * FIXTURE_PCLK_MHZ / FIXTURE_DCLK_MHZ;
	fixture->now.cycles[PMU_CLOCK_QFCLK] = dram_cycle * FIXTURE_QFCLK_MHZ / FIXTURE_DCLK_MHZ;
}

void fixture_span(struct fixture *fixture, uint16_t id, unsigned instance, uint32_t qualifiers,
		  uint64_t time, uint64_t duration)
{
	struct signal signal = {
	    .id = id,
	    .unit = (uint8_t)instance,
	    .qualifiers = qualifiers,
	    .time = time,
	    .duration = duration,
	};

	signal_emit(&fixture->port, signal);
}

void fixture_pulse(struct fixture *fixture, uint16_t id, unsigned instance, uint32_t qualifiers,
		   uint64_t time)
{
	fixture_span(fixture, id, instance, qualifiers, time, 0);
}
