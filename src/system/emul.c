#include "system/emul.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/option.h"

struct pmu_emul {
	struct system *system;
	bool joined;
	struct system_share share;  /* where it was joined */
	struct system_offer *offer; /* NULL: it is not offered */
	int namespace;		    /* handed on with an offer; -1: none */
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
		error = system_new(&emul->system, ctx, machine);
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
	error = system_join(&emul->share, ctx, name);
	if (error)
		goto fail_join;
	error = system_attach(&emul->system, ctx, emul->share.block);
	if (error)
		goto fail_attach;
	emul->joined = true;
	*out = emul;
	return 0;

fail_attach:
	system_part(&emul->share);
fail_join:
	free(emul);
	return error;
}

/* Who joins to run tools goes into the owner's mount namespace, if it is not his already. */
int pmu_emul_offer(struct pmu_emul *emul, struct pmu_ctx *ctx, const char *name)
{
	int error;

	if (emul->joined || emul->offer)
		return error_set(ctx, PMU_E_STATE, "the machine is offered by a name already");
	emul->namespace = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	if (emul->namespace < 0)
		return error_set(ctx, PMU_E_IO, "cannot open /proc/self/ns/mnt: %s",
				 strerror(errno));
	error = system_offer(&emul->offer, ctx, name, system_fd(emul->system), emul->namespace);
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
	system_withdraw(emul->offer);
	if (emul->namespace >= 0)
		close(emul->namespace);
	system_free(emul->system);
	if (emul->joined)
		system_part(&emul->share);
	free(emul);
}

struct system *emul_system(struct pmu_emul *emul)
{
	return emul->system;
}

const struct system_share *emul_share(const struct pmu_emul *emul)
{
	return emul->joined ? &emul->share : NULL;
}

const struct pmu_machine *pmu_emul_machine(const struct pmu_emul *emul)
{
	return system_desc(emul->system);
}

double pmu_emul_time_ns(const struct pmu_emul *emul)
{
	const struct machine *machine = system_machine(emul->system);

	return (double)machine_now(machine) * 1e9 / (double)machine_ticks_per_second(machine);
}

void pmu_emul_pass(struct pmu_emul *emul, uint64_t ns)
{
	system_pass(emul->system, ns);
}

void pmu_emul_drain(struct pmu_emul *emul)
{
	machine_drain(system_machine(emul->system));
}

int pmu_emul_statistics(const struct pmu_emul *emul, struct pmu_emul_statistics *statistics)
{
	struct machine_truth truth;

	machine_truth(system_machine(emul->system), &truth);
	return option_give(statistics,
			   &(struct pmu_emul_statistics){
			       .instructions = truth.instructions,
			       .cycles = truth.cycles,
			       .branches = truth.branches,
			       .loads = truth.loads,
			       .stores = truth.stores,
			       .locked = truth.locked,
			       .fetches = truth.fetches,
			       .non_temporal_stores = truth.nt_stores,
			       .l1d_misses = truth.l1d_misses,
			       .l1i_misses = truth.l1i_misses,
			       .l2_misses = truth.l2_misses,
			       .l2_writebacks = truth.l2_writebacks,
			       .write_combined_lines = truth.wc_lines,
			       .llc_lookups = truth.llc_lookups,
			       .llc_misses = truth.llc_misses,
			       .llc_victims = truth.llc_victims,
			       .llc_writebacks = truth.llc_writebacks,
			       .home_reads = truth.home_reads,
			       .home_ownerships = truth.home_owns,
			       .home_writes = truth.home_writes,
			       .snoops = truth.snoops,
			       .snoop_writebacks = truth.snoop_writebacks,
			       .dram_reads = truth.cas_reads,
			       .dram_writes = truth.cas_writes,
			       .dram_underfills = truth.underfills,
			       .write_queue_read_hits = truth.wpq_read_hits,
			       .write_queue_write_hits = truth.wpq_write_hits,
			       .tor_cycles = truth.tor_cycles,
			       .tracker_cycles = truth.tracker_cycles,
			       .read_queue_cycles = truth.rpq_cycles,
			       .write_queue_cycles = truth.wpq_cycles,
			       .programs_not_emulated = truth.outside,
			   },
			   sizeof(*statistics));
}
