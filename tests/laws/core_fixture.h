/* A machine, a session that counts events of its cores, and harts of one address space on them. */
#ifndef LAWS_CORE_FIXTURE_H
#define LAWS_CORE_FIXTURE_H

#include "machine/access.h"
#include "pmulab/session.h"

#define CORE_FIXTURE_HARTS 44

struct core_fixture {
	struct pmu_machine desc;
	struct pmu_ctx *ctx;
	struct pmu_bus *bus;
	struct pmu_session *session;
	struct machine *machine;
	struct machine_address_space *space;
	struct machine_hart *harts[CORE_FIXTURE_HARTS];
	unsigned hart_count;
};

/** Nothing is counted, no hart is there, and translation is free. */
void core_fixture_up(struct core_fixture *fixture, const char *machine);
/** @param translation  as in files of machines */
void core_fixture_up_with(struct core_fixture *fixture, const char *machine,
			  const char *translation);
void core_fixture_down(struct core_fixture *fixture);

/** Takes so many cores, the n-th hart the n-th core. */
void core_fixture_enter(struct core_fixture *fixture, unsigned harts);

/** @param event  with its box; its number is how many were added before */
void core_fixture_add(struct core_fixture *fixture, const char *event);

void core_fixture_start(struct core_fixture *fixture);
/** @return counts of all instances; they hold until the next call */
const struct pmu_count *core_fixture_stop(struct core_fixture *fixture, size_t *count);

typedef void core_fixture_drive(struct core_fixture *fixture);

/**
 * Counts one event after the other on core 0 of xeon-e5v4-4c, without prefetchers, while @drive
 * does the same each time. The hart is entered when counters run.
 * @param names  without the box
 * @return cycles, whatever is counted
 */
uint64_t core_fixture_count(const char *const *names, uint64_t *values, unsigned events,
			    core_fixture_drive *drive);

#endif
