#include "emul/prefetchers.h"

#include "catalog/find.h"

static const struct prefetcher {
	enum pmu_field_role disable;
	enum machine_prefetcher number;
} prefetchers[] = {
    {PMU_FIELD_STREAMER_DISABLE, MACHINE_PREFETCH_STREAM},
    {PMU_FIELD_ADJACENT_DISABLE, MACHINE_PREFETCH_ADJACENT},
    {PMU_FIELD_NEXT_LINE_DISABLE, MACHINE_PREFETCH_NEXT},
    {PMU_FIELD_STRIDE_DISABLE, MACHINE_PREFETCH_STRIDE},
};
#define PREFETCHERS (sizeof(prefetchers) / sizeof(prefetchers[0]))

uint64_t prefetchers_read(const struct machine *machine, unsigned core,
			  const struct pmu_register *reg)
{
	const uint32_t on = machine_prefetchers(machine, core);
	uint64_t value = 0;

	for (size_t i = 0; i < PREFETCHERS; i++)
		if (!(on >> prefetchers[i].number & 1))
			value |= pmu_field_bits(reg, prefetchers[i].disable, 0);
	return value;
}

void prefetchers_write(struct machine *machine, unsigned core, const struct pmu_register *reg,
		       uint64_t value)
{
	uint32_t on = 0;

	for (size_t i = 0; i < PREFETCHERS; i++)
		if (!(value & pmu_field_bits(reg, prefetchers[i].disable, 0)))
			on |= 1u << prefetchers[i].number;
	machine_set_prefetchers(machine, core, on);
}
