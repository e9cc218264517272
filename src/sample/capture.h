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

/**
 * The records of the event's box whose capturing the event sets up.
 * @return bit i: record i
 */
uint32_t capture_records_of(const struct pmu_selection *selection);

/**
 * Decodes all records of a box that are enabled.
 * @param own  bit i: the instruction, data address and latency are those of record i
 */
void capture_decode(struct capture *capture, const struct pmu_box *box, uint32_t own,
		    const struct pmu_register_value *values, size_t count);

#endif
