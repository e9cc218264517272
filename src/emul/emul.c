#include "emul/emul.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/option.h"

struct pmu_emul {
	struct emul *emul;	/* NULL: the next one */
	struct emul_epic *epic; /* a machine of cores that issue in order; else NULL */
	bool joined;
	struct emul_share share;  /* where it was joined */
	struct emul_offer *offer; /* NULL: it is not offered */
	int namespace;		  /* handed on with an offer; -1: none */
};

static int emul_alloc(struct pmu_emul **emul, struct pmu_ctx *ctx)
{
	*emul = calloc(1, sizeof(**emul));
	if (!*emul)
		return error_set(ctx, PMU_E_NOMEM, "out of memory for a machine");
	(*emul)->namespace = -1;
	return 0;
}

int pmu_emul_new(struct pmu_emul **out, struct pmu_ctx *ctx, const struct pmu_machine *machine)
{
	struct pmu_emul *emul;
	int error = emul_alloc(&emul, ctx);

	if (!error)
		error = machine->core ? emul_epic_new(&emul->epic, ctx, machine)
				      : emul_new(&emul->emul, ctx, machine);
	if (error)
		free(emul);
	else
		*out = emul;
	return error;
}

int pmu_emul_attach(struct pmu_emul **out, struct pmu_ctx *ctx, const char *name)
{
	struct pmu_emul *emul;
	int error = emul_alloc(&emul, ctx);

	if (error)
		return error;
	error = emul_join(&emul->share, ctx, name);
	if (error)
		goto fail_join;
	error = emul_attach(&emul->emul, ctx, emul->share.block);
	if (error)
		goto fail_attach;
	emul->joined = true;
	*out = emul;
	return 0;

fail_attach:
	emul_part(&emul->share);
fail_join:
	free(emul);
	return error;
}

/* Who joins to run tools goes into the owner's mount namespace, if it is not his already. */
int pmu_emul_offer(struct pmu_emul *emul, struct pmu_ctx *ctx, const char *name)
{
	int error;

	if (emul->epic)
		return error_set(ctx, PMU_E_UNSUPPORTED,
				 "a machine with IA-64 cores is not offered");
	if (emul->joined || emul->offer)
		return error_set(ctx, PMU_E_STATE, "the machine is offered by a name already");
	emul->namespace = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	if (emul->namespace < 0)
		return error_set(ctx, PMU_E_IO, "cannot open /proc/self/ns/mnt: %s",
				 strerror(errno));
	error = emul_offer(&emul->offer, ctx, name, emul_fd(emul->emul), emul->namespace);
	if (error) {
		close(emul->namespace);
		emul->namespace = -1;
	}
	return error;
}

void pmu_emul_free(struct pmu_emul *emul)
{
	if (!emul)
		return;
	emul_withdraw(emul->offer);
	if (emul->namespace >= 0)
		close(emul->namespace);
	emul_free(emul->emul);
	emul_epic_free(emul->epic);
	if (emul->joined)
		emul_part(&emul->share);
	free(emul);
}

struct emul *emul_of(struct pmu_emul *emul)
{
	return emul->emul;
}

struct emul_epic *emul_epic_of(struct pmu_emul *emul)
{
	return emul->epic;
}

const struct emul_share *emul_share(const struct pmu_emul *emul)
{
	return emul->joined ? &emul->share : NULL;
}

const struct pmu_machine *pmu_emul_machine(const struct pmu_emul *emul)
{
	return emul->epic ? emul_epic_desc(emul->epic) : emul_desc(emul->emul);
}

double pmu_emul_time_ns(const struct pmu_emul *emul)
{
	const struct machine *machine;

	if (emul->epic)
		return emul_epic_time_ns(emul->epic);
	machine = emul_machine(emul->emul);
	return (double)machine_now(machine) * 1e9 / (double)machine_ticks_per_second(machine);
}

void pmu_emul_pass(struct pmu_emul *emul, uint64_t ns)
{
	if (emul->emul)
		emul_pass(emul->emul, ns);
}

void pmu_emul_take_turns(struct pmu_emul *emul)
{
	if (emul->emul)
		machine_take_turns(emul_machine(emul->emul));
}

void pmu_emul_set_clock(struct pmu_emul *emul)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (emul->emul)
		machine_set_clock(emul_machine(emul->emul),
				  (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
}

int pmu_emul_set_kernel_io(struct pmu_emul *emul, struct pmu_ctx *ctx)
{
	if (!emul->emul)
		return error_set(ctx, PMU_E_UNSUPPORTED,
				 "what the system copies for programs of IA-64 is not modelled");
	machine_set_kernel_io(emul_machine(emul->emul));
	return 0;
}

void pmu_emul_drain(struct pmu_emul *emul)
{
	if (emul->emul)
		machine_drain(emul_machine(emul->emul));
}

int pmu_emul_statistics(const struct pmu_emul *emul, struct pmu_emul_statistics *statistics)
{
	struct machine_statistics stats;
	struct pmu_emul_statistics of_epic;

	if (emul->epic) {
		emul_epic_statistics(emul->epic, &of_epic);
		return option_give(statistics, &of_epic, sizeof(of_epic));
	}
	machine_statistics(emul_machine(emul->emul), &stats);
	return option_give(statistics,
			   &(struct pmu_emul_statistics){
			       .instructions = stats.instructions,
			       .cycles = stats.cycles,
			       .branches = stats.branches,
			       .loads = stats.loads,
			       .stores = stats.stores,
			       .locked = stats.locked,
			       .fetches = stats.fetches,
			       .non_temporal_stores = stats.nt_stores,
			       .l1d_misses = stats.l1d_misses,
			       .l1i_misses = stats.l1i_misses,
			       .l2_misses = stats.l2_misses,
			       .l2_writebacks = stats.l2_writebacks,
			       .write_combined_lines = stats.wc_lines,
			       .llc_lookups = stats.llc_lookups,
			       .llc_misses = stats.llc_misses,
			       .llc_victims = stats.llc_victims,
			       .llc_writebacks = stats.llc_writebacks,
			       .home_reads = stats.home_reads,
			       .home_ownerships = stats.home_owns,
			       .home_writes = stats.home_writes,
			       .snoops = stats.snoops,
			       .snoop_writebacks = stats.snoop_writebacks,
			       .dram_reads = stats.cas_reads,
			       .dram_writes = stats.cas_writes,
			       .dram_underfills = stats.underfills,
			       .write_queue_read_hits = stats.wpq_read_hits,
			       .write_queue_write_hits = stats.wpq_write_hits,
			       .tor_cycles = stats.tor_cycles,
			       .tracker_cycles = stats.tracker_cycles,
			       .read_queue_cycles = stats.rpq_cycles,
			       .write_queue_cycles = stats.wpq_cycles,
			   },
			   sizeof(*statistics));
}
