/*
 * The bus: the only way to a register. What is behind it (emulated machine, real hardware, a
 * register trace, a dry run) is chosen where it is opened; its users cannot see the difference.
 */
#ifndef PMULAB_BUS_H
#define PMULAB_BUS_H

#include <stdio.h>

#include "pmulab/catalog.h"
#include "pmulab/machine.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct pmu_bus;

#define PMU_SOCKETS_MAX 64 /* node ids are bits of 64 */

/* One register access. All that an access is: this struct does not grow. */
struct pmu_access_op {
	unsigned socket;  /* package */
	unsigned core;	  /* of the socket; tells apart only registers that each core has */
	uint8_t space;	  /* enum pmu_space */
	uint8_t width;	  /* bits: 32 or 64 */
	uint32_t address; /* as enum pmu_space says */
	uint64_t value;	  /* written, or read into */
	const char *reg;  /* register name, for messages; never NULL */
};

/** Opens an emulated machine, powered on and reset. @return 0 or an error; *bus is the caller's. */
int pmu_bus_emulated(struct pmu_bus **bus, struct pmu_ctx *ctx, const struct pmu_machine *machine);

/**
 * A bus that accepts what the catalog allows and calls @print for every access. Discovery registers
 * read as in a part with every box that the catalog has, all others as zero.
 */
int pmu_bus_dry_run(struct pmu_bus **bus, struct pmu_ctx *ctx, const struct pmu_pmu *pmu,
		    unsigned sockets,
		    void (*print)(void *arg, bool write, const struct pmu_access_op *op),
		    void *arg);
/**
 * The same for a part that can be asked: discovery registers read as @part has them, and what it
 * has not does not answer. @part is only read; it stays the caller's and must outlive the bus.
 */
int pmu_bus_dry_run_on(struct pmu_bus **bus, struct pmu_ctx *ctx, struct pmu_bus *part,
		       void (*print)(void *arg, bool write, const struct pmu_access_op *op),
		       void *arg);

/**
 * A bus that does what @inner does and writes each access to @file as a line of text. Both stay the
 * caller's and must outlive it. @return 0, PMU_E_NOMEM or PMU_E_IO
 */
int pmu_bus_register_trace(struct pmu_bus **bus, struct pmu_ctx *ctx, struct pmu_bus *inner,
			   FILE *file);

/**
 * A bus that answers from a register trace, and fails with PMU_E_IO at the first access that is not
 * the traced one. @file stays the caller's and must outlive the bus.
 * @return 0, PMU_E_SYNTAX, PMU_E_UNKNOWN for a PMU that the catalog has not, PMU_E_NOMEM
 */
int pmu_bus_replaying(struct pmu_bus **bus, struct pmu_ctx *ctx, FILE *file);

/**
 * The kernel's uncore PMUs of @pmu behind the same registers: controls and filters become the
 * config words of perf_event, by sysfs. The kernel places events on counters by itself; what it has
 * no words for is refused with PMU_E_UNSUPPORTED when counting begins.
 * @return 0; PMU_E_UNSUPPORTED where the kernel has no such PMU; PMU_E_IO, PMU_E_SYNTAX,
 * PMU_E_NOMEM
 */
int pmu_bus_perf(struct pmu_bus **bus, struct pmu_ctx *ctx, const struct pmu_pmu *pmu);

struct pmu_host_options {
	size_t size; /* of this struct, set by the caller */
	/* A captured or made tree of files that stands in for the computer's; NULL: none. Plain
	 * files take the place of devices: MSR n at byte 8 n of ROOT/dev/cpu/N/msr. */
	const char *root;
	const char *pmu; /* of the catalog; NULL: the one that fits the processor */
};

/**
 * The registers of this computer, through /dev/cpu/N/msr and PCI configuration space. Nothing is
 * written before the first pmu_bus_write().
 * @param options  NULL: this computer, and the PMU that fits
 * @return 0; PMU_E_UNSUPPORTED: the processor has no PMU of the catalog; PMU_E_UNKNOWN for a name
 *         that the catalog has not; PMU_E_RIGHTS, PMU_E_IO, PMU_E_NOMEM
 */
int pmu_bus_host(struct pmu_bus **bus, struct pmu_ctx *ctx, const struct pmu_host_options *options);

/**
 * The PCI bus on which a socket's uncore stands, as lspci writes it: DOMAIN:BUS.
 * @return false where @bus leads to no computer, or none was found
 */
bool pmu_bus_pci_bus(const struct pmu_bus *bus, unsigned socket, unsigned *domain,
		     unsigned *number);

/**
 * Copies what a bus of pmu_bus_host() reads into a folder, which can then be its root: the
 * description of the processors, and every register of the catalog that answers. Reads only.
 * @param folder  must not exist
 * @return 0, PMU_E_UNSUPPORTED for a bus that leads to no computer, PMU_E_IO
 */
