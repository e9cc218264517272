/* What really happened on a machine that is offered by name, as JSON: statistics MACHINE-NAME. */
#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

#include "emul/block.h"
#include "emul/share.h"

#define NUMBER(stats, name)                                                                        \
	json_object_set_new(json, #name, json_integer((json_int_t)(stats)->name))

static int print(const struct machine_statistics *stats)
{
	json_t *json = json_object();
	int error;

	NUMBER(stats, instructions);
	NUMBER(stats, cycles);
	NUMBER(stats, branches);
	NUMBER(stats, loads);
	NUMBER(stats, stores);
	NUMBER(stats, l1d_misses);
	NUMBER(stats, l1i_misses);
	NUMBER(stats, l2_misses);
	NUMBER(stats, l2_writebacks);
	NUMBER(stats, llc_lookups);
	NUMBER(stats, llc_misses);
	NUMBER(stats, llc_victims);
	NUMBER(stats, home_reads);
	NUMBER(stats, home_writes);
	NUMBER(stats, cas_reads);
	NUMBER(stats, cas_writes);
	NUMBER(stats, wpq_read_hits);
	NUMBER(stats, tor_cycles);
	NUMBER(stats, tracker_cycles);
	error = json_dumpf(json, stdout, JSON_INDENT(2));
	json_decref(json);
	return error || putchar('\n') == EOF;
}

static int fail(struct pmu_ctx *ctx)
{
	fprintf(stderr, "statistics: %s\n", pmu_message(ctx));
	return 1;
}

int main(int argc, char **argv)
{
	struct machine_statistics stats;
	struct emul_share share;
	struct emul *emul;
	struct pmu_ctx *ctx;

	if (argc != 2 || pmu_ctx_new(&ctx))
		return 2;
	if (emul_join(&share, ctx, argv[1]) || emul_attach(&emul, ctx, share.block))
		return fail(ctx);
	machine_lock(emul_machine(emul));
	machine_statistics(emul_machine(emul), &stats);
	machine_unlock(emul_machine(emul));
	emul_free(emul);
	emul_part(&share);
	pmu_ctx_free(ctx);
	return print(&stats);
}
