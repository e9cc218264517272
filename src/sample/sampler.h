#ifndef SAMPLE_SAMPLER_H
#define SAMPLE_SAMPLER_H

#include "base/lock.h"
#include "emul/emul.h"
#include "pmulab/session.h"
#include "sample/output.h"
#include "sample/perf_file.h"

#define SAMPLER_THREADS 256 /* that the file tells of by themselves */

struct sampled_event {
	struct pmu_selection selection;
	char *name;
	uint64_t period;
	uint64_t overflow; /* its counter's bit of the status register */
	const struct pmu_register *counter;
	struct capture_event capture;
};

/* What the program's process tells this one. */
struct sampler_shared {
	struct lock lock; /* of what the interrupt's handler keeps */
	uint64_t samples;
};

struct pmu_sampler {
	struct pmu_emul *emul;
	struct pmu_bus *bus;
	struct pmu_session *session;
	const struct pmu_box *box;	/* of all events */
	const struct pmu_box *requests; /* what captures requests of cores; NULL: no event does */
	uint64_t request_control;	/* what they have to be */
	bool chosen;			/* that was asked for */
	uint64_t counter_mask;
	const struct pmu_register *status;
	struct sampled_event events[PMU_SAMPLE_EVENTS_MAX];
	unsigned event_count;
	const struct pmu_register *registers[CAPTURE_REGISTERS]; /* of records that are enabled */
	size_t register_count;
	uint64_t emptied[CAPTURE_REGISTERS]; /* bits that say that there is something in it */
	struct perf_file_info info;
	const struct pmu_program *program;
	const char *path; /* of the program, from the root */
	struct sample_output *output;
	struct sampler_shared *shared;
	bool ran;
	/* In the program's process: those that the file knows. */
	uint32_t threads[SAMPLER_THREADS];
	unsigned thread_count;
};

/** handler.c: what emul_epic_on_interrupt() calls. */
void sampler_handle(void *arg, const struct emul_interrupt *interrupt);

/** Prepares to capture requests of cores, if an event counts such captures. @return 0 or an error
 */
int sampler_find_requests(struct pmu_sampler *sampler, struct pmu_ctx *ctx);
/** Begins that, or ends it. */
int sampler_capture_requests(struct pmu_sampler *sampler, struct pmu_ctx *ctx, bool on);
/** Adds the registers of a record to those that samples have. */
int sampler_add_registers(struct pmu_sampler *sampler, struct pmu_ctx *ctx,
			  const struct pmu_box *box, const struct pmu_hwrec *record);

/** The box of a register that samples have: hardware threads, or what each core has one of. */
static inline const struct pmu_box *sampler_box_of(const struct pmu_sampler *sampler,
						   const struct pmu_register *reg)
{
	const struct pmu_box *requests = sampler->requests;

	return requests && reg >= requests->registers &&
		       reg < requests->registers + requests->register_count
		   ? requests
		   : sampler->box;
}

/** Its instance for a hardware thread of a socket. */
static inline unsigned sampler_instance(const struct pmu_sampler *sampler,
					const struct pmu_register *reg, unsigned cpu)
{
	return sampler_box_of(sampler, reg) == sampler->box
		   ? cpu
		   : cpu % pmu_emul_machine(sampler->emul)->cores;
}

/** Reads or writes a register of a core, or of what captures its requests. */
int sampler_read(struct pmu_sampler *sampler, struct pmu_ctx *ctx, unsigned socket, unsigned core,
		 const struct pmu_register *reg, uint64_t *value);
int sampler_write(struct pmu_sampler *sampler, struct pmu_ctx *ctx, unsigned socket, unsigned core,
		  const struct pmu_register *reg, uint64_t value);

#endif
