/*
 * Any bytes are a machine's description or refused with a message; what is accepted is the same
 * machine again when its own text is read. fuzz/run builds and runs it.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "catalog/description.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pmu_machine *machine, *again;
	struct pmu_ctx *ctx;

	if (pmu_ctx_new(&ctx))
		return 0;
	if (pmu_machine_parse(&machine, ctx, (const char *)data, size, "input")) {
		assert(*pmu_message(ctx));
	} else {
		int error =
		    pmu_machine_parse(&again, ctx, machine->text, strlen(machine->text), "text");

		assert(!error && !strcmp(machine->text, again->text));
		pmu_machine_free(again);
		pmu_machine_free(machine);
	}
	pmu_ctx_free(ctx);
	return 0;
}
