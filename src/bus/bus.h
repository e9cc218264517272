/*
 * What a bus back end is. The front (bus.c) finds the register and checks the access; a back end
 * sees only accesses that the catalog allows.
 */
#ifndef BUS_BUS_H
#define BUS_BUS_H

#include "bus/map.h"
#include "pmulab/bus.h"

struct bus_ops {
	/* 0; PMU_E_UNKNOWN where nothing answers; PMU_E_IO. They set the message. */
	int (*read)(struct pmu_bus *bus, struct pmu_ctx *ctx, const struct bus_register_ref *ref,
		    struct pmu_access_op *op);
	int (*write)(struct pmu_bus *bus, struct pmu_ctx *ctx, const struct bus_register_ref *ref,
		     const struct pmu_access_op *op);
	/* Time, from whenever; NULL: CLOCK_MONOTONIC of this computer. */
	uint64_t (*time_ns)(struct pmu_bus *bus);
	/* Interrupts of overflows that a core got; NULL: nobody can tell. 0, PMU_E_RANGE,
	 * PMU_E_BUSY
	 */
	int (*interrupts)(struct pmu_bus *bus, unsigned socket, unsigned core, uint64_t *count);
	/* Waits until that is not @seen, or for the time; NULL as above. *count == @seen: the time
	 * is over. */
	int (*await_interrupt)(struct pmu_bus *bus, unsigned socket, unsigned core, uint64_t seen,
			       uint64_t timeout_ns, uint64_t *count);
	/* Opens a bus to one more PMU, which counts the same; used while @bus is there. NULL: there
	 * is but one. */
	int (*another)(struct pmu_bus **another, struct pmu_ctx *ctx, struct pmu_bus *bus);
	/* Around many accesses in a row; may be NULL. */
	void (*begin)(struct pmu_bus *bus);
	void (*end)(struct pmu_bus *bus);
	void (*fini)(struct pmu_bus *bus); /* of the back end's own members */
};

/* First member of every back end; allocated by it with malloc(), freed by pmu_bus_free(). */
struct pmu_bus {
	const struct bus_ops *ops;
	const struct pmu_pmu *pmu;
	unsigned sockets;
	bool emulated; /* behind it is an emulated machine: events without a model count nothing */
	bool write_only;		   /* what is written cannot be read back */
	const struct pmu_machine *machine; /* that is emulated, where it is known; else NULL */
	const char *transport;		   /* how registers are reached, in words */
	struct pmu_bus *traced;		   /* what a register trace is made of; else NULL */
};

/** Fills in the common part. @return 0, PMU_E_NOMEM, PMU_E_UNSUPPORTED for too many sockets */
int bus_init(struct pmu_bus *bus, struct pmu_ctx *ctx, const struct bus_ops *ops,
	     const struct pmu_pmu *pmu, unsigned sockets);

/** The bus to the registers themselves that is behind one, which may be traced. */
struct pmu_bus *bus_untraced(struct pmu_bus *bus);

/** Says that many accesses follow, and that they are over; nothing else may come between. */
void bus_begin(struct pmu_bus *bus);
void bus_end(struct pmu_bus *bus);

/** The time that passes for the counters behind the bus, nanoseconds from whenever. */
uint64_t bus_time_ns(struct pmu_bus *bus);
/** For back ends that have no time: always 0. */
uint64_t bus_no_time(struct pmu_bus *bus);

/**
 * Whether the catalog lets the register be written. On an emulated machine prefetchers can be
 * switched too.
 */
bool bus_may_write(const struct bus_register_ref *ref);

/**
 * Restores: makes each of the writes, again where one fails, and the others even if it stays so.
 * @return 0 or the first error that stayed, with its message
 */
int bus_write_all(struct pmu_bus *bus, struct pmu_ctx *ctx, const struct pmu_access_op *writes,
		  size_t count);

#endif
