/*
 * Encodes an event and prints the writes that program it on counter 0 of instance 0, in their
 * order.
 *
 *     encode EVENT
 */
#include <pmulab/event.h>

#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	struct pmu_write writes[PMU_EVENT_WRITES];
	struct pmu_selection selection;
	struct pmu_ctx *ctx;
	int count = -1;

	if (argc != 2 || pmu_ctx_new(&ctx))
		return 2;
	if (!pmu_event_parse(ctx, NULL, argv[1], &selection))
		count = pmu_event_encode(ctx, &selection, 0, 0, writes);
	if (count < 0)
		fprintf(stderr, "encode: %s\n", pmu_message(ctx));
	for (int i = 0; i < count; i++)
		printf("%-24s 0x%06" PRIx32 " = 0x%" PRIx64 "\n",
		       pmu_register_pattern(writes[i].reg), writes[i].address, writes[i].value);
	pmu_ctx_free(ctx);
	return count < 0;
}
