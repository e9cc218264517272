/* Attribution as the API has it. */
#include <stdlib.h>

#include "base/error.h"
#include "base/option.h"
#include "emul/emul.h"
#include "pmulab/attribution.h"

#define EVENTS_MAX 4096

struct pmu_attribution {
	struct emul *emul;
};

int pmu_attribution_new(struct pmu_attribution **out, struct pmu_ctx *ctx, struct pmu_emul *emul,
			unsigned events)
{
	struct pmu_attribution *attribution;
	int error;

	if (!emul_of(emul))
		return error_set(ctx, PMU_E_UNSUPPORTED,
				 "what IA-64 cores cause is not attributed to instructions");
	if (!events || events > EVENTS_MAX)
		return error_set(ctx, PMU_E_RANGE, "1 to %d events can be attributed, not %u",
				 EVENTS_MAX, events);
	attribution = calloc(1, sizeof(*attribution));
	if (!attribution)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for attribution");
	attribution->emul = emul_of(emul);
	error = emul_attribution_new(attribution->emul, ctx, events);
	if (error)
		free(attribution);
	else
		*out = attribution;
	return error;
}

void pmu_attribution_free(struct pmu_attribution *attribution)
{
	free(attribution);
}

int pmu_attribution_add(struct pmu_attribution *attribution, struct pmu_ctx *ctx,
			const struct pmu_attributed *given)
{
	const struct pmu_pmu *pmu = pmu_find_pmu(emul_desc(attribution->emul)->pmu);
	struct pmu_attributed counter;
	int error = option_take(ctx, &counter, sizeof(counter), given);
	struct pmon_counter_ref ref;

	if (error)
		return error;
	ref = (struct pmon_counter_ref){
	    .socket = counter.socket,
	    .instance = counter.instance,
	    .counter = counter.counter,
	    .box = (unsigned)(counter.box - pmu->boxes),
	    .fixed = counter.fixed,
	};
	error = emul_attribute(attribution->emul, counter.pmu, &ref, counter.event);
	if (error == PMU_E_BUSY)
		return error_set(ctx, error,
				 "a program on the machine was stopped in the middle "
				 "of an access; continue or end it");
	return error
		   ? error_set(ctx, error, "counter %u of %s%u on socket %u is not there",
			       counter.counter, counter.box->name, counter.instance, counter.socket)
		   : 0;
}

static bool is_empty(const struct attribution_entry *entry, unsigned columns)
{
	for (unsigned i = 0; i < columns; i++)
		if (entry->counts[i])
			return false;
	return true;
}

static void fill_row(const struct attribution_table *table, uint32_t index,
		     struct pmu_attributed_row *row)
{
	const struct attribution_entry *entry = attribution_entry(table, index);
	const struct attribution_context *context = attribution_context_of(table, entry->context);
	const uint64_t offsets = (UINT64_C(1) << ATTRIBUTION_OFFSET_BITS) - 1;
	const struct attribution_module *module =
	    attribution_module_of(table, (uint32_t)(entry->place >> ATTRIBUTION_OFFSET_BITS));

	*row = (struct pmu_attributed_row){
	    .size = sizeof(*row),
	    .cause = index == ATTRIBUTION_NOBODY ? PMU_CAUSE_NOBODY
		     : index == ATTRIBUTION_REST ? PMU_CAUSE_REST
						 : PMU_CAUSE_INSTRUCTION,
	    .address = entry->place & offsets,
	    .counts = entry->counts,
	};
	if (context) {
		row->process = context->process;
		row->thread = context->thread;
		row->region = attribution_region_of(table, context->region);
	}
	if (module) {
		row->module = module->path;
		row->device = module->device;
		row->inode = module->inode;
	}
}

size_t pmu_attribution_rows(const struct pmu_attribution *attribution,
			    struct pmu_attributed_row *rows, size_t size)
{
	const struct attribution_table *table = emul_attribution(attribution->emul)->table;
	const unsigned columns = attribution_columns(table);
	size_t count = 0;

	for (uint32_t i = 0; i < attribution_entries(table); i++) {
		if (is_empty(attribution_entry(table, i), columns))
			continue;
		if (count < size)
			fill_row(table, i, &rows[count]);
		count++;
	}
	return count;
}
