/*
 * Samples: what a program was doing each time that a counter overflowed, and what the hardware had
 * captured by then (hwrec.h). A sampler records them on an emulated machine (emul.h), into a file
 * that Linux's perf can read: perf.data, with the values of the records' registers as raw data.
 *
 * A counter that overflows freezes the monitors and interrupts its core; the interrupt's handler
 * reads the registers, sets the counter back and lets all go on. No time passes in it, and no
 * overflow is lost: the periods of an event's samples are the count, but for what came after the
 * last one.
 */
#ifndef PMULAB_SAMPLE_H
#define PMULAB_SAMPLE_H

#include "pmulab/event.h"
#include "pmulab/hwrec.h"
#include "pmulab/program.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define PMU_SAMPLE_EVENTS_MAX 32

struct pmu_sampler;

/**
 * Prepares to sample on a machine, which must outlive the sampler.
 * @return 0; PMU_E_UNSUPPORTED for a machine whose cores are no IA-64 ones; PMU_E_NOMEM. *sampler
 *         is the caller's
 */
int pmu_sampler_new(struct pmu_sampler **sampler, struct pmu_ctx *ctx, struct pmu_emul *emul);
/** NULL is allowed. */
void pmu_sampler_free(struct pmu_sampler *sampler);

/**
 * Samples an event of cores.
 * @param period  a sample for each so many, 1 to 2^31; more where a cycle adds more than that
 * @return 0; PMU_E_RANGE for the period; PMU_E_UNSUPPORTED for an event whose counters do not
 *         interrupt, or that the machine does not model; PMU_E_CONFLICT for one that is there, or
 *         beyond PMU_SAMPLE_EVENTS_MAX; as pmu_session_add()
 */
int pmu_sampler_add(struct pmu_sampler *sampler, struct pmu_ctx *ctx,
		    const struct pmu_selection *selection, uint64_t period);

/**
 * Which requests of cores are captured for an event that counts such captures; without this, all.
 * Calls add up.
 * @param fields  FIELD=NUMBER,.. of the register that controls it; FIELD is the manual's
 * @return 0; PMU_E_UNSUPPORTED: no event that was added counts them; PMU_E_UNKNOWN for a field,
 *         PMU_E_SYNTAX, PMU_E_RANGE
 */
int pmu_sampler_choose_requests(struct pmu_sampler *sampler, struct pmu_ctx *ctx,
				const char *fields);

/**
 * Runs the program once, and writes the samples.
 * @param path    of the file, which is made, or made again
 * @param argv    of the caller's command line, which the file keeps; NULL last
 * @param result  may be NULL
 * @return 0 where it ran, however it ended; as pmu_session_start() and pmu_program_run(); PMU_E_IO
 *         for a file that cannot be written; PMU_E_STATE for no events, or the second time
 */
int pmu_sampler_run(struct pmu_sampler *sampler, struct pmu_ctx *ctx, struct pmu_program *program,
		    const char *path, char *const *argv, struct pmu_program_result *result);

/** Samples that were written. */
uint64_t pmu_sampler_samples(const struct pmu_sampler *sampler);

/* A file of samples that is read. */
struct pmu_samples;

/**
 * @return 0; PMU_E_IO; PMU_E_SYNTAX for a file that no sampler has written, or not to its end;
 *         PMU_E_UNKNOWN for a PMU that the catalog has not; PMU_E_NOMEM. *samples is the caller's
 */
int pmu_samples_open(struct pmu_samples **samples, struct pmu_ctx *ctx, const char *path);
/** NULL is allowed. */
void pmu_samples_close(struct pmu_samples *samples);

/* Texts live as long as the file is open; an index beyond the end gives NULL. */

const struct pmu_pmu *pmu_samples_pmu(const struct pmu_samples *samples);
/** Name of the machine. */
const char *pmu_samples_machine(const struct pmu_samples *samples);
size_t pmu_samples_events(const struct pmu_samples *samples);
/** The canonical expression of an event. */
const char *pmu_samples_event(const struct pmu_samples *samples, size_t index);

/* What was mapped into a process. */
struct pmu_mapping {
	uint32_t process;
	uint64_t address, bytes;
	uint64_t offset; /* of its first byte, in the file */
	const char *path;
};
/** Those that samples which were read can be of. @return how many there are */
size_t pmu_samples_mappings(const struct pmu_samples *samples, struct pmu_mapping *mappings,
			    size_t size);

/* A branch of a trace. */
struct pmu_sample_branch {
	uint64_t from, to;
	bool taken, mispredicted; /* not taken: `to` is 0 */
};

/* What retired in a cycle. */
struct pmu_sample_retired {
	uint64_t ip;
	uint32_t cycles; /* since the one before; the hardware tells no more than 63 */
	bool least;	 /* those or more */
};

struct pmu_sample {
	size_t size; /* of this struct, set by the caller */
	unsigned event;
	/*
	 * The instruction that the event's record captured, where it has one that did; else where
	 * the program was interrupted.
	 */
	uint64_t ip;
	bool captured;		  /* it is the record's */
	uint64_t next_ip;	  /* where the program was interrupted */
	uint64_t period;	  /* of the event, that this sample stands for */
	uint64_t time_ns;	  /* of the core's clock */
	uint32_t process, thread; /* of the computer that the program was emulated on */
	unsigned cpu;		  /* number of the core, over all sockets */
	bool has_data, has_latency, latency_least;
	uint64_t data_address, latency;		  /* that the event's record captured; cycles */
	const struct pmu_sample_branch *branches; /* from the last one on */
	size_t branch_count;
	const struct pmu_sample_retired *retired; /* from the last one on */
	size_t retired_count;
	/* The registers of all records that were enabled: pmu_hwrec_decode(). */
	const struct pmu_register_value *registers;
	size_t register_count;
};

/**
 * Reads the next sample.
 * @param sample  receives it; what it points to lives until the next call
 * @return 1; 0 at the end; PMU_E_SYNTAX, PMU_E_IO, PMU_E_RANGE for a size that is not set
 */
int pmu_samples_next(struct pmu_samples *samples, struct pmu_ctx *ctx, struct pmu_sample *sample);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
