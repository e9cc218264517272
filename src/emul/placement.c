/* Where programs run on a machine, and where their pages are, as lists of numbers say. */
#include <stdlib.h>

#include "base/error.h"
#include "emul/emul.h"

/* @return what follows a number below @count, or NULL */
static const char *read_number(const char *text, unsigned *number, unsigned count)
{
	char *end;
	unsigned long value;

	if (*text < '0' || *text > '9')
		return NULL;
	value = strtoul(text, &end, 10);
	*number = (unsigned)value;
	return value < count ? end : NULL;
}

/* @return what follows a number or a range, which *set has then too, or NULL */
static const char *read_range(const char *text, uint64_t *set, unsigned count)
{
	unsigned first, last;

	text = read_number(text, &first, count);
	last = first;
	if (text && *text == '-')
		text = read_number(text + 1, &last, count);
	if (!text || last < first)
		return NULL;
	for (unsigned i = first; i <= last; i++)
		*set |= UINT64_C(1) << i;
	return text;
}

/* Numbers and ranges below @count, which is at most 64, divided by commas. */
static int read_list(uint64_t *set, struct pmu_ctx *ctx, const char *list, unsigned count,
		     const char *what)
{
	const char *rest = list;

	*set = 0;
	do {
		rest = read_range(rest, set, count);
	} while (rest && *rest++ == ',');
	if (rest && !rest[-1])
		return 0;
	return error_set(ctx, PMU_E_RANGE,
			 "\"%s\" is no list of %s; valid: numbers from 0 to %u and ranges, as in "
			 "0,2-3",
			 list, what, count - 1);
}

static int no_cores(struct pmu_ctx *ctx)
{
	return error_set(ctx, PMU_E_UNSUPPORTED,
			 "a machine with IA-64 cores runs one thread on its first core");
}

int pmu_emul_pin(struct pmu_emul *emul, struct pmu_ctx *ctx, const char *cpus)
{
	const struct pmu_machine *desc = pmu_emul_machine(emul);
	uint64_t set;
	int error;

	if (!emul_of(emul))
		return no_cores(ctx);
	error = read_list(&set, ctx, cpus, desc->sockets * desc->cores, "CPUs");
	if (!error)
		machine_pin(emul_machine(emul_of(emul)), set);
	return error;
}

int pmu_emul_bind_memory(struct pmu_emul *emul, struct pmu_ctx *ctx, const char *nodes,
			 bool interleaved)
{
	uint64_t set;
	int error;

	if (!emul_of(emul))
		return no_cores(ctx);
	error = read_list(&set, ctx, nodes, pmu_emul_machine(emul)->sockets, "NUMA nodes");
	if (!error)
		machine_bind_memory(emul_machine(emul_of(emul)), (uint32_t)set, interleaved);
	return error;
}
