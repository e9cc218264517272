/*
 * A slow, obvious model of docs/machine.md: caches and protocol, without time. Written from that
 * text alone, to be held against src/machine.
 */
#ifndef TESTS_MACHINE_REFERENCE_H
#define TESTS_MACHINE_REFERENCE_H

#include <stdint.h>

#include "catalog/description.h"
#include "catalog/signal.h"

struct reference;

/* What happened, as far as it does not depend on time. Summed in any order. */
typedef void reference_report(void *arg, const struct signal *signal);

/* Where a line lives; the machine's hash is its own choice, so the test asks the machine. */
struct reference_place {
	unsigned slice, set;
};
typedef struct reference_place reference_locate(void *arg, uint64_t line);

struct reference *reference_new(const struct pmu_machine *desc, reference_locate *locate,
				reference_report *report, void *arg);
void reference_free(struct reference *reference);

/* @core over all sockets; @line physical line number; @node home of the line */
void reference_load(struct reference *reference, unsigned core, uint64_t line);
void reference_store(struct reference *reference, unsigned core, uint64_t line);
void reference_fetch(struct reference *reference, unsigned core, uint64_t line);
void reference_store_nt(struct reference *reference, unsigned core, uint64_t line, unsigned offset,
			unsigned size);

/** L2 prefetches, with @request: REQUEST_READ_* into L2, REQUEST_PREFETCH_* into the LLC alone. */
void reference_prefetch(struct reference *reference, unsigned core, uint64_t line,
			unsigned request);

enum reference_level { REFERENCE_L1I, REFERENCE_L1D, REFERENCE_L2, REFERENCE_LLC };
char reference_state(const struct reference *reference, enum reference_level level, unsigned unit,
		     uint64_t line);
uint32_t reference_core_valid(const struct reference *reference, unsigned socket, uint64_t line);

#endif
