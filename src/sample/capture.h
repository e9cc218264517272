/* What records that were captured say, by the roles of their fields. */
#ifndef SAMPLE_CAPTURE_H
#define SAMPLE_CAPTURE_H

#include "catalog/hwrec.h"
#include "pmulab/event.h"
#include "pmulab/sample.h"

#define CAPTURE_ENTRIES	  64  /* of all rings */
#define CAPTURE_REGISTERS 128 /* of all records of a box */

struct capture {
	bool has_instruction, has_data, has_latency, latency_least;
	uint64_t instruction, slot, data, latency;
	struct pmu_sample_branch branches[CAPTURE_ENTRIES];
	struct pmu_sample_retired retired[CAPTURE_ENTRIES];
	unsigned branch_count, retired_count;
};

/* Whose instruction, data address and latency are an event's. */
struct capture_event {
	const struct pmu_box *box;
	uint32_t own; /* bit i: record i of the box, which the event sets up */
	const struct pmu_box
	    *requests; /* what captures requests that the event counts; NULL: none */
};

void capture_event_init(struct capture_event *event, const struct pmu_selection *selection);

/** Decodes all records that are enabled, of the event's box and of what it counts captures of. */
void capture_decode(struct capture *capture, const struct capture_event *event,
		    const struct pmu_register_value *values, size_t count);

#endif
