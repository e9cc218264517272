/*
 * The PMUs of the boxes outside of IA-64 cores, of all sockets: counters that share selecting and
 * matching registers, counts in two registers, accumulators whose carries are events, freezes of a
 * box and of a socket.
 *
 * It is told what happens event by event. Counters of cycles are caught up with at each event and
 * access; as nothing else counts in between, an overflow of theirs freezes in its own cycle. A
 * transaction's events come when it begins, with their own times.
 */
#ifndef PMON_IA64_UNCORE_H
#define PMON_IA64_UNCORE_H

#include <stddef.h>
#include <stdint.h>

#include "catalog/detail.h"
#include "pmulab/catalog.h"

struct pmon_uncore;
struct pmu_ctx;

/** Bytes that the boxes of a PMU take. */
size_t pmon_uncore_size(const struct pmu_pmu *pmu, unsigned sockets);
/**
 * In reset state.
 * @param memory  pmon_uncore_size() bytes of zeros, aligned to 8; the caller's
 * @return 0, or PMU_E_UNSUPPORTED for boxes of another kind
 */
int pmon_uncore_init(void *memory, struct pmu_ctx *ctx, const struct pmu_pmu *pmu,
		     unsigned sockets);

/** Signals that somebody counts, SIGNAL_COUNT bytes. */
const uint8_t *pmon_uncore_enabled(const struct pmon_uncore *uncore);
/** Something happened in a unit. */
void pmon_uncore_event(struct pmon_uncore *uncore, const struct detail_event *event);

/**
 * A request left a core, and may be measured; that takes no time.
 * @param frozen  bit n: the monitors of the core's thread n are
 * @return whether it is an event of the core's
 */
bool pmon_uncore_request(struct pmon_uncore *uncore, unsigned socket, unsigned core,
			 const struct detail_request *request, unsigned frozen);

/**
 * A register by its address in the socket's window.
 * @param now  cycle of the boxes' clock
 * @return 0, or PMU_E_UNKNOWN: there is none
 */
int pmon_uncore_read(struct pmon_uncore *uncore, unsigned socket, uint32_t address, uint64_t now,
		     uint64_t *value);
int pmon_uncore_write(struct pmon_uncore *uncore, unsigned socket, uint32_t address, uint64_t now,
		      uint64_t value);

/** Interrupts of overflows so far, of a socket. */
uint64_t pmon_uncore_interrupts(const struct pmon_uncore *uncore, unsigned socket);

#endif
