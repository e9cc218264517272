/* An emulated machine of cores that issue in order, inside. */
#ifndef EMUL_EPIC_STATE_H
#define EMUL_EPIC_STATE_H

#include "catalog/description.h"
#include "machine/epic/params.h"
#include "pmon/ia64/pmu.h"
#include "pmon/ia64/strict.h"
#include "pmon/ia64/uncore.h"

#define EMUL_EPIC_PMUS 256 /* that count what one machine does */
#define CPUS	       (FABRIC_SOCKETS * FABRIC_CORES * EPIC_THREADS)

struct emul_interrupt;
struct pmu_ctx;

/* A hardware thread of a core, for what it tells. */
struct emul_core {
	struct emul_epic *epic;
	struct epic_core *core;
	unsigned number;
	struct emul_core *other;		/* the core's other thread; NULL: it has none */
	struct pmon_ia64 *marker;		/* gives marks; NULL: nobody does */
	struct pmon_ia64 *pmus[EMUL_EPIC_PMUS]; /* 0: the machine's own */
};

/* The part of a PMU that is outside of cores. */
struct epic_uncore {
	struct pmon_uncore *pmon;
	void *
	    mapped; /* with the parts in the cores, by themselves; NULL: in the machine's mapping */
};

/*
 * One mapping that forked processes share, at the same address in each: pointers hold in all. PMUs
 * that are added before have mappings of their own.
 */
struct emul_epic {
	const struct pmu_machine *desc;
	size_t bytes;		      /* of the mapping, which begins here; the parts follow */
	struct emul_core cores[CPUS]; /* by socket, then thread of a core, then core */
	unsigned count, used; /* of these; those that threads took, in the order of order() */
	struct fabric *fabric;
	struct epic_uncore uncores[EMUL_EPIC_PMUS];
	unsigned pmu_count;
	uint8_t enabled[SIGNAL_COUNT]; /* what any of several PMUs counts outside of cores */
	unsigned other_threads;
	void (*handle)(void *arg, const struct emul_interrupt *interrupt); /* NULL: nobody */
	void *handle_arg;
	struct pmon_ia64_strict strict; /* report NULL: nobody */
	bool handling; /* an interrupt: programs run, each core at a time of its own */
};

/**
 * The core does for the PMUs what their registers now ask for.
 * @return 0, or PMU_E_CONFLICT: two of them want marks of different instructions
 */
int emul_epic_rewire(struct emul_core *core);
/** This process answers for what lies between the cores. */
void emul_epic_rewire_fabric(struct emul_epic *epic);

/** Bytes that a PMU takes, of all cores and outside of them. 0: there is no such PMU. */
size_t emul_epic_pmu_size(const struct pmu_machine *desc);
/** Makes one more PMU in such memory, of zeros. */
int emul_epic_init_pmu(struct emul_epic *epic, struct pmu_ctx *ctx, void *memory);

static inline unsigned emul_epic_socket_of(const struct emul_core *core)
{
	return core->number / machine_cpus(core->epic->desc);
}

static inline unsigned emul_epic_core_of(const struct emul_core *core)
{
	return core->number % machine_cpus(core->epic->desc) % core->epic->desc->cores;
}

static inline bool emul_epic_is_second(const struct emul_core *core)
{
	return core->number % machine_cpus(core->epic->desc) >= core->epic->desc->cores;
}

/** Of the core that has run longest. */
uint64_t emul_epic_last_cycle(const struct emul_epic *epic);

static inline double emul_epic_cycles_ns(const struct emul_epic *epic, uint64_t cycle)
{
	return (double)cycle * 1e3 / epic->desc->core_mhz;
}

#endif
