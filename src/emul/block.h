/*
 * The emulated computer: a machine and its PMUs in one shared block of memory, and the only place
 * that knows both. The block is an anonymous file: it is passed on by descriptor, and freed with
 * its last user, however that one ends.
 */
#ifndef EMUL_BLOCK_H
#define EMUL_BLOCK_H

#include "emul/attribution.h"
#include "machine/machine.h"
#include "pmon/pmon.h"

struct emul;

/** Builds a computer, powered on and reset. @return 0 or PMU_E_NOMEM, PMU_E_IO, PMU_E_UNSUPPORTED
 */
int emul_new(struct emul **emul, struct pmu_ctx *ctx, const struct pmu_machine *desc);
/** Joins one that another process made. The descriptor stays the caller's. */
int emul_attach(struct emul **emul, struct pmu_ctx *ctx, int fd);
void emul_free(struct emul *emul);

/** Descriptor to pass on; belongs to @system. -1 where it was only joined. */
int emul_fd(const struct emul *emul);
struct machine *emul_machine(struct emul *emul);
struct pmon *emul_pmon(struct emul *emul);
const struct pmu_machine *emul_desc(const struct emul *emul);

/**
 * Register accesses at the present time of the machine, under its lock. As pmon_read(); PMU_E_BUSY
 * where a program that was stopped in an access has held the lock for seconds. Nothing is lost: its
 * access goes on when it does.
 */
int emul_read(struct emul *emul, const struct pmon_access *access, uint64_t *value);
int emul_write(struct emul *emul, const struct pmon_access *access, uint64_t value);

/**
 * Adds a PMU: registers like those that the machine has, for the same signals. All PMUs count
 * independently of each other. Its free-running counters begin now.
 * @return its number, from 1; PMU_E_STATE once another process has joined the machine, and where it
 *         was only joined; PMU_E_UNSUPPORTED beyond 256; PMU_E_BUSY, PMU_E_NOMEM
 */
int emul_add_pmu(struct emul *emul, struct pmu_ctx *ctx);
/** As emul_read() and emul_write(), which are those of PMU 0, the machine's own. */
int emul_pmu_read(struct emul *emul, unsigned pmu, const struct pmon_access *access,
		  uint64_t *value);
int emul_pmu_write(struct emul *emul, unsigned pmu, const struct pmon_access *access,
		   uint64_t value);

/**
 * Adds a table of what causes counts, for @columns events; at most once.
 * @return 0; PMU_E_STATE as emul_add_pmu(), which is not possible afterwards; PMU_E_NOMEM
 */
int emul_attribution_new(struct emul *emul, struct pmu_ctx *ctx, unsigned columns);
/** NULL: there is none. */
struct attribution *emul_attribution(struct emul *emul);
/** What a counter of a PMU counts from now on goes to a column. @return 0, PMU_E_RANGE, PMU_E_BUSY
 */
int emul_attribute(struct emul *emul, unsigned pmu, const struct pmon_counter_ref *ref,
		   unsigned column);

/** As pmon_interrupts(), by the present time; UINT64_MAX as PMU_E_BUSY of the above. */
uint64_t emul_interrupts(struct emul *emul, unsigned socket, unsigned core);

/**
 * Waits until the above is not @seen, or the time is over. What overflows by an event that is
 * emitted, or is found by an access to the machine from anywhere, ends it at once; it looks for the
 * rest now and then.
 * @return 0, *count being @seen where the time was over; PMU_E_BUSY as above
 */
int emul_await_interrupt(struct emul *emul, unsigned socket, unsigned core, uint64_t seen,
			 uint64_t timeout_ns, uint64_t *count);

/** Lets so much time pass on the machine, unless a program runs on it, or is stopped in an access.
 */
void emul_pass(struct emul *emul, uint64_t ns);

#endif
