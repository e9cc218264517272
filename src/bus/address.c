/* Registers by their address, and register traces of the caller's own. */
#include "base/error.h"
#include "bus/map.h"
#include "bus/register_trace.h"

bool pmu_address_find(const struct pmu_pmu *pmu, const struct pmu_access_op *op,
		      struct pmu_located *located)
{
	struct pmu_access_op narrow = *op;
	struct bus_register_ref ref;

	/* RDMSR and WRMSR are of 64 bits, also where the register is of 32. */
	narrow.width = 32;
	if (!bus_find(pmu, op, &ref) &&
	    (op->space != PMU_SPACE_MSR || !bus_find(pmu, &narrow, &ref)))
		return false;
	*located = (struct pmu_located){.box = ref.box, .reg = ref.reg, .instance = ref.instance};
	return true;
}

int pmu_trace_begin(FILE *file, const char *pmu, unsigned sockets, bool emulated)
{
	struct register_trace_header header = {.sockets = sockets, .emulated = emulated};

	if (snprintf(header.pmu, sizeof(header.pmu), "%s", pmu) >= (int)sizeof(header.pmu))
		return PMU_E_RANGE;
	return register_trace_put_header(file, &header);
}

int pmu_trace_access(FILE *file, const struct pmu_access_op *op, bool write, int error)
{
	return register_trace_put_line(file, write, op, error);
}