int pmu_bus_capture(struct pmu_bus *bus, struct pmu_ctx *ctx, const char *folder);

/** Frees the bus and what is behind it; NULL is allowed. */
void pmu_bus_free(struct pmu_bus *bus);

/**
 * Does one access. Only registers that the catalog names can be written, whatever is behind the
 * bus; those of samples, branch records and prefetchers on an emulated machine alone.
 * @return 0; PMU_E_UNKNOWN for a register that is not there; PMU_E_RIGHTS for a write the catalog
 *         does not allow; PMU_E_RANGE for a value wider than the register; PMU_E_IO
 */
int pmu_bus_read(struct pmu_bus *bus, struct pmu_ctx *ctx, struct pmu_access_op *op);
int pmu_bus_write(struct pmu_bus *bus, struct pmu_ctx *ctx, const struct pmu_access_op *op);

/**
 * How many interrupts a core has got from counters that overflowed, since power on. To learn
 * of overflows, ask again, or wait: the number rises by one for each.
 * @param core   of the socket
 * @param count  receives the number
 * @return 0; PMU_E_UNSUPPORTED where interrupts are the kernel's, on a computer, or there are none
 *         (dry run, replay); PMU_E_RANGE for a core that the machine has not;
 *         PMU_E_BUSY
 */
int pmu_bus_interrupts(struct pmu_bus *bus, struct pmu_ctx *ctx, unsigned socket, unsigned core,
		       uint64_t *count);

/**
 * Waits until the number of those interrupts is not @seen: begin with that of pmu_bus_interrupts(),
 * and go on with the one received, and none is missed. The thread sleeps meanwhile; signals do not
 * end it. The machine is driven by other threads or processes, each over a bus of its own.
 *
 * Returns at once when an event overflows a counter of the uncore that counts events only, and when
 * an access to the machine, from anywhere, finds an overflow. Other overflows are found late: those
 * of a core's counters, of counters of cycles and occupancies or with a threshold, and by what idle
 * memory channels do. For these the call itself looks when it begins, every 10 ms, and once more
 * when the time is over.
 *
 * Each look does what pmu_bus_interrupts() does, and takes the machine from the program that runs
 * on it for microseconds.
 * @param core        of the socket
 * @param timeout_ns  of this computer's time; 0: looks once; UINT64_MAX: without end
 * @param count       receives the number; @seen where the time was over before it rose
 * @return 0, also where the time was over; PMU_E_UNSUPPORTED where nothing tells of interrupts: on
 *         a computer (its registers, its kernel), a dry run, a register trace made or replayed, and
 *         a single emulated core, whose registers wait for its program; PMU_E_RANGE for a core that
 *         the machine has not; PMU_E_BUSY where a program was stopped in the middle of an access,
 *         3 s after a look, however short the time
 */
int pmu_bus_interrupt_wait(struct pmu_bus *bus, struct pmu_ctx *ctx, unsigned socket, unsigned core,
			   uint64_t seen, uint64_t timeout_ns, uint64_t *count);

/* A register of a box instance. */
struct pmu_located {
	const struct pmu_box *box;
	const struct pmu_register *reg;
	unsigned instance;
	uint64_t reserved[2];
};

/**
 * The register that an access by its space, address, width and core touches, also one half of a PCI
 * register of 64 bits. @return false where the catalog has none
 */
bool pmu_address_find(const struct pmu_pmu *pmu, const struct pmu_access_op *op,
		      struct pmu_located *located);

/**
 * Begins a register trace, as pmu_bus_register_trace() writes it.
 * @param pmu       name in the catalog
 * @param emulated  an emulated machine's: what it does not model has no count
 * @return 0, PMU_E_IO, PMU_E_RANGE for a name that is too long
 */
int pmu_trace_begin(FILE *file, const char *pmu, unsigned sockets, bool emulated);
/** Writes an access and its result, 0 or an error. @return 0 or PMU_E_IO */
int pmu_trace_access(FILE *file, const struct pmu_access_op *op, bool write, int error);

/** Sockets that registers are reached of: those of accesses are below it. */
unsigned pmu_bus_sockets(const struct pmu_bus *bus);
/** Whether events whose model is PMU_MODEL_ABSENT count nothing behind this bus. */
bool pmu_bus_is_emulated(const struct pmu_bus *bus);
/** The machine that is emulated behind it; NULL: none is, or it is not known. */
const struct pmu_machine *pmu_bus_machine(const struct pmu_bus *bus);
/** The PMU whose registers are behind it. */
const struct pmu_pmu *pmu_bus_pmu(const struct pmu_bus *bus);
/** How registers are reached, in words for a report. */
const char *pmu_bus_transport(const struct pmu_bus *bus);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
